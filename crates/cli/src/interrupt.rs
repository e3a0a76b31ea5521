//! Signals that end a process (Ctrl-C, SIGTERM, SIGHUP): the first ends a search with a partial result, another one
//! some time later ends the process.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Signals that come sooner after the first count as the same: `timeout` sends SIGTERM to a process and to its group.
const APART: Duration = Duration::from_millis(300);

/// The exit status that shells expect of a process ended by a signal: this plus the number of the signal.
const KILLED: i32 = 128;

/// The flag that a signal sets. The first call starts listening; before that, a signal just ends the process.
pub(crate) fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    FLAG.get_or_init(listen).clone()
}

/// The time since a signal was first noticed, if there was one. At that moment the user is told.
pub(crate) fn since() -> Option<Duration> {
    static NOTICED: OnceLock<Instant> = OnceLock::new();
    if !flag().load(Ordering::Relaxed) {
        return None;
    }
    let noticed = NOTICED.get_or_init(|| {
        let _ = writeln!(std::io::stderr(), "\ninterrupted; finishing up (interrupt again to stop immediately)");
        Instant::now()
    });
    let since = noticed.elapsed();
    if since > APART {
        armed().store(true, Ordering::Relaxed);
    }
    Some(since)
}

/// Whether one more signal ends the process.
fn armed() -> &'static Arc<AtomicBool> {
    static ARMED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    ARMED.get_or_init(Arc::default)
}

fn listen() -> Arc<AtomicBool> {
    let set = Arc::new(AtomicBool::new(false));
    for signal in signals() {
        // Where no handler can be installed, a signal ends the process without a partial result: nothing worse.
        let _ = flag::register_conditional_shutdown(signal, KILLED + signal, Arc::clone(armed()));
        let _ = flag::register(signal, Arc::clone(&set));
    }
    set
}

/// The signals to listen for. Those that are ignored stay so: SIGHUP under `nohup`, SIGINT in the background of a
/// script.
#[cfg(unix)]
fn signals() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut signals = vec![SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
    signals.retain(|&signal| !is_ignored(&status, signal));
    signals
}

#[cfg(not(unix))]
fn signals() -> Vec<i32> {
    vec![SIGINT, SIGTERM]
}

/// Whether a process ignores a signal, according to its status on Linux.
#[cfg(unix)]
fn is_ignored(status: &str, signal: i32) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(all(test, unix))]
mod tests {
    use super::is_ignored;

    #[test]
    fn ignored_signals_are_read_from_the_mask() {
        let status = "SigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000002\n";
        assert_eq!([1, 2, 13, 14].map(|signal| is_ignored(status, signal)), [true, false, true, false]);
        assert!(!is_ignored("", 1) && !is_ignored("SigIgn:\tnone", 1));
    }
}
