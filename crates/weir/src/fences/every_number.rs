//! Fences for arbitrarily many threads.
//!
//! A fence in the code of `thread T[*]` is one in every copy. The cheapest set for one instance cannot be cheaper than
//! the cheapest set for all of them. So: take the cheapest set for the smallest instance that is not robust. If it makes
//! every instance robust, no cheaper set does. If none of the cheapest sets that were found does, there is an instance for
//! which it is not enough: go on with that.

use std::collections::BTreeSet;

use weir_ir::{Diagnostic, Gather, Program, ThreadId};

use super::{Aim, Fences, Options, Place, Report, fences};
use crate::parameterized::{self, Decided};
use crate::robust;
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
    let mut instance = parameterized::robust(program, &options.robust, session)?.instance;
    loop {
        let mut report = fences(instance.program(), &in_instance(&instance, places), options, session)?;
        let Fences::Cheapest(sets) = &report.fences else {
            return Ok(Decided { instance, for_every_number: false, report });
        };
        let mut enough = Vec::new();
        let mut next = None;
        for set in sets {
            let decided = fenced(program, places, set, options, session)?;
            match decided.report.verdict {
                Verdict::Holds => {}
                Verdict::Unknown(limit) => {
                    report.fences = Fences::Stopped(limit);
                    return Ok(Decided { instance, for_every_number: false, report });
                }
                Verdict::Violated(_) => next = Some(decided.instance),
            }
            enough.push(decided.for_every_number);
        }
        match next {
            // For this instance alone no cheaper set is enough, and every set of the same cost is among these.
            _ if enough.contains(&true) => {
                keep(&mut report, &enough);
                return Ok(Decided { instance, for_every_number: true, report });
            }
            Some(shown) => instance = larger(program, &instance, &shown)?,
            None => return Err(Failure::Bug("there is no cheapest set".into())),
        }
    }
}

/// Whether these places make every instance robust.
fn fenced(
    program: &Program,
    places: &[Place],
    set: &BTreeSet<usize>,
    options: &Options,
    session: &Session,
) -> Result<Decided<robust::Report>, Failure> {
    let after = set.iter().flat_map(|&place| places[place].after.iter().copied()).gather();
    parameterized::robust(&insert_fences_after(program, &after).program, &options.robust, session)
}

/// Keeps those sets of the instance that are enough for every instance, and the reasons for their fences.
fn keep(report: &mut Report, enough: &[bool]) {
    let mut is_kept = enough.iter();
    report.reasons.retain(|_| is_kept.next().is_some_and(|&kept| kept));
    let mut is_kept = enough.iter();
    if let Fences::Cheapest(sets) = &mut report.fences {
        sets.retain(|_| is_kept.next().is_some_and(|&kept| kept));
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
