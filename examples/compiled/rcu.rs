//! Read-copy-update as in `rcu.c`, in Rust: readers say where they are with plain stores, and the writer has the system
//! run a fence on all threads.
//!
//! expect check: safe

use core::ffi::{c_int, c_long, c_void};
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicPtr, compiler_fence};

const SYS_MEMBARRIER: c_long = 324;
const MEMBARRIER_CMD_PRIVATE_EXPEDITED: c_int = 8;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn malloc(size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
}

pub struct Config {
    limit: i32,
}

static CURRENT: AtomicPtr<Config> = AtomicPtr::new(null_mut());
static READING: AtomicBool = AtomicBool::new(false);

fn config(limit: i32) -> *mut Config {
    // SAFETY: the block is large enough.
    unsafe {
        let new: *mut Config = malloc(size_of::<Config>()).cast();
        if !new.is_null() {
            (*new).limit = limit;
        }
        new
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn setup() {
    CURRENT.store(config(10), Relaxed);
}

#[unsafe(no_mangle)]
pub extern "C" fn reader() -> i32 {
    READING.store(true, Relaxed);
    compiler_fence(SeqCst);
    // SAFETY: it is not freed while this thread reads.
    let limit = unsafe { (*CURRENT.load(Acquire)).limit };
    READING.store(false, Release);
    limit
}

#[unsafe(no_mangle)]
pub extern "C" fn writer() {
    let old = CURRENT.load(Relaxed);
    let new = config(20);
    if new.is_null() {
        return;
    }
    CURRENT.store(new, Release);
    // SAFETY: the command has no other arguments.
    unsafe { syscall(SYS_MEMBARRIER, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0 as c_int, 0 as c_int) };
    while READING.load(Acquire) {
        core::hint::spin_loop();
    }
    // SAFETY: whoever reads now reads the new one.
    unsafe { free(old.cast()) };
}
