//! Properties: macros for the conditions, and the process that asserts them.

use std::fmt::Write as _;

use weir_ir::{Diagnostic, Instruction, Multiplicity, Property, PropertyKind, Range, StateAtom, StateExpr, ThreadId};

use super::values::{Ints, fitting};
use super::{Model, is_expressed};
use crate::export::lines::{comment, place};
use crate::export::observed::done_locations;
use crate::export::refusal::{Refusal, left_out};
use crate::export::term::{Term, write};

/// The process that asserts the properties.
#[derive(Default)]
pub(super) struct Monitor {
    /// To be defined before all processes.
    pub(super) macros: String,
    pub(super) process: String,
    /// What it does not check.
    pub(super) warnings: Vec<Diagnostic>,
}

impl Model<'_> {
    /// What stands in the header: the number of each property, and what the results mean.
    pub(super) fn property_list(&self) -> String {
        let mut text = String::new();
        for (at, property) in self.program.properties.iter().enumerate() {
            let meaning = match property.kind {
                PropertyKind::Exists(_) => "not met / met",
                PropertyKind::ForbidStuck | PropertyKind::Live(_) => "not exported; `weir check` decides it",
                _ => "holds / violated",
            };
            let at_line = place(self.program, property.span);
            let name = comment(&self.program.property_text(property));
            let _ = writeln!(text, " *     {}: {at_line}{name} ({meaning})", at + 1);
        }
        if let Some(number) = self.assertions() {
            let _ = writeln!(text, " *     {number}: the assertions of the program (hold / violated)");
        }
        if text.is_empty() {
            text.push_str(" *     (the program has no properties)\n");
        }
        text
    }

    /// The number that stands for the assertions, if there are some.
    fn assertions(&self) -> Option<usize> {
        let is_assertion = |edge: &weir_ir::Edge| matches!(edge.instruction, Instruction::Assert(_));
        let asserts =
            self.program.running_threads().any(|thread| self.program.body(thread).edges().iter().any(is_assertion));
        asserts.then_some(self.program.properties.len() + 1)
    }

    /// Macros that the processes need, the monitor, and warnings about what it does not check.
    pub(super) fn monitor(&self, ints: &mut Ints) -> Result<Monitor, Vec<Diagnostic>> {
        let mut macros = String::new();
        let (mut refused, mut warnings) = (Vec::new(), Vec::new());
        let mut options = String::new();
        let mut deadlocks = String::from("0");
        let asks_for_ends = self.program.properties.iter().any(|property| asks_for_ends(&property.kind));
        if asks_for_ends {
            let _ = writeln!(macros, "\n/* All threads are done. */\n#define ALL_DONE ({})", self.all_done());
        }
        for (at, property) in self.program.properties.iter().enumerate() {
            let number = at + 1;
            if !is_expressed(&property.kind) {
                warnings.push(self.not_checked(property));
                continue;
            }
            let selected = match property.kind {
                PropertyKind::Exists(_) => format!("PROPERTY == {number}"),
                _ => format!("PROPERTY == 0 || PROPERTY == {number}"),
            };
            let Some(condition) = property.kind.condition() else {
                let _ = write!(deadlocks, " || {selected}");
                continue;
            };
            match self.condition(condition, ints) {
                Ok(condition) => {
                    let violated = match property.kind {
                        PropertyKind::Exists(_) => format!("ALL_DONE && {}", condition.operand()),
                        PropertyKind::Always(_) => format!("ALL_DONE && !{}", condition.operand()),
                        _ => condition.text,
                    };
                    let name = comment(&self.program.property_text(property));
                    let at_line = place(self.program, property.span);
                    let _ = writeln!(options, "#if {selected}\n    /* {at_line}{name} */");
                    let _ = writeln!(options, "    :: d_step {{ {violated} -> assert(false) }}\n#endif");
                }
                Err(refusal) => refused.push(refusal.at(property.span)),
            }
        }
        let checks =
            self.assertions().map_or("0".to_owned(), |number| format!("(PROPERTY == 0 || PROPERTY == {number})"));
        let _ = writeln!(macros, "\n#define CHECKS_ASSERTIONS {checks}");
        let deadlock = if deadlocks == "0" {
            "    :: timeout /* nobody can move: nothing to check */\n".to_owned()
        } else {
            format!(
                "#if {deadlocks}\n    :: d_step {{ timeout -> assert(ALL_DONE) }} /* forbid deadlock */\n#else\n    \
                 :: timeout\n#endif\n"
            )
        };
        let name = &self.monitor;
        let process =
            format!("\n/* Looks at every state. */\nproctype {name}() {{\n    do\n{options}{deadlock}    od\n}}\n");
        if refused.is_empty() { Ok(Monitor { macros, process, warnings }) } else { Err(refused) }
    }

    fn not_checked(&self, property: &Property) -> Diagnostic {
        let name = self.program.property_text(property);
        let message = format!("`{name}` is not exported: SPIN cannot ask what can still happen");
        left_out(message, "`weir check` decides it", property.span)
    }

    fn all_done(&self) -> String {
        let done = |thread: ThreadId| {
            let place = self.places[thread.index()].as_deref().unwrap_or("0");
            at_one_of(place, done_locations(self.program, thread).iter().map(|loc| loc.0))
        };
        let all: Vec<String> = self.program.running_threads().map(done).collect();
        all.join(" && ")
    }

    fn condition(&self, condition: &StateExpr, ints: &mut Ints) -> Result<Term, Refusal> {
        fitting(write(ints, condition, &mut |atom| Ok(self.atom(atom)))?)
    }

    fn atom(&self, atom: &StateAtom) -> Term {
        let nothing = Term::simple("0", Range::single(0));
        let runs = |thread: ThreadId| self.program.thread(thread).multiplicity == Multiplicity::One;
        match atom {
            StateAtom::At { thread, locations } if runs(*thread) && !locations.is_empty() => {
                let Some(place) = &self.places[thread.index()] else { return nothing };
                let text = at_one_of(place, locations.iter().map(|loc| loc.0));
                Term::simple(text, Range { low: 0, high: 1 })
            }
            StateAtom::Register { thread, register } if runs(*thread) => {
                match &self.globals[thread.index()][register.index()] {
                    Some(name) => Term::simple(name, self.values.register(*thread, *register).range),
                    None => nothing,
                }
            }
            StateAtom::At { .. } | StateAtom::Register { .. } => nothing,
            StateAtom::Cell(address) => {
                let segment = self.memory.observed(*address);
                let text = self.cells.at(self.program, self.memory, segment, *address);
                Term::simple(text, self.values.cell(segment).range)
            }
        }
    }
}

fn asks_for_ends(kind: &PropertyKind) -> bool {
    matches!(kind, PropertyKind::Exists(_) | PropertyKind::Always(_) | PropertyKind::ForbidDeadlock)
}

/// Whether a variable has one of these values, in parentheses.
fn at_one_of(place: &str, locations: impl Iterator<Item = u32>) -> String {
    let tests: Vec<String> = locations.map(|loc| format!("{place} == {loc}")).collect();
    if tests.is_empty() { "false".to_owned() } else { format!("({})", tests.join(" || ")) }
}
