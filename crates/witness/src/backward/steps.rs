//! One step back: the least configurations from which a configuration can be entered.
//!
//! Old messages are dropped as soon as their thread needs them no more. So an own message comes back only together with
//! the store that made it, with a load that takes it, or with a load that happens while it waits.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Address, Gather, Value};

use super::locals::{Label, Locals};
use super::roster::Roster;
use super::{Configuration, Message, ThreadView};

/// The program, as far as steps go.
pub(super) struct Steps<'a> {
    pub(super) roster: &'a Roster,
    /// For each thread that runs.
    pub(super) locals: &'a [Locals],
}

impl<'a> Steps<'a> {
    /// The thread at this position by itself.
    fn of(&self, configuration: &Configuration, position: usize) -> &'a Locals {
        &self.locals[self.roster.place(configuration, position)]
    }

    fn holder(&self, configuration: &Configuration) -> Option<usize> {
        let holds = |place: usize| {
            let class = configuration.threads[place].class;
            class.is_some_and(|class| self.of(configuration, place).holds[class])
        };
        (0..configuration.threads.len()).find(|&place| holds(place))
    }

    /// Whether another thread holds the lock.
    fn is_locked_out(&self, configuration: &Configuration, place: usize) -> bool {
        self.holder(configuration).is_some_and(|holder| holder != place)
    }

    /// Everything from which the configuration can be entered, as far as that can be reached at all.
    pub(super) fn before(&self, configuration: &Configuration) -> Vec<Configuration> {
        let mut found = Vec::new();
        for place in 0..configuration.threads.len() {
            let locals = self.of(configuration, place);
            for step in &locals.moves {
                match configuration.threads[place].class {
                    Some(class) if class == step.to => {
                        self.undo(configuration, place, (&step.label, step.from), &mut found);
                    }
                    // Any state: only what it does to others counts, with nothing left in its buffer.
                    None if !locals.holds[step.to] => {
                        let after = self.memory_before(configuration, place, &step.label);
                        found.extend(after.map(|after| moved(after, place, step.from)));
                    }
                    _ => {}
                }
            }
            found.extend(self.unsent(configuration, place));
        }
        self.unlisted(configuration, &mut found);
        found.retain(|before| self.is_plausible(before));
        found.into_iter().map(|before| self.stripped(before)).collect()
    }

    /// Steps of copies that are not listed, and are in any state afterwards: only what they do to others counts.
    fn unlisted(&self, configuration: &Configuration, found: &mut Vec<Configuration>) {
        let position = configuration.threads.len();
        for &place in &self.roster.templates {
            let locals = &self.locals[place];
            let counts = |label: &Label| matches!(label, Label::Store(..) | Label::ReadModifyWrite(..) | Label::Unlock);
            for step in locals.moves.iter().filter(|step| counts(&step.label) && !locals.holds[step.to]) {
                let mut after = configuration.clone();
                after.threads.push(ThreadView { class: None, messages: Vec::new() });
                after.copies.push(place);
                let before = self.memory_before(&after, position, &step.label);
                found.extend(before.map(|before| moved(before, position, step.from)));
            }
        }
    }

    /// The newest message from memory had not been sent yet.
    fn unsent(&self, configuration: &Configuration, place: usize) -> Option<Configuration> {
        let Some(Message::Memory(parts)) = configuration.threads[place].messages.last() else { return None };
        let could_hold =
            |(address, value): &(Address, Value)| configuration.memory.get(address).is_none_or(|known| known == value);
        if !parts.iter().all(could_hold) || self.is_locked_out(configuration, place) {
            return None;
        }
        let mut before = configuration.clone();
        before.threads[place].messages.pop();
        before.memory.extend(parts.iter().copied());
        Some(before)
    }

    /// Messages at the end of a buffer that say what memory holds can be sent later.
    fn stripped(&self, mut configuration: Configuration) -> Configuration {
        for place in 0..configuration.threads.len() {
            while !self.is_locked_out(&configuration, place)
                && let Some(Message::Memory(parts)) = configuration.threads[place].messages.last()
                && parts.iter().all(|(address, value)| configuration.memory.get(address) == Some(value))
            {
                configuration.threads[place].messages.pop();
            }
        }
        self.without_fresh(configuration)
    }

    /// Copies that have not moved need not be listed: there are always more of them.
    fn without_fresh(&self, mut configuration: Configuration) -> Configuration {
        for position in (self.roster.single.len()..configuration.threads.len()).rev() {
            if self.is_fresh(&configuration, position) {
                configuration.threads.remove(position);
                configuration.copies.remove(position - self.roster.single.len());
            }
        }
        configuration
    }

    /// Whether the copy at this position has not moved.
    pub(super) fn is_fresh(&self, configuration: &Configuration, position: usize) -> bool {
        let copy = &configuration.threads[position];
        copy.class == Some(self.of(configuration, position).start) && copy.messages.is_empty()
    }

    /// Memory before a move with this label. None if it cannot have led here.
    fn memory_before(&self, configuration: &Configuration, place: usize, label: &Label) -> Option<Configuration> {
        let mut before = configuration.clone();
        let leaves = |address: &Address, value: Value| {
            configuration.memory.get(address).is_none_or(|known| *known == value)
                && !self.is_locked_out(configuration, place)
        };
        match *label {
            Label::Silent | Label::Load(_) | Label::Fence | Label::Membarrier => {}
            Label::Store(address, value) if leaves(&address, value) => {
                before.memory.remove(&address);
            }
            Label::ReadModifyWrite(address, old, new) if leaves(&address, new) => {
                before.memory.insert(address, old);
            }
            // Nobody can hold the lock but the thread that just took it; nobody after it was released.
            Label::Lock if self.holder(configuration) == Some(place) => {}
            Label::Unlock if self.holder(configuration).is_none() => {}
            _ => return None,
        }
        Some(before)
    }

    fn undo(
        &self,
        configuration: &Configuration,
        place: usize,
        (label, from): (&Label, usize),
        found: &mut Vec<Configuration>,
    ) {
        let messages = &configuration.threads[place].messages;
        match *label {
            Label::Load(ref parts) => self.unload(configuration, place, parts, from, found),
            Label::Store(address, value) => {
                let own = Message::Own(address, value);
                if messages.last().is_some_and(|last| *last != own) {
                    return;
                }
                let Some(mut before) = self.memory_before(configuration, place, label) else { return };
                before.threads[place].messages.pop();
                found.extend(self.with_older(&before, place, address).map(|before| moved(before, place, from)));
                found.push(moved(before, place, from));
            }
            Label::Silent => found.push(moved(configuration.clone(), place, from)),
            Label::Fence | Label::ReadModifyWrite(..) | Label::Lock | Label::Unlock if messages.is_empty() => {
                let before = self.memory_before(configuration, place, label);
                found.extend(before.map(|before| moved(before, place, from)));
            }
            Label::Membarrier if configuration.threads.iter().all(|thread| thread.messages.is_empty()) => {
                found.push(moved(configuration.clone(), place, from));
            }
            Label::Fence | Label::Membarrier | Label::ReadModifyWrite(..) | Label::Lock | Label::Unlock => {}
        }
    }

    /// With an older own message to a cell, anywhere but at the very beginning: there it can come back later.
    fn with_older<'s>(
        &'s self,
        before: &'s Configuration,
        place: usize,
        address: Address,
    ) -> impl Iterator<Item = Configuration> + 's {
        let positions = 1..=before.threads[place].messages.len();
        let values: Vec<Value> = self
            .of(before, place)
            .stores()
            .into_iter()
            .filter(|(other, _)| *other == address)
            .map(|(_, value)| value)
            .collect();
        positions.flat_map(move |position| values.clone().into_iter().map(move |value| (position, value))).map(
            move |(position, value)| {
                let mut older = before.clone();
                older.threads[place].messages.insert(position, Message::Own(address, value));
                older
            },
        )
    }

    /// A load finds the newest own message to each cell; all others must have been sent by memory at one time.
    fn unload(
        &self,
        configuration: &Configuration,
        place: usize,
        parts: &[(Address, Value)],
        from: usize,
        found: &mut Vec<Configuration>,
    ) {
        let to = configuration.threads[place].class.unwrap_or(from);
        let mut open = vec![configuration.clone()];
        while let Some(after) = open.pop() {
            let own: BTreeMap<Address, Value> =
                after.threads[place].messages.iter().filter_map(Message::stored).gather();
            if parts.iter().any(|(address, value)| own.get(address).is_some_and(|newest| newest != value)) {
                continue;
            }
            let sent: Vec<(Address, Value)> =
                parts.iter().copied().filter(|(address, _)| !own.contains_key(address)).collect();
            if sent.is_empty() {
                found.push(moved(after, place, from));
                continue;
            }
            for (other, stored) in
                self.of(configuration, place).stores().into_iter().filter(|(other, _)| !own.contains_key(other))
            {
                let mut more = after.clone();
                more.threads[place].messages.insert(0, Message::Own(other, stored));
                // It must have been there when the thread came to this state.
                if explains(self.of(configuration, place), to, &more.threads[place].messages) {
                    open.push(more);
                }
            }
            let expected = Message::Memory(sent);
            let mut before = after;
            if before.threads[place].messages.first() != Some(&expected) {
                before.threads[place].messages.insert(0, expected);
            }
            found.push(moved(before, place, from));
        }
    }

    fn is_plausible(&self, configuration: &Configuration) -> bool {
        configuration.threads.iter().enumerate().all(|(place, thread)| match thread.class {
            Some(class) => explains(self.of(configuration, place), class, &thread.messages),
            None => true,
        })
    }
}

/// Whether the thread can have come to this state with these own messages, and no others, on its way.
fn explains(locals: &Locals, class: usize, messages: &[Message]) -> bool {
    let own: Vec<(Address, Value)> = messages.iter().filter_map(Message::stored).collect();
    let mut seen = BTreeSet::new();
    let mut open = vec![(class, own.len())];
    while let Some((class, waiting)) = open.pop() {
        if waiting == 0 {
            return true;
        }
        if !seen.insert((class, waiting)) {
            continue;
        }
        let (made, later) = own.split_at(waiting);
        let visible: BTreeMap<Address, Value> = made.iter().copied().gather();
        for step in locals.moves.iter().filter(|step| step.to == class) {
            match step.label {
                Label::Silent => open.push((step.from, waiting)),
                Label::Load(ref parts) => {
                    let fits = |(address, value)| visible.get(address).is_none_or(|seen| seen == value);
                    if parts.iter().map(|(address, value)| (address, value)).all(fits) {
                        open.push((step.from, waiting));
                    }
                }
                Label::Store(address, value) => {
                    if made[waiting - 1] == (address, value) {
                        open.push((step.from, waiting - 1));
                    } else if later.iter().any(|&(other, _)| other == address) {
                        open.push((step.from, waiting));
                    }
                }
                Label::Fence | Label::Membarrier | Label::ReadModifyWrite(..) | Label::Lock | Label::Unlock => {}
            }
        }
    }
    false
}

fn moved(mut configuration: Configuration, place: usize, class: usize) -> Configuration {
    configuration.threads[place].class = Some(class);
    configuration
}
