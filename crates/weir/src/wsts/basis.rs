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
    /// The patterns that occur, by class; an empty set ends the list, for classes that do not occur.
    patterns: Vec<FxHashSet<S::Pattern>>,
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
            patterns: vec![FxHashSet::default()],
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
        system.keys_below(config, self.patterns_of(system, config), |key| self.holds_below(system, key, config))
    }

    /// Whether the configuration is in the upward closure of the basis.
    pub(crate) fn contains(&self, system: &S, config: &[S::Unit]) -> bool {
        system.all_keys_below(config, self.patterns_of(system, config), |key| self.holds_below(system, key, config))
    }

    fn patterns_of(&self, system: &S, config: &[S::Unit]) -> &FxHashSet<S::Pattern> {
        let none = self.patterns.len() - 1;
        &self.patterns[system.class(config).min(none)]
    }

    fn holds_below(&self, system: &S, key: u64, config: &[S::Unit]) -> bool {
        let Some(bucket) = self.index.get(&key) else { return false };
        bucket.iter().any(|&known| system.is_below(self.row(known), config))
    }

    /// Adds a configuration in normal form that is not covered, and marks those above it as covered: those with the
    /// same key, and those that [`keys_above`](WellStructured::keys_above) leads to.
    pub(super) fn insert(&mut self, system: &S, config: &[S::Unit], parent: Option<Id>) -> Id {
        let (class, key) = (system.class(config), system.key(config));
        if class + 1 >= self.patterns.len() {
            self.patterns.resize_with(class + 2, FxHashSet::default);
        }
        self.cover_above(system, key, config);
        let mut above = Vec::new();
        system.keys_above(config, &self.patterns[class], |key| above.push(key));
        for key in above {
            self.cover_above(system, key, config);
        }
        self.minimal += 1;
        let id = self.ends.len() as Id;
        self.index.entry(key).or_default().push(id);
        self.patterns[class].insert(system.pattern(config));
        self.rows.extend_from_slice(config);
        self.ends.push(self.rows.len());
        self.parents.push(parent.unwrap_or(id));
        self.covered.push(false);
        id
    }

    /// Marks what is stored under this key as covered if it is above a configuration.
    fn cover_above(&mut self, system: &S, key: u64, config: &[S::Unit]) {
        let Some(bucket) = self.index.get_mut(&key) else { return };
        let (rows, ends, covered) = (&self.rows, &self.ends, &mut self.covered);
        let before = bucket.len();
        bucket.retain(|&known| {
            let is_above = system.is_below(config, row(rows, ends, known));
            covered[known as usize] |= is_above;
            !is_above
        });
        self.minimal -= before - bucket.len();
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
