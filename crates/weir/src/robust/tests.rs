//! Questions about attacks, compared with all runs that show one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use weir_ir::{Body, EdgeId, Instruction, Program, ThreadId};
use weir_testkit::traces::{Bounds, Feasible, feasible};
use weir_testkit::{Rng, cycles, dump};
use weir_witness::{Action, Step, replay};

use super::*;
use crate::attack::{AttackStep, delaying_run};
use crate::session::Limits;

const LIMITS: Bounds = Bounds { instructions: 24, ways: 8_000 };

/// Programs with what all their runs show.
fn programs(count: u64) -> Vec<(u64, Program, Feasible)> {
    let config = cycles::Config { helpers: 2, noise: 2, loops: 0, locks: 15, data: 15 };
    let with_truth = |seed| {
        let program = cycles::program(seed, &config);
        let found = feasible(&program, LIMITS, true);
        found.is_complete.then_some((seed, program, found))
    };
    (0..count).filter_map(with_truth).collect()
}

fn session() -> Session {
    Session::new(Limits { states: Some(100_000), ..Limits::default() })
}

fn ask(checker: &Checker, question: Question) -> Option<AttackRun> {
    match checker.decide(question, &Options::default(), &session()).expect("no fault").0 {
        Answer::Infeasible => None,
        Answer::Feasible(attack_run) => Some(attack_run),
        Answer::Stopped(limit) => panic!("{limit:?}"),
    }
}

#[test]
fn each_attack_is_asked_about_by_itself() {
    let mut counts = [0, 0];
    for (seed, program, truth) in programs(100) {
        let checker = Checker::new(&program, &Session::default()).expect("small");
        for attack in checker.attacks(&Session::default()).expect("no limit").open {
            let expected = truth.attacks.contains(&(attack.thread, attack.store, attack.load));
            let found = ask(&checker, Question { attacks: [attack].into(), ..Question::default() });
            assert_eq!(found.is_some(), expected, "seed {seed}, {attack:?}\n{}", dump(&program));
            assert!(found.is_none_or(|attack_run| attack_run.attack() == Some(attack)), "seed {seed}: another attack");
            counts[usize::from(expected)] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 60), "{counts:?}");
}

/// What is overtaken are the attacker's own steps, wherever it stands among the threads and whoever else moves
/// meanwhile.
#[test]
fn only_the_attackers_own_steps_are_overtaken() {
    use AttackStep::{Begin, Halt, Ordinary};
    for attacker in 0..3 {
        let others = [(attacker + 1) % 3, (attacker + 2) % 3];
        let step = |thread: u32, edge: u32, kind| {
            (Step { thread: ThreadId(thread), action: Action::Execute { edge: EdgeId(edge), choice: 0 } }, kind)
        };
        let flush = |thread: u32| (Step { thread: ThreadId(thread), action: Action::Flush }, Ordinary);
        let own = |edge, kind| step(attacker, edge, kind);
        let both = |edge| others.map(|thread| step(thread, edge, Ordinary));
        let mut steps = vec![own(0, Ordinary)];
        steps.extend(both(0));
        steps.push(own(1, Begin));
        steps.extend(both(1));
        steps.extend(others.map(flush));
        steps.push(own(2, Ordinary));
        steps.extend(both(2));
        steps.push(own(3, Halt));
        steps.extend(both(3));
        let run = AttackRun { steps };
        let thread = ThreadId(attacker);
        assert_eq!(run.attack(), Some(Attack { thread, store: EdgeId(1), load: EdgeId(3) }));
        assert_eq!(run.path(), Some((thread, vec![EdgeId(1), EdgeId(2), EdgeId(3)])));
        assert_eq!(run.overtaken(), [(thread, EdgeId(1)), (thread, EdgeId(2))].into());
    }
}

/// Which edges of a thread are letters, and whether a way is part of a word once only those are left.
fn letters(body: &Body, all: bool) -> impl Fn(EdgeId) -> Option<u32> {
    let is_letter =
        |edge: &weir_ir::Edge| all || !matches!(edge.instruction, Instruction::Skip | Instruction::Assume(_));
    let letters: Vec<bool> = body.edges().iter().map(is_letter).collect();
    move |edge: EdgeId| letters[edge.index()].then_some(edge.0)
}

#[test]
fn ways_that_are_covered_are_not_asked_about() {
    let mut counts = [0, 0];
    for (seed, program, truth) in programs(100) {
        let checker = Checker::new(&program, &Session::default()).expect("small");
        let mut rng = Rng::new(seed);
        let (mut covered, mut words) = (BTreeMap::new(), BTreeMap::new());
        for (thread, body) in program.thread_ids().map(|thread| (thread, program.body(thread))) {
            let letter = letters(body, seed % 2 == 0);
            let word = |way: &Vec<EdgeId>| way.iter().filter_map(|&edge| letter(edge)).collect::<Vec<u32>>();
            let own: Vec<_> = truth.ways.iter().filter(|(of, _)| *of == thread).map(|(_, way)| word(way)).collect();
            let some: Vec<Vec<u32>> = own.into_iter().filter(|_| rng.chance(70)).collect();
            let effect = |edge| letter(EdgeId::new(edge)).map_or(Effect::Keep, Effect::Read);
            let effects = (0..body.edges().len()).map(effect).collect();
            covered.insert(thread, Arc::new(Covered::new(&some, effects)));
            words.insert(thread, some);
        }
        let is_open = |(thread, way): &(ThreadId, Vec<EdgeId>)| {
            let letter = letters(program.body(*thread), seed % 2 == 0);
            let word: Vec<u32> = way.iter().filter_map(|&edge| letter(edge)).collect();
            !words[thread].iter().any(|whole| whole.windows(word.len()).any(|part| part == word))
        };
        let open: BTreeSet<_> = truth.ways.iter().filter(|way| is_open(way)).cloned().collect();
        let attacks = checker.attacks(&Session::default()).expect("no limit").open.into_iter().collect();
        let found = ask(&checker, Question { attacks, covered, ..Question::default() });
        assert_eq!(found.is_some(), !open.is_empty(), "seed {seed}: {open:?} of {:?}\n{}", truth.ways, dump(&program));
        counts[usize::from(found.is_some())] += 1;
        if let Some(way) = found.and_then(|attack_run| attack_run.path()) {
            assert!(open.contains(&way), "seed {seed}: {way:?} is none of {open:?}");
        }
    }
    assert!(counts.iter().all(|&count| count > 10), "{counts:?}");
}

#[test]
fn a_fence_after_what_was_overtaken_would_have_stopped_the_run() {
    for (seed, program, _) in programs(60) {
        let checker = Checker::new(&program, &Session::default()).expect("small");
        let attacks = checker.attacks(&Session::default()).expect("no limit").open.into_iter().collect();
        let Some(attack_run) = ask(&checker, Question { attacks, ..Question::default() }) else { continue };
        let (thread, way) = attack_run.path().expect("an attacker");
        let attack = attack_run.attack().expect("an attack");
        assert_eq!((Some(&attack.store), Some(&attack.load)), (way.first(), way.last()), "seed {seed}");
        let before_load: BTreeSet<ThreadEdge> = way[..way.len() - 1].iter().map(|&edge| (thread, edge)).collect();
        assert_eq!((attack.thread, attack_run.overtaken()), (thread, before_load), "seed {seed}");
    }
}

/// The run replays with more stores delayed, and not with one more still, if the thread did what may wait in between.
#[test]
fn as_many_stores_are_delayed_as_the_run_allows() {
    let mut longer = 0;
    for (seed, program, _) in programs(100) {
        let checker = Checker::new(&program, &Session::default()).expect("small");
        for attack in checker.attacks(&Session::default()).expect("no limit").open {
            let Some(attack_run) = ask(&checker, Question { attacks: [attack].into(), ..Question::default() }) else {
                continue;
            };
            for all in [true, false] {
                let may_wait = |edge: EdgeId| all || !edge.0.is_multiple_of(3);
                let early = attack_run.with_earlier_begin(&program, may_wait, &Session::default());
                let (old, new) = (attack_run.path().expect("a way").1, early.path().expect("a way").1);
                assert!(new.ends_with(&old), "seed {seed}: {new:?} and {old:?}");
                assert!(new[..new.len() - old.len()].iter().all(|&edge| may_wait(edge)), "seed {seed}");
                assert_eq!(early.attack().map(|attack| attack.load), Some(attack.load));
                early.checked(&program, &Session::default()).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
                longer += usize::from(new.len() > old.len());
                assert!(!can_begin_earlier(&program, &early, may_wait), "seed {seed}\n{}", dump(&program));
            }
        }
    }
    assert!(longer > 4, "{longer} begin earlier");
}

/// Whether the run replays with the last store before the first delayed one delayed as well.
fn can_begin_earlier(program: &Program, attack_run: &AttackRun, may_wait: impl Fn(EdgeId) -> bool) -> bool {
    let begin = attack_run.steps.iter().position(|(_, kind)| *kind == AttackStep::Begin).expect("a beginning");
    let thread = attack_run.steps[begin].0.thread;
    for at in (0..begin).rev().filter(|&at| attack_run.steps[at].0.thread == thread) {
        let Action::Execute { edge, .. } = attack_run.steps[at].0.action else { return false };
        match &program.body(thread).edge(edge).instruction {
            _ if !may_wait(edge) => return false,
            Instruction::Store { .. } => {
                let mut steps = attack_run.steps.clone();
                steps[begin].1 = AttackStep::Ordinary;
                steps[at].1 = AttackStep::Begin;
                let (mut run, flushes) = delaying_run(program, &steps);
                run.steps.extend(flushes);
                return replay(program, &run).is_ok();
            }
            instruction if instruction.drains() => return false,
            _ => {}
        }
    }
    false
}

/// Somebody must have seen the earlier store before the attacker goes on, so it does not wait; and a second earlier one
/// can.
#[test]
fn a_store_that_somebody_sees_is_not_delayed() {
    use weir_testkit::blocks::{Block, assume, thread};
    use weir_testkit::sketch::{cell, load, program, store};
    let attacker: Vec<Block> = vec![
        Block::Do(store(1, 1)),
        Block::Do(load(0, 2)),
        assume(0, 1),
        Block::Do(store(5, 1)),
        Block::Do(store(3, 1)),
        Block::Do(load(1, 4)),
    ];
    let answers = vec![Block::Do(load(0, 1)), assume(0, 1), Block::Do(store(2, 1))];
    let closes = vec![Block::Do(store(4, 1)), Block::Do(Instruction::Fence), Block::Do(load(0, 3))];
    let threads = vec![thread("A", &attacker), thread("B", &answers), thread("C", &closes)];
    let cells = [("w", 1), ("v", 2), ("z", 3), ("y", 4), ("u", 5)].map(|(name, address)| cell(name, address));
    let program = program(cells.to_vec(), threads, Vec::new());
    let checker = Checker::new(&program, &Session::default()).expect("small");
    let stores: Vec<EdgeId> =
        checker.attacks(&Session::default()).expect("no limit").open.iter().map(|attack| attack.store).collect();
    let question = |attack: &Attack| Question { attacks: [*attack].into(), ..Question::default() };
    let found: Vec<_> = checker
        .attacks(&Session::default())
        .expect("no limit")
        .open
        .iter()
        .filter_map(|attack| ask(&checker, question(attack)))
        .collect();
    let [attack_run] = &found[..] else { panic!("{} attacks of {stores:?} are feasible", found.len()) };
    let early = attack_run.with_earlier_begin(&program, |_| true, &Session::default());
    assert_eq!((attack_run.path().map(|way| way.1.len()), early.path().map(|way| way.1.len())), (Some(2), Some(3)));
    early.checked(&program, &Session::default()).unwrap_or_else(|failure| panic!("{failure}"));
}

fn parsed(text: &str) -> Program {
    let source = weir_ir::Source::new("t", text);
    weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program
}

/// Whether some attack is feasible with fences after every step of these threads.
fn is_attacked(program: &Program, fenced: &[usize]) -> bool {
    let checker = Checker::new(program, &Session::default()).expect("small");
    let attacks: BTreeSet<Attack> = checker.attacks(&session()).expect("no limit").open.into_iter().collect();
    let fences = |&thread: &usize| {
        let edges = program.body(ThreadId::new(thread)).edges().len();
        (0..edges).map(move |edge| (ThreadId::new(thread), EdgeId::new(edge)))
    };
    let fenced = fenced.iter().flat_map(fences).collect();
    let question = Question { attacks, fenced, ..Question::default() };
    ask(&checker, question).is_some()
}

/// How many threads are tried as attackers.
fn attackers(text: &str) -> usize {
    let checker = Checker::new(&parsed(text), &Session::default()).expect("small");
    let attacks = checker.attacks(&session()).expect("no limit").open.into_iter().collect();
    let mut question = Question { attacks, ..Question::default() };
    checker.images.ask_one_each(&mut question);
    question.attacks.iter().map(|attack| attack.thread).collect::<BTreeSet<_>>().len()
}

#[test]
fn of_copies_that_can_be_exchanged_one_attacks() {
    let copies = |more: &str| {
        attackers(&format!("shared own[3], x, y; thread P(i)[3] {{ own[i] = 1; let r = own[any 0..2]; {more} }}"))
    };
    assert_eq!(copies("x = i + 1;"), 1);
    // One of them is different.
    assert_eq!(copies("if i >= 1 { x = 1; }"), 2);
    // All of them are.
    assert_eq!(copies("if i == 0 { x = 1; } if i == 1 { y = 1; }"), 3);
    assert_eq!(attackers("shared x, y; thread P { x = 1; let r = y; } thread Q { y = 1; let r = x; }"), 1);
}

/// Fences may tell copies apart.
#[test]
fn copies_with_other_fences_attack_too() {
    let program = parsed("shared x, y; thread P[3] { x = 1; let r = y; } thread Q { y = 1; fence; let s = x; }");
    let fences: [&[usize]; 4] = [&[], &[0], &[0, 1], &[1, 2]];
    fences.iter().for_each(|fenced| assert!(is_attacked(&program, fenced), "fences in {fenced:?}"));
    assert!(!is_attacked(&program, &[0, 1, 2]));
}

/// What a search of all runs finds, with each numbering of the helpers and up to it.
fn both_ways(text: &str) -> [(bool, u64); 2] {
    let source = weir_ir::Source::new("t", text);
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
    let checker = Checker::new(&program, &Session::default()).expect("small");
    let attacks = checker.attacks(&Session::default()).expect("no limit");
    let mut question = Question { attacks: attacks.open.into_iter().collect(), ..Question::default() };
    checker.rule_out(&mut question);
    let plans = Plans::new(&checker.program, &checker.compiled, &question);
    let families = helpers::renamings(&checker.program, &checker.compiled, &checker.images.symmetry, &question);
    let outcomes = [
        checker.search(&plans, None, &Options::default(), &session()),
        checker.search_all((&plans, &families), &Options::default(), &session()),
    ];
    assert_eq!(checker.compiled.machine.fault.get(), None, "{text}");
    outcomes.map(|outcome| match &outcome.found {
        Found::Nothing => (false, outcome.states),
        Found::Goal(_, steps) => {
            let shown = checker.attack_run(steps).checked(&program, &session());
            assert!(shown.is_ok(), "{text}: {:?}", shown.err());
            (true, outcome.states)
        }
        Found::Stopped(limit) => panic!("{text}: {limit:?}"),
    })
}

/// Helpers store their numbers and are told by them what to access. Without loss, one numbering is as good as another.
#[test]
fn helpers_are_searched_up_to_their_numbering() {
    let robust = [
        "shared owner, a[N]; thread P(i)[N] { owner = i + 1; a[i] = 1; let r = xchg(owner, 0); let s = owner; }",
        "shared x, a[N]; thread P(i)[N] { let q = x; a[q] = 1; x = i; let r = x; }",
        "shared turn, a[N]; thread P(i)[N] { turn = i; a[i] = 1; let q = turn; let r = a[q]; }",
        "shared l, c; thread P(i)[N] { let r = xchg(l, i + 1); c = i; let s = c; let t = xchg(l, 0); }",
    ];
    let not_robust = [
        "shared y, a[N]; thread P(i)[N] { a[i] = 1; let r = y; y = 1; r = a[any 0..N - 1]; }",
        "shared x, y, turn; thread Q { x = 1; let r = y; } thread P(i)[N] { turn = i; y = 1; let s = turn; let r = x; }",
    ];
    let mut fewer = 0;
    for (texts, expected) in [(&robust[..], None), (&not_robust[..], Some(true))] {
        for body in texts {
            let text = format!("const N = 4; {body}");
            let [whole, reduced] = both_ways(&text);
            assert_eq!(whole.0, reduced.0, "{text}: {whole:?}, {reduced:?}");
            assert!(expected.is_none_or(|expected: bool| whole.0 == expected), "{text}");
            assert!(reduced.1 <= whole.1, "{text}: {whole:?}, {reduced:?}");
            fewer += usize::from(2 * reduced.1 < whole.1);
        }
    }
    assert!(fewer >= 2, "{fewer}");
}

/// Whoever may attack keeps its number, and so do helpers that differ in one place.
#[test]
fn only_helpers_that_do_the_same_are_renumbered() {
    for body in [
        "thread P(i)[3] { a[i] = 1; let r = y; if i < 1 { y = 1; } r = a[any 0..2]; }",
        "thread P(i)[3] { y = 1; let r = a[0]; a[i] = 1; r = y; }",
        "thread Q { x = 1; let r = y; } thread P(i)[3] { y = i; let r = x; if i == 2 { x = 2; } }",
        "thread Q { x = 2; let r = a[1]; } thread P(i)[3] { a[i] = 1; let r = x; if r == i { y = 1; } }",
    ] {
        let [whole, reduced] = both_ways(&format!("shared x, y, a[3]; {body}"));
        assert_eq!(whole.0, reduced.0, "{body}: {whole:?}, {reduced:?}");
    }
}
