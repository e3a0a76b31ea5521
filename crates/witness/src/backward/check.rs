//! Whether a proof is one.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use weir_ir::{Address, Interrupt, Poll, Program, Uninterrupted};

use super::fault::{BackwardFault, explain};
use super::goals::{GoalCover, condition};
use super::locals::{Locals, locals};
use super::order::covers;
use super::roster::Roster;
use super::steps::Steps;
use super::{BackwardProof, Configuration, Message, ThreadView};

/// Why something is no proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackwardError {
    /// The configuration where it fails, by its place, if it is about one.
    pub configuration: Option<usize>,
    /// What is wrong.
    pub fault: BackwardFault,
    message: String,
}

impl fmt::Display for BackwardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BackwardError {}

/// Checks that the goals of the proof cannot be reached under TSO.
///
/// # Errors
/// If it does not show that; the error says where it fails.
pub fn check_backward_proof(program: &Program, proof: &BackwardProof) -> Result<(), BackwardError> {
    check_backward_proof_until(program, proof, &Uninterrupted)
}

/// As [`check_backward_proof`], unless it is interrupted: then nothing is known about the proof.
///
/// # Errors
/// As [`check_backward_proof`], or [`BackwardFault::Interrupted`].
pub fn check_backward_proof_until(
    program: &Program,
    proof: &BackwardProof,
    interrupt: &dyn Interrupt,
) -> Result<(), BackwardError> {
    let fail = |(configuration, fault): (Option<usize>, BackwardFault)| BackwardError {
        configuration,
        message: explain(program, &fault),
        fault,
    };
    check(program, proof, &Poll::every(PERIOD, interrupt)).map_err(fail)
}

/// Configurations, and states of threads, per look at the interrupt: each has many steps to check.
const PERIOD: u32 = 16;

fn check(program: &Program, proof: &BackwardProof, poll: &Poll<'_>) -> Result<(), (Option<usize>, BackwardFault)> {
    let all = |fault| (None, fault);
    let roster = Roster::new(program);
    if proof.goals.is_empty() {
        return Err(all(BackwardFault::UnknownGoal));
    }
    let (locals, values) = locals(program, &roster.threads, proof, poll).map_err(all)?;
    let steps = Steps { roster: &roster, locals: &locals };
    let set = Set::new(proof, &steps, groups(program, &roster, proof, &locals));
    for (number, configuration) in proof.configurations.iter().enumerate() {
        if !set.is_sound(configuration) {
            return Err((Some(number), BackwardFault::Malformed));
        }
    }
    for &goal in &proof.goals {
        let condition = condition(program, &roster, goal).map_err(all)?;
        let mut goal_cover =
            GoalCover { program, roster: &roster, proof, locals: &locals, values: &values, steps: 0, poll };
        if !goal_cover.all_held(&condition, &|part| set.holds(part)).map_err(all)? {
            return Err(all(BackwardFault::GoalOutside));
        }
    }
    // Copies that have not moved are not listed.
    let first = Configuration {
        threads: roster.single.iter().map(|&place| ThreadView::at(locals[place].start)).collect(),
        copies: Vec::new(),
        memory: values.keys().map(|&address| (address, program.initial_value(address))).collect(),
    };
    if set.holds(&first) {
        return Err(all(BackwardFault::HoldsTheStart));
    }
    for (number, configuration) in proof.configurations.iter().enumerate() {
        if poll.is_over() {
            return Err(all(BackwardFault::Interrupted));
        }
        if !steps.before(configuration).iter().all(|before| set.holds(before)) {
            return Err((Some(number), BackwardFault::Enters));
        }
    }
    Ok(())
}

impl ThreadView {
    fn at(class: usize) -> Self {
        Self { class: Some(class), messages: Vec::new() }
    }
}

/// Positions of threads of which there is one each, that do the same and may change places.
fn groups(program: &Program, roster: &Roster, proof: &BackwardProof, locals: &[Locals]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (position, &place) in roster.single.iter().enumerate() {
        let is_like = |other: usize| {
            let other = roster.single[other];
            program.body(roster.threads[place]).does_the_same(program.body(roster.threads[other]))
                && proof.classes[place] == proof.classes[other]
                && locals[place] == locals[other]
        };
        match groups.iter_mut().find(|group| is_like(group[0])) {
            Some(group) => group.push(position),
            None => groups.push(vec![position]),
        }
    }
    groups
}

/// What must agree of two configurations if one stands for the other: the own messages of each group, in any order.
type Mark = Vec<Vec<Vec<Message>>>;

/// The configurations of a proof.
struct Set<'a> {
    by_mark: HashMap<Mark, Vec<&'a Configuration>>,
    groups: Vec<Vec<usize>>,
    holds: Vec<Vec<bool>>,
    steps: &'a Steps<'a>,
}

impl<'a> Set<'a> {
    fn new(proof: &'a BackwardProof, steps: &'a Steps<'a>, groups: Vec<Vec<usize>>) -> Self {
        let holds = steps.locals.iter().map(|locals| locals.holds.clone()).collect();
        let mut set = Self { by_mark: HashMap::new(), groups, holds, steps };
        let single = steps.roster.single.len();
        for configuration in proof.configurations.iter().filter(|entry| entry.threads.len() >= single) {
            set.by_mark.entry(set.mark(configuration)).or_default().push(configuration);
        }
        set
    }

    fn mark(&self, configuration: &Configuration) -> Mark {
        let own = |&place: &usize| {
            configuration.threads[place].messages.iter().filter(|message| message.is_own()).cloned().collect::<Vec<_>>()
        };
        let group = |group: &Vec<usize>| {
            let mut all: Vec<Vec<Message>> = group.iter().map(own).collect();
            all.sort_unstable();
            all
        };
        self.groups.iter().map(group).collect()
    }

    /// Whether it refers only to existing threads and classes; each cell has one newest own message at most; other
    /// messages are in order; and copies are in a certain state, which is not the one in which all of them start.
    fn is_sound(&self, configuration: &Configuration) -> bool {
        let roster = self.steps.roster;
        let (single, copies) = (roster.single.len(), &configuration.copies);
        if configuration.threads.len() != single + copies.len()
            || copies.iter().any(|place| !roster.templates.contains(place))
        {
            return false;
        }
        let thread = |(position, thread): (usize, &ThreadView)| {
            let mut newest: BTreeMap<Address, u32> = BTreeMap::new();
            for (address, _) in thread.messages.iter().filter_map(Message::stored) {
                *newest.entry(address).or_default() += 1;
            }
            let classes = self.holds[roster.place(configuration, position)].len();
            let is_copy = position >= single;
            thread.class.map_or(!is_copy && thread.messages.is_empty(), |class| class < classes)
                && !(is_copy && self.steps.is_fresh(configuration, position))
                && newest.values().all(|&count| count == 1)
                && thread.messages.iter().all(is_in_order)
        };
        configuration.threads.iter().enumerate().all(thread)
    }

    fn holds(&self, configuration: &Configuration) -> bool {
        let alike = self.by_mark.get(&self.mark(configuration));
        let positions = (self.steps.roster, &self.groups[..]);
        alike.into_iter().flatten().any(|known| covers(known, configuration, positions, &self.holds))
    }
}

/// Whether a message from memory is about some cells, each once, by ascending address.
fn is_in_order(message: &Message) -> bool {
    match message {
        Message::Own(..) => true,
        Message::Memory(parts) => !parts.is_empty() && parts.is_sorted_by(|one, next| one.0 < next.0),
    }
}
