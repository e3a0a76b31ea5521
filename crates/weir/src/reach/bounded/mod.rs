//! The engines `rounds` and `age` ("Getting Rid of Store-Buffers in TSO Analysis"): a program whose runs under SC are
//! the runs of the original under TSO [within a bound](crate::translate::bounded), searched state by state.
//!
//! Direction of error: a violation is a run of the original under TSO, mapped back and replayed. That there is none
//! within the bound says nothing about longer waits: the answer is `Unknown`, unless no run can exceed the bound
//! (`horizon.rs`).

mod horizon;

use weir_ir::{Diagnostic, EdgeId, Expr, Program, PropertyId, PropertyKind};
use weir_witness::{Checked, Goal, Model};

use super::{Engine, Options, Report, Statistics, explicit, goals, mapped_coverage};
use crate::semantics::refuse;
use crate::session::Session;
use crate::translate::Translation;
use crate::translate::bounded::{Bounded, MOST_ROUNDS, RunBound, bounded};
use crate::verdict::{Failure, Limit, Reduction, Verdict};

/// Looks for a run of `program` under TSO that reaches a goal, within the bound of the options; without one, within
/// larger and larger bounds.
pub(super) fn reach(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    let began = session.elapsed();
    if options.model == Model::Sc {
        return explicit::reach(program, options, session);
    }
    refuse::unsupported_but_spawn(program, options.engine.name())?;
    let goals = goals(program, options);
    refuse_deadlocks(program, &goals, options.engine)?;
    let asked = only_asked(program, &goals);
    let engine = Within { program, asked: &asked, goals: &goals, options, session };
    let report = match options.bound {
        Some(number) => engine.search(engine.bound(number))?,
        None => engine.search_further_and_further()?,
    };
    Ok(Report { statistics: Statistics { elapsed: session.since(began), ..report.statistics }, ..report })
}

struct Within<'a> {
    program: &'a Program,
    /// The program with nothing but the goals as properties.
    asked: &'a Program,
    goals: &'a [Goal],
    options: &'a Options,
    session: &'a Session,
}

impl Within<'_> {
    fn bound(&self, number: u32) -> RunBound {
        self.options.engine.run_bound(number).unwrap_or(RunBound::Rounds(number))
    }

    /// Raises the bound until a goal is found, or no run can exceed it, or a limit is reached.
    fn search_further_and_further(&self) -> Result<Report, Failure> {
        // With one round per thread, or with stores that never wait, there is nothing that SC could not do.
        let first = if self.options.engine == Engine::Age { 1 } else { 2 };
        let mut statistics = Statistics::default();
        let mut last = None;
        for number in first..=MOST_ROUNDS {
            let bound = self.bound(number);
            let report = match self.search(bound) {
                // States have grown too large; what was found so far stands.
                Err(Failure::TooLarge(_)) if last.is_some() => break,
                report => report?,
            };
            statistics.add(&report.statistics);
            let is_settled = !matches!(report.verdict, Verdict::Unknown(Limit::Rounds(_) | Limit::Age(_)));
            last = Some(report);
            if is_settled || horizon::is_greatest(self.program, bound) {
                break;
            }
        }
        last.map(|report| Report { statistics, ..report }).ok_or_else(|| Failure::Bug("no bound was tried".to_owned()))
    }

    /// Searches within one bound.
    fn search(&self, bound: RunBound) -> Result<Report, Failure> {
        let made = bounded(self.asked, bound, self.session)?;
        let options = Options {
            model: Model::Sc,
            engine: Engine::Explicit,
            goals: self.goals.to_vec(),
            // Most steps of the translated program are local, and none of them matters by itself.
            reduction: Reduction::Local,
            ..self.options.clone()
        };
        let doing = format!("{}: visiting states within a bound of {}", bound.name(), bound.number());
        let report = explicit::reach(&made.program, &options, &self.session.doing(&doing))?;
        let executes = |origins: &Vec<crate::translate::bounded::Origin>| -> Vec<Option<EdgeId>> {
            origins.iter().map(|origin| origin.execute).collect()
        };
        let executes: Vec<Vec<Option<EdgeId>>> = made.origins.iter().map(executes).collect();
        let coverage = mapped_coverage(self.program, &executes, &report.coverage);
        let verdict = match report.verdict {
            Verdict::Unknown(limit) => Verdict::Unknown(limit),
            Verdict::Violated(found) => Verdict::Violated(Box::new(self.mapped_back(&made, &found)?)),
            Verdict::Holds if horizon::is_never_exceeded(self.program, bound) => Verdict::Holds,
            Verdict::Holds => Verdict::Unknown(match bound {
                RunBound::Rounds(number) => Limit::Rounds(number),
                RunBound::Age(number) => Limit::Age(number),
            }),
        };
        Ok(Report::new(verdict, report.statistics, coverage))
    }

    fn mapped_back(&self, made: &Bounded, found: &Checked) -> Result<Checked, Failure> {
        let run = made.map_back(self.program, found.run());
        Checked::new(self.program, run, found.goal()).map_err(|error| {
            Failure::Bug(format!("a run of a program with bounded buffers has no counterpart in the original: {error}"))
        })
    }
}

/// The program with other properties than the goals replaced by one that always holds: these need not be supported, and
/// what they look at does not matter.
fn only_asked(program: &Program, goals: &[Goal]) -> Program {
    let mut asked = program.clone();
    for (number, property) in asked.properties.iter_mut().enumerate() {
        if !goals.contains(&Goal::Property(PropertyId::new(number))) {
            property.kind = PropertyKind::Forbid(Expr::Const(0));
        }
    }
    asked
}

/// A thread may wait only because it has reached the bound.
fn refuse_deadlocks(program: &Program, goals: &[Goal], engine: Engine) -> Result<(), Failure> {
    let properties = goals.iter().filter_map(|goal| match goal {
        Goal::Property(property) => program.properties.get(property.index()),
        Goal::Assertion(_) | Goal::NotRobust => None,
    });
    let Some(property) = properties.into_iter().find(|property| property.kind == PropertyKind::ForbidDeadlock) else {
        return Ok(());
    };
    let what = format!("`{}` cannot tell a deadlock from a thread that waits because of the bound", engine.name());
    let help = "use `--engine explicit` or `dual` for this property, and select the others with `--goal`";
    Err(Failure::Refused(Box::new(Diagnostic::error("deadlock-not-supported", what, property.span).help(help))))
}
