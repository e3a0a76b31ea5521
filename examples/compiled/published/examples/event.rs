//! event-listener: a notification and a listener.
//!
//! A notification clears fields of the list of listeners with a move of 16 bytes to an address that is no multiple of
//! 8, and in which pieces the processor makes that is not known.
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
