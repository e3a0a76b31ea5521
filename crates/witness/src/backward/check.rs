//! Whether a proof is one.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use weir_ir::{Address, Gather, Interrupt, Poll, Program, Uninterrupted};

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
        memory: values.keys().map(|&address| (address, program.initial_value(address))).gather(),
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

/// A copy as far as it must agree with the one that it stands for: the thread that it is a copy of, its class and its own
/// messages.
type CopyMark<'a> = (usize, Option<usize>, Vec<&'a Message>);

/// What must agree of two configurations if one stands for the other, once copies that it does not list are left out:
/// the own messages of each group, and the copies, in any order.
type Mark<'a> = (Vec<Vec<Vec<&'a Message>>>, Vec<CopyMark<'a>>);

/// Beyond so many copies, their subsets are not looked up one by one.
const MOST_LOOKED_UP: usize = 12;

/// The configurations of a proof.
struct Set<'a> {
    by_mark: HashMap<Mark<'a>, Vec<&'a Configuration>>,
    /// Whether some configuration lists a copy in any class, which no mark can name.
    has_free_copies: bool,
    groups: Vec<Vec<usize>>,
    holds: Vec<Vec<bool>>,
    steps: &'a Steps<'a>,
}

impl<'a> Set<'a> {
    fn new(proof: &'a BackwardProof, steps: &'a Steps<'a>, groups: Vec<Vec<usize>>) -> Self {
        let holds = steps.locals.iter().map(|locals| locals.holds.clone()).collect();
        let single = steps.roster.single.len();
        let is_free = |entry: &Configuration| entry.threads.iter().skip(single).any(|copy| copy.class.is_none());
        let has_free_copies = proof.configurations.iter().any(is_free);
        let mut set = Self { by_mark: HashMap::new(), has_free_copies, groups, holds, steps };
        for entry in proof.configurations.iter().filter(|entry| entry.threads.len() == single + entry.copies.len()) {
            set.by_mark.entry(set.mark(entry, |_| true)).or_default().push(entry);
        }
        set
    }

    /// The mark of a configuration that lists only these of its copies.
    fn mark<'c>(&self, configuration: &'c Configuration, lists: impl Fn(usize) -> bool) -> Mark<'c> {
        let own =
            |thread: &'c ThreadView| thread.messages.iter().filter(|message| message.is_own()).collect::<Vec<_>>();
        let group = |group: &Vec<usize>| {
            let mut all: Vec<Vec<&Message>> = group.iter().map(|&place| own(&configuration.threads[place])).collect();
            all.sort_unstable();
            all
        };
        let views = &configuration.threads[self.steps.roster.single.len()..];
        let copies = configuration.copies.iter().zip(views).enumerate().filter(|&(copy, _)| lists(copy));
        let mut copies: Vec<CopyMark<'c>> =
            copies.map(|(_, (&place, thread))| (place, thread.class, own(thread))).collect();
        copies.sort_unstable();
        (self.groups.iter().map(group).collect(), copies)
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
        let positions = (self.steps.roster, &self.groups[..]);
        let stands = |known: &Configuration| covers(known, configuration, positions, &self.holds);
        let copies = configuration.copies.len();
        if self.has_free_copies || copies > MOST_LOOKED_UP {
            return self.by_mark.values().flatten().any(|known| stands(known));
        }
        (0..1u32 << copies).any(|set| {
            let alike = self.by_mark.get(&self.mark(configuration, |copy| set >> copy & 1 == 1));
            alike.into_iter().flatten().any(|known| stands(known))
        })
    }
}

/// Whether a message from memory is about some cells, each once, by ascending address.
fn is_in_order(message: &Message) -> bool {
    match message {
        Message::Own(..) => true,
        Message::Memory(parts) => !parts.is_empty() && parts.is_sorted_by(|one, next| one.0 < next.0),
    }
}
