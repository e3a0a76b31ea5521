//! The oracle: where store buffers might matter. It is the check for robustness.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::{Builder, ScopedJoinHandle};

use weir_ir::{EdgeId, Gather, ThreadId};

use super::super::{Options, Statistics};
use crate::robust::{self, Answer, Attack, AttackRun, Checker, Covered, Effect, Question};
use crate::session::Session;
use crate::translate::delay::{DelayPath, Extended, Note};
use crate::verdict::{Failure, Limit};

/// What the oracle says.
pub(super) enum Witnesses {
    /// These paths; none if the program is robust.
    Found(Vec<DelayPath>),
    Stopped(Limit),
}

/// A path along which delaying breaks robustness, as steps of the extended program.
pub(super) fn one(
    extended: &Extended,
    options: &Options,
    session: &Session,
) -> Result<(Witnesses, Statistics), Failure> {
    let Some(checker) = checker(extended, true, session)? else { return Ok(too_large()) };
    let attacks = match checker.attacks(session) {
        Ok(attacks) => attacks.open.into_iter().gather(),
        Err(limit) => return Ok((Witnesses::Stopped(limit), Statistics::default())),
    };
    let question = Question { attacks, ..Question::default() };
    let (answer, statistics) = checker.decide(question, &robust_options(options), session)?;
    let witnesses = match answer {
        Answer::Infeasible => Witnesses::Found(Vec::new()),
        Answer::Stopped(limit) => Witnesses::Stopped(limit),
        Answer::Feasible(attack_run) => {
            Witnesses::Found(attack_run.path().map(|(thread, edges)| DelayPath { thread, edges }).into_iter().collect())
        }
    };
    Ok((witnesses, statistics))
}

/// Paths of the original program that are not part of those given and along which delaying breaks robustness of the
/// program that was extended by those: at least one if there is any, and at most one for each thread.
pub(super) fn uncovered(
    extended: &Extended,
    paths: &[DelayPath],
    options: &Options,
    session: &Session,
) -> Result<(Witnesses, Statistics), Failure> {
    let Some(checker) = checker(extended, !paths.is_empty(), session)? else { return Ok(too_large()) };
    let attacks = match checker.attacks(session) {
        Ok(attacks) => attacks.open.into_iter().gather(),
        Err(limit) => return Ok((Witnesses::Stopped(limit), Statistics::default())),
    };
    let oracle = Oracle::new(extended, paths, &checker, attacks);
    let (first, mut statistics) = checker.decide(oracle.question(|_| true), &robust_options(options), session)?;
    let (attacker, first) = match first {
        Answer::Infeasible => return Ok((Witnesses::Found(Vec::new()), statistics)),
        Answer::Stopped(limit) => return Ok((Witnesses::Stopped(limit), statistics)),
        Answer::Feasible(attack_run) => match oracle.path(&attack_run, session) {
            Some(path) => (path.thread, path),
            None => return Err(Failure::Bug("a violation of robustness has no delayed store".to_owned())),
        },
    };
    let mut found = vec![first];
    let others: Vec<ThreadId> = oracle.attackers().into_iter().filter(|&thread| thread != attacker).collect();
    for answer in oracle.decide_each(&others, options, session) {
        let (answer, used) = answer?;
        statistics.add(&used);
        // A limit here ends nothing: one path is enough for the next round, which will run into the limit itself.
        if let Answer::Feasible(attack_run) = answer {
            found.extend(oracle.path(&attack_run, session));
        }
    }
    Ok((Witnesses::Found(found), statistics))
}

/// The program made ready; `None` if it has grown too large.
fn checker(extended: &Extended, is_extended: bool, session: &Session) -> Result<Option<Checker>, Failure> {
    match Checker::of_extended(&extended.program, &extended.keeps_back(), session) {
        Err(Failure::TooLarge(_)) if is_extended => Ok(None),
        result => result.map(Some),
    }
}

fn too_large() -> (Witnesses, Statistics) {
    (Witnesses::Stopped(Limit::Extensions), Statistics::default())
}

fn robust_options(options: &Options) -> robust::Options {
    robust::Options { jobs: options.jobs, ..robust::Options::default() }
}

struct Oracle<'a> {
    extended: &'a Extended,
    paths: &'a [DelayPath],
    checker: &'a Checker,
    everything: Question,
}

impl<'a> Oracle<'a> {
    fn new(extended: &'a Extended, paths: &'a [DelayPath], checker: &'a Checker, attacks: BTreeSet<Attack>) -> Self {
        let mut fenced = BTreeSet::new();
        for (thread, origins) in extended.origins.iter().enumerate() {
            let enters = origins.iter().enumerate().filter(|(_, origin)| origin.note == Note::Enters);
            // A thread that already delays gains nothing from a path: what it would keep back there waits anyway.
            fenced.extend(enters.map(|(edge, _)| (ThreadId::new(thread), EdgeId::new(edge))));
        }
        let mut covered = BTreeMap::new();
        for path in paths {
            covered.entry(path.thread).or_insert_with(|| Arc::new(covering(extended, paths, path.thread)));
        }
        Self { extended, paths, checker, everything: Question { attacks, fenced, covered } }
    }

    /// The question about the attacks of some threads.
    fn question(&self, whose: impl Fn(ThreadId) -> bool) -> Question {
        let attacks = self.everything.attacks.iter().copied().filter(|attack| whose(attack.thread)).gather();
        Question { attacks, ..self.everything.clone() }
    }

    fn attackers(&self) -> BTreeSet<ThreadId> {
        self.everything.attacks.iter().map(|attack| attack.thread).gather()
    }

    /// Decides the question for each thread, several at a time. The answers do not depend on how many.
    fn decide_each(
        &self,
        threads: &[ThreadId],
        options: &Options,
        session: &Session,
    ) -> Vec<Result<(Answer, Statistics), Failure>> {
        // Each gets its share, so that all together keep to the limit.
        let share = session.share_of_states(threads.len());
        let decide = |&thread: &ThreadId, jobs: NonZeroUsize| {
            let options = robust::Options { jobs, ..robust::Options::default() };
            self.checker.decide(self.question(|asked| asked == thread), &options, &session.part(share))
        };
        let jobs = options.jobs.get();
        let mut answers = Vec::new();
        for batch in threads.chunks(jobs) {
            let each = NonZeroUsize::new(jobs / batch.len()).unwrap_or(NonZeroUsize::MIN);
            if let [only] = batch {
                answers.push(decide(only, each));
                continue;
            }
            let decide = &decide;
            answers.extend(std::thread::scope(|scope| {
                let start = |thread| Builder::new().spawn_scoped(scope, move || decide(thread, each));
                let workers: Vec<_> = batch.iter().map(|thread| (thread, start(thread))).collect();
                let broken = || Err(Failure::Bug("a worker of the oracle ended early".to_owned()));
                let finish = |(thread, worker): (_, std::io::Result<ScopedJoinHandle<'_, _>>)| match worker {
                    Ok(worker) => worker.join().unwrap_or_else(|_| broken()),
                    // No further thread can be started.
                    Err(_) => decide(thread, each),
                };
                workers.into_iter().map(finish).collect::<Vec<_>>()
            }));
        }
        answers
    }

    /// The path along which an attack delays, in the original program. It begins as early as the same run allows: a
    /// longer path covers all its parts, and loops are gone through as a whole.
    fn path(&self, attack_run: &AttackRun, session: &Session) -> Option<DelayPath> {
        let (thread, _) = attack_run.path()?;
        let origins = &self.extended.origins[thread.index()];
        let is_own =
            |edge: EdgeId| origins[edge.index()].execute.is_some_and(|_| is_own_code(self.extended, thread, edge));
        let attack_run = attack_run.with_earlier_begin(&self.extended.program, is_own, session);
        let (_, way) = attack_run.path()?;
        let mut edges = Vec::new();
        for edge in way {
            let origin = origins[edge.index()];
            if let Note::Leaves { path, position } = origin.note {
                edges = self.paths[path].edges[..=position].to_vec();
            }
            edges.extend(origin.execute);
        }
        Some(DelayPath { thread, edges })
    }
}

/// Whether an edge is of the thread's own code.
fn is_own_code(extended: &Extended, thread: ThreadId, edge: EdgeId) -> bool {
    extended.is_own(thread, extended.program.body(thread).edge(edge).from)
        && extended.origins[thread.index()][edge.index()].note == Note::Nothing
}

/// The paths of a thread as words, and what its edges mean for them.
fn covering(extended: &Extended, paths: &[DelayPath], thread: ThreadId) -> Covered {
    let own: Vec<usize> = (0..paths.len()).filter(|&path| paths[path].thread == thread).collect();
    let words: Vec<Vec<u32>> = own.iter().map(|&path| paths[path].edges.iter().map(|edge| edge.0).collect()).collect();
    let effect = |origin: &crate::translate::delay::Origin| match (origin.execute, origin.note) {
        (Some(edge), _) => Effect::Read(edge.0),
        (None, Note::Leaves { path, position }) => {
            Effect::Reset(own.iter().position(|&other| other == path).unwrap_or(0), position)
        }
        (None, _) => Effect::Keep,
    };
    Covered::new(&words, extended.origins[thread.index()].iter().map(effect).collect())
}
