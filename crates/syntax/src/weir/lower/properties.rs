//! Properties: conditions over cells, registers and places, resolved against the lowered threads.

use std::collections::HashMap;

use weir_ir::{BinaryOp, Diagnostic, Expr as Tree, LocId, Property, PropertyKind, RegId, Span, StateAtom, StateExpr};

use super::super::ast::{Expr, ExprKind, Name, PropertyDecl, PropertyForm};
use super::super::sink::Sink;
use super::constants::{Constants, mark};
use super::elements::element_address;
use super::expressions::{binary, unary};
use super::name_errors::report_unknown;
use super::names::{Copies, Global, Globals, Used};

/// What properties can see of one thread.
#[derive(Default)]
pub(super) struct View<'a> {
    pub(super) registers: HashMap<&'a str, RegId>,
    pub(super) places: HashMap<String, Vec<LocId>>,
    /// Where the thread is done.
    pub(super) ends: Vec<LocId>,
    /// Whether it calls procedures that were not inlined, which may terminate it.
    pub(super) calls: bool,
}

/// Resolves properties.
pub(super) struct Observer<'c, 'a> {
    pub(super) globals: &'c Globals<'a>,
    /// One for each thread; none for one in error.
    pub(super) views: &'c [Option<View<'a>>],
    pub(super) sink: &'c mut Sink,
    pub(super) used: &'c mut Used,
    /// The labels of all threads, with where each is declared; emptied as they are used.
    pub(super) thread_labels: HashMap<&'a str, Vec<Span>>,
    /// Observations made so far, each place of each thread counted.
    pub(super) observations: usize,
}

impl<'a> Observer<'_, 'a> {
    /// What a declaration states: one property, but for a `live` about several instances of a thread.
    pub(super) fn property(&mut self, property: &PropertyDecl<'a>) -> Vec<Property> {
        let kinds = match &property.form {
            PropertyForm::Forbid(condition) => vec![PropertyKind::Forbid(self.condition(condition))],
            PropertyForm::ForbidDeadlock => vec![PropertyKind::ForbidDeadlock],
            PropertyForm::Exists(condition) => vec![PropertyKind::Exists(self.condition(condition))],
            PropertyForm::Always(condition) => vec![PropertyKind::Always(self.condition(condition))],
            PropertyForm::ForbidStuck => vec![PropertyKind::ForbidStuck],
            PropertyForm::Live(condition) => self.live(condition).into_iter().map(PropertyKind::Live).collect(),
        };
        kinds.into_iter().map(|kind| Property { kind, span: property.span }).collect()
    }

    /// `live T at label` is about each instance of `T`: it is not enough that some of them can get there.
    fn live(&mut self, condition: &Expr<'a>) -> Vec<StateExpr> {
        match &condition.kind {
            ExprKind::At(place) => {
                let each = self.places(place, BinaryOp::Or);
                if self.has_no_copies(&place.thread) { vec![Tree::Const(1)] } else { each }
            }
            _ => vec![self.condition(condition)],
        }
    }

    fn condition(&mut self, expression: &Expr<'a>) -> StateExpr {
        match &expression.kind {
            ExprKind::Number(value) => Tree::Const(*value),
            ExprKind::Malformed => Tree::Const(0),
            ExprKind::Name(name) => self.named(*name),
            ExprKind::Index(name, index) => self.element(*name, index),
            ExprKind::Memory(address) => match self.constants().value(address) {
                Some(address) => {
                    self.used.memory = true;
                    Tree::Leaf(StateAtom::Cell(address))
                }
                None => Tree::Const(0),
            },
            ExprKind::AddressOf(..) => Tree::Const(self.constants().value(expression).unwrap_or(0)),
            ExprKind::Unary(op, operand) => unary(*op, self.condition(operand)),
            ExprKind::Binary(op, left, right) => {
                let left = self.condition(left);
                binary(*op, left, self.condition(right))
            }
            ExprKind::At(place) => self.place(place, BinaryOp::Or),
            ExprKind::Count(place) => self.place(place, BinaryOp::Add),
            ExprKind::Register(thread, register) => self.register(thread, *register),
            ExprKind::Call(..) | ExprKind::ReadModifyWrite(..) | ExprKind::Any(_) => {
                let error = Diagnostic::error(
                    "step-in-property",
                    "a property only observes; it cannot take steps",
                    expression.span,
                );
                self.sink.error(error.help("do this in a thread, and refer to its registers here (`T.r`)"));
                Tree::Const(0)
            }
        }
    }

    pub(super) fn constants(&mut self) -> Constants<'_, 'a> {
        Constants { globals: self.globals, parameter: None, registers: None, sink: self.sink, used: self.used }
    }

    fn named(&mut self, name: Name<'a>) -> StateExpr {
        match self.globals.get(name.text) {
            Some(Global::Constant(at)) => {
                mark(&mut self.used.constants, at);
                Tree::Const(self.globals.constants.get(at).and_then(|&(_, value)| value).unwrap_or(0))
            }
            Some(Global::Shared(at)) => self.scalar(name, at),
            Some(Global::ThreadLocal(_)) => {
                let message = format!("each thread has a `{}` of its own", name.text);
                let help = format!("say whose: `{}.{}`", self.some_thread(), name.text);
                self.sink.error(Diagnostic::error("not-a-value", message, name.span).help(help));
                Tree::Const(0)
            }
            Some(other @ (Global::Procedure(_) | Global::Thread(_))) => {
                let message = format!("`{}` is {}, not a value", name.text, other.describe());
                let error = Diagnostic::error("not-a-value", message, name.span);
                self.sink.error(
                    error.help(format!("write `{0} at label` for a place, or `{0}.r` for a register", name.text)),
                );
                Tree::Const(0)
            }
            None => {
                self.unknown_value(name);
                Tree::Const(0)
            }
        }
    }

    /// The name of a thread, for advice.
    fn some_thread(&self) -> &'a str {
        self.globals.families.first().map_or("T", |family| family.declaration.name.text)
    }

    fn scalar(&mut self, name: Name<'a>, at: usize) -> StateExpr {
        mark(&mut self.used.shared, at);
        let Some(shared) = self.globals.shared.get(at) else { return Tree::Const(0) };
        if shared.is_array {
            let message = format!("`{}` is an array, not a single cell", name.text);
            let error = Diagnostic::error("array-as-value", message, name.span).also(shared.span, "declared here");
            self.sink.error(error.help(format!("name a cell: `{}[0]`", name.text)));
        }
        Tree::Leaf(StateAtom::Cell(shared.address))
    }

    /// A name that is neither cell nor constant: perhaps a register without its thread.
    fn unknown_value(&mut self, name: Name<'a>) {
        let owner = self.globals.families.iter().find(|family| {
            family.threads().any(|thread| self.view(thread).is_some_and(|view| view.registers.contains_key(name.text)))
        });
        let globals = self.globals;
        let known = || {
            let mut known = globals.names(|global| matches!(global, Global::Constant(_) | Global::Shared(_)));
            known.extend(["deadlock", "stuck"]);
            known
        };
        let otherwise = match owner.map(|family| (family.declaration.name.text, family.copies)) {
            Some((thread, Copies::Instances(_))) => format!("a register needs its thread: `{thread}[0].{}`", name.text),
            Some((thread, _)) => format!("a register needs its thread: `{thread}.{}`", name.text),
            None => "properties refer to cells (`x`), registers (`T.r`) and places (`T at label`)".into(),
        };
        report_unknown(self.sink, "shared cell or constant", name, known, &otherwise);
    }

    fn element(&mut self, name: Name<'a>, index: &Expr<'a>) -> StateExpr {
        let Some(Global::Shared(at)) = self.globals.get(name.text) else {
            return self.named(name);
        };
        mark(&mut self.used.shared, at);
        let index_value = self.constants().value(index);
        let shared = self.globals.shared.get(at);
        let (Some(shared), Some(value)) = (shared, index_value) else { return Tree::Const(0) };
        let address = element_address(shared, name, value, index.span, self.sink);
        Tree::Leaf(StateAtom::Cell(address.unwrap_or(0)))
    }
}
