//! Fences by definition: of all sets of places, those that achieve the aim at the least cost, each set tried with the
//! fences put in.

mod as_read;
mod costs;
mod edited;
mod existing;
mod limits;
mod optima;
mod safe;
mod states;

use std::collections::BTreeSet;

use weir::fences::{Options, Place, Report, at_locations, certify_fences};
use weir_ir::{Edge, Instruction, LocId, Location, Program};
use weir_testkit::Rng;
use weir_witness::FencesFault;

use crate::reference::{same, session};

type Set = BTreeSet<usize>;

/// The program with fences at these places, by splitting each step that leads there.
fn fenced(program: &Program, places: &[Place], set: &Set) -> Program {
    let mut program = program.clone();
    let after: BTreeSet<_> = set.iter().flat_map(|&place| places[place].after.iter().copied()).collect();
    for (thread, edge) in after {
        let body = &mut program.threads[thread.index()].body;
        let (mut locations, mut edges) = (body.locations.clone(), body.edges().to_vec());
        let middle = LocId::new(locations.len());
        locations.push(Location { labels: Vec::new(), span: edges[edge.index()].span });
        let to = std::mem::replace(&mut edges[edge.index()].to, middle);
        let span = edges[edge.index()].span;
        edges.push(Edge { from: middle, to, instruction: Instruction::Fence, span });
        *body = weir_ir::Body::new(body.registers.clone(), locations, body.entry, body.failed, edges);
    }
    program
}

/// The least cost of a set that achieves the aim, and all sets of that cost: by trying them all, cheap ones first.
/// `None` if even all places together do not, or if `achieves` cannot tell.
fn tried(places: &[Place], achieves: impl Fn(&Set) -> Option<bool>) -> Option<(u64, BTreeSet<Set>)> {
    let cost = |set: &Set| set.iter().map(|&place| places[place].cost.max(1)).sum::<u64>();
    let set = |bits: u32| (0..places.len()).filter(|place| bits >> place & 1 == 1).collect::<Set>();
    let mut sets: Vec<(u64, Set)> = (0..1 << places.len()).map(set).map(|set| (cost(&set), set)).collect();
    sets.sort();
    let mut best: Option<(u64, BTreeSet<Set>)> = None;
    for (cost, set) in sets {
        if best.as_ref().is_some_and(|(least, _)| cost > *least) {
            break;
        }
        if achieves(&set)? {
            best.get_or_insert_with(|| (cost, BTreeSet::new())).1.insert(set);
        }
    }
    best
}

/// Places with costs from 1 to `dearest`; sometimes one is left out, or two are one place, as in a text that two
/// threads run.
fn places(program: &Program, rng: &mut Rng, dearest: usize) -> Vec<Place> {
    let mut places: Vec<Place> = at_locations(program).into_iter().map(|at| at.place).collect();
    if dearest > 1 && places.len() > 2 && rng.chance(20) {
        let gone = places.remove(rng.below(places.len()));
        let other = rng.below(places.len());
        places[other].after.extend(gone.after);
    }
    if dearest > 1 && places.len() > 2 && rng.chance(20) {
        places.remove(rng.below(places.len()));
    }
    places.iter_mut().for_each(|place| place.cost = rng.between(1, dearest) as u64);
    places
}

/// What was found has a proof, and no set that costs more has one.
fn certified(program: &Program, places: &[Place], report: &Report, set: &Set, options: &Options) -> Result<(), String> {
    let proof = certify_fences(program, places, set, report, options, &session()).map_err(|why| why.to_string())?;
    let mut proof = proof.map_err(|why| format!("no proof: {why:?}"))?.cheapest;
    same("a proof", Ok(()), proof.check(program, &weir_ir::Uninterrupted))?;
    if let Some(more) = (0..places.len()).find(|place| !set.contains(place)) {
        proof.chosen.insert(more);
        same("a proof of more", Err(FencesFault::Cheaper), proof.check(program, &weir_ir::Uninterrupted))?;
    }
    Ok(())
}
