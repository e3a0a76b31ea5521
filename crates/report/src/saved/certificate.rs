//! Certificates as files hold them, and back. What is read back is only a claim, which `weir-witness` checks.

use weir::certify::Proof;
use weir_ir::{Interrupt, LocId, Multiplicity, Program, RegId, ThreadId};
use weir_syntax::Language;
use weir_witness::{
    BackwardFault, BackwardProof, Buffering, CertificateError, ClosedSet, Configuration, Fault, Goal, ListedRegisters,
    LocalState, Message, Model, PackedStates, ThreadView, check_attack_proof, check_backward_proof_until,
    check_closed_set, check_copies_proof,
};

use super::certificate_format::{
    BuffersRecord, CERTIFICATE_FORMAT, CertificateKind, ConfigurationRecord, CopyViewRecord, LocalRecord,
    MessageRecord, SavedCertificate, ViewRecord,
};
use super::compression::{compress, decompress};
use super::copies;
use super::metadata::{Metadata, Question};
use super::mismatch::{Mismatch, Rejection};
use super::read::Saved;
use crate::wording::clean::clean;

/// Whether the independent checker accepts a proof.
fn check_proof(program: &Program, proof: &Proof, interrupt: &dyn Interrupt) -> Result<(), Rejection> {
    let rejection = |error: CertificateError| match error.fault {
        Fault::Interrupted => Rejection::Interrupted,
        _ => Rejection::Mismatch(error.into()),
    };
    match proof {
        Proof::Forward(set) => check_closed_set(program, set, interrupt).map_err(rejection),
        Proof::Attacks(states) => check_attack_proof(program, states, interrupt).map_err(rejection),
        Proof::Copies(proof) => check_copies_proof(program, proof, interrupt).map_err(rejection),
        Proof::Backward(proof) => {
            check_backward_proof_until(program, proof, interrupt).map_err(|error| match error.fault {
                BackwardFault::Interrupted => Rejection::Interrupted,
                _ => Rejection::Mismatch(error.into()),
            })
        }
    }
}

impl SavedCertificate {
    /// Proofs with all that is needed to check them again; one part for each of them if there are several.
    ///
    /// # Errors
    /// Never, so far as is known: everything in it can be written as JSON.
    pub fn new(
        program: &Program,
        language: Language,
        model: Model,
        proofs: &[Proof],
    ) -> Result<Self, serde_json::Error> {
        let about = |goals: &[Goal]| Metadata::new(&Question { program, language, model, goals });
        let one = |proof: &Proof| to_saved(program, about(proof.goals()), proof);
        if let [only] = proofs {
            return Ok(one(only));
        }
        let all: Vec<Goal> = proofs.iter().flat_map(Proof::goals).copied().collect();
        let (mut parts, mut body) = (Vec::new(), Vec::new());
        for proof in proofs {
            let part = one(proof).to_bytes()?;
            parts.push(part.len() as u64);
            body.extend(part);
        }
        Ok(Self { kind: CertificateKind::Parts, parts, body, ..empty(program, about(&all)) })
    }

    /// The file.
    ///
    /// # Errors
    /// Never, so far as is known: everything in it can be written as JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = serde_json::to_vec(self)?;
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.body);
        Ok(bytes)
    }

    /// Whether the certificate answers the question, according to the independent checker.
    ///
    /// # Errors
    /// If it does not, or if the file is about another question.
    pub fn check(&self, question: &Question<'_>, interrupt: &dyn Interrupt) -> Result<(), Rejection> {
        self.metadata.compare(question).map_err(Rejection::Mismatch)?;
        if self.kind == CertificateKind::Fences {
            return Err(wrong("the file proves which fences are the cheapest; ask about that with `--for`"));
        }
        if self.kind == CertificateKind::Chance {
            return Err(wrong("the file proves a probability; ask about that with `--question`"));
        }
        if self.fences.is_some() || self.chance.is_some() {
            return Err(wrong(MIXED));
        }
        let goals = self.metadata.proved(question).map_err(Rejection::Mismatch)?;
        if self.kind == CertificateKind::Parts {
            return self.check_parts(question, goals, interrupt);
        }
        if !self.parts.is_empty() {
            return Err(wrong(MIXED));
        }
        let proof = to_proof(question, self, goals, interrupt)?;
        check_proof(question.program, &proof, interrupt)
    }

    /// Whether each part proves what it claims, and all parts together answer the question.
    fn check_parts(
        &self,
        question: &Question<'_>,
        mut left: Vec<Goal>,
        interrupt: &dyn Interrupt,
    ) -> Result<(), Rejection> {
        for part in self.split().map_err(|reason| wrong(&reason))? {
            let goals = part.metadata.goals(question.program).map_err(Rejection::Mismatch)?;
            if part.kind == CertificateKind::Parts || goals.iter().any(|goal| !question.goals.contains(goal)) {
                return Err(wrong("a part is about a different question than the whole"));
            }
            part.check(&Question { goals: &goals, ..*question }, interrupt)?;
            left.retain(|goal| !goals.contains(goal));
        }
        if left.is_empty() { Ok(()) } else { Err(wrong("some property has no part that proves it")) }
    }

    /// The parts.
    fn split(&self) -> Result<Vec<Self>, String> {
        let bad = || "the parts are not as long as the file says".to_owned();
        let (mut parts, mut rest) = (Vec::new(), self.body.as_slice());
        for &length in &self.parts {
            let length = usize::try_from(length).map_err(|_| bad())?;
            let (part, after) = rest.split_at_checked(length).ok_or_else(bad)?;
            match Saved::parse(part)? {
                Saved::Proof(part) => parts.push(part),
                Saved::NetProof(_) => return Err("a part is about a net, not a program".to_owned()),
                Saved::Run(_) => return Err("a part is a run, not a proof".to_owned()),
            }
            rest = after;
        }
        if rest.is_empty() { Ok(parts) } else { Err(bad()) }
    }

    /// What it is made of, and how many of these there are.
    pub fn size(&self) -> (&'static str, u64) {
        match self.kind {
            CertificateKind::States | CertificateKind::Attacks | CertificateKind::Chance => {
                ("state", self.states.unwrap_or(0))
            }
            CertificateKind::Copies => ("shared state", self.states.unwrap_or(0)),
            CertificateKind::Configurations => ("configuration", self.configurations.len() as u64),
            CertificateKind::Fences => ("run", self.fences.as_ref().map_or(0, |fences| fences.demands.len() as u64)),
            CertificateKind::Parts => ("part", self.parts.len() as u64),
        }
    }

    /// The properties of the program that it claims to prove; or the target that it is about.
    pub fn goal_texts(&self, program: &Program) -> Vec<String> {
        let target = self.chance.iter().map(|chance| clean(&chance.target));
        self.metadata.specification.iter().map(|goal| goal.text(program)).chain(target).collect()
    }
}

/// A certificate without a proof yet.
pub(super) fn empty(program: &Program, metadata: Metadata) -> SavedCertificate {
    SavedCertificate {
        format: CERTIFICATE_FORMAT,
        kind: CertificateKind::Configurations,
        metadata,
        threads: running_names(program),
        buffers: None,
        registers: Vec::new(),
        states: None,
        bytes: None,
        body: Vec::new(),
        classes: Vec::new(),
        configurations: Vec::new(),
        copies: Vec::new(),
        beside: Vec::new(),
        minimal: Vec::new(),
        fences: None,
        chance: None,
        parts: Vec::new(),
    }
}

/// The names of the threads that run.
pub(super) fn running_names(program: &Program) -> Vec<String> {
    running(program).map(|thread| program.thread(thread).name.clone()).collect()
}

fn to_saved(program: &Program, metadata: Metadata, proof: &Proof) -> SavedCertificate {
    let empty = empty(program, metadata);
    match proof {
        Proof::Forward(set) => SavedCertificate {
            kind: CertificateKind::States,
            buffers: Some(buffers_record(set)),
            ..with_states(empty, &set.states)
        },
        Proof::Attacks(states) => SavedCertificate { kind: CertificateKind::Attacks, ..with_states(empty, states) },
        Proof::Copies(proof) => SavedCertificate {
            kind: CertificateKind::Copies,
            copies: proof.copies.iter().map(copies::record).collect(),
            beside: proof.beside.clone(),
            minimal: proof.minimal.iter().map(|one| (one.shared, one.copies.clone())).collect(),
            ..with_states(empty, &proof.shared)
        },
        Proof::Backward(proof) => SavedCertificate {
            classes: proof
                .classes
                .iter()
                .map(|classes| classes.iter().map(|class| to_locals(class)).collect())
                .collect(),
            configurations: proof.configurations.iter().map(to_configuration_record).collect(),
            ..empty
        },
    }
}

pub(super) fn with_states(empty: SavedCertificate, states: &PackedStates) -> SavedCertificate {
    SavedCertificate {
        registers: states.listed().iter().map(|locations| numbers(locations)).collect(),
        states: Some(states.len() as u64),
        bytes: Some(states.bytes().len() as u64),
        body: compress(states.bytes()),
        ..empty
    }
}

fn to_locals(class: &[LocalState]) -> Vec<LocalRecord> {
    let record = |state: &LocalState| LocalRecord {
        at: state.location.0,
        registers: state.registers.iter().map(|(register, &value)| (register.0, value)).collect(),
        holds: state.holds_lock,
    };
    class.iter().map(record).collect()
}

fn to_configuration_record(configuration: &Configuration) -> ConfigurationRecord {
    let view = |thread: &ThreadView| ViewRecord {
        class: thread.class,
        messages: thread.messages.iter().map(to_message_record).collect(),
    };
    let single = configuration.threads.len().saturating_sub(configuration.copies.len());
    let copy = |(of, thread): (&usize, &ThreadView)| CopyViewRecord {
        of: *of,
        class: thread.class.unwrap_or_default(),
        messages: thread.messages.iter().map(to_message_record).collect(),
    };
    ConfigurationRecord {
        threads: configuration.threads[..single].iter().map(view).collect(),
        copies: configuration.copies.iter().zip(&configuration.threads[single..]).map(copy).collect(),
        memory: configuration.memory.clone().into_iter().collect(),
    }
}

fn to_message_record(message: &Message) -> MessageRecord {
    match message {
        Message::Own(address, value) => MessageRecord::One(*address, *value, true),
        Message::Memory(parts) => match parts[..] {
            [(address, value)] => MessageRecord::One(address, value, false),
            _ => MessageRecord::Several(parts.clone()),
        },
    }
}

fn to_message(record: &MessageRecord) -> Message {
    match record {
        MessageRecord::One(address, value, true) => Message::Own(*address, *value),
        MessageRecord::One(address, value, false) => Message::Memory(vec![(*address, *value)]),
        MessageRecord::Several(parts) => {
            let mut parts = parts.clone();
            parts.sort_unstable();
            Message::Memory(parts)
        }
    }
}

fn running(program: &Program) -> impl Iterator<Item = ThreadId> {
    program.thread_ids().filter(|&thread| program.thread(thread).multiplicity != Multiplicity::Spawned)
}

fn numbers(locations: &[Vec<RegId>]) -> Vec<Vec<u32>> {
    locations.iter().map(|registers| registers.iter().map(|register| register.0).collect()).collect()
}

fn buffers_record(set: &ClosedSet) -> BuffersRecord {
    match (set.model, set.buffering) {
        (Model::Sc, _) => BuffersRecord::None,
        (Model::Tso, Buffering::EXACT) => BuffersRecord::Fifo,
        (Model::Tso, Buffering::Coherence(bound)) => BuffersRecord::Coherence(bound),
        (Model::Tso, Buffering::Multiset(bound)) => BuffersRecord::Multiset(bound),
    }
}

/// The certificate that a file claims, in terms of the program.
fn to_proof(
    question: &Question<'_>,
    saved: &SavedCertificate,
    goals: Vec<Goal>,
    interrupt: &dyn Interrupt,
) -> Result<Proof, Rejection> {
    if saved.threads != running_names(question.program) {
        return Err(wrong("the threads of the program differ from those in the file"));
    }
    match saved.kind {
        CertificateKind::Copies if saved.buffers.is_some() => Err(wrong(MIXED)),
        CertificateKind::Copies => {
            let shared = to_states(saved, interrupt)?;
            Ok(Proof::Copies(copies::proof(saved, (question.model, goals), shared)))
        }
        _ if copies::are_in(saved) => Err(wrong(MIXED)),
        CertificateKind::Configurations => to_backward(question, saved, goals).map(Proof::Backward),
        CertificateKind::States => to_closed_set(question, saved, goals, interrupt).map(Proof::Forward),
        CertificateKind::Attacks if question.model != Model::Tso => Err(wrong("proofs of robustness are about TSO")),
        CertificateKind::Attacks if goals != [Goal::NotRobust] || saved.buffers.is_some() => Err(wrong(MIXED)),
        CertificateKind::Attacks => to_states(saved, interrupt).map(Proof::Attacks),
        CertificateKind::Parts | CertificateKind::Fences | CertificateKind::Chance => {
            Err(wrong("a part itself has parts"))
        }
    }
}

pub(super) const MIXED: &str = "the file mixes two kinds of proof";

pub(super) fn wrong(reason: &str) -> Rejection {
    Rejection::Mismatch(Mismatch::whole(reason))
}

fn to_backward(
    question: &Question<'_>,
    saved: &SavedCertificate,
    goals: Vec<Goal>,
) -> Result<BackwardProof, Rejection> {
    if question.model != Model::Tso {
        return Err(wrong("proofs by configurations are about TSO"));
    }
    if saved.buffers.is_some() || saved.states.is_some() || saved.bytes.is_some() || !saved.body.is_empty() {
        return Err(wrong(MIXED));
    }
    let classes = saved.classes.iter().map(|classes| classes.iter().map(|class| to_class(class)).collect()).collect();
    let configurations = saved.configurations.iter().map(to_configuration).collect();
    Ok(BackwardProof { goals, classes, configurations })
}

fn to_closed_set(
    question: &Question<'_>,
    saved: &SavedCertificate,
    goals: Vec<Goal>,
    interrupt: &dyn Interrupt,
) -> Result<ClosedSet, Rejection> {
    let model = question.model;
    let buffering = match (model, saved.buffers) {
        (Model::Sc, Some(BuffersRecord::None)) | (Model::Tso, Some(BuffersRecord::Fifo)) => Buffering::EXACT,
        (Model::Tso, Some(BuffersRecord::Coherence(bound))) => Buffering::Coherence(bound),
        (Model::Tso, Some(BuffersRecord::Multiset(bound))) => Buffering::Multiset(bound),
        _ => return Err(wrong("the file does not say how its states represent buffers under this memory model")),
    };
    Ok(ClosedSet { model, buffering, goals, states: to_states(saved, interrupt)? })
}

fn to_states(saved: &SavedCertificate, interrupt: &dyn Interrupt) -> Result<PackedStates, Rejection> {
    if !saved.classes.is_empty() || !saved.configurations.is_empty() {
        return Err(wrong(MIXED));
    }
    let (Some(count), Some(length)) = (saved.states, saved.bytes) else {
        return Err(wrong("the file does not say how many states there are, and how many bytes they take"));
    };
    let bytes = decompress(&saved.body, length, interrupt)?;
    let count = usize::try_from(count).map_err(|_| wrong("the file has too many states"))?;
    PackedStates::read(listed(saved), count, bytes).map_err(|row| Rejection::Mismatch(row.into()))
}

/// The registers that states record.
pub(super) fn listed(saved: &SavedCertificate) -> ListedRegisters {
    let list = |row: &Vec<u32>| row.iter().map(|&register| RegId(register)).collect();
    saved.registers.iter().map(|rows| rows.iter().map(list).collect()).collect()
}

fn to_class(class: &[LocalRecord]) -> Vec<LocalState> {
    let state = |record: &LocalRecord| LocalState {
        location: LocId(record.at),
        registers: record.registers.iter().map(|&(register, value)| (RegId(register), value)).collect(),
        holds_lock: record.holds,
    };
    class.iter().map(state).collect()
}

fn to_configuration(record: &ConfigurationRecord) -> Configuration {
    let view =
        |view: &ViewRecord| ThreadView { class: view.class, messages: view.messages.iter().map(to_message).collect() };
    let copy = |copy: &CopyViewRecord| ThreadView {
        class: Some(copy.class),
        messages: copy.messages.iter().map(to_message).collect(),
    };
    Configuration {
        threads: record.threads.iter().map(view).chain(record.copies.iter().map(copy)).collect(),
        copies: record.copies.iter().map(|copy| copy.of).collect(),
        memory: record.memory.iter().copied().collect(),
    }
}
