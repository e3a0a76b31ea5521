//! The sequence lock of `seqlock.c` in Rust: the reader tries again if the writer was active.
//!
//! expect check: safe

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, fence};

static SEQUENCE: AtomicU32 = AtomicU32::new(0);
static LEFT: AtomicU32 = AtomicU32::new(0);
static RIGHT: AtomicU32 = AtomicU32::new(0);

#[unsafe(no_mangle)]
pub extern "C" fn writer() {
    for value in 1..=2 {
        let before = SEQUENCE.load(Relaxed);
        SEQUENCE.store(before.wrapping_add(1), Relaxed);
        fence(Release);
        LEFT.store(value, Relaxed);
        RIGHT.store(value, Relaxed);
        SEQUENCE.store(before.wrapping_add(2), Release);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn reader() {
    let (left, right) = loop {
        let before = SEQUENCE.load(Acquire);
        let left = LEFT.load(Relaxed);
        let right = RIGHT.load(Relaxed);
        fence(Acquire);
        if before % 2 == 0 && SEQUENCE.load(Relaxed) == before {
            break (left, right);
        }
    };
    assert_eq!(left, right);
}
