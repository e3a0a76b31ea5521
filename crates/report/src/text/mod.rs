//! Answers for people: the answer in the first line, the source underneath, the run as a person would draw it, the next
//! thing to do last. The text contains colour codes; the caller removes them where they are not wanted.

mod check;
mod columns;
mod cover;
mod diagnostic;
mod excerpt;
mod fences;
mod lanes;
mod litmus;
mod litmus_summary;
mod parts;
mod prob;
mod reach;
mod render;
mod replay;
mod robust;
mod view;
mod wrap;

pub use diagnostic::render_all as diagnostics;
pub use fences::{Fenced, fenced};
pub use lanes::{LaneOptions, lanes};
pub use litmus_summary::{Row, Summary};
pub(crate) use parts::plain;
pub(crate) use prob::target;
pub(crate) use render::{headline, render};
pub use view::View;
pub use wrap::wrap;
