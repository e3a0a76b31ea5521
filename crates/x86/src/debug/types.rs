//! Types of variables, declarations of functions, and calls that were inlined.

use std::collections::HashMap;

use weir_ir::sort::sort_by_key;

use gimli::constants as dw;
use gimli::{AttributeValue, DebuggingInformationEntry, DwTag, Dwarf, Reader, Unit};

use super::functions::{self, Found, Language, is_pointer};
use super::{Debug, Inlined, Slice, SourcePlace};
use crate::objects::Part;

/// Objects with more parts than this have none.
const MOST_PARTS: usize = 100_000;
/// Types are nested no deeper than this.
const DEEPEST: u32 = 24;

/// What matters of an entry.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) tag: DwTag,
    pub(super) name: String,
    pub(super) size: u64,
    /// The type it refers to.
    pub(super) of: Option<usize>,
    /// The declaration it completes.
    pub(super) declaration: Option<usize>,
    pub(super) is_signed: bool,
    pub(super) is_float: bool,
    is_bit_field: bool,
    /// Whether it is a function that is not called as its declaration says.
    pub(super) is_called_otherwise: bool,
    /// Where a member is, or how many elements there are.
    number: u64,
    /// Members, dimensions, or parameters.
    pub(super) children: Vec<usize>,
}

pub(super) type Entries = HashMap<usize, Entry>;

/// Reads the types, variables, functions and inlined calls of a unit.
pub(super) fn read<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    unit: &Unit<Slice<'d>>,
    files: &[usize],
    debug: &mut Debug,
) -> Result<(), gimli::Error> {
    let mut entries = Entries::new();
    let mut variables: Vec<(u64, usize)> = Vec::new();
    let mut found: Vec<Found> = Vec::new();
    let mut language = Language::Other;
    let mut parents: Vec<(isize, usize)> = Vec::new();
    let mut cursor = unit.entries();
    while let Some(die) = cursor.next_dfs()? {
        let (depth, offset) = (die.depth(), die.offset().0);
        while parents.last().is_some_and(|&(parent, _)| parent >= depth) {
            parents.pop();
        }
        match die.tag() {
            dw::DW_TAG_compile_unit => {
                if let Some(AttributeValue::Language(name)) = die.attr_value(dw::DW_AT_language) {
                    language = Language::of(Some(name));
                }
            }
            dw::DW_TAG_inlined_subroutine => inlined(dwarf, unit, files, die, depth, debug),
            dw::DW_TAG_subprogram => {
                let begins = die.attr_value(dw::DW_AT_low_pc);
                let begins = begins.and_then(|value| dwarf.attr_address(unit, value).ok().flatten());
                let place = place(die, files, [dw::DW_AT_decl_file, dw::DW_AT_decl_line, dw::DW_AT_decl_column]);
                found.extend(begins.map(|address| Found { address, entry: offset, place }));
                entries.insert(offset, entry(dwarf, unit, die));
                parents.push((depth, offset));
            }
            // Those of inlined calls are nested more deeply.
            dw::DW_TAG_formal_parameter | dw::DW_TAG_unspecified_parameters => {
                let parent = parents.last().filter(|(parent, _)| parent + 1 == depth);
                if let Some(parent) = parent.and_then(|(_, parent)| entries.get_mut(parent)) {
                    parent.children.push(offset);
                }
                entries.insert(offset, entry(dwarf, unit, die));
            }
            dw::DW_TAG_variable => {
                variables.extend(address(dwarf, unit, die).map(|address| (address, offset)));
                entries.insert(offset, entry(dwarf, unit, die));
            }
            tag if is_type(tag) => {
                if let Some(parent) = parents.last().and_then(|(_, parent)| entries.get_mut(parent)) {
                    parent.children.push(offset);
                }
                entries.insert(offset, entry(dwarf, unit, die));
                parents.push((depth, offset));
            }
            _ => {}
        }
    }
    functions::read(&entries, &found, language, debug);
    for (address, variable) in variables {
        let variable = &entries[&variable];
        let declared = variable.declaration.and_then(|declared| entries.get(&declared));
        let name =
            if variable.name.is_empty() { declared.map_or("", |declared| &declared.name) } else { &variable.name };
        let of = variable.of.or_else(|| declared.and_then(|declared| declared.of));
        let mut collector = Collector { entries: &entries, parts: Vec::new(), budget: MOST_PARTS };
        if let Some(of) = of {
            collector.add(of, 0, name.to_owned(), DEEPEST);
        }
        // Compilers may put fields in another order than the source does.
        let mut parts = collector.parts;
        sort_by_key(&mut parts, |part| part.offset);
        if parts.len() <= MOST_PARTS
            && parts.windows(2).all(|pair| pair[0].offset.saturating_add(pair[0].size.into()) <= pair[1].offset)
        {
            debug.variables.insert(address, parts);
        }
    }
    Ok(())
}

fn is_type(tag: DwTag) -> bool {
    [
        dw::DW_TAG_array_type,
        dw::DW_TAG_atomic_type,
        dw::DW_TAG_base_type,
        dw::DW_TAG_class_type,
        dw::DW_TAG_const_type,
        dw::DW_TAG_enumeration_type,
        dw::DW_TAG_inheritance,
        dw::DW_TAG_member,
        dw::DW_TAG_pointer_type,
        dw::DW_TAG_reference_type,
        dw::DW_TAG_restrict_type,
        dw::DW_TAG_rvalue_reference_type,
        dw::DW_TAG_structure_type,
        dw::DW_TAG_subrange_type,
        dw::DW_TAG_subroutine_type,
        dw::DW_TAG_typedef,
        dw::DW_TAG_union_type,
        dw::DW_TAG_volatile_type,
    ]
    .contains(&tag)
}

fn number(die: &DebuggingInformationEntry<Slice<'_>>, name: gimli::DwAt) -> Option<u64> {
    die.attr_value(name)?.udata_value()
}

fn reference(die: &DebuggingInformationEntry<Slice<'_>>, name: gimli::DwAt) -> Option<usize> {
    match die.attr_value(name)? {
        AttributeValue::UnitRef(offset) => Some(offset.0),
        _ => None,
    }
}

fn entry(dwarf: &Dwarf<Slice<'_>>, unit: &Unit<Slice<'_>>, die: &DebuggingInformationEntry<Slice<'_>>) -> Entry {
    let name = die.attr_value(dw::DW_AT_name).and_then(|name| dwarf.attr_string(unit, name).ok());
    let encoding = match die.attr_value(dw::DW_AT_encoding) {
        Some(AttributeValue::Encoding(encoding)) => Some(encoding),
        _ => None,
    };
    let is_one_of = |all: [gimli::DwAte; 2]| encoding.is_some_and(|encoding| all.contains(&encoding));
    let convention = match die.attr_value(dw::DW_AT_calling_convention) {
        Some(AttributeValue::CallingConvention(convention)) => convention,
        _ => dw::DW_CC_normal,
    };
    let count = number(die, dw::DW_AT_count).or_else(|| number(die, dw::DW_AT_upper_bound)?.checked_add(1));
    Entry {
        tag: die.tag(),
        name: name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        size: number(die, dw::DW_AT_byte_size).unwrap_or(0),
        of: reference(die, dw::DW_AT_type),
        declaration: reference(die, dw::DW_AT_specification).or_else(|| reference(die, dw::DW_AT_abstract_origin)),
        is_signed: is_one_of([dw::DW_ATE_signed, dw::DW_ATE_signed_char]),
        is_float: is_one_of([dw::DW_ATE_float, dw::DW_ATE_complex_float]),
        is_called_otherwise: convention == dw::DW_CC_nocall,
        is_bit_field: number(die, dw::DW_AT_bit_size).is_some() || number(die, dw::DW_AT_data_bit_offset).is_some(),
        number: number(die, dw::DW_AT_data_member_location).or(count).unwrap_or(0),
        children: Vec::new(),
    }
}

/// The fixed address of a variable: given as it is, or by its number in a table.
fn address<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    unit: &Unit<Slice<'d>>,
    die: &DebuggingInformationEntry<Slice<'d>>,
) -> Option<u64> {
    let AttributeValue::Exprloc(expression) = die.attr_value(dw::DW_AT_location)? else { return None };
    let mut reader = expression.0;
    let operation = gimli::DwOp(reader.read_u8().ok()?);
    let address = match operation {
        dw::DW_OP_addr => reader.read_u64().ok()?,
        dw::DW_OP_addrx => {
            let number = usize::try_from(reader.read_uleb128().ok()?).ok()?;
            dwarf.address(unit, gimli::DebugAddrIndex(number)).ok()?
        }
        _ => return None,
    };
    reader.is_empty().then_some(address)
}

fn inlined<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    unit: &Unit<Slice<'d>>,
    files: &[usize],
    die: &DebuggingInformationEntry<Slice<'d>>,
    depth: isize,
    debug: &mut Debug,
) {
    let call = place(die, files, [dw::DW_AT_call_file, dw::DW_AT_call_line, dw::DW_AT_call_column]);
    let (Some(call), true) = (call, ends_somewhere(dwarf, unit, die)) else { return };
    let Ok(mut ranges) = dwarf.die_ranges(unit, die) else { return };
    while let Ok(Some(range)) = ranges.next() {
        debug.inlined.push(Inlined { start: range.begin, end: range.end, depth, call });
    }
}

/// Whether the entry's code ends within the address space. `gimli` adds its size to its start without a check, whichever
/// of several starts and sizes comes last.
fn ends_somewhere<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    unit: &Unit<Slice<'d>>,
    die: &DebuggingInformationEntry<Slice<'d>>,
) -> bool {
    let (mut start, mut size) = (0u64, 0u64);
    for attribute in die.attrs() {
        match (attribute.name(), attribute.value()) {
            (dw::DW_AT_high_pc, AttributeValue::Udata(found)) => size = size.max(found),
            (dw::DW_AT_low_pc, value) => {
                start = start.max(dwarf.attr_address(unit, value).ok().flatten().unwrap_or(0));
            }
            _ => {}
        }
    }
    start.checked_add(size).is_some()
}

/// The place that an entry gives by its file, line and column.
fn place(
    die: &DebuggingInformationEntry<Slice<'_>>,
    files: &[usize],
    [file, line, column]: [gimli::DwAt; 3],
) -> Option<SourcePlace> {
    let file = match die.attr_value(file)? {
        AttributeValue::FileIndex(number) => number,
        value => value.udata_value()?,
    };
    let file = files.get(usize::try_from(file).ok()?).copied()?;
    let line = u32::try_from(number(die, line)?).ok()?;
    let column = number(die, column).and_then(|column| u32::try_from(column).ok()).unwrap_or(0);
    Some(SourcePlace { file, line, column })
}

/// Collects the parts of a variable.
struct Collector<'e> {
    entries: &'e Entries,
    parts: Vec<Part>,
    /// How many types may still be looked at. Once there are too many, there are no parts.
    budget: usize,
}

impl Collector<'_> {
    /// Adds the parts of a type.
    fn add(&mut self, of: usize, offset: u64, name: String, depth: u32) {
        let entries = self.entries;
        let Some(budget) = self.budget.checked_sub(1) else { return self.parts.clear() };
        self.budget = budget;
        let Some(entry) = entries.get(&of).filter(|_| depth > 0) else { return };
        match entry.tag {
            dw::DW_TAG_typedef
            | dw::DW_TAG_const_type
            | dw::DW_TAG_volatile_type
            | dw::DW_TAG_atomic_type
            | dw::DW_TAG_restrict_type => {
                if let Some(of) = entry.of {
                    self.add(of, offset, name, depth - 1);
                }
            }
            dw::DW_TAG_array_type => {
                let Some(of) = entry.of else { return };
                let dimensions: Vec<u64> =
                    entry.children.iter().filter_map(|child| Some(entries.get(child)?.number)).collect();
                let Some(stride) = size(entries, of, DEEPEST).filter(|&stride| stride > 0) else { return };
                let total = dimensions.iter().fold(1_u64, |total, &count| total.saturating_mul(count));
                for at in 0..total.min(MOST_PARTS as u64 + 1) {
                    let mut indices = String::new();
                    let mut rest = at;
                    for &count in dimensions.iter().rev() {
                        indices = format!("[{}]{indices}", rest % count.max(1));
                        rest /= count.max(1);
                    }
                    self.add(
                        of,
                        offset.saturating_add(at.saturating_mul(stride)),
                        format!("{name}{indices}"),
                        depth - 1,
                    );
                }
            }
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type => {
                let hides = is_wrapper(&entry.name);
                for member in entry.children.iter().filter_map(|child| entries.get(child)) {
                    let (dw::DW_TAG_member | dw::DW_TAG_inheritance, Some(of)) = (member.tag, member.of) else {
                        continue;
                    };
                    if member.is_bit_field {
                        continue;
                    }
                    let is_nameless = hides || member.name.is_empty();
                    let inner = if is_nameless { name.clone() } else { format!("{name}.{}", member.name) };
                    self.add(of, offset.saturating_add(member.number), inner, depth - 1);
                }
            }
            dw::DW_TAG_union_type => {
                // The first member stands for all.
                let first = entry
                    .children
                    .iter()
                    .filter_map(|child| entries.get(child))
                    .find(|child| child.tag == dw::DW_TAG_member);
                if let Some((member, of)) = first.and_then(|member| Some((member, member.of?))) {
                    let inner = if is_wrapper(&entry.name) || member.name.is_empty() {
                        name
                    } else {
                        format!("{name}.{}", member.name)
                    };
                    self.add(of, offset, inner, depth - 1);
                }
            }
            tag if is_pointer(tag) || tag == dw::DW_TAG_base_type || tag == dw::DW_TAG_enumeration_type => {
                let size = if is_pointer(tag) { 8 } else { entry.size };
                if let 1 | 2 | 4 | 8 = size {
                    self.parts.push(Part { offset, size: size as u32, name, is_signed: entry.is_signed });
                }
            }
            _ => {}
        }
    }
}

/// Whether the names of members say nothing: those of atomic types in Rust and C++.
fn is_wrapper(name: &str) -> bool {
    [
        "Atomic",
        "UnsafeCell",
        "Cell<",
        "CachePadded",
        "Wrapping",
        "atomic<",
        "__atomic_base",
        "NonNull",
        "MaybeUninit",
        "ManuallyDrop",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
}

/// How many bytes a type has.
fn size(entries: &Entries, of: usize, depth: u32) -> Option<u64> {
    let entry = entries.get(&of).filter(|_| depth > 0)?;
    match entry.tag {
        tag if is_pointer(tag) => Some(8),
        dw::DW_TAG_array_type => {
            let dimensions = entry.children.iter().filter_map(|child| Some(entries.get(child)?.number));
            let total = dimensions.fold(1_u64, u64::saturating_mul);
            Some(size(entries, entry.of?, depth - 1)?.saturating_mul(total))
        }
        _ if entry.size > 0 => Some(entry.size),
        _ => size(entries, entry.of?, depth - 1),
    }
}
