//! event-listener: a notification and a listener.
//!
//! A listener is woken up through a table of functions that is only known at run time.
//!
//! expect check: error

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

static EVENT: event_listener::Event = event_listener::Event::new();
static WORK: AtomicU32 = AtomicU32::new(0);

#[unsafe(no_mangle)]
pub extern "C" fn notify() {
    WORK.store(1, Relaxed);
    EVENT.notify(1_usize);
}

#[unsafe(no_mangle)]
pub extern "C" fn listen() -> u32 {
    let _listener = EVENT.listen();
    WORK.load(Relaxed)
}
