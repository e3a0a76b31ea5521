//! Attacks that are images of each other: if exchanging two threads maps the program to itself, an attack of one is
//! feasible exactly if the same attack of the other is. One of them is enough.

use std::collections::BTreeSet;

use weir_ir::{EdgeId, Program, ThreadId};

use super::question::Question;
use crate::semantics::compile::Compiled;
use crate::semantics::scalarsets::{Symmetry, symmetry};

/// Threads of which any two can be exchanged.
pub(super) struct Images {
    pub(super) symmetry: Symmetry,
    classes: Vec<Vec<ThreadId>>,
}

impl Images {
    pub(super) fn new(program: &Program, compiled: &Compiled) -> Self {
        // Traces are compared, and no property tells threads apart.
        let symmetry = symmetry(program, compiled, &[]);
        Self { classes: symmetry.classes(&compiled.threads), symmetry }
    }

    /// Leaves out the attacks of threads that have the same attacks and fences as one that it could be exchanged with.
    pub(super) fn ask_one_each(&self, question: &mut Question) {
        // What is covered belongs to a thread; nobody has compared that.
        if !question.covered.is_empty() {
            return;
        }
        for class in &self.classes {
            let mut asked = BTreeSet::new();
            for &thread in class {
                let attacks = question.attacks.iter().filter(|attack| attack.thread == thread);
                let attacks: Vec<(EdgeId, EdgeId)> = attacks.map(|attack| (attack.store, attack.load)).collect();
                let fences = question.fenced.iter().filter(|(of, _)| *of == thread);
                let fences: Vec<EdgeId> = fences.map(|&(_, edge)| edge).collect();
                if !asked.insert((attacks, fences)) {
                    question.attacks.retain(|attack| attack.thread != thread);
                }
            }
        }
    }
}
