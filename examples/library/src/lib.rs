//! A crate whose tests use Weir as a library; `tests/store_buffering.rs` is the example. It depends on `weir` alone.
