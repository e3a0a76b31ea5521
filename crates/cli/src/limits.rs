//! How much the command line reads. Each limit turns a file that would exhaust the machine into an error.

use weir_ir::FixedLimit;

/// Bytes of a saved run or certificate. A step takes some 150 bytes, so this is a run of several million.
pub(crate) const MAX_SAVED_BYTES: u64 = 1 << 30;
/// Bytes of a file with compiled code.
pub(crate) const MAX_CODE_BYTES: u64 = 1 << 28;
/// Bytes of a file of costs.
pub(crate) const MAX_COST_BYTES: u64 = 1 << 20;
/// The cost of one fence. Higher costs make the sums that the solver compares needlessly large.
pub(crate) const MAX_COST: u64 = 1_000_000;
/// Folders within folders that are searched for litmus tests.
pub(crate) const MAX_FOLDER_DEPTH: usize = 64;

/// All of these, for the documentation.
pub(crate) const ALL: [FixedLimit; 5] = {
    let error = "an error";
    [
        FixedLimit::new("bytes of a saved run or certificate", MAX_SAVED_BYTES, error),
        FixedLimit::new("bytes of a file with compiled code", MAX_CODE_BYTES, error),
        FixedLimit::new("bytes of a file of costs", MAX_COST_BYTES, error),
        FixedLimit::new("as a cost in such a file", MAX_COST, error),
        FixedLimit::new("nested folders of litmus tests", MAX_FOLDER_DEPTH as u64, error),
    ]
};
