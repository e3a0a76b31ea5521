//! Seeded random programs: structured threads over small data, so that searches end soon.
//!
//! Results of arithmetic are cut down to a few values before they are kept, so the values a run can see are finitely
//! many (some of them extreme, to try the engines' encodings); only the buffers of TSO can grow without bound, when
//! a loop stores.

mod body;
mod condition;
mod expressions;
mod properties;

use weir_ir::{Address, Multiplicity, Program, Range, Shared, Span, Value, Width};

pub use condition::condition;

use crate::rng::Rng;
use crate::sketch;

/// What the statements of a thread are drawn from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The names are the documentation.
pub enum Statement {
    Load,
    /// Two loads in one step.
    Snapshot,
    /// Loads of one or two cells in one step, which must find what they wait for.
    Await,
    Store,
    Fence,
    Membarrier,
    /// Any read-modify-write.
    ReadModifyWrite,
    Assign,
    Skip,
    Havoc,
    Assume,
    Assert,
    Terminate,
    /// `if`, with or without `else`.
    Branch,
    /// `choose`.
    Choice,
    /// A loop that counts to 2.
    BoundedLoop,
    /// `while` over registers, a loop left by choice, or one never left.
    UnboundedLoop,
    /// Lock, body, unlock.
    Atomic,
    /// A lock or unlock on its own: a good way to a deadlock.
    StrayLock,
}

/// What the programs look like.
#[derive(Clone, Debug)]
pub struct Config {
    /// The least and the greatest number of threads.
    pub threads: (usize, usize),
    /// The greatest number of declarations of shared cells; at least 1.
    pub cells: usize,
    /// How many registers each thread works with, besides the counters of loops; at least 1.
    pub registers: u32,
    /// The least and the greatest number of simple statements of a thread.
    pub statements: (usize, usize),
    /// Arithmetic results are cut down to 0 to this value, which is one less than a power of two.
    pub mask: Value,
    /// How often a computation is not cut down, so that values may grow without bound, in percent.
    pub growing: u32,
    /// How often each statement is drawn, relative to the others.
    pub weights: Vec<(Statement, u32)>,
    /// How often an address is computed from a register, in percent.
    pub computed_addresses: u32,
    /// How often a declaration has a range, in percent.
    pub ranges: u32,
    /// How often a declaration without a range has a width, in percent.
    pub widths: u32,
    /// How often a constant or an address is an extreme one, in percent.
    pub extremes: u32,
    /// How often a further thread is declared that nothing ever starts, in percent.
    pub absent_threads: u32,
    /// How often a thread has the same body as the one before it, in percent.
    pub equal_threads: u32,
    /// The greatest number of cells that are loaded in one step; at least 2.
    pub loads_in_one_step: usize,
    /// The greatest number of properties.
    pub properties: usize,
}

impl Config {
    /// No loops but counted ones: complete under both models.
    pub fn acyclic() -> Self {
        Self {
            threads: (2, 3),
            cells: 2,
            registers: 2,
            statements: (1, 4),
            mask: 1,
            growing: 0,
            weights: vec![
                (Statement::Load, 20),
                (Statement::Snapshot, 4),
                (Statement::Store, 25),
                (Statement::Fence, 4),
                (Statement::ReadModifyWrite, 8),
                (Statement::Assign, 6),
                (Statement::Skip, 2),
                (Statement::Havoc, 2),
                (Statement::Assume, 3),
                (Statement::Assert, 2),
                (Statement::Terminate, 1),
                (Statement::Branch, 8),
                (Statement::Choice, 4),
                (Statement::BoundedLoop, 3),
                (Statement::UnboundedLoop, 0),
                (Statement::Atomic, 3),
                (Statement::StrayLock, 1),
            ],
            computed_addresses: 15,
            ranges: 15,
            widths: 0,
            extremes: 3,
            absent_threads: 3,
            equal_threads: 0,
            loads_in_one_step: 2,
            properties: 4,
        }
    }

    /// With loops without bound: complete under SC; under TSO often not.
    pub fn cyclic() -> Self {
        Self { threads: (2, 2), statements: (2, 6), ..Self::acyclic() }
            .weighing(Statement::UnboundedLoop, 12)
            .weighing(Statement::Fence, 10)
            .weighing(Statement::Branch, 10)
    }

    /// Mostly about the lock and read-modify-writes.
    pub fn locking() -> Self {
        Self { statements: (2, 4), ..Self::acyclic() }
            .weighing(Statement::Atomic, 20)
            .weighing(Statement::StrayLock, 6)
            .weighing(Statement::ReadModifyWrite, 15)
    }

    /// Two to four threads of few statements each.
    pub fn crowded() -> Self {
        Self { threads: (3, 4), statements: (1, 2), registers: 1, ..Self::acyclic() }
    }

    /// Arrays, pointers, ranges, extreme values.
    pub fn wild_data() -> Self {
        let config = Self { cells: 3, mask: 3, computed_addresses: 50, ranges: 40, extremes: 25, ..Self::acyclic() };
        Self { threads: (2, 2), statements: (3, 6), ..config }
            .weighing(Statement::Assign, 15)
            .weighing(Statement::ReadModifyWrite, 15)
    }

    /// Everything there is, often: every construct in one program out of a few.
    pub fn everything() -> Self {
        let often = [
            (Statement::Load, 16),
            (Statement::Snapshot, 8),
            (Statement::Store, 26),
            (Statement::Fence, 5),
            (Statement::ReadModifyWrite, 8),
            (Statement::Havoc, 4),
            (Statement::Assume, 3),
            (Statement::Assert, 3),
            (Statement::Terminate, 3),
            (Statement::Branch, 6),
            (Statement::Choice, 6),
            (Statement::BoundedLoop, 2),
            (Statement::UnboundedLoop, 3),
            (Statement::Atomic, 6),
            (Statement::StrayLock, 3),
        ];
        let config = Self { computed_addresses: 25, ranges: 25, extremes: 4, absent_threads: 8, ..Self::acyclic() };
        let config = Self { equal_threads: 25, loads_in_one_step: 3, registers: 3, statements: (2, 5), ..config };
        let config = Self { threads: (2, 3), properties: 3, ..config };
        often.into_iter().fold(config, |config, (statement, weight)| config.weighing(statement, weight))
    }

    /// Cells that wrap, and values that are too large for them or negative.
    pub fn wrapping() -> Self {
        Self { widths: 80, ranges: 10, extremes: 15, ..Self::acyclic() }
            .weighing(Statement::ReadModifyWrite, 25)
            .weighing(Statement::Assign, 12)
    }

    /// Everything there is, and also waits, fences on behalf of all threads, and cells that wrap.
    pub fn synchronizing() -> Self {
        Self { widths: 30, ..Self::everything() }.weighing(Statement::Membarrier, 8).weighing(Statement::Await, 8)
    }

    /// One to three threads of about six instructions, with loops, waits and values that may grow without bound.
    pub fn small() -> Self {
        let config =
            Self { threads: (1, 3), cells: 3, statements: (1, 6), growing: 80, properties: 3, ..Self::acyclic() };
        Self { absent_threads: 0, ranges: 8, widths: 8, computed_addresses: 8, ..config }
            .weighing(Statement::Assign, 10)
            .weighing(Statement::UnboundedLoop, 8)
            .weighing(Statement::Await, 3)
            .weighing(Statement::Membarrier, 2)
            .weighing(Statement::StrayLock, 0)
    }

    /// The same with another weight for one kind of statement.
    #[must_use]
    pub fn weighing(mut self, statement: Statement, weight: u32) -> Self {
        self.weights.retain(|entry| entry.0 != statement);
        self.weights.push((statement, weight));
        self
    }
}

/// The program that `seed` names. The same seed and configuration give the same program.
pub fn program(seed: u64, config: &Config) -> Program {
    let mut rng = Rng::new(seed);
    let shared = declarations(&mut rng, config);
    let count = rng.between(config.threads.0, config.threads.1);
    let mut threads: Vec<weir_ir::Thread> = Vec::new();
    for index in 0..count {
        let name = format!("P{index}");
        let thread = match threads.last() {
            Some(last) if config.equal_threads > 0 && rng.chance(config.equal_threads) => {
                weir_ir::Thread { family: (name.clone(), None), name, ..last.clone() }
            }
            _ => body::thread(&mut rng, config, &shared, &name),
        };
        threads.push(thread);
    }
    if rng.chance(config.absent_threads) {
        let absent = body::thread(&mut rng, config, &shared, "Absent");
        let place = rng.below(threads.len() + 1);
        threads.insert(place, weir_ir::Thread { multiplicity: Multiplicity::Spawned, ..absent });
    }
    let properties = properties::properties(&mut rng, config, &shared, &threads);
    sketch::program(shared, threads, properties)
}

/// Scalars and arrays at ascending addresses from 1, the last one sometimes far out.
fn declarations(rng: &mut Rng, config: &Config) -> Vec<Shared> {
    let count = rng.between(1, config.cells);
    let mut free: Address = 1;
    let mut declare = |index: usize| {
        let is_array = rng.chance(config.computed_addresses / 2);
        let len = if is_array { rng.between(1, 2) } else { 1 };
        let range = rng.chance(config.ranges).then(|| small_range(rng, config));
        let far_out = index + 1 == count && rng.chance(config.extremes);
        let address = if far_out { *rng.pick(&[Address::MAX - 1, Address::MIN, -1, 1 << 40]) } else { free };
        free += len as Address;
        let initial = (0..len).map(|_| initial_value(rng, config, range)).collect();
        let name = format!("x{index}");
        let has_width = config.widths > 0 && range.is_none() && rng.chance(config.widths);
        let width = has_width.then(|| *rng.pick(&[Width::U8, Width::U8, Width::U16, Width::U32]));
        Shared { name, address, is_array, initial: fitting(initial, width), range, width, span: Span::default() }
    };
    (0..count).map(&mut declare).collect()
}

/// Initial values within the width; often the largest, which wraps soon.
fn fitting(initial: Vec<Value>, width: Option<Width>) -> Vec<Value> {
    let Some(width) = width else { return initial };
    let fit = |value: Value| if value == 0 { 0 } else { value.clamp(width.range().high - 1, width.range().high) };
    initial.into_iter().map(fit).collect()
}

fn small_range(rng: &mut Rng, config: &Config) -> Range {
    if rng.chance(config.extremes) {
        return *rng.pick(&[Range::FULL, Range { low: Value::MIN, high: 0 }, Range { low: -1, high: Value::MAX }]);
    }
    let low = rng.below(2) as Value - Value::from(rng.chance(20));
    Range { low, high: low + rng.below(config.mask as usize + 1) as Value }
}

fn initial_value(rng: &mut Rng, config: &Config, range: Option<Range>) -> Value {
    let wanted = if rng.chance(25) { expressions::constant(rng, config) } else { 0 };
    range.map_or(wanted, |range| wanted.clamp(range.low, range.high))
}

#[cfg(test)]
mod tests;
