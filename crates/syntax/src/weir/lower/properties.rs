//! Properties and costs: what they observe, resolved against the lowered threads.

use std::collections::HashMap;

use weir_ir::{
    BinaryOp, CostRule, CostSubject, Diagnostic, Expr as Tree, LocId, Property, PropertyKind, RegId, Span, StateAtom,
    StateExpr, ThreadId, Value,
};

use super::super::ast::{CostDecl, Expr, ExprKind, LabelRef, Name, PlaceExpr, PropertyDecl, PropertyForm, ThreadRef};
use super::super::limits::MAX_OBSERVATIONS;
use super::super::sink::Sink;
use super::check::Facts;
use super::constants::{Constants, mark};
use super::expressions::{binary, unary};
use super::memory::element_address;
use super::names::{Copies, Family, Global, Globals, Used, listed, near, report_unknown};

/// What properties can see of one thread.
#[derive(Default)]
pub(super) struct View<'a> {
    pub(super) registers: HashMap<&'a str, RegId>,
    pub(super) places: HashMap<String, Vec<LocId>>,
    /// Where the thread is done.
    pub(super) ends: Vec<LocId>,
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
    pub(super) fn property(&mut self, property: &PropertyDecl<'a>) -> Property {
        let kind = match &property.form {
            PropertyForm::Forbid(condition) => PropertyKind::Forbid(self.condition(condition)),
            PropertyForm::ForbidDeadlock => PropertyKind::ForbidDeadlock,
            PropertyForm::Exists(condition) => PropertyKind::Exists(self.condition(condition)),
            PropertyForm::Always(condition) => PropertyKind::Always(self.condition(condition)),
        };
        Property { kind, span: property.span }
    }

    fn condition(&mut self, expression: &Expr<'a>) -> StateExpr {
        match &expression.kind {
            ExprKind::Number(value) => Tree::Const(*value),
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
                let error =
                    Diagnostic::error("step-in-property", "a property only looks, it takes no steps", expression.span);
                self.sink.error(error.help("do this in a thread, and speak of its registers here (`T.r`)"));
                Tree::Const(0)
            }
        }
    }

    fn constants(&mut self) -> Constants<'_, 'a> {
        Constants { globals: self.globals, parameter: None, registers: None, sink: self.sink, used: self.used }
    }

    fn named(&mut self, name: Name<'a>) -> StateExpr {
        match self.globals.get(name.text) {
            Some(Global::Constant(at)) => {
                mark(&mut self.used.constants, at);
                Tree::Const(self.globals.constants.get(at).and_then(|&(_, value)| value).unwrap_or(0))
            }
            Some(Global::Shared(at)) => self.scalar(name, at),
            Some(other @ (Global::Procedure(_) | Global::Thread(_))) => {
                let message = format!("`{}` is {}, not a value", name.text, other.describe());
                let error = Diagnostic::error("not-a-value", message, name.span);
                self.sink.error(error.help(format!("`{0} at label` is a place, `{0}.r` a register", name.text)));
                Tree::Const(0)
            }
            None => {
                self.unknown_value(name);
                Tree::Const(0)
            }
        }
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
        let known = || globals.names(|global| matches!(global, Global::Constant(_) | Global::Shared(_)));
        let otherwise = match owner.map(|family| (family.declaration.name.text, family.copies)) {
            Some((thread, Copies::Instances(_))) => format!("a register needs its thread: `{thread}[0].{}`", name.text),
            Some((thread, _)) => format!("a register needs its thread: `{thread}.{}`", name.text),
            None => "properties speak of cells (`x`), registers (`T.r`) and places (`T at label`)".into(),
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

    fn view(&self, thread: ThreadId) -> Option<&View<'a>> {
        self.views.get(thread.index())?.as_ref()
    }

    /// The threads that a reference means, with what was declared.
    fn threads(&mut self, reference: &ThreadRef<'a>) -> Option<(usize, Vec<ThreadId>)> {
        let name = reference.name;
        let Some(Global::Thread(at)) = self.globals.get(name.text) else {
            let globals = self.globals;
            let known = || globals.names(|global| matches!(global, Global::Thread(_)));
            report_unknown(self.sink, "thread", name, known, "the name is that of a `thread` item");
            return None;
        };
        let family = self.globals.families.get(at)?;
        let Some(index) = &reference.index else { return Some((at, family.threads().collect())) };
        let number = self.constants().value(index)?;
        let instance = match family.copies {
            Copies::Instances(count) => (0..Value::from(count)).contains(&number).then_some(number as u32),
            _ => None,
        };
        if instance.is_none() {
            self.no_such_instance(family, number, reference.span);
        }
        Some((at, vec![ThreadId(family.first.0 + instance?)]))
    }

    fn no_such_instance(&mut self, family: &Family, number: Value, span: Span) {
        let name = family.declaration.name.text;
        let error = Diagnostic::error("unknown-instance", format!("there is no thread `{name}[{number}]`"), span)
            .also(family.declaration.span, "declared here");
        self.sink.error(error.help(match family.copies {
            Copies::Instances(count) => format!("they are `{name}[0]` to `{name}[{}]`", count.saturating_sub(1)),
            Copies::One => format!("there is just one: write `{name}`"),
            Copies::Spawned | Copies::Arbitrary => {
                format!(
                    "its copies have no numbers; `{name} at label` means some copy, `count({name} at label)` how many"
                )
            }
        }));
    }

    /// `T at label`: the threads' observations joined by `join`.
    fn place(&mut self, place: &PlaceExpr<'a>, join: BinaryOp) -> StateExpr {
        if self.observations > MAX_OBSERVATIONS {
            self.too_much(place.thread.span);
            return Tree::Const(0);
        }
        let Some((family, threads)) = self.threads(&place.thread) else { return Tree::Const(0) };
        if let Some(label) = &place.label
            && !self.check_label(family, label, &threads)
        {
            return Tree::Const(0);
        }
        self.warn_if_endless(place, &threads);
        let mut atoms = Vec::with_capacity(threads.len());
        for thread in threads {
            let locations = self.locations(thread, place.label.as_ref());
            self.observations += 1 + locations.len();
            atoms.push(self.atom(family, thread, locations, join));
        }
        balanced(join, atoms)
    }

    fn warn_if_endless(&mut self, place: &PlaceExpr, threads: &[ThreadId]) {
        let endless = |&thread: &ThreadId| self.view(thread).is_some_and(|view| view.ends.is_empty());
        if place.label.is_none() && threads.iter().all(endless) {
            let message = format!("thread `{}` never ends: it is never `at end`", place.thread.name.text);
            self.sink.warning(Diagnostic::warning("never-ends", message, place.thread.span));
        }
    }

    fn too_much(&mut self, span: Span) {
        let error = Diagnostic::error("program-too-large", "the properties look at too many places", span);
        self.sink.error(error.help("speak of fewer threads or labels"));
    }

    fn atom(&self, family: usize, thread: ThreadId, locations: Vec<LocId>, join: BinaryOp) -> StateExpr {
        let several = self
            .globals
            .families
            .get(family)
            .is_some_and(|family| matches!(family.copies, Copies::Spawned | Copies::Arbitrary));
        if locations.is_empty() {
            return Tree::Const(0);
        }
        let atom = Tree::Leaf(StateAtom::At { thread, locations });
        // The atom counts instances; being at a place is yes or no.
        if several && join == BinaryOp::Or { binary(BinaryOp::NotEqual, atom, Tree::Const(0)) } else { atom }
    }

    fn locations(&self, thread: ThreadId, label: Option<&LabelRef>) -> Vec<LocId> {
        let Some(view) = self.view(thread) else { return Vec::new() };
        let Some(label) = label else { return view.ends.clone() };
        view.places.get(&label_text(label)).cloned().unwrap_or_default()
    }

    /// Whether the thread has the label.
    fn check_label(&mut self, family: usize, label: &LabelRef<'a>, threads: &[ThreadId]) -> bool {
        let globals = self.globals;
        let Some(procedure) = label.procedure else {
            let Some(facts) = globals.thread_facts.get(family) else { return false };
            let name = globals.families[family].declaration.name.text;
            return self.use_label(facts, label.label, &format!("thread `{name}`"));
        };
        let Some(Global::Procedure(at)) = globals.get(procedure.text) else {
            let known = || globals.names(|global| matches!(global, Global::Procedure(_)));
            report_unknown(self.sink, "procedure", procedure, known, "a label of a procedure is `T at f.label`");
            return false;
        };
        let Some(info) = globals.procedures.get(at) else { return false };
        if !self.use_label(&info.facts, label.label, &format!("procedure `{}`", procedure.text)) {
            return false;
        }
        let key = label_text(label);
        // Of a thread in error nothing is known.
        let is_missing = |&thread: &ThreadId| self.view(thread).is_some_and(|view| !view.places.contains_key(&key));
        if info.recursive || threads.iter().all(is_missing) {
            self.unobservable(info.recursive, procedure, label.span(), globals.families[family].declaration.name.text);
            return false;
        }
        true
    }

    fn unobservable(&mut self, recursive: bool, procedure: Name, span: Span, thread: &str) {
        let message = if recursive {
            format!("`{}` is recursive: its places cannot be observed", procedure.text)
        } else {
            format!("`{thread}` never calls `{}`", procedure.text)
        };
        let error = Diagnostic::error("unobservable-place", message, span);
        self.sink.error(error.help("let the thread record it in a register or cell, and observe that"));
    }

    /// Notes that a label is used; an error if it is not there.
    fn use_label(&mut self, facts: &Facts, label: Name, place: &str) -> bool {
        if let Some(at) = facts.label(label.text) {
            self.used.labels.insert(facts.labels[at].span);
            return true;
        }
        let labels: Vec<&str> = facts.labels.iter().map(|label| label.text).collect();
        let message = format!("{place} has no label `{}`", label.text);
        let error = Diagnostic::error("unknown-label", message, label.span);
        self.sink.error(match near(label.text, &labels) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None if labels.is_empty() => error.help(format!("it has none; write `{}:` before a statement", label.text)),
            None => error.help(format!("its labels: {}", listed(&labels))),
        });
        false
    }

    fn register(&mut self, reference: &ThreadRef<'a>, register: Name<'a>) -> StateExpr {
        let Some((family, threads)) = self.threads(reference) else { return Tree::Const(0) };
        let [thread] = threads[..] else {
            self.which_instance(family, reference, register);
            return Tree::Const(0);
        };
        let copies = self.globals.families[family].copies;
        if reference.index.is_none() && copies != Copies::One {
            self.which_instance(family, reference, register);
            return Tree::Const(0);
        }
        if let Some(&found) = self.view(thread).and_then(|view| view.registers.get(register.text)) {
            return Tree::Leaf(StateAtom::Register { thread, register: found });
        }
        self.unknown_register(family, thread, register);
        Tree::Const(0)
    }

    fn which_instance(&mut self, family: usize, reference: &ThreadRef, register: Name) {
        let (name, copies) = (reference.name.text, self.globals.families[family].copies);
        let message = format!("`{name}` stands for several threads: which one's `{}` is meant?", register.text);
        let error = Diagnostic::error("which-instance", message, reference.span);
        self.sink.error(match copies {
            Copies::Instances(_) => error.help(format!("write `{name}[0].{}`", register.text)),
            _ => error.help("their copies have no numbers; let them write what you want to see to a shared cell"),
        });
    }

    fn unknown_register(&mut self, family: usize, thread: ThreadId, register: Name<'a>) {
        // A body that is in error may lack registers that the source has.
        let Some(view) = self.view(thread) else { return };
        let mut known: Vec<&str> = view.registers.keys().copied().collect();
        known.sort_unstable();
        let declaration = self.globals.families[family].declaration;
        let name = declaration.name.text;
        let message = format!("thread `{name}` has no register `{}`", register.text);
        let error = Diagnostic::error("unknown-register", message, register.span);
        let help = match near(register.text, &known) {
            _ if matches!(self.globals.get(register.text), Some(Global::Shared(_))) => {
                format!("`{0}` is a shared cell: write just `{0}`", register.text)
            }
            _ if declaration.parameter.is_some_and(|parameter| parameter.text == register.text) => {
                format!("`{}` is the thread's number, a constant", register.text)
            }
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "it has none; `let r;` in its body declares one".into(),
            None => format!("its registers: {}", listed(&known)),
        };
        self.sink.error(error.help(help));
    }

    pub(super) fn cost(&mut self, cost: &CostDecl<'a>) -> Option<CostRule> {
        let value = self.constants().value(&cost.cost);
        if let Some(value) = value.filter(|&value| value < 0) {
            let message = format!("a cost cannot be negative, and this is {value}");
            self.sink.error(Diagnostic::error("negative-cost", message, cost.cost.span));
        }
        let subject = match (cost.subject.procedure, cost.subject.label.text) {
            (None, "load") => CostSubject::Load,
            (None, "store") => CostSubject::Store,
            (None, "fence") => CostSubject::Fence,
            (None, "rmw") => CostSubject::ReadModifyWrite,
            (None, "lock") => CostSubject::Lock,
            (None, "local") => CostSubject::Local,
            _ => CostSubject::Label(self.cost_label(&cost.subject)?),
        };
        Some(CostRule { subject, cost: value?, span: cost.span })
    }

    /// A label of any thread, or `f.label` of a procedure.
    fn cost_label(&mut self, label: &LabelRef<'a>) -> Option<String> {
        let found = match label.procedure {
            None => self.thread_labels.get_mut(label.label.text).map(std::mem::take),
            Some(procedure) => match self.globals.get(procedure.text) {
                Some(Global::Procedure(at)) => self.globals.procedures.get(at).and_then(|info| {
                    let label = info.facts.label(label.label.text)?;
                    Some(vec![info.facts.labels[label].span])
                }),
                _ => None,
            },
        };
        let Some(found) = found else {
            let labels = &self.thread_labels;
            let known = || {
                let mut known: Vec<&str> = labels.keys().copied().collect();
                known.extend(["load", "store", "fence", "rmw", "lock", "local"]);
                known.sort_unstable();
                known
            };
            let help = "costs are for `load`, `store`, `fence`, `rmw`, `lock`, `local` or a label";
            report_unknown(self.sink, "kind of step or label", label.label, known, help);
            return None;
        };
        self.used.labels.extend(found);
        Some(label_text(label))
    }
}

/// The labels of all threads, with where each is declared.
pub(super) fn thread_labels<'a>(globals: &Globals<'a>) -> HashMap<&'a str, Vec<Span>> {
    let mut all: HashMap<&str, Vec<Span>> = HashMap::new();
    for label in globals.thread_facts.iter().flat_map(|facts| &facts.labels) {
        all.entry(label.text).or_default().push(label.span);
    }
    all
}

/// The text of a label as locations carry it.
fn label_text(label: &LabelRef) -> String {
    let name = label.label.text;
    label.procedure.map_or(name.to_string(), |procedure| format!("{}.{name}", procedure.text))
}

/// All parts joined by one operator, as a tree of little depth.
fn balanced(join: BinaryOp, mut parts: Vec<StateExpr>) -> StateExpr {
    while parts.len() > 1 {
        let mut halves = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            halves.push(match rest.next() {
                Some(right) => binary(join, left, right),
                None => left,
            });
        }
        parts = halves;
    }
    parts.pop().unwrap_or(Tree::Const(0))
}
