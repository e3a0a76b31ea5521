//! Exports, checked by the tools they are for or by an interpreter of what was written, against the reference
//! interpreter.

mod spin;
mod support;
