//! The counter abstraction as a Petri net, decided by the methods for nets: these know nothing of programs, so their
//! answers check ours.
//!
//! `WEIR_TIMES=1` prints how long both take. The net has one control state more, from which the others start; each initial
//! local state holds any number of tokens.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use weir_ir::net::{Count, CoverTarget, InitialMarkings, Net, NetTransition, Place, Tokens};
use weir_ir::{ControlId, PlaceId, Program, PropertyKind, Source};

use super::cover::{Configuration, Cover, cover};
use super::step::Code;
use super::system::System;
use super::targets::{Condition, attacks, failed_assertions};
use crate::petri::{self, Engine};
use crate::session::Session;
use crate::translate::instantiate::templates;
use crate::verdict::Verdict;

/// The net of a system, with these targets.
fn net(system: &System, targets: &[Configuration]) -> Net {
    let (controls, places) = (system.controls.len(), system.locals.len());
    let start = ControlId::new(controls);
    let place = |local: u32| PlaceId::new(local as usize);
    let one = |local: Option<u32>| local.map(|local| (place(local), 1)).into_iter().collect::<Vec<Tokens>>();
    let mut transitions: Vec<NetTransition> = Vec::new();
    for (to, moves) in system.table.moves_into.iter().enumerate() {
        transitions.extend(moves.iter().map(|step| NetTransition {
            from: ControlId::new(step.from as usize),
            to: ControlId::new(to),
            needs: one(step.before),
            takes: one(step.before),
            gives: one(step.after),
            ..NetTransition::default()
        }));
    }
    transitions.extend(system.table.initial_controls.iter().map(|&to| NetTransition {
        from: start,
        to: ControlId::new(to as usize),
        ..NetTransition::default()
    }));
    let mut counts = vec![Count { low: 0, high: Some(0) }; places];
    for &local in &system.table.initial_locals {
        counts[local as usize].high = None;
    }
    let target = |target: &Configuration| {
        let mut at_least: Vec<Tokens> = Vec::new();
        for &copy in &target.copies {
            match at_least.iter_mut().find(|(known, _)| *known == place(copy)) {
                Some((_, number)) => *number += 1,
                None => at_least.push((place(copy), 1)),
            }
        }
        at_least.sort_unstable();
        CoverTarget { control: Some(ControlId::new(target.control as usize)), at_least, ..CoverTarget::default() }
    };
    Net {
        controls: (0..=controls).map(|control| format!("c{control}")).collect(),
        places: (0..places).map(|place| Place { name: format!("p{place}"), ..Place::default() }).collect(),
        transitions,
        initial: InitialMarkings { control: start, counts, ..InitialMarkings::default() },
        targets: targets.iter().map(target).collect(),
        ..Net::default()
    }
}

/// Both answers to one question, and how long both took.
fn compare(name: &str, system: &System, targets: &[Configuration]) -> (bool, [Duration; 2]) {
    let began = Instant::now();
    let ours = cover(system, targets, u64::MAX, &Session::default()).expect("no limit");
    let mut times = [began.elapsed(), Duration::ZERO];
    if targets.is_empty() {
        assert_eq!(ours, Cover::Unreachable, "{name}");
        return (false, times);
    }
    let net = net(system, targets);
    let began = Instant::now();
    let theirs = petri::cover(&net, Engine::Auto, &Session::default()).expect("a net with targets");
    times[1] = began.elapsed();
    match (ours, theirs.verdict) {
        (Cover::Unreachable, Verdict::Holds) => {}
        (Cover::Reachable(most), Verdict::Violated(firing)) => {
            // A bound on the number of copies is one for the smallest number.
            let copies: u64 = firing.firing().initial.iter().sum();
            assert!(copies <= most as u64, "{name}: {copies} copies, and not more than {most}");
        }
        (ours, theirs) => panic!("{name}: {ours:?}, but as a net {theirs:?}"),
    }
    (matches!(ours, Cover::Reachable(_)), times)
}

/// How long questions take is worth knowing, if someone asks.
#[allow(clippy::print_stdout, reason = "the table is what `WEIR_TIMES` is for")]
fn show(line: impl FnOnce() -> String) {
    if std::env::var_os("WEIR_TIMES").is_some() {
        println!("{}", line());
    }
}

/// All questions about a program: attacks, assertions, conditions.
fn ask(name: &str, program: &Program, reached: &mut [usize; 2], times: &mut [Duration; 2]) {
    let session = Session::default();
    let mut judge = |what: &str, system: &System, targets: &[Configuration]| {
        let (is_reached, took) = compare(&format!("{name}, {what}"), system, targets);
        reached[usize::from(is_reached)] += 1;
        show(|| format!("{name:<50} {what:<10} {:>9.3?} {:>9.3?}", took[0], took[1]));
        times.iter_mut().zip(took).for_each(|(sum, took)| *sum += took);
    };
    let bare = Program { properties: Vec::new(), ..program.clone() };
    let code = Code::new(&bare, &|_, _| false, true);
    let Ok(system) = System::new(&code, 100_000, &session) else { return };
    judge("attacks", &system, &attacks(&system));
    let conditions: Vec<Condition<'_>> = program
        .properties
        .iter()
        .filter_map(|property| match &property.kind {
            PropertyKind::Forbid(condition) => Condition::new(program, condition).ok(),
            _ => None,
        })
        .collect();
    let is_observed = |thread, location| conditions.iter().any(|condition| condition.observes(thread, location));
    let code = Code::new(program, &is_observed, false);
    let Ok(system) = System::new(&code, 100_000, &session) else { return };
    for condition in &conditions {
        let Ok(targets) = condition.targets(&code, &system) else { continue };
        judge("forbid", &system, &targets);
    }
    for thread in program.thread_ids().filter(|&thread| program.body(thread).failed.is_some()) {
        judge("assert", &system, &failed_assertions(&code, &system, thread));
    }
}

/// What takes minutes as a net, and a tenth of a second as it is.
const SLOW: &str = "ticket-modulo-4";

fn examples() -> Vec<(String, Program)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/parameterized");
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("readable").path());
        entries.collect()
    };
    let mut files: Vec<PathBuf> = list(&root).iter().flat_map(|folder| list(folder)).collect();
    files.sort_unstable();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("readable");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let parsed = crate::Language::Weir.parse(&Source::new(name.clone(), text), &[]);
        (name, parsed.expect("a program").program)
    };
    files.into_iter().map(read).collect()
}

#[test]
fn nets_agree_on_the_examples() {
    let (mut reached, mut times) = ([0, 0], [Duration::ZERO; 2]);
    for (name, program) in examples().into_iter().filter(|(name, _)| name != SLOW) {
        assert!(templates(&program).next().is_some(), "{name}");
        ask(&name, &program, &mut reached, &mut times);
    }
    show(|| format!("backward {:?}, as nets {:?}", times[0], times[1]));
    assert!(reached[0] >= 20 && reached[1] >= 10, "{reached:?}");
}
