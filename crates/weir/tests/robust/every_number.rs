//! Arbitrarily many threads, compared with fixed numbers of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use weir::certify::{self, Proof, certify_robust};
use weir::fences::text::Sites;
use weir::fences::{Fences, Options as FencesOptions, at_locations, fences_for_every_number};
use weir::ir::{BinaryOp, Expr, Multiplicity, Program, Property, PropertyKind, RegId, Span, StateAtom, ThreadId};
use weir::parameterized::{self, Decided};
use weir::reach::all_goals;
use weir::translate::Translation;
use weir::translate::instantiate::{instantiate, templates};
use weir::witness::{Goal, Model, check_copies_proof};
use weir::{Limits, Session, Verdict, check, reach, robust};
use weir_ir::Uninterrupted;
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::{Rng, dump, shrink};

use crate::random::accesses;

/// Numbers of copies, by thread.
type Numbers = Vec<u32>;

/// All ways to have so many copies altogether.
fn shares(total: u32, among: usize) -> Vec<Numbers> {
    if among == 1 {
        return vec![vec![total]];
    }
    let with = |first: u32| shares(total - first, among - 1).into_iter().map(move |rest| [vec![first], rest].concat());
    (0..=total).flat_map(with).collect()
}

/// The instances with at most so many copies.
fn numbers(program: &Program, most: u32) -> Vec<Numbers> {
    let among = templates(program).count();
    (0..=most).flat_map(|total| shares(total, among)).collect()
}

fn limited() -> Session {
    Session::new(Limits { states: Some(30_000), ..Limits::default() })
}

fn fixed_robust(program: &Program, numbers: &Numbers) -> Verdict<()> {
    let instance = instantiate(program, numbers);
    let report = robust::robust(instance.program(), &robust::Options::default(), &limited());
    simple(report.expect("it is supported").verdict)
}

fn fixed_check(program: &Program, model: Model, goals: &[Goal], numbers: &Numbers) -> Verdict<()> {
    let instance = instantiate(program, numbers);
    let copies = |thread: ThreadId| {
        let all = instance.program().running_threads().filter(|&copy| instance.origin(copy) == thread);
        all.map(Goal::Assertion).collect::<Vec<_>>()
    };
    let image = |&goal: &Goal| if let Goal::Assertion(thread) = goal { copies(thread) } else { vec![goal] };
    let goals: Vec<Goal> = goals.iter().flat_map(image).collect();
    if goals.is_empty() {
        return Verdict::Holds;
    }
    let options = check::Options { model, goals, ..check::Options::default() };
    simple(check::check(instance.program(), &options, &limited()).expect("it is supported").verdict)
}

fn simple<R>(verdict: Verdict<R>) -> Verdict<()> {
    match verdict {
        Verdict::Holds => Verdict::Holds,
        Verdict::Violated(_) => Verdict::Violated(()),
        Verdict::Unknown(limit) => Verdict::Unknown(limit),
    }
}

/// How many answers there were.
#[derive(Default, Debug)]
struct Count {
    holds: usize,
    violated: usize,
    by_several: usize,
    unknown: usize,
    /// Properties of programs that are not robust, which hold all the same.
    by_dual: usize,
    /// Proofs by counting copies that the checker has accepted.
    proved: usize,
}

/// Compares an answer for every number with those for fixed numbers: what holds for all holds for few, and a violation
/// is one of the instance that is named and of no smaller one.
fn compare<R>(
    program: &Program,
    decided: &Decided<R>,
    verdict: Verdict<()>,
    fixed: impl Fn(&Numbers) -> Verdict<()>,
    count: &mut Count,
) -> Result<(), String> {
    let named: Numbers = decided.instance.copies().iter().map(|&(_, number)| number).collect();
    match verdict {
        Verdict::Holds => {
            count.holds += 1;
            if !decided.for_every_number {
                return Err("it holds, but not for every number".to_owned());
            }
            for numbers in numbers(program, 4) {
                if matches!(fixed(&numbers), Verdict::Violated(())) {
                    return Err(format!("holds for every number, but not for {numbers:?}"));
                }
            }
        }
        Verdict::Violated(()) => {
            count.violated += 1;
            let total: u32 = named.iter().sum();
            count.by_several += usize::from(total > 1);
            if matches!(fixed(&named), Verdict::Holds) {
                return Err(format!("said to be violated for {named:?}, but is not"));
            }
            for numbers in total.checked_sub(1).map(|most| numbers(program, most)).into_iter().flatten() {
                if matches!(fixed(&numbers), Verdict::Violated(())) {
                    return Err(format!("violated for {named:?}, but for {numbers:?}, too"));
                }
            }
        }
        Verdict::Unknown(_) => count.unknown += 1,
    }
    Ok(())
}

fn compare_robust(program: &Program, count: &mut Count) -> Result<(), String> {
    let decided = parameterized::robust(program, &robust::Options::default(), &limited()).expect("it is supported");
    let verdict = simple(decided.report.verdict.clone());
    match certify_robust(program, &limited()).expect("no bug").proofs.first() {
        None => {}
        Some(_) if matches!(verdict, Verdict::Violated(())) => return Err("there is a proof of what is not so".into()),
        Some(proof) => judge_proof(program, proof, count)?,
    }
    compare(program, &decided, verdict, |numbers| fixed_robust(program, numbers), count)
}

/// A proof is accepted, and not without one of the local states that can occur.
fn judge_proof(program: &Program, proof: &Proof, count: &mut Count) -> Result<(), String> {
    let Proof::Copies(proof) = proof else { return Ok(()) };
    count.proved += 1;
    check_copies_proof(program, proof, &Uninterrupted).map_err(|error| format!("a proof is refused: {error}"))?;
    let mut less = proof.clone();
    let at = count.proved % less.beside.len();
    if less.beside[at].pop().is_some() && check_copies_proof(program, &less, &Uninterrupted).is_ok() {
        return Err("a proof with a hole is accepted".to_owned());
    }
    Ok(())
}

/// Each goal by itself: the instance that is shown violates all goals that are violated, and is the smallest for one.
fn compare_check(program: &Program, model: Model, count: &mut Count) -> Result<(), String> {
    for goal in all_goals(program) {
        let options = check::Options { model, goals: vec![goal], ..check::Options::default() };
        let decided = parameterized::check(program, &options, &limited()).expect("it is supported");
        let verdict = simple(decided.report.verdict.clone());
        let dual = Some(check::Member::Engine(reach::Engine::Dual));
        let properties = &decided.report.properties;
        if verdict == Verdict::Holds && decided.for_every_number {
            let decided = certify::Decided::by_portfolio(&decided.report);
            let certified = certify::certify(program, model, &decided, &limited()).expect("no bug");
            certified.proofs.iter().try_for_each(|proof| judge_proof(program, proof, count))?;
        }
        count.by_dual += usize::from(verdict == Verdict::Holds && properties.iter().any(|one| one.member == dual));
        compare(program, &decided, verdict, |numbers| fixed_check(program, model, &[goal], numbers), count)?;
    }
    Ok(())
}

/// All goals at once, by the exact engine, whether the program is robust or not.
fn compare_dual(program: &Program, count: &mut Count) -> Result<(), String> {
    let goals = all_goals(program);
    let options = reach::Options { engine: reach::Engine::Dual, ..reach::Options::default() };
    let decided = match parameterized::reach(program, &options, &limited()) {
        // Cells that count without end.
        Err(weir::Failure::Refused(_)) => {
            count.unknown += 1;
            return Ok(());
        }
        decided => decided.expect("it is supported"),
    };
    let verdict = simple(decided.report.verdict.clone());
    compare(program, &decided, verdict, |numbers| fixed_check(program, Model::Tso, &goals, numbers), count)
}

/// A random program with copies of the first thread, of the last, or of all, and a property about their numbers.
fn template(seed: u64, config: &Config) -> Program {
    let mut program = program(seed, config);
    let mut rng = Rng::new(seed);
    let last = program.threads.len() - 1;
    let which = rng.below(3);
    for (at, thread) in program.threads.iter_mut().enumerate() {
        if thread.multiplicity == Multiplicity::One && (which == 2 || at == which * last) {
            thread.multiplicity = Multiplicity::Arbitrary;
        }
    }
    program.properties = vec![about_numbers(&program, &mut rng)];
    program
}

/// Forbids a number of copies at a place, together with a value of a cell.
fn about_numbers(program: &Program, rng: &mut Rng) -> Property {
    let all: Vec<ThreadId> = templates(program).collect();
    let thread = *rng.pick(&all);
    let places: Vec<_> = program.body(thread).location_ids().collect();
    let at = StateAtom::At { thread, locations: vec![*rng.pick(&places)] };
    let least = 1 + rng.below(3) as i64;
    let many = Expr::binary(BinaryOp::GreaterEqual, Expr::Leaf(at), Expr::Const(least));
    let cell = Expr::Leaf(StateAtom::Cell(program.shared[0].address));
    let holds = Expr::binary(BinaryOp::Equal, cell, Expr::Const(rng.below(2) as i64));
    let and = |left, right| Expr::binary(BinaryOp::And, left, right);
    let mut condition = if rng.below(2) == 0 { many } else { and(many, holds) };
    if let Some(register) = register_of_one(program, rng) {
        let value = Expr::Const(rng.below(3) as i64);
        let is = Expr::binary(BinaryOp::Equal, Expr::Leaf(register), value);
        condition = if rng.below(3) == 0 { is } else { and(condition, is) };
    }
    Property { kind: PropertyKind::Forbid(condition), span: Span::default() }
}

/// A register of a thread of which there is one, in every other program that has such a thread.
fn register_of_one(program: &Program, rng: &mut Rng) -> Option<StateAtom> {
    let one = program.thread_ids().find(|&thread| program.thread(thread).multiplicity == Multiplicity::One)?;
    let registers = program.body(one).registers.len();
    let register = (registers > 0 && rng.below(2) == 0).then(|| RegId::new(rng.below(registers)))?;
    Some(StateAtom::Register { thread: one, register })
}

fn agree(
    name: &str,
    programs: u64,
    least: [usize; 3],
    make: impl Fn(u64) -> Program,
    judge: impl Fn(&Program, &mut Count) -> Result<(), String>,
) -> Count {
    let seeds = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(programs);
    let mut count = Count::default();
    for seed in 0..seeds {
        let program = make(seed);
        if let Err(why) = judge(&program, &mut count) {
            let fails = |program: &Program| {
                let is_question = templates(program).next().is_some() && !all_goals(program).is_empty();
                is_question && judge(program, &mut Count::default()).is_err()
            };
            let small = shrink(&program, fails);
            let still = judge(&small, &mut Count::default()).err().unwrap_or_default();
            panic!("{name}, seed {seed}: {why}\nmade small: {still}\n{}", dump(&small));
        }
    }
    let enough = |found: usize, least: usize| found * 100 >= least * seeds as usize;
    let [holds, violated, by_several] = least;
    assert!(
        enough(count.holds, holds) && enough(count.violated, violated) && enough(count.by_several, by_several),
        "{name}: {count:?}"
    );
    count
}

fn small() -> Config {
    Config { threads: (2, 2), statements: (2, 3), absent_threads: 0, ..accesses() }
}

#[test]
fn robustness_agrees_with_fixed_numbers() {
    let count = agree("accesses", 60, [1, 1, 1], |seed| template(seed, &small()), compare_robust);
    assert!(count.proved >= 30, "{count:?}");
    let locking = small().weighing(Statement::Atomic, 30).weighing(Statement::Membarrier, 4);
    agree("locks", 60, [1, 1, 0], |seed| template(seed, &locking), compare_robust);
    let looping = small().weighing(Statement::UnboundedLoop, 10).weighing(Statement::Snapshot, 20);
    agree("loops", 40, [1, 1, 1], |seed| template(seed, &looping), compare_robust);
}

#[test]
fn safety_agrees_with_fixed_numbers() {
    let synchronizing = small().weighing(Statement::ReadModifyWrite, 30).weighing(Statement::Assert, 5);
    for model in Model::ALL {
        let judge = |program: &Program, count: &mut Count| compare_check(program, model, count);
        let count = agree("safety", 60, [1, 1, 1], |seed| template(seed, &synchronizing), judge);
        assert!(count.proved >= 10, "{count:?}");
        let locking = synchronizing.clone().weighing(Statement::Atomic, 30).weighing(Statement::StrayLock, 5);
        agree("safety with locks", 40, [1, 1, 1], |seed| template(seed, &locking), judge);
    }
    // Programs that are not robust have properties, too.
    let judge = |program: &Program, count: &mut Count| compare_check(program, Model::Tso, count);
    let longer = Config { statements: (4, 5), ..small() };
    let count = agree("longer threads", 60, [1, 1, 1], |seed| template(seed, &longer), judge);
    assert!(count.by_dual >= 2, "{count:?}");
}

/// The exact engine by itself: what it proves holds for up to four copies, and what it finds is shown by an instance.
#[test]
fn reachability_with_buffers_agrees_with_fixed_numbers() {
    let all = small().weighing(Statement::ReadModifyWrite, 10).weighing(Statement::Assert, 5);
    agree("accesses", 100, [20, 20, 5], |seed| template(seed, &all), compare_dual);
    let locking = all.clone().weighing(Statement::Atomic, 30).weighing(Statement::StrayLock, 5);
    agree("locks", 60, [20, 20, 5], |seed| template(seed, &locking), compare_dual);
    let looping = all.weighing(Statement::UnboundedLoop, 10).weighing(Statement::Snapshot, 20);
    let looping = looping.weighing(Statement::Membarrier, 4);
    agree("loops", 60, [20, 20, 5], |seed| template(seed, &looping), compare_dual);
}

/// A set of fences for every number is one for each, and the cheapest for the instance that it was found for.
#[test]
fn fences_agree_with_fixed_numbers() {
    let mut found = 0;
    for seed in 0..25 {
        let program = template(seed, &small());
        let places: Vec<_> = at_locations(&program).into_iter().map(|at| at.place).collect();
        let decided = fences_for_every_number(&program, &places, &FencesOptions::default(), &limited());
        let Ok(Decided { report, for_every_number: true, .. }) = decided else { continue };
        let Fences::Cheapest(sets) = &report.fences else { continue };
        found += usize::from(!sets[0].is_empty());
        let after = sets[0].iter().flat_map(|&place| places[place].after.iter().copied()).collect();
        let fenced = weir::translate::insert_fences_after(&program, &after).program;
        for numbers in numbers(&fenced, 4) {
            let verdict = fixed_robust(&fenced, &numbers);
            assert!(!matches!(verdict, Verdict::Violated(())), "seed {seed}, {numbers:?}\n{}", dump(&program));
        }
    }
    assert!(found > 0, "no program needed fences");
}

/// Header lines of an example: `// expect every number QUESTION: ANSWER`.
fn expected(text: &str, question: &str) -> String {
    let prefix = format!("// expect every number {question}: ");
    let line = text.lines().find_map(|line| line.strip_prefix(&prefix));
    line.unwrap_or_else(|| panic!("nothing is expected of {question}")).to_owned()
}

fn described<R>(decided: &Decided<R>, verdict: Verdict<()>, [good, bad]: [&str; 2]) -> String {
    match verdict {
        Verdict::Holds => good.to_owned(),
        Verdict::Violated(()) => format!("{bad} from {}", decided.instance.total()),
        Verdict::Unknown(limit) => limit.to_string(),
    }
}

fn examples() -> Vec<(String, String, Program)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/parameterized");
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("readable").path());
        entries.collect::<Vec<PathBuf>>()
    };
    let mut files: Vec<PathBuf> = entries(&root).iter().flat_map(|folder| entries(folder)).collect();
    files.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("readable");
        let source = weir::ir::Source::new(path.display().to_string(), text.clone());
        let program = weir::Language::Weir.parse(&source, &[]).expect("a program").program;
        (path.display().to_string(), text, program)
    };
    files.into_iter().map(read).collect()
}

#[test]
fn examples_answer_as_their_headers_say() {
    let mut answered = 0;
    for (name, text, program) in examples() {
        for (question, model) in [("sc", Model::Sc), ("tso", Model::Tso)] {
            let options = check::Options { model, ..check::Options::default() };
            let decided = parameterized::check(&program, &options, &Session::default()).expect("it is supported");
            let got = described(&decided, simple(decided.report.verdict.clone()), ["safe", "unsafe"]);
            assert_eq!(got, expected(&text, question), "{name} {question}");
            let goals = all_goals(&program);
            let fixed = |numbers: &Numbers| fixed_check(&program, model, &goals, numbers);
            compare(&program, &decided, simple(decided.report.verdict.clone()), fixed, &mut Count::default())
                .unwrap_or_else(|why| panic!("{name}: {why}"));
        }
        let decided = parameterized::robust(&program, &robust::Options::default(), &Session::default());
        let decided = decided.expect("it is supported");
        let got = described(&decided, simple(decided.report.verdict.clone()), ["yes", "no"]);
        assert_eq!(got, expected(&text, "robust"), "{name}");
        compare_robust(&program, &mut Count::default()).unwrap_or_else(|why| panic!("{name}: {why}"));
        answered += 1;
    }
    assert!(answered >= 23, "only {answered} examples");
}

/// `// fence for robust` marks the line before which a fence belongs.
#[test]
fn fences_of_examples_are_where_they_are_marked() {
    let mut needed = 0;
    for (name, text, program) in examples() {
        let marked = |(line, next): (&str, u32)| (line.trim() == "// fence for robust").then_some(next);
        let marks: BTreeSet<u32> = text.lines().zip(2..).filter_map(marked).collect();
        let sites = Sites::of(&program, weir::Language::Weir, &[], &Session::default()).expect("places");
        let options = FencesOptions::default();
        let decided = fences_for_every_number(&sites.program, &sites.places(), &options, &Session::default());
        let decided = decided.expect("it is supported");
        assert!(decided.for_every_number, "{name}");
        let Fences::Cheapest(sets) = decided.report.fences else { panic!("{name}: {:?}", decided.report.fences) };
        let found: BTreeSet<u32> = sets[0].iter().map(|&at| sites.line(&sites.list[at])).collect();
        assert_eq!(found, marks, "{name}");
        needed += usize::from(!marks.is_empty());
    }
    assert!(needed >= 7, "{needed}");
}

/// An instance is what the text gives with that number of copies.
#[test]
fn instances_are_what_the_text_says_with_that_number() {
    for (name, text, program) in examples() {
        let numbers: Numbers = templates(&program).map(|_| 2).collect();
        let instance = instantiate(&program, &numbers);
        let given: Vec<_> =
            templates(&program).map(|thread| (format!("{}[*]", program.thread(thread).name), 2)).collect();
        let source = weir::ir::Source::new(name.clone(), text);
        let read = weir::Language::Weir.parse(&source, &given).expect("a program").program;
        let threads = |program: &Program| {
            program.threads.iter().map(|thread| (thread.name.clone(), thread.body.clone())).collect::<Vec<_>>()
        };
        let (one, other) = (threads(instance.program()), threads(&read));
        assert_eq!(one.len(), other.len(), "{name}");
        for ((name, one), (again, other)) in one.iter().zip(&other) {
            assert!(name == again && one.does_the_same(other), "{name} {again}");
        }
        assert_eq!(instance.program().constants, read.constants);
    }
}

fn parsed(text: &str) -> Program {
    weir::Language::Weir.parse(&weir::ir::Source::new("test.weir", text), &[]).expect("a program").program
}

fn checked(text: &str, session: &Session) -> (Verdict<()>, u32) {
    let decided = parameterized::check(&parsed(text), &check::Options::default(), session).expect("it is supported");
    (simple(decided.report.verdict), decided.instance.total())
}

/// What is too large for one method may be small for the other: copies differ in values that decide next to nothing.
#[test]
fn what_takes_too_many_counters_may_be_decided_by_the_exact_engine() {
    let with = |assertion: &str| {
        format!("shared x: 0..1; thread T[*] {{ let a = any 0..99; let b = any 0..99; x = 1; let c = x; {assertion} }}")
    };
    let limited = || Session::new(Limits { states: Some(15_000), ..Limits::default() });
    let program = parsed(&with("assert a + b + c > 0;"));
    let options = check::Options::default();
    let decided = parameterized::check(&program, &options, &limited()).expect("it is supported");
    assert!(decided.for_every_number, "{:?}", decided.report.verdict);
    let dual = Some(check::Member::Engine(reach::Engine::Dual));
    assert!(decided.report.properties.iter().all(|one| one.member == dual), "{:?}", decided.report.properties);
    let under_sc = check::Options { model: Model::Sc, ..options };
    let decided = parameterized::check(&program, &under_sc, &limited()).expect("it is supported");
    assert!(matches!(decided.report.verdict, Verdict::Unknown(_)), "{:?}", decided.report.verdict);
}

/// Conditions that more copies can make false again: the upward-closed set around them may be reachable although they
/// are not, and instances decide.
#[test]
fn conditions_with_upper_bounds_are_decided_by_instances() {
    let with = |condition: &str| {
        format!("shared x: 0..1; thread T[*] {{ let r = xchg(x, 1); in: skip; }} forbid {condition};")
    };
    let one = |condition: &str| checked(&with(condition), &Session::default());
    assert_eq!(one("count(T at in) == 2"), (Verdict::Violated(()), 2));
    assert_eq!(one("count(T at in) == 1 && x == 0"), (Verdict::Holds, 1));
    assert_eq!(one("!(count(T at in) < 3)"), (Verdict::Violated(()), 3));
    assert_eq!(one("count(T at in) < 1 && x == 1"), (Verdict::Violated(()), 1));
    // Nobody computes with numbers of copies.
    assert!(matches!(one("count(T at in) * 2 == 5").0, Verdict::Unknown(weir::Limit::Instances)));
    assert_eq!(one("count(T at in) + x == 3"), (Verdict::Violated(()), 2));
}

/// A value that a register of a single thread has between two local steps counts, too.
#[test]
fn registers_are_observed_after_every_step() {
    let with = |condition: &str| {
        format!("shared x; thread P {{ let r = 1; r = 2; }} thread T[*] {{ x = 1; }} forbid {condition};")
    };
    let one = |condition: &str| checked(&with(condition), &Session::default()).0;
    assert_eq!(one("P.r == 1"), Verdict::Violated(()));
    assert_eq!(one("P.r == 1 && count(T at end) >= 2 && x == 1"), Verdict::Violated(()));
    assert_eq!(one("P.r == 3"), Verdict::Holds);
}

/// By the exact engine alone: the verdict, and the smallest number of copies if it is a violation.
fn reached(text: &str) -> (Verdict<()>, u32) {
    let options = reach::Options { engine: reach::Engine::Dual, ..reach::Options::default() };
    let decided = parameterized::reach(&parsed(text), &options, &Session::default()).expect("it is supported");
    (simple(decided.report.verdict), decided.instance.total())
}

/// What copies do that no property speaks of: read-modify-writes, stores under the lock, and holding it for good.
#[test]
fn copies_that_no_property_mentions_count() {
    let with = |copy: &str, condition: &str| {
        format!("shared x; thread T[*] {{ {copy} }} thread P {{ if x == 1 {{ seen: skip; }} }} forbid {condition};")
    };
    for copy in ["x = 1;", "xchg(x, 1);", "atomic { x = 1; }", "lock; x = 1; unlock;"] {
        assert_eq!(reached(&with(copy, "P at seen")), (Verdict::Violated(()), 1), "{copy}");
        assert_eq!(reached(&with(copy, "P at seen && x == 0")).0, Verdict::Holds, "{copy}");
    }
    // Whoever holds the lock for good still writes memory, but nobody else can look at it.
    let forever = "lock; x = 1; loop { skip; }";
    assert_eq!(reached(&with(forever, "x == 1")), (Verdict::Violated(()), 1));
    assert_eq!(reached(&with(forever, "P at seen")).0, Verdict::Holds);
    assert_eq!(reached(&with(forever, "P at end && x == 1")), (Verdict::Violated(()), 1));
}

/// Comparisons that tell numbers beyond their constant apart from it, and violations with many copies.
#[test]
fn the_exact_engine_counts_copies() {
    let with = |condition: &str| format!("shared x; thread T[*] {{ x = 1; in: skip; }} forbid {condition};");
    assert_eq!(reached(&with("count(T at in) > 2")), (Verdict::Violated(()), 3));
    assert_eq!(reached(&with("3 < count(T at in) && x == 1")), (Verdict::Violated(()), 4));
    assert_eq!(reached(&with("count(T at in) > 2 && x == 2")).0, Verdict::Holds);
    let ticket = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/parameterized/locks/ticket-modulo-4.weir");
    assert_eq!(reached(&std::fs::read_to_string(ticket).expect("an example")), (Verdict::Violated(()), 5));
    // Copies of two threads start in different places.
    let two = "shared x; thread A[*] { x = 1; x = 2; } thread B[*] { let r = x; assume r == 2; seen: skip; }";
    assert_eq!(reached(&format!("{two} forbid B at seen;")), (Verdict::Violated(()), 2));
    assert_eq!(reached(&format!("{two} forbid B at seen && x == 0;")).0, Verdict::Holds);
}

/// A delayed store that can never be flushed harms nobody, and a fence on behalf of all threads is one for the attacker.
#[test]
fn attacks_that_the_lock_or_a_membarrier_prevents_are_none() {
    let robust = |helper: &str| {
        let text = format!("shared x, y; thread T[*] {{ x = 1; let r = y; }} thread H[*] {{ {helper} }}");
        let program = parsed(&text);
        compare_robust(&program, &mut Count::default()).unwrap_or_else(|why| panic!("{helper}: {why}"));
        let decided = parameterized::robust(&program, &robust::Options::default(), &Session::default());
        simple(decided.expect("it is supported").report.verdict)
    };
    assert_eq!(robust("y = 1; let s = x;"), Verdict::Violated(()));
    assert_eq!(robust("y = 1; membarrier; let s = x;"), Verdict::Holds);
    assert_eq!(robust("lock; y = 1; let s = x; loop { skip; }"), Verdict::Holds);
    assert_eq!(robust("lock; y = 1; let s = x; unlock;"), Verdict::Violated(()));
}

/// Whether a run exists depends on the number of copies.
#[test]
fn exists_is_refused_with_the_way_out() {
    let program = parsed("shared x; thread T[*] { x = 1; } exists x == 1;");
    let refused = parameterized::check(&program, &check::Options::default(), &Session::default());
    let Err(weir::Failure::Refused(diagnostic)) = refused else { panic!("{refused:?}") };
    assert!(diagnostic.message.contains("`exists`"), "{diagnostic:?}");
    assert!(diagnostic.help.iter().any(|help| help.contains("-D 'T[*]=3'")), "{diagnostic:?}");
}

/// A template that is not decided in time names the instance that its report is about.
#[test]
fn an_unknown_instance_is_the_one_reported() {
    let text = "shared next, x, y; thread A[*] { let mine = fetch_add(next, 1); x = mine; let r = y; } \
                thread B[*] { loop { fetch_add(next, 1); y = 1; let s = x; } }";
    let session = Session::new(Limits { states: Some(40), ..Limits::default() });
    let decided = parameterized::robust(&parsed(text), &robust::Options::default(), &session).expect("supported");
    let threads = decided.instance.program().threads.len();
    let attacks = &decided.report.attacks;
    assert!(
        !attacks.open.is_empty() && attacks.open.iter().all(|attack| attack.thread.index() < threads),
        "{attacks:?}"
    );
}

/// Of the cheapest sets of an instance, those that are not enough for every number are left out.
#[test]
fn all_sets_of_fences_are_enough_for_every_number() {
    let mut several = 0;
    for seed in 0..25 {
        let program = template(seed, &small());
        let places: Vec<_> = at_locations(&program).into_iter().map(|at| at.place).collect();
        let options = FencesOptions { all: true, ..FencesOptions::default() };
        let decided = fences_for_every_number(&program, &places, &options, &limited());
        let Ok(Decided { report, for_every_number: true, .. }) = decided else { continue };
        let Fences::Cheapest(sets) = &report.fences else { continue };
        assert_eq!(sets.len(), report.reasons.len());
        several += usize::from(sets.len() > 1);
        for set in sets {
            let after = set.iter().flat_map(|&place| places[place].after.iter().copied()).collect();
            let fenced = weir::translate::insert_fences_after(&program, &after).program;
            for numbers in numbers(&fenced, 4) {
                let verdict = fixed_robust(&fenced, &numbers);
                assert!(!matches!(verdict, Verdict::Violated(())), "seed {seed}, {numbers:?}\n{}", dump(&program));
            }
        }
    }
    assert!(several > 0, "no program has several cheapest sets");
}

/// Data that grows, and limits of any kind, end in `unknown`.
#[test]
fn limits_end_in_unknown() {
    let growing = "shared next, serving; thread T[*] { let mine = fetch_add(next, 1); while serving != mine { } in: skip; \
                   serving = mine + 1; } forbid count(T at in) >= 2;";
    let limited = Session::new(Limits { states: Some(2_000), ..Limits::default() });
    assert!(matches!(checked(growing, &limited).0, Verdict::Unknown(_)));
    let timed = Session::new(Limits { time: Some(std::time::Duration::from_millis(300)), ..Limits::default() });
    assert!(matches!(checked(growing, &timed).0, Verdict::Unknown(_)));
    let robust = |session: &Session| {
        let text = growing.replace("let mine", "x = 1; let seen = y; let mine").replace("shared", "shared x, y,");
        let decided = parameterized::robust(&parsed(&text), &robust::Options::default(), session);
        simple(decided.expect("it is supported").report.verdict)
    };
    assert!(matches!(robust(&Session::new(Limits { states: Some(50), ..Limits::default() })), Verdict::Unknown(_)));
}

/// `live T at label` is about each copy; one without copies is about none.
#[test]
fn live_places_are_those_of_each_copy() {
    let verdict = |text: &str| checked(text, &Session::default());
    let each = "shared x; thread T[*] { if cas(x, 0, 1) { loop { l: skip; } } } live T at l;";
    assert_eq!(verdict(each), (Verdict::Violated(()), 2));
    let none = "shared x; thread T[*] { loop { l: x = 1; } } thread P { skip; } live T at l;";
    assert!(matches!(verdict(none).0, Verdict::Unknown(_)), "no copy violates it, and nothing proves it");
    // Some copy is something else.
    let some = "shared x; thread T[*] { loop { l: x = 1; } } thread P { skip; } live count(T at l) > 0;";
    assert_eq!(verdict(some), (Verdict::Violated(()), 0));
}

/// What `exists` asks is left open; everything else is decided.
#[test]
fn properties_beside_an_exists_are_decided() {
    let text = "shared x; thread T[*] { x = 1; } exists x == 1; forbid x == 2; forbid x == 1;";
    let options = check::Options::default();
    let decided = parameterized::check(&parsed(text), &options, &Session::default()).expect("it is supported");
    let judgements: Vec<&check::Judgement> = decided.report.properties.iter().map(|one| &one.judgement).collect();
    let [exists, holds, violated] = judgements[..] else { panic!("{judgements:?}") };
    assert_eq!(*exists, check::Judgement::Unknown(weir::Limit::Copies));
    assert_eq!(*holds, check::Judgement::Holds);
    assert!(violated.is_failure());
    assert!(matches!(decided.report.verdict, Verdict::Violated(_)));
}
