//! Which configurations a configuration stands for.

use super::roster::Roster;
use super::{Configuration, Message, ThreadView};

/// Whether the second buffer is the first with more messages from memory.
fn is_within(small: &[Message], large: &[Message]) -> bool {
    let mut rest = small.iter().peekable();
    for message in large {
        if rest.peek() == Some(&message) {
            rest.next();
        } else if message.is_own() {
            return false;
        }
    }
    rest.next().is_none()
}

/// Whether a thread of a configuration stands for one of another. `holds` tells of a class whether the lock is held
/// there.
fn stands_for(small: &ThreadView, large: &ThreadView, holds: &[bool]) -> bool {
    match small.class {
        Some(class) => large.class == Some(class) && is_within(&small.messages, &large.messages),
        None => {
            let is_free = large.class.is_none_or(|class| !holds[class]);
            is_free && !large.messages.iter().any(Message::is_own) && is_within(&small.messages, &large.messages)
        }
    }
}

/// Whether the first configuration stands for the second, where threads of one group may change places, and copies that
/// the first does not list do not hold the lock. For each thread that runs, `holds` tells of its classes whether the lock
/// is held there.
pub(super) fn covers(
    small: &Configuration,
    large: &Configuration,
    (roster, groups): (&Roster, &[Vec<usize>]),
    holds: &[Vec<bool>],
) -> bool {
    let single = roster.single.len();
    let all = |configuration: &Configuration| (single..configuration.threads.len()).collect::<Vec<_>>();
    let holders = |configuration: &Configuration| {
        let holds = |&position: &usize| {
            let class = configuration.threads[position].class;
            class.is_some_and(|class| holds[roster.place(configuration, position)][class])
        };
        all(configuration).iter().filter(|position| holds(position)).count()
    };
    let is_copy_of = |position: usize, other: usize| {
        let place = roster.place(small, position);
        place == roster.place(large, other)
            && stands_for(&small.threads[position], &large.threads[other], &holds[place])
    };
    let like = |position: usize, other: usize| {
        stands_for(&small.threads[position], &large.threads[other], &holds[roster.single[position]])
    };
    small.memory.iter().all(|(address, value)| large.memory.get(address) == Some(value))
        && groups.iter().all(|group| pairs_up(group, group, &like))
        && holders(small) == holders(large)
        && pairs_up(&all(small), &all(large), &is_copy_of)
}

/// Whether each of some threads has a partner of its own among others: a matching, by augmenting paths.
fn pairs_up(threads: &[usize], others: &[usize], fits: &dyn Fn(usize, usize) -> bool) -> bool {
    let mut partners: Vec<Option<usize>> = vec![None; others.len()];
    threads.iter().all(|&thread| {
        // Paths of threads that could change partners, breadth first: who wants which partner.
        let mut wanted_by: Vec<Option<usize>> = vec![None; others.len()];
        let mut open = vec![thread];
        while let Some(thread) = open.pop() {
            for at in 0..others.len() {
                if wanted_by[at].is_some() || !fits(thread, others[at]) {
                    continue;
                }
                wanted_by[at] = Some(thread);
                match partners[at] {
                    Some(other) => open.push(other),
                    None => {
                        change(&mut partners, &wanted_by, at);
                        return true;
                    }
                }
            }
        }
        false
    })
}

/// Gives a free partner to the thread that wants it, and the one it had to the thread that wants that one.
fn change(partners: &mut [Option<usize>], wanted_by: &[Option<usize>], free: usize) {
    let mut next = Some(free);
    while let Some(at) = next {
        let thread = wanted_by[at];
        next = partners.iter().position(|partner| *partner == thread);
        partners[at] = thread;
    }
}
