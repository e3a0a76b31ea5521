//! Backward coverability in a thread transition system.
//!
//! An element stands for all states with its control state and at least its copies; the elements found so far are a
//! minimal basis of the states from which a target can be reached. Copies in an initial local state cost nothing: there
//! are always more of them that have not moved yet. So a target is reachable in some instance exactly if an element
//! with an initial control state and no copies is found.

use std::collections::BTreeMap;

use weir_ir::Interrupt;

use super::system::{ControlId, Incomplete, LocalId, System};

/// Copies by their local states, ascending; equal ones side by side.
pub(super) type Copies = Vec<LocalId>;

/// What is to be covered: a control state and copies beside it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Element {
    pub(super) control: ControlId,
    pub(super) copies: Copies,
}

/// Whether a target is reachable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Cover {
    /// In no instance. The minimal basis shows it.
    Unreachable(Vec<Element>),
    /// In an instance with so many copies of each thread, by position among the local states' threads.
    Reachable(usize),
}

/// An element that was found, and how many copies take part in a run from there to the target at most.
struct Found {
    element: Element,
    copies: usize,
    /// Whether another element has made it redundant.
    is_redundant: bool,
}

/// Decides whether one of the targets is reachable in some instance.
pub(super) fn cover(
    system: &System,
    targets: Vec<(Element, usize)>,
    most: usize,
    interrupt: &dyn Interrupt,
) -> Result<Cover, Incomplete> {
    let mut search = Search { system, found: Vec::new(), by_control: BTreeMap::new(), open: BTreeMap::new() };
    for (target, copies) in targets {
        search.add(target, copies);
    }
    let is_initial =
        |element: &Element| element.copies.is_empty() && system.initial_controls.contains(&element.control);
    while let Some((_, number)) = search.next() {
        if interrupt.is_over() {
            return Err(Incomplete::Interrupted);
        }
        let Found { element, copies, .. } = &search.found[number];
        if is_initial(element) {
            return Ok(Cover::Reachable(*copies));
        }
        search.predecessors(number);
        if search.found.len() > most {
            return Err(Incomplete::TooLarge);
        }
    }
    let basis = search.found.into_iter().filter(|found| !found.is_redundant).map(|found| found.element);
    Ok(Cover::Unreachable(basis.collect()))
}

struct Search<'a> {
    system: &'a System,
    found: Vec<Found>,
    /// For each control state the elements that are not redundant.
    by_control: BTreeMap<ControlId, Vec<usize>>,
    /// Elements whose predecessors are not known: those with few copies first, then in order of discovery.
    open: BTreeMap<(usize, usize), usize>,
}

impl Search<'_> {
    fn next(&mut self) -> Option<(usize, usize)> {
        loop {
            let ((copies, _), number) = self.open.pop_first()?;
            if !self.found[number].is_redundant {
                return Some((copies, number));
            }
        }
    }

    /// Adds an element, unless another one makes it redundant.
    fn add(&mut self, element: Element, copies: usize) {
        let Self { found, by_control, .. } = self;
        let beside = by_control.entry(element.control).or_default();
        if beside.iter().any(|&other| is_part(&found[other].element.copies, &element.copies)) {
            return;
        }
        beside.retain(|&other| {
            let is_redundant = is_part(&element.copies, &found[other].element.copies);
            found[other].is_redundant |= is_redundant;
            !is_redundant
        });
        let number = found.len();
        beside.push(number);
        self.open.insert((element.copies.len(), number), number);
        found.push(Found { element, copies, is_redundant: false });
    }

    /// Adds the minimal predecessors of an element.
    fn predecessors(&mut self, number: usize) {
        let system = self.system;
        let Found { element, copies, .. } = &self.found[number];
        let (element, copies) = (element.clone(), *copies);
        for step in &system.moves_into[element.control as usize] {
            let (mut before, mut count) = (element.copies.clone(), copies);
            let taken = step.after.and_then(|after| before.binary_search(&after).ok());
            match taken {
                Some(at) => {
                    before.remove(at);
                }
                // A copy that takes part so far unseen.
                None => count += usize::from(step.before.is_some()),
            }
            if let Some(own) = step.before.filter(|own| !system.initial_locals.contains(own)) {
                let at = before.partition_point(|&other| other < own);
                before.insert(at, own);
            }
            if before.iter().all(|&local| system.can_occur(step.from, local)) {
                self.add(Element { control: step.from, copies: before }, count);
            }
        }
    }
}

/// Whether the one has no more copies in any local state than the other.
fn is_part(one: &[LocalId], other: &[LocalId]) -> bool {
    let mut rest = other.iter();
    one.len() <= other.len() && one.iter().all(|local| rest.any(|own| own == local))
}
