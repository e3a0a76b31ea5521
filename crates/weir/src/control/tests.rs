//! Limits, in the order in which they count, and what is left of them.

use std::sync::Mutex;

use super::*;

fn with(budget: Budget) -> Control {
    Control { budget, ..Control::default() }
}

const NONE: Budget = Budget { time: None, memory: None, states: None };

#[test]
fn by_default_memory_alone_is_limited() {
    let expected = Budget { memory: Some(4 * 1024 * 1024 * 1024), ..NONE };
    assert_eq!((Budget::default(), Budget::DEFAULT_MEMORY), (expected, 1 << 32));
    let control = Control::default();
    assert_eq!(Watch::start(&control).exceeded(0, 0), None);
    assert_eq!(Watch::start(&control).state_limit(), u64::MAX);
    assert_eq!(Watch::start(&with(Budget { states: Some(7), ..NONE })).state_limit(), 7);
}

#[test]
fn memory_is_held_and_wanted_together() {
    let control = with(Budget { memory: Some(100), ..NONE });
    let watch = Watch::start(&control);
    for (held, wanted, limit) in [(100, 0, None), (101, 0, Some(Limit::Memory)), (60, 40, None)] {
        assert_eq!(watch.exceeded(held, wanted), limit, "{held} held, {wanted} wanted");
    }
    assert_eq!(watch.exceeded(60, 41), Some(Limit::Memory));
    assert_eq!(watch.exceeded(1, u64::MAX), Some(Limit::Memory));
}

/// What the process really uses counts rather than what the stores say, if it is known.
#[test]
fn a_meter_is_believed() {
    let metered = |bytes: Option<u64>| {
        let meter: MemoryMeter = Arc::new(move || bytes);
        Control { memory_meter: Some(meter), ..with(Budget { memory: Some(100), ..NONE }) }
    };
    assert_eq!(Watch::start(&metered(Some(99))).exceeded(1000, 1), None);
    assert_eq!(Watch::start(&metered(Some(99))).exceeded(0, 2), Some(Limit::Memory));
    assert_eq!(Watch::start(&metered(None)).exceeded(1000, 0), Some(Limit::Memory));
}

#[test]
fn interruption_comes_before_time_and_time_before_memory() {
    let budget = Budget { time: Some(Duration::ZERO), memory: Some(0), states: None };
    let control = with(budget);
    assert_eq!(Watch::start(&control).exceeded(1, 0), Some(Limit::Time));
    control.clone().interrupt.store(true, Ordering::Relaxed);
    assert_eq!(Watch::start(&control).exceeded(1, 0), Some(Limit::Interrupted), "clones share the interruption");
    let later = with(Budget { time: Some(Duration::from_secs(3600)), ..budget });
    assert_eq!(Watch::start(&later).exceeded(1, 0), Some(Limit::Memory));
    assert_eq!(Watch::start(&later).exceeded(0, 0), None);
}

#[test]
fn a_clock_counts_work_and_ends_what_goes_beyond() {
    let clock = Arc::new(WorkClock::default());
    let control = Control { clock: Some(Arc::clone(&clock)), ..with(NONE) };
    let watch = Watch::start(&control);
    assert!((0..5).all(|_| watch.exceeded(0, 0).is_none()));
    assert_eq!(clock.done(), 5);
    clock.set_deadline(7);
    // Later deadlines change nothing.
    clock.set_deadline(9);
    let looks: Vec<Option<Limit>> = (0..3).map(|_| watch.exceeded(0, 0)).collect();
    assert_eq!(looks, [None, None, Some(Limit::Interrupted)]);
    clock.set_deadline(3);
    assert_eq!(watch.exceeded(0, 0), Some(Limit::Interrupted));
}

#[test]
fn what_is_left_is_what_was_not_used() {
    let seconds = Duration::from_secs;
    let control = with(Budget { time: Some(seconds(10)), memory: Some(5), states: Some(100) });
    let after = control.after(seconds(4)).budget;
    assert_eq!(after, Budget { time: Some(seconds(6)), memory: Some(5), states: Some(100) });
    assert_eq!(control.after(seconds(11)).budget.time, Some(Duration::ZERO));
    let used = Statistics { states: 30, transitions: 500, elapsed: seconds(3), ..Statistics::default() };
    let beyond = control.beyond(&used).budget;
    assert_eq!(beyond, Budget { time: Some(seconds(7)), memory: Some(5), states: Some(70) });
    let more = Statistics { states: 101, ..used };
    assert_eq!(control.beyond(&more).budget.states, Some(0));
    assert_eq!(with(NONE).beyond(&more).budget, NONE);
}

#[test]
fn progress_is_passed_on() {
    let told: Arc<Mutex<Vec<Progress>>> = Arc::default();
    let list = Arc::clone(&told);
    let sink: ProgressSink = Arc::new(move |progress| list.lock().expect("not poisoned").push(*progress));
    let control = Control { progress: Some(sink), ..Control::default() };
    let progress = Progress { states: 3, open: 2, depth: 1, elapsed: Duration::from_secs(9) };
    Watch::start(&control).report(&progress);
    Watch::start(&Control::default()).report(&progress);
    assert_eq!(*told.lock().expect("not poisoned"), [progress]);
    assert!(format!("{control:?}").contains("budget"));
}

#[test]
fn time_passes() {
    let control = with(Budget { time: Some(Duration::from_millis(20)), ..NONE });
    let watch = Watch::start(&control);
    assert!(watch.elapsed() < Duration::from_secs(5));
    std::thread::sleep(Duration::from_millis(25));
    assert!(watch.elapsed() >= Duration::from_millis(20));
    assert_eq!(watch.exceeded(0, 0), Some(Limit::Time));
}
