//! Ctrl-C: the first ends a search with a partial result, the second ends the process.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// What shells expect of a process that was interrupted: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

/// The flag that Ctrl-C sets. The first call starts listening for it; before that, Ctrl-C just ends the process.
pub(crate) fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    FLAG.get_or_init(listen).clone()
}

/// Time since Ctrl-C was pressed, if it was.
pub(crate) fn since() -> Option<Duration> {
    PRESSED.get().map(Instant::elapsed)
}

/// When Ctrl-C was pressed first.
static PRESSED: OnceLock<Instant> = OnceLock::new();

fn listen() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    // Where no handler can be installed, Ctrl-C ends the process without a partial result: nothing worse.
    let _ = ctrlc::set_handler(move || {
        PRESSED.get_or_init(Instant::now);
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
        let _ = writeln!(std::io::stderr(), "\ninterrupted; finishing up (press Ctrl-C again to stop immediately)");
    });
    flag
}
