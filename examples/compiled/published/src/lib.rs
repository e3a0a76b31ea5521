//! The examples beside this file show published crates as ordinary dependencies.
