//! The version of Weir.

/// The version of Weir, as given in every answer and every saved file.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
