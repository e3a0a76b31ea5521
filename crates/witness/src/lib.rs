//! The small trusted part of Weir: replays a run step by step under SC or TSO, builds its happens-before graph, and
//! checks certificates that nothing can be reached. The same for Petri nets is in [`net`]. It shares no code with the
//! engines, only `weir-ir`, and renders nothing.

mod backward;
mod certificate;
mod checked;
mod continuations;
mod counts;
mod cycle;
mod event;
mod fences;
mod goal;
mod happens_before;
mod interpret;
pub mod limits;
pub mod net;
mod replay;
mod run;
mod state;
#[cfg(test)]
mod testing;
mod words;

pub use backward::{
    BackwardError, BackwardFault, BackwardProof, Configuration, LocalState, Message, ThreadView, check_backward_proof,
    check_backward_proof_until,
};
pub use certificate::{
    AbstractBuffer, AbstractState, AbstractThread, Buffering, Certificate, CertificateError, ChanceConfiguration,
    ChanceFault, ChanceMove, ChanceProof, ChanceQuestion, ChanceSystem, ClosedSet, CopiesProof, CopiesSystem,
    CopyState, Fault, ListedRegisters, MalformedRow, Minimal, Move, ONE, Odds, PackedStates, Packer, Updates, Waiting,
    Wanted, attack_closure, check_attack_proof, check_certificate, check_certificate_until, check_closed_set,
    check_copies_proof, copies_closure,
};
pub use checked::{CheckError, Checked};
pub use continuations::Continuations;
pub use cycle::Cycle;
pub use event::{Effect, Event, Loaded, ReadFrom, StepId};
pub use fences::{BoundFault, BoundStep, CheapestFences, CostBound, FencePlace, FencesFault, stopping, with_fences};
pub use goal::{GoalError, Shortcoming, check_goal};
pub use happens_before::{HappensBefore, Node, NodeId, NodeKind, Relation};
pub use interpret::{Feature, Refusal, Unsupported};
pub use replay::{Replay, ReplayError, enabled_steps, replay};
pub use run::{Action, Goal, Model, Run, Step};
pub use state::{Buffered, State, ThreadState};
