//! One line on a terminal that says how far a search has come. Nothing when piped, nothing in the first second.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use weir::{Progress, ProgressSink};
use weir_report::wording::units::{grouped, size_text, time_text};

use crate::memory;

/// Searches shorter than this show nothing.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long one of several engines is shown before it is another one's turn.
const TURN: Duration = Duration::from_secs(2);
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
        let (bar, shown) = (self.0.clone(), Mutex::new(Shown::default()));
        Some(Arc::new(move |progress: &Progress| {
            let is_turn = || shown.lock().is_ok_and(|mut shown| shown.turn_of(progress));
            if progress.elapsed >= PATIENCE && is_turn() {
                bar.set_message(line(progress, memory::resident(), width()));
            }
        }))
    }
}

/// How wide the terminal is now.
fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(std::io::stderr());
    terminal.map_or(usize::MAX, |(width, _)| usize::from(width.0))
}

/// Which of several engines that work side by side is shown: each in turn, long enough to be read.
#[derive(Default)]
struct Shown {
    activity: Option<Arc<str>>,
    since: Duration,
}

impl Shown {
    /// Whether it is the turn of whoever reports this.
    fn turn_of(&mut self, progress: &Progress) -> bool {
        let is_same = self.activity.as_ref() == Some(&progress.activity);
        let is_due = self.activity.is_none() || progress.elapsed >= self.since + TURN;
        if !is_same && is_due {
            (self.activity, self.since) = (Some(Arc::clone(&progress.activity)), progress.elapsed);
        }
        is_same || is_due
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// What is being done comes first, and the time: what does not fit on the line is left out.
fn line(progress: &Progress, memory: Option<u64>, width: usize) -> String {
    let rate = progress.states as f64 / progress.elapsed.as_secs_f64().max(0.001);
    let counted = |count: u64, what: &str| (count > 0).then(|| format!("{} {what}", grouped(count)));
    let parts = [
        (!progress.activity.is_empty()).then(|| progress.activity.to_string()),
        progress.interval.map(|(lower, upper)| bounds(lower, upper)),
        Some(time_text(progress.elapsed)),
        counted(progress.states, progress.unit),
        counted(rate as u64, "per second"),
        (progress.depth > 0).then(|| format!("depth {}", grouped(progress.depth))),
        counted(progress.open, "open"),
        memory.map(size_text),
    ];
    fitting(parts.into_iter().flatten(), width)
}

/// The parts that fit into a line, in order.
fn fitting(parts: impl Iterator<Item = String>, width: usize) -> String {
    let mut line = String::new();
    for part in parts {
        let gap = if line.is_empty() { "" } else { " · " };
        if line.chars().count() + gap.chars().count() + part.chars().count() > width {
            break;
        }
        line += gap;
        line += &part;
    }
    line
}

/// Bounds on a number: rounded, since they are not the answer yet.
fn bounds(lower: f64, upper: f64) -> String {
    if upper.is_finite() { format!("between {lower:.6} and {upper:.6}") } else { format!("at least {lower:.6}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(activity: &str, seconds: u64) -> Progress {
        let mut progress = Progress::default();
        (progress.activity, progress.elapsed) = (activity.into(), Duration::from_secs(seconds));
        progress
    }

    #[test]
    fn the_line_tells_engine_time_states_rate_depth_open_and_memory() {
        let mut progress = progress("explicit: visiting states", 2);
        (progress.states, progress.open, progress.depth) = (3_000_000, 12_345, 77);
        let expected = "explicit: visiting states · 2.0 s · 3,000,000 states · 1,500,000 per second · depth 77 \
                        · 12,345 open · 1.5 GiB";
        assert_eq!(line(&progress, Some(3 << 29), 200), expected);
        let narrow = "explicit: visiting states · 2.0 s · 3,000,000 states · 1,500,000 per second";
        assert_eq!(line(&progress, Some(3 << 29), 80), narrow);
    }

    #[test]
    fn the_line_tells_the_bounds_on_a_number() {
        let mut progress = progress("prob: enclosing the probability", 2);
        (progress.states, progress.unit, progress.interval) = (12, "configurations", Some((0.25, 0.5)));
        let expected = "prob: enclosing the probability · between 0.250000 and 0.500000 · 2.0 s · 12 configurations \
                        · 6 per second";
        assert_eq!(line(&progress, None, 200), expected);
        progress.interval = Some((3.5, f64::INFINITY));
        assert!(line(&progress, None, 200).contains("at least 3.500000"));
    }

    #[test]
    fn engines_that_work_side_by_side_take_turns() {
        let mut shown = Shown::default();
        assert!(shown.turn_of(&progress("dual", 1)));
        assert!(!shown.turn_of(&progress("lazy", 2)), "the other one has just been shown");
        assert!(shown.turn_of(&progress("dual", 2)));
        assert!(shown.turn_of(&progress("lazy", 3)));
        assert!(!shown.turn_of(&progress("dual", 4)));
    }
}
