//! Attacks that no other threads can complete, as far as the cells they access tell.
//!
//! An attack needs a helper that writes what the attack's load has read from memory, and from there on accesses, each
//! of which conflicts with an earlier one or is made by the same thread, up to one of the delayed store's cell. Here
//! threads make their accesses at any time and in any order.
//!
//! Direction of error: an attack that is ruled out is infeasible; others may be, too.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::flow::Ranges;
use weir_ir::{EdgeId, Gather, Instruction, Program, Range, ThreadId};

use crate::attack::Attack;

/// What an edge may access.
struct Access {
    cells: Range,
    writes: bool,
}

/// What each thread may access.
pub(super) struct Partners {
    /// For each thread and edge; nothing for edges that no run takes.
    accesses: Vec<Vec<Vec<Access>>>,
}

/// The cells that are accessed once a load has been overtaken, for each load.
pub(super) type Chains = BTreeMap<(ThreadId, EdgeId), Vec<Range>>;

impl Partners {
    pub(super) fn new(program: &Program, ranges: &Ranges) -> Self {
        let of_edge = |thread: ThreadId, edge: usize| -> Vec<Access> {
            let instruction = &program.body(thread).edges()[edge].instruction;
            let writes = matches!(instruction, Instruction::Store { .. } | Instruction::ReadModifyWrite { .. });
            let cells = ranges.addresses_of(thread, EdgeId::new(edge)).iter();
            cells.map(|&cells| Access { cells, writes }).collect()
        };
        let mut accesses: Vec<Vec<Vec<Access>>> = program.threads.iter().map(|_| Vec::new()).collect();
        for thread in program.running_threads() {
            let edges = 0..program.body(thread).edges().len();
            accesses[thread.index()] = edges.map(|edge| of_edge(thread, edge)).collect();
        }
        Self { accesses }
    }

    fn of_edge(&self, thread: ThreadId, edge: EdgeId) -> &[Access] {
        &self.accesses[thread.index()][edge.index()]
    }

    /// Whether other threads could complete an attack.
    pub(super) fn can_complete(&self, attack: Attack, chains: &mut Chains) -> bool {
        let Attack { thread, store, load } = attack;
        let Some(delayed) = self.of_edge(thread, store).first().map(|access| access.cells) else { return false };
        let is_same = |cells: Range| delayed.extent() == 0 && cells == delayed;
        if self.of_edge(thread, load).iter().all(|access| is_same(access.cells)) {
            // The load takes what is delayed, not what memory holds.
            return false;
        }
        let chain = chains.entry((thread, load)).or_insert_with(|| self.chain(thread, load));
        chain.iter().any(|cells| cells.meet(delayed).is_some())
    }

    /// All cells of threads that can come to act once `load` has read from memory.
    fn chain(&self, attacker: ThreadId, load: EdgeId) -> Vec<Range> {
        let read = self.of_edge(attacker, load).iter().map(|access| (access.cells, false));
        let mut reached: Vec<(Range, bool)> = read.collect();
        let mut acts = vec![false; self.accesses.len()];
        acts[attacker.index()] = true;
        // There is a chain for each load, so each names a cell once, however often it is accessed.
        let mut chain = BTreeSet::new();
        while let Some(next) = (0..acts.len()).find(|&at| !acts[at] && self.joins(at, &reached)) {
            acts[next] = true;
            let own = self.accesses[next].iter().flatten();
            let own: BTreeSet<(Range, bool)> = own.map(|access| (access.cells, access.writes)).gather();
            chain.extend(own.iter().map(|&(cells, _)| cells));
            reached.extend(own);
        }
        chain.into_iter().collect()
    }

    /// Whether an access of the thread may conflict with one of these.
    fn joins(&self, thread: usize, reached: &[(Range, bool)]) -> bool {
        self.accesses[thread].iter().flatten().any(|access| {
            let conflicts =
                |(cells, written): &(Range, bool)| (access.writes || *written) && cells.meet(access.cells).is_some();
            reached.iter().any(conflicts)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robust::attacks;
    use crate::session::Session;

    /// The attacks of the first thread that are left: the lines of store and load.
    fn left(text: &str) -> Vec<(u32, u32)> {
        let program = crate::program::Program::parse(text, crate::Language::Weir).expect("it is right");
        let partners = Partners::new(&program, &Ranges::of(&program));
        let mut chains = Chains::new();
        let mut open = attacks(&program, &Session::default()).expect("no limit").open;
        open.retain(|&attack| attack.thread == ThreadId(0) && partners.can_complete(attack, &mut chains));
        let line = |thread: ThreadId, edge: EdgeId| program.source.line(program.body(thread).edge(edge).span);
        open.iter().map(|attack| (line(attack.thread, attack.store), line(attack.thread, attack.load))).collect()
    }

    const P: &str = "shared x, y, z, a[2];\nthread P { let r;\nx = 1;\nr = y;\n}";

    fn beside(threads: &str) -> Vec<(u32, u32)> {
        left(&format!("{P} {threads}"))
    }

    #[test]
    fn a_single_thread_has_no_attacks() {
        assert_eq!(left(P), []);
    }

    #[test]
    fn somebody_must_write_what_was_read_and_access_what_is_delayed() {
        let open = [(3, 4)];
        assert_eq!(beside("thread Q { let s; y = 1; s = x; }"), open);
        assert_eq!(beside("thread Q { y = 1; x = 1; }"), open);
        assert_eq!(beside("thread Q { let s; s = xchg(y, 1); s = x; }"), open);
        assert_eq!(beside("thread Q { let s; s = y; s = x; }"), []);
        assert_eq!(beside("thread Q { let s; y = 1; s = z; }"), []);
        assert_eq!(beside("thread Q { let s; z = 1; s = x; }"), []);
    }

    #[test]
    fn accesses_lead_from_thread_to_thread_by_conflicts() {
        assert_eq!(beside("thread Q { y = 1; z = 1; } thread R { let s; s = z; s = x; }"), [(3, 4)]);
        assert_eq!(beside("thread Q { let s; y = 1; s = z; } thread R { let s; s = z; s = x; }"), []);
        assert_eq!(beside("thread Q { let s; y = 1; s = z; } thread R { let s; z = 1; s = x; }"), [(3, 4)]);
        assert_eq!(beside("thread Q { y = 1; } thread R { let s; s = x; }"), []);
    }

    #[test]
    fn a_load_of_the_delayed_cell_takes_the_delayed_value() {
        let q = "thread Q { let s; x = 2; a[0] = 2; a[1] = 2; s = x; }";
        let with = |body: &str| left(&format!("shared x, y, a[2];\nthread P {{ let r, i;\n{body}\n}} {q}"));
        assert_eq!(with("x = 1;\nr = x;"), []);
        assert_eq!(with("x = 1;\nr, i = x, x;"), []);
        assert_eq!(with("a[0] = 1;\nr = a[1];"), [(3, 4)]);
        assert_eq!(with("a[0] = 1;\nr = a[0];"), []);
        // Which element it is, is not known.
        assert_eq!(with("i = any 0..1; a[i] = 1;\nr = a[i];"), [(3, 4)]);
    }
}
