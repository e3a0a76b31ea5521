//! Limits, in the order in which they count, and what is left of them; parts and members of a session.

use std::sync::Mutex;

use super::*;

const NONE: Limits = Limits { time: None, memory: None, states: None };

#[test]
fn by_default_memory_alone_is_limited() {
    let expected = Limits { memory: Some(4 * 1024 * 1024 * 1024), ..NONE };
    assert_eq!((Limits::default(), Limits::DEFAULT_MEMORY), (expected, 1 << 32));
    let session = Session::default();
    assert_eq!(session.exceeded(), None);
    assert_eq!(session.states_left(), u64::MAX);
    assert_eq!((Session::new(Limits { states: Some(7), ..NONE })).states_left(), 7);
}

#[test]
fn memory_is_held_and_wanted_together() {
    let session = Session::new(Limits { memory: Some(100), ..NONE });
    for (held, wanted, limit) in [(100, 0, None), (101, 0, Some(Limit::Memory)), (60, 40, None)] {
        assert_eq!(session.exceeded_with(held, wanted), limit, "{held} held, {wanted} wanted");
    }
    assert_eq!(session.exceeded_with(60, 41), Some(Limit::Memory));
    assert_eq!(session.exceeded_with(1, u64::MAX), Some(Limit::Memory));
}

/// What the process really uses counts rather than what the stores say, if it is known.
#[test]
fn a_meter_is_believed() {
    let metered = |bytes: Option<u64>| {
        let meter: MemoryMeter = Arc::new(move || bytes);
        Session::new(Limits { memory: Some(100), ..NONE }).with_memory_meter(meter)
    };
    assert_eq!((metered(Some(99))).exceeded_with(1000, 1), None);
    assert_eq!((metered(Some(99))).exceeded_with(0, 2), Some(Limit::Memory));
    assert_eq!((metered(None)).exceeded_with(1000, 0), Some(Limit::Memory));
}

#[test]
fn interruption_comes_before_time_and_time_before_memory() {
    let limits = Limits { time: Some(Duration::ZERO), memory: Some(0), states: None };
    let session = Session::new(limits);
    assert_eq!(session.exceeded_with(1, 0), Some(Limit::Time));
    session.clone().stop();
    assert_eq!(session.exceeded_with(1, 0), Some(Limit::Interrupted), "clones share the interruption");
    let later = Session::new(Limits { time: Some(Duration::from_secs(3600)), ..limits });
    assert_eq!(later.exceeded_with(1, 0), Some(Limit::Memory));
    assert_eq!(later.exceeded(), None);
}

#[test]
fn a_clock_counts_work_and_ends_what_goes_beyond() {
    let clock = Arc::new(WorkClock::default());
    let session = Session { work: Some(Arc::clone(&clock)), ..Session::new(NONE) };
    assert!((0..5).all(|_| session.exceeded().is_none()));
    assert_eq!(clock.done(), 5);
    clock.set_deadline(7);
    // Later deadlines change nothing.
    clock.set_deadline(9);
    let looks: Vec<Option<Limit>> = (0..3).map(|_| session.exceeded()).collect();
    assert_eq!(looks, [None, None, Some(Limit::Interrupted)]);
    clock.set_deadline(3);
    assert_eq!(session.exceeded(), Some(Limit::Interrupted));
}

/// A clock that stands still until it is told to go on.
fn manual_clock() -> (Arc<AtomicU64>, Clock) {
    let now = Arc::new(AtomicU64::new(1_000));
    let read = Arc::clone(&now);
    (now, Arc::new(move || Duration::from_millis(read.load(Ordering::Relaxed))))
}

#[test]
fn time_is_that_of_the_clock_since_the_beginning() {
    let (now, clock) = manual_clock();
    let session = Session::new(Limits { time: Some(Duration::from_millis(500)), ..NONE }).with_clock(clock);
    assert_eq!((session.elapsed(), session.exceeded()), (Duration::ZERO, None));
    now.store(1_499, Ordering::Relaxed);
    assert_eq!((session.elapsed(), session.exceeded()), (Duration::from_millis(499), None));
    assert_eq!(session.since(Duration::from_millis(400)), Duration::from_millis(99));
    let earlier = session.clone().begun_before(Duration::from_millis(2));
    assert_eq!((earlier.elapsed(), earlier.exceeded()), (Duration::from_millis(501), Some(Limit::Time)));
    now.store(1_500, Ordering::Relaxed);
    assert_eq!(session.exceeded(), Some(Limit::Time));
    assert!(session.is_over(), "as every stage asks it");
}

#[test]
fn states_are_spent_by_all_searches_together() {
    let session = Session::new(Limits { states: Some(100), ..NONE });
    session.spend(30);
    session.clone().spend(5);
    assert_eq!((session.states(), session.states_left()), (35, 65));
    let part = session.part(Some(20));
    assert_eq!((part.states(), part.states_left()), (0, 20));
    part.spend(15);
    assert_eq!((part.states_left(), session.states_left()), (5, 50));
    assert_eq!(session.part(Some(70)).states_left(), 50, "no part has more than the whole");
    assert_eq!(session.part(None).states_left(), 50);
    let inner = part.part(None);
    inner.spend(5);
    assert_eq!((part.states_left(), session.states()), (0, 55));
    session.spend(1_000);
    assert_eq!(session.states_left(), 0);
    let free = Session::new(NONE);
    free.spend(1_000);
    assert_eq!(
        (free.states_left(), free.part(None).states_left(), free.part(Some(7)).states_left()),
        (u64::MAX, u64::MAX, 7)
    );
}

#[test]
fn members_have_their_share_and_are_counted_by_who_started_them() {
    let meter: MemoryMeter = Arc::new(|| Some(u64::MAX));
    let limits = Limits { time: Some(Duration::from_secs(100)), memory: Some(1000), states: Some(100) };
    let session = Session::new(limits).with_memory_meter(meter);
    session.spend(20);
    let (work, stop) = (Arc::default(), Arc::default());
    let member = session.member(4, &work, &stop);
    assert_eq!(member.limits(), Limits { memory: Some(250), states: Some(80), ..limits });
    assert_eq!((session.share_of_states(4), Session::default().share_of_states(4)), (Some(20), None));
    assert_eq!(session.another().states_left(), 100);
    member.spend(5);
    assert_eq!((member.states_left(), session.states_left()), (75, 80));
    assert_eq!(member.exceeded(), None, "the meter is about the process as a whole");
    assert_eq!(work.done(), 1);
    session.stop();
    assert_eq!(member.exceeded(), None, "a member has a flag of its own");
    stop.store(true, Ordering::Relaxed);
    assert_eq!(member.exceeded(), Some(Limit::Interrupted));
}

#[test]
fn progress_is_passed_on() {
    let told: Arc<Mutex<Vec<Progress>>> = Arc::default();
    let list = Arc::clone(&told);
    let sink: ProgressSink = Arc::new(move |progress| list.lock().expect("not poisoned").push(progress.clone()));
    let session = Session::default().with_progress(sink);
    let progress = Progress { states: 3, open: 2, depth: 1, ..Progress::default() };
    session.doing("looking").report(progress.clone());
    Session::default().report(progress);
    let told = told.lock().expect("not poisoned");
    let figures: Vec<_> = told.iter().map(|one| (one.states, one.open, one.depth, &*one.activity)).collect();
    assert_eq!(figures, [(3, 2, 1, "looking")]);
    assert!(format!("{session:?}").contains("limits"));
}

#[test]
fn time_passes() {
    let session = Session::new(Limits { time: Some(Duration::from_millis(20)), ..NONE });
    assert!(session.elapsed() < Duration::from_secs(5));
    std::thread::sleep(Duration::from_millis(25));
    assert!(session.elapsed() >= Duration::from_millis(20));
    assert_eq!(session.exceeded(), Some(Limit::Time));
}
