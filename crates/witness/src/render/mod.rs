//! Runs and traces as people read them: text with one lane a thread, DOT, and pictures of cycles.

mod dot;
mod lanes;
mod layout;
mod step_text;
mod svg;

pub use dot::{cycle_text, dot};
pub use lanes::{LaneOptions, lanes};
pub use step_text::{StepText, step_texts};
pub use svg::svg;
