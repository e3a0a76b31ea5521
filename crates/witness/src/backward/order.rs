//! Which configurations a configuration stands for.

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

/// Whether the first configuration stands for the second, where threads of one group may change places. For each
/// thread, `holds` tells of its classes whether the lock is held there.
pub(super) fn covers(small: &Configuration, large: &Configuration, groups: &[Vec<usize>], holds: &[Vec<bool>]) -> bool {
    small.memory.iter().all(|(address, value)| large.memory.get(address) == Some(value))
        && groups.iter().all(|group| pairs_up(small, large, group, &mut group.clone(), holds))
}

/// Whether each of these threads of the first finds a partner of its own among the free ones of the second.
fn pairs_up(
    small: &Configuration,
    large: &Configuration,
    left: &[usize],
    free: &mut Vec<usize>,
    holds: &[Vec<bool>],
) -> bool {
    let Some((&first, rest)) = left.split_first() else { return true };
    for at in 0..free.len() {
        let partner = free[at];
        if stands_for(&small.threads[first], &large.threads[partner], &holds[first]) {
            free.remove(at);
            if pairs_up(small, large, rest, free, holds) {
                return true;
            }
            free.insert(at, partner);
        }
    }
    false
}
