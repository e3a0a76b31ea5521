//! The registers of a body, with names that differ.

use std::collections::{HashMap, HashSet};

use weir_ir::{RegId, Register, Span};

use super::super::ast::Name;

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
    pub(super) fn named(&mut self, wanted: String, span: Span) -> RegId {
        let mut name = wanted.clone();
        while self.taken.contains_key(&name) {
            let next = self.taken.entry(wanted.clone()).or_insert(2);
            name = format!("{wanted}_{next}");
            *next += 1;
        }
        self.taken.insert(name.clone(), 2);
        self.add(Register { name, is_temporary: false, is_thread_local: false, span })
    }

    /// The register of a thread-local variable. No other register has its name.
    pub(super) fn thread_local(&mut self, name: Name) -> RegId {
        self.taken.insert(name.text.to_string(), 2);
        let Name { text, span } = name;
        self.add(Register { name: text.to_string(), is_temporary: false, is_thread_local: true, span })
    }

    /// The next temporary that is free. Its name is none of the reserved ones.
    pub(super) fn temporary(&mut self, reserved: &HashSet<&str>, span: Span) -> RegId {
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
        let register = self.add(Register { name, is_temporary: true, is_thread_local: false, span });
        self.temporaries.push(register);
        register
    }

    fn add(&mut self, register: Register) -> RegId {
        self.list.push(register);
        RegId::new(self.list.len() - 1)
    }
}
