//! spin: its mutex and its ticket lock, each with a counter that one thread at a time may change.
//!
//! expect check: safe
//! expect robust: robust

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

static MUTEX: spin::Mutex<()> = spin::Mutex::new(());
static TICKETS: spin::mutex::ticket::TicketMutex<()> = spin::mutex::ticket::TicketMutex::new(());
static INSIDE: AtomicU32 = AtomicU32::new(0);

fn critical() {
    let before = INSIDE.load(Relaxed);
    INSIDE.store(before + 1, Relaxed);
    assert_eq!(INSIDE.load(Relaxed), 1);
    INSIDE.store(0, Relaxed);
}

#[unsafe(no_mangle)]
pub extern "C" fn mutex() {
    let _guard = MUTEX.lock();
    critical();
}

#[unsafe(no_mangle)]
pub extern "C" fn tickets() {
    let _guard = TICKETS.lock();
    critical();
}
