//! The vocabulary of attacks ("Checking and Enforcing Robustness against TSO"): which store might be delayed past which
//! load, and what a step of a run that shows an attack does.

use weir_ir::{EdgeId, Program, ThreadId};
use weir_witness::{Action, Model, Run, Step};

/// A thread, a store of it, and a load of it past which the store might be delayed ("Checking and Enforcing
/// Robustness against TSO", Definition 1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Attack {
    /// The attacker.
    pub thread: ThreadId,
    /// Its store.
    pub store: EdgeId,
    /// Its load.
    pub load: EdgeId,
}

/// The attacks of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Attacks {
    /// How many pairs of a store and a load of one thread there are.
    pub total: usize,
    /// Those that control flow alone does not rule out, in order of threads, stores, loads.
    pub open: Vec<Attack>,
}

/// A step of a thread: an edge of its body.
pub type ThreadEdge = (ThreadId, EdgeId);

/// What a step of a run that shows an attack does, besides taking its edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AttackStep {
    /// Nothing.
    Ordinary,
    /// The attacker takes its first delayed store.
    Begin,
    /// The attacker takes the attack's load.
    Halt,
}

/// The TSO run of the form of Figure 4 of the paper: only the attacker's stores wait, from the first delayed one on,
/// until the path has come round to it. Every other store lands at once.
pub(crate) fn run_under_tso(program: &Program, steps: &[(Step, AttackStep)]) -> Run {
    let (mut run, waiting) = delaying_run(program, steps);
    run.steps.extend(waiting);
    run
}

/// The same with the attacker's stores still waiting; and the flushes that end it.
pub(crate) fn delaying_run(
    program: &Program,
    steps: &[(Step, AttackStep)],
) -> (Run, impl Iterator<Item = Step> + use<>) {
    let attacker = steps.iter().find(|(_, kind)| *kind == AttackStep::Begin).map(|(step, _)| step.thread);
    let (mut run, mut waiting, mut begun) = (Vec::new(), 0, false);
    for &(step, kind) in steps {
        run.push(step);
        begun |= kind == AttackStep::Begin;
        let Action::Execute { edge, .. } = step.action else { continue };
        if program.body(step.thread).edge(edge).instruction.is_store() {
            if begun && Some(step.thread) == attacker {
                waiting += 1;
            } else {
                run.push(Step { thread: step.thread, action: Action::Flush });
            }
        }
    }
    let flush = move |thread| Step { thread, action: Action::Flush };
    let flushes = attacker.into_iter().flat_map(move |thread| std::iter::repeat_n(flush(thread), waiting));
    (Run { model: Model::Tso, steps: run }, flushes)
}
