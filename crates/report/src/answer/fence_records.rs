//! Fences, why each is needed, and how many there are, as serializable types.

use std::collections::BTreeSet;

use serde::Serialize;
use weir::fences::{Access, Aim, Fences, Reason};
use weir_ir::{EdgeId, Gather, Program, ThreadId};

use super::exchanges::exchanges;
use super::repairs::{FencePlace, RemovedFence, Repair};

/// Verdicts of `weir fences`.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FencesVerdict {
    /// The fences in `fences` suffice; the list is empty if none are needed.
    Fenced,
    /// With `--for safe`: a property is violated even without store buffers, so no fence helps. With `--remove`: a
    /// property is violated even with all fences of the program.
    Unsafe,
    /// With `--remove`: the program is not robust, even with all its fences.
    #[serde(rename = "not-robust")]
    NotRobust,
    /// Inconclusive; `reason` says why.
    Unknown,
}

impl FencesVerdict {
    pub(super) fn of(fences: &Fences, aim: Aim) -> Self {
        match fences {
            Fences::Cheapest(_) => Self::Fenced,
            Fences::NotByFences(_) => Self::Unsafe,
            Fences::TooFew if aim == Aim::Safe => Self::Unsafe,
            Fences::TooFew => Self::NotRobust,
            Fences::Nowhere(_) | Fences::NoPlace(_) | Fences::Stopped(_) => Self::Unknown,
        }
    }
}

/// A fence. Code that several threads run has one fence per thread.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FenceRecord {
    /// The thread.
    pub thread: String,
    /// The label of the instruction that it precedes, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The line of the instruction that it precedes.
    pub line: u32,
    /// The column of the instruction that it precedes.
    pub column: u32,
    /// Why it is needed. Where several threads run the code, one of them is the example. Absent if the run that shows
    /// the need has no pair of a store and a load around the fence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<ReasonRecord>,
    /// In compiled code, the lines of the thread's stores that would each do instead if they were an `xchg`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exchanges: Vec<u32>,
}

/// A fence of the program that is not needed. Code that several threads run has one per thread.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemovedRecord {
    /// The thread.
    pub thread: String,
    /// The label of the instruction, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its line.
    pub line: u32,
    /// Its column.
    pub column: u32,
    /// What can be there instead: `nothing`, or `store` for an exchange whose result nobody reads.
    pub instead: &'static str,
}

/// Why a fence is needed: without it, `store` can be delayed past `load`, and with `partners` this breaks the aim.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReasonRecord {
    /// The store before the fence.
    pub store: AccessRecord,
    /// The load behind it.
    pub load: AccessRecord,
    /// The accesses of other threads that lead back from the load to the store, in order: with them, happens-before
    /// has a cycle. With `--for trf`, the write that races with the load.
    pub partners: Vec<AccessRecord>,
}

/// A memory access.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessRecord {
    /// The thread.
    pub thread: String,
    /// `load`, `store` or `rmw`.
    pub action: &'static str,
    /// The cell.
    pub cell: String,
    /// The line of the instruction.
    pub line: u32,
    /// The instruction.
    pub text: String,
}

/// How many fences an aim takes.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NeedRecord {
    /// The aim: `robust`, `states`, `safe` or `trf`.
    pub aim: &'static str,
    /// As for the answer as a whole. `unknown` also if the search took too many states for an aside.
    pub verdict: FencesVerdict,
    /// The number of fences, counted once per thread, if the verdict is `fenced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fences: Option<u64>,
    /// Their total cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
}

impl NeedRecord {
    pub(super) fn new(aim: Aim, fences: &Fences, copies: u64, cost: u64) -> Self {
        let verdict = FencesVerdict::of(fences, aim);
        let is_found = verdict == FencesVerdict::Fenced;
        Self { aim: aim.name(), verdict, fences: is_found.then_some(copies), cost: is_found.then_some(cost) }
    }
}

impl ReasonRecord {
    /// A reason in terms of the program that was searched.
    pub(crate) fn new(searched: &Program, reason: &Reason) -> Self {
        let access = |access: &Access| AccessRecord::new(searched, access);
        Self {
            store: access(&reason.store),
            load: access(&reason.load),
            partners: reason.partners.iter().map(access).collect(),
        }
    }
}

impl AccessRecord {
    fn new(searched: &Program, access: &Access) -> Self {
        Self {
            thread: searched.thread(access.thread).name.clone(),
            action: access.kind.name(),
            cell: searched.cell_name(access.address),
            line: searched.source.line(searched.body(access.thread).edge(access.edge).span),
            text: searched.instruction_text(access.thread, access.edge),
        }
    }
}

/// The fences of a repair.
pub(super) fn fence_records(searched: &Program, repair: &Repair) -> Vec<FenceRecord> {
    let fences = |place: &FencePlace| {
        let position = searched.source.line_column(place.offset);
        let exchanged = exchanges(searched, place);
        let line = |&(thread, edge): &(ThreadId, EdgeId)| searched.source.line(searched.body(thread).edge(edge).span);
        let lines =
            |thread: ThreadId| exchanged.iter().filter(|store| store.0 == thread).map(line).gather::<BTreeSet<_>>();
        let fence = |(&thread, labels): (&_, &Vec<String>)| FenceRecord {
            thread: searched.thread(thread).name.clone(),
            label: labels.first().cloned(),
            line: position.line,
            column: position.column,
            reason: place.reason.as_ref().map(|reason| ReasonRecord::new(searched, reason)),
            exchanges: lines(thread).into_iter().collect(),
        };
        place.threads.iter().map(fence).collect::<Vec<_>>()
    };
    repair.places.iter().flat_map(fences).collect()
}

/// The fences that a repair leaves out.
pub(super) fn removed_records(program: &Program, repair: &Repair) -> Vec<RemovedRecord> {
    let fences = |fence: &RemovedFence| {
        let position = program.source.line_column(fence.span.start);
        let record = |(&thread, labels): (&_, &Vec<String>)| RemovedRecord {
            thread: program.thread(thread).name.clone(),
            label: labels.first().cloned(),
            line: position.line,
            column: position.column,
            instead: if fence.is_exchange { "store" } else { "nothing" },
        };
        fence.threads.iter().map(record).collect::<Vec<_>>()
    };
    repair.removed.iter().flat_map(fences).collect()
}
