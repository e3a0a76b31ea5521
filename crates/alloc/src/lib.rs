//! The system's allocator, except that an allocation that fails does not abort the process.
//!
//! Rust aborts when memory runs out, for instance under `ulimit -v`: no answer, no valid JSON, an exit status that
//! means nothing. With this allocator, the thread whose allocation failed sleeps forever, and [`is_exhausted`] becomes
//! true. A thread that has called [`watch`] notices this, reports that the answer is unknown, and exits. It gets memory
//! for this from a reserve, which is released at the first failure. From then on, all other threads sleep when they
//! allocate, so that they leave the reserve to it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;

/// Memory set aside for the answer: far more than it takes, in a block large enough for the system to take it back when
/// it is freed.
const RESERVE: Layout = match Layout::from_size_align(4 << 20, 4096) {
    Ok(layout) => layout,
    Err(_) => panic!("not a layout"),
};

static EXHAUSTED: AtomicBool = AtomicBool::new(false);
static WATCHED: AtomicBool = AtomicBool::new(false);
static RESERVED: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

thread_local! {
    // Constant and without a destructor: reading it never allocates.
    static WATCHES: Cell<bool> = const { Cell::new(false) };
}

/// Whether an allocation has failed. The thread that requested it never continues.
pub fn is_exhausted() -> bool {
    EXHAUSTED.load(Ordering::Relaxed)
}

/// Declares that this thread polls [`is_exhausted`] and ends the process when memory runs out. From then on, its own
/// allocations are served from the reserve.
pub fn watch() {
    WATCHES.set(true);
    WATCHED.store(true, Ordering::Relaxed);
    // SAFETY: the layout has a size other than zero.
    let reserve = unsafe { System.alloc(RESERVE) };
    let before = RESERVED.swap(reserve, Ordering::AcqRel);
    free_reserve(before);
}

/// The allocator: `#[global_allocator] static ALLOCATOR: weir_alloc::Allocator = weir_alloc::Allocator;`.
#[derive(Clone, Copy, Default, Debug)]
pub struct Allocator;

// SAFETY: every request is passed on to the system's allocator unchanged, and so is its result.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        let attempt = || unsafe { System.alloc(layout) };
        served(attempt)
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let attempt = || unsafe { System.alloc_zeroed(layout) };
        served(attempt)
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; where it fails, the block is still valid, so that it can be tried again.
        let attempt = || unsafe { System.realloc(block, layout, size) };
        served(attempt)
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[inline]
fn served(attempt: impl Fn() -> *mut u8) -> *mut u8 {
    if is_exhausted() {
        wait_unless_watching();
    }
    let block = attempt();
    if block.is_null() { exhausted(attempt) } else { block }
}

/// What to do when memory has run out.
#[cold]
fn exhausted(again: impl Fn() -> *mut u8) -> *mut u8 {
    EXHAUSTED.store(true, Ordering::Relaxed);
    free_reserve(RESERVED.swap(ptr::null_mut(), Ordering::AcqRel));
    wait_unless_watching();
    again()
}

/// Sleeps forever if another thread watches.
#[cold]
fn wait_unless_watching() {
    // While a thread ends, its locals may be gone: it no longer watches.
    let watches = WATCHES.try_with(Cell::get).unwrap_or(false);
    while WATCHED.load(Ordering::Relaxed) && !watches {
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn free_reserve(reserve: *mut u8) {
    if !reserve.is_null() {
        // SAFETY: it was allocated with this layout, and whoever swapped it out is the only one to have it.
        unsafe { System.dealloc(reserve, RESERVE) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_thread_that_runs_out_of_memory_sleeps_and_the_one_that_watches_goes_on() {
        watch();
        assert!(!is_exhausted());
        let huge = Layout::from_size_align(isize::MAX as usize / 2, 8).expect("a layout");
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            // SAFETY: the layout has a size other than zero.
            let block = unsafe { Allocator.alloc(huge) };
            let _ = sender.send(block.is_null());
        });
        while !is_exhausted() {
            std::thread::yield_now();
        }
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err(), "it came back");
        // SAFETY: as above.
        assert!(unsafe { Allocator.alloc(huge) }.is_null());
        // SAFETY: as above; the block is given back with its layout.
        unsafe {
            let layout = Layout::from_size_align(1 << 20, 8).expect("a layout");
            let block = Allocator.alloc_zeroed(layout);
            assert_eq!(*block.add(12345), 0);
            let larger = Allocator.realloc(block, layout, 2 << 20);
            Allocator.dealloc(larger, Layout::from_size_align(2 << 20, 8).expect("a layout"));
        }
    }
}
