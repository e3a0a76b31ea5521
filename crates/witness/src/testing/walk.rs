//! Walks through every state of the reference interpreter, each with a run that leads there.

use std::collections::{HashSet, VecDeque};

use weir_ir::{Instruction, Program};
use weir_testkit::View;

use crate::run::{Action, Model, Run, Step};

/// A state of the reference interpreter, a run that leads to it, and where the steps from it lead.
pub(crate) struct Visit {
    pub(crate) view: View,
    pub(crate) run: Run,
    pub(crate) next: Vec<(Step, View)>,
}

/// Visits the states that the reference interpreter reaches, at most `limit` of them. Returns whether these are all.
pub(crate) fn walk(program: &Program, model: Model, limit: usize, mut visit: impl FnMut(&Visit)) -> bool {
    let initial = View::initial(program).expect("the reference can");
    let mut seen = HashSet::from([initial.clone()]);
    let mut queue = VecDeque::from([(initial, Vec::new())]);
    while let Some((view, steps)) = queue.pop_front() {
        let next = steps_of(program, model, &view);
        for (step, after) in &next {
            if seen.len() < limit && seen.insert(after.clone()) {
                let longer = steps.iter().copied().chain([*step]).collect();
                queue.push_back((after.clone(), longer));
            }
        }
        visit(&Visit { view, run: Run { model, steps }, next });
    }
    seen.len() < limit
}

/// The model, as the reference interpreter names it.
pub(crate) fn reference_model(model: Model) -> weir_testkit::Model {
    match model {
        Model::Sc => weir_testkit::Model::Sc,
        Model::Tso => weir_testkit::Model::Tso,
    }
}

/// The steps of the reference interpreter as steps of a run.
fn steps_of(program: &Program, model: Model, view: &View) -> Vec<(Step, View)> {
    let steps = view.steps(program, reference_model(model)).into_iter();
    let step = |(thread, edge, after): (weir_ir::ThreadId, Option<weir_ir::EdgeId>, View)| {
        let action = match edge {
            None => Action::Flush,
            Some(edge) => {
                let choice = match &program.body(thread).edge(edge).instruction {
                    Instruction::Havoc { register, .. } => after.registers(thread)[register.index()],
                    _ => 0,
                };
                Action::Execute { edge, choice }
            }
        };
        (Step { thread, action }, after)
    };
    steps.map(step).collect()
}
