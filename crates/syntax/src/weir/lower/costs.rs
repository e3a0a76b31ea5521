//! Costs of steps: by kind of instruction, or by label.

use std::collections::HashMap;

use weir_ir::{CostRule, CostSubject, Diagnostic, Span};

use super::super::ast::{CostDecl, LabelRef};
use super::name_errors::report_unknown;
use super::names::{Global, Globals};
use super::places::label_text;
use super::properties::Observer;

impl<'a> Observer<'_, 'a> {
    pub(super) fn cost(&mut self, cost: &CostDecl<'a>) -> Option<CostRule> {
        let value = self.constants().value(&cost.cost);
        if let Some(value) = value.filter(|&value| value < 0) {
            let message = format!("a cost cannot be negative, but this is {value}");
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
