//! How much memory this process uses, measured rather than estimated, and how much it may use.

mod granted;

use std::sync::Mutex;
use std::time::{Duration, Instant};

pub(crate) use granted::default_limit;

/// An answer of the system serves this long: asking it takes longer than a step of a small search, and in this time no
/// more than some megabytes can be touched.
const MOMENT: Duration = Duration::from_micros(250);

/// When the system was last asked, and what it said.
static LAST: Mutex<Option<(Instant, u64)>> = Mutex::new(None);

/// Resident bytes now, or a moment ago, where the system tells.
pub(crate) fn resident() -> Option<u64> {
    // While another thread asks, this one does, too.
    let Ok(mut last) = LAST.try_lock() else { return measured() };
    match *last {
        Some((when, bytes)) if when.elapsed() < MOMENT => Some(bytes),
        _ => {
            let bytes = measured()?;
            *last = Some((Instant::now(), bytes));
            Some(bytes)
        }
    }
}

fn measured() -> Option<u64> {
    memory_stats::memory_stats().map(|stats| stats.physical_mem as u64)
}

/// The most bytes that were ever resident, where the system tells; else what is resident now.
pub(crate) fn peak() -> Option<u64> {
    peak_of_linux().or_else(resident)
}

/// Linux keeps the high-water mark, in KiB.
fn peak_of_linux() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_meter_sees_memory_that_is_really_touched() {
        let Some(before) = super::resident() else { return };
        let block = vec![1u8; 64 << 20];
        let after = super::resident().unwrap_or(0);
        assert!(after >= before + (48 << 20), "{before} → {after}, holding {}", block.len());
        assert!(super::peak().is_some_and(|peak| peak >= before));
    }
}
