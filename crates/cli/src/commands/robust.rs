//! `weir robust`: do store buffers change what the program does?

use weir::reach::{Coverage, Statistics};
use weir::robust::{Attacks, Options, RaceReport, Report, attacks, robust, triangular_races};
use weir::{Failure, Session};
use weir_ir::{Diagnostic, Program};

use super::Task;
use super::analysis::{self, Conclusion};
use crate::args::{Method, RobustOptions, RunFormat};
use crate::console::Console;
use crate::exit::Status;
use crate::json::CommandName;
use crate::load::load;
use crate::render;
use crate::trouble::Trouble;

/// Everything known about one file, for the renderers.
pub(crate) struct Finding<'a> {
    /// What was asked.
    pub(crate) options: &'a RobustOptions,
    /// The program.
    pub(crate) program: &'a Program,
    /// Warnings and notes about the program.
    pub(crate) warnings: &'a [Diagnostic],
    /// The answer.
    pub(crate) conclusion: Conclusion,
    /// The attacks that were considered. None if the engine cannot handle the program.
    pub(crate) attacks: Option<Attacks>,
    /// What the search took.
    pub(crate) statistics: Statistics,
    /// What runs execute, if the program is robust and that is known.
    pub(crate) coverage: Option<Coverage>,
}

/// Runs it.
pub(super) fn run(options: &RobustOptions, console: &mut Console) -> Status {
    analysis::each_file(
        CommandName::Robust,
        (&options.common.files, options.common.format),
        console,
        |task, console| one(task, options, console),
    )
}

fn one(task: &Task<'_>, options: &RobustOptions, console: &mut Console) -> Result<Status, Trouble> {
    let loaded = load(task.file, &options.common.program)?;
    let (program, warnings) = (&loaded.program, loaded.warnings.as_slice());
    if !task.is_json {
        console.diagnostics(&program.source, warnings);
    }
    let limits = &options.common.limits;
    let found = analysis::watched(task, limits, console, |session| search(options, program, session));
    let (conclusion, attacks, statistics, coverage) = match found {
        Ok((conclusion, attacks, statistics, coverage)) => (conclusion, Some(attacks), statistics, coverage),
        Err(Failure::Refused(diagnostic)) => (Conclusion::Refused(diagnostic), None, Statistics::default(), None),
        Err(Failure::Bug(what)) => return Err(Trouble::Bug(what)),
    };
    let finding = Finding { options, program, warnings, conclusion, attacks, statistics, coverage };
    match options.common.format {
        RunFormat::Json => console.json(&render::json::robust(task, &finding)),
        RunFormat::Text => render::robust::show(&finding, console),
        RunFormat::Dot => console.answer(&render::dot::robust(&finding)),
    }
    let saved = analysis::save(task, &options.common, program, &finding.conclusion, console);
    Ok(finding.conclusion.status().and(saved))
}

fn search(
    options: &RobustOptions,
    program: &Program,
    session: &Session,
) -> Result<(Conclusion, Attacks, Statistics, Option<Coverage>), Failure> {
    let jobs = analysis::jobs(&options.common.limits);
    let method = match options.method {
        Method::Attacks => weir::robust::Method::Attacks,
        Method::Instrumented => weir::robust::Method::Instrumented,
        Method::Single => weir::robust::Method::Single,
        Method::Trf => {
            let RaceReport { verdict, statistics } = triangular_races(program, jobs, session)?;
            let attacks = attacks(program, session).unwrap_or_default();
            return Ok((Conclusion::of_races(verdict), attacks, statistics, None));
        }
    };
    let Report { verdict, attacks, statistics, coverage } = robust(program, &Options { method, jobs }, session)?;
    Ok((Conclusion::new(verdict), attacks, statistics, coverage))
}
