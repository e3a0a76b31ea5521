//! A ring for one producer and one consumer in Rust.
//!
//! rustc --crate-type lib --emit obj -g -O -C panic=abort spsc.rs
//! weir check spsc.o
//!
//! expect check: safe
//! expect robust: not robust

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicUsize};

const SIZE: usize = 2;
const COUNT: u32 = 3;

pub struct Ring {
    head: AtomicUsize,
    tail: AtomicUsize,
    items: [AtomicU32; SIZE],
}

static RING: Ring =
    Ring { head: AtomicUsize::new(0), tail: AtomicUsize::new(0), items: [const { AtomicU32::new(0) }; SIZE] };

impl Ring {
    fn push(&self, item: u32) {
        let head = self.head.load(Relaxed);
        while head - self.tail.load(Acquire) == SIZE {
            std::hint::spin_loop();
        }
        self.items[head % SIZE].store(item, Relaxed);
        self.head.store(head + 1, Release);
    }

    fn pop(&self) -> u32 {
        let tail = self.tail.load(Relaxed);
        while self.head.load(Acquire) == tail {
            std::hint::spin_loop();
        }
        let item = self.items[tail % SIZE].load(Relaxed);
        self.tail.store(tail + 1, Release);
        item
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn producer() {
    for item in 1..=COUNT {
        RING.push(item);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn consumer() {
    for item in 1..=COUNT {
        assert_eq!(RING.pop(), item);
    }
}
