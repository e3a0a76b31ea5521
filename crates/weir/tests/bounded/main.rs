//! Bounded rounds and bounded store age: translations and engines agree with the definitions.

mod calls;
mod compare;
mod engine;
mod files;
mod pass;
mod random;
mod tiny;
