//! The engines agree with the naive reference interpreter: on every tiny program, on thousands of random ones, and
//! on programs whose numbers of states are pinned.

mod compare;
mod large;
mod pinned;
mod random;
mod tiny;
