//! Exports, checked by the tools they are for or by an interpreter of what was written, against the reference
//! interpreter.

#![allow(clippy::print_stderr)] // Tests say what they skip, and how much they compared.

mod btor2;
mod common;
mod corners;
mod hardware;
mod litmus;
mod spin;
mod support;
mod verifier;
