//! A program that is exported as a litmus test is read back with the same final states.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Address, Program, RegId, Source, ThreadId, Uninterrupted, Value};
use weir_syntax::litmus;
use weir_syntax::litmus::print::print;
use weir_testkit::random::{self, Config, Statement};
use weir_testkit::{FinalState, Goal, Model, explore};

use crate::support::{count, examples, read};

type Outcomes = BTreeSet<(BTreeMap<String, Value>, BTreeMap<String, Value>)>;

/// The registers that the first lines of the test name: `P0.r is 0:rbx`.
fn registers(text: &str) -> Vec<(String, String)> {
    let comment = text.lines().nth(1).expect("a comment").trim_matches('"');
    let pairs = comment.split(", ").filter_map(|part| part.split_once(" is "));
    pairs.map(|(own, processor)| (own.to_owned(), processor.to_owned())).collect()
}

fn find(program: &Program, thread: &str, register: &str) -> Option<(ThreadId, RegId)> {
    let thread = program.thread_ids().find(|id| program.thread(*id).name == thread)?;
    Some((thread, program.body(thread).register(register)?))
}

/// The value of a register that the read program may not have at all, since nothing uses it.
fn value(state: &FinalState, place: Option<(ThreadId, RegId)>) -> Value {
    place.map_or(0, |(thread, register)| state.registers[&thread][&register])
}

/// Whether the test can be read and does the same; nothing if the program cannot be exported or is too large.
fn same_outcomes(name: &str, program: &Program) -> Option<()> {
    let text = print(program, &Uninterrupted).ok()?.text;
    let source = Source::new("test.litmus", text.as_str());
    let test = litmus::parse(&source).unwrap_or_else(|errors| panic!("{name}: {errors:#?}\n{text}"));
    let again = &test.program;
    let cells: Vec<(Address, String)> = program
        .shared
        .iter()
        .flat_map(|shared| shared.addresses())
        .map(|address| (address, program.cell_name(address).replace(['[', ']'], "_").trim_matches('_').to_owned()))
        .collect();
    let names = registers(&text);
    for model in Model::ALL {
        let (before, after) = (explore(program, model, 20_000).ok()?, explore(again, model, 60_000).ok()?);
        if !before.complete || !after.complete {
            return None;
        }
        let original: Outcomes = before
            .final_states
            .iter()
            .map(|state| {
                let cell = |(address, name): &(Address, String)| {
                    let value = state.memory.get(address).copied().unwrap_or_else(|| program.initial_value(*address));
                    again.shared(name).map(|_| (name.clone(), value))
                };
                let register = |(own, _): &(String, String)| {
                    let (thread, register) = own.rsplit_once('.').expect("a thread and a register");
                    (own.clone(), value(state, find(program, thread, register)))
                };
                (cells.iter().filter_map(cell).collect(), names.iter().map(register).collect())
            })
            .collect();
        let printed: Outcomes = after
            .final_states
            .iter()
            .map(|state| {
                let cell = |(_, name): &(Address, String)| {
                    let shared = again.shared(name)?;
                    let value = state.memory.get(&shared.address).copied().unwrap_or(shared.initial[0]);
                    Some((name.clone(), value))
                };
                let register = |(own, processor): &(String, String)| {
                    let (thread, register) = processor.split_once(':').expect("a number and a register");
                    (own.clone(), value(state, find(again, &format!("P{thread}"), register)))
                };
                (cells.iter().filter_map(cell).collect(), names.iter().map(register).collect())
            })
            .collect();
        assert_eq!(original, printed, "{name} under {model:?}\n{text}");
        // The question is the first property about final states.
        let is_final = |kind: &weir_ir::PropertyKind| {
            matches!(kind, weir_ir::PropertyKind::Exists(_) | weir_ir::PropertyKind::Always(_))
        };
        if let Some(asked) = program.properties.iter().position(|property| is_final(&property.kind)) {
            let is_met = |goals: &BTreeMap<Goal, usize>, property: usize| {
                goals.contains_key(&Goal::Property(weir_ir::PropertyId::new(property)))
            };
            assert_eq!(is_met(&before.goals, asked), is_met(&after.goals, 0), "{name} under {model:?}\n{text}");
        }
    }
    Some(())
}

#[test]
fn litmus_examples_are_read_back() {
    let mut compared = 0;
    for (name, program) in examples() {
        compared += usize::from(same_outcomes(&name, &program).is_some());
    }
    assert!(compared >= 18, "{compared}");
}

#[test]
fn random_straight_line_programs_are_read_back() {
    let refused = [
        Statement::Snapshot,
        Statement::Havoc,
        Statement::Assume,
        Statement::Assert,
        Statement::Branch,
        Statement::Choice,
        Statement::BoundedLoop,
        Statement::Atomic,
        Statement::StrayLock,
    ];
    let straight = |config| refused.into_iter().fold(config, |config: Config, one| config.weighing(one, 0));
    let base = Config { computed_addresses: 0, ranges: 0, extremes: 2, absent_threads: 3, ..Config::acyclic() };
    let config = Config { statements: (2, 4), ..straight(base).weighing(Statement::ReadModifyWrite, 20) };
    let wanted = count("WEIR_LITMUS_PROGRAMS", 300);
    let found =
        (0..wanted).filter(|seed| same_outcomes(&format!("seed {seed}"), &random::program(*seed, &config)).is_some());
    let compared = found.count() as u64;
    eprintln!("{compared} straight-line programs compared");
    assert!(compared * 5 >= wanted, "{compared}");
}

#[test]
fn what_is_no_litmus_test_is_refused_with_the_place() {
    let cases = [
        ("shared x;\nthread P { while x == 0 { } }\nthread Q { x = 1; }\nexists x == 0;", "a choice"),
        ("shared x;\nthread P { loop { x = 1; } }\nforbid x == 2;", "a loop"),
        ("shared x[2];\nthread P { let i = x[0]; x[i] = 1; }\nexists x[0] == 0;", "a computed address"),
        ("shared x;\nthread P { await x == 1; }\nthread Q { x = 1; }\nexists x == 0;", "`await`"),
        ("shared x: 0..1;\nthread P { x = 1; }\nexists x == 0;", "has a range"),
        ("shared x;\nthread P { x = 1; }\nexists x < 1;", "this condition"),
        ("shared x;\nthread P { let r = x; x = r * 3; }\nexists x == 0;", "this expression"),
    ];
    for (text, part) in cases {
        let errors = print(&read(text), &Uninterrupted).unwrap_err();
        assert!(errors[0].message.contains(part) && errors[0].help.is_some(), "{errors:?}");
    }
}

#[test]
fn a_test_looks_like_one() {
    let program = read(
        "shared x, y;\nthread P { x = 1; let r = y; }\nthread Q { y = 1; fence; let s = x; }\n\
         exists P.r == 0 && Q.s == 0;",
    );
    let text = print(&program, &Uninterrupted).unwrap().text;
    let expected = "\
X86_64 test
\"P.r is 0:rbx, Q.s is 1:rbx\"
{
  int64_t x=0;
  int64_t y=0;
}
 P0            | P1            ;
 movq $1,(x)   | movq $1,(y)   ;
 movq (y),%rbx | mfence        ;
               | movq (x),%rbx ;
exists ((0:rbx=0) /\\ (1:rbx=0))
";
    assert_eq!(text, expected);
}
