//! What names mean inside a body.

use weir_ir::{RegId, Span};

use super::super::ast::Name;
use super::builder::{Builder, Meaning};
use super::constants::mark;
use super::name_errors::duplicate;
use super::names::Global;

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
            Global::ThreadLocal(at) => Some(Meaning::Register(self.thread_local(at))),
            Global::Procedure(_) | Global::Thread(_) => None,
        }
    }

    /// The register of this body for a thread-local variable of the file.
    pub(super) fn thread_local(&mut self, at: usize) -> RegId {
        if let Some(&register) = self.thread_locals.get(&at) {
            return register;
        }
        let register = self.registers.thread_local(self.around.globals.thread_locals[at]);
        self.thread_locals.insert(at, register);
        mark(&mut self.around.used.thread_locals, at);
        register
    }

    /// The names of registers that are visible, in alphabetical order.
    pub(super) fn visible_registers(&mut self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.frame().visible.keys().copied().collect();
        names.sort_unstable();
        names
    }
}
