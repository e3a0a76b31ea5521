//! Which bytes of shared memory make up a cell.
//!
//! A cell is what one entry of a store buffer holds. Accesses at known addresses decide how bytes are divided:
//!
//! - If all stores to some bytes are of all of them, or if one thread alone changes them, they are one cell. A load of a
//!   part takes it from the whole (the processor forwards a buffered store to a load that it contains). The only writer
//!   stores a part by storing the whole with the rest as it knows it to be.
//! - Otherwise each store is a cell. A load of several cells takes them in one step, since memory is accessed at once;
//!   before it, stores of its own thread that do not contain it must have left the buffer (`pending`).
//! - Locked instructions hold the bus, and can access any bytes in one step.
//!
//! Stores of different threads that overlap in part are refused as mixed-size accesses. Objects that are accessed at
//! computed addresses are divided as their type says, and each such access is checked at run time.

use std::collections::BTreeMap;

use weir_ir::sort::sort_by_key;
use weir_ir::{BinaryOp, Expr, RegExpr, Shared, Span, Value, Width};

use crate::heap;
use crate::image::Image;
use crate::known::is_private;
use crate::objects::Objects;
use crate::ops::balanced;
use crate::pointers;
use crate::refusal::Refusal;

/// More cells than this are refused.
const MOST_CELLS: usize = 100_000;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Load,
    Store,
    Change,
}

/// An access to shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// The number of the thread.
    pub(crate) thread: usize,
    /// The address of the instruction.
    pub(crate) code: u64,
    /// Where; `None` if that is only known at run time.
    pub(crate) address: Option<Value>,
    pub(crate) size: u32,
    pub(crate) kind: Kind,
}

/// A cell.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) address: Value,
    pub(crate) size: u32,
    pub(crate) name: String,
    is_writable: bool,
    initial: Value,
}

impl Cell {
    /// The address after its last byte.
    pub(crate) fn end(&self) -> Value {
        self.address + Value::from(self.size)
    }
}

/// All cells, by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    cells: BTreeMap<Value, Cell>,
}

impl Cells {
    /// Divides memory into cells. `observed` are places that properties look at.
    pub(crate) fn new(
        image: &Image,
        objects: &Objects,
        accesses: &[Access],
        observed: &[(Value, u32)],
    ) -> Result<Self, Refusal> {
        let mut cells = Self::default();
        for (address, size) in groups(image, objects, accesses)? {
            cells.add(image, objects, address, size);
        }
        let computed: Vec<u32> =
            accesses.iter().filter(|access| access.address.is_none()).map(|access| access.size).collect();
        if !computed.is_empty() {
            cells.fill(image, objects, &computed)?;
        }
        for &(address, size) in observed {
            if cells.containing(address, size).is_none() {
                if let Some(cell) = cells.overlapping(address, size) {
                    return Err(Refusal::new(
                        "mixed-size",
                        format!("a property looks at {size} bytes of `{}`, which has {}", cell.name, cell.size),
                    ));
                }
                cells.add(image, objects, address, size);
            }
        }
        Ok(cells)
    }

    fn add(&mut self, image: &Image, objects: &Objects, address: Value, size: u32) {
        let object = objects.at(address);
        let name = object.map_or_else(|| format!("[{address:#x}]"), |object| object.name_of(address, size));
        let initial = image.value(address as u64, size).unwrap_or(0) as Value;
        let is_writable = image.region(address as u64, size as usize).is_some_and(|region| region.is_writable);
        self.cells.insert(address, Cell { address, size, name, is_writable, initial });
    }

    /// Divides what no access at a known address touches.
    fn fill(&mut self, image: &Image, objects: &Objects, computed: &[u32]) -> Result<(), Refusal> {
        let only = computed.iter().all(|&size| size == computed[0]).then_some(computed[0]);
        for object in objects.iter() {
            let parts: Vec<(u64, u32)> = match only {
                _ if !object.parts.is_empty() => object.parts.iter().map(|part| (part.offset, part.size)).collect(),
                Some(size) => (0..object.size / u64::from(size)).map(|at| (at * u64::from(size), size)).collect(),
                None if object.is_writable => {
                    let message = format!(
                        "accesses at computed addresses have several sizes, and nothing says what `{}` consists of",
                        object.name
                    );
                    let help = match object.name.starts_with("malloc#") {
                        true => "write every field of allocated memory in `init`, so that its type is known",
                        false => "compile with `-g`, so that types are known",
                    };
                    return Err(Refusal::new("unknown-type", message).help(help));
                }
                None => continue,
            };
            for (offset, size) in parts {
                let address = object.address.wrapping_add(offset) as Value;
                if self.overlapping(address, size).is_none() {
                    self.add(image, objects, address, size);
                }
            }
            if self.cells.len() > MOST_CELLS {
                return Err(Refusal::new(
                    "too-large",
                    format!("the objects of the file have more than {MOST_CELLS} cells"),
                )
                .help("make the arrays smaller"));
            }
        }
        if computed.contains(&8) {
            for address in pointers::tables(image) {
                if self.overlapping(address as Value, 8).is_none() {
                    self.add(image, objects, address as Value, 8);
                }
            }
        }
        Ok(())
    }

    /// A cell that has some of these bytes.
    fn overlapping(&self, address: Value, size: u32) -> Option<&Cell> {
        let (_, cell) = self.cells.range(..address.saturating_add(size.into())).next_back()?;
        Some(cell).filter(|cell| cell.address + Value::from(cell.size) > address)
    }

    /// The cell that has all of these bytes.
    pub(crate) fn containing(&self, address: Value, size: u32) -> Option<&Cell> {
        self.overlapping(address, size).filter(|cell| {
            cell.address <= address && address.saturating_add(size.into()) <= cell.address + Value::from(cell.size)
        })
    }

    /// The cells that make up these bytes, in ascending order; `None` if some are in no cell.
    pub(crate) fn covering(&self, address: Value, size: u32) -> Option<Vec<&Cell>> {
        let end = address.checked_add(size.into())?;
        let mut at = address;
        let mut found = Vec::new();
        while at < end {
            let cell = self.containing(at, 1)?;
            found.push(cell);
            at = cell.end();
        }
        Some(found)
    }

    /// Whether an address is that of a cell of this size.
    pub(crate) fn is_valid(&self, address: &RegExpr, size: u32, kind: Kind) -> RegExpr {
        let fits = |cell: &&Cell| cell.size == size && (cell.is_writable || kind == Kind::Load);
        let fitting: Vec<Value> = self.cells.values().filter(fits).map(|cell| cell.address).collect();
        let parts: Vec<RegExpr> = progressions(&fitting).into_iter().map(|run| run.contains(address)).collect();
        balanced(BinaryOp::Or, parts).unwrap_or(Expr::Const(0))
    }

    /// Whether there is memory at an address, so that the processor makes the access.
    pub(crate) fn is_memory(image: &Image, address: &RegExpr, size: u32, kind: Kind) -> RegExpr {
        let parts = heap::memory(image, kind != Kind::Load).filter_map(|(base, length)| {
            let last = base + length.checked_sub(size.into())?;
            let from = Expr::binary(BinaryOp::GreaterEqual, address.clone(), Expr::Const(base as Value));
            let to = Expr::binary(BinaryOp::LessEqual, address.clone(), Expr::Const(last as Value));
            Some(Expr::binary(BinaryOp::And, from, to))
        });
        balanced(BinaryOp::Or, parts.collect()).unwrap_or(Expr::Const(0))
    }

    /// The declarations.
    pub(crate) fn declarations(&self) -> Vec<Shared> {
        let declare = |cell: &Cell| Shared {
            name: cell.name.clone(),
            address: cell.address,
            is_array: false,
            initial: vec![cell.initial],
            range: None,
            width: match cell.size {
                1 => Some(Width::U8),
                2 => Some(Width::U16),
                4 => Some(Width::U32),
                _ => None,
            },
            span: Span::default(),
        };
        self.cells.values().map(declare).collect()
    }
}

/// Addresses at equal distances.
struct Progression {
    first: Value,
    step: Value,
    count: Value,
}

impl Progression {
    fn contains(&self, address: &RegExpr) -> RegExpr {
        let binary = |op, left, right| Expr::binary(op, left, right);
        if self.count == 1 {
            return binary(BinaryOp::Equal, address.clone(), Expr::Const(self.first));
        }
        let last = self.first + self.step * (self.count - 1);
        let from = binary(BinaryOp::GreaterEqual, address.clone(), Expr::Const(self.first));
        let to = binary(BinaryOp::LessEqual, address.clone(), Expr::Const(last));
        let offset = binary(BinaryOp::Subtract, address.clone(), Expr::Const(self.first));
        let rest = binary(BinaryOp::Remainder, offset, Expr::Const(self.step));
        let is_aligned = binary(BinaryOp::Equal, rest, Expr::Const(0));
        binary(BinaryOp::And, binary(BinaryOp::And, from, to), is_aligned)
    }
}

/// Ascending addresses as few progressions.
fn progressions(addresses: &[Value]) -> Vec<Progression> {
    let mut runs: Vec<Progression> = Vec::new();
    for &address in addresses {
        match runs.last_mut() {
            Some(run) if run.count == 1 => {
                run.step = address - run.first;
                run.count = 2;
            }
            Some(run) if address == run.first + run.step * run.count => run.count += 1,
            _ => runs.push(Progression { first: address, step: 1, count: 1 }),
        }
    }
    // Two addresses far apart are no array.
    let split = |run: Progression| {
        if run.count == 2 && run.step > 64 {
            let single = |first| Progression { first, step: 1, count: 1 };
            return vec![single(run.first), single(run.first + run.step)];
        }
        vec![run]
    };
    runs.into_iter().flat_map(split).collect()
}

/// Accesses at known addresses as cells: address and size.
fn groups(image: &Image, objects: &Objects, accesses: &[Access]) -> Result<Vec<(Value, u32)>, Refusal> {
    let mut known: Vec<(Value, &Access)> = accesses
        .iter()
        .filter_map(|access| Some((access.address?, access)))
        .filter(|&(address, access)| {
            !is_private(address) && image.region(address as u64, access.size as usize).is_some()
        })
        .collect();
    // The longest first, so that it decides.
    sort_by_key(&mut known, |&(address, access)| (address, std::cmp::Reverse(access.size)));
    let mut groups: Vec<Vec<(Value, &Access)>> = Vec::new();
    let mut end = Value::MIN;
    for (address, access) in known {
        let beyond = address + Value::from(access.size);
        match groups.last_mut() {
            Some(group) if address < end => group.push((address, access)),
            _ => groups.push(vec![(address, access)]),
        }
        end = end.max(beyond);
    }
    let mut cells = Vec::new();
    for group in groups {
        let divided = divide(&group, accesses).map_err(|(one, other)| mixed(image, objects, one, other))?;
        cells.extend(divided);
    }
    Ok(cells)
}

/// An access at a known address.
type Placed<'a> = (Value, &'a Access);

/// The cells for accesses that share bytes, or two accesses that do not go together.
fn divide<'a>(group: &[Placed<'a>], all: &[Access]) -> Result<Vec<(Value, u32)>, (Placed<'a>, Placed<'a>)> {
    let end_of = |(at, access): Placed<'_>| at + Value::from(access.size);
    let whole = group.iter().copied().max_by_key(|(_, access)| access.size).unwrap_or(group[0]);
    let is_within = group.iter().all(|&part| part.0 >= whole.0 && end_of(part) <= end_of(whole));
    let stores = || group.iter().copied().filter(|(_, access)| access.kind == Kind::Store);
    let is_whole = |part: Placed<'_>| part.0 == whole.0 && part.1.size == whole.1.size;
    if is_within && (stores().all(is_whole) || has_one_writer(group, whole.1.size, all)) {
        return Ok(vec![(whole.0, whole.1.size)]);
    }
    // The stores are the cells, and what lies between them is divided as it comes.
    let mut cells: Vec<Placed<'a>> = Vec::new();
    for store in stores() {
        match cells.last() {
            Some(&last) if (last.0, last.1.size) == (store.0, store.1.size) => {}
            Some(&last) if store.0 < end_of(last) => return Err((last, store)),
            _ => cells.push(store),
        }
    }
    let end = group.iter().map(|&part| end_of(part)).max().unwrap_or(whole.0);
    let mut divided = Vec::new();
    let mut at = group[0].0;
    for (start, size) in cells.iter().map(|(at, access)| (*at, access.size)).chain([(end, 0)]) {
        while at < start {
            let fits = |&size: &u32| at % Value::from(size) == 0 && at + Value::from(size) <= start;
            let piece = [8, 4, 2, 1].into_iter().find(fits).unwrap_or(1);
            divided.push((at, piece));
            at += Value::from(piece);
        }
        if size > 0 {
            divided.push((start, size));
        }
        at = start + Value::from(size);
    }
    Ok(divided)
}

/// Whether one thread alone changes these bytes. It always knows what is there, and can store all of them in place of a
/// part.
fn has_one_writer(group: &[Placed<'_>], size: u32, all: &[Access]) -> bool {
    let mut writers = group.iter().filter(|(_, access)| access.kind != Kind::Load).map(|(_, access)| access.thread);
    let Some(writer) = writers.next() else { return true };
    // An access at a computed address is one to a cell of its size.
    let is_other = |access: &Access| {
        access.thread != writer && access.address.is_none() && access.size == size && access.kind != Kind::Load
    };
    writers.all(|thread| thread == writer) && !all.iter().any(is_other)
}

fn mixed(image: &Image, objects: &Objects, one: (Value, &Access), other: (Value, &Access)) -> Refusal {
    let name = |(at, access): (Value, &Access)| {
        let object = objects.at(at).map_or_else(|| format!("[{at:#x}]"), |object| object.name_of(at, access.size));
        let verb = match access.kind {
            Kind::Load => "loads",
            Kind::Store => "stores",
            Kind::Change => "changes",
        };
        format!("`{}` {verb} {} bytes at `{object}`", image.code_name(access.code), access.size)
    };
    let message = format!("mixed sizes: {}, and {} that overlap", name(one), name(other));
    Refusal::new("mixed-size", message)
        .help("access each variable in one size; `-fno-store-merging` or `-O1` keeps compilers from joining accesses")
        .at(other.1.code)
}
