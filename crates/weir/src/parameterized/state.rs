//! States of a program with arbitrarily many threads, taken apart: what all threads share, and what one thread has for
//! itself.

use std::collections::BTreeMap;

use weir_ir::{Address, LocId, ThreadId, Value};

/// What one thread has for itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Local {
    pub(crate) thread: ThreadId,
    pub(crate) location: LocId,
    /// What its registers hold; 0 in a register that is dead.
    pub(crate) registers: Vec<Value>,
    pub(crate) holds_lock: bool,
    /// Whether it is on the path of an attack.
    pub(crate) is_on_path: bool,
}

/// What all threads share: memory, the lock, the threads of which there is one each, and the monitor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Control {
    /// What the cells hold that no longer hold their initial values.
    pub(crate) memory: BTreeMap<Address, Value>,
    pub(crate) is_locked: bool,
    /// The threads of which there is one each; `None` for the attacker.
    pub(crate) single: Vec<Option<Local>>,
    pub(crate) phase: Phase,
}

/// What the monitor for attacks remembers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Phase {
    /// No attack has begun; the only phase if nobody looks for attacks.
    Before,
    /// A thread delays its stores.
    Delaying(Delaying),
    /// The attacker has halted.
    Path(Path),
}

/// An attacker that delays its stores, and is about to load from memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Delaying {
    pub(super) attacker: Local,
    /// Of the first delayed store.
    pub(super) address: Address,
    /// The newest delayed value of each address.
    pub(super) overlay: BTreeMap<Address, Value>,
}

/// What has happened since the attacker halted.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Path {
    /// Of the first delayed store.
    pub(super) address: Address,
    /// How helpers on the path have accessed an address.
    pub(super) on_path: BTreeMap<Address, Access>,
    /// How the locked section that is under way has accessed an address, as long as it is not on the path.
    pub(super) in_section: BTreeMap<Address, Access>,
}

/// The strongest access to an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Access {
    Load,
    Store,
}

impl Path {
    /// Whether something on the path happens before this access, whoever makes it.
    fn leads_to(&self, &(address, access): &(Address, Access)) -> bool {
        let conflicting = if access == Access::Store { Access::Load } else { Access::Store };
        self.on_path.get(&address).is_some_and(|&before| before >= conflicting)
    }

    /// After a helper has made these accesses in one step, and whether it is on the path then; `None` if it may not make
    /// them.
    ///
    /// A locked section counts as one access: it may come onto the path with any access, but not after it has ended.
    pub(super) fn after(&self, helper: &Local, accesses: &[(Address, Access)], is: Boundary) -> Option<(Self, bool)> {
        let mut next = self.clone();
        let joins = || accesses.iter().any(|access| self.leads_to(access));
        let is_on_path = helper.is_on_path || joins();
        let may_join_later = match is {
            Boundary::Lock => true,
            Boundary::Unlock => false,
            Boundary::Inside => helper.holds_lock,
        };
        if !is_on_path && !may_join_later {
            return None;
        }
        if is_on_path && helper.holds_lock {
            for (address, access) in std::mem::take(&mut next.in_section) {
                raise(&mut next.on_path, address, access);
            }
        }
        let accessed = if is_on_path { &mut next.on_path } else { &mut next.in_section };
        accesses.iter().for_each(|&(address, access)| raise(accessed, address, access));
        Some((next, is_on_path))
    }
}

fn raise(levels: &mut BTreeMap<Address, Access>, address: Address, access: Access) {
    let level = levels.entry(address).or_insert(access);
    *level = access.max(*level);
}

/// Whether a step begins or ends a locked section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Boundary {
    Lock,
    Unlock,
    Inside,
}

impl Control {
    /// Whether an attack has succeeded: the path has come round to the delayed store, which can be flushed.
    pub(super) fn shows_attack(&self) -> bool {
        match &self.phase {
            Phase::Path(path) => !self.is_locked && path.on_path.contains_key(&path.address),
            Phase::Before | Phase::Delaying(_) => false,
        }
    }
}
