//! What properties observe of a thread from outside: some of its registers, and where it is.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{LocId, Program, PropertyKind, RegId, StateAtom, ThreadId};

/// The parts of threads that the properties of a program mention.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observed {
    registers: BTreeSet<(ThreadId, RegId)>,
    /// By thread, the locations that a property names, or that tell whether the thread is done.
    places: BTreeMap<ThreadId, BTreeSet<LocId>>,
}

impl Observed {
    /// What the properties that the target expresses observe. A property about final states, and one about deadlocks,
    /// observes where every thread is.
    pub(crate) fn by(program: &Program, is_expressed: impl Fn(&PropertyKind) -> bool) -> Self {
        let mut observed = Self::default();
        for property in program.properties.iter().filter(|property| is_expressed(&property.kind)) {
            match &property.kind {
                PropertyKind::Exists(_) | PropertyKind::Always(_) | PropertyKind::ForbidDeadlock => {
                    for thread in program.running_threads() {
                        observed.places.entry(thread).or_default().extend(done_locations(program, thread));
                    }
                }
                PropertyKind::Forbid(_) | PropertyKind::ForbidStuck | PropertyKind::Live(_) => {}
            }
            let Some(condition) = property.kind.condition() else { continue };
            condition.for_each_leaf(&mut |atom| match atom {
                StateAtom::At { thread, locations } => {
                    observed.places.entry(*thread).or_default().extend(locations);
                }
                StateAtom::Register { thread, register } => {
                    observed.registers.insert((*thread, *register));
                }
                StateAtom::Cell(_) => {}
            });
        }
        observed
    }

    pub(crate) fn register(&self, thread: ThreadId, register: RegId) -> bool {
        self.registers.contains(&(thread, register))
    }

    /// All observed registers, by thread.
    pub(crate) fn registers(&self) -> impl Iterator<Item = (ThreadId, RegId)> + '_ {
        self.registers.iter().copied()
    }

    /// Whether it matters from outside where the thread is.
    pub(crate) fn place(&self, thread: ThreadId) -> bool {
        self.places.contains_key(&thread)
    }

    /// What is seen from outside of a thread at a location: that location, or one that stands for all that are not told
    /// apart.
    pub(crate) fn seen_at(&self, program: &Program, thread: ThreadId, at: LocId) -> LocId {
        let is_named = |loc: &LocId| self.places.get(&thread).is_some_and(|named| named.contains(loc));
        if is_named(&at) {
            return at;
        }
        program.body(thread).location_ids().find(|loc| !is_named(loc)).unwrap_or(at)
    }
}

/// The locations at which a thread is done.
pub(crate) fn done_locations(program: &Program, thread: ThreadId) -> Vec<LocId> {
    let body = program.body(thread);
    body.location_ids().filter(|&loc| body.is_done(loc)).collect()
}
