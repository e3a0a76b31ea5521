//! How large a program may be. Each limit turns an input that would exhaust the machine into an error.

use weir_ir::FixedLimit;

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
/// Observations in properties, each place of each thread counted.
pub const MAX_OBSERVATIONS: usize = 1_000_000;
/// Statements and parts of expressions: in the text, and again with procedures inlined and threads replicated.
pub const MAX_WORK: usize = 4_000_000;

/// All of these, for the documentation.
pub const ALL: [FixedLimit; 10] = {
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
        FixedLimit::new("places and registers that properties name", MAX_OBSERVATIONS as u64, error),
        FixedLimit::new("statements and operands, with procedures inlined", MAX_WORK as u64, error),
    ]
};
