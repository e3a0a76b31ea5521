//! crossbeam-deque: the owner takes what a thief wants to steal.
//!
//! The owner shrinks the deque when little is left in it, and how much memory it allocates then is only known at run
//! time.
//!
//! expect check: error
#![allow(static_mut_refs)]

use crossbeam_deque::{Steal, Stealer, Worker};

static mut WORKER: Option<Worker<u32>> = None;
static mut STEALER: Option<Stealer<u32>> = None;

#[unsafe(no_mangle)]
pub extern "C" fn setup() {
    let worker = Worker::new_lifo();
    worker.push(7);
    unsafe {
        STEALER = Some(worker.stealer());
        WORKER = Some(worker);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn pop() -> u32 {
    unsafe { WORKER.as_ref().unwrap_unchecked().pop().unwrap_or(0) }
}

#[unsafe(no_mangle)]
pub extern "C" fn steal() -> u32 {
    match unsafe { STEALER.as_ref().unwrap_unchecked().steal() } {
        Steal::Success(value) => value,
        _ => 0,
    }
}
