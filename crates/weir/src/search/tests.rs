//! Searches of graphs that are known: what is found, after how many steps, by which run, and what it took; the same for
//! every number of workers, and within every budget.

mod budgets;
mod graph;
mod parallel;
mod random;

use super::*;

#[test]
fn every_limit_is_remembered() {
    for limit in [Limit::Time, Limit::Memory, Limit::States, Limit::Interrupted, Limit::Alarm, Limit::Extensions] {
        assert_eq!(decode(encode(limit)), Some(limit));
    }
    assert_eq!(decode(NO_LIMIT), None);
}

#[test]
fn the_first_reason_to_stop_counts() {
    let session = Session::default();
    let shared = Shared::new(&session);
    assert_eq!((shared.stopped(), shared.must_stop(0)), (None, false));
    shared.stop(Limit::States);
    shared.stop(Limit::Time);
    assert_eq!((shared.stopped(), shared.must_stop(0)), (Some(Limit::States), true));
}

#[test]
fn memory_is_what_is_held_and_what_is_asked_for() {
    let limits = crate::session::Limits { memory: Some(100), ..crate::session::Limits::default() };
    let session = Session::new(limits);
    let shared = Shared::new(&session);
    shared.stored_bytes.store(60, Ordering::Relaxed);
    assert!(!shared.must_stop(40));
    assert!(shared.must_stop(41));
    assert_eq!(shared.stopped(), Some(Limit::Memory));
}
