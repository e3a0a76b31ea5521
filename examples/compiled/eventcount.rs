//! The event count of `eventcount.c` in Rust.
//!
//! expect check: safe
//! expect robust: robust
//! expect fences: 0

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU32, fence};

static EVENTS: AtomicU32 = AtomicU32::new(0);
static WAITERS: AtomicU32 = AtomicU32::new(0);
static WORK: AtomicU32 = AtomicU32::new(0);

#[unsafe(no_mangle)]
pub extern "C" fn notifier() {
    WORK.store(1, Relaxed);
    fence(SeqCst);
    if WAITERS.load(Relaxed) > 0 {
        EVENTS.fetch_add(1, Release);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn waiter() {
    WAITERS.fetch_add(1, SeqCst);
    let event = EVENTS.load(Acquire);
    if WORK.load(Relaxed) == 0 {
        while EVENTS.load(Acquire) == event {
            std::hint::spin_loop();
        }
    }
    WAITERS.fetch_sub(1, Relaxed);
    assert_eq!(WORK.load(Relaxed), 1);
}
