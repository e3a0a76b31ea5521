//! What the exports to other tools share: valid names, the layout of memory, ranges of expressions, which parts of a
//! state the properties observe, and how a refusal is worded.
//!
//! An export errs in no direction: what the target cannot express exactly is refused, with the place and a way out.
//! Only properties that a target cannot ask about are left out, and each of them with a warning.

pub(crate) mod lines;
pub(crate) mod memory;
pub(crate) mod names;
pub(crate) mod observed;
pub(crate) mod refusal;
pub(crate) mod term;

use weir_ir::Diagnostic;

/// A program in the language of another tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// The text; it ends with a newline.
    pub text: String,
    /// What the tool will not check.
    pub warnings: Vec<Diagnostic>,
}
