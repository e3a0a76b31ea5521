//! What a search for fences found: the sets of places, and the programs with their fences.

use std::collections::BTreeMap;
use std::time::Duration;

use weir::Limit;
use weir::fences::{Aim, Fences, Reason, Report};
use weir::robust::Attacks;
use weir_ir::{Diagnostic, LocId, Program, Span, ThreadId};
use weir_syntax::Language;

use super::subject::Subject;

/// All that is known about the fences of a program.
pub struct Repairs<'a> {
    /// The program as it was read.
    pub subject: Subject<'a>,
    /// What was asked.
    pub options: FencesQuestion,
    /// The program that was searched: the one that was read, or one with a step for each place.
    pub searched: &'a Program,
    /// The report of the search, or why the engine refuses the program.
    pub report: Result<Report, Box<Diagnostic>>,
    /// The cheapest sets, if some were found. The only one is empty if no fence is needed.
    pub repairs: Vec<Repair>,
    /// What kept the sets from being checked again, if anything did.
    pub unchecked: Option<Limit>,
    /// How many fences other aims take.
    pub needs: Vec<NeedCount>,
    /// Every feasible attack, if they were asked for.
    pub census: Option<Census>,
}

/// How many fences an aim takes.
pub struct NeedCount {
    /// The aim.
    pub aim: Aim,
    /// What was found.
    pub fences: Fences,
    /// The number of fences, counted once per thread, if they were found.
    pub copies: u64,
    /// Their cost.
    pub cost: u64,
}

/// What `weir fences` was asked.
#[derive(Clone, Copy)]
pub struct FencesQuestion {
    /// What the fences must achieve.
    pub aim: Aim,
    /// Whether all cheapest sets were asked for.
    pub all: bool,
    /// Whether the program with its fences was requested.
    pub write: bool,
    /// Whether every fence costs 1.
    pub is_unit_cost: bool,
    /// Whether the question is which fences of the program are not needed.
    pub remove: bool,
}

/// A set of fences that suffices.
pub struct Repair {
    /// The places, in order of the source.
    pub places: Vec<FencePlace>,
    /// Fences of the program that are not needed, in order of the source.
    pub removed: Vec<RemovedFence>,
    /// The text of the program with its fences.
    pub text: String,
    /// The language of that text: Weir's own if the fences cannot be inserted into the original.
    pub language: Language,
    /// Whether the program was printed anew, rather than the text of its author changed.
    pub is_printed_anew: bool,
}

impl Repair {
    /// How many fences the program has then: one for each thread that runs the text.
    pub(crate) fn copies(&self) -> u64 {
        self.places.iter().map(|place| place.threads.len() as u64).sum()
    }
}

/// A fence of the program that is not needed.
pub struct RemovedFence {
    /// Where it stands.
    pub span: Span,
    /// The threads that run it, with the labels they have there.
    pub threads: BTreeMap<ThreadId, Vec<String>>,
    /// Whether it is an exchange, for which a plain store is enough.
    pub is_exchange: bool,
}

/// A place in the source that a fence goes before.
pub struct FencePlace {
    /// The first byte of what the fence comes before.
    pub offset: u32,
    /// Each thread that runs the text, with the labels it has there.
    pub threads: BTreeMap<ThreadId, Vec<String>>,
    /// The first location at which the fence would be.
    pub location: Option<(ThreadId, LocId)>,
    /// Why the fence is needed, if that could be told. Its steps are those of the program that was searched.
    pub reason: Option<Reason>,
}

/// What became of every attack.
pub struct Census {
    /// All of them.
    pub attacks: Attacks,
    /// How many are feasible.
    pub feasible: u64,
    /// What came before all were decided, if anything did.
    pub limit: Option<Limit>,
    /// Processor time so far, if the system reports it.
    pub cpu: Option<Duration>,
    /// Wall-clock time so far.
    pub wall: Duration,
}
