//! What the monitor remembers beside the state of the program, as interned rows.
//!
//! While the attacker delays: what waits in its buffer, as far as its loads can tell, that is the newest value of each
//! address. On the path: which helpers are on it, and how each address was accessed.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Address, Gather, Value};

use super::covered::Mark;

/// The number of the empty row: nobody delays anything.
pub(super) const BEFORE: u64 = 0;

const DELAYING: Value = 1;
const PATH: Value = 2;

/// A row, by what it says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Memory<'a> {
    Before,
    Delaying(Delaying<'a>),
    Path(Path<'a>),
}

impl<'a> Memory<'a> {
    #[inline]
    pub(super) fn read(row: &'a [Value]) -> Self {
        match row {
            [DELAYING, attacker, store, address, has_loaded, mark, waiting @ ..] => Self::Delaying(Delaying {
                attacker: *attacker as usize,
                store: *store as u32,
                address: *address,
                has_loaded: *has_loaded != 0,
                mark: *mark,
                waiting,
            }),
            [PATH, attacker, address, count, rest @ ..] => {
                let (helpers, levels) = rest.split_at(*count as usize);
                Self::Path(Path { attacker: *attacker as usize, address: *address, helpers, levels })
            }
            _ => Self::Before,
        }
    }

    /// The same with helpers renumbered, given what becomes of an address with a value, and of the position of a helper.
    /// `None` if nothing is remembered.
    pub(super) fn renamed(
        &self,
        store: impl Fn((Address, Value)) -> (Address, Value),
        helper: impl Fn(usize) -> usize,
    ) -> Option<Vec<Value>> {
        let address = |address: Address| store((address, 0)).0;
        let sorted = |pairs: &[Value], rename: &dyn Fn((Address, Value)) -> (Address, Value)| {
            let renamed: BTreeMap<Address, Value> =
                pairs.chunks_exact(2).map(|pair| rename((pair[0], pair[1]))).collect();
            renamed.into_iter().flat_map(|(address, value)| [address, value])
        };
        match self {
            Self::Before => None,
            Self::Delaying(delaying) => {
                let mut row = Delaying { address: address(delaying.address), ..*delaying }.header();
                row.extend(sorted(delaying.waiting, &store));
                Some(row)
            }
            Self::Path(path) => {
                let mut row = Path { address: address(path.address), ..*path }.header();
                let helpers: BTreeSet<usize> = path.helpers.iter().map(|&one| helper(one as usize)).collect();
                row.extend(helpers.into_iter().map(|helper| helper as Value));
                row.extend(sorted(path.levels, &|(of, level)| (address(of), level)));
                Some(row)
            }
        }
    }
}

/// The value of a key in a row of pairs with ascending keys.
#[inline]
fn look_up(pairs: &[Value], key: Value) -> Option<Value> {
    pairs.chunks_exact(2).find(|pair| pair[0] == key).map(|pair| pair[1])
}

/// Copies a row of pairs with ascending keys, with one value changed or added.
fn extend_with(row: &mut Vec<Value>, pairs: &[Value], key: Value, value: Value) {
    let at = pairs.chunks_exact(2).take_while(|pair| pair[0] < key).count() * 2;
    row.extend_from_slice(&pairs[..at]);
    row.extend_from_slice(&[key, value]);
    let is_known = pairs.get(at) == Some(&key);
    row.extend_from_slice(&pairs[if is_known { at + 2 } else { at }..]);
}

/// The attacker delays its stores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delaying<'a> {
    pub(super) attacker: usize,
    /// The number of the edge of the first delayed store.
    pub(super) store: u32,
    /// Of the first delayed store.
    address: Address,
    /// Whether the attacker has loaded from memory since.
    pub(super) has_loaded: bool,
    /// How much of the way since is [covered](super::covered).
    pub(super) mark: Mark,
    /// Pairs of address and newest waiting value.
    waiting: &'a [Value],
}

impl Delaying<'_> {
    /// The attacker begins to delay with this store.
    pub(super) fn begin(attacker: usize, store: u32, mark: Mark, (address, value): (Address, Value)) -> [Value; 8] {
        [DELAYING, attacker as Value, Value::from(store), address, 0, mark, address, value]
    }

    /// The newest waiting value of an address.
    #[inline]
    pub(super) fn waiting(&self, address: Address) -> Option<Value> {
        look_up(self.waiting, address)
    }

    pub(super) fn with_store(&self, address: Address, value: Value) -> Vec<Value> {
        let mut row = self.header();
        extend_with(&mut row, self.waiting, address, value);
        row
    }

    pub(super) fn with(&self, has_loaded: bool, mark: Mark) -> Vec<Value> {
        let mut row = Delaying { has_loaded, mark, ..*self }.header();
        row.extend_from_slice(self.waiting);
        row
    }

    /// The path begins: the attacker has loaded from these addresses, in one step.
    pub(super) fn onto_path(&self, loaded: &[Address]) -> Vec<Value> {
        let mut row = vec![PATH, self.attacker as Value, self.address, 0];
        let ascending: BTreeSet<Address> = loaded.iter().copied().gather();
        row.extend(ascending.into_iter().flat_map(|address| [address, LOADED]));
        row
    }

    fn header(&self) -> Vec<Value> {
        let mut row = Vec::with_capacity(self.waiting.len() + 8);
        row.extend_from_slice(&[
            DELAYING,
            self.attacker as Value,
            Value::from(self.store),
            self.address,
            Value::from(self.has_loaded),
            self.mark,
        ]);
        row
    }
}

/// How an address was accessed on the path: not at all, loaded, or stored to. In the same way, shifted by [`SECTION`],
/// how it was accessed in a locked section that is under way and of which nothing has been on the path so far.
type Level = Value;

const LOADED: Level = 1;
const STORED: Level = 2;
const ACCESSED: Level = 3;
const SECTION: u32 = 2;

/// Helpers build up happens-before from the attacker's load to its first delayed store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'a> {
    pub(super) attacker: usize,
    /// Of the first delayed store.
    address: Address,
    /// Those on the path, ascending.
    helpers: &'a [Value],
    /// Pairs of address and level.
    levels: &'a [Value],
}

impl Path<'_> {
    #[inline]
    pub(super) fn holds(&self, helper: usize) -> bool {
        self.helpers.contains(&(helper as Value))
    }

    /// Whether anybody is on the path.
    #[inline]
    pub(super) fn has_helpers(&self) -> bool {
        !self.helpers.is_empty()
    }

    #[inline]
    fn level(&self, address: Address) -> Level {
        look_up(self.levels, address).unwrap_or(0)
    }

    /// Whether something on the path happens before the delayed store, as soon as that can land.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.level(self.address) & ACCESSED != 0
    }

    /// Whether something on the path happens before this access, no matter which thread makes it.
    #[inline]
    pub(super) fn leads_to(&self, address: Address, writes: bool) -> bool {
        self.level(address) & ACCESSED >= if writes { LOADED } else { STORED }
    }

    /// After an access of a helper that is on the path; `None` if nothing changes.
    pub(super) fn with_access(&self, address: Address, writes: bool) -> Option<Vec<Value>> {
        let (old, new) = (self.level(address), level(writes));
        (old < new).then(|| {
            let mut row = self.header();
            row.extend_from_slice(self.helpers);
            extend_with(&mut row, self.levels, address, new);
            row
        })
    }

    /// After an access by which a helper comes onto the path, with all that it did before in the same locked section.
    pub(super) fn joined(&self, helper: usize, address: Address, writes: bool) -> Vec<Value> {
        let mut row = self.header();
        row[3] += 1;
        let at = self.helpers.partition_point(|&other| other < helper as Value);
        row.extend_from_slice(&self.helpers[..at]);
        row.push(helper as Value);
        row.extend_from_slice(&self.helpers[at..]);
        let settled: Vec<Value> = self
            .levels
            .chunks_exact(2)
            .flat_map(|pair| [pair[0], (pair[1] & ACCESSED).max(pair[1] >> SECTION)])
            .collect();
        let new = look_up(&settled, address).unwrap_or(0).max(level(writes));
        extend_with(&mut row, &settled, address, new);
        row
    }

    /// After an access of a helper in a locked section of which nothing has been on the path so far.
    pub(super) fn with_access_in_section(&self, address: Address, writes: bool) -> Vec<Value> {
        let old = self.level(address);
        let new = (old & ACCESSED) | (old >> SECTION).max(level(writes)) << SECTION;
        let mut row = self.header();
        row.extend_from_slice(self.helpers);
        extend_with(&mut row, self.levels, address, new);
        row
    }

    /// After a snapshot of a helper, which is one access to several addresses; `None` if it may not happen now, because
    /// nothing on the path happens before it.
    pub(super) fn with_snapshot(&self, helper: usize, addresses: &[Address], in_section: bool) -> Option<Vec<Value>> {
        let leading = addresses.iter().find(|&&address| self.leads_to(address, false));
        let is_on_path = self.holds(helper) || leading.is_some();
        let mut row = match leading {
            Some(&address) if !self.holds(helper) => self.joined(helper, address, false),
            None if !is_on_path && !in_section => return None,
            _ => self.row(),
        };
        for &address in addresses {
            let Memory::Path(path) = Memory::read(&row) else { return None };
            let next = match is_on_path {
                true => path.with_access(address, false),
                // The section must come to be on the path before it ends.
                false => Some(path.with_access_in_section(address, false)),
            };
            row = next.unwrap_or(row);
        }
        Some(row)
    }

    fn row(&self) -> Vec<Value> {
        let mut row = self.header();
        row.extend_from_slice(self.helpers);
        row.extend_from_slice(self.levels);
        row
    }

    fn header(&self) -> Vec<Value> {
        let mut row = Vec::with_capacity(self.helpers.len() + self.levels.len() + 7);
        row.extend_from_slice(&[PATH, self.attacker as Value, self.address, self.helpers.len() as Value]);
        row
    }
}

fn level(writes: bool) -> Level {
    if writes { STORED } else { LOADED }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(row: &[Value]) -> Path<'_> {
        match Memory::read(row) {
            Memory::Path(path) => path,
            other => panic!("{other:?} is no path"),
        }
    }

    #[test]
    fn newest_waiting_values_are_found() {
        let row = Delaying::begin(1, 0, 0, (7, 3));
        let Memory::Delaying(first) = Memory::read(&row) else { panic!("not delaying") };
        assert_eq!((first.attacker, first.waiting(7), first.waiting(8)), (1, Some(3), None));
        let row = first.with_store(5, 1);
        let Memory::Delaying(second) = Memory::read(&row) else { panic!("not delaying") };
        let row = second.with_store(7, 4);
        let Memory::Delaying(third) = Memory::read(&row) else { panic!("not delaying") };
        assert_eq!((third.waiting(5), third.waiting(7), third.has_loaded), (Some(1), Some(4), false));
    }

    /// Helpers 1 and 2 change places, and with them the addresses 11 and 12, and the values 1 and 2 at address 20.
    #[test]
    fn what_is_remembered_is_renumbered_with_the_helpers() {
        let swap = |one: Value| 3 - one;
        let helper = |one: usize| if one == 0 { 0 } else { swap(one as Value) as usize };
        let store = |(address, value): (Address, Value)| match address {
            11 | 12 => (10 + swap(address - 10), value),
            20 => (address, swap(value)),
            _ => (address, value),
        };
        let renamed = |row: &[Value]| Memory::read(row).renamed(store, helper);
        assert_eq!(renamed(&[]), None);
        let row = Delaying::begin(0, 5, 3, (11, 1));
        let Memory::Delaying(begun) = Memory::read(&row) else { panic!("not delaying") };
        let row = begun.with_store(20, 1);
        assert_eq!(renamed(&row), Some(vec![DELAYING, 0, 5, 12, 0, 3, 12, 1, 20, 2]));
        let begin = Delaying { attacker: 0, store: 5, address: 12, has_loaded: true, mark: 0, waiting: &[] };
        let row = path(&begin.onto_path(&[11])).joined(2, 12, true);
        let expected = vec![PATH, 0, 11, 1, 1, 11, STORED, 12, LOADED];
        assert_eq!(renamed(&row), Some(expected.clone()));
        assert_eq!(renamed(&expected), Some(row), "twice is not at all");
    }

    #[test]
    fn a_section_counts_only_once_something_in_it_is_on_the_path() {
        let begin = Delaying { attacker: 0, store: 0, address: 7, has_loaded: false, mark: 0, waiting: &[7, 1] };
        let begin = begin.onto_path(&[5]);
        let first = path(&begin);
        assert!(!first.leads_to(5, false) && first.leads_to(5, true) && !first.is_closed());
        let inside = first.with_access_in_section(7, false);
        assert!(!path(&inside).is_closed() && !path(&inside).leads_to(7, true));
        let joined = path(&inside).joined(2, 5, true);
        assert!(path(&joined).is_closed() && path(&joined).holds(2) && path(&joined).leads_to(5, false));
        assert_eq!(path(&joined).with_access(5, false), None);
    }

    #[test]
    fn a_snapshot_is_one_access_to_all_its_cells() {
        let begin = Delaying { attacker: 0, store: 0, address: 7, has_loaded: false, mark: 0, waiting: &[7, 1] };
        let begin = begin.onto_path(&[6, 5]);
        assert!(path(&begin).leads_to(5, true) && path(&begin).leads_to(6, true));
        assert_eq!(path(&begin).with_snapshot(2, &[5, 7], false), None, "nothing was stored there");
        let stored = path(&begin).joined(1, 5, true);
        let seen = path(&stored).with_snapshot(2, &[7, 5], false).expect("5 was stored to");
        assert!(path(&seen).holds(2) && path(&seen).is_closed(), "and with it 7 is on the path");
        let inside = path(&begin).with_snapshot(2, &[7, 8], true).expect("a section may come to be on the path");
        assert!(!path(&inside).is_closed() && path(&path(&inside).joined(2, 5, true)).is_closed());
    }
}
