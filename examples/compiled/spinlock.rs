//! The lock of `spinlock.c` in Rust: a test-and-test-and-set lock that is released with a plain store.
//!
//! expect check: safe
//! expect robust: robust
//! expect fences: 0

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU32};

static LOCKED: AtomicBool = AtomicBool::new(false);
static INSIDE: AtomicU32 = AtomicU32::new(0);

fn lock() {
    while LOCKED.swap(true, Acquire) {
        while LOCKED.load(Relaxed) {
            core::hint::spin_loop();
        }
    }
}

fn unlock() {
    LOCKED.store(false, Release);
}

#[unsafe(no_mangle)]
pub extern "C" fn worker() {
    for _ in 0..2 {
        lock();
        let before = INSIDE.load(Relaxed);
        INSIDE.store(before + 1, Relaxed);
        assert_eq!(INSIDE.load(Relaxed), 1);
        INSIDE.store(before, Relaxed);
        unlock();
    }
}
