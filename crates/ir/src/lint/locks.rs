//! The global lock: released without having been taken, taken while held, held forever.
//!
//! For each location, whether the thread may hold the lock there; unknown where a procedure may have taken
//! it or given it back.

use super::Unit;
use crate::diagnostic::{Diagnostic, Severity};
use crate::flow::{Worklist, targets};
use crate::ids::{EdgeId, LocId};
use crate::program::{Body, Edge, Instruction, Program};

/// Which of the three can be, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Held(u8);

impl Held {
    const NO: Held = Held(1);
    const YES: Held = Held(2);
    const UNKNOWN: Held = Held(4);

    fn may_be(self, other: Held) -> bool {
        self.0 & other.0 != 0
    }
}

/// Uses of the lock that block forever, on some path or on all.
pub(super) fn misuse(program: &Program, units: &[Unit]) -> Vec<Diagnostic> {
    let touches_lock = procedures_with_locks(program);
    let mut found = Vec::new();
    for (at, unit) in units.iter().enumerate() {
        let is_thread = at < program.threads.len();
        let start = if is_thread { Held::NO } else { Held::UNKNOWN };
        let held = held_at(unit, start, &touches_lock);
        let edges = unit.body.edges().iter().enumerate();
        for (_, edge) in edges.filter(|(at, _)| unit.ranges.can_take(EdgeId::new(*at))) {
            let before = held[edge.from.index()];
            let after = after(&edge.instruction, before, &touches_lock);
            found.extend(misused(edge, before));
            found.extend(kept(unit.body, edge, after).filter(|_| is_thread));
        }
    }
    found
}

fn misused(edge: &Edge, held: Held) -> Option<Diagnostic> {
    let (wrong, right, text, help) = match edge.instruction {
        Instruction::Unlock => (Held::NO, Held::YES, "`unlock` without `lock`", "lock on every path that leads here"),
        Instruction::Lock => {
            (Held::YES, Held::NO, "`lock` while the lock is held", "unlock on every path that leads here")
        }
        _ => return None,
    };
    let diagnostic = if held == wrong {
        Diagnostic::warning("lock", format!("{text}: this blocks forever"), edge.span)
    } else if held.may_be(wrong) && held.may_be(right) {
        Diagnostic::new(Severity::Note, "lock", format!("{text} on some path: this can block forever"), edge.span)
    } else {
        return None;
    };
    Some(diagnostic.help(help))
}

/// The thread may end here, and then does so with the lock held.
fn kept(body: &Body, edge: &Edge, after: Held) -> Option<Diagnostic> {
    let warning = Diagnostic::warning("lock", "the thread ends here while holding the lock", edge.span);
    let is_kept = after == Held::YES && body.is_done(edge.to);
    is_kept.then(|| warning.help("other threads can then neither load nor flush; `unlock` first"))
}

/// For each location, whether the lock may be held there; nothing at all where no run gets to.
fn held_at(unit: &Unit, start: Held, touches_lock: &[bool]) -> Vec<Held> {
    let body = unit.body;
    let mut held = vec![Held::default(); body.locations.len()];
    held[body.entry.index()] = start;
    let mut worklist = Worklist::new(body.locations.len(), unit.cfg.reverse_postorder().iter().copied());
    worklist.push(body.entry);
    while let Some(loc) = worklist.pop() {
        for (_, edge) in body.edges_from(loc).filter(|(id, _)| unit.ranges.can_take(*id)) {
            let after = after(&edge.instruction, held[loc.index()], touches_lock);
            for to in targets(body, edge) {
                if join(&mut held, to, after) {
                    worklist.push(to);
                }
            }
        }
    }
    held
}

fn join(held: &mut [Held], to: LocId, after: Held) -> bool {
    let before = held[to.index()];
    held[to.index()] = Held(before.0 | after.0);
    held[to.index()] != before
}

/// Nothing is left if the instruction blocks forever.
fn after(instruction: &Instruction, before: Held, touches_lock: &[bool]) -> Held {
    match instruction {
        Instruction::Lock if before.may_be(Held::NO) || before.may_be(Held::UNKNOWN) => Held::YES,
        Instruction::Unlock if before.may_be(Held::YES) || before.may_be(Held::UNKNOWN) => Held::NO,
        Instruction::Lock | Instruction::Unlock => Held::default(),
        Instruction::Call { procedure, .. } if touches_lock[procedure.index()] && before != Held::default() => {
            Held::UNKNOWN
        }
        _ => before,
    }
}

/// For each procedure, whether it or one that it calls uses the lock.
fn procedures_with_locks(program: &Program) -> Vec<bool> {
    let uses_lock = |body: &Body| {
        body.edges().iter().any(|edge| matches!(edge.instruction, Instruction::Lock | Instruction::Unlock))
    };
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); program.procedures.len()];
    for (caller, procedure) in program.procedures.iter().enumerate() {
        for edge in procedure.body.edges() {
            if let Instruction::Call { procedure: callee, .. } = edge.instruction {
                callers[callee.index()].push(caller);
            }
        }
    }
    let mut touches = vec![false; program.procedures.len()];
    let mut pending: Vec<usize> =
        (0..program.procedures.len()).filter(|&at| uses_lock(&program.procedures[at].body)).collect();
    while let Some(at) = pending.pop() {
        if !std::mem::replace(&mut touches[at], true) {
            pending.extend(&callers[at]);
        }
    }
    touches
}
