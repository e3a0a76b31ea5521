//! Fences for arbitrarily many threads.
//!
//! A fence in the code of `thread T[*]` is one in every copy. The cheapest set for one instance cannot be cheaper than
//! the cheapest set for all of them. So: take the cheapest set for the smallest instance that is not robust. If it makes
//! every instance robust, no cheaper set does. If not, there is an instance for which it is not enough: go on with that.

use weir_ir::{Diagnostic, Program, ThreadId};

use super::{Aim, Fences, Options, Place, Report, fences};
use crate::parameterized::{Decided, robust};
use crate::session::Session;
use crate::translate::Translation;
use crate::translate::insert_fences_after;
use crate::translate::instantiate::{Instance, instantiate, templates};
use crate::verdict::{Failure, Verdict};

/// Finds the cheapest fences at the given places that make every instance of `program` robust. Attacks and reasons in the
/// report are always those of the instance.
///
/// # Errors
/// If the engine does not support the program or the aim, or if an invariant of Weir is broken.
pub fn fences_for_every_number(
    program: &Program,
    places: &[Place],
    options: &Options,
    session: &Session,
) -> Result<Decided<Report>, Failure> {
    if options.aim != Aim::Robust {
        return Err(Failure::Refused(Box::new(only_robust(program))));
    }
    let mut instance = robust(program, &options.robust, session)?.instance;
    loop {
        let report = fences(instance.program(), &in_instance(&instance, places), options, session)?;
        let set = match &report.fences {
            Fences::Cheapest(sets) => sets.first().ok_or_else(|| Failure::Bug("there is no cheapest set".into()))?,
            _ => return Ok(Decided { instance, for_every_number: false, report }),
        };
        let after = set.iter().flat_map(|&place| places[place].after.iter().copied()).collect();
        let again = robust(&insert_fences_after(program, &after).program, &options.robust, session)?;
        match again.report.verdict {
            // For this instance alone no cheaper set is enough.
            Verdict::Holds => return Ok(Decided { instance, for_every_number: true, report }),
            Verdict::Unknown(limit) => {
                let report = Report { fences: Fences::Stopped(limit), ..report };
                return Ok(Decided { instance, for_every_number: false, report });
            }
            Verdict::Violated(_) => instance = larger(program, &instance, &again.instance)?,
        }
    }
}

/// The places with the steps of all copies.
fn in_instance(instance: &Instance, places: &[Place]) -> Vec<Place> {
    let copies = |thread: ThreadId| {
        let program = instance.program();
        program.thread_ids().filter(move |&copy| instance.origin(copy) == thread)
    };
    let place = |place: &Place| {
        let after = place.after.iter().flat_map(|&(thread, edge)| copies(thread).map(move |copy| (copy, edge)));
        Place { after: after.collect(), cost: place.cost }
    };
    places.iter().map(place).collect()
}

/// An instance with as many copies as either has.
fn larger(program: &Program, one: &Instance, other: &Instance) -> Result<Instance, Failure> {
    let numbers = |instance: &Instance| instance.copies().iter().map(|&(_, number)| number).collect::<Vec<_>>();
    let joined: Vec<u32> = numbers(one).into_iter().zip(numbers(other)).map(|(one, other)| one.max(other)).collect();
    if joined == numbers(one) {
        return Err(Failure::Bug("the cheapest fences of an instance are not enough for it".into()));
    }
    Ok(instantiate(program, &joined))
}

fn only_robust(program: &Program) -> Diagnostic {
    let thread = templates(program).next();
    let span = thread.map_or_else(Default::default, |thread| program.thread(thread).span);
    let what = "for arbitrarily many threads, fences can be found for robustness only";
    Diagnostic::error("arbitrary-threads", what, span)
        .help("leave out `--for`, or ask about a fixed number of copies with `-D 'T[*]=3'`")
}
