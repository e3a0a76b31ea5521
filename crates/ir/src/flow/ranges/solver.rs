//! The fixpoint: registers by location, memory all at once.
//!
//! Upwards first: every body in turn until nothing changes, with widening where a loop closes and at memory
//! slots; then, while memory has changed, again from the locations that read it. Whatever that ends
//! with contains all runs, by induction over their steps. Downwards then: each range is computed
//! afresh from the others, which keeps containing all runs, in whatever order it is done.
//!
//! Everything is bounded: a range that keeps growing jumps to thresholds, then to the ends of all values; a
//! location or a memory that still keeps changing is given up on. A body of too many locations times
//! registers is not followed at all: its registers may hold anything.

use super::env::Env;
use super::memory::Memory;
use super::transfer::{Effects, step};
use super::widening::{Pace, Thresholds};
use crate::flow::limits::MOST_RANGES;
use crate::flow::{Cfg, Loops, Worklist};
use crate::ids::{EdgeId, LocId, RegId};
use crate::interrupt::{Interrupt, Poll};
use crate::program::{Body, Edge, Instruction, Program, Range};
use crate::sort::sort_by_key;

/// Rounds over all bodies after which memory is given up on.
const MOST_ROUNDS: u32 = 100;

/// Growths of one location after which its registers are given up on.
const MOST_GROWTHS: u32 = 60;

/// Passes downwards; each carries what the one before has learnt through memory.
const NARROWING_PASSES: u32 = 3;

/// The ranges of one body's registers.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// How many registers.
    width: usize,
    /// One row a location, or just one for a body that is not followed.
    ranges: Vec<Range>,
    pub(super) is_followed: bool,
    pub(super) is_reachable: Vec<bool>,
}

impl Rows {
    /// The ranges at a location.
    pub(super) fn at(&self, loc: LocId) -> &[Range] {
        let start = if self.is_followed { loc.index() * self.width } else { 0 };
        &self.ranges[start..start + self.width]
    }

    fn at_mut(&mut self, loc: LocId) -> &mut [Range] {
        let start = if self.is_followed { loc.index() * self.width } else { 0 };
        &mut self.ranges[start..start + self.width]
    }

    /// Makes `env` what it is at `loc`. It must hold the one row already for a body that is not followed.
    pub(super) fn load_into(&self, env: &mut Env, loc: LocId) {
        if self.is_followed {
            env.load(self.at(loc));
        }
    }

    /// Adds one more way to a location to what is known about it.
    fn collect(&self, row: &mut [Range], env: &Env, is_reached: bool) {
        if !self.is_followed {
            return;
        }
        for (old, &new) in row.iter_mut().zip(env.row()) {
            *old = if is_reached { old.hull(new) } else { new };
        }
    }
}

/// One body while the fixpoint is computed.
struct Unit<'p> {
    body: &'p Body,
    cfg: Cfg,
    /// The row at the entry.
    start: Vec<Range>,
    rows: Rows,
    /// Loops before what follows them.
    order: Vec<LocId>,
    worklist: Worklist,
    growths: Vec<u32>,
    /// The locations whose next step may read memory.
    readers: Vec<LocId>,
    /// Registers that some edge sets.
    is_set: Vec<bool>,
}

/// The ranges of the given bodies (each with the registers that may hold anything at its entry) and of memory.
pub(super) fn solve(
    program: &Program,
    bodies: &[(&Body, Vec<RegId>)],
    interrupt: &dyn Interrupt,
) -> (Vec<Rows>, Memory) {
    let poll = Poll::new(interrupt);
    let thresholds = Thresholds::of(program);
    let mut memory = Memory::new(program);
    let followed = followed(bodies);
    let mut units: Vec<Unit> =
        bodies.iter().zip(followed).map(|((body, unknown), followed)| Unit::new(body, unknown, followed)).collect();
    ascend(&mut units, &mut memory, &thresholds, &poll);
    for _ in 0..NARROWING_PASSES {
        // Ranges that were not narrowed are right as well.
        if poll.is_over() {
            break;
        }
        let (mut narrowed, mut changed) = (memory.restarted(), false);
        for unit in &mut units {
            changed |= unit.descend(&memory, &mut narrowed);
        }
        changed |= !narrowed.holds_the_same(&memory);
        memory = narrowed;
        // Another pass would do the same as this one.
        if !changed {
            break;
        }
    }
    (units.into_iter().map(|unit| unit.rows).collect(), memory)
}

/// Which bodies there is room to follow, the smallest first.
fn followed(bodies: &[(&Body, Vec<RegId>)]) -> Vec<bool> {
    let size = |at: usize| bodies[at].0.locations.len().saturating_mul(bodies[at].0.registers.len());
    let mut order: Vec<usize> = (0..bodies.len()).collect();
    sort_by_key(&mut order, |&at| size(at));
    let mut followed = vec![false; bodies.len()];
    let mut room = MOST_RANGES;
    for at in order {
        let Some(rest) = room.checked_sub(size(at)) else { break };
        (room, followed[at]) = (rest, true);
    }
    followed
}

fn ascend(units: &mut [Unit], memory: &mut Memory, thresholds: &Thresholds, poll: &Poll<'_>) {
    let mut rounds = 0;
    loop {
        let mut changed = false;
        for unit in units.iter_mut() {
            changed |= unit.ascend(memory, thresholds, poll);
        }
        if poll.is_over() {
            memory.give_up();
            units.iter_mut().for_each(Unit::give_up_all);
            return;
        }
        if !changed {
            return;
        }
        rounds += 1;
        if rounds == MOST_ROUNDS {
            memory.give_up();
        }
        for unit in units.iter_mut() {
            unit.look_again();
        }
    }
}

impl<'p> Unit<'p> {
    fn new(body: &'p Body, unknown: &[RegId], is_followed: bool) -> Self {
        let cfg = Cfg::of(body);
        let order = Loops::of(&cfg).order().to_vec();
        let (count, width) = (body.locations.len(), body.registers.len());
        let edges = body.edges().iter();
        let mut is_set = vec![false; width];
        let calls = edges.clone().any(|edge| matches!(edge.instruction, Instruction::Call { .. }));
        let set_by_others = body.thread_locals().filter(|_| calls);
        let set_here = edges.clone().flat_map(|edge| edge.instruction.defines());
        for register in set_here.chain(unknown.iter().copied()).chain(set_by_others) {
            is_set[register.index()] = true;
        }
        let start = start_row(&is_set, unknown, is_followed);
        let ranges = if is_followed { vec![Range::single(0); count * width] } else { start.clone() };
        let mut rows = Rows { width, ranges, is_followed, is_reachable: vec![false; count] };
        rows.at_mut(body.entry).copy_from_slice(&start);
        rows.is_reachable[body.entry.index()] = true;
        let mut worklist = Worklist::new(count, order.iter().copied());
        worklist.push(body.entry);
        let readers = edges.filter(|edge| reads_memory(&edge.instruction)).map(|edge| edge.from).collect();
        Self { body, cfg, start, rows, order, worklist, growths: vec![0; count], readers, is_set }
    }

    /// Memory has changed: what reads it must be looked at again.
    fn look_again(&mut self) {
        for &loc in self.readers.iter().filter(|loc| self.rows.is_reachable[loc.index()]) {
            self.worklist.push(loc);
        }
    }

    /// Follows every edge from every location that has changed. Whether memory changed.
    fn ascend(&mut self, memory: &mut Memory, thresholds: &Thresholds, poll: &Poll<'_>) -> bool {
        let mut env = Env::default();
        env.load(self.rows.at(self.body.entry));
        let mut memory_changed = false;
        while let Some(loc) = self.worklist.pop() {
            if poll.is_over() {
                break;
            }
            self.rows.load_into(&mut env, loc);
            for (_, edge) in self.body.edges_from(loc) {
                for fails in ways(&edge.instruction) {
                    if let Some((to, effects)) = follow(self.body, edge, fails, &mut env, memory) {
                        self.join(edge.from, to, &env, thresholds);
                        for (target, value) in effects {
                            memory_changed |= memory.grow(target, value, thresholds);
                        }
                    }
                    env.reset();
                }
            }
        }
        memory_changed
    }

    /// Control comes to `to` with the registers in `env`.
    fn join(&mut self, from: LocId, to: LocId, env: &Env, thresholds: &Thresholds) {
        let at = to.index();
        if !self.rows.is_reachable[at] {
            self.rows.is_reachable[at] = true;
            if self.rows.is_followed {
                self.rows.at_mut(to).copy_from_slice(env.row());
            }
            return self.worklist.push(to);
        }
        if !self.rows.is_followed {
            return;
        }
        // Every cycle closes somewhere, so it is enough to hurry there.
        let closes_loop = self.worklist.rank(from) >= self.worklist.rank(to);
        let pace = if closes_loop { Pace::after(self.growths[at]) } else { Pace::Exactly };
        let mut changed = false;
        for (old, &new) in self.rows.at_mut(to).iter_mut().zip(env.row()) {
            let widened = thresholds.widen(*old, new, pace);
            changed |= widened != *old;
            *old = widened;
        }
        if changed {
            self.worklist.push(to);
            self.growths[at] += u32::from(closes_loop);
            if self.growths[at] > MOST_GROWTHS {
                self.give_up(to);
            }
        }
    }

    /// Every register that is set somewhere may hold anything at `loc`.
    fn give_up(&mut self, loc: LocId) {
        let Self { rows, is_set, .. } = self;
        for (range, _) in rows.at_mut(loc).iter_mut().zip(is_set).filter(|(_, is_set)| **is_set) {
            *range = Range::FULL;
        }
    }

    /// Every location may be reached, and every register that is set somewhere may hold anything there.
    fn give_up_all(&mut self) {
        let start = self.start.clone();
        for loc in self.body.location_ids() {
            if self.rows.is_followed {
                self.rows.at_mut(loc).copy_from_slice(&start);
            }
            self.rows.is_reachable[loc.index()] = true;
            self.give_up(loc);
        }
    }

    /// Computes each row afresh from those that lead to it, and adds what the edges do to `narrowed`. Whether a row has
    /// changed.
    fn descend(&mut self, memory: &Memory, narrowed: &mut Memory) -> bool {
        let mut changed = false;
        let mut env = Env::default();
        env.load(&self.start);
        let mut row = self.start.clone();
        for at in 0..self.order.len() {
            let loc = self.order[at];
            let mut is_reached = loc == self.body.entry;
            if is_reached {
                row.copy_from_slice(&self.start);
            }
            for &edge in self.cfg.edges_into(loc) {
                let edge = self.body.edge(edge);
                if !self.rows.is_reachable[edge.from.index()] {
                    continue;
                }
                self.rows.load_into(&mut env, edge.from);
                for fails in ways(&edge.instruction) {
                    match follow(self.body, edge, fails, &mut env, memory) {
                        Some((to, effects)) if to == loc => {
                            effects.into_iter().for_each(|(target, value)| narrowed.add(target, value));
                            self.rows.collect(&mut row, &env, is_reached);
                            is_reached = true;
                        }
                        _ => {}
                    }
                    env.reset();
                }
            }
            changed |= std::mem::replace(&mut self.rows.is_reachable[loc.index()], is_reached) != is_reached;
            if is_reached && self.rows.is_followed && *self.rows.at(loc) != *row {
                changed = true;
                self.rows.at_mut(loc).copy_from_slice(&row);
            }
        }
        changed
    }
}

/// What registers hold at the entry: 0, unless that is unknown. A body that is not followed has but this row.
fn start_row(is_set: &[bool], unknown: &[RegId], is_followed: bool) -> Vec<Range> {
    let free = |may_be_any: bool| if may_be_any { Range::FULL } else { Range::single(0) };
    let mut row: Vec<Range> = is_set.iter().map(|&is_set| free(is_set && !is_followed)).collect();
    for register in unknown {
        row[register.index()] = Range::FULL;
    }
    row
}

/// The ways out of an edge: an assertion may fail.
fn ways(instruction: &Instruction) -> impl Iterator<Item = bool> + use<> {
    let count = if matches!(instruction, Instruction::Assert(_)) { 2 } else { 1 };
    [false, true].into_iter().take(count)
}

/// Takes an edge one way: where it leads and what it may do to memory, if a run can do so.
fn follow(body: &Body, edge: &Edge, fails: bool, env: &mut Env, memory: &Memory) -> Option<(LocId, Effects)> {
    match &edge.instruction {
        Instruction::Assert(condition) if fails => {
            let failed = body.failed.filter(|_| env.assume(condition, false))?;
            Some((failed, Vec::new()))
        }
        instruction => {
            let effects = step(instruction, env, memory)?;
            if let Instruction::Call { .. } = instruction {
                body.thread_locals().for_each(|register| env.set(register, Range::FULL));
            }
            Some((edge.to, effects))
        }
    }
}

fn reads_memory(instruction: &Instruction) -> bool {
    instruction.is_load() || matches!(instruction, Instruction::ReadModifyWrite { .. })
}

/// Whether some run may take an edge, with the registers as in `env`; which is unchanged afterwards.
pub(super) fn can_take(body: &Body, edge: EdgeId, env: &mut Env, memory: &Memory) -> bool {
    let edge = body.edge(edge);
    ways(&edge.instruction).any(|fails| {
        let possible = follow(body, edge, fails, env, memory).is_some();
        env.reset();
        possible
    })
}
