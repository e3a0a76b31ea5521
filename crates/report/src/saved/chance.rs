//! Certificates of probabilities as files hold them, and back.

use weir_ir::Interrupt;
use weir_witness::{ChanceFault, ChanceProof, ChanceQuestion, ONE, PackedStates, Updates};

use super::certificate::{MIXED, empty, listed, running_names, with_states, wrong};
use super::certificate_format::{CertificateKind, SavedCertificate};
use super::chance_format::ChanceRecord;
use super::compression::{compress, decompress};
use super::copies;
use super::metadata::{Metadata, Question};
use super::mismatch::{Mismatch, Rejection};
use crate::wording::clean::clean;

/// What the user asks about a probability.
#[derive(Clone, Copy)]
pub struct ChanceAsked<'a> {
    /// The program. There are no properties: the target takes their place.
    pub question: Question<'a>,
    /// The target, as text.
    pub target: &'a str,
    /// The target and the odds.
    pub chance: &'a ChanceQuestion,
    /// The least that the probability must be, in units of 1/2^62.
    pub least: u64,
    /// The greatest that it may be, in the same units.
    pub most: u64,
}

/// The numbers of one configuration take so many bytes.
const NUMBERS: u64 = 16;

impl SavedCertificate {
    /// A proof with all that is needed to check it again.
    ///
    /// # Errors
    /// If it is not about the program.
    pub fn of_chance(asked: &ChanceAsked<'_>, proof: &ChanceProof) -> Result<Self, ChanceFault> {
        let (lower, upper) = proof.interval(asked.question.program, asked.chance)?;
        let record = record(asked, (lower, upper));
        let numbers = proof.bounds.iter().flat_map(|(low, high)| [low.to_le_bytes(), high.to_le_bytes()].concat());
        let body: Vec<u8> = proof.states.bytes().iter().copied().chain(numbers).collect();
        let empty = empty(asked.question.program, Metadata::new(&asked.question));
        Ok(Self {
            kind: CertificateKind::Chance,
            chance: Some(Box::new(record)),
            body: compress(&body),
            ..with_states(empty, &proof.states)
        })
    }

    /// Whether the certificate answers the question, according to the independent checker.
    ///
    /// # Errors
    /// If it does not, or if the file is about another question.
    pub fn check_chance(&self, asked: &ChanceAsked<'_>, interrupt: &dyn Interrupt) -> Result<(), Rejection> {
        let program = asked.question.program;
        self.metadata.compare(&asked.question).map_err(Rejection::Mismatch)?;
        let Some(claimed) = &self.chance else { return Err(wrong("the file does not prove a probability")) };
        if self.kind != CertificateKind::Chance || !self.metadata.specification.is_empty() || has_more(self) {
            return Err(wrong(MIXED));
        }
        if self.threads != running_names(program) {
            return Err(wrong("the threads of the program differ from those in the file"));
        }
        compare(claimed, asked).map_err(Rejection::Mismatch)?;
        let proof = self.chance_proof(asked, interrupt)?;
        proof.check(program, asked.chance, interrupt).map_err(|fault| match fault {
            ChanceFault::Interrupted => Rejection::Interrupted,
            fault => Rejection::Mismatch(fault.into()),
        })?;
        let shown = proof.interval(program, asked.chance).map_err(|fault| Rejection::Mismatch(fault.into()))?;
        if shown != (claimed.lower, claimed.upper) {
            return Err(wrong("the file proves another interval than it says"));
        }
        if shown.0 < asked.least || shown.1 > asked.most {
            let what = if asked.least == ONE { "is 1" } else { "is 0" };
            return Err(wrong(&format!("the file does not prove that the probability {what}")));
        }
        Ok(())
    }

    fn chance_proof(&self, asked: &ChanceAsked<'_>, interrupt: &dyn Interrupt) -> Result<ChanceProof, Rejection> {
        let (Some(count), Some(length)) = (self.states, self.bytes) else {
            return Err(wrong("the file does not say how many states there are, and how many bytes they take"));
        };
        let lasts = if asked.chance.odds.stickiness.is_some() { self.threads.len() as u64 + 1 } else { 1 };
        let numbers = count.checked_mul(lasts).and_then(|all| all.checked_mul(NUMBERS));
        let whole = numbers.and_then(|numbers| numbers.checked_add(length));
        let whole = whole.ok_or_else(|| wrong("the file has too many states"))?;
        let mut bytes = decompress(&self.body, whole, interrupt)?;
        let numbers = bytes.split_off(length as usize);
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
        let bounds = numbers.chunks_exact(16).map(|two| (number(&two[..8]), number(&two[8..]))).collect();
        let states = PackedStates::read(listed(self), count as usize, bytes).map_err(Mismatch::from);
        Ok(ChanceProof { states: states.map_err(Rejection::Mismatch)?, bounds })
    }
}

fn record(asked: &ChanceAsked<'_>, (lower, upper): (u64, u64)) -> ChanceRecord {
    let odds = &asked.chance.odds;
    let updates = match odds.updates {
        Updates::Uniform => "uniform".to_owned(),
        Updates::Single => "single".to_owned(),
        Updates::Geometric(numerator, denominator) => format!("geometric:{numerator}/{denominator}"),
    };
    let (target, repeated, stickiness) = (asked.target.to_owned(), asked.chance.repeated, odds.stickiness);
    ChanceRecord { target, repeated, updates, stickiness, lower, upper }
}

/// Whether the file is about the target and the odds that the user asks about.
fn compare(claimed: &ChanceRecord, asked: &ChanceAsked<'_>) -> Result<(), Mismatch> {
    let wanted = record(asked, (claimed.lower, claimed.upper));
    let reason = if claimed.target != wanted.target {
        format!("the file is about another target: {}; select it with `--target`", clean(&claimed.target))
    } else if claimed.repeated != wanted.repeated {
        let option = if claimed.repeated { "ask about that with" } else { "leave out" };
        let what = if claimed.repeated { "infinitely often" } else { "once" };
        format!("the file is about reaching the target {what}; {option} `--repeated`")
    } else if claimed.updates != wanted.updates {
        format!("the file is about other updates; select them with `--updates {}`", clean(&claimed.updates))
    } else if claimed.stickiness != wanted.stickiness {
        let (numerator, denominator) = claimed.stickiness.unwrap_or((1, 1));
        format!("the file is about another scheduler; select it with `--stickiness {numerator}/{denominator}`")
    } else {
        return Ok(());
    };
    Err(Mismatch::whole(reason))
}

/// Whether it has anything that such certificates do not have.
fn has_more(saved: &SavedCertificate) -> bool {
    let others = !saved.classes.is_empty() || !saved.configurations.is_empty() || !saved.parts.is_empty();
    others || saved.buffers.is_some() || saved.fences.is_some() || copies::are_in(saved)
}
