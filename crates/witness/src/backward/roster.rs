//! Which thread is at which position of a configuration.

use weir_ir::{Multiplicity, Program, ThreadId};

use super::Configuration;

/// The threads that run.
pub(super) struct Roster {
    /// In the order of the program.
    pub(super) threads: Vec<ThreadId>,
    /// The places of those of which there is one each.
    pub(super) single: Vec<usize>,
    /// The places of those of which there are arbitrarily many.
    pub(super) templates: Vec<usize>,
}

impl Roster {
    pub(super) fn new(program: &Program) -> Self {
        let multiplicity = |thread: ThreadId| program.thread(thread).multiplicity;
        let runs = |&thread: &ThreadId| multiplicity(thread) != Multiplicity::Spawned;
        let threads: Vec<ThreadId> = program.thread_ids().filter(runs).collect();
        let is_template = |&place: &usize| multiplicity(threads[place]) == Multiplicity::Arbitrary;
        let (templates, single) = (0..threads.len()).partition(is_template);
        Self { threads, single, templates }
    }

    /// The thread at a position: its place among those that run.
    pub(super) fn place(&self, configuration: &Configuration, position: usize) -> usize {
        match self.single.get(position) {
            Some(&place) => place,
            None => configuration.copies[position - self.single.len()],
        }
    }
}
