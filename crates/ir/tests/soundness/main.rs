//! Random programs, run at random: no value may ever turn up outside the range computed for it, and nothing
//! may happen that was called impossible.
//!
//! The runs are those of a plain interpreter with store buffers that drain late (TSO) or at once (SC).

mod generator;
mod machine;

use generator::{Generator, Random};
use machine::Machine;
use std::collections::BTreeSet;
use weir_ir::flow::Ranges;
use weir_ir::{Diagnostic, Interrupt, Program, Range, RegId, Span};

const PROGRAMS: u64 = 4000;
const RUNS: u64 = 6;

/// What is claimed about all runs of a program.
struct Claims {
    ranges: Ranges,
    /// Statements that no run executes.
    impossible: BTreeSet<Span>,
    /// Declarations of registers that may be read before they are set.
    unset: BTreeSet<Span>,
}

impl Claims {
    fn about(program: &Program) -> Self {
        assert_eq!(weir_ir::validate(program), []);
        let reports = weir_ir::lint(program);
        assert_eq!(reports, weir_ir::lint(program), "lint is not deterministic");
        let spans = |codes: &[&str], span: fn(&Diagnostic) -> Option<Span>| {
            reports.iter().filter(|report| codes.contains(&report.code)).filter_map(span).collect()
        };
        Self {
            ranges: Ranges::of(program),
            impossible: spans(&["never-taken", "unreachable", "store-outside"], |report| Some(report.primary.span)),
            unset: spans(&["read-before-set"], |report| report.secondary.first().map(|label| label.span)),
        }
    }
}

#[test]
fn no_run_does_what_was_called_impossible() {
    let (mut steps, mut registers, mut bounded, mut impossible) = (0, 0, 0, 0);
    for seed in 0..PROGRAMS {
        let program = Generator::new(seed).program();
        let claims = Claims::about(&program);
        impossible += claims.impossible.len();
        let (all, some) = count_registers(&program, &claims.ranges);
        (registers, bounded) = (registers + all, bounded + some);
        for run in 0..RUNS {
            let machine = Machine::new(&program, &claims, seed);
            steps += machine.run(&mut Random(seed << 8 | run), run % 2 == 0);
        }
    }
    assert!(steps > 500_000, "the programs hardly run: {steps} steps");
    assert!(bounded * 2 > registers, "the ranges hardly say anything: {bounded} of {registers}");
    assert!(impossible > 500, "next to nothing is called impossible: {impossible}");
}

/// Over from the start.
struct Over;

impl Interrupt for Over {
    fn is_over(&self) -> bool {
        true
    }
}

/// Ranges of an analysis that was interrupted say little, but nothing wrong.
#[test]
fn an_interrupted_analysis_is_imprecise_and_right() {
    let mut is_less_precise = 0;
    for seed in 0..PROGRAMS / 8 {
        let program = Generator::new(seed).program();
        let ranges = Ranges::of_until(&program, &Over);
        let (all, bounded) = (count_registers(&program, &Ranges::of(&program)).1, count_registers(&program, &ranges).1);
        assert!(bounded <= all, "seed {seed}");
        is_less_precise += usize::from(bounded < all);
        assert_eq!(weir_ir::lint_until(&program, &Over), [], "seed {seed}");
        let claims = Claims { ranges, impossible: BTreeSet::new(), unset: Claims::about(&program).unset };
        for run in 0..2 {
            Machine::new(&program, &claims, seed).run(&mut Random(seed << 8 | run), run % 2 == 0);
        }
    }
    assert!(is_less_precise > 100, "the analysis was hardly interrupted: {is_less_precise}");
}

/// How many registers there are, and of how many the range is not everything.
fn count_registers(program: &Program, ranges: &Ranges) -> (usize, usize) {
    let registers = |thread| (0..program.body(thread).registers.len()).map(move |at| (thread, RegId::new(at)));
    let hulls = program.thread_ids().flat_map(registers).map(|(thread, register)| ranges.register(thread, register));
    hulls.fold((0, 0), |(all, bounded), hull| (all + 1, bounded + usize::from(hull != Range::FULL)))
}
