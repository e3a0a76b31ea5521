//! Sets of configurations: all above one, or all below one.

use weir_ir::ControlId;
use weir_ir::net::Tokens;

/// A control state, and the fewest tokens per place. It stands for all configurations that have more.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MinimalMarking {
    /// The control state.
    pub control: ControlId,
    /// The tokens, sorted by place.
    pub counts: Vec<Tokens>,
}

/// A control state, and the most tokens per place; `None` means any number. It stands for all configurations that have
/// fewer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ideal {
    /// The control state.
    pub control: ControlId,
    /// The tokens of each place.
    pub counts: Vec<Option<u64>>,
}
