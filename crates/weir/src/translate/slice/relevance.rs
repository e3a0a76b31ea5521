//! What counts for some goals: threads, registers and cells. `closure` finds out what that is.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_ir::flow::{Moment, Ranges, RegisterSet, Webs, ends_alone, never_blocks, never_ends};
use weir_ir::{
    Edge, EdgeId, Expr, LocId, Program, PropertyKind, Range, RegExpr, RegId, Shared, StateAtom, StateExpr, ThreadId,
    UnaryOp, Value,
};
use weir_witness::Goal;

/// What counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Relevance {
    threads: Vec<bool>,
    /// The live ranges of registers, thread by thread: a register may count in one and not in another.
    lives: Arc<Vec<Webs>>,
    /// Those that count, by their numbers.
    webs: Vec<RegisterSet>,
    /// Addresses, in order and without overlaps.
    cells: Vec<Range>,
    /// For each edge of each thread whether it writes something that counts, or may be blocked by a range.
    writes: Vec<Vec<bool>>,
    /// Whether all accesses stay, so that they wait where they waited. Their values need not.
    keeps_accesses: bool,
    /// Whether all conditions stay, so that the same instructions can block, judging by their form.
    keeps_conditions: bool,
}

impl Relevance {
    pub(super) fn nothing(program: &Program, lives: &Arc<Vec<Webs>>) -> Self {
        Self {
            threads: vec![false; program.threads.len()],
            lives: Arc::clone(lives),
            webs: vec![RegisterSet::new(); program.threads.len()],
            cells: Vec::new(),
            writes: program.threads.iter().map(|thread| vec![false; thread.body.edges().len()]).collect(),
            keeps_accesses: false,
            keeps_conditions: false,
        }
    }

    pub(super) fn everything(program: &Program, lives: &Arc<Vec<Webs>>) -> Self {
        let mut all = Self::nothing(program, lives);
        all.threads.fill(true);
        all.writes.iter_mut().for_each(|edges| edges.fill(true));
        all.webs = lives.iter().map(|webs| RegisterSet::first(webs.registers().len())).collect();
        all.cells.push(Range::FULL);
        all.keeps_accesses = true;
        all.keeps_conditions = true;
        all
    }

    pub(super) fn is_kept(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()]
    }

    /// Whether a register counts anywhere.
    pub(super) fn has_register(&self, thread: ThreadId, register: RegId) -> bool {
        let registers = self.lives[thread.index()].registers();
        self.webs[thread.index()].iter().any(|web| registers[web.index()] == register)
    }

    /// Whether the value that an edge gives a register counts.
    pub(super) fn has_definition(&self, thread: ThreadId, edge: &Edge, register: RegId) -> bool {
        self.counts_at(thread, edge.to, register)
    }

    fn counts_at(&self, thread: ThreadId, loc: LocId, register: RegId) -> bool {
        let web = self.lives[thread.index()].at(loc, register);
        web.is_some_and(|web| self.webs[thread.index()].contains(RegId(web)))
    }

    /// The registers of a thread that count, with the values that they can have where they do.
    pub(super) fn values(&self, ranges: &Ranges, thread: ThreadId) -> BTreeMap<RegId, Range> {
        let counting = &self.webs[thread.index()];
        let mut found: BTreeMap<RegId, Range> = BTreeMap::new();
        let mut add = |register, values: Range| {
            found.entry(register).and_modify(|known| *known = known.hull(values)).or_insert(values);
        };
        match self.lives[thread.index()].places() {
            Some(places) => {
                for (loc, register, _) in places.filter(|&(_, _, web)| counting.contains(RegId(web))) {
                    ranges.register_at(thread, loc, register).into_iter().for_each(|values| add(register, values));
                }
            }
            None => counting.iter().for_each(|register| add(register, ranges.register(thread, register))),
        }
        found
    }

    pub(super) fn cells(&self) -> &[Range] {
        &self.cells
    }

    pub(super) fn keeps_accesses(&self) -> bool {
        self.keeps_accesses
    }

    pub(super) fn keeps_conditions(&self) -> bool {
        self.keeps_conditions
    }

    /// Whether a store or read-modify-write stays as it is.
    pub(super) fn keeps_write(&self, thread: ThreadId, edge: EdgeId) -> bool {
        self.writes[thread.index()][edge.index()]
    }
}

impl Relevance {
    /// Adds what a goal names. What that depends on in turn is missing.
    pub(super) fn add_goal(&mut self, program: &Program, ranges: &Ranges, goal: Goal) {
        if needs_ends(program, goal) {
            let must_stay = |thread: &ThreadId| !ends_alone(program, ranges, *thread);
            let kept: Vec<ThreadId> = program.running_threads().filter(must_stay).collect();
            kept.into_iter().for_each(|thread| self.threads[thread.index()] = true);
        }
        match goal {
            Goal::Assertion(thread) => self.threads[thread.index()] = true,
            Goal::Property(property) => match &program.properties[property.index()].kind {
                PropertyKind::Forbid(condition)
                | PropertyKind::Exists(condition)
                | PropertyKind::Always(condition)
                | PropertyKind::Live(condition) => self.add_condition(condition),
                // A thread at rest behind a lock that another holds forever is not done.
                PropertyKind::ForbidDeadlock if program.uses_lock() => self.threads.fill(true),
                PropertyKind::ForbidDeadlock => {}
                // A thread that never ends may be what keeps another from being stuck.
                PropertyKind::ForbidStuck => self.threads.fill(true),
            },
            Goal::NotRobust => self.threads.fill(true),
        }
    }

    fn add_condition(&mut self, condition: &StateExpr) {
        condition.for_each_leaf(&mut |atom| match atom {
            StateAtom::At { thread, .. } => self.threads[thread.index()] = true,
            StateAtom::Register { thread, register } => {
                self.threads[thread.index()] = true;
                self.add_register_everywhere(*thread, *register);
            }
            StateAtom::Cell(address) => {
                self.add_cells(Range::single(*address));
            }
        });
    }

    /// Adds a thread; whether that is news.
    pub(super) fn add_thread(&mut self, thread: ThreadId) -> bool {
        !std::mem::replace(&mut self.threads[thread.index()], true)
    }

    /// Adds all threads, with all their accesses.
    pub(super) fn add_all_accesses(&mut self) {
        self.threads.fill(true);
        self.keeps_accesses = true;
    }

    pub(super) fn keep_accesses(&mut self) {
        self.keeps_accesses = true;
    }

    pub(super) fn keep_conditions(&mut self) {
        self.keeps_conditions = true;
    }

    /// Adds the live range that a register is in at a location. Its number, if that is news.
    pub(super) fn add_register_at(&mut self, thread: ThreadId, loc: LocId, register: RegId) -> Option<u32> {
        let web = self.lives[thread.index()].at(loc, register)?;
        self.webs[thread.index()].insert(RegId(web)).then_some(web)
    }

    fn add_register_everywhere(&mut self, thread: ThreadId, register: RegId) {
        for (web, &of) in (0..).zip(self.lives[thread.index()].registers()) {
            if of == register {
                self.webs[thread.index()].insert(RegId(web));
            }
        }
    }

    pub(super) fn add_write(&mut self, thread: ThreadId, edge: EdgeId) {
        self.writes[thread.index()][edge.index()] = true;
    }

    /// The positions of the ranges that meet this one.
    fn meeting(&self, cells: Range) -> std::ops::Range<usize> {
        let start = self.cells.partition_point(|known| known.high < cells.low);
        start..start + self.cells[start..].partition_point(|known| known.low <= cells.high)
    }

    /// Whether one of these cells counts.
    pub(super) fn touches(&self, cells: Range) -> bool {
        !self.meeting(cells).is_empty()
    }

    /// Adds cells; whether that is news.
    pub(super) fn add_cells(&mut self, cells: Range) -> bool {
        let meeting = self.meeting(cells);
        let known = &self.cells[meeting.clone()];
        if known.iter().any(|known| known.meet(cells) == Some(cells)) {
            return false;
        }
        let joined = known.iter().copied().fold(cells, Range::hull);
        self.cells.splice(meeting, [joined]);
        true
    }
}

/// A value that can be stored to any of these addresses without ever being blocked; the one that is there already, if
/// that is known.
pub(super) fn neutral(program: &Program, addresses: Range) -> Option<Value> {
    if addresses.extent() == 0 {
        return Some(program.initial_value(addresses.low));
    }
    let has_range =
        |shared: &Shared| shared.range.is_some() && shared.addresses().any(|address| addresses.contains(address));
    (!program.shared.iter().any(has_range)).then_some(0)
}

/// Whether a condition holds, if the values that its registers can have leave no doubt.
pub(super) fn decided(ranges: &Ranges, thread: ThreadId, edge: &Edge, condition: &RegExpr) -> Option<bool> {
    let values = ranges.value_at(thread, edge.from, condition)?;
    match values {
        Range { low: 0, high: 0 } => Some(false),
        _ if !values.contains(0) => Some(true),
        _ => None,
    }
}

/// Whether a goal is about states in which threads have ended.
pub(super) fn needs_ends(program: &Program, goal: Goal) -> bool {
    match goal {
        Goal::Property(property) => match program.properties[property.index()].kind {
            PropertyKind::Exists(_) | PropertyKind::Always(_) | PropertyKind::ForbidDeadlock => true,
            PropertyKind::Forbid(_) | PropertyKind::ForbidStuck | PropertyKind::Live(_) => false,
        },
        Goal::Assertion(_) | Goal::NotRobust => false,
    }
}

/// Whether the text shows that no run reaches a goal: a deadlock, if a thread never blocks and never ends, or if no
/// thread ever blocks; a condition, if values and places rule it out; anything about the end, if there is none.
pub(super) fn is_impossible(program: &Program, ranges: &Ranges, goal: Goal) -> bool {
    let Goal::Property(property) = goal else { return false };
    let may_hold = |condition: &StateExpr, moment| ranges.may_hold(program, condition, moment);
    match &program.properties[property.index()].kind {
        PropertyKind::ForbidDeadlock => {
            let steps = |thread: ThreadId| never_blocks(program, ranges, thread);
            program.running_threads().any(|thread| never_ends(program, ranges, thread) && steps(thread))
                || program.running_threads().all(steps)
        }
        PropertyKind::Forbid(condition) => !may_hold(condition, Moment::Ever),
        PropertyKind::Exists(condition) => !may_hold(condition, Moment::AtTheEnd),
        PropertyKind::Always(condition) => !may_hold(&Expr::unary(UnaryOp::Not, condition.clone()), Moment::AtTheEnd),
        PropertyKind::ForbidStuck | PropertyKind::Live(_) => false,
    }
}
