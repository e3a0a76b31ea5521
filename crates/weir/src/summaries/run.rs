//! The run that leads to a node: calls that have returned are replaced by what they did.
//!
//! Nodes are found from nodes with smaller numbers, so this ends. A run can be exponentially longer than there are
//! nodes, since one summary may stand for many calls: runs that are too long to be shown are not built.

use weir_witness::Step;

use super::tabulation::{How, NodeId, Tabulation};

/// Longer runs are of no use to anybody.
const MOST_STEPS: usize = 1_000_000;

/// What is still to be written, the next part last.
enum Part {
    /// The steps from the start of its invocation to a node.
    Within(NodeId),
    Step(Step),
}

impl Tabulation<'_> {
    /// The steps of a run to a node; none if there are too many.
    pub(super) fn steps_to(&self, node: NodeId) -> Option<Vec<Step>> {
        // The calls that have not returned, the outermost last.
        let mut parts = vec![Part::Within(node)];
        let mut at = node;
        while let Some((caller, call)) = self.entering_call(at) {
            parts.extend([Part::Step(call), Part::Within(caller)]);
            at = caller;
        }
        let mut steps = Vec::new();
        while let Some(part) = parts.pop() {
            match part {
                Part::Step(step) => steps.push(step),
                Part::Within(node) => match self.how(node) {
                    How::Start => {}
                    How::Step { before, step } => parts.extend([Part::Step(step), Part::Within(before)]),
                    How::Over { caller, call, exit, back } => {
                        parts.extend([Part::Step(back), Part::Within(exit), Part::Step(call), Part::Within(caller)]);
                    }
                },
            }
            if steps.len() + parts.len() > MOST_STEPS {
                return None;
            }
        }
        Some(steps)
    }
}
