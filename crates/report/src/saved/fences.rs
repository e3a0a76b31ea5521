//! Certificates of the cheapest fences as files hold them, and back.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use weir::fences::FencesProof;
use weir_ir::{EdgeId, Gather, Interrupt, Program, ThreadId};
use weir_syntax::Language;
use weir_witness::{BoundStep, CheapestFences, Checked, CostBound, FencePlace, FencesFault};

use super::certificate::{MIXED, empty, running_names, wrong};
use super::certificate_format::{CertificateKind, SavedCertificate};
use super::copies;
use super::fences_format::{BoundRecord, BoundStepRecord, FencesRecord, PlaceRecord};
use super::metadata::{Metadata, Question};
use super::mismatch::{Mismatch, Rejection};
use super::read::Saved;
use super::witness_format::SavedWitness;
use crate::automaton::Automata;
use crate::run::Evidence;

/// What the user asks about fences.
#[derive(Clone, Copy)]
pub struct FencesAsked<'a> {
    /// The program, and what the fences must achieve.
    pub question: Question<'a>,
    /// The program with a step for each place; if the question is which of its fences are needed, without them.
    pub searched: &'a Program,
    /// Where fences can stand in it.
    pub places: &'a [FencePlace],
    /// Whether the question is which fences of the program are needed.
    pub remove: bool,
}

impl SavedCertificate {
    /// A proof with all that is needed to check it again.
    ///
    /// # Errors
    /// Never, so far as is known: everything in it can be written as JSON.
    pub fn of_fences(asked: &FencesAsked<'_>, proof: FencesProof) -> Result<Self, serde_json::Error> {
        let FencesProof { cheapest, fenced, enough } = proof;
        let Question { program, language, model, .. } = asked.question;
        let body = Self::new(&fenced, language, model, &enough)?.to_bytes()?;
        let record = to_record(asked, cheapest, language);
        let metadata = Metadata::new(&asked.question);
        Ok(Self { kind: CertificateKind::Fences, fences: Some(Box::new(record)), body, ..empty(program, metadata) })
    }

    /// Whether the certificate answers the question, according to the independent checker.
    ///
    /// # Errors
    /// If it does not, or if the file is about another question.
    pub fn check_fences(&self, asked: &FencesAsked<'_>, interrupt: &dyn Interrupt) -> Result<(), Rejection> {
        self.metadata.compare(&asked.question).map_err(Rejection::Mismatch)?;
        let Some(record) = &self.fences else { return Err(wrong("the file does not prove which fences are needed")) };
        let goals = self.metadata.proved(&asked.question).map_err(Rejection::Mismatch)?;
        if self.kind != CertificateKind::Fences || has_more(self) {
            return Err(wrong(MIXED));
        }
        if self.threads != running_names(asked.question.program) {
            return Err(wrong("the threads of the program differ from those in the file"));
        }
        compare(asked, record).map_err(Rejection::Mismatch)?;
        let question = Question { program: asked.searched, goals: &goals, ..asked.question };
        let proof = to_proof(&question, asked.places, record, interrupt)?;
        proof.check(asked.searched, interrupt).map_err(|fault| match fault {
            FencesFault::Interrupted => Rejection::Interrupted,
            fault => wrong(&fault.to_string()),
        })?;
        let Saved::Proof(enough) = Saved::parse(&self.body).map_err(|reason| wrong(&reason))? else {
            return Err(wrong("no proof of the program with fences follows the line"));
        };
        let fenced = proof.fenced(asked.searched);
        enough.check(&Question { program: &fenced, ..question }, interrupt).map_err(|rejection| match rejection {
            Rejection::Mismatch(Mismatch { number, reason }) => {
                let reason = format!("the proof of the program with fences is not accepted: {reason}");
                Rejection::Mismatch(Mismatch { number, reason })
            }
            Rejection::Interrupted => Rejection::Interrupted,
        })
    }

    /// What the fences cost, if it is about fences.
    pub fn cost(&self) -> Option<u64> {
        let record = self.fences.as_ref()?;
        let costs = record.chosen.iter().filter_map(|&place| record.places.get(place));
        Some(costs.map(|place| place.cost).fold(0, u64::saturating_add))
    }
}

/// Whether it has anything that such certificates do not have.
fn has_more(saved: &SavedCertificate) -> bool {
    let states = saved.buffers.is_some() || saved.states.is_some() || saved.bytes.is_some();
    let others = !saved.registers.is_empty() || !saved.classes.is_empty() || !saved.configurations.is_empty();
    states || others || saved.chance.is_some() || !saved.parts.is_empty() || copies::are_in(saved)
}

fn to_record(asked: &FencesAsked<'_>, proof: CheapestFences, language: Language) -> FencesRecord {
    let program = asked.searched;
    let bound = |bound: CostBound| BoundRecord {
        runs: bound.cores.into_iter().collect(),
        least: bound.least,
        steps: bound.steps.into_iter().map(to_step_record).collect(),
    };
    let demand = |checked: Checked| SavedWitness::new(program, language, &Evidence::new(Box::new(checked)));
    FencesRecord {
        remove: asked.remove,
        places: to_place_records(program, &proof.places),
        chosen: proof.chosen.into_iter().collect(),
        demands: proof.demands.into_iter().map(demand).collect(),
        bounds: proof.bounds.into_iter().map(bound).collect(),
    }
}

fn to_place_records(program: &Program, places: &[FencePlace]) -> Vec<PlaceRecord> {
    let step = |&(thread, edge): &(ThreadId, EdgeId)| (program.thread(thread).name.clone(), edge.0);
    let place = |place: &FencePlace| PlaceRecord { after: place.after.iter().map(step).collect(), cost: place.cost };
    places.iter().map(place).collect()
}

/// A program with a step for each place, as [`crate::automaton`] has it, and its places: what another checker needs to
/// know of the question.
///
/// # Panics
/// Never: all keys are strings, and writing to memory does not fail.
pub fn searched_text(searched: &Program, places: &[FencePlace]) -> String {
    #[derive(Serialize)]
    struct Searched<'a> {
        #[serde(flatten)]
        program: Automata<'a>,
        places: Vec<PlaceRecord>,
    }
    let text = Searched { program: Automata::new(searched), places: to_place_records(searched, places) };
    serde_json::to_string(&text).expect("writing to memory does not fail") + "\n"
}

fn to_step_record(step: BoundStep) -> BoundStepRecord {
    match step {
        BoundStep::Cases(core) => BoundStepRecord::Cases(core),
        BoundStep::Amounts(amounts) => BoundStepRecord::Amounts(amounts),
    }
}

/// Whether the file is about the places and the costs that the user asks about.
fn compare(asked: &FencesAsked<'_>, record: &FencesRecord) -> Result<(), Mismatch> {
    if record.remove != asked.remove {
        return Err(Mismatch::whole(if record.remove {
            "the file is about which fences of the program are needed; ask about that with `--remove`"
        } else {
            "the file is about fences to be added; leave out `--remove`"
        }));
    }
    let threads: BTreeMap<&str, ThreadId> =
        asked.searched.thread_ids().map(|id| (asked.searched.thread(id).name.as_str(), id)).gather();
    let steps = |place: &PlaceRecord| -> Option<Vec<(ThreadId, EdgeId)>> {
        place.after.iter().map(|(thread, edge)| Some((*threads.get(thread.as_str())?, EdgeId(*edge)))).collect()
    };
    if record.places.len() != asked.places.len() {
        let (claimed, found) = (record.places.len(), asked.places.len());
        return Err(Mismatch::whole(format!("the file has {claimed} places for fences, the program has {found}")));
    }
    for (number, (claimed, place)) in record.places.iter().zip(asked.places).enumerate() {
        if steps(claimed).as_ref() != Some(&place.after) {
            return Err(Mismatch::whole(format!("place {number} for fences in the file is another one")));
        }
        if claimed.cost != place.cost {
            let (claimed, cost) = (claimed.cost, place.cost);
            return Err(Mismatch::whole(format!(
                "a fence at place {number} costs {claimed} in the file, but {cost} here; `--cost` sets the costs"
            )));
        }
    }
    Ok(())
}

/// The proof that a file claims; its runs are replayed.
fn to_proof(
    question: &Question<'_>,
    places: &[FencePlace],
    record: &FencesRecord,
    interrupt: &dyn Interrupt,
) -> Result<CheapestFences, Rejection> {
    let mut demands = Vec::with_capacity(record.demands.len());
    for (number, saved) in record.demands.iter().enumerate() {
        if interrupt.is_over() {
            return Err(Rejection::Interrupted);
        }
        let replayed = saved
            .replay(question)
            .map_err(|mismatch| wrong(&format!("run {}: {}", number + 1, mismatch.text("step"))))?;
        demands.push(*replayed.checked);
    }
    let chosen = ascending(&record.chosen).ok_or_else(|| wrong("the chosen places are not in ascending order"))?;
    let bound = |bound: &BoundRecord| {
        let cores = ascending(&bound.runs).ok_or_else(|| wrong("the runs of a bound are not in ascending order"))?;
        let steps = bound.steps.iter().map(|step| match step {
            BoundStepRecord::Cases(core) => BoundStep::Cases(*core),
            BoundStepRecord::Amounts(amounts) => BoundStep::Amounts(amounts.clone()),
        });
        Ok(CostBound { cores, least: bound.least, steps: steps.collect() })
    };
    let bounds = record.bounds.iter().map(bound).collect::<Result<Vec<_>, Rejection>>()?;
    Ok(CheapestFences { places: places.to_vec(), chosen, demands, bounds })
}

/// The numbers as a set, if they are in ascending order.
fn ascending(numbers: &[usize]) -> Option<BTreeSet<usize>> {
    numbers.is_sorted_by(|one, next| one < next).then(|| numbers.iter().copied().collect())
}
