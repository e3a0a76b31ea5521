//! Litmus tests: our own, and the collections beside the repository, against what is known of them.

mod corpus;
mod own;
mod random;
mod roundtrip;
mod support;
