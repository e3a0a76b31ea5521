//! What registers hold at first.

use std::collections::HashMap;

use weir_ir::{Diagnostic, Span};

use super::super::Refused;
use super::super::register::{Base, Part};
use super::super::tree::{Constant, Place, Test};
use super::super::types::Type;

/// Values and types of registers that the initial state mentions.
#[derive(Debug, Default)]
pub(super) struct InitialRegisters(HashMap<(usize, Base), Entry>);

#[derive(Debug)]
struct Entry {
    value: Option<Constant>,
    declared: Option<Type>,
    span: Span,
}

impl InitialRegisters {
    /// Collects them.
    pub(super) fn new(test: &Test) -> Result<Self, Refused> {
        let mut registers = Self::default();
        for initial in &test.initial {
            let Place::Register(thread, name) = &initial.place else { continue };
            let (fresh, span) = (initial.values.first().cloned(), initial.span);
            if !test.threads.iter().any(|column| column.number == *thread) {
                return Err(no_such_thread(test, *thread, span).into());
            }
            if matches!(name.part, Some(Part::Word | Part::Low | Part::High)) {
                let error = Diagnostic::error("part-of-register", "only part of the register is initialized", span);
                return Err(error.help("initialize the whole register, such as `0:rax` or `0:EAX`").into());
            }
            let entry = registers.0.entry((*thread, name.base.clone()));
            let entry = entry.or_insert(Entry { value: None, declared: None, span });
            if entry.value.is_some() && fresh.is_some() {
                let error = Diagnostic::error("duplicate-initial", "this register is initialized twice", span);
                return Err(error.also(entry.span, "first initialized here").help("remove one of them").into());
            }
            entry.value = fresh.or(entry.value.take());
            entry.declared = initial.declared.or(entry.declared);
        }
        Ok(registers)
    }

    /// What a register holds at first, if the initial state says so.
    pub(super) fn value(&self, thread: usize, base: &Base) -> Option<&Constant> {
        self.0.get(&(thread, base.clone()))?.value.as_ref()
    }

    /// Its declared type.
    pub(super) fn declared(&self, thread: usize, base: &Base) -> Option<Type> {
        self.0.get(&(thread, base.clone()))?.declared
    }
}

/// A register of a thread that the code does not have.
pub(super) fn no_such_thread(test: &Test, thread: usize, span: Span) -> Diagnostic {
    let known: Vec<String> = test.threads.iter().map(|column| format!("P{}", column.number)).collect();
    Diagnostic::error("unknown-thread", format!("there is no thread P{thread}"), span)
        .help(format!("the threads are {}", known.join(", ")))
}
