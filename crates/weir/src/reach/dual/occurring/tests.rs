//! What a run goes through can occur, by the analysis.

use weir_ir::{BinaryOp, Expr, LocId, Multiplicity, Program, Property, PropertyKind, Span, StateAtom, ThreadId};
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::{Rng, dump};
use weir_witness::Goal;

use super::super::copies::{Question, question};
use super::super::well_structured::Search;
use super::*;
use crate::reach::all_goals;
use crate::wsts::Outcome;

fn parse(text: &str) -> Program {
    let source = weir_ir::Source::new("test.weir", text);
    weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program
}

#[test]
fn sets_of_many_numbers_are_exact() {
    for number in 0..200 {
        let mut set = [0; 4];
        insert(&mut set, number);
        assert!((0..256).all(|other| contains(&set, other) == (other == number)), "{number}");
    }
}

/// The first thread, the last, or all with any number of copies; two places that copies or threads can be at together.
fn template(seed: u64, config: &Config) -> Program {
    let mut program = program(seed, config);
    let mut rng = Rng::new(seed);
    let (last, which) = (program.threads.len() - 1, rng.below(3));
    for (at, thread) in program.threads.iter_mut().enumerate() {
        if which == 2 || at == which * last {
            thread.multiplicity = Multiplicity::Arbitrary;
        }
    }
    let place = |program: &Program, rng: &mut Rng| {
        let thread = ThreadId::new(rng.below(program.threads.len()));
        let places: Vec<LocId> = program.body(thread).location_ids().collect();
        Expr::Leaf(StateAtom::At { thread, locations: vec![*rng.pick(&places)] })
    };
    let and = |left, right| Expr::binary(BinaryOp::And, left, right);
    let least = |at, number| Expr::binary(BinaryOp::GreaterEqual, at, Expr::Const(number));
    let forbid = |program: &Program, rng: &mut Rng| {
        let places = and(least(place(program, rng), 1), least(place(program, rng), 1 + rng.below(2) as i64));
        let cell = Expr::Leaf(StateAtom::Cell(program.shared[rng.below(program.shared.len())].address));
        let is = Expr::binary(BinaryOp::Equal, cell, Expr::Const(rng.below(3) as i64));
        let condition = if rng.below(4) == 0 { places } else { and(places, is) };
        Property { kind: PropertyKind::Forbid(condition), span: Span::default() }
    };
    program.properties = (0..3).map(|_| forbid(&program, &mut rng)).collect();
    program
}

fn search<'a>(question: &'a Question, initial: &'a [u16]) -> (Search<'a>, Option<Outcome>) {
    let mut search = Search::new(&question.system, Some(initial));
    question.goals.iter().for_each(|config| search.add(config.0.clone(), None));
    let outcome = search.run_some(&Session::default(), 3_000, 3_000);
    (search, outcome)
}

/// Without pruning, the configurations between the initial one and a goal are all below some that a run goes through.
/// With pruning, the same goals are found to be reachable, and no others.
#[test]
fn what_leads_to_a_goal_can_occur() {
    let small = Config { threads: (2, 2), statements: (2, 3), absent_threads: 0, ..Config::acyclic() };
    let families = [
        small.clone().weighing(Statement::UnboundedLoop, 10),
        small.clone().weighing(Statement::Atomic, 25).weighing(Statement::StrayLock, 5),
        small.weighing(Statement::ReadModifyWrite, 30).weighing(Statement::Membarrier, 6),
    ];
    let seeds = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let (mut runs, mut waiting, mut proofs, mut pruned) = (0, 0, 0, 0);
    for (seed, family) in (0..seeds).flat_map(|seed| families.iter().map(move |family| (seed, family))) {
        let program = template(seed, family);
        for goal in all_goals(&program) {
            let session = Session::default();
            let Ok(mut question) = question(&program, &[goal], &session) else { continue };
            let initial = question.initial.clone();
            let occurring = Occurring::of(&question.system, initial.view(&question.system.shape), 100_000, &session);
            let Some(occurring) = occurring else { continue };
            let (all, expected) = search(&question, &initial.0);
            let expected = match expected {
                Some(Outcome::Covered(mut id)) => {
                    runs += 1;
                    loop {
                        let view = View::new(all.basis.row(id), &question.system.shape);
                        waiting += usize::from(view.messages() > 0);
                        let is_possible = occurring.is_possible(&question.system, view);
                        assert!(is_possible, "seed {seed}, {goal:?}: {view:?}\n{}", dump(&program));
                        if all.basis.parent(id) == id {
                            break true;
                        }
                        id = all.basis.parent(id);
                    }
                }
                Some(Outcome::Saturated) => false,
                _ => continue,
            };
            let steps = all.steps;
            question.prune(occurring);
            let (fewer, found) = search(&question, &initial.0);
            assert_eq!(
                matches!(found, Some(Outcome::Covered(_))),
                expected,
                "seed {seed}, {goal:?}\n{}",
                dump(&program)
            );
            proofs += usize::from(!expected);
            pruned += usize::from(!expected && fewer.steps < steps);
        }
    }
    let each = seeds as usize;
    assert!(
        runs > each && waiting > each / 2 && proofs > each && pruned > each / 30,
        "{runs} {waiting} {proofs} {pruned}"
    );
}

/// How many minimal configurations a proof takes, with pruning and without.
fn sizes(text: &str) -> [usize; 2] {
    let program = parse(text);
    let session = Session::default();
    let goals: Vec<Goal> = all_goals(&program);
    let mut question = question(&program, &goals, &session).expect("it can be handled");
    let initial = question.initial.clone();
    let occurring = Occurring::of(&question.system, initial.view(&question.system.shape), 1_000_000, &session);
    let size = |question: &Question| {
        let (search, outcome) = search(question, &initial.0);
        assert!(matches!(outcome, Some(Outcome::Saturated)), "{outcome:?}");
        search.basis.len()
    };
    let all = size(&question);
    question.prune(occurring.expect("it is small"));
    [size(&question), all]
}

/// Each kind of fact by itself leaves no configuration of the goal: states that never occur together, a value that a
/// cell does not have meanwhile, and one that a thread can no longer read.
#[test]
fn facts_about_pairs_memory_and_views_prune() {
    let lock = "shared m: 0..1, d: 0..1; thread T[*] { loop { while xchg(m, 1) == 1 { } ";
    let pairs = format!("{lock} in: skip; m = 0; }} }} forbid count(T at in) >= 2;");
    assert_eq!(sizes(&pairs)[0], 0);
    let memory = format!("{lock} in: skip; m = 0; }} }} forbid count(T at in) >= 1 && m == 0;");
    assert_eq!(sizes(&memory)[0], 0);
    let views = format!("{lock} d = 1; let r = d; if r == 0 {{ stale: skip; }} d = 0; m = 0; }} }} forbid T at stale;");
    assert_eq!(sizes(&views)[0], 0);
}

/// Whether the goal is found with pruning.
fn is_found(text: &str) -> bool {
    let program = parse(text);
    let session = Session::default();
    let mut question = question(&program, &all_goals(&program), &session).expect("it can be handled");
    let initial = question.initial.clone();
    let occurring = Occurring::of(&question.system, initial.view(&question.system.shape), 1_000_000, &session);
    question.prune(occurring.expect("it is small"));
    let (_, outcome) = search(&question, &initial.0);
    matches!(outcome, Some(Outcome::Covered(_)))
}

/// A thread can load what a cell held before others stored to it, by whatever step and whatever they did afterwards: a
/// thread whose store is delayed is seen to have read 0 although the cell has long had another value.
#[test]
fn old_values_can_still_be_read() {
    let with = |late: &str, other: &str| {
        format!(
            "shared x, y; thread A[*] {{ x = 1; {late} if y == 0 {{ early: skip; }} }} \
             thread B[*] {{ {other} if x == 0 {{ early: skip; }} }} forbid A at early && B at early;"
        )
    };
    for other in ["xchg(y, 1);", "y = 1; fence;", "atomic { y = 1; }", "lock; y = 1; unlock;"] {
        assert!(is_found(&with("", other)), "{other}");
        assert!(is_found(&with("choose { skip; } or { x = 2; }", other)), "{other}");
        assert!(!is_found(&with("fence;", other)), "{other}");
    }
    // The same states, memory included, come again, with more that can be read.
    let again = "shared x, y; thread A[*] { x = 1; if y == 1 { early: skip; } } \
                 thread B { loop { choose { break; } or { y = 1; y = 0; fence; } } if x == 0 { early: skip; } } \
                 forbid A at early && B at early;";
    assert!(is_found(again));
}
