//! Exit statuses: the contract with scripts.

use std::process::ExitCode;

use weir_report::answer::{
    Answer, CheckVerdict, CoverVerdict, FencesVerdict, LitmusVerdict, ProbVerdict, ReachVerdict, RobustVerdict, YesNo,
};

/// How a command ended, for one file or for several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// It holds: no forbidden state can be reached, the witness replays, the file is formatted.
    Holds,
    /// A limit was hit, or the method cannot tell.
    Unknown,
    /// It does not hold, and the evidence was shown.
    Violated,
    /// Bad usage, bad input, or a bug of ours.
    Bad,
}

impl Status {
    /// The number the process exits with.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Holds => 0,
            Self::Violated => 1,
            Self::Bad => 2,
            Self::Unknown => 3,
        }
    }

    /// The status of both together: bad before violated before unknown before holds.
    #[must_use]
    pub(crate) fn and(self, other: Status) -> Status {
        let rank = |status: Status| match status {
            Self::Holds => 0,
            Self::Unknown => 1,
            Self::Violated => 2,
            Self::Bad => 3,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

impl From<&Answer<'_>> for Status {
    fn from(answer: &Answer<'_>) -> Self {
        match answer {
            Answer::Check(answer) => match answer.head.verdict {
                CheckVerdict::Safe => Self::Holds,
                CheckVerdict::Unsafe => Self::Violated,
                CheckVerdict::Unknown => Self::Unknown,
            },
            Answer::Reach(answer) => match answer.head.verdict {
                ReachVerdict::Unreachable => Self::Holds,
                ReachVerdict::Reachable => Self::Violated,
                ReachVerdict::Unknown => Self::Unknown,
            },
            Answer::Robust(answer) => match answer.head.verdict {
                RobustVerdict::Robust => Self::Holds,
                RobustVerdict::NotRobust => Self::Violated,
                RobustVerdict::Unknown => Self::Unknown,
            },
            Answer::Fences(answer) => match answer.head.verdict {
                FencesVerdict::Fenced => Self::Holds,
                FencesVerdict::Unsafe | FencesVerdict::NotRobust => Self::Violated,
                FencesVerdict::Unknown => Self::Unknown,
            },
            Answer::Prob(answer) => match answer.head.verdict {
                ProbVerdict::Ok => Self::Holds,
                ProbVerdict::No => Self::Violated,
                ProbVerdict::Unknown => Self::Unknown,
            },
            Answer::Litmus(answer) => match answer.head.verdict {
                LitmusVerdict::Ok => Self::Holds,
                LitmusVerdict::No => Self::Violated,
                LitmusVerdict::Unknown => Self::Unknown,
            },
            Answer::Cover(answer) => match answer.head.verdict {
                CoverVerdict::Unreachable => Self::Holds,
                CoverVerdict::Reachable => Self::Violated,
                CoverVerdict::Unknown => Self::Unknown,
            },
            Answer::Translate(answer) => answer.head.verdict.into(),
            Answer::Replay(answer) => answer.head.verdict.into(),
            Answer::Certificate(answer) => answer.head.verdict.into(),
            Answer::NetCertificate(answer) => answer.head.verdict.into(),
            Answer::Format(answer) => answer.head.verdict.into(),
            Answer::Stopped(_) => Self::Unknown,
            Answer::Error(_) => Self::Bad,
        }
    }
}

impl From<YesNo> for Status {
    fn from(verdict: YesNo) -> Self {
        match verdict {
            YesNo::Ok => Self::Holds,
            YesNo::No => Self::Violated,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Status::{self, Bad, Holds, Unknown, Violated};

    #[test]
    fn of_several_files_the_gravest_counts_in_the_order_two_one_three_zero() {
        let all = [Holds, Violated, Bad, Unknown];
        let of = |codes: &[Status]| codes.iter().fold(Holds, |sum, &next| sum.and(next)).code();
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&all), 2);
        assert_eq!(of(&[Unknown, Violated, Holds]), 1);
        assert_eq!(of(&[Holds, Unknown, Holds]), 3);
        for left in all {
            for right in all {
                assert_eq!(left.and(right), right.and(left));
            }
        }
    }
}
