//! Programs that tell the approximations apart, and programs that all of them must refuse to judge.

use std::path::Path;

use weir::reach::{Engine, Options, reach};
use weir::{Failure, Limit, Session, Verdict};
use weir_ir::{Program, Source};
use weir_witness::{Buffering, Model};

use crate::support::{ask, options, word};

const STATES: u64 = 1_000_000;

fn parse(name: &str, text: &str) -> Program {
    let parsed = weir_syntax::weir::parse(&Source::new(name, text), &weir_syntax::weir::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{name}: {errors:#?}")).program
}

fn example(name: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/papers").join(name);
    parse(name, &std::fs::read_to_string(path).expect("readable"))
}

fn is_alarm(program: &Program, engine: Engine, bound: Option<u32>) -> bool {
    matches!(ask(program, &options(engine, bound, &[]), STATES).verdict, Verdict::Unknown(Limit::Alarm))
}

/// What each engine can prove of an example.
fn proves(name: &str, engine: Engine, bound: Option<u32>) -> bool {
    let program = example(name);
    let report = ask(&program, &options(engine, bound, &[]), STATES);
    assert_ne!(word(&report), "reachable", "{name}");
    let proved = matches!(report.verdict, Verdict::Holds);
    assert!(proved || is_alarm(&program, engine, bound), "{name}: {:?}", report.verdict);
    proved
}

#[test]
fn a_set_proves_the_program_that_unrolling_never_ends_on() {
    assert!(proves("endless-stores.weir", Engine::Set, None));
}

#[test]
fn a_store_that_happens_once_needs_counting_or_three_in_order() {
    let name = "stored-once.weir";
    assert!(!proves(name, Engine::Set, None));
    assert!(proves(name, Engine::Multiset, None));
    for (bound, expected) in [(0, false), (1, false), (2, false), (3, true), (4, true)] {
        assert_eq!(proves(name, Engine::Coherence, Some(bound)), expected, "bound {bound}");
    }
}

#[test]
fn counting_can_be_better_than_any_queue() {
    let name = "stored-once-later.weir";
    assert!(proves(name, Engine::Multiset, None));
    for bound in 0..=5 {
        assert!(!proves(name, Engine::Coherence, Some(bound)), "bound {bound}");
    }
    assert!(proves(name, Engine::Coherence, None), "the refinement begins with counting");
}

#[test]
fn a_queue_can_be_better_than_counting() {
    let name = "endless-messages.weir";
    assert!(!proves(name, Engine::Set, None));
    assert!(!proves(name, Engine::Multiset, None));
    assert!(proves(name, Engine::Coherence, Some(1)));
    let report = ask(&example(name), &options(Engine::Coherence, None, &[]), STATES);
    assert_eq!((word(&report), report.buffering), ("unreachable", Some(Buffering::Coherence(1))));
}

#[test]
fn refinement_finds_runs() {
    let text = "shared x, y; thread A { loop { x = 1; let r = y; if r == 0 { critical: skip; } x = 0; } }
        thread B { loop { y = 1; let r = x; if r == 0 { critical: skip; } y = 0; } }
        forbid A at critical && B at critical;";
    for (engine, bound) in
        [(Engine::Set, None), (Engine::Multiset, None), (Engine::Coherence, None), (Engine::Coherence, Some(2))]
    {
        let report = ask(&parse("dekker", text), &options(engine, bound, &[]), STATES);
        assert_eq!(word(&report), "reachable", "{}", engine.name());
    }
}

#[test]
fn sc_is_refused() {
    let program = parse("alone", "shared x; thread A { x = 1; } forbid x == 2;");
    for engine in [Engine::Set, Engine::Multiset, Engine::Coherence] {
        let sc = Options { model: Model::Sc, ..options(engine, None, &[]) };
        assert!(matches!(reach(&program, &sc, &Session::default()), Err(Failure::Refused(_))));
    }
}

#[test]
fn deadlocks_are_decided_with_buffers_that_grow_forever() {
    let lock = "thread B { loop { lock; unlock; } }";
    let cases = [
        // B waits for a store that A makes again and again.
        ("thread A { loop { x = 1; } } thread B { await x == 1; x = 2; }", "unreachable"),
        // A's stores wait for a lock that is always released.
        (&format!("thread A {{ while y == 0 {{ x = 1; }} }} thread C {{ y = 1; }} {lock}"), "unreachable"),
        // C ends with the lock held: A can neither flush nor load any more.
        ("thread A { while y == 0 { x = 1; } } thread C { lock; }", "reachable"),
        // Both stores arrive, in whatever order.
        ("thread A { loop { x = 1; y = 1; break; } } thread B { await y == 1; await x == 1; }", "unreachable"),
    ];
    for (threads, expected) in cases {
        let program = parse("deadlocks", &format!("shared x, y; {threads} forbid deadlock;"));
        for engine in [Engine::Set, Engine::Multiset, Engine::Coherence] {
            let report = ask(&program, &options(engine, None, &[]), STATES);
            assert_eq!(word(&report), expected, "{} {threads}", engine.name());
        }
    }
}

#[test]
fn counters_grow_until_they_are_not_to_blame() {
    // T2 can see as many ones as T1 has stored, and no more: three, each of which it has overwritten.
    let text = |wanted: u32| {
        let see = "a = x; assume a == 1; x = 2; fence;".repeat(wanted as usize);
        format!(
            "shared x; thread T1 {{ x = 1; x = 1; x = 1; }} thread T2 {{ let a; {see} seen: skip; }} forbid T2 at seen;"
        )
    };
    let ask = |wanted, bound| {
        let report = ask(&parse("ones", &text(wanted)), &options(Engine::Multiset, bound, &[]), STATES);
        (word(&report), report.buffering)
    };
    assert_eq!(ask(4, None), ("unreachable", Some(Buffering::Multiset(2))));
    assert_eq!(ask(4, Some(1)).0, "unknown");
    assert_eq!(ask(3, None).0, "reachable");
}
