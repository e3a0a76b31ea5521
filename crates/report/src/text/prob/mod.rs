//! The answer of `weir prob` for people.

mod number;
mod show;
mod table;
mod target;

pub(super) use show::{first_line, render};
pub(crate) use target::target;
