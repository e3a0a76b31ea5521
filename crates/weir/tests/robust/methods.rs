//! All methods agree with each other; freedom from triangular races is stricter than robustness.
//!
//! With `WEIR_SEEDS=1000`, each test looks at so many programs.

use weir::robust::{Method, attacks};
use weir::transform::instrument::instrument_all;
use weir::{Budget, Control, Verdict, reach};
use weir_ir::{Expr, Instruction, Program, Rmw, Source};
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::sketch::{self, cell, exchange, load, rmw, snapshot, store, straight};
use weir_testkit::tiny::{Alphabet, programs};
use weir_testkit::{dump, shrink};
use weir_witness::Model;

use crate::definition::is_robust;
use crate::random::accesses;
use crate::{race_free, verdict_by};

/// Whether the methods say different things, where both know.
fn disagree(program: &Program) -> Option<String> {
    let fast = verdict_by(program, Method::Attacks, 1)?;
    if !fast && race_free(program) == Some(true) {
        return Some("not robust, and free of triangular races".into());
    }
    let differs = |method| verdict_by(program, method, 1).is_some_and(|verdict| verdict != fast);
    let other = [Method::Instrumented, Method::Single].into_iter().find(|&method| differs(method))?;
    Some(format!("by attacks: robust = {fast}; {other:?} says otherwise"))
}

fn agree_on_random(name: &str, config: &Config, count: u64, not_robust: u64) {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let (mut seen_not_robust, mut answered) = (0, 0);
    for seed in 0..count {
        let program = program(seed, config);
        seen_not_robust += u64::from(verdict_by(&program, Method::Attacks, 1) == Some(false));
        answered += u64::from(verdict_by(&program, Method::Single, 1).is_some());
        if let Some(how) = disagree(&program) {
            let small = shrink(&program, |program| disagree(program).is_some());
            panic!("{name} program, seed {seed}: {how}\n{}", dump(&small));
        }
    }
    assert!(answered * 10 >= count * 7, "only {answered} of {count} programs could be instrumented");
    assert!(seen_not_robust * 100 >= not_robust * count, "{seen_not_robust} of {count} programs were not robust");
}

#[test]
fn methods_agree_on_acyclic_programs() {
    agree_on_random("acyclic", &Config::acyclic(), 200, 1);
}

#[test]
fn methods_agree_on_programs_with_loops() {
    agree_on_random("cyclic", &Config::cyclic(), 200, 1);
}

#[test]
fn methods_agree_on_programs_with_locks() {
    let config = Config::locking().weighing(Statement::Store, 40).weighing(Statement::Load, 40);
    agree_on_random("locking", &config, 200, 1);
}

#[test]
fn methods_agree_on_crowded_programs() {
    let config = Config { statements: (1, 3), ..Config::crowded() };
    agree_on_random("crowded", &config.weighing(Statement::Atomic, 8), 200, 1);
}

#[test]
fn methods_agree_on_wild_data() {
    agree_on_random("wild data", &Config::wild_data(), 200, 1);
}

/// Many accesses, so that many are not robust; locks, exchanges, loops, two to four threads.
#[test]
fn methods_agree_on_programs_of_accesses() {
    let config = accesses().weighing(Statement::Atomic, 8).weighing(Statement::UnboundedLoop, 4);
    let config = Config { threads: (2, 4), statements: (1, 4), ..config.weighing(Statement::ReadModifyWrite, 8) };
    agree_on_random("accesses", &config, 200, 3);
}

#[test]
fn methods_agree_on_programs_with_snapshots() {
    let config = accesses().weighing(Statement::Snapshot, 40).weighing(Statement::Atomic, 8);
    agree_on_random("snapshots", &Config { threads: (2, 3), ..config.clone() }, 200, 3);
    // Addresses that the loads themselves change.
    let config = Config { computed_addresses: 50, ..config }.weighing(Statement::UnboundedLoop, 4);
    agree_on_random("snapshots at computed addresses", &config, 200, 2);
}

/// All methods, and the definition, say this of two threads over `x` at 1 and `y` at 2.
fn all_say(left: Vec<Instruction>, right: Vec<Instruction>, expected: bool) {
    let threads = vec![straight("P", left), straight("Q", right)];
    let program = sketch::program(vec![cell("x", 1), cell("y", 2)], threads, Vec::new());
    assert_eq!(is_robust(&program, 10_000), Some(expected), "by definition");
    for method in [Method::Attacks, Method::Instrumented, Method::Single] {
        assert_eq!(verdict_by(&program, method, 1), Some(expected), "{method:?}");
    }
}

#[test]
fn a_store_cannot_land_while_the_lock_is_held() {
    let holds = vec![Instruction::Lock, store(2, 1), load(0, 1)];
    all_say(vec![store(1, 1), load(0, 2)], holds.clone(), true);
    let releases = holds.into_iter().chain([Instruction::Unlock]).collect();
    all_say(vec![store(1, 1), load(0, 2)], releases, false);
}

#[test]
fn what_came_earlier_in_a_section_is_on_the_path() {
    let left = || vec![store(1, 1), load(0, 2)];
    all_say(left(), vec![Instruction::Lock, load(0, 1), store(2, 1), Instruction::Unlock], false);
    // Without a section the load of `x` comes before anything that happens after the load of `y`.
    all_say(left(), vec![load(0, 1), store(2, 1)], true);
    // What the section itself did before does not put it onto the path.
    let alone = vec![Instruction::Lock, load(0, 1), store(1, 2), Instruction::Unlock];
    all_say(left(), alone, true);
}

#[test]
fn a_store_can_be_delayed_past_a_snapshot_and_a_snapshot_is_on_the_path_as_a_whole() {
    let both = || snapshot([(0, 1), (1, 2)]);
    all_say(vec![store(1, 1), both()], vec![store(2, 1), both()], false);
    // One that only sees the own store, twice, is no attack; nor is one behind a fence.
    all_say(vec![store(1, 1), snapshot([(0, 1), (1, 1)])], vec![store(2, 1), both()], true);
    all_say(vec![store(1, 1), Instruction::Fence, both()], vec![store(2, 1), Instruction::Fence, both()], true);
    // The other thread sees `y = 2` and, in the same step, `x` without the store that waits.
    all_say(vec![store(1, 1), load(0, 2), store(2, 2)], vec![store(2, 1), both()], false);
    // A second snapshot on the way to the attack's load lets the store wait on.
    all_say(vec![store(1, 1), both(), load(0, 2)], vec![exchange(0, 2, 1), load(0, 1)], false);
}

#[test]
fn a_comparison_that_fails_is_a_load() {
    let failing = |address| rmw(1, address, Rmw::CompareAndSwap { expected: Expr::Const(7), new: Expr::Const(8) });
    let left = || vec![store(1, 1), load(0, 2)];
    all_say(left(), vec![failing(2), load(0, 1)], true);
    all_say(left(), vec![store(2, 1), failing(1)], false);
    all_say(left(), vec![exchange(1, 2, 1), load(0, 1)], false);
}

/// Whether the instrumented program, printed and read again, answers differently.
fn reads_back(program: &Program) -> Result<bool, String> {
    let Ok(instrumented) = instrument_all(program, &attacks(program).open) else { return Ok(false) };
    let text = weir_syntax::weir::print::print(&instrumented.program);
    let source = Source::new("instrumented", text.clone());
    let again = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
    let again = again.map_err(|errors| format!("{errors:#?}\n{text}"))?.program;
    let [before, after] = [&instrumented.program, &again].map(|program| {
        let control = Control { budget: Budget { states: Some(50_000), ..Budget::default() }, ..Control::default() };
        let options = reach::Options { model: Model::Sc, ..reach::Options::default() };
        match reach::reach(program, &options, &control) {
            Ok(report) => match report.verdict {
                Verdict::Holds => Some(true),
                Verdict::Violated(_) => Some(false),
                Verdict::Unknown(_) => None,
            },
            Err(_) => None,
        }
    });
    if before == after { Ok(before.is_some()) } else { Err(format!("{before:?}, again {after:?}\n{text}")) }
}

#[test]
fn instrumented_programs_read_back() {
    let mut answered = 0;
    for seed in 0..150 {
        let config = if seed % 2 == 0 { Config::locking() } else { Config::cyclic() };
        let program = program(seed, &config);
        answered += usize::from(reads_back(&program).unwrap_or_else(|how| panic!("seed {seed}: {how}")));
    }
    assert!(answered > 100, "{answered} programs");
}

#[test]
fn methods_agree_on_tiny_programs() {
    for (name, program) in programs(Alphabet::Core).chain(programs(Alphabet::Snapshots)) {
        let (left, right) = name.split_once(" | ").expect("two threads");
        if left <= right
            && let Some(how) = disagree(&program)
        {
            panic!("{name}: {how}");
        }
    }
}
