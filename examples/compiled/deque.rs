//! The deque of `deque.c` in Rust, after Chase and Lev: its owner and a thief want the same items.
//!
//! expect check: safe

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicI64, AtomicU32, fence};

const SIZE: usize = 4;

static TOP: AtomicI64 = AtomicI64::new(0);
static BOTTOM: AtomicI64 = AtomicI64::new(0);
static ITEMS: [AtomicU32; SIZE] = [const { AtomicU32::new(0) }; SIZE];
static TAKEN: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

fn place(at: i64) -> &'static AtomicU32 {
    &ITEMS[at as usize % SIZE]
}

fn push(item: u32) {
    let bottom = BOTTOM.load(Relaxed);
    place(bottom).store(item, Relaxed);
    fence(Release);
    BOTTOM.store(bottom.wrapping_add(1), Relaxed);
}

fn take() -> Option<u32> {
    let bottom = BOTTOM.load(Relaxed).wrapping_sub(1);
    BOTTOM.store(bottom, Relaxed);
    fence(SeqCst);
    let top = TOP.load(Relaxed);
    let mut item = None;
    if top <= bottom {
        item = Some(place(bottom).load(Relaxed));
        if top < bottom {
            return item;
        }
        if TOP.compare_exchange(top, top.wrapping_add(1), SeqCst, Relaxed).is_err() {
            item = None;
        }
    }
    BOTTOM.store(bottom.wrapping_add(1), Relaxed);
    item
}

fn steal() -> Option<u32> {
    let top = TOP.load(Acquire);
    fence(SeqCst);
    if top >= BOTTOM.load(Acquire) {
        return None;
    }
    let item = place(top).load(Relaxed);
    TOP.compare_exchange(top, top.wrapping_add(1), SeqCst, Relaxed).ok().map(|_| item)
}

fn consume(item: Option<u32>) {
    if let Some(item) = item {
        assert_eq!(TAKEN[item as usize].fetch_add(1, Relaxed), 0);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn owner() {
    push(0);
    push(1);
    consume(take());
    consume(take());
}

#[unsafe(no_mangle)]
pub extern "C" fn thief() {
    consume(steal());
    consume(steal());
}
