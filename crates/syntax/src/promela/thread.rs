//! A thread as a process.

use std::fmt::Write as _;

use weir_ir::{Body, Diagnostic, LocId, RegId, Register, ThreadId};

use super::Model;
use super::steps::{Move, Step, Writer};
use super::values::Ints;
use crate::export::lines::{comment, edge_comment, place, printed_locations};
use crate::export::names::Names;

/// The most values of a choice; each is an alternative.
pub(super) const MOST_CHOICES: u64 = 256;

/// Prefixes of labels that mean something to SPIN.
const SPECIAL: [&str; 3] = ["end", "progress", "accept"];

impl Model<'_> {
    /// The process of a thread.
    pub(super) fn process(&self, thread: ThreadId, ints: &mut Ints) -> Result<String, Vec<Diagnostic>> {
        let body = self.program.body(thread);
        let mut names = self.names.inner();
        let registers = self.register_names(thread, &mut names);
        let printed = printed_locations(body, |edge| self.ranges.can_take(thread, edge));
        let labels = label_names(body, &printed, &mut names);
        let declared = &self.program.thread(thread).name;
        let mut text =
            format!("\n/* {}thread {} */\n", place(self.program, self.program.thread(thread).span), comment(declared));
        for (name, identifier) in names.renamed() {
            let _ = writeln!(text, "/* {} is {identifier} here */", comment(name));
        }
        let _ = writeln!(text, "proctype {}() {{", self.processes[thread.index()]);
        for (at, register) in body.registers.iter().enumerate() {
            text.push_str(&self.local(thread, RegId::new(at), register, &registers[at]));
        }
        let mut refused = Vec::new();
        for (nth, &loc) in printed.iter().enumerate() {
            let next = printed.get(nth + 1).copied();
            let mut moves = Vec::new();
            for (id, edge) in body.edges_from(loc).filter(|&(id, _)| self.ranges.can_take(thread, id)) {
                let mut writer = Writer { model: self, thread, registers: &registers, from: loc, ints };
                match writer.moves(id, edge) {
                    Ok(found) => {
                        let note = edge_comment(self.program, body, edge);
                        moves.extend(found.into_iter().map(|found| (found, note.clone())));
                    }
                    Err(refusal) => refused.push(refusal.at(edge.span)),
                }
            }
            let note = match body.is_done(loc) {
                true => "done",
                false if body.failed == Some(loc) => "an assertion failed",
                false => "no step leads on",
            };
            text.push_str(&self.location(thread, loc, &moves, &labels, next, note));
        }
        text.push_str("}\n");
        if refused.is_empty() { Ok(text) } else { Err(refused) }
    }

    /// The names of all registers; those that are global have theirs already.
    fn register_names(&self, thread: ThreadId, names: &mut Names<'_>) -> Vec<String> {
        let body = self.program.body(thread);
        let globals = &self.globals[thread.index()];
        let name = |(register, global): (&Register, &Option<String>)| match global {
            Some(global) => global.clone(),
            None if register.is_temporary => names.unused(register.name.trim_start_matches('_')),
            None => names.identifier(&register.name),
        };
        body.registers.iter().zip(globals).map(name).collect()
    }

    fn local(&self, thread: ThreadId, id: RegId, register: &Register, name: &str) -> String {
        if self.globals[thread.index()][id.index()].is_some() {
            return String::new();
        }
        let note = if register.is_temporary { " /* made up for a shared read */" } else { "" };
        format!("    {} {name};{note}\n", self.values.register(thread, id).type_name())
    }

    /// A location with all steps from it.
    fn location(
        &self,
        thread: ThreadId,
        loc: LocId,
        moves: &[(Move, String)],
        labels: &[String],
        next: Option<LocId>,
        note: &str,
    ) -> String {
        let mut text = format!("{}:\n", labels[loc.index()]);
        match moves {
            [] => {
                let _ = writeln!(text, "    false /* {note} */{}", if next.is_some() { ";" } else { "" });
            }
            several => {
                text.push_str("    if\n");
                for ((step, to), note) in several {
                    // SPIN does not allow jumps to a `d_step`, but to a choice of one.
                    let statement = self.statement(thread, step, loc, *to);
                    let _ = writeln!(text, "    :: {statement}; goto {} /* {note} */", labels[to.index()]);
                }
                text.push_str(if next.is_some() { "    fi;\n" } else { "    fi\n" });
            }
        }
        text
    }

    /// One step. It is a statement of its own or a `d_step`: nobody else moves in between. A step that changes nothing
    /// that properties observe assigns no global variable, which would keep SPIN's reduction from using that it is
    /// local; nor does SPIN find dead variables in a `d_step`.
    fn statement(&self, thread: ThreadId, step: &Step, from: LocId, to: LocId) -> String {
        let (before, after) = (self.seen_at(thread, from), self.seen_at(thread, to));
        let place = self.places[thread.index()].as_ref().filter(|_| before != after);
        let moved = place.map(|place| format!("{place} = {}", after.0));
        let effects: Vec<&str> = step.effects.iter().map(String::as_str).chain(moved.as_deref()).collect();
        let guard = match &step.guards[..] {
            [] => None,
            [only] => Some(only.clone()),
            several => Some(several.iter().map(|guard| format!("({guard})")).collect::<Vec<_>>().join(" && ")),
        };
        match (guard, &effects[..]) {
            // Always true. SPIN does not accept `skip` as a step that leads back to its own location.
            (None, []) if from == to => "(_nr_pr > 0)".to_owned(),
            (None, []) => "skip".to_owned(),
            (None, [only]) => (*only).to_owned(),
            (None, _) => format!("d_step {{ {} }}", effects.join("; ")),
            (Some(guard), []) => format!("({guard})"),
            (Some(guard), _) => format!("d_step {{ {guard} -> {} }}", effects.join("; ")),
        }
    }
}

/// A label for each location that is printed: its own if it has one, else one by number.
fn label_names(body: &Body, printed: &[LocId], names: &mut Names<'_>) -> Vec<String> {
    let mut labels = vec![String::new(); body.locations.len()];
    let (named, unnamed): (Vec<LocId>, Vec<LocId>) =
        printed.iter().partition(|loc| !body.locations[loc.index()].labels.is_empty());
    for loc in named {
        let own = &body.locations[loc.index()].labels[0];
        let is_special = SPECIAL.iter().any(|prefix| own.starts_with(prefix));
        let wanted = if is_special { format!("at_{own}") } else { own.clone() };
        labels[loc.index()] = names.identifier(&wanted);
    }
    for loc in unnamed {
        labels[loc.index()] = names.unused(&format!("L{}", loc.0));
    }
    labels
}
