//! Registers and what names mean inside a body.

use std::collections::{HashMap, HashSet};

use weir_ir::{RegId, Register, Span};

use super::super::ast::Name;
use super::builder::{Builder, Meaning};
use super::constants::mark;
use super::names::{Global, duplicate};

/// The registers of one body.
#[derive(Default)]
pub(super) struct Registers {
    pub(super) list: Vec<Register>,
    /// Names that are taken, with the number to try next when one is wanted again.
    taken: HashMap<String, u32>,
    temporaries: Vec<RegId>,
    /// How many temporaries hold something that is still needed. Each statement gives its own back: fewer
    /// registers make smaller states.
    pub(super) live_temporaries: usize,
    last_temporary: u32,
}

impl Registers {
    /// A new register; `f.a` becomes `f.a_2` when it is taken by another copy of `f`.
    fn named(&mut self, wanted: String, span: Span) -> RegId {
        let mut name = wanted.clone();
        while self.taken.contains_key(&name) {
            let next = self.taken.entry(wanted.clone()).or_insert(2);
            name = format!("{wanted}_{next}");
            *next += 1;
        }
        self.taken.insert(name.clone(), 2);
        self.add(Register { name, is_temporary: false, span })
    }

    /// The next temporary that is free. Its name is none of the reserved ones.
    fn temporary(&mut self, reserved: &HashSet<&str>, span: Span) -> RegId {
        self.live_temporaries += 1;
        if let Some(&register) = self.temporaries.get(self.live_temporaries - 1) {
            return register;
        }
        let name = loop {
            self.last_temporary += 1;
            let name = format!("_t{}", self.last_temporary);
            if !reserved.contains(name.as_str()) {
                break name;
            }
        };
        let register = self.add(Register { name, is_temporary: true, span });
        self.temporaries.push(register);
        register
    }

    fn add(&mut self, register: Register) -> RegId {
        self.list.push(register);
        RegId::new(self.list.len() - 1)
    }
}

impl<'a> Builder<'_, 'a> {
    /// Declares a register in the block that is open. `None` if the name is not free.
    pub(super) fn declare(&mut self, name: Name<'a>) -> Option<RegId> {
        let visible = self.frame().visible.get(name.text).map(|&(_, span)| ("a register", span));
        let number = self.frame().parameter.filter(|(parameter, _)| parameter.text == name.text);
        let number = number.map(|(parameter, _)| ("the thread's number", parameter.span));
        let global = self.around.globals.declared(name.text).map(|(global, span)| (global.describe(), span));
        if let Some((what, span)) = visible.or(number).or(global) {
            self.around.sink.error(duplicate(name, what, span));
            return None;
        }
        let register = match self.frame().declared.get(name.text) {
            Some(&register) => register,
            None => {
                let full =
                    self.frame().prefix.map_or(name.text.to_string(), |prefix| format!("{prefix}.{}", name.text));
                self.registers.named(full, name.span)
            }
        };
        let frame = self.frame();
        frame.declared.insert(name.text, register);
        frame.visible.insert(name.text, (register, name.span));
        frame.scope.push(name.text);
        Some(register)
    }

    /// A register for a value inside an expression; free again when the statement ends.
    pub(super) fn temporary(&mut self, span: Span) -> RegId {
        self.registers.temporary(self.around.reserved, span)
    }

    /// How many names are visible: to be given back to [`Builder::close_scope`].
    pub(super) fn open_scope(&mut self) -> usize {
        self.frame().scope.len()
    }

    /// Hides what was declared since.
    pub(super) fn close_scope(&mut self, mark: usize) {
        let frame = self.frame();
        for name in frame.scope.drain(mark.min(frame.scope.len())..) {
            frame.visible.remove(name);
        }
    }

    /// What a name means here. No error is reported if it means nothing.
    pub(super) fn look_up(&mut self, name: &str) -> Option<Meaning> {
        let frame = self.frame();
        if let Some(&(register, _)) = frame.visible.get(name) {
            return Some(Meaning::Register(register));
        }
        if let Some((_, value)) = frame.parameter.filter(|(parameter, _)| parameter.text == name) {
            return Some(Meaning::Constant(value));
        }
        match self.around.globals.get(name)? {
            Global::Constant(at) => {
                mark(&mut self.around.used.constants, at);
                let value = self.around.globals.constants.get(at).and_then(|&(_, value)| value);
                Some(value.map_or(Meaning::Nothing, Meaning::Constant))
            }
            Global::Shared(at) => {
                mark(&mut self.around.used.shared, at);
                Some(Meaning::Shared(at))
            }
            Global::Procedure(_) | Global::Thread(_) => None,
        }
    }

    /// The names of registers that are visible, in alphabetical order.
    pub(super) fn visible_registers(&mut self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.frame().visible.keys().copied().collect();
        names.sort_unstable();
        names
    }
}
