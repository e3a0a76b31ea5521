//! Processor time of this process.

use std::time::Duration;

/// Ticks a second in which Linux counts for user programs, on every processor it supports.
const TICKS: u64 = 100;

/// User and system time so far, of all threads, where the system tells.
pub(crate) fn time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<u64>);
    let ticks = times.next()?.ok()?.checked_add(times.next()?.ok()?)?;
    Some(Duration::from_millis(ticks.checked_mul(1000 / TICKS)?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn time_does_not_run_backwards() {
        let Some(before) = super::time() else { return };
        assert!(super::time().is_some_and(|after| after >= before));
    }
}
