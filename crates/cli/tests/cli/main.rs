//! The command line as scripts and people see it: the built program is run, nothing is mocked.
//!
//! One test program for all of it, since linking takes longer than most of the tests.

mod bad_input;
mod certificate;
mod chance_proofs;
mod check;
mod compiled;
mod cover;
mod documents;
mod every_proof;
mod exported;
mod faults;
mod fence_proofs;
mod fences;
mod files;
mod forged;
mod interrupt;
mod json;
mod limits;
mod litmus;
mod meta;
mod model_limit;
mod prob;
mod replay;
mod robust;
mod schema;
mod second_checker;
mod sizes;
mod support;
mod tampering;
mod terminal;
mod transcripts;
mod witness;
