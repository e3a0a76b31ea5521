//! The minimal basis of an upward-closed set, with an index.

use rustc_hash::{FxHashMap, FxHashSet};

use super::WellStructured;

/// A configuration that was found, by number.
pub(crate) type Id = u32;

/// The configurations found so far, none above another unless it was found earlier. Those that are not covered are the
/// minimal basis.
pub(crate) struct Basis<S: WellStructured> {
    rows: Vec<S::Unit>,
    ends: Vec<usize>,
    /// The configuration each was found from; a goal is its own.
    parents: Vec<Id>,
    /// Whether one below it was found since.
    covered: Vec<bool>,
    /// How many are not covered.
    minimal: usize,
    /// By what must agree if one configuration is below another.
    index: FxHashMap<u64, Vec<Id>>,
    patterns: FxHashSet<S::Pattern>,
}

impl<S: WellStructured> Default for Basis<S> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            ends: Vec::new(),
            parents: Vec::new(),
            covered: Vec::new(),
            minimal: 0,
            index: FxHashMap::default(),
            patterns: FxHashSet::default(),
        }
    }
}

impl<S: WellStructured> Basis<S> {
    pub(crate) fn row(&self, id: Id) -> &[S::Unit] {
        row(&self.rows, &self.ends, id)
    }

    /// The configuration from which this one was found; itself if it is a goal.
    pub(crate) fn parent(&self, id: Id) -> Id {
        self.parents[id as usize]
    }

    pub(crate) fn is_covered(&self, id: Id) -> bool {
        self.covered[id as usize]
    }

    /// The size of the minimal basis.
    pub(crate) fn len(&self) -> usize {
        self.minimal
    }

    /// The minimal basis, in the order in which its configurations were found.
    pub(crate) fn minimal(&self) -> impl Iterator<Item = &[S::Unit]> {
        (0..self.ends.len() as Id).filter(|&id| !self.is_covered(id)).map(|id| self.row(id))
    }

    /// Whether a configuration below this one is known. May miss one where [`keys_below`](WellStructured::keys_below)
    /// leaves keys out, which is good enough to keep a search small.
    pub(crate) fn covers(&self, system: &S, config: &[S::Unit]) -> bool {
        system.keys_below(config, &self.patterns, |key| self.holds_below(system, key, config))
    }

    /// Whether the configuration is in the upward closure of the basis.
    pub(crate) fn contains(&self, system: &S, config: &[S::Unit]) -> bool {
        system.all_keys_below(config, &self.patterns, |key| self.holds_below(system, key, config))
    }

    fn holds_below(&self, system: &S, key: u64, config: &[S::Unit]) -> bool {
        let Some(bucket) = self.index.get(&key) else { return false };
        bucket.iter().any(|&known| system.is_below(self.row(known), config))
    }

    /// Adds a configuration in normal form that is not covered, and marks those above it with the same key as covered.
    pub(super) fn insert(&mut self, system: &S, config: &[S::Unit], parent: Option<Id>) -> Id {
        let bucket = self.index.entry(system.key(config)).or_default();
        let (rows, ends, covered) = (&self.rows, &self.ends, &mut self.covered);
        let before = bucket.len();
        bucket.retain(|&known| {
            let is_above = system.is_below(config, row(rows, ends, known));
            covered[known as usize] |= is_above;
            !is_above
        });
        self.minimal = self.minimal + 1 + bucket.len() - before;
        let id = self.ends.len() as Id;
        bucket.push(id);
        self.patterns.insert(system.pattern(config));
        self.rows.extend_from_slice(config);
        self.ends.push(self.rows.len());
        self.parents.push(parent.unwrap_or(id));
        self.covered.push(false);
        id
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> u64 {
        (size_of::<S::Unit>() * self.rows.len() + 80 * self.ends.len()) as u64
    }
}

fn row<'a, U>(rows: &'a [U], ends: &[usize], id: Id) -> &'a [U] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &rows[start..ends[id]]
}
