//! parking_lot: two threads that take a mutex if it is free.
//!
//! expect check: safe
//! expect robust: robust

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

static MUTEX: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
static INSIDE: AtomicU32 = AtomicU32::new(0);

#[unsafe(no_mangle)]
pub extern "C" fn enter() {
    if let Some(_guard) = MUTEX.try_lock() {
        let before = INSIDE.load(Relaxed);
        INSIDE.store(before + 1, Relaxed);
        assert_eq!(INSIDE.load(Relaxed), 1);
        INSIDE.store(0, Relaxed);
    }
}
