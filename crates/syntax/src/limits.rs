//! How large a program may be. Each limit turns an input that would exhaust the machine into an error.

use weir_ir::net::MAX_TOKENS;
use weir_ir::{FixedLimit, Value};

/// Bytes of source.
pub const MAX_SOURCE_BYTES: usize = 32 << 20;
/// Bytes of one name.
pub const MAX_NAME_BYTES: usize = 255;
/// How deep blocks and expressions may nest. Parsing recurses this deep.
pub const MAX_NESTING: usize = 200;
/// How deep blocks, expressions and inlined calls together may nest. Lowering recurses this deep.
pub const MAX_LOWERING_DEPTH: usize = 500;
/// Errors that are shown; the rest are counted.
pub const MAX_ERRORS: usize = 20;
/// Threads, with replicated ones counted one by one.
pub const MAX_THREADS: usize = 1024;
/// Shared cells, all declarations together.
pub const MAX_CELLS: usize = 1 << 20;
/// Steps of all threads together, after procedures were inlined and threads replicated.
pub const MAX_EDGES: usize = 1_000_000;
/// Places that properties name: one per thread, and one per location that a thread has at the label.
pub const MAX_OBSERVATIONS: usize = 1_000_000;
/// Statements and parts of expressions: in the text, and again with procedures inlined and threads replicated.
pub const MAX_WORK: usize = 4_000_000;

/// Operators of one statement of an `.rmm` program: a tree is no deeper than that.
pub const MAX_RMM_OPERATORS: usize = 400;
/// How deep macro calls may stand in the expansions of other calls.
pub const MAX_MACRO_NESTING: usize = 100;
/// Instructions of a locked block, over all alternatives: nested blocks multiply them.
pub const MAX_LOCKED_INSTRUCTIONS: usize = 10_000;
/// Threads of a litmus test.
pub const MAX_LITMUS_THREADS: usize = 256;
/// Elements of an array in a litmus test.
pub const MAX_LITMUS_ELEMENTS: usize = 4096;
/// The exponent of `^` in Trencher's language: powers become products.
pub const MAX_EXPONENT: Value = 64;
/// Values of a choice that is printed in Trencher's language: each takes a line.
pub const MAX_TRENCHER_CHOICES: u64 = 256;
/// Bytes of an expression that is printed in Trencher's language: `|` and `^` repeat their operands, so that nesting
/// them doubles it each time.
pub const MAX_TRENCHER_BYTES: usize = 10_000;

/// Cells of a program that is exported to another tool: each becomes a variable of a fixed size there.
pub const MAX_EXPORTED_CELLS: u64 = 65_536;

/// Places of a Petri net, and local states of a thread transition system.
pub const MAX_NET_PLACES: usize = 1 << 20;
/// Shared states of a thread transition system.
pub const MAX_SHARED_STATES: usize = 1 << 20;

/// All of these, for the documentation.
pub const ALL: [FixedLimit; 22] = {
    let error = "an error";
    [
        FixedLimit::new("bytes of source", MAX_SOURCE_BYTES as u64, error),
        FixedLimit::new("bytes of a name", MAX_NAME_BYTES as u64, error),
        FixedLimit::new("nested blocks and expressions", MAX_NESTING as u64, error),
        FixedLimit::new("nested blocks, expressions and inlined calls", MAX_LOWERING_DEPTH as u64, error),
        FixedLimit::new("errors shown per file", MAX_ERRORS as u64, "the rest are counted"),
        FixedLimit::new("threads", MAX_THREADS as u64, error),
        FixedLimit::new("shared cells", MAX_CELLS as u64, error),
        FixedLimit::new("steps of all threads, with procedures inlined", MAX_EDGES as u64, error),
        FixedLimit::new("places of threads that properties name", MAX_OBSERVATIONS as u64, error),
        FixedLimit::new("statements and operands, with procedures inlined", MAX_WORK as u64, error),
        FixedLimit::new("operators in a statement of an `.rmm` program", MAX_RMM_OPERATORS as u64, error),
        FixedLimit::new("nested macro calls of an `.rmm` program", MAX_MACRO_NESTING as u64, error),
        FixedLimit::new("instructions of a locked block of an `.rmm` program", MAX_LOCKED_INSTRUCTIONS as u64, error),
        FixedLimit::new("threads of a litmus test", MAX_LITMUS_THREADS as u64, error),
        FixedLimit::new("elements of an array in a litmus test", MAX_LITMUS_ELEMENTS as u64, error),
        FixedLimit::new("as the exponent of `^` in Trencher's language", MAX_EXPONENT as u64, error),
        FixedLimit::new("values of an `any` printed in Trencher's language", MAX_TRENCHER_CHOICES, error),
        FixedLimit::new("bytes of an expression printed in Trencher's language", MAX_TRENCHER_BYTES as u64, error),
        FixedLimit::new("cells of a program that is exported to another tool", MAX_EXPORTED_CELLS, error),
        FixedLimit::new("variables or local states of a net", MAX_NET_PLACES as u64, error),
        FixedLimit::new("shared states of a `.tts` file", MAX_SHARED_STATES as u64, error),
        FixedLimit::new("as a number in a net", MAX_TOKENS, error),
    ]
};
