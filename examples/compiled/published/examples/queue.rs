//! concurrent-queue: a bounded queue of capacity one.
//!
//! The queue can be of three kinds, of which one allocates blocks and frees them; how large each part of the queue is
//! cannot be told from the code that prepares it.
//!
//! expect check: error
#![allow(static_mut_refs)]

use concurrent_queue::ConcurrentQueue;

static mut QUEUE: Option<ConcurrentQueue<u32>> = None;

fn queue() -> &'static ConcurrentQueue<u32> {
    // `setup` has run before.
    unsafe { QUEUE.as_ref().unwrap_unchecked() }
}

#[unsafe(no_mangle)]
pub extern "C" fn setup() {
    unsafe { QUEUE = Some(ConcurrentQueue::bounded(1)) }
}

#[unsafe(no_mangle)]
pub extern "C" fn push(value: u32) -> bool {
    queue().push(value).is_ok()
}

#[unsafe(no_mangle)]
pub extern "C" fn pop() -> u32 {
    queue().pop().unwrap_or(0)
}
