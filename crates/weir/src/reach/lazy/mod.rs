//! The lazy engine ("Lazy TSO Reachability"): stores wait only where that can matter.
//!
//! It asks whether a goal is reachable under SC. If not, it asks whether the program is robust: then TSO reaches
//! nothing else. If it is not, the run that shows it delays a store past a load along some path; the program is
//! [extended](crate::translate::delay) so that it can do that under SC, too, and the same questions are asked again.
//!
//! Direction of error: none. A run that reaches a goal is mapped back to a run of the original program under TSO, and
//! replayed. `Holds` means that no store can be delayed any more in a way that the extended program does not show under
//! SC already. There are programs for which the rounds never end: then a limit does, with `Unknown`.

mod first;
mod keep;
mod oracle;

pub(crate) use first::MOST_TIMES;

use weir_ir::{Diagnostic, EdgeId, Program, PropertyKind};
use weir_witness::{Checked, Goal, Model};

use super::{Coverage, Engine, Options, Report, Search, Statistics, explicit, goals, mapped_coverage};
use crate::bounds::Bound;
use crate::semantics::refuse;
use crate::session::Session;
use crate::translate::Translation;
use crate::translate::delay::{DelayPath, Extended, Origin};
use crate::verdict::{Failure, Limit, Verdict};

/// How the program is extended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Form {
    /// Keeps the code, and adds what TSO can do along several paths per round.
    #[default]
    Keep,
    /// Algorithm 1 of the paper: one path in each round, and its first store is removed from the code. Programs with
    /// cycles are unrolled, further and further, so that it can find goals there, but not prove that there are none.
    First,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Keep, Self::First];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::First => "first",
        }
    }

    /// What it does, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Keep => "Keeps the code, and adds what store buffers can do along several paths per round",
            Self::First => {
                "Extends by one path per round and removes its first store: the algorithm as published, for comparison"
            }
        }
    }
}

/// Options of the lazy engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LazyOptions {
    /// How the program is extended.
    pub form: Form,
    /// Maximum number of rounds.
    pub rounds: usize,
}

impl Default for LazyOptions {
    fn default() -> Self {
        Self { form: Form::default(), rounds: 1000 }
    }
}

/// One round: what was added to the program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Round {
    /// The paths along which stores can be delayed from now on, as steps of the original program.
    pub added: Vec<DelayPath>,
}

/// Looks for a run of `program` under TSO that reaches a goal.
pub(super) fn reach(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    let began = session.elapsed();
    if options.model == Model::Sc {
        return explicit::reach(program, options, session);
    }
    refuse::unsupported_by(program, refuse::Who::Engine("lazy"))?;
    let mut engine = Lazy {
        program,
        goals: goals(program, options),
        options,
        session,
        statistics: Statistics::default(),
        rounds: Vec::new(),
    };
    engine.refuse_deadlocks()?;
    let (verdict, coverage) = match options.lazy.form {
        Form::Keep => engine.keep()?,
        Form::First => engine.first()?,
    };
    let statistics = Statistics { elapsed: session.since(began), ..engine.statistics };
    Ok(Report { rounds: engine.rounds, ..Report::new(verdict, statistics, coverage) })
}

/// A verdict, with what was executed.
type Answer = (Verdict<Box<Checked>>, Coverage);

/// The engine at work.
struct Lazy<'a> {
    program: &'a Program,
    goals: Vec<Goal>,
    options: &'a Options,
    session: &'a Session,
    statistics: Statistics,
    rounds: Vec<Round>,
}

impl Lazy<'_> {
    /// Where locks are used, deadlocks are not a matter of drained states: a store that waits for a lock which nobody
    /// gives back can be one under SC and none under TSO, and the other way round.
    fn refuse_deadlocks(&self) -> Result<(), Failure> {
        let Some(span) = self.deadlock_goal() else { return Ok(()) };
        if !self.program.uses_lock() {
            return Ok(());
        }
        let what = "`lazy` cannot decide deadlocks in a program that uses the lock";
        let help = "use `--engine explicit` for this property, and select the others with `--goal`";
        Err(Failure::Refused(Box::new(Diagnostic::error("deadlock-with-locks", what, span).help(help))))
    }

    /// Where the property about deadlocks stands, if it is looked for.
    fn deadlock_goal(&self) -> Option<weir_ir::Span> {
        let asked = self.goals.iter().filter_map(|goal| match goal {
            Goal::Property(property) => self.program.properties.get(property.index()),
            _ => None,
        });
        asked.filter(|property| property.kind == PropertyKind::ForbidDeadlock).map(|property| property.span).next()
    }

    /// Whether a goal is reachable in the extended program under SC; mapped back if so.
    fn search(&mut self, extended: &Extended) -> Result<Answer, Failure> {
        let idling = self.deadlock_goal().map(|_| {
            let mut idling = extended.clone();
            idling.idle();
            idling
        });
        let extended = idling.as_ref().unwrap_or(extended);
        let options = Options {
            model: Model::Sc,
            engine: Engine::Explicit,
            search: Search::BreadthFirst,
            goals: self.goals.clone(),
            ..self.options.clone()
        };
        let session = self.session.doing(&format!("round {}: searching without buffers", self.rounds.len() + 1));
        let report = match explicit::reach_with(&extended.program, &extended.keeps_back(), &options, &session) {
            Err(Failure::TooLarge(_)) if !self.rounds.is_empty() => {
                return Ok((Verdict::Unknown(Limit::Extensions), Coverage::default()));
            }
            result => result?,
        };
        self.statistics.add(&report.statistics);
        let executes = |origins: &Vec<Origin>| origins.iter().map(|origin| origin.execute).collect();
        let executes: Vec<Vec<Option<EdgeId>>> = extended.origins.iter().map(executes).collect();
        let coverage = mapped_coverage(self.program, &executes, &report.coverage);
        let verdict = match report.verdict {
            Verdict::Holds => Verdict::Holds,
            Verdict::Unknown(limit) => Verdict::Unknown(limit),
            Verdict::Violated(found) => {
                let checked = Checked::new(self.program, extended.map_back(self.program, found.run()), found.goal());
                Verdict::Violated(Box::new(checked.map_err(|error| {
                    Failure::Bug(format!("a run of an extended program has no counterpart in the original: {error}"))
                })?))
            }
        };
        Ok((verdict, coverage))
    }

    /// The session while the oracle is asked.
    fn looking(&self) -> Session {
        self.session.doing(&format!("round {}: looking for delays", self.rounds.len() + 1))
    }

    /// Whether one more round may begin, given the program so far.
    fn may_go_on(&self, extended: &Extended) -> bool {
        let edges: usize = extended.origins.iter().map(Vec::len).sum();
        self.rounds.len() < self.options.lazy.rounds && edges < self.session.size_bound(Bound::LazyEdges)
    }
}
