//! `weir check`: is every property safe with store buffers?

use weir::Failure;
use weir::check::{Answer, Attempt, Member, Options, check};
use weir::reach::{Coverage, Statistics};
use weir_ir::{Diagnostic, Program};
use weir_syntax::Language;
use weir_witness::{Buffering, Goal};

use super::Task;
use super::analysis::{self, Conclusion};
use crate::args::{CheckOptions, RunFormat};
use crate::console::Console;
use crate::exit::Status;
use crate::json::CommandName;
use crate::load::load;
use crate::trouble::Trouble;
use crate::{goals, render};

/// Everything known about one file, for the renderers.
pub(crate) struct Finding<'a> {
    /// What was asked.
    pub(crate) options: &'a CheckOptions,
    /// The program.
    pub(crate) program: &'a Program,
    /// What it is written in.
    pub(crate) language: Language,
    /// What was looked for.
    pub(crate) goals: &'a [Goal],
    /// Warnings and notes about the program.
    pub(crate) warnings: &'a [Diagnostic],
    /// The answer.
    pub(crate) conclusion: Conclusion,
    /// How it came about.
    pub(crate) story: Story,
}

/// How an answer came about. Empty if no engine can handle the program.
#[derive(Default)]
pub(crate) struct Story {
    /// Who gave the answer.
    pub(crate) winner: Option<Member>,
    /// What each engine did.
    pub(crate) attempts: Vec<Attempt>,
    /// What it took.
    pub(crate) statistics: Statistics,
    /// What the winner saw. Complete only if the conclusion is `Holds`.
    pub(crate) coverage: Coverage,
    /// How the winner approximated buffers, if it did.
    pub(crate) buffering: Option<Buffering>,
}

/// Runs it.
pub(super) fn run(options: &CheckOptions, console: &mut Console) -> Status {
    analysis::each_file(CommandName::Check, (&options.common.files, options.common.format), console, |task, console| {
        one(task, options, console)
    })
}

fn one(task: &Task<'_>, options: &CheckOptions, console: &mut Console) -> Result<Status, Trouble> {
    let loaded = load(task.file, &options.common.program)?;
    let (program, warnings) = (&loaded.program, loaded.warnings.as_slice());
    if !task.is_json {
        console.diagnostics(&program.source, warnings);
    }
    let goals = goals::select(program, &options.goals)?;
    let answer = analysis::watched(task, &options.common.limits, console, |session| {
        check(program, &Options { goals: goals.clone() }, session)
    });
    let (conclusion, story) = conclude(answer)?;
    let finding = Finding { options, program, language: loaded.language, goals: &goals, warnings, conclusion, story };
    match options.common.format {
        RunFormat::Json => console.json(&render::check::json(task, &finding)),
        RunFormat::Text => render::check::show(&finding, console),
        RunFormat::Dot => console.answer(&render::check::dot(&finding)),
    }
    let saved = analysis::save(task, &options.common, program, &finding.conclusion, console);
    Ok(finding.conclusion.status().and(saved))
}

fn conclude(answer: Result<Answer, Failure>) -> Result<(Conclusion, Story), Trouble> {
    match answer {
        Ok(Answer { verdict, winner, attempts, statistics, coverage, buffering }) => {
            Ok((Conclusion::new(verdict), Story { winner, attempts, statistics, coverage, buffering }))
        }
        Err(Failure::Refused(diagnostic)) => Ok((Conclusion::Refused(diagnostic), Story::default())),
        Err(Failure::Bug(what)) => Err(Trouble::Bug(what)),
    }
}
