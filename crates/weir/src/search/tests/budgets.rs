//! Time, memory, interruption and progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use weir_ir::Value;
use weir_witness::Goal;

use super::graph::Graph;
use crate::search::{Found, Outcome, breadth_first, depth_first};
use crate::semantics::state::Packed;
use crate::semantics::{StepCode, TransitionSystem};
use crate::session::Progress;
use crate::session::{Limits, Session};
use crate::verdict::Limit;

/// Every state leads to two new ones, without end.
struct Endless {
    side_bytes: u64,
}

impl TransitionSystem for Endless {
    type State = Packed<1>;

    fn initial(&self) -> Packed<1> {
        Packed([1])
    }

    fn successors(&self, from: &Packed<1>, emit: &mut impl FnMut(StepCode, Packed<1>) -> bool) {
        for bit in 0..2 {
            let next = Packed([from.0[0].wrapping_mul(2) ^ (from.0[0] >> 40) ^ bit]);
            emit(StepCode { number: bit as u32, choice: 0 }, next);
        }
    }

    fn goal(&self, _state: &Packed<1>) -> Option<Goal> {
        None
    }

    fn deadlock_goal(&self, _state: &Packed<1>) -> Option<Goal> {
        None
    }

    fn words(&self) -> usize {
        1
    }

    fn step_count(&self) -> usize {
        2
    }

    fn thread_of(&self, step: StepCode) -> usize {
        step.number as usize
    }

    fn canonical_form(&self, state: &Packed<1>) -> Vec<Value> {
        vec![state.0[0] as Value]
    }

    fn side_bytes(&self) -> u64 {
        self.side_bytes
    }
}

/// No search here goes on forever, whatever the limit under test does.
const MOST: u64 = 3_000_000;

fn session(limits: Limits) -> Session {
    Session::new(Limits { states: Some(MOST), ..limits })
}

/// Each search in a session of its own.
fn all(session: impl Fn() -> Session, side_bytes: u64) -> [Outcome; 3] {
    let graph = Endless { side_bytes };
    [breadth_first(&graph, &session(), 1), breadth_first(&graph, &session(), 2), depth_first(&graph, &session())]
}

fn stopped_by(outcome: &Outcome) -> Limit {
    match outcome.found {
        Found::Stopped(limit) => limit,
        _ => panic!("{:?}", outcome.found),
    }
}

#[test]
fn time_ends_a_search() {
    let session = || session(Limits { time: Some(Duration::from_millis(30)), ..Limits::default() });
    for outcome in all(session, 0) {
        assert_eq!(stopped_by(&outcome), Limit::Time);
        assert!(outcome.states > 100 && outcome.states < MOST, "{} states", outcome.states);
        // Not the whole limit: the session began before the search did.
        assert!(!outcome.elapsed.is_zero());
    }
}

#[test]
fn memory_ends_a_search_and_is_kept_to() {
    let memory = 8 << 20;
    let session = || session(Limits { memory: Some(memory), ..Limits::default() });
    // Two workers may be about to grow at the same time, each within the limit by itself.
    for (outcome, workers) in all(session, 0).into_iter().zip([1, 2, 1]) {
        assert_eq!(stopped_by(&outcome), Limit::Memory);
        assert!(outcome.states > 20_000, "{} states", outcome.states);
        assert!(outcome.stored_bytes <= memory + workers * memory / 4, "{} bytes", outcome.stored_bytes);
    }
}

/// What is held beside the states counts.
#[test]
fn bytes_beside_the_states_count() {
    let session = || session(Limits { memory: Some(8 << 20), ..Limits::default() });
    for outcome in all(session, 9 << 20) {
        assert_eq!(stopped_by(&outcome), Limit::Memory);
        assert!(outcome.states < 20_000, "{} states", outcome.states);
        assert!(outcome.stored_bytes >= 9 << 20);
    }
}

#[test]
fn a_session_that_is_stopped_ends_a_search() {
    let stopped = || {
        let session = session(Limits::default());
        session.stop();
        session
    };
    for outcome in all(stopped, 0) {
        assert_eq!(stopped_by(&outcome), Limit::Interrupted);
        assert!(outcome.states < 20_000);
    }
}

/// A search that is interrupted from where it tells how far it is.
#[test]
fn progress_is_told_and_true() {
    for depth_first_too in [false, true] {
        let told: Arc<Mutex<Vec<Progress>>> = Arc::default();
        let interrupt = Arc::new(AtomicBool::new(false));
        let (list, stop) = (Arc::clone(&told), Arc::clone(&interrupt));
        let sink = move |progress: &Progress| {
            let mut list = list.lock().expect("not poisoned");
            list.push(progress.clone());
            stop.store(list.len() >= 3, Ordering::Relaxed);
        };
        let session = session(Limits::default()).with_progress(Arc::new(sink)).with_stop(interrupt);
        let graph = Endless { side_bytes: 0 };
        let outcome = if depth_first_too { depth_first(&graph, &session) } else { breadth_first(&graph, &session, 1) };
        let told = told.lock().expect("not poisoned");
        assert!(!told.is_empty(), "at least once, at the start");
        for pair in told.windows(2) {
            assert!(pair[0].states <= pair[1].states && pair[1].elapsed >= Duration::from_millis(190));
            assert!(pair[1].elapsed >= pair[0].elapsed + Duration::from_millis(150), "a few times a second");
        }
        for progress in told.iter() {
            assert!(progress.states <= outcome.states && progress.elapsed <= session.elapsed());
            assert!(progress.depth <= outcome.depth + 1 && progress.open <= 2 * progress.states + 2);
        }
        if let Some(last) = told.get(1) {
            assert!(last.states > 1000 && last.open > 0 && last.depth > 5, "{last:?}");
        }
    }
}

/// What a search takes when it is over.
#[test]
fn what_is_held_at_the_end_is_told() {
    let steps = (0..1000).map(|state| vec![(0, (state + 1) % 1000)]).collect();
    let graph = Graph { steps, threads: 1, side_bytes: 12_345_678, ..Graph::default() };
    for outcome in [breadth_first(&graph, &Session::default(), 1), depth_first(&graph, &Session::default())] {
        let own = outcome.stored_bytes - 12_345_678;
        assert!((8 * 1000..200_000).contains(&own), "{own} bytes");
    }
}

/// The first state leads to very many others. Notes how many were taken, and interrupts when there are `interrupt`.
struct Fan {
    taken: std::sync::atomic::AtomicU64,
    interrupt: u64,
    stop: Arc<AtomicBool>,
}

impl TransitionSystem for Fan {
    type State = Packed<1>;

    fn initial(&self) -> Packed<1> {
        Packed([0])
    }

    fn successors(&self, from: &Packed<1>, emit: &mut impl FnMut(StepCode, Packed<1>) -> bool) {
        if from.0[0] > 0 {
            return;
        }
        for value in 1..=1_000_000 {
            let taken = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
            if taken == self.interrupt {
                self.stop.store(true, Ordering::Relaxed);
            }
            if !emit(StepCode { number: 0, choice: 0 }, Packed([value])) {
                return;
            }
        }
    }

    fn goal(&self, _state: &Packed<1>) -> Option<Goal> {
        None
    }

    fn deadlock_goal(&self, _state: &Packed<1>) -> Option<Goal> {
        None
    }

    fn words(&self) -> usize {
        1
    }

    fn step_count(&self) -> usize {
        1
    }

    fn thread_of(&self, _step: StepCode) -> usize {
        0
    }

    fn canonical_form(&self, state: &Packed<1>) -> Vec<Value> {
        vec![state.0[0] as Value]
    }

    fn side_bytes(&self) -> u64 {
        0
    }
}

#[test]
fn a_choice_among_more_values_than_there_may_be_states_is_cut_short() {
    for is_deep in [false, true] {
        let session = Session::new(Limits { states: Some(10), ..Limits::default() });
        let fan = Fan { taken: 0.into(), interrupt: 0, stop: session.stop_handle() };
        let outcome = if is_deep { depth_first(&fan, &session) } else { breadth_first(&fan, &session, 1) };
        assert_eq!(stopped_by(&outcome), Limit::States);
        assert_eq!((outcome.transitions, fan.taken.into_inner()), (11, 11), "{is_deep}");
    }
}

#[test]
fn an_interruption_is_seen_within_a_choice() {
    let session = Session::default();
    let fan = Fan { taken: 0.into(), interrupt: 5_000, stop: session.stop_handle() };
    assert_eq!(stopped_by(&depth_first(&fan, &session)), Limit::Interrupted);
    let taken = fan.taken.into_inner();
    assert!((5_000..10_000).contains(&taken), "{taken}");
}
