//! Certificates of the cheapest fences: the program with them meets the aim, and with cheaper ones it does not.

use std::collections::BTreeSet;

use weir_ir::Program;
use weir_witness::{CheapestFences, Checked, FencePlace, FencesFault, Goal, Model};

use super::lower_bound::{NoBound, cost_bounds};
use super::recheck::safe_options;
use super::{Aim, Options, Place, Report};
use crate::bounds::Bound;
use crate::certify::{Certified, Decided, Proof, Unproved, certify, certify_robust};
use crate::check::check;
use crate::session::Session;
use crate::verdict::{Failure, Verdict};

/// A proof that some fences are enough, and that no cheaper ones are, checked.
#[derive(Clone, Debug)]
pub struct FencesProof {
    /// That no cheaper ones are.
    pub cheapest: CheapestFences,
    /// The program with the fences.
    pub fenced: Program,
    /// That they are enough.
    pub enough: Vec<Proof>,
}

impl From<&Place> for FencePlace {
    fn from(place: &Place) -> Self {
        Self { after: place.after.clone(), cost: place.cost.max(1) }
    }
}

/// Proves that the chosen places, which were found to be the cheapest, are.
///
/// # Errors
/// If an invariant of Weir is broken.
pub fn certify_fences(
    program: &Program,
    places: &[Place],
    chosen: &BTreeSet<usize>,
    report: &Report,
    options: &Options,
    session: &Session,
) -> Result<Result<FencesProof, Unproved>, Failure> {
    let session = &session.doing("writing out the proof");
    let cheapest = match cheapest(program, places, chosen, report, session) {
        Ok(cheapest) => cheapest,
        Err(why) => return Ok(Err(why)),
    };
    match cheapest.check(program, session) {
        Ok(()) => {}
        Err(FencesFault::Interrupted) => return Ok(Err(Unproved::Stopped(session.ended_by()))),
        Err(fault) => return Ok(Err(Unproved::Unsuitable(format!("the checker rejects the proof: {fault}")))),
    }
    let fenced = cheapest.fenced(program);
    let Certified { proofs, unproved } = enough(&fenced, options, session)?;
    Ok(match unproved.into_iter().next() {
        Some((_, why)) => Err(why),
        None => Ok(FencesProof { cheapest, fenced, enough: proofs }),
    })
}

/// That the program with fences meets the aim.
fn enough(fenced: &Program, options: &Options, session: &Session) -> Result<Certified, Failure> {
    match options.aim {
        Aim::Robust => certify_robust(fenced, session),
        Aim::Safe => {
            let asked = safe_options(fenced)?;
            let report = check(fenced, &asked, session)?;
            match report.verdict {
                Verdict::Holds => certify(fenced, Model::Tso, &Decided::by_portfolio(&report), session),
                Verdict::Violated(_) => Err(Failure::Bug("the fences that were found are not enough".into())),
                // What is decided of some properties would be no proof of all.
                Verdict::Unknown(limit) => {
                    Ok(Certified { proofs: Vec::new(), unproved: vec![(asked.goals, Unproved::Stopped(limit))] })
                }
            }
        }
        Aim::States | Aim::RaceFree => {
            let why = format!("`--for {}` has no proof that can be saved", options.aim.name());
            Ok(Certified { proofs: Vec::new(), unproved: vec![(vec![Goal::NotRobust], Unproved::Unsuitable(why))] })
        }
    }
}

/// That no cheaper places are enough.
fn cheapest(
    program: &Program,
    places: &[Place],
    chosen: &BTreeSet<usize>,
    report: &Report,
    session: &Session,
) -> Result<CheapestFences, Unproved> {
    let demand = |(run, goal): &(_, Goal)| Checked::new(program, weir_witness::Run::clone(run), *goal);
    let demands = report.demands.iter().map(demand).collect::<Result<Vec<Checked>, _>>();
    let demands = demands.map_err(|error| {
        Unproved::Unsuitable(format!("a run that fences must stop is none of the program without them: {error}"))
    })?;
    let places: Vec<FencePlace> = places.iter().map(FencePlace::from).collect();
    let mut proof = CheapestFences { places, chosen: chosen.clone(), demands, bounds: Vec::new() };
    let costs: Vec<u64> = proof.places.iter().map(|place| place.cost).collect();
    let most = session.bound(Bound::CertifyStates);
    proof.bounds = cost_bounds(&costs, &proof.cores(), chosen, most, session).map_err(|why| match why {
        NoBound::Stopped => Unproved::Stopped(session.ended_by()),
        NoBound::TooLong => Unproved::Unsuitable(format!(
            "that no cheaper fences are enough would take more than {most} steps to prove; `--limit \
             certify-states=N` allows more"
        )),
        NoBound::Cheaper => Unproved::Unsuitable("the runs that were found can be stopped at less cost".to_owned()),
    })?;
    Ok(proof)
}
