//! Who waits for whom.

use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use super::*;

#[test]
fn the_faster_waits_for_the_slower_but_not_for_what_has_ended() {
    let clocks = WorkClock::side_by_side(&[1; 3]);
    assert!(!clocks[0].advance(LEAD + 1));
    let looks = AtomicUsize::new(0);
    // It looks whether the search is over, and only then goes on.
    clocks[0].wait_for_others(|| looks.fetch_add(1, Ordering::Relaxed) == 3);
    assert_eq!(looks.load(Ordering::Relaxed), 4);
    let never = || panic!("nobody is far behind");
    clocks[1].wait_for_others(never);
    // The slowest counts.
    assert!(!clocks[1].advance(LEAD));
    looks.store(0, Ordering::Relaxed);
    clocks[0].wait_for_others(|| looks.fetch_add(1, Ordering::Relaxed) == 1);
    assert_eq!(looks.load(Ordering::Relaxed), 2);
    drop(clocks[2].ending());
    clocks[0].wait_for_others(never);
    assert_eq!(clocks.iter().map(|clock| clock.done()).collect::<Vec<_>>(), [LEAD + 1, LEAD, 0]);
}

#[test]
fn it_does_not_wait_twice_for_one_that_does_not_move() {
    let clocks = WorkClock::side_by_side(&[1; 2]);
    clocks[0].advance(LEAD + 1);
    let waits = || {
        let began = Instant::now();
        clocks[0].wait_for_others(|| false);
        began.elapsed() >= NAP * MOST_NAPS
    };
    assert!(waits() && !waits());
    clocks[0].advance(LEAD);
    clocks[1].advance(1);
    assert!(waits() && !waits());
}

/// Up to then all work counts the same, and then by the pace.
#[test]
fn work_counts_by_the_pace_once_soon_is_over() {
    let clocks = WorkClock::side_by_side(&[1, 3]);
    for clock in &clocks {
        (0..SOON + 10).for_each(|_| assert!(!clock.advance(1)));
    }
    assert_eq!(clocks.iter().map(|clock| clock.done()).collect::<Vec<_>>(), [SOON + 10, SOON + 30]);
    clocks[1].set_deadline(SOON + 31);
    assert!(!clocks[1].advance(1) && clocks[1].advance(1));
}
