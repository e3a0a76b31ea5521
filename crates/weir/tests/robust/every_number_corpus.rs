//! Memorax' programs in `../shared/corpus` as templates: what its fixed numbers of processes show is shown, and what is
//! proved for every number contradicts none of them. They are not part of the repository.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use weir::ir::{BinaryOp, Expr, LocId, Multiplicity, Program, Property, PropertyKind, Source, StateAtom, StateExpr};
use weir::ir::{Thread, ThreadId, Value};
use weir::{Limits, Session, Verdict, check, parameterized};

/// The shapes, each by the program with the fewest processes; DualTSO's seconds for the template, if it has an answer.
const SHAPES: [(&str, &str, Option<f64>); 10] = [
    ("sb_", "sb_2_3.rmm", Some(0.01)),
    ("lb_", "lb_1_2.rmm", Some(0.03)),
    ("mp_", "mp_1_2.rmm", Some(0.01)),
    ("wrc_", "wrc_1_2_2.rmm", Some(0.20)),
    ("isa2_", "isa2_1_1_2.rmm", Some(0.93)),
    ("rwc_", "rwc_2_3_3.rmm", Some(0.07)),
    ("w+rwc_", "w+rwc_1_1_2.rmm", Some(0.39)),
    ("iriw_", "iriw_1_1_1_2.rmm", Some(1.57)),
    ("nbw_w_wr_", "nbw_w_wr_2_2.rmm", Some(0.52)),
    ("ticket_spin_lock_", "ticket_spin_lock_2_3_finite.rmm", None),
];

fn read(folder: &Path, name: &str) -> Program {
    let text = std::fs::read_to_string(folder.join(name)).expect("it can be read");
    weir_syntax::rmm::parse(&Source::new(name, text)).expect("it parses").program
}

/// The program with arbitrarily many copies of each process. Processes at a place become numbers of copies there.
fn template(program: &Program) -> Program {
    let mut threads: Vec<Thread> = Vec::new();
    let mut origins: Vec<ThreadId> = Vec::new();
    for thread in &program.threads {
        let known = threads.iter().position(|other| other.body.does_the_same(&thread.body));
        origins.push(ThreadId::new(known.unwrap_or(threads.len())));
        if known.is_none() {
            threads.push(Thread { multiplicity: Multiplicity::Arbitrary, ..thread.clone() });
        }
    }
    let condition = |property: &Property| {
        let PropertyKind::Forbid(condition) = &property.kind else { panic!("{:?}", property.kind) };
        let mut places: BTreeMap<(ThreadId, Vec<LocId>), Value> = BTreeMap::new();
        collect(condition, &mut |thread, locations| {
            *places.entry((origins[thread.index()], locations.to_vec())).or_default() += 1;
        });
        let least = |((thread, locations), number): ((ThreadId, Vec<LocId>), Value)| {
            let at = Expr::Leaf(StateAtom::At { thread, locations });
            Expr::binary(BinaryOp::GreaterEqual, at, Expr::Const(number))
        };
        let all = places.into_iter().map(least).reduce(|all, one| Expr::binary(BinaryOp::And, all, one));
        Property { kind: PropertyKind::Forbid(all.expect("a place")), span: property.span }
    };
    let mut properties: Vec<Property> = Vec::new();
    for property in program.properties.iter().map(condition) {
        if properties.iter().all(|known| known.kind != property.kind) {
            properties.push(property);
        }
    }
    Program { threads, properties, ..program.clone() }
}

/// The processes at places that a conjunction asks for.
fn collect(condition: &StateExpr, visit: &mut dyn FnMut(ThreadId, &[LocId])) {
    match condition {
        Expr::Binary(BinaryOp::And, left, right) => {
            collect(left, visit);
            collect(right, visit);
        }
        Expr::Leaf(StateAtom::At { thread, locations }) => visit(*thread, locations),
        other => panic!("{other:?} is no conjunction of places"),
    }
}

/// With `WEIR_TIMES=1`, in a release build: none takes longer than DualTSO.
#[test]
fn templates_of_the_corpus_agree_with_its_fixed_numbers() {
    let Some(folder) = weir_testkit::corpus("memorax") else { return };
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the corpus says what is known");
    let expected = |shape: &str| -> Vec<(String, String)> {
        let fields = |line: &str| Some((line.split('\t').next()?.to_owned(), line.split('\t').nth(1)?.to_owned()));
        table.lines().filter(|line| line.starts_with(shape)).filter_map(fields).collect()
    };
    for (shape, name, seconds) in SHAPES {
        let template = template(&read(&folder, name));
        let session = Session::new(Limits { time: Some(Duration::from_secs(20)), ..Limits::default() });
        let began = Instant::now();
        let decided = parameterized::check(&template, &check::Options::default(), &session).expect("it is supported");
        let took = began.elapsed().as_secs_f64();
        let verdict = decided.report.verdict;
        assert!(!matches!(verdict, Verdict::Unknown(_)), "{name}: {verdict:?}");
        for (instance, known) in expected(shape) {
            match known.as_str() {
                "reachable" => assert!(matches!(verdict, Verdict::Violated(_)), "{instance} is unsafe"),
                "unreachable" | "-" => {}
                other => panic!("{instance}: {other}"),
            }
        }
        if matches!(verdict, Verdict::Holds) {
            assert!(decided.for_every_number, "{name}");
        }
        if std::env::var_os("WEIR_TIMES").is_some() {
            assert!(seconds.is_none_or(|seconds| took <= seconds), "{name}: {took} s, DualTSO needs {seconds:?} s");
        }
    }
}
