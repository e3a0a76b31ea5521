//! One line on a terminal that says how far a search has come. Nothing when piped, nothing in the first second.

use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use weir::{Progress, ProgressSink};
use weir_report::wording::units::{grouped, size_text, time_text};

use crate::memory;

/// Searches shorter than this show nothing.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the line is drawn at most, per second.
const RATE: u8 = 5;

/// The line. It disappears when dropped.
pub(crate) struct ProgressLine(ProgressBar);

impl ProgressLine {
    /// A line on standard error; indicatif hides it unless that is a terminal.
    pub(crate) fn new(is_wanted: bool) -> Self {
        let target = if is_wanted { ProgressDrawTarget::stderr_with_hz(RATE) } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style);
        Self(bar)
    }

    /// Says how many of several tasks are done.
    pub(crate) fn count(&self, done: usize, total: usize, elapsed: Duration) {
        if elapsed >= PATIENCE {
            let (done, total) = (grouped(done as u64), grouped(total as u64));
            self.0.set_message(format!("{done} of {total} tests · {}", time_text(elapsed)));
        }
    }

    /// Where a search sends its progress; none if nobody would see it.
    pub(crate) fn sink(&self) -> Option<ProgressSink> {
        if self.0.is_hidden() {
            return None;
        }
        let bar = self.0.clone();
        Some(Arc::new(move |progress: &Progress| {
            if progress.elapsed >= PATIENCE {
                bar.set_message(line(progress, memory::resident()));
            }
        }))
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn line(progress: &Progress, memory: Option<u64>) -> String {
    let rate = progress.states as f64 / progress.elapsed.as_secs_f64().max(0.001);
    let memory = memory.map_or_else(String::new, |bytes| format!(" · {}", size_text(bytes)));
    format!(
        "{} states · {} states/s · depth {} · {} open{memory} · {}",
        grouped(progress.states),
        grouped(rate as u64),
        grouped(progress.depth),
        grouped(progress.open),
        time_text(progress.elapsed),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_states_rate_depth_open_memory_and_time() {
        let mut progress = Progress::default();
        (progress.states, progress.open, progress.depth) = (3_000_000, 12_345, 77);
        progress.elapsed = Duration::from_secs(2);
        let expected = "3,000,000 states · 1,500,000 states/s · depth 77 · 12,345 open · 1.5 GiB · 2.0 s";
        assert_eq!(line(&progress, Some(3 << 29)), expected);
    }
}
