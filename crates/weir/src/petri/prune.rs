//! What decides that a configuration need not be considered.

/// Decides about single configurations.
pub(super) trait Prune {
    /// Whether nothing above this configuration can be reached.
    fn is_excluded(&self, row: &[u64]) -> bool;

    /// The same, with more effort: called for configurations that would otherwise be expanded.
    fn learn(&self, row: &[u64]) -> bool;
}
