//! `weir fences`: the cheapest fences that make a program robust.

use std::time::Duration;

use weir::fences::{Aim, Fences, Options, Place, Recheck, Report, feasible_attacks, fences, recheck};
use weir::robust::{Attack, Attacks};
use weir::{Failure, Limit, Session};
use weir_ir::{Diagnostic, Program};
use weir_witness::Goal;

use super::Task;
use super::analysis;
use crate::args::{AimName, FencesOptions, PlainFormat, RunFormat};
use crate::console::Console;
use crate::exit::Status;
use crate::fences::{Chosen, Costs, Repair, Sites, in_own_language, inserted};
use crate::json::CommandName;
use crate::load::load;
use crate::trouble::Trouble;
use crate::{cpu, render};

/// Everything known about one file, for the renderers.
pub(crate) struct Finding<'a> {
    /// What was asked.
    pub(crate) options: &'a FencesOptions,
    /// The program as it was read.
    pub(crate) program: &'a Program,
    /// Warnings and notes about the program.
    pub(crate) warnings: &'a [Diagnostic],
    /// The places that were offered.
    pub(crate) sites: &'a Sites,
    /// The answer.
    pub(crate) outcome: Outcome,
    /// How it came about. None if the engine cannot handle the program.
    pub(crate) report: Option<Report>,
    /// Every feasible attack, if they were asked for.
    pub(crate) census: Option<Census>,
}

/// An answer.
pub(crate) enum Outcome {
    /// Cheapest sets of fences; at least one. The only one is empty if no fence is needed.
    Found {
        /// The sets.
        repairs: Vec<Repair>,
        /// What kept them from being checked again, if anything did.
        unchecked: Option<Limit>,
    },
    /// No place lies between the store and the load of this attack.
    Nowhere(Attack),
    /// No fence helps: this goal can be reached without any store waiting.
    Hopeless(Goal),
    /// This goal can be reached by a run in which stores wait, but only where there is no place for a fence.
    NoPlace(Goal),
    /// The search stopped before it knew.
    Stopped(Limit),
    /// The engine cannot handle something in the program.
    Refused(Box<Diagnostic>),
}

impl Outcome {
    fn status(&self) -> Status {
        match self {
            Self::Found { .. } => Status::Holds,
            Self::Hopeless(_) => Status::Violated,
            Self::Nowhere(_) | Self::NoPlace(_) | Self::Stopped(_) | Self::Refused(_) => Status::Unknown,
        }
    }
}

/// What became of every attack.
pub(crate) struct Census {
    /// All of them.
    pub(crate) attacks: Attacks,
    /// How many are feasible.
    pub(crate) feasible: u64,
    /// What came before all were decided, if anything did.
    pub(crate) limit: Option<Limit>,
    /// Processor time up to here, where the system tells.
    pub(crate) cpu: Option<Duration>,
    /// Time up to here.
    pub(crate) wall: Duration,
}

/// Runs it.
pub(super) fn run(options: &FencesOptions, console: &mut Console) -> Status {
    let format = match options.format {
        PlainFormat::Text => RunFormat::Text,
        PlainFormat::Json => RunFormat::Json,
    };
    analysis::each_file(CommandName::Fences, (&options.files, format), console, |task, console| {
        one(task, options, console)
    })
}

fn one(task: &Task<'_>, options: &FencesOptions, console: &mut Console) -> Result<Status, Trouble> {
    let cpu_before = cpu::time();
    let loaded = load(task.file, &options.program)?;
    let (program, warnings) = (&loaded.program, loaded.warnings.as_slice());
    if !task.is_json {
        console.diagnostics(&program.source, warnings);
    }
    let costs = Costs::read(&options.cost)?;
    let mut sites = Sites::of(program, loaded.language, &options.program.defines)?;
    let (outcome, report, census) = analysis::watched(task, &options.limits, console, |session| {
        sites.price(&costs, session)?;
        let hunt = Hunt { options, program, sites: &sites };
        let (outcome, report) = hunt.answer(session)?;
        let census = options.stats.then(|| hunt.census(session)).transpose()?.flatten();
        Ok((outcome, report, census))
    })?;
    let census = census.map(|census| Census {
        cpu: cpu::time().zip(cpu_before).map(|(now, before)| now.saturating_sub(before)),
        wall: task.started.elapsed(),
        ..census
    });
    let finding = Finding { options, program, warnings, sites: &sites, outcome, report, census };
    match options.format {
        PlainFormat::Json => console.json(&render::fences::json::answer(task, &finding)),
        PlainFormat::Text if options.write => render::fences::write(&finding, console),
        PlainFormat::Text => render::fences::show(&finding, console),
    }
    Ok(finding.outcome.status())
}

struct Hunt<'a> {
    options: &'a FencesOptions,
    program: &'a Program,
    sites: &'a Sites,
}

impl Hunt<'_> {
    fn engine(&self) -> Options {
        let aim = match self.options.aim {
            AimName::Robust => Aim::Robust,
            AimName::Trf => Aim::RaceFree,
            AimName::Safe => Aim::Safe,
        };
        let jobs = analysis::jobs(&self.options.limits);
        Options { aim, robust: weir::robust::Options { jobs, ..Default::default() }, all: self.options.all }
    }

    fn answer(&self, session: &Session) -> Result<(Outcome, Option<Report>), Trouble> {
        let places: Vec<Place> = self.sites.list.iter().map(|site| site.place.clone()).collect();
        let report = match fences(&self.sites.program, &places, &self.engine(), session) {
            Ok(report) => report,
            Err(Failure::Refused(diagnostic)) => return Ok((Outcome::Refused(diagnostic), None)),
            Err(Failure::Bug(what)) => return Err(Trouble::Bug(what)),
        };
        let outcome = match &report.fences {
            Fences::Nowhere(attack) => Outcome::Nowhere(*attack),
            Fences::NotByFences(goal) => Outcome::Hopeless(*goal),
            Fences::NoPlace(goal) => Outcome::NoPlace(*goal),
            Fences::Stopped(limit) => Outcome::Stopped(*limit),
            Fences::Cheapest(sets) => self.checked(sets, session)?,
        };
        Ok((outcome, Some(report)))
    }

    /// The sets with their texts, each checked again.
    fn checked(&self, sets: &[Chosen], session: &Session) -> Result<Outcome, Trouble> {
        let (mut repairs, mut unchecked) = (Vec::new(), None);
        for chosen in sets {
            let (repair, recheck) = self.repair(chosen, session)?;
            repairs.push(repair);
            if let Recheck::Stopped(limit) = recheck {
                unchecked = unchecked.or(Some(limit));
            }
        }
        if repairs.is_empty() {
            return Err(Trouble::Bug("no set of fences was found, and no reason was given".into()));
        }
        Ok(Outcome::Found { repairs, unchecked })
    }

    fn repair(&self, chosen: &Chosen, session: &Session) -> Result<(Repair, Recheck), Trouble> {
        // Without fences the text stays as it is, whatever a printer would make of it.
        if chosen.is_empty() {
            let text = self.program.source.text().to_owned();
            let recheck = recheck(self.program, [], &self.engine(), session);
            let recheck = recheck.map_err(|failure| Trouble::of(self.program, failure))?;
            return Ok((Repair { chosen: chosen.clone(), text, is_own_language: true }, recheck));
        }
        if let Some((text, recheck)) = self.in_own_language(chosen, session)? {
            return Ok((Repair { chosen: chosen.clone(), text, is_own_language: true }, recheck));
        }
        let fenced = inserted(self.sites, chosen);
        let reduced = without_each(chosen).map(|fewer| inserted(self.sites, &fewer));
        let recheck = recheck(&fenced, reduced, &self.engine(), session)
            .map_err(|failure| Trouble::of(&self.sites.program, failure))?;
        let text = weir_syntax::weir::print::print(&fenced);
        Ok((Repair { chosen: chosen.clone(), text, is_own_language: false }, recheck))
    }

    /// The text with the fences written in, if it reads as what was found.
    fn in_own_language(&self, chosen: &Chosen, session: &Session) -> Result<Option<(String, Recheck)>, Trouble> {
        let write = |chosen: &Chosen| in_own_language(self.sites, chosen, &self.options.program.defines);
        let reduced: Option<Vec<Program>> = without_each(chosen).map(|fewer| Some(write(&fewer)?.program)).collect();
        let checked = match (write(chosen), reduced) {
            (Some(mended), Some(reduced)) => recheck(&mended.program, reduced, &self.engine(), session)
                .map(|recheck| (mended.text, recheck))
                .map_err(|failure| Trouble::of(&mended.program, failure)),
            _ => Err(Trouble::Bug("the program with its fences cannot be read".into())),
        };
        match checked {
            Ok(checked) => Ok(Some(checked)),
            // In Weir's own language every place is one of the text. In others, tables and macros can stand in the way.
            Err(trouble) if self.sites.language == weir_syntax::Language::Weir => Err(trouble),
            Err(_) => Ok(None),
        }
    }

    /// Which attacks are feasible. None if the engine cannot handle the program.
    fn census(&self, session: &Session) -> Result<Option<Census>, Trouble> {
        match feasible_attacks(self.program, &self.engine().robust, session) {
            Ok((attacks, feasible, limit)) => {
                let feasible = feasible.len() as u64;
                Ok(Some(Census { attacks, feasible, limit, cpu: None, wall: Duration::ZERO }))
            }
            Err(Failure::Refused(_)) => Ok(None),
            Err(Failure::Bug(what)) => Err(Trouble::Bug(what)),
        }
    }
}

fn without_each(chosen: &Chosen) -> impl Iterator<Item = Chosen> {
    chosen.iter().map(|left_out| chosen.iter().copied().filter(|number| number != left_out).collect())
}
