//! The answer of `weir robust` for people.

use weir::robust::{Attack, Attacks, Criterion, Race};
use weir::{Limit, Verdict};
use weir_ir::Program;

use super::diagnostic::{illustrate, render_place};
use super::parts::{Tone, diagnostics, evidence, headline, help, numbers_of_copies, run, statistics};
use super::view::View;
use crate::answer::coverage;
use crate::answer::robust::Shown;
use crate::answer::{RACES, RobustAnswer};
use crate::run::Evidence;
use crate::run::race::Racing;
use crate::wording::clean::clip;
use crate::wording::growth::growth_help;
use crate::wording::limit::more;
use crate::wording::place::place;
use crate::wording::units::{counted, grouped};

/// At most this many attacks that are still open are listed.
const LISTED: usize = 10;

/// The answer; only its first line if quiet.
pub(super) fn render(answer: &RobustAnswer<'_>, view: &View) -> String {
    let mut text = first_line(answer);
    let origin = &answer.origin;
    let program = origin.subject.program;
    if !view.is_quiet {
        let is_decided = matches!(&origin.verdict, Ok(Verdict::Holds | Verdict::Violated(_)));
        text += &numbers_of_copies(&origin.subject, is_decided, 1);
        text += &match &origin.verdict {
            Ok(Verdict::Holds) => how(answer) + &never_seen(answer),
            Ok(Verdict::Violated(Shown::Cycle(found))) => violated(answer, found, view.width),
            Ok(Verdict::Violated(Shown::Race(race))) => raced(program, race, view.width),
            Ok(Verdict::Unknown(limit)) => stopped(answer, *limit),
            Err(diagnostic) => format!("\n{}\n", render_place(&program.source, diagnostic)),
        };
    }
    if view.is_verbose {
        text += &statistics(&origin.statistics, origin.subject.peak_memory);
    }
    text
}

/// The answer in one line.
pub(super) fn first_line(answer: &RobustAnswer<'_>) -> String {
    let program = answer.origin.subject.program;
    let file = program.source.name();
    match &answer.origin.verdict {
        Ok(Verdict::Holds) => {
            let what = match answer.origin.criterion {
                Criterion::Traces => "store buffers do not change the program's behaviour",
                Criterion::States => "store buffers do not change which states the program reaches",
            };
            headline(Tone::Good, "robust", what, file)
        }
        Ok(Verdict::Violated(Shown::Cycle(_))) if answer.state.is_some() => headline(
            Tone::Bad,
            "not robust",
            "store buffers let the program reach a state that it cannot reach without them",
            file,
        ),
        Ok(Verdict::Violated(Shown::Cycle(found))) => match found.overtaking() {
            Some(overtaking) => {
                let file = program.source.origin(overtaking.store.span).0.name();
                let place = format!("{file}:{}", overtaking.store.line(program));
                headline(Tone::Bad, "not robust", &overtaking.text(program), &place)
            }
            None => headline(Tone::Bad, "not robust", "a run that sequential consistency forbids", file),
        },
        Ok(Verdict::Violated(Shown::Race(race))) => {
            let race = Racing::new(race).map_or_else(String::new, |racing| racing.text(program));
            headline(Tone::Open, "unknown", &format!("there is a triangular race: {race}"), file)
        }
        Ok(Verdict::Unknown(_)) | Err(_) => {
            headline(Tone::Open, "unknown", answer.reason.as_deref().unwrap_or_default(), file)
        }
    }
}

/// A triangular race, and what to do about it.
fn raced(program: &Program, race: &Race, width: usize) -> String {
    let labels = Racing::new(race).map(|racing| racing.labels());
    let place = labels.map_or_else(String::new, |labels| format!("\n{}\n", illustrate(&program.source, &labels)));
    let picture = run("a run up to the race", program, race.replay(), width);
    let next = help("`weir robust` without `--method trf` decides whether the race breaks robustness")
        + &help("`weir fences --for trf` finds the cheapest fences that prevent all such races");
    format!("{place}{picture}\n{next}")
}

/// How it is known that the program is robust.
fn how(answer: &RobustAnswer<'_>) -> String {
    if answer.method == RACES {
        let states = counted(answer.states, "state");
        return format!(
            "there is no triangular race: no load races with a write while an earlier store is delayed ({states})\n"
        );
    }
    if let Some(compared) = answer.origin.compared {
        let (sc, tso) = (counted(compared.sc, "state"), grouped(compared.tso));
        return format!("every state with empty buffers is among the {sc} reached without buffers ({tso} visited)\n");
    }
    let Some(attacks) = &answer.origin.attacks else { return String::new() };
    let (total, open) = (attacks.total as u64, attacks.open.len() as u64);
    let by_flow = "ruled out by control flow and fences";
    let by_search = match answer.states {
        0 => "by the cells that other threads access".to_owned(),
        states => format!("by exhaustive search ({})", counted(states, "state")),
    };
    let all = match total {
        1 => "the only pair of a store and a load is".to_owned(),
        2 => "both pairs of a store and a load are".to_owned(),
        _ => format!("all {} of a store and a load are", counted(total, "pair")),
    };
    match (total, open) {
        (0, _) => "no store can be delayed past a load: no thread has both\n".to_owned(),
        (_, 0) => format!("no store can be delayed past a load: {all} {by_flow}\n"),
        _ if open >= total => format!("{UNNOTICED}{all} ruled out {by_search}\n"),
        _ => {
            let (flow, open, total) = (grouped(total - open), grouped(open), grouped(total));
            format!("{UNNOTICED}of {total} pairs of a store and a load, {flow} are {by_flow}, {open} {by_search}\n")
        }
    }
}

/// What no run executes: the program may be robust by accident.
fn never_seen(answer: &RobustAnswer<'_>) -> String {
    let Some(seen) = &answer.origin.coverage else { return String::new() };
    let program = answer.origin.subject.program;
    diagnostics(program, &coverage::warnings(program, seen))
}

/// Some stores can be delayed past loads, but it does not show.
const UNNOTICED: &str = "no delay of a store past a load can be observed: ";

fn violated(answer: &RobustAnswer<'_>, found: &Evidence, width: usize) -> String {
    let mut text = evidence(answer.origin.subject.program, found, width);
    let Some(state) = &answer.state else { return text + "\n" + &help("`weir fences` finds the cheapest repair") };
    text += &format!(
        "\nno run without store buffers reaches this state (exhaustive search): {}\n",
        clip(&state.text(), 400)
    );
    text + "\n" + &help("`weir fences --for states` finds the cheapest repair")
}

fn stopped(answer: &RobustAnswer<'_>, limit: Limit) -> String {
    let (states, depth) = (counted(answer.states, "state"), counted(answer.statistics.depth, "step"));
    let mut text = format!("explored {states} in runs of up to {depth}; no violation so far\n");
    text += &open(answer);
    let more = || format!("{}, or make the model smaller", more(limit));
    text += &format!("\n{}", help(&growth_help(&answer.origin.growth).unwrap_or_else(more)));
    text += &help("a fence between the store and the load of a pair rules it out");
    if answer.origin.criterion == Criterion::States {
        text += &help(
            "only finitely many states can be compared: values must be bounded, and a thread that stores in a loop \
             without a fence fills its buffer without bound",
        );
    }
    text
}

fn open(answer: &RobustAnswer<'_>) -> String {
    let attacks = answer.origin.attacks.as_ref();
    attacks.map_or_else(String::new, |attacks| open_attacks(answer.origin.subject.program, attacks))
}

/// What the search had not decided yet.
pub(super) fn open_attacks(program: &Program, attacks: &Attacks) -> String {
    let open = attacks.open.len();
    let mut text = format!(
        "\nundecided: {} of {} of a store and a load that it might be delayed past\n",
        grouped(open as u64),
        counted(attacks.total as u64, "pair")
    );
    for attack in attacks.open.iter().take(LISTED) {
        let Attack { thread, store, load } = *attack;
        let place = |edge| place(program, thread, edge);
        text += &format!("  {}: {} past {}\n", program.thread(thread).name, place(store), place(load));
    }
    if open > LISTED {
        text += &format!("  … and {} more\n", grouped((open - LISTED) as u64));
    }
    text
}
