//! Limits that ended a search, and how to get past them.

use weir::prob::Obstacle;
use weir::{Limit, Limits};

use super::units::{counted, size_text, time_text};

/// Which limit ended a search.
pub fn limit_text(limit: Limit, limits: &Limits) -> String {
    match limit {
        Limit::Time => {
            let time = limits.time.map(time_text).unwrap_or_default();
            format!("the time limit of {time} was reached")
        }
        Limit::Memory => format!("the memory limit of {} was reached", size_text(limits.memory.unwrap_or_default())),
        Limit::States => {
            let states = counted(limits.states.unwrap_or_default(), "state");
            format!("the limit of {states} was reached")
        }
        Limit::Interrupted => "interrupted".to_owned(),
        Limit::Extensions
        | Limit::Instances
        | Limit::Copies
        | Limit::Rounds(_)
        | Limit::Age(_)
        | Limit::Frames(_)
        | Limit::Spawned(_) => limit.to_string(),
        Limit::Alarm => "the over-approximation raised an alarm that no run confirms".to_owned(),
    }
}

/// How to get further than a limit let the search come.
pub fn more(limit: Limit) -> &'static str {
    match limit {
        Limit::Time => "allow more time with `--timeout`",
        Limit::Memory => "allow more memory with `--memory`",
        Limit::States => "raise the limit with `--states`",
        Limit::Extensions => {
            "allow more rounds with `--lazy-rounds` or larger programs with `--limit lazy-edges=N`, use another engine"
        }
        Limit::Rounds(_) | Limit::Age(_) => {
            "raise the bound with `--bound`, or use `--engine dual` or `--engine explicit`, which look at all runs"
        }
        Limit::Frames(_) => {
            "allow deeper stacks with `--limit stack-frames=N`; if that is allowed already, the program is too large with \
             deeper stacks, so give procedures fewer registers and steps"
        }
        Limit::Spawned(_) => "allow more threads with `--limit spawned-threads=N`",
        Limit::Interrupted => "let it run longer",
        Limit::Alarm => "use a more precise engine",
        Limit::Copies => "ask about a fixed number of copies, as in `-D 'T[*]=3'`",
        Limit::Instances => {
            "ask about a fixed number of copies, as in `-D 'T[*]=3'`, or search larger instances for violations with \
             `--limit instance-copies=N`"
        }
    }
}

/// Why a number is not known as precisely as was requested.
pub fn obstacle_text(obstacle: Obstacle, limits: &Limits) -> String {
    match obstacle {
        Obstacle::Limit(limit) => limit_text(limit, limits),
        Obstacle::Choices => "some configuration has too many successors to follow them all".to_owned(),
        Obstacle::Odds => "in some configuration, the flush probabilities exceed the range of integers".to_owned(),
        Obstacle::Fractions => {
            "the program has too many configurations or too large loops for exact fractions".to_owned()
        }
        Obstacle::Precision => "floating-point precision does not suffice".to_owned(),
        Obstacle::Unbounded => "nothing could be proved about runs with large buffers".to_owned(),
    }
}
