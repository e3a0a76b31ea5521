//! Proofs that a net cannot cover its targets, as files hold them.
//!
//! The net and the question come from the user: the file has a digest of both, and a proof about anything else is
//! refused.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use weir_ir::net::{Count, Net, Tokens};
use weir_ir::{ControlId, Interrupt, PlaceId};
use weir_witness::net::{
    CoverProof, Ideal, LinearFact, MinimalMarking, NeverMarked, ProofFault, Trap, check_cover_proof,
};

use super::certificate_format::CERTIFICATE_FORMAT;
use super::metadata::{hex, short};
use super::mismatch::{Mismatch, Rejection};
use crate::version::VERSION;

/// A saved proof about a net.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SavedNetProof {
    /// Version of this format; 2.
    pub format: u32,
    /// What the proof is about.
    pub kind: NetKind,
    /// The net and the question, and what made the proof.
    pub metadata: NetMetadata,
    /// The proof. Places and control states are numbered from 0, in the order of the net.
    pub proof: NetProofRecord,
}

/// What a proof is about.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NetKind {
    /// A net that cannot cover its targets.
    Net,
}

/// What a proof about a net is about, and what made it.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NetMetadata {
    /// The program that made it.
    pub producer: String,
    /// The version of that program.
    pub version: String,
    /// The SHA-256 of the text of the net, in hexadecimal digits.
    pub text_sha256: String,
    /// The SHA-256 of the net as it was read, with its initial markings and targets.
    pub net_sha256: String,
}

/// A proof that no target can be covered.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum NetProofRecord {
    /// The minimal markings from which a target might be covered, and facts that exclude others.
    Backward {
        /// What is never marked.
        never: SetRecord,
        /// Weighted sums that never grow.
        facts: Vec<FactRecord>,
        /// The markings: control state, and places with the fewest tokens.
        basis: Vec<(u32, Vec<(u32, u64)>)>,
    },
    /// Control states and the most tokens of each place, or `null` for any number: all reachable markings are below.
    Forward(Vec<(u32, Vec<Option<u64>>)>),
    /// All reachable markings: control state, and tokens of each place.
    Listed(Vec<(u32, Vec<u64>)>),
}

/// Places and control states.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetRecord {
    /// The places, ascending.
    pub places: Vec<u32>,
    /// The control states, ascending.
    pub controls: Vec<u32>,
}

/// A weighted sum that never grows.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FactRecord {
    /// Places and their weights.
    pub places: Vec<(u32, u64)>,
    /// Control states and their weights.
    pub controls: Vec<(u32, u64)>,
    /// Traps and their weights.
    pub traps: Vec<(SetRecord, u64)>,
}

impl SavedNetProof {
    /// A proof to be saved.
    pub fn new(net: &Net, proof: &CoverProof) -> Self {
        let metadata = NetMetadata {
            producer: "Weir".to_owned(),
            version: VERSION.to_owned(),
            text_sha256: text_digest(net),
            net_sha256: net_digest(net),
        };
        Self { format: CERTIFICATE_FORMAT, kind: NetKind::Net, metadata, proof: to_record(proof) }
    }

    /// As the text of a file.
    ///
    /// # Errors
    /// Never, as far as we know.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    /// Whether it proves that this net cannot cover its targets.
    ///
    /// # Errors
    /// If it does not, or if the check was interrupted.
    pub fn check(&self, net: &Net, interrupt: &dyn Interrupt) -> Result<(), Rejection> {
        let refused = |reason: String| Err(Rejection::Mismatch(Mismatch::whole(reason)));
        let (claimed, found) = (&self.metadata.text_sha256, text_digest(net));
        if *claimed != found {
            let (claimed, found) = (short(claimed), short(&found));
            return refused(format!(
                "the file is about another text: its SHA-256 is {claimed}…, that of the net is {found}…"
            ));
        }
        if self.metadata.net_sha256 != net_digest(net) {
            return refused(
                "the file is about another start or another target; `--init` and `--target` set them".to_owned(),
            );
        }
        match check_cover_proof(net, &to_proof(&self.proof), interrupt) {
            Ok(()) => Ok(()),
            Err(ProofFault::Interrupted) => Err(Rejection::Interrupted),
            Err(fault) => refused(fault.to_string()),
        }
    }

    /// How many markings and facts it consists of.
    pub fn size(&self) -> (u64, u64) {
        match &self.proof {
            NetProofRecord::Backward { facts, basis, .. } => (basis.len() as u64, facts.len() as u64),
            NetProofRecord::Forward(ideals) => (ideals.len() as u64, 0),
            NetProofRecord::Listed(all) => (all.len() as u64, 0),
        }
    }
}

fn text_digest(net: &Net) -> String {
    hex(Sha256::digest(net.source.text()).as_slice())
}

/// The SHA-256 of everything that the answer depends on.
fn net_digest(net: &Net) -> String {
    let tokens = |tokens: &[Tokens]| tokens.iter().map(|(place, count)| (place.0, *count)).collect::<Vec<_>>();
    let mut text = String::new();
    let mut line = |line: std::fmt::Arguments<'_>| writeln!(text, "{line}").expect("a text takes everything");
    line(format_args!("controls {:?}", net.controls));
    net.places.iter().for_each(|place| line(format_args!("place {:?}", place.name)));
    for one in &net.transitions {
        let moves = |step: &weir_ir::net::Move| (step.from.0, step.to.iter().map(|to| to.0).collect::<Vec<_>>());
        let moves: Vec<(u32, Vec<u32>)> = one.moves.iter().map(moves).collect();
        let (needs, takes, gives) = (tokens(&one.needs), tokens(&one.takes), tokens(&one.gives));
        line(format_args!("transition {} {} {needs:?} {takes:?} {moves:?} {gives:?}", one.from.0, one.to.0));
    }
    let bounds = |count: &Count| (count.low, count.high);
    let counts: Vec<_> = net.initial.counts.iter().map(bounds).collect();
    line(format_args!("initial {} {counts:?}", net.initial.control.0));
    for target in &net.targets {
        let control = target.control.map(|control| control.0);
        line(format_args!("target {control:?} {:?} {:?}", tokens(&target.at_least), tokens(&target.at_most)));
    }
    hex(Sha256::digest(text).as_slice())
}

fn to_record(proof: &CoverProof) -> NetProofRecord {
    let places = |places: &[PlaceId]| places.iter().map(|place| place.0).collect();
    let controls = |controls: &[ControlId]| controls.iter().map(|control| control.0).collect();
    let trap = |(trap, weight): &(Trap, u64)| {
        (SetRecord { places: places(&trap.places), controls: controls(&trap.controls) }, *weight)
    };
    let fact = |fact: &LinearFact| FactRecord {
        places: fact.places.iter().map(|&(place, weight)| (place.0, weight)).collect(),
        controls: fact.controls.iter().map(|&(control, weight)| (control.0, weight)).collect(),
        traps: fact.traps.iter().map(trap).collect(),
    };
    match proof {
        CoverProof::Backward { never, facts, basis } => NetProofRecord::Backward {
            never: SetRecord { places: places(&never.places), controls: controls(&never.controls) },
            facts: facts.iter().map(fact).collect(),
            basis: basis
                .iter()
                .map(|one| (one.control.0, one.counts.iter().map(|&(place, count)| (place.0, count)).collect()))
                .collect(),
        },
        CoverProof::Forward(ideals) => {
            NetProofRecord::Forward(ideals.iter().map(|ideal| (ideal.control.0, ideal.counts.clone())).collect())
        }
        CoverProof::Listed(all) => {
            NetProofRecord::Listed(all.iter().map(|(control, counts)| (control.0, counts.clone())).collect())
        }
    }
}

fn to_proof(record: &NetProofRecord) -> CoverProof {
    let places = |places: &[u32]| places.iter().map(|&place| PlaceId(place)).collect();
    let controls = |controls: &[u32]| controls.iter().map(|&control| ControlId(control)).collect();
    let trap = |(set, weight): &(SetRecord, u64)| {
        (Trap { places: places(&set.places), controls: controls(&set.controls) }, *weight)
    };
    let fact = |fact: &FactRecord| LinearFact {
        places: fact.places.iter().map(|&(place, weight)| (PlaceId(place), weight)).collect(),
        controls: fact.controls.iter().map(|&(control, weight)| (ControlId(control), weight)).collect(),
        traps: fact.traps.iter().map(trap).collect(),
    };
    let marking = |(control, counts): &(u32, Vec<(u32, u64)>)| MinimalMarking {
        control: ControlId(*control),
        counts: counts.iter().map(|&(place, count)| (PlaceId(place), count)).collect(),
    };
    match record {
        NetProofRecord::Backward { never, facts, basis } => CoverProof::Backward {
            never: NeverMarked { places: places(&never.places), controls: controls(&never.controls) },
            facts: facts.iter().map(fact).collect(),
            basis: basis.iter().map(marking).collect(),
        },
        NetProofRecord::Forward(ideals) => {
            let ideal = |(control, counts): &(u32, Vec<Option<u64>>)| Ideal {
                control: ControlId(*control),
                counts: counts.clone(),
            };
            CoverProof::Forward(ideals.iter().map(ideal).collect())
        }
        NetProofRecord::Listed(all) => {
            CoverProof::Listed(all.iter().map(|(control, counts)| (ControlId(*control), counts.clone())).collect())
        }
    }
}
