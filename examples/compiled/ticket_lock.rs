//! A ticket lock in Rust: tickets are drawn with an atomic addition, and served in order.
//!
//! expect check: safe
//! expect robust: robust
//! expect fences: 0

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

static NEXT: AtomicU32 = AtomicU32::new(0);
static SERVING: AtomicU32 = AtomicU32::new(0);
static INSIDE: AtomicU32 = AtomicU32::new(0);

#[unsafe(no_mangle)]
pub extern "C" fn worker() {
    let mine = NEXT.fetch_add(1, Relaxed);
    while SERVING.load(Acquire) != mine {
        std::hint::spin_loop();
    }
    let before = INSIDE.load(Relaxed);
    INSIDE.store(before + 1, Relaxed);
    assert_eq!(INSIDE.load(Relaxed), 1);
    INSIDE.store(0, Relaxed);
    SERVING.store(mine.wrapping_add(1), Release);
}
