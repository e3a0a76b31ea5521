//! Certificates to JSON and back. What is read back is only a claim, which `weir-witness` checks.

use std::path::Path;

use weir_ir::{LocId, Multiplicity, Program, RegId, ThreadId, Value};
use weir_witness::{AbstractBuffer, AbstractState, AbstractThread, Buffering, Certificate, Waiting};

use crate::json::{
    BuffersRecord, CERTIFICATE_FORMAT, CertificateKind, SavedCertificate, StateRecord, ThreadRecord, VERSION,
};
use crate::render::clean::clean;
use crate::witness_file::{Misfit, to_goal, to_saved_goal};

/// A certificate with all that is needed to check it again.
pub(crate) fn to_saved(
    program: &Program,
    certificate: &Certificate,
    file: &Path,
    defines: &[(String, Value)],
) -> SavedCertificate {
    SavedCertificate {
        format: CERTIFICATE_FORMAT,
        kind: CertificateKind::Buffers,
        weir: VERSION.to_owned(),
        file: file.display().to_string(),
        defines: defines.iter().cloned().collect(),
        goals: certificate.goals.iter().map(|&goal| to_saved_goal(program, goal)).collect(),
        buffers: match certificate.buffering {
            Buffering::Coherence(bound) => BuffersRecord::Coherence(bound),
            Buffering::Multiset(bound) => BuffersRecord::Multiset(bound),
        },
        threads: running(program).map(|thread| program.thread(thread).name.clone()).collect(),
        states: certificate.states.iter().map(|state| to_record(program, state)).collect(),
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
pub(crate) fn to_certificate(program: &Program, saved: &SavedCertificate) -> Result<Certificate, Misfit> {
    let names: Vec<&str> = running(program).map(|thread| program.thread(thread).name.as_str()).collect();
    if names != saved.threads.iter().map(String::as_str).collect::<Vec<_>>() {
        return Err(Misfit {
            step: None,
            reason: "the threads of the program are others than the file says".to_owned(),
        });
    }
    let goals = saved.goals.iter().map(|goal| to_goal(program, goal)).collect::<Result<_, _>>()?;
    let buffering = match saved.buffers {
        BuffersRecord::Coherence(bound) => Buffering::Coherence(bound),
        BuffersRecord::Multiset(bound) => Buffering::Multiset(bound),
    };
    let states = saved.states.iter().map(|state| to_state(program, state)).collect::<Result<_, _>>()?;
    Ok(Certificate { buffering, goals, states })
}

fn to_state(program: &Program, record: &StateRecord) -> Result<AbstractState, Misfit> {
    let holder = |name: &String| {
        let found = program.thread_ids().find(|&thread| program.thread(thread).name == *name);
        found.ok_or_else(|| Misfit { step: None, reason: format!("the program has no thread `{}`", clean(name)) })
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
