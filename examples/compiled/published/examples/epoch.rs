//! crossbeam-epoch: pinning.
//!
//! What the epoch collects is kept in arrays on the stack, at computed addresses.
//!
//! expect check: error

use crossbeam_epoch::{Collector, LocalHandle};

static mut HANDLES: [Option<LocalHandle>; 2] = [None, None];

#[unsafe(no_mangle)]
pub extern "C" fn setup() {
    let collector = Collector::new();
    unsafe { HANDLES = [Some(collector.register()), Some(collector.register())] }
}

#[unsafe(no_mangle)]
#[allow(static_mut_refs)]
pub extern "C" fn pin(number: usize) {
    drop(unsafe { HANDLES[number].as_ref().unwrap_unchecked().pin() });
}
