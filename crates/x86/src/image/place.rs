//! Where sections go, and which address each symbol has.

use std::collections::{BTreeMap, HashMap};

use weir_ir::sort::sort_by_key;

use object::elf::{EM_X86_64, ET_DYN, ET_EXEC};
use object::read::elf::FileHeader;
use object::{
    Object, ObjectSection, ObjectSymbol, SectionFlags, SectionIndex, SectionKind, SymbolIndex, SymbolSection,
};

use super::names::demangled;
use super::{Elf, Image, MOST_BYTES, Region, Symbol, SymbolKind, malformed, not_supported};
use crate::refusal::Refusal;

/// Where sections of object files begin to be placed.
const FIRST: u64 = 0x1_0000;
/// Sections are this far apart at least, and begin at multiples of it.
const PAGE: u64 = 0x1000;
/// Sections of object files end before this.
const LAST: u64 = 0x4000_0000;
/// Where names without a definition are placed: near enough for calls of 32 bits.
const EXTERNAL: u64 = 0x7000_0000;

/// Where they end, and how many bytes each has: what is farther from its beginning seems to be a part of the next.
const EXTERNAL_END: u64 = 0x7FFF_0000;
pub(crate) const EXTERNAL_SIZE: u64 = 0x1000;

/// What is placed by us outside of the sections: blocks, tables of addresses, and names without a definition; stacks.
const RESERVED: [std::ops::Range<u64>; 2] = [0x4800_0000..0x8000_0000, 0x7000_0000_0000..0x8000_0000_0000];

/// What was placed where.
#[derive(Default)]
pub(super) struct Placed {
    /// The base of each section that is in memory, by file.
    pub(super) sections: Vec<HashMap<SectionIndex, u64>>,
    /// Where each section with thread-local variables is among all of these, by file.
    local: Vec<HashMap<SectionIndex, u64>>,
    /// The address of each symbol, by file; of a thread-local one, its place among these.
    pub(super) symbols: Vec<HashMap<SymbolIndex, u64>>,
    /// Whether the file is linked: its addresses are final.
    pub(super) is_linked: bool,
}

/// Places all sections and symbols.
pub(super) fn place(files: &[Elf<'_>], image: &mut Image) -> Result<Placed, Refusal> {
    let mut placed = Placed::default();
    let mut next = FIRST;
    let mut total = 0_u64;
    for file in files {
        let header = file.elf_header();
        let endian = file.endian();
        if header.e_machine(endian) != EM_X86_64 {
            return Err(not_supported("it is for another processor"));
        }
        let is_linked = matches!(header.e_type(endian), ET_EXEC | ET_DYN);
        placed.is_linked |= is_linked;
        let mut bases = HashMap::new();
        let mut locals = HashMap::new();
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            let flags = sh_flags.0;
            if flags & object::elf::SHF_ALLOC.0 == 0 {
                continue;
            }
            if flags & object::elf::SHF_TLS.0 != 0 {
                place_local(&section, (is_linked, &mut locals), image)?;
                continue;
            }
            total = total.saturating_add(section.size());
            if total > MOST_BYTES || next > LAST {
                return Err(Refusal::new("too-large", "the sections of the file take more than 64 MiB of memory")
                    .help("make the arrays that are not needed for the check smaller"));
            }
            let base = if is_linked { section.address() } else { next };
            if section.size() == 0 && is_linked {
                continue;
            }
            let region = region(&section, base, flags)?;
            let end = base.saturating_add(region.bytes.len() as u64);
            if RESERVED.iter().any(|reserved| base < reserved.end && reserved.start < end) {
                let message =
                    format!("a section of the file is linked to {base:#x}, where Weir places stacks and blocks");
                return Err(Refusal::new("reserved-address", message)
                    .help("use the object file, or link to lower addresses: `-Wl,-Ttext-segment=0x400000`"));
            }
            if !is_linked {
                next = (base + region.bytes.len() as u64 + PAGE).next_multiple_of(PAGE);
            }
            bases.insert(section.index(), base);
            image.regions.push(region);
        }
        placed.sections.push(bases);
        placed.local.push(locals);
    }
    sort_by_key(&mut image.regions, |region| region.base);
    let apart =
        |pair: &[Region]| pair[0].base.checked_add(pair[0].bytes.len() as u64).is_some_and(|end| end <= pair[1].base);
    if !image.regions.windows(2).all(apart) {
        return Err(Refusal::new("malformed-object", "the object file is damaged: its sections overlap")
            .help("compile it again"));
    }
    place_symbols(files, &mut placed, next, image)?;
    Ok(placed)
}

/// Places a section with thread-local variables behind those before it.
fn place_local<'d>(
    section: &impl ObjectSection<'d>,
    (is_linked, places): (bool, &mut HashMap<SectionIndex, u64>),
    image: &mut Image,
) -> Result<(), Refusal> {
    let template = &mut image.local;
    let align = section.align().max(1);
    let place = match (is_linked, template.first) {
        // Linked sections are as far apart as they should be.
        (true, Some(first)) => section.address().saturating_sub(first),
        _ => (template.bytes.len() as u64).next_multiple_of(align),
    };
    template.first.get_or_insert(section.address());
    template.align = template.align.max(align);
    let end = place.saturating_add(section.size());
    if end > MOST_BYTES || align > MOST_BYTES {
        return Err(Refusal::new("too-large", "the thread-local variables take more than 64 MiB of memory"));
    }
    template.bytes.resize(end.max(template.bytes.len() as u64) as usize, 0);
    if section.kind() != SectionKind::UninitializedTls {
        let data = section.data().map_err(|error| malformed("", &error))?;
        let data = &data[..data.len().min((end - place) as usize)];
        template.bytes[place as usize..place as usize + data.len()].copy_from_slice(data);
    }
    places.insert(section.index(), place);
    Ok(())
}

fn region<'d>(section: &impl ObjectSection<'d>, base: u64, flags: u64) -> Result<Region, Refusal> {
    let bytes = match section.kind() {
        SectionKind::UninitializedData => vec![0; usize::try_from(section.size()).unwrap_or(0)],
        _ => section.data().map_err(|error| malformed("", &error))?.to_vec(),
    };
    // What the loader fills in and the program only reads is constant.
    let name = section.name().unwrap_or_default();
    let is_relocated_only = name.starts_with(".data.rel.ro") || name.starts_with(".got");
    Ok(Region {
        base,
        bytes,
        is_writable: flags & object::elf::SHF_WRITE.0 != 0 && !is_relocated_only,
        is_executable: flags & object::elf::SHF_EXECINSTR.0 != 0,
    })
}

fn place_symbols(files: &[Elf<'_>], placed: &mut Placed, mut next: u64, image: &mut Image) -> Result<(), Refusal> {
    let mut global: HashMap<String, u64> = HashMap::new();
    let mut wanted: Vec<(usize, SymbolIndex, String)> = Vec::new();
    let mut common: BTreeMap<String, u64> = BTreeMap::new();
    for (number, file) in files.iter().enumerate() {
        let mut addresses = HashMap::new();
        for symbol in file.symbols().chain(file.dynamic_symbols().filter(|_| placed.is_linked)) {
            let Ok(raw) = symbol.name() else { continue };
            let address = match symbol.section() {
                SymbolSection::Section(index) => match placed.sections[number].get(&index) {
                    Some(_) if placed.is_linked => symbol.address(),
                    Some(&base) => base.wrapping_add(symbol.address()),
                    None => match placed.local[number].get(&index) {
                        // A linked file says where among all of them.
                        Some(_) if placed.is_linked => symbol.address(),
                        Some(&place) => place.wrapping_add(symbol.address()),
                        None => continue,
                    },
                },
                SymbolSection::Absolute => symbol.address(),
                SymbolSection::Common => {
                    let size = common.entry(raw.to_owned()).or_default();
                    *size = symbol.size().max(*size);
                    wanted.push((number, symbol.index(), raw.to_owned()));
                    continue;
                }
                _ => {
                    if !raw.is_empty() {
                        wanted.push((number, symbol.index(), raw.to_owned()));
                    }
                    continue;
                }
            };
            addresses.insert(symbol.index(), address);
            if symbol.is_global() {
                global.entry(raw.to_owned()).or_insert(address);
            }
            image.symbols.extend(named(raw, address, symbol.size(), symbol.kind()));
            if symbol.kind() == object::SymbolKind::Tls && !raw.is_empty() {
                image.local.variables.push((demangled(raw), address, symbol.size()));
            }
        }
        placed.symbols.push(addresses);
    }
    let total: u64 = common.values().fold(0, |sum, &size| sum.saturating_add(size.saturating_add(PAGE)));
    if total > MOST_BYTES {
        return Err(Refusal::new("too-large", "the common symbols of the file take more than 64 MiB of memory"));
    }
    for (name, size) in common {
        if global.contains_key(&name) {
            continue;
        }
        let bytes = vec![0; size as usize];
        image.regions.push(Region { base: next, bytes, is_writable: true, is_executable: false });
        image.symbols.extend(named(&name, next, size, object::SymbolKind::Data));
        global.insert(name, next);
        next = (next + size + PAGE).next_multiple_of(PAGE);
    }
    sort_by_key(&mut image.regions, |region| region.base);
    for (number, index, name) in wanted {
        let fresh = EXTERNAL + EXTERNAL_SIZE * image.externals.len() as u64;
        if fresh >= EXTERNAL_END {
            return Err(Refusal::new("too-large", "the file uses too many names that it does not define")
                .help("link it with the files that define them: `ld -r -o all.o a.o b.o`"));
        }
        let address = *global.entry(name.clone()).or_insert_with(|| {
            image.externals.insert(fresh, demangled(&name));
            fresh
        });
        placed.symbols[number].insert(index, address);
    }
    Ok(())
}

fn named(raw: &str, address: u64, size: u64, kind: object::SymbolKind) -> Option<Symbol> {
    let kind = match kind {
        object::SymbolKind::Text => SymbolKind::Function,
        object::SymbolKind::Data => SymbolKind::Data,
        // Assembly often leaves the type of a label out.
        object::SymbolKind::Unknown | object::SymbolKind::Label => SymbolKind::Function,
        _ => return None,
    };
    // Labels of the compiler's own are no functions.
    let is_own = kind == SymbolKind::Function && raw.starts_with(".L");
    (!raw.is_empty() && !is_own).then(|| Symbol::new(raw, address, size, kind))
}
