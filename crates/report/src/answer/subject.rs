//! What an answer is about.

use std::path::Path;
use std::time::Duration;

use weir::Limits;
use weir::reach::{Reduction, Statistics};
use weir_ir::{Diagnostic, Program};
use weir_syntax::Language;

use super::copies::CopiesRecord;
use super::diagnostic::DiagnosticRecord;
use super::head::{CommandName, Head};
use super::records::StatisticsRecord;

/// What an answer is about, and what the process took up to it.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The file as named on the command line.
    pub file: &'a Path,
    /// The program.
    pub program: &'a Program,
    /// The language it is written in.
    pub language: Language,
    /// Warnings and notes about the program.
    pub warnings: &'a [Diagnostic],
    /// The limits that were set.
    pub limits: Limits,
    /// Wall-clock time, including reading and checking the input.
    pub elapsed: Duration,
    /// Peak memory of the process, if the system reports it.
    pub peak_memory: Option<u64>,
    /// For which numbers of threads the answer holds, if the program has arbitrarily many of some.
    pub copies: Option<&'a CopiesRecord>,
}

impl Subject<'_> {
    pub(super) fn head<V>(&self, command: CommandName, verdict: V) -> Head<V> {
        Head { copies: self.copies.cloned(), ..Head::new(command, self.file, verdict, self.elapsed) }
    }

    /// What there is to say about the program, and why an engine refused it.
    pub(super) fn warnings(&self, refusal: Option<&Diagnostic>) -> Vec<DiagnosticRecord> {
        let source = &self.program.source;
        let mut records = DiagnosticRecord::all(source, self.warnings);
        records.extend(refusal.map(|diagnostic| DiagnosticRecord::new(source, diagnostic)));
        records
    }

    pub(super) fn statistics(&self, statistics: &Statistics) -> StatisticsRecord {
        StatisticsRecord {
            up_to_symmetry: statistics.up_to_symmetry,
            reduction: Some(statistics.reduction).filter(|one| *one != Reduction::None).map(Reduction::name),
            transitions: statistics.transitions,
            depth: statistics.depth,
            state_bytes: statistics.state_bytes,
            stored_bytes: statistics.stored_bytes,
            peak_memory_bytes: self.peak_memory,
            search_seconds: statistics.elapsed.as_secs_f64(),
        }
    }
}
