//! All methods agree with each other; freedom from triangular races is stricter than robustness.
//!
//! With `WEIR_SEEDS=1000`, each test looks at so many programs.

use weir::robust::Method;
use weir_ir::Program;
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::tiny::{Alphabet, programs};
use weir_testkit::{dump, shrink};

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
fn methods_agree_on_tiny_programs() {
    for (name, program) in programs(Alphabet::Core) {
        let (left, right) = name.split_once(" | ").expect("two threads");
        if left <= right
            && let Some(how) = disagree(&program)
        {
            panic!("{name}: {how}");
        }
    }
}
