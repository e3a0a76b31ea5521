//! What is looked for.

use weir_ir::{BinaryOp, Expr, Program, Property, PropertyKind, Span, StateAtom, StateExpr};

/// What is looked for: any of its alternatives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target(Vec<Alternative>);

/// One thing that is looked for. What a state shows by itself belongs here; a further kind needs a case in
/// `Alternative::kind` and in the text, and is otherwise judged as the property of that kind is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Alternative {
    /// A condition. If it mentions cells, it counts only in drained configurations.
    Condition(StateExpr),
    /// No thread can step, nothing can be flushed, and not all threads are done.
    Deadlock,
    /// Some thread can never again leave a wait or a loop that has an exit, in any run of the program.
    Stuck,
}

impl Alternative {
    /// The property whose goal this is.
    fn kind(&self) -> PropertyKind {
        match self {
            Self::Condition(condition) => PropertyKind::Forbid(condition.clone()),
            Self::Deadlock => PropertyKind::ForbidDeadlock,
            Self::Stuck => PropertyKind::ForbidStuck,
        }
    }

    /// Whether it counts only in drained configurations. A deadlock is judged as it is: stores behind a lock that is
    /// kept forever never leave. So is what is lost forever.
    pub(super) fn is_judged_when_drained(&self) -> bool {
        match self {
            Self::Condition(condition) => speaks_of_cells(condition),
            Self::Deadlock | Self::Stuck => false,
        }
    }
}

impl Target {
    /// Any of these. What `||` joins in a condition are alternatives.
    pub fn any_of(alternatives: impl IntoIterator<Item = Alternative>) -> Self {
        let split = |alternative| match alternative {
            Alternative::Condition(condition) => {
                operands(&condition).into_iter().cloned().map(Alternative::Condition).collect()
            }
            other @ (Alternative::Deadlock | Alternative::Stuck) => vec![other],
        };
        Self(alternatives.into_iter().flat_map(split).collect())
    }

    /// Its alternatives.
    pub fn alternatives(&self) -> &[Alternative] {
        &self.0
    }

    /// As the command line has it: `P at critical || deadlock`.
    pub fn text(&self, program: &Program) -> String {
        let conditions = self.0.iter().filter_map(|alternative| match alternative {
            Alternative::Condition(condition) => Some(condition.clone()),
            Alternative::Deadlock | Alternative::Stuck => None,
        });
        let conditions = conditions.reduce(|left, right| Expr::binary(BinaryOp::Or, left, right));
        let names = [(Alternative::Deadlock, "deadlock"), (Alternative::Stuck, "stuck")];
        let names = names.iter().filter(|(kind, _)| self.0.contains(kind)).map(|&(_, name)| name.to_owned());
        let texts = conditions.map(|condition| program.condition_text(&condition)).into_iter().chain(names);
        texts.collect::<Vec<_>>().join(" || ")
    }

    /// The properties whose goals it consists of.
    pub(super) fn properties(&self) -> Vec<Property> {
        let property = |alternative: &Alternative| Property { kind: alternative.kind(), span: Span::default() };
        self.0.iter().map(property).collect()
    }
}

impl From<StateExpr> for Target {
    fn from(condition: StateExpr) -> Self {
        Self::any_of([Alternative::Condition(condition)])
    }
}

impl From<&StateExpr> for Target {
    fn from(condition: &StateExpr) -> Self {
        condition.clone().into()
    }
}

impl From<&Target> for Target {
    fn from(target: &Target) -> Self {
        target.clone()
    }
}

/// What `||` joins: each part is looked for by itself.
fn operands(condition: &StateExpr) -> Vec<&StateExpr> {
    let mut open = vec![condition];
    let mut found = Vec::new();
    while let Some(part) = open.pop() {
        match part {
            Expr::Binary(BinaryOp::Or, left, right) => open.extend([&**right, &**left]),
            other => found.push(other),
        }
    }
    found
}

fn speaks_of_cells(condition: &StateExpr) -> bool {
    let mut found = false;
    condition.for_each_leaf(&mut |atom| found |= matches!(atom, StateAtom::Cell(_)));
    found
}
