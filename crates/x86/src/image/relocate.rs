//! Relocations, after the System V ABI for AMD64.

use std::collections::BTreeMap;

use weir_ir::sort::sort_by_key;

use object::elf;
use object::{Object, ObjectSection, ObjectSymbol, Relocation, RelocationFlags, RelocationTarget};

use super::place::Placed;
use super::{Elf, Image, Region, sections};
use crate::refusal::Refusal;

/// Where addresses of symbols are kept that the code loads.
const GOT: u64 = 0x4800_0000;

/// Relocations for thread-local variables.
const TLS_FIRST: u32 = elf::R_X86_64_DTPMOD64.0;
const TLS_LAST: u32 = elf::R_X86_64_TPOFF32.0;

/// A relocation with what it refers to.
struct Entry {
    kind: u32,
    symbol: u64,
    addend: i64,
    /// Where it is.
    place: u64,
}

/// Applies the relocations of all sections, and keeps those with debugging information.
pub(super) fn relocate(files: &[Elf<'_>], placed: &Placed, image: &mut Image) -> Result<(), Refusal> {
    let mut got = Got::default();
    for (number, file) in files.iter().enumerate() {
        let target = |relocation: &Relocation| target(file, placed, number, relocation);
        for section in file.sections() {
            let base = placed.sections[number].get(&section.index()).copied();
            for (offset, relocation) in section.relocations() {
                let (Some(base), Some((kind, symbol))) = (base, target(&relocation)) else { continue };
                let entry = Entry { kind, symbol, addend: relocation.addend(), place: base.wrapping_add(offset) };
                apply_in_memory(&entry, image, &mut got);
            }
        }
        for (place, relocation) in file.dynamic_relocations().into_iter().flatten() {
            let Some((kind, symbol)) = target(&relocation) else { continue };
            apply_in_memory(&Entry { kind, symbol, addend: relocation.addend(), place }, image, &mut got);
        }
        image.debug.push(sections::read(file, &target)?);
    }
    let bytes: Vec<u8> = got.entries.iter().flat_map(|address| address.to_le_bytes()).collect();
    if !bytes.is_empty() {
        image.regions.push(Region { base: GOT, bytes, is_writable: false, is_executable: false });
        sort_by_key(&mut image.regions, |region| region.base);
    }
    Ok(())
}

/// The kind of a relocation and the address of its symbol.
fn target(file: &Elf<'_>, placed: &Placed, number: usize, relocation: &Relocation) -> Option<(u32, u64)> {
    let RelocationFlags::Elf { r_type } = relocation.flags() else { return None };
    let symbol = match relocation.target() {
        RelocationTarget::Symbol(index) => match placed.symbols[number].get(&index) {
            Some(&address) => address,
            // Sections with debugging information are at 0.
            None => file.symbol_by_index(index).map_or(0, |symbol| symbol.address()),
        },
        RelocationTarget::Section(index) => placed.sections[number].get(&index).copied().unwrap_or(0),
        _ => 0,
    };
    Some((r_type.0, symbol))
}

/// Addresses of symbols that the code loads: one entry per symbol.
#[derive(Default)]
struct Got {
    entries: Vec<u64>,
    numbers: BTreeMap<u64, usize>,
    pairs: BTreeMap<u64, usize>,
}

impl Got {
    fn entry(&mut self, symbol: u64) -> u64 {
        let fresh = self.entries.len();
        let number = *self.numbers.entry(symbol).or_insert(fresh);
        if number == fresh {
            self.entries.push(symbol);
        }
        GOT + 8 * number as u64
    }

    /// What `__tls_get_addr` is given: a module, which is always the same, and a place.
    fn pair(&mut self, place: u64) -> u64 {
        let fresh = self.entries.len();
        let number = *self.pairs.entry(place).or_insert(fresh);
        if number == fresh {
            self.entries.extend([0, place]);
        }
        GOT + 8 * number as u64
    }
}

fn apply_in_memory(entry: &Entry, image: &mut Image, got: &mut Got) {
    let sum = entry.symbol.wrapping_add_signed(entry.addend);
    let relative = sum.wrapping_sub(entry.place);
    // Thread-local variables: where, before the end of the storage.
    let size = image.local.size();
    let is_local = matches!(entry.kind, TLS_FIRST..=TLS_LAST);
    if is_local && entry.kind != elf::R_X86_64_TLSLD.0 && entry.symbol >= size {
        image.unsupported.insert(entry.place, "a thread-local variable that is not in the file".to_owned());
        return;
    }
    let pointed = |address: u64| address.wrapping_add_signed(entry.addend).wrapping_sub(entry.place);
    let (value, size) = match entry.kind {
        kind if kind == elf::R_X86_64_NONE.0 => return,
        kind if kind == elf::R_X86_64_64.0 => (sum, 8),
        kind if kind == elf::R_X86_64_PC64.0 => (relative, 8),
        kind if kind == elf::R_X86_64_PC32.0 || kind == elf::R_X86_64_PLT32.0 => (relative, 4),
        kind if kind == elf::R_X86_64_32.0 || kind == elf::R_X86_64_32S.0 => (sum, 4),
        kind if kind == elf::R_X86_64_GOTPCREL.0
            || kind == elf::R_X86_64_GOTPCRELX.0
            || kind == elf::R_X86_64_REX_GOTPCRELX.0 =>
        {
            let entry_address = got.entry(entry.symbol).wrapping_add_signed(entry.addend);
            (entry_address.wrapping_sub(entry.place), 4)
        }
        kind if kind == elf::R_X86_64_TPOFF32.0 => (sum.wrapping_sub(size), 4),
        kind if kind == elf::R_X86_64_TPOFF64.0 => (sum.wrapping_sub(size), 8),
        kind if kind == elf::R_X86_64_DTPOFF32.0 => (sum, 4),
        kind if kind == elf::R_X86_64_DTPOFF64.0 => (sum, 8),
        kind if kind == elf::R_X86_64_GOTTPOFF.0 => (pointed(got.entry(entry.symbol.wrapping_sub(size))), 4),
        kind if kind == elf::R_X86_64_TLSGD.0 => (pointed(got.pair(entry.symbol)), 4),
        kind if kind == elf::R_X86_64_TLSLD.0 => (pointed(got.pair(0)), 4),
        kind if kind == elf::R_X86_64_GLOB_DAT.0 || kind == elf::R_X86_64_JUMP_SLOT.0 => (entry.symbol, 8),
        kind if kind == elf::R_X86_64_RELATIVE.0 => (entry.addend as u64, 8),
        kind => {
            let reason = match kind {
                16 | 34..=36 => "thread-local storage in this form".to_owned(),
                kind => format!("relocation type {kind}"),
            };
            image.unsupported.insert(entry.place, reason);
            return;
        }
    };
    if let Some(bytes) = image.bytes_mut(entry.place, size) {
        bytes.copy_from_slice(&value.to_le_bytes()[..size]);
    }
}
