//! The answer of `weir fences` for people.

mod difference;
mod reasons;
mod removal;
mod show;
mod table;

pub use show::{Fenced, fenced};
pub(super) use show::{first_line, render};
