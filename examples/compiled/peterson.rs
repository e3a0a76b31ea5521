//! Peterson's lock in Rust, with `Release` and `Acquire` only: the announcement waits in the store buffer while the
//! other thread's is read.
//!
//! expect check: unsafe
//! expect robust: not robust
//! expect fences: 2

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

static FLAG: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
static TURN: AtomicUsize = AtomicUsize::new(0);
static INSIDE: AtomicU32 = AtomicU32::new(0);

#[unsafe(no_mangle)]
pub extern "C" fn worker(number: usize) {
    let other = 1 - number;
    FLAG[number].store(true, Release);
    TURN.store(other, Release);
    while FLAG[other].load(Acquire) && TURN.load(Acquire) == other {
        std::hint::spin_loop();
    }
    let before = INSIDE.load(Relaxed);
    INSIDE.store(before + 1, Relaxed);
    assert_eq!(INSIDE.load(Relaxed), 1);
    INSIDE.store(0, Relaxed);
    FLAG[number].store(false, Release);
}
