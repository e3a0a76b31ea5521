//! `--pass`: what is done to a program before it is printed.

use weir::Session;
use weir::fences::{Fences, Options, at_locations, fences};
use weir::robust::{Attack, attacks};
use weir::translate::Translation;
use weir::translate::bounded::{RunBound, bounded};
use weir::translate::delay::{delay, shortest_path};
use weir::translate::insert_fences::insert_fences_after;
use weir::translate::instrument::{instrument, instrument_all};
use weir::translate::start::{Sections, start};
use weir::translate::unroll::{Purpose, unroll};
use weir_ir::{Comments, EdgeId, Program, PropertyKind};
use weir_report::wording::units::counted;

use crate::error::Error;

/// A pass, as it is named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// The program whose question under SC is that of robustness.
    Instrument(Selection),
    /// The program that can also do under SC what it could do with stores waiting along shortest paths.
    Delay(Selection),
    /// The program that can do under SC what the original does in runs within a bound.
    Bounded(RunBound),
    /// The program with the fewest fences that make it robust.
    Fences,
    /// The program with a step for each place where a fence can stand, and these places.
    Places,
    /// The program with its procedures linked into the threads, and so many instances of spawned threads.
    Link(u32),
    /// The program with recursive procedures unrolled, for stacks with so many calls.
    Unroll(u32),
    /// The program with so many instances of spawned threads, which wait from the start.
    Start(u32),
}

/// A program after a pass.
pub(crate) struct Passed {
    /// The program.
    pub(crate) program: Program,
    /// What its text should say.
    pub(crate) comments: Comments,
}

/// Which attacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// All at once.
    All,
    /// By its number in the list, from 1.
    Number(usize),
    /// By its thread, its store and its load.
    Named {
        /// The name of the thread.
        thread: String,
        /// Line or label.
        store: String,
        /// Line or label.
        load: String,
    },
}

/// The most attacks that a message lists.
const MOST_LISTED: usize = 20;

/// Reads a pass.
pub(crate) fn parse_pass(text: &str) -> Result<Pass, String> {
    let known = "expected `fences`, `places`, `rounds=K`, `age=K`, `unroll=K`, `spawn=K` or `link=K` with a number K, \
                 or `instrument=ATTACK` or `delay=ATTACK`, where ATTACK is THREAD:STORE:LOAD (STORE and LOAD are lines \
                 or labels), a number N for the N-th attack, or `all`";
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is not a number; {known}"));
    if text == "fences" {
        return Ok(Pass::Fences);
    }
    if text == "places" {
        return Ok(Pass::Places);
    }
    let (pass, which): (fn(Selection) -> Pass, _) = match text.split_once('=') {
        Some(("instrument", which)) => (Pass::Instrument, which),
        Some(("delay", which)) => (Pass::Delay, which),
        Some(("rounds", bound)) => return Ok(Pass::Bounded(RunBound::Rounds(number(bound)?).check()?)),
        Some(("age", bound)) => return Ok(Pass::Bounded(RunBound::Age(number(bound)?).check()?)),
        Some(("link", count)) => return Ok(Pass::Link(instances(number(count)?, 0)?)),
        Some(("spawn", count)) => return Ok(Pass::Start(instances(number(count)?, 1)?)),
        Some(("unroll", bound)) => return Ok(Pass::Unroll(number(bound)?)),
        _ => return Err(format!("unknown pass; {known}")),
    };
    if which == "all" {
        return Ok(pass(Selection::All));
    }
    if let Ok(number) = which.parse() {
        return Ok(pass(Selection::Number(number)));
    }
    match which.split(':').collect::<Vec<_>>()[..] {
        [thread, store, load] => {
            let [thread, store, load] = [thread, store, load].map(str::to_owned);
            Ok(pass(Selection::Named { thread, store, load }))
        }
        _ => Err(format!("malformed attack; {known}")),
    }
}

impl Pass {
    /// The program after the pass.
    fn apply(&self, program: &Program, sections: Sections, session: &Session) -> Result<Passed, Error> {
        match self {
            Self::Bounded(bound) => return within(program, *bound, session),
            Self::Fences => return fenced(program, session),
            Self::Places => {
                return Err(Error::input("`--pass places` is for `--to json`, without other passes".to_owned()));
            }
            Self::Link(count) => return Ok(plain(program.linked(*count))),
            Self::Unroll(frames) => return unrolled(program, *frames),
            Self::Start(count) => return started(program, *count, sections),
            Self::Instrument(_) | Self::Delay(_) => {}
        }
        let attacks = attacks(program, session).map_err(Error::Stopped)?.open;
        let made = match self {
            Self::Bounded(_) | Self::Fences | Self::Places | Self::Link(_) | Self::Unroll(_) | Self::Start(_) => {
                Ok(program.clone())
            }
            Self::Instrument(selection) => match selection.attacks(program, &attacks)?[..] {
                [attack] if *selection != Selection::All => instrument(program, attack),
                _ => instrument_all(program, &attacks),
            }
            .map(|made| made.program),
            Self::Delay(selection) => {
                let chosen = selection.attacks(program, &attacks)?;
                let paths: Vec<_> = chosen.into_iter().filter_map(|attack| shortest_path(program, attack)).collect();
                delay(program, &paths).map(|made| made.program)
            }
        };
        let program = made.map_err(|failure| Error::of(program, failure))?;
        Ok(Passed { program, comments: Comments::default() })
    }
}

/// More instances of spawned threads than this are not made.
const MOST_INSTANCES: u32 = 10_000;

/// A number of instances that can be made.
fn instances(count: u32, least: u32) -> Result<u32, String> {
    let is_right = (least..=MOST_INSTANCES).contains(&count);
    if is_right {
        Ok(count)
    } else {
        Err(format!("{count} instances; expected a number from {least} to {MOST_INSTANCES}"))
    }
}

fn plain(program: Program) -> Passed {
    Passed { program, comments: Comments::default() }
}

/// The program with the fewest fences that make it robust. Its text says how many.
fn fenced(program: &Program, session: &Session) -> Result<Passed, Error> {
    let candidates = at_locations(program);
    let places: Vec<_> = candidates.into_iter().map(|candidate| candidate.place).collect();
    let report =
        fences(program, &places, &Options::default(), session).map_err(|failure| Error::of(program, failure))?;
    let chosen = match report.fences {
        Fences::Cheapest(sets) => sets.into_iter().next().unwrap_or_default(),
        Fences::Stopped(limit) => return Err(Error::Stopped(limit)),
        _ => return Err(Error::input("no fences make the program robust; `weir fences` says why".to_owned())),
    };
    let about = match chosen.len() {
        0 => "The program is robust without further fences.".to_owned(),
        count => format!("With {}, which make the program robust; fewer do not.", counted(count as u64, "fence")),
    };
    let after = chosen.iter().flat_map(|&place| &places[place].after).copied().collect();
    let mut comments = Comments::default();
    comments.header.push(about);
    Ok(Passed { program: insert_fences_after(program, &after).program, comments })
}

/// The program with unrolled procedures. Its text says what became of longer stacks.
fn unrolled(program: &Program, frames: u32) -> Result<Passed, Error> {
    let made = unroll(&program.linked(0), frames, Purpose::Search).map_err(|_| {
        Error::input(format!("the program is too large with {frames} calls on a stack; choose a smaller number"))
    })?;
    let mut comments = Comments::default();
    let calls = counted(u64::from(frames), "call");
    let about = format!("Procedures are unrolled for stacks with at most {calls} of recursive procedures.");
    comments.header.push(about);
    comments.header.push("A thread that would call one more stays where it is.".to_owned());
    Ok(Passed { program: made.program().clone(), comments })
}

/// The program with threads that wait until they are started. Its text says what that means.
fn started(program: &Program, count: u32, sections: Sections) -> Result<Passed, Error> {
    let made = start(program, count, sections).map_err(|failure| Error::of(program, failure))?;
    let mut comments = Comments::default();
    let about = format!("Instances of each thread that `spawn` starts: {count}. They wait until it is their turn.");
    comments.header.push(about);
    comments.header.push("For sequential consistency. To start one more is to wait forever.".to_owned());
    for property in &made.left_out {
        let text = made.program.property_text(property);
        comments.header.push(format!("Left out, since threads that wait are not meant by it: `{text}`."));
    }
    Ok(Passed { program: made.program, comments })
}

impl Pass {
    /// The program after all of these passes, one after the other. The text says what each of them has done.
    pub(crate) fn apply_all(passes: &[Self], program: &Program, session: &Session) -> Result<Passed, Error> {
        let mut done = Passed { program: program.clone(), comments: Comments::default() };
        let mut sections = Sections::Own;
        for pass in passes {
            let Passed { program, comments } = pass.apply(&done.program, sections, session)?;
            if let Self::Bounded(_) = pass {
                sections = Sections::Rounds;
            }
            done.program = program;
            if !done.comments.header.is_empty() && !comments.header.is_empty() {
                done.comments.header.push(String::new());
            }
            done.comments.header.extend(comments.header);
            done.comments.labels.extend(comments.labels);
        }
        Ok(done)
    }
}

/// The program within a bound. Properties that only make sense for all runs are left out, and the text says so.
fn within(program: &Program, bound: RunBound, session: &Session) -> Result<Passed, Error> {
    let is_about_all_runs = |kind: &PropertyKind| *kind == PropertyKind::ForbidDeadlock || kind.is_liveness();
    let mut kept = program.clone();
    kept.properties.retain(|property| !is_about_all_runs(&property.kind));
    let made = bounded(&kept, bound, session).map_err(|failure| Error::of(program, failure))?;
    let mut comments = made.comments().clone();
    for property in program.properties.iter().filter(|property| is_about_all_runs(&property.kind)) {
        let text = program.property_text(property);
        comments.header.push(format!("Left out, since runs within a bound do not decide it: `{text}`."));
    }
    Ok(Passed { program: made.program, comments })
}

impl Selection {
    /// The attacks that are meant.
    fn attacks(&self, program: &Program, attacks: &[Attack]) -> Result<Vec<Attack>, Error> {
        match self {
            Self::All => Ok(attacks.to_vec()),
            Self::Number(number) => match number.checked_sub(1).and_then(|at| attacks.get(at)) {
                Some(&attack) => Ok(vec![attack]),
                None => Err(no_such(program, &format!("there is no attack {number}"), attacks, attacks)),
            },
            Self::Named { thread, store, load } => Ok(vec![find(program, attacks, (thread, store, load))?]),
        }
    }
}

/// The attack of these names.
fn find(program: &Program, attacks: &[Attack], (thread, store, load): (&str, &str, &str)) -> Result<Attack, Error> {
    let fits = |attack: &&Attack| {
        program.thread(attack.thread).name == thread
            && is_at(program, attack, attack.store, store)
            && is_at(program, attack, attack.load, load)
    };
    let fitting: Vec<Attack> = attacks.iter().filter(fits).copied().collect();
    let name = format!("`{thread}:{store}:{load}`");
    match fitting[..] {
        [attack] => Ok(attack),
        [] => Err(no_such(program, &format!("control flow allows no attack {name}"), attacks, attacks)),
        _ => Err(no_such(
            program,
            &format!("{name} is ambiguous: it matches {} attacks", fitting.len()),
            &fitting,
            attacks,
        )),
    }
}

/// Whether an edge is on the line, or leaves the label.
fn is_at(program: &Program, attack: &Attack, edge: EdgeId, place: &str) -> bool {
    let body = program.body(attack.thread);
    let edge = body.edge(edge);
    match place.parse::<u32>() {
        Ok(line) => program.source.line(edge.span) == line,
        Err(_) => body.locations[edge.from.index()].labels.iter().any(|label| label == place),
    }
}

/// Says what is wrong, and lists some of the attacks there are.
fn no_such(program: &Program, what: &str, listed: &[Attack], all: &[Attack]) -> Error {
    if all.is_empty() {
        let reason = "no store in this program can be delayed past a load";
        return Error::input(format!("{what}: {reason}"));
    }
    let mut lines = vec!["select an attack by its number (`instrument=N`) or by its lines:".to_owned()];
    for attack in listed.iter().take(MOST_LISTED) {
        let number = all.iter().position(|other| other == attack).map_or(0, |at| at + 1);
        let thread = &program.thread(attack.thread).name;
        let body = program.body(attack.thread);
        let line = |edge: EdgeId| program.source.line(body.edge(edge).span);
        let text = |edge: EdgeId| program.instruction_text(attack.thread, edge);
        lines.push(format!(
            "{number}  {thread}:{}:{}  `{}` delayed past `{}`",
            line(attack.store),
            line(attack.load),
            text(attack.store),
            text(attack.load),
        ));
    }
    if listed.len() > MOST_LISTED {
        lines.push(format!("and {} more", listed.len() - MOST_LISTED));
    }
    Error::input_with_help(what, lines.join("\n  "))
}
