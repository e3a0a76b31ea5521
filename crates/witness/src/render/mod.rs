//! Runs and traces as people read them: text with one lane a thread, and DOT.

mod dot;
mod lanes;
mod layout;
mod step_text;

pub use dot::{cycle_text, dot};
pub use lanes::{LaneOptions, lanes};
pub use step_text::{StepText, step_texts};
