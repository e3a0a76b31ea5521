//! `weir fences`: the cheapest fences that make a program robust.

use std::time::Duration;

use weir::fences::text::{Existing, Sites};
use weir::fences::{
    Aim, Fences, Need, Options, Recheck, Report, feasible_attacks, fences, fences_for_every_number, needs,
    needs_of_robust, safe_goals,
};
use weir::parameterized::is_parameterized;
use weir::{Failure, Limit, Session};
use weir_ir::{Diagnostic, Program};
use weir_report::Format;
use weir_report::answer::{
    Answer, Census, CommandName, CopiesRecord, FencesAnswer, FencesQuestion, NeedCount, Repair, Repairs, Subject,
};
use weir_report::text::{Fenced, fenced};
use weir_witness::Model;

use super::certificate::{self, FencesFound};
use super::task::{Allowance, Task, Work};
use super::{analysis, model_limit};
use crate::args::{CostChoice, FencesOptions};
use crate::console::Console;
use crate::cpu;
use crate::error::Error;
use crate::exit::Status;
use crate::fences::{Costs, candidates, copies, places, removed};
use crate::load::load;

/// Runs it.
pub(super) fn run(options: &'static FencesOptions, console: &mut Console) -> Status {
    let work = Work {
        command: CommandName::Fences,
        format: options.format,
        files: &options.files,
        limits: Allowance::of(&options.limits),
        is_spaced: true,
        one: |task: &Task<'_>, console: &mut Console| one(task, options, console),
    };
    work.run(console)
}

fn one(task: &Task<'_>, options: &FencesOptions, console: &mut Console) -> Result<Status, Error> {
    let cpu_before = cpu::time();
    let loaded = load(task.file, &options.program, &task.session)?;
    if !task.is_json() {
        console.diagnostics(&loaded.program.source, &loaded.warnings);
    }
    let model = if matches!(options.aim, Aim::Robust | Aim::RaceFree) { Model::Sc } else { Model::Tso };
    model_limit::no_run_passes(&loaded, model, &task.session)?;
    let is_parameterized = is_parameterized(&loaded.program);
    if is_parameterized && (options.stats || options.aim != Aim::Robust) {
        return Err(analysis::fixed_number("other aims than robustness, and `--stats`, are"));
    }
    if is_parameterized && options.certificate.is_some() {
        return Err(no_certificate());
    }
    if options.aim == Aim::Safe {
        safe_goals(&loaded.program).map_err(|why| Error::unanswerable(&why))?;
    }
    let costs = Costs::read(&options.cost)?;
    let (program, defines) = (&loaded.program, &options.program.defines);
    let (existing, mut sites) = candidates(&loaded, defines, (options.aim, options.remove), &task.session)?;
    let (found, needs, census) = analysis::watched(task, console, |session| {
        costs.set(&mut sites, session)?;
        let search = FenceSearch { options, program, sites: &sites, existing: existing.as_ref() };
        let found = search.found(session)?;
        let is_answer_only = (options.write || console.is_quiet()) && !task.is_json();
        let needs = if is_answer_only || is_parameterized || options.remove {
            Vec::new()
        } else {
            search.needs(&found, session)?
        };
        let census = options.stats.then(|| search.census(session)).transpose()?.flatten();
        Ok((found, needs, census))
    })?;
    let census = census.map(|census| Census {
        cpu: cpu::time().zip(cpu_before).map(|(now, before)| now.saturating_sub(before)),
        wall: task.session.elapsed(),
        ..census
    });
    let Found { report, repairs, unchecked, instance } = found;
    // Only what a proof needs of it is kept, and only if one is wanted.
    let to_prove = report.as_ref().ok().filter(|_| options.certificate.is_some()).cloned();
    let answer = FencesAnswer::new(Repairs {
        subject: Subject { copies: instance.as_ref().map(|found| &found.1), ..task.subject(&loaded) },
        options: question(options),
        searched: instance.as_ref().map_or(&sites.program, |found| &found.0),
        report,
        repairs,
        unchecked,
        needs,
        census,
    });
    let status = if options.write && task.format == Format::Text {
        print(&answer, console);
        Status::from(&Answer::Fences(Box::new(answer)))
    } else {
        task.answer(&Answer::Fences(Box::new(answer)), options.verbose, console)
    };
    let certified = match &options.certificate {
        Some(path) => {
            let found = FencesFound { searched: &sites, remove: options.remove, report: to_prove.as_ref() };
            certificate::save_fences(task, path, &loaded, (&found, &engine(options)), console)?
        }
        None => Status::Holds,
    };
    Ok(status.and(certified))
}

/// Why there is no proof about fences for arbitrarily many threads.
fn no_certificate() -> Error {
    let reason = "`--certificate` for fences is only available for a fixed number of threads, and this program has \
                  `[*]` threads"
        .to_owned();
    let help = "save the program with its fences (`--write`), and ask `weir robust --certificate` for a proof that \
                they are enough; or set the number of copies, as in `-D 'T[*]=3'`"
        .to_owned();
    Error::Input { reason, help: Some(help) }
}

/// What to search for, and how.
fn engine(options: &FencesOptions) -> Options {
    let robust = weir::robust::Options { jobs: options.limits.workers(), ..Default::default() };
    Options { aim: options.aim, robust, all: options.all }
}

fn question(options: &FencesOptions) -> FencesQuestion {
    FencesQuestion {
        aim: options.aim,
        all: options.all,
        write: options.write,
        is_unit_cost: options.cost == CostChoice::Unit,
        remove: options.remove,
    }
}

/// Prints the program with its fences. What else there is to say does not go where the program goes.
fn print(answer: &FencesAnswer<'_>, console: &mut Console) {
    match fenced(answer, &console.view(false)) {
        Ok(Fenced { text, notes }) => {
            notes.iter().for_each(|note| console.remark(note));
            console.answer(text);
        }
        Err(reason) => console.complain(reason.trim_end()),
    }
}

/// What was found.
struct Found {
    /// The report of the search, or why the engine refuses the program.
    report: Result<Report, Box<Diagnostic>>,
    /// The sets with their texts.
    repairs: Vec<Repair>,
    /// What kept them from being checked again, if anything did.
    unchecked: Option<Limit>,
    /// For arbitrarily many threads: the instance that the report is about, and for which numbers it holds.
    instance: Option<(Program, CopiesRecord)>,
}

struct FenceSearch<'a> {
    options: &'a FencesOptions,
    program: &'a Program,
    sites: &'a Sites,
    /// With `--remove`: the fences that the program has, which the places are those of.
    existing: Option<&'a Existing>,
}

impl FenceSearch<'_> {
    fn engine(&self) -> Options {
        engine(self.options)
    }

    fn found(&self, session: &Session) -> Result<Found, Error> {
        let (program, places) = (&self.sites.program, self.sites.places());
        if let Some(existing) = self.existing
            && let Some(found) = self.unless_enough(existing, session)?
        {
            return Ok(found);
        }
        let (report, instance) = if is_parameterized(program) {
            let found = fences_for_every_number(program, &places, &self.engine(), session);
            match Error::unless_refused(found)? {
                Ok(decided) => {
                    let copies = CopiesRecord::new(&decided);
                    (Ok(decided.report), Some((decided.instance.into_program(), copies)))
                }
                Err(refusal) => (Err(refusal), None),
            }
        } else {
            let found = match self.existing {
                Some(_) => fences(program, &places, &self.engine(), session),
                None => self.sites.cheapest(self.program, &self.engine(), session),
            };
            (Error::unless_refused(found)?, None)
        };
        let (repairs, unchecked) = match &report {
            Ok(report) => self.checked(report, session)?,
            Err(_) => (Vec::new(), None),
        };
        Ok(Found { report, repairs, unchecked, instance })
    }

    /// The answer if the program does not have enough fences.
    fn unless_enough(&self, existing: &Existing, session: &Session) -> Result<Option<Found>, Error> {
        let report = match Error::unless_refused(existing.unless_enough(&self.engine(), session))? {
            Ok(None) => return Ok(None),
            Ok(Some(report)) => Ok(report),
            Err(refusal) => Err(refusal),
        };
        Ok(Some(Found { report, repairs: Vec::new(), unchecked: None, instance: None }))
    }

    /// The sets with their texts, each checked again.
    fn checked(&self, report: &Report, session: &Session) -> Result<(Vec<Repair>, Option<Limit>), Error> {
        let (mut repairs, mut unchecked) = (Vec::new(), None);
        let Fences::Cheapest(sets) = &report.fences else { return Ok((repairs, unchecked)) };
        for (chosen, reasons) in sets.iter().zip(&report.reasons) {
            let fenced = match self.existing {
                Some(existing) => existing.write(chosen, &self.engine(), session),
                None if chosen.is_empty() && report.is_as_read => Ok(self.sites.unchanged(self.program)),
                None => self.sites.write(self.program, chosen, &self.engine(), session),
            };
            let fenced = fenced.map_err(|failure| Error::of(&self.sites.program, failure))?;
            let (text, language, is_printed_anew) = (fenced.text, fenced.language, fenced.is_printed_anew);
            let removed = self.existing.map_or_else(Vec::new, |existing| removed(existing, chosen));
            repairs.push(Repair {
                places: places(self.sites, chosen, reasons),
                removed,
                text,
                language,
                is_printed_anew,
            });
            if let Recheck::Stopped(limit) = fenced.recheck {
                unchecked = unchecked.or(Some(limit));
            }
        }
        if repairs.is_empty() {
            return Err(Error::Bug("no set of fences was found, and no reason was given".into()));
        }
        Ok((repairs, unchecked))
    }

    /// How many fences other aims take.
    fn needs(&self, found: &Found, session: &Session) -> Result<Vec<NeedCount>, Error> {
        let count = |need: Need| {
            let copies = match &need.fences {
                Fences::Cheapest(sets) => sets.first().map_or(0, |set| copies(self.sites, set)),
                _ => 0,
            };
            NeedCount { aim: need.aim, copies, cost: need.cost, fences: need.fences }
        };
        let is_robust = |report: &Report| {
            let is_empty = |sets: &[weir::fences::text::Chosen]| sets.first().is_some_and(|set| set.is_empty());
            self.options.aim == Aim::Robust && matches!(&report.fences, Fences::Cheapest(sets) if is_empty(sets))
        };
        let of_robust = match found.report.as_ref().is_ok_and(is_robust) {
            true => needs_of_robust(self.program, session),
            false => Ok(None),
        };
        let needs = of_robust
            .transpose()
            .unwrap_or_else(|| needs(&self.sites.program, &self.sites.places(), &self.engine(), session));
        match needs {
            Ok(needs) => Ok(needs.into_iter().map(count).collect()),
            Err(failure) => Err(Error::of(&self.sites.program, failure)),
        }
    }

    /// Which attacks are feasible. None if the engine cannot handle the program.
    fn census(&self, session: &Session) -> Result<Option<Census>, Error> {
        match feasible_attacks(self.program, &self.engine().robust, session) {
            Ok((attacks, feasible, limit)) => {
                let feasible = feasible.len() as u64;
                Ok(Some(Census { attacks, feasible, limit, cpu: None, wall: Duration::ZERO }))
            }
            Err(Failure::Refused(_) | Failure::TooLarge(_)) => Ok(None),
            Err(failure) => Err(Error::of_library(failure)),
        }
    }
}
