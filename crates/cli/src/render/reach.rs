//! The answer of `weir reach` for people.

use weir::Limit;
use weir_ir::Program;
use weir_witness::{Buffering, Goal, Model};

use super::clean::clip;
use super::diagnostic::render_place;
use super::text::{Tone, diagnostics, evidence, headline, help, model_name, more, reason, statistics};
use crate::args::{Engine, SearchName};
use crate::commands::analysis::Conclusion;
use crate::commands::reach::Finding;
use crate::console::Console;
use crate::evidence::Evidence;
use crate::units::{counted, grouped};
use crate::{coverage, goals};

/// Prints the answer; only its first line if the console is quiet.
pub(crate) fn show(finding: &Finding<'_>, console: &mut Console) {
    let mut text = first_line(finding);
    if !console.is_quiet() {
        text += &match &finding.conclusion {
            Conclusion::Holds => unreachable(finding),
            Conclusion::Violated(found) => reachable(finding, found, console.width()),
            Conclusion::Stopped(limit) => stopped(finding, *limit),
            Conclusion::Refused(diagnostic) => format!("\n{}\n", render_place(&finding.program.source, diagnostic)),
            Conclusion::Raced(_) => String::new(),
        };
    }
    if finding.options.search.trace_rounds && !console.is_quiet() {
        text += &rounds(finding);
    }
    if finding.options.common.verbose {
        text += &statistics(&finding.statistics);
    }
    console.answer(&text);
}

/// The answer in one line.
pub(crate) fn first_line(finding: &Finding<'_>) -> String {
    let (program, file) = (finding.program, finding.program.source.name());
    let model = model_name(finding.model);
    match &finding.conclusion {
        Conclusion::Holds => {
            let (what, place) = goals_text(program, finding.goals);
            headline(Tone::Good, &format!("unreachable under {model}"), &what, &place)
        }
        Conclusion::Violated(found) => {
            let (what, line) = reached_goal(program, found);
            headline(Tone::Bad, &format!("reachable under {model}"), &what, &format!("{file}:{line}"))
        }
        Conclusion::Stopped(_) | Conclusion::Refused(_) | Conclusion::Raced(_) => {
            let why = reason(&finding.conclusion, &finding.options.common.limits).unwrap_or_default();
            headline(Tone::Open, &format!("unknown under {model}"), &why, file)
        }
    }
}

/// The goal that a run reaches, and its line. An assertion is named by itself, not by its thread.
pub(crate) fn reached_goal(program: &Program, found: &Evidence) -> (String, u32) {
    let goal = found.checked.goal();
    match (goal, found.checked.replay().events().last()) {
        (Goal::Assertion(thread), Some(event)) => {
            let written: Vec<&str> = program.source.slice(event.span).split_whitespace().collect();
            (format!("{} in {}", written.join(" "), program.thread(thread).name), event.line(program))
        }
        _ => (goals::text(program, goal), goals::line(program, goal)),
    }
}

/// What was looked for, and where it stands.
pub(crate) fn goals_text(program: &Program, goals: &[Goal]) -> (String, String) {
    let file = program.source.name();
    match goals {
        [] => ("the program has no properties".to_owned(), file.to_owned()),
        [goal] => (goals::text(program, *goal), format!("{file}:{}", goals::line(program, *goal))),
        [_, _] => ("both properties hold".to_owned(), file.to_owned()),
        _ => (format!("all {} properties hold", grouped(goals.len() as u64)), file.to_owned()),
    }
}

/// What the lazy engine added, round by round.
fn rounds(finding: &Finding<'_>) -> String {
    let program = finding.program;
    let mut text = String::from("\nrounds: ");
    if finding.rounds.is_empty() {
        return text + "the program did not have to be extended\n";
    }
    text += &format!("the program was extended {}\n", counted(finding.rounds.len() as u64, "time"));
    for (number, round) in finding.rounds.iter().enumerate() {
        for path in &round.added {
            let steps: Vec<String> =
                path.edges.iter().map(|&edge| program.instruction_text(path.thread, edge)).collect();
            let steps = clip(&steps.join("; "), 400);
            text += &format!("{:>4}  {}: {steps}\n", number + 1, program.thread(path.thread).name);
        }
    }
    text
}

/// Why a goal that the lazy engine did not find is not there.
fn nothing_left(rounds: usize) -> String {
    let (with, more) = match rounds {
        0 => ("the program is robust".to_owned(), ""),
        _ => (format!("the program was extended {}", counted(rounds as u64, "time")), " any further"),
    };
    format!(
        "proved: unreachable without store buffers, and delaying stores does not change the program's behaviour{more} ({with})\n"
    )
}

fn unreachable(finding: &Finding<'_>) -> String {
    let engine = crate::commands::reach::engine(finding.options.search.engine);
    let mut text = match finding.model {
        Model::Tso if engine == weir::reach::Engine::Lazy => nothing_left(finding.rounds.len()),
        _ => basis(engine, finding.buffering, finding.statistics.states),
    };
    text += &diagnostics(finding.program, &coverage::warnings(finding.program, &finding.coverage));
    text += &match finding.model {
        _ if finding.goals.is_empty() => {
            format!("\n{}", help("state what must not happen, as in `forbid P0 at critical && P1 at critical;`"))
        }
        Model::Sc => format!("\n{}", help("this is without store buffers; `--model tso` searches with them")),
        Model::Tso => String::new(),
    };
    text
}

/// On what the answer rests.
pub(crate) fn basis(engine: weir::reach::Engine, buffering: Option<Buffering>, states: u64) -> String {
    if let Some(buffers) = buffering.map(approximated) {
        let states = counted(states, "state");
        return format!("proved by over-approximation, with {buffers}: {states} visited, none of them a violation\n");
    }
    if engine == weir::reach::Engine::Dual {
        if states == 0 {
            return "proved: no thread can reach a violation on its own, whatever values its loads read\n".to_owned();
        }
        let found = counted(states, "minimal configuration");
        return format!(
            "proved by backward coverability: {found} can reach a violation, and the initial state is not among them\n"
        );
    }
    let all = if states == 1 {
        "the only reachable state was visited".to_owned()
    } else {
        format!("all {} reachable states were visited", grouped(states))
    };
    format!("the search was exhaustive: {all}\n")
}

/// How buffers were approximated.
fn approximated(buffering: Buffering) -> String {
    match buffering {
        Buffering::Multiset(_) => "buffers as multisets".to_owned(),
        Buffering::Coherence(0) => "buffers as sets".to_owned(),
        Buffering::Coherence(1) => "the oldest store of each buffer kept separately and the others as a set".to_owned(),
        Buffering::Coherence(bound) => {
            format!("the oldest {} of each buffer in order and the others as a set", counted(u64::from(bound), "store"))
        }
    }
}

fn reachable(finding: &Finding<'_>, found: &Evidence, width: usize) -> String {
    let program = finding.program;
    let mut text = evidence(program, found, width);
    let next = match (finding.model, found.advice(program, finding.language)) {
        (_, Some(advice)) => advice,
        (Model::Tso, None) if found.cycle.is_none() => {
            "store buffers play no part in this run: it is also possible under SC (`--model sc`)".to_owned()
        }
        (Model::Tso, None) => "`--model sc` tells whether this is also reachable without store buffers".to_owned(),
        (Model::Sc, None) => "no fence can prevent this: it happens without store buffers".to_owned(),
    };
    text += &format!("\n{}", help(&next));
    text
}

/// What to try after an alarm.
fn finer(engine: Engine, bound: Option<u32>) -> &'static str {
    match (engine, bound) {
        (Engine::Coherence, Some(_)) => {
            "increase `--bound`, or leave it out to refine automatically; `--engine dual` is exact"
        }
        (Engine::Set | Engine::Multiset, _) => {
            "`--engine coherence` keeps stores in order and refines automatically; `--engine dual` is exact"
        }
        _ => "`--engine dual` is exact, and so is `--engine explicit` if buffers are bounded",
    }
}

fn alarm(finding: &Finding<'_>) -> String {
    let buffers = finding.buffering.map(approximated).unwrap_or_default();
    let search = &finding.options.search;
    format!(
        "with {buffers} a property can be violated, but no run under TSO confirms it: it may be a false alarm\n\n{}",
        help(finer(search.engine, search.bound))
    )
}

fn stopped(finding: &Finding<'_>, limit: Limit) -> String {
    if limit == Limit::Alarm {
        return alarm(finding);
    }
    let statistics = &finding.statistics;
    let (states, depth) = (counted(statistics.states, "state"), counted(statistics.depth, "step"));
    let mut text = if finding.options.search.engine == Engine::Dual {
        format!("explored backward: {states} that can reach a violation; the initial state is not among them so far\n")
    } else {
        format!("explored {states} in runs of up to {depth}; no violation so far\n")
    };
    let blocked = weir::reach::Coverage { unexecuted: Vec::new(), immobile: Vec::new(), ..finding.coverage.clone() };
    text += &diagnostics(finding.program, &coverage::warnings(finding.program, &blocked));
    let other = match (finding.options.search.engine, finding.options.search.order) {
        (Engine::Lazy, _) => "`--trace-rounds` shows how the program was extended",
        (Engine::Dual, _) => "`weir check` also tries other engines",
        (_, SearchName::Bfs) => "`--search dfs` goes deep early",
        (_, SearchName::Dfs) => "`--search bfs` finds short runs first",
    };
    text += &format!("\n{}", help(&format!("{}, or make the model smaller; {other}", more(limit))));
    if finding.model == Model::Tso && finding.options.search.engine == Engine::Explicit {
        text += &help(
            "a thread that stores in a loop without a fence can fill its buffer without bound; then only a limit ends the search",
        );
    }
    text
}
