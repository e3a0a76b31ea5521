//! Certificates as files hold them, and back. What is read back is only a claim, which `weir-witness` checks.

use weir_ir::{Interrupt, LocId, Multiplicity, Program, RegId, ThreadId};
use weir_syntax::Language;
use weir_witness::{
    AbstractBuffer, AbstractState, AbstractThread, BackwardFault, BackwardProof, Buffering, Certificate, Configuration,
    Fault, Goal, LocalState, Message, Model, ThreadView, Waiting, check_backward_proof_until, check_certificate_until,
};

use super::certificate_format::{
    BuffersRecord, CERTIFICATE_FORMAT, CertificateKind, ConfigurationRecord, LocalRecord, MessageRecord,
    SavedCertificate, StateRecord, ThreadRecord, ViewRecord,
};
use super::metadata::{Metadata, Question};
use super::mismatch::{Mismatch, Rejection};
use crate::wording::clean::clean;

/// A proof of either kind.
pub enum Proof {
    /// States that no step leaves.
    Forward(Certificate),
    /// Configurations that no step enters.
    Backward(BackwardProof),
}

impl Proof {
    /// What it shows to be out of reach.
    pub fn goals(&self) -> &[Goal] {
        match self {
            Self::Forward(certificate) => &certificate.goals,
            Self::Backward(proof) => &proof.goals,
        }
    }

    /// Whether the independent checker accepts it.
    pub fn check(&self, program: &Program, interrupt: &dyn Interrupt) -> Result<(), Rejection> {
        match self {
            Self::Forward(certificate) => {
                check_certificate_until(program, certificate, interrupt).map_err(|error| match error.fault {
                    Fault::Interrupted => Rejection::Interrupted,
                    _ => Rejection::Mismatch(error.into()),
                })
            }
            Self::Backward(proof) => {
                check_backward_proof_until(program, proof, interrupt).map_err(|error| match error.fault {
                    BackwardFault::Interrupted => Rejection::Interrupted,
                    _ => Rejection::Mismatch(error.into()),
                })
            }
        }
    }
}

impl SavedCertificate {
    /// A certificate with all that is needed to check it again.
    pub fn new(program: &Program, language: Language, proof: &Proof) -> Self {
        let question = Question { program, language, model: Model::Tso, goals: proof.goals() };
        to_saved(program, Metadata::new(&question), proof)
    }

    /// The text of the file.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self).map(|text| text + "\n")
    }

    /// Whether the certificate answers the question, according to the independent checker.
    ///
    /// # Errors
    /// If it does not, or if the file is about another question.
    pub fn check(&self, question: &Question<'_>, interrupt: &dyn Interrupt) -> Result<(), Rejection> {
        self.metadata.compare(question).map_err(Rejection::Mismatch)?;
        let goals = self.metadata.proved(question).map_err(Rejection::Mismatch)?;
        let proof = to_proof(question.program, self, goals).map_err(Rejection::Mismatch)?;
        proof.check(question.program, interrupt)
    }

    /// What it is made of, and how many of these there are.
    pub fn size(&self) -> (&'static str, u64) {
        match self.kind {
            CertificateKind::Buffers => ("state", self.states.len() as u64),
            CertificateKind::Configurations => ("configuration", self.configurations.len() as u64),
        }
    }

    /// The properties of the program that it claims to prove.
    pub fn goal_texts(&self, program: &Program) -> Vec<String> {
        self.metadata.specification.iter().map(|goal| goal.text(program)).collect()
    }
}

fn to_saved(program: &Program, metadata: Metadata, proof: &Proof) -> SavedCertificate {
    let empty = SavedCertificate {
        format: CERTIFICATE_FORMAT,
        kind: CertificateKind::Configurations,
        metadata,
        threads: running(program).map(|thread| program.thread(thread).name.clone()).collect(),
        buffers: None,
        states: Vec::new(),
        classes: Vec::new(),
        configurations: Vec::new(),
    };
    match proof {
        Proof::Forward(certificate) => SavedCertificate {
            kind: CertificateKind::Buffers,
            buffers: Some(match certificate.buffering {
                Buffering::Coherence(bound) => BuffersRecord::Coherence(bound),
                Buffering::Multiset(bound) => BuffersRecord::Multiset(bound),
            }),
            states: certificate.states.iter().map(|state| to_record(program, state)).collect(),
            ..empty
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
    ConfigurationRecord {
        threads: configuration.threads.iter().map(view).collect(),
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

fn to_record(program: &Program, state: &AbstractState) -> StateRecord {
    let waiting = |buffer: &AbstractBuffer| {
        let entries = buffer.waiting.iter();
        entries
            .map(|(&address, waiting)| (address, waiting.newest, waiting.older.clone().into_iter().collect()))
            .collect()
    };
    let thread = |own: &AbstractThread| ThreadRecord {
        at: own.location.0,
        registers: own.registers.iter().map(|(register, &value)| (register.0, value)).collect(),
        queue: own.buffer.queue.clone(),
        waiting: waiting(&own.buffer),
    };
    StateRecord {
        threads: state.threads.iter().map(thread).collect(),
        memory: state.memory.clone().into_iter().collect(),
        lock: state.lock_holder.map(|holder| program.thread(holder).name.clone()),
    }
}

/// The certificate that a file claims, in terms of the program.
fn to_proof(program: &Program, saved: &SavedCertificate, goals: Vec<Goal>) -> Result<Proof, Mismatch> {
    let names: Vec<&str> = running(program).map(|thread| program.thread(thread).name.as_str()).collect();
    if names != saved.threads.iter().map(String::as_str).collect::<Vec<_>>() {
        return Err(Mismatch::whole("the threads of the program differ from those in the file"));
    }
    let missing = || Mismatch::whole("the file does not say how buffers are over-approximated");
    if saved.kind == CertificateKind::Configurations {
        let classes =
            saved.classes.iter().map(|classes| classes.iter().map(|class| to_class(class)).collect()).collect();
        let configurations = saved.configurations.iter().map(to_configuration).collect();
        return Ok(Proof::Backward(BackwardProof { goals, classes, configurations }));
    }
    let buffering = match saved.buffers.ok_or_else(missing)? {
        BuffersRecord::Coherence(bound) => Buffering::Coherence(bound),
        BuffersRecord::Multiset(bound) => Buffering::Multiset(bound),
    };
    let states = saved.states.iter().map(|state| to_state(program, state)).collect::<Result<_, _>>()?;
    Ok(Proof::Forward(Certificate { buffering, goals, states }))
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
    Configuration {
        threads: record.threads.iter().map(view).collect(),
        memory: record.memory.iter().copied().collect(),
    }
}

fn to_state(program: &Program, record: &StateRecord) -> Result<AbstractState, Mismatch> {
    let holder = |name: &String| {
        let found = program.thread_ids().find(|&thread| program.thread(thread).name == *name);
        found.ok_or_else(|| Mismatch::whole(format!("the program has no thread `{}`", clean(name))))
    };
    Ok(AbstractState {
        threads: record.threads.iter().map(to_thread).collect(),
        memory: record.memory.iter().copied().collect(),
        lock_holder: record.lock.as_ref().map(holder).transpose()?,
    })
}

fn to_thread(record: &ThreadRecord) -> AbstractThread {
    let waiting = record.waiting.iter().map(|(address, newest, older)| {
        (*address, Waiting { newest: *newest, older: older.iter().copied().collect() })
    });
    AbstractThread {
        location: LocId(record.at),
        registers: record.registers.iter().map(|&(register, value)| (RegId(register), value)).collect(),
        buffer: AbstractBuffer { queue: record.queue.clone(), waiting: waiting.collect() },
    }
}
