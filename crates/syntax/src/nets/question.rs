//! What is asked about a thread transition system, which its file does not say: where it starts and what is looked for.
//!
//! Both are written as BFC writes configurations: a shared state, then the local states of threads. `3|0,0,2` is shared
//! state 3 with two threads in local state 0 and one in 2. As a start, `0|1/0` is shared state 0 with one thread in
//! local state 1 and any number of threads in 0.

use std::collections::BTreeMap;

use weir_ir::net::{Count, CoverTarget, InitialMarkings, Tokens};
use weir_ir::{ControlId, PlaceId, Span};

/// The question about a thread transition system.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadQuestion {
    /// Where it starts; by default in shared state 0, with any number of threads in local state 0.
    pub initial: Option<ThreadStart>,
    /// What is looked for: any of these.
    pub targets: Vec<CoverTarget>,
}

/// Where a thread transition system starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadStart {
    shared: u32,
    threads: Vec<Tokens>,
    unbounded: Vec<u32>,
}

/// Reads a target: `3|0,0,2`, or `3|` for shared state 3 and any threads.
///
/// # Errors
/// What is wrong with the text.
pub fn read_target(text: &str) -> Result<CoverTarget, String> {
    let (shared, threads) = configuration(text)?;
    let at_least = counted(&numbers(threads)?);
    Ok(CoverTarget { control: Some(ControlId(shared)), at_least, at_most: Vec::new(), span: Span::default() })
}

/// Reads a start: `0|1/0`. What follows `/` are local states with any number of threads.
///
/// # Errors
/// What is wrong with the text.
pub fn read_initial(text: &str) -> Result<ThreadStart, String> {
    let (shared, threads) = configuration(text)?;
    let (threads, unbounded) = threads.split_once('/').unwrap_or((threads, ""));
    Ok(ThreadStart { shared, threads: counted(&numbers(threads)?), unbounded: numbers(unbounded)? })
}

impl ThreadQuestion {
    /// Where a system with so many local states starts.
    pub(super) fn start(&self, locals: usize) -> Result<InitialMarkings, String> {
        let usual = ThreadStart { shared: 0, threads: Vec::new(), unbounded: vec![0] };
        let start = self.initial.as_ref().unwrap_or(&usual);
        let mut counts = vec![Count { low: 0, high: Some(0) }; locals];
        let unknown = |local: u32| format!("the start names local state {local}, but there are only {locals}");
        for &(place, count) in &start.threads {
            let found = counts.get_mut(place.index()).ok_or_else(|| unknown(place.0))?;
            *found = Count { low: count, high: Some(count) };
        }
        for &local in &start.unbounded {
            let found = counts.get_mut(local as usize).ok_or_else(|| unknown(local))?;
            found.high = None;
        }
        Ok(InitialMarkings { control: ControlId(start.shared), counts, span: Span::default() })
    }
}

fn configuration(text: &str) -> Result<(u32, &str), String> {
    let Some((shared, threads)) = text.trim().split_once('|') else {
        return Err("expected a shared state, `|` and local states, as in `3|0,0,2`".to_owned());
    };
    Ok((number(shared)?, threads))
}

fn numbers(text: &str) -> Result<Vec<u32>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    text.split(',').map(number).collect()
}

fn number(text: &str) -> Result<u32, String> {
    let text = text.trim();
    let shown: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    text.parse().map_err(|_| format!("expected the number of a state, found `{shown}`"))
}

/// Each local state with how often it occurs.
fn counted(locals: &[u32]) -> Vec<Tokens> {
    let mut counts = BTreeMap::new();
    for &local in locals {
        *counts.entry(PlaceId(local)).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}
