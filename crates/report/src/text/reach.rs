//! The answer of `weir reach` for people.

use weir::reach::{Coverage, Engine, Search, Statistics};
use weir::{Limit, Verdict};
use weir_ir::Program;
use weir_witness::{Buffering, Goal, Model};

use super::diagnostic::render_place;
use super::parts::{Tone, diagnostics, evidence, headline, help, numbers_of_copies, reduction, statistics};
use super::view::View;
use crate::answer::ReachAnswer;
use crate::answer::coverage;
use crate::run::Evidence;
use crate::wording::clean::clip;
use crate::wording::limit::more;
use crate::wording::units::{counted, grouped};
use crate::wording::{goal, model_name};

/// The answer; only its first line if quiet.
pub(super) fn render(answer: &ReachAnswer<'_>, view: &View) -> String {
    let mut text = first_line(answer);
    let origin = &answer.origin;
    if !view.is_quiet {
        let is_decided = matches!(origin.verdict, Ok(Verdict::Holds | Verdict::Violated(_)));
        text += &numbers_of_copies(&origin.subject, is_decided, 1);
        text += &match &origin.verdict {
            Ok(Verdict::Holds) => unreachable(answer),
            Ok(Verdict::Violated(found)) => reachable(answer, found, view.width),
            Ok(Verdict::Unknown(limit)) => stopped(answer, *limit),
            Err(diagnostic) => format!("\n{}\n", render_place(&origin.subject.program.source, diagnostic)),
        };
        if answer.rounds.is_some() {
            text += &rounds(answer);
        }
    }
    if view.is_verbose || origin.explain_symmetry {
        text += &symmetry(answer);
    }
    if view.is_verbose {
        text += &statistics(&origin.statistics, origin.subject.peak_memory);
    }
    text
}

/// Which threads are interchangeable, and what keeps others apart.
fn symmetry(answer: &ReachAnswer<'_>) -> String {
    let program = answer.origin.subject.program;
    let list = |names: &Vec<String>| format!("  {}\n", clip(&names.join(", "), 400));
    let mut text = String::new();
    if !answer.interchangeable.is_empty() {
        text += "\ninterchangeable threads:\n";
        text.extend(answer.interchangeable.iter().map(list));
    }
    text + &diagnostics(program, &answer.origin.symmetry.obstacles)
}

/// The answer in one line.
pub(super) fn first_line(answer: &ReachAnswer<'_>) -> String {
    let origin = &answer.origin;
    let (program, model) = (origin.subject.program, model_name(origin.question.model));
    let file = program.source.name();
    match &origin.verdict {
        Ok(Verdict::Holds) => {
            let (what, place) = goals_text(program, origin.goals);
            headline(Tone::Good, &format!("unreachable under {model}"), &what, &place)
        }
        Ok(Verdict::Violated(_)) => {
            let what = answer.goal.as_deref().unwrap_or_default();
            let place = answer.goal_place.as_deref().unwrap_or(file);
            headline(Tone::Bad, &format!("reachable under {model}"), what, place)
        }
        Ok(Verdict::Unknown(_)) | Err(_) => {
            let why = answer.reason.as_deref().unwrap_or_default();
            headline(Tone::Open, &format!("unknown under {model}"), why, file)
        }
    }
}

/// What was looked for, and where it stands.
pub(super) fn goals_text(program: &Program, goals: &[Goal]) -> (String, String) {
    let file = program.source.name();
    match goals {
        [] => ("the program has no properties".to_owned(), file.to_owned()),
        [goal] => (goal::text(program, *goal), goal::place(program, *goal)),
        [_, _] => ("both properties hold".to_owned(), file.to_owned()),
        _ => (format!("all {} properties hold", grouped(goals.len() as u64)), file.to_owned()),
    }
}

/// What the lazy engine added, round by round.
fn rounds(answer: &ReachAnswer<'_>) -> String {
    let program = answer.origin.subject.program;
    let mut text = String::from("\nrounds: ");
    if answer.origin.rounds.is_empty() {
        return text + "the program did not have to be extended\n";
    }
    text += &format!("the program was extended {}\n", counted(answer.origin.rounds.len() as u64, "time"));
    for (number, round) in answer.origin.rounds.iter().enumerate() {
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

fn unreachable(answer: &ReachAnswer<'_>) -> String {
    let origin = &answer.origin;
    let (program, model, engine) = (origin.subject.program, origin.question.model, origin.question.engine);
    let mut text = match model {
        Model::Tso if engine == Engine::Lazy => nothing_left(origin.rounds.len()),
        _ if origin.by_summaries => summarized(&origin.statistics),
        _ => basis(engine, origin.buffering, &origin.statistics),
    };
    text += &diagnostics(program, &coverage::warnings(program, &origin.coverage));
    text += &match model {
        _ if origin.goals.is_empty() => {
            format!("\n{}", help("state what must not happen, as in `forbid P0 at critical && P1 at critical;`"))
        }
        Model::Sc => format!("\n{}", help("this is without store buffers; `--model tso` searches with them")),
        Model::Tso => String::new(),
    };
    text
}

/// On what an answer rests that procedure summaries gave.
pub(super) fn summarized(statistics: &Statistics) -> String {
    let states = counted(statistics.states, "state");
    format!(
        "summaries: with stacks of any depth; every procedure was explored once per state in which it is called \
         ({states})\n"
    )
}

/// On what the answer rests.
pub(super) fn basis(engine: Engine, buffering: Option<Buffering>, statistics: &Statistics) -> String {
    let states = statistics.states;
    if let Some(buffers) = buffering.map(approximated) {
        let states = counted(states, "state");
        return format!("proved by over-approximation, with {buffers}: {states} visited, none of them a violation\n");
    }
    if engine == Engine::Dual {
        if states == 0 {
            return "proved by thread-modular analysis: no state that shows a violation can occur\n".to_owned();
        }
        let found = counted(states, "minimal configuration");
        return format!(
            "proved by backward coverability: {found} can reach a violation, and the initial state is not among them\n"
        );
    }
    if matches!(engine, Engine::Rounds | Engine::Age) {
        let states = counted(states, "state");
        return format!("proved: no run exceeds the bound, and none within it is a violation ({states} visited)\n");
    }
    let all = if states == 1 {
        "the only reachable state was visited".to_owned()
    } else {
        format!("all {} reachable states were visited{}", grouped(states), reduction(statistics))
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

fn reachable(answer: &ReachAnswer<'_>, found: &Evidence, width: usize) -> String {
    let program = answer.origin.subject.program;
    let mut text = evidence(program, found, width);
    let next = match (answer.origin.question.model, found.advice(program, answer.origin.subject.language)) {
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

fn alarm(answer: &ReachAnswer<'_>) -> String {
    let buffers = answer.origin.buffering.map(approximated).unwrap_or_default();
    let question = answer.origin.question;
    format!(
        "with {buffers} a property can be violated, but no run under TSO confirms it: it may be a false alarm\n\n{}",
        help(finer(question.engine, question.bound))
    )
}

/// No violation within a bound.
fn within_bound(answer: &ReachAnswer<'_>, limit: Limit) -> String {
    let states = counted(answer.states, "state");
    format!(
        "no violation in such runs ({states} visited); longer waits of stores may show one\n\n{}",
        help(more(limit))
    )
}

fn stopped(answer: &ReachAnswer<'_>, limit: Limit) -> String {
    match limit {
        Limit::Alarm => return alarm(answer),
        Limit::Rounds(_) | Limit::Age(_) => return within_bound(answer, limit),
        _ => {}
    }
    let origin = &answer.origin;
    let (program, question) = (origin.subject.program, origin.question);
    let (states, depth) = (counted(answer.states, "state"), counted(answer.statistics.depth, "step"));
    let mut text = if question.engine == Engine::Dual {
        format!("explored backward: {states} that can reach a violation; the initial state is not among them so far\n")
    } else {
        format!("explored {states} in runs of up to {depth}; no violation so far\n")
    };
    let blocked = Coverage { unexecuted: Vec::new(), immobile: Vec::new(), ..origin.coverage.clone() };
    text += &diagnostics(program, &coverage::warnings(program, &blocked));
    let other = match (question.engine, question.search) {
        (Engine::Lazy, _) => "`--trace-rounds` shows how the program was extended",
        (Engine::Dual, _) => "`weir check` also tries other engines",
        (_, Search::BreadthFirst) => "`--search dfs` goes deep early",
        (_, Search::DepthFirst) => "`--search bfs` finds short runs first",
    };
    text += &format!("\n{}", help(&format!("{}, or make the model smaller; {other}", more(limit))));
    if question.model == Model::Tso && question.engine == Engine::Explicit {
        text += &help(
            "a thread that stores in a loop without a fence can fill its buffer without bound; then only a limit ends the search",
        );
    }
    text
}
