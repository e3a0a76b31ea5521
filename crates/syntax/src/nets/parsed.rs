//! What reading a net results in.

use weir_ir::Diagnostic;
use weir_ir::net::Net;

/// A net, and what there is to say about it.
#[derive(Clone, Debug)]
pub struct ParsedNet {
    /// The net.
    pub net: Net,
    /// Warnings, in order of the source.
    pub warnings: Vec<Diagnostic>,
}
