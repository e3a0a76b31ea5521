//! Arbitrarily many threads: what holds for every number of copies of `thread T[*]`.
//!
//! Under SC, copies of a thread cannot be told apart, so it is enough to count how many are in each local state ("Checking
//! and Enforcing Robustness against TSO", §6). The counter abstraction (`system`) is a thread transition system, and
//! whether a state with some copies in some places is reachable in *some* instance is a coverability question about it
//! (`cover`), which is decidable if data is finite. Robustness is such a question, with a monitor for attacks
//! (`monitor`) beside the program and one copy as the attacker; so is safety under SC, and a robust program is safe
//! under TSO if it is safe under SC. For programs that are not robust, the exact engine (`reach::dual`) decides
//! safety under TSO, with copies and their load buffers in place of counters.
//!
//! If the answer is that a violation exists, its run is found in an instance: instances grow until one shows it, so that
//! the number of copies reported is the smallest. Whatever the abstraction does not decide is looked for in small
//! instances, too.
//!
//! Direction of error: none. `Holds` means that the backward search ended without reaching an initial state; a violation
//! is a run of an instance that `weir-witness` has replayed.

mod cover;
mod monitor;
#[cfg(test)]
mod nets;
mod proof;
mod reach;
mod safety;
pub(crate) mod state;
pub(crate) mod step;
mod system;
mod targets;

use weir_ir::Program;

use crate::bounds::Bound;
use crate::robust::{self, attacks_of};
use crate::semantics::refuse;
use crate::session::Session;
use crate::translate::Translation;
use crate::translate::instantiate::{Instance, instantiate, templates};
use crate::verdict::{Failure, Limit, Statistics, Verdict};
use cover::{Cover, cover};
pub(crate) use proof::{NoProof, prove};
pub use reach::reach;
pub use safety::check;
use step::Code;
use system::{Incomplete, System};

/// An answer about a program with arbitrarily many threads.
#[derive(Clone, Debug)]
pub struct Decided<R> {
    /// The smallest instance that shows a violation, if one was found; any other, if not.
    pub instance: Instance,
    /// Whether the report holds for every number of copies, and not just for this instance.
    pub for_every_number: bool,
    /// The report: about the program itself if it holds for every number, else about the instance.
    pub report: R,
}

/// Whether the program has threads of which there are arbitrarily many.
pub fn is_parameterized(program: &Program) -> bool {
    templates(program).next().is_some()
}

/// Checks whether every instance of `program` is robust.
///
/// # Errors
/// If the engine does not support the program, or if an invariant of Weir is broken.
pub fn robust(
    program: &Program,
    options: &robust::Options,
    session: &Session,
) -> Result<Decided<robust::Report>, Failure> {
    refuse::unsupported_templates(program)?;
    let began = session.elapsed();
    let doing = session.doing("robust: counting copies");
    let attacks = match attacks_of(program, &program.initial_threads().collect::<Vec<_>>(), &doing) {
        Ok(attacks) => attacks,
        Err(limit) => return Ok(undecided(program, robust::Report::unknown(limit, session.since(began)))),
    };
    let (found, mut statistics) = attack(program, attacks.open.is_empty(), (most(&doing), &doing));
    statistics.elapsed = session.since(began);
    let most = match found {
        Ok(Cover::Unreachable) => {
            let report = robust::Report::holding(attacks, statistics);
            return Ok(Decided { instance: smallest(program), for_every_number: true, report });
        }
        Ok(Cover::Reachable(copies)) => copies as u32,
        Err(_) => session.bound(Bound::InstanceCopies) as u32,
    };
    for instance in instances(program, most) {
        // An instance may well be larger than what can be searched. The next ones are larger still.
        let report = robust::robust(instance.program(), options, session)?;
        match &report.verdict {
            Verdict::Holds => {}
            Verdict::Violated(_) | Verdict::Unknown(_) => {
                return Ok(Decided { instance, for_every_number: false, report });
            }
        }
    }
    match found {
        Ok(_) => Err(Failure::Bug("no instance shows the attack that the counter abstraction has found".into())),
        Err(incomplete) => Ok(undecided(program, robust::Report::unknown(incomplete.limit(), session.since(began)))),
    }
}

/// Whether some instance has a feasible attack.
fn attack(
    program: &Program,
    is_ruled_out: bool,
    (most, session): (u64, &Session),
) -> (Result<Cover, Incomplete>, Statistics) {
    if is_ruled_out {
        return (Ok(Cover::Unreachable), Statistics::default());
    }
    // What properties observe need not be kept.
    let bare = Program { properties: Vec::new(), ..program.clone() };
    let code = Code::new(&bare, &|_, _| false, true);
    match System::new(&code, most, session) {
        Ok(system) => {
            let found = cover(&system, &targets::attacks(&system), most, session);
            (found, statistics(&system))
        }
        Err(incomplete) => (Err(incomplete), Statistics::default()),
    }
}

/// How many states and moves may be found.
fn most(session: &Session) -> u64 {
    session.bound(Bound::CoverStates).min(session.states_left())
}

fn statistics(system: &System) -> Statistics {
    let transitions = system.table.moves_into.iter().map(Vec::len).sum::<usize>() as u64;
    Statistics { states: system.controls.len() as u64, transitions, ..Statistics::default() }
}

impl Incomplete {
    fn limit(self) -> Limit {
        match self {
            Self::TooLarge => Limit::States,
            Self::Stopped(limit) => limit,
        }
    }
}

fn undecided<R>(program: &Program, report: R) -> Decided<R> {
    Decided { instance: smallest(program), for_every_number: false, report }
}

/// The instance with one copy of each thread.
fn smallest(program: &Program) -> Instance {
    instantiate(program, &vec![1; templates(program).count()])
}

/// The instances with at most so many copies altogether, smallest first. Without any other thread, there is at least
/// one copy.
fn instances(program: &Program, most: u32) -> impl Iterator<Item = Instance> {
    let count = templates(program).count();
    let has_others = program.running_threads().next().is_some();
    let first = if has_others { 0 } else { 1 };
    (first..=most).flat_map(move |total| shares(total, count)).map(|numbers| instantiate(program, &numbers))
}

/// All ways to share out a total, in descending order, one at a time: there may be very many.
fn shares(total: u32, among: usize) -> impl Iterator<Item = Vec<u32>> {
    let first = (among > 0).then(|| {
        let mut first = vec![0; among];
        first[0] = total;
        first
    });
    std::iter::successors(first, |share| next_share(share))
}

/// The next smaller way to share out the same total: the last number that can give one away does so, and all that
/// follows it moves up to the next place.
fn next_share(share: &[u32]) -> Option<Vec<u32>> {
    let (last, front) = share.split_last()?;
    let giving = front.iter().rposition(|&number| number > 0)?;
    let mut next = share.to_vec();
    next[giving] -= 1;
    *next.last_mut()? = 0;
    next[giving + 1] = last + 1;
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shares_come_once_and_in_order() {
        let all = |total, among| shares(total, among).collect::<Vec<_>>();
        assert_eq!(all(2, 1), [[2]]);
        assert_eq!(all(0, 3), [[0, 0, 0]]);
        assert_eq!(all(2, 3), [[2, 0, 0], [1, 1, 0], [1, 0, 1], [0, 2, 0], [0, 1, 1], [0, 0, 2]]);
        assert!(all(2, 0).is_empty());
        // As many as there are ways to put three bars between five stars.
        let five = all(5, 4);
        assert_eq!(five.len(), 56);
        assert!(five.is_sorted_by(|one, next| one > next) && five.iter().all(|share| share.iter().sum::<u32>() == 5));
    }

    #[test]
    fn shares_of_very_many_templates_are_not_listed_beforehand() {
        assert_eq!(shares(1_000, 1_000).take(3).count(), 3);
    }
}
