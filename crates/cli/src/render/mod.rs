//! Answers and messages in all their forms.

pub(crate) mod check;
pub(crate) mod clean;
pub(crate) mod diagnostic;
pub(crate) mod dot;
pub(crate) mod excerpt;
pub(crate) mod fences;
pub(crate) mod json;
pub(crate) mod litmus;
pub(crate) mod prob;
pub(crate) mod reach;
pub(crate) mod robust;
pub(crate) mod text;
