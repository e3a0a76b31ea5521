//! What properties say of threads: where they are (`T at label`) and what their registers hold (`T.r`).

use weir_ir::{BinaryOp, Diagnostic, Expr as Tree, LocId, Span, StateAtom, StateExpr, ThreadId, Value};

use super::super::ast::{LabelRef, Name, PlaceExpr, Replication, ThreadRef};
use super::super::limits::MAX_OBSERVATIONS;
use super::check::Facts;
use super::expressions::binary;
use super::name_errors::{listed, near, report_unknown};
use super::names::{Copies, Family, Global, ProcInfo};
use super::properties::{Observer, View};

impl<'a> Observer<'_, 'a> {
    pub(super) fn view(&self, thread: ThreadId) -> Option<&View<'a>> {
        self.views.get(thread.index())?.as_ref()
    }

    /// The threads that a reference means, with what was declared.
    fn threads(&mut self, reference: &ThreadRef<'a>) -> Option<(usize, Vec<ThreadId>)> {
        let name = reference.name;
        let Some(Global::Thread(at)) = self.globals.get(name.text) else {
            let globals = self.globals;
            let known = || globals.names(|global| matches!(global, Global::Thread(_)));
            report_unknown(self.sink, "thread", name, known, "use the name of a declared thread");
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

    /// Whether the thread is one of arbitrarily many, of which the user has set the number to 0.
    pub(super) fn has_no_copies(&self, reference: &ThreadRef<'a>) -> bool {
        let Some(Global::Thread(at)) = self.globals.get(reference.name.text) else { return false };
        self.globals.families.get(at).is_some_and(|family| {
            let replication = &family.declaration.replication;
            family.copies == Copies::Spawned && matches!(replication, Some(Replication::Arbitrary(_)))
        })
    }

    fn no_such_instance(&mut self, family: &Family, number: Value, span: Span) {
        let name = family.declaration.name.text;
        let error = Diagnostic::error("unknown-instance", format!("there is no thread `{name}[{number}]`"), span)
            .also(family.declaration.span, "declared here");
        self.sink.error(error.help(match family.copies {
            Copies::Instances(count) => format!("the threads are `{name}[0]` to `{name}[{}]`", count.saturating_sub(1)),
            Copies::One => format!("there is only one such thread: write `{name}`"),
            Copies::Spawned | Copies::Arbitrary => {
                format!(
                    "its copies have no numbers; `{name} at label` means some copy, `count({name} at label)` counts them"
                )
            }
        }));
    }

    /// `T at label`: the threads' observations joined by `join`.
    pub(super) fn place(&mut self, place: &PlaceExpr<'a>, join: BinaryOp) -> StateExpr {
        let mut atoms = self.places(place, join);
        atoms.retain(|atom| *atom != NOWHERE);
        balanced(join, atoms)
    }

    /// The observations of the threads that `T at label` is about, to be joined by `join`.
    pub(super) fn places(&mut self, place: &PlaceExpr<'a>, join: BinaryOp) -> Vec<StateExpr> {
        if self.observations > MAX_OBSERVATIONS {
            return Vec::new();
        }
        let Some((family, threads)) = self.threads(&place.thread) else { return Vec::new() };
        if let Some(label) = &place.label
            && !self.check_label(family, label, &threads)
        {
            return Vec::new();
        }
        self.warn_if_endless(place, &threads);
        let mut atoms = Vec::with_capacity(threads.len());
        for thread in threads {
            let locations = self.locations(thread, place.label.as_ref());
            self.observations += 1 + locations.len();
            if self.observations > MAX_OBSERVATIONS {
                self.too_much(place.thread.span);
                return Vec::new();
            }
            // Where a procedure may terminate it is known once procedures are linked.
            let may_be_terminated = place.label.is_none() && self.view(thread).is_some_and(|view| view.calls);
            let is_nowhere = locations.is_empty() && !may_be_terminated;
            atoms.push(if is_nowhere { NOWHERE } else { self.atom(family, thread, locations, join) });
        }
        atoms
    }

    fn warn_if_endless(&mut self, place: &PlaceExpr, threads: &[ThreadId]) {
        let endless = |&thread: &ThreadId| self.view(thread).is_some_and(|view| view.ends.is_empty() && !view.calls);
        if place.label.is_none() && threads.iter().all(endless) {
            let message = format!("thread `{}` never ends: it is never `at end`", place.thread.name.text);
            self.sink.warning(Diagnostic::warning("never-ends", message, place.thread.span));
        }
    }

    fn too_much(&mut self, span: Span) {
        let error = Diagnostic::error("program-too-large", "the properties refer to too many places", span);
        self.sink.error(error.help("refer to fewer threads or labels"));
    }

    fn atom(&self, family: usize, thread: ThreadId, locations: Vec<LocId>, join: BinaryOp) -> StateExpr {
        let several = matches!(self.globals.families[family].copies, Copies::Spawned | Copies::Arbitrary);
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
            report_unknown(self.sink, "procedure", procedure, known, "write `T at f.label` for a label of a procedure");
            return false;
        };
        let Some(info) = globals.procedures.get(at) else { return false };
        if !self.use_label(&info.facts, label.label, &format!("procedure `{}`", procedure.text)) {
            return false;
        }
        let key = label_text(label);
        // Of a thread in error nothing is known.
        let is_missing = |&thread: &ThreadId| self.view(thread).is_some_and(|view| !view.places.contains_key(&key));
        if info.stays || threads.iter().all(is_missing) {
            self.unobservable(info, procedure, label.span(), globals.families[family].declaration.name.text);
            return false;
        }
        true
    }

    fn unobservable(&mut self, info: &ProcInfo, procedure: Name, span: Span, thread: &str) {
        let message = if info.stays {
            let what = if info.declaration.noinline { "`noinline`" } else { "recursive" };
            format!("`{}` is {what}: its places cannot be observed", procedure.text)
        } else {
            format!("`{thread}` never calls `{}`", procedure.text)
        };
        let error = Diagnostic::error("unobservable-place", message, span);
        self.sink.error(error.help("record it in a register or cell, and observe that instead"));
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
            None if labels.is_empty() => {
                error.help(format!("it has no labels; write `{}:` before a statement", label.text))
            }
            None => error.help(format!("its labels are: {}", listed(&labels))),
        });
        false
    }

    pub(super) fn register(&mut self, reference: &ThreadRef<'a>, register: Name<'a>) -> StateExpr {
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
        let message = format!("`{name}` is several threads, so `{}` is ambiguous", register.text);
        let error = Diagnostic::error("which-instance", message, reference.span);
        self.sink.error(match copies {
            Copies::Instances(_) => error.help(format!("write `{name}[0].{}`", register.text)),
            _ => error.help("its copies have no numbers; let them store the value in a shared cell"),
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
            None if known.is_empty() => "it has no registers; declare one with `let r;` in its body".into(),
            None => format!("its registers are: {}", listed(&known)),
        };
        self.sink.error(error.help(help));
    }
}

/// What is observed of a thread that has no such place.
const NOWHERE: StateExpr = Tree::Const(0);

/// The text of a label as locations carry it.
pub(super) fn label_text(label: &LabelRef) -> String {
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
