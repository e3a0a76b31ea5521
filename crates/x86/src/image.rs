//! The memory of a program before it runs: sections at fixed addresses, with relocations applied.
//!
//! An object file says where its sections may go; here they go to addresses of our choice. Whatever is not defined in
//! the files gets an address too, at which there is nothing, so that a call there can be told by name.

mod names;
mod place;
mod relocate;
mod sections;

use std::collections::BTreeMap;

use weir_ir::sort::sort_by;

use object::read::archive::ArchiveFile;
use object::read::elf::ElfFile64;
use object::{Endianness, FileKind, Object, ObjectSection};

use crate::refusal::Refusal;
pub(crate) use names::{demangled, opening, without_parameters};
pub(crate) use place::EXTERNAL_SIZE;

/// An object file as the library for them sees it.
type Elf<'d> = ElfFile64<'d, Endianness>;

/// How LLVM's bitcode begins.
const BITCODE: &[u8] = b"BC\xC0\xDE";

/// Larger programs are refused: sections without content can claim any size.
const MOST_BYTES: u64 = 64 << 20;

/// A stretch of memory.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub(crate) base: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_writable: bool,
    pub(crate) is_executable: bool,
}

impl Region {
    fn range(&self, address: u64, size: usize) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(address.checked_sub(self.base)?).ok()?;
        let end = start.checked_add(size)?;
        (end <= self.bytes.len()).then_some(start..end)
    }
}

/// What a symbol names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SymbolKind {
    Function,
    Data,
}

/// A named place.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    /// As people write it.
    pub(crate) name: String,
    /// As the file has it.
    pub(crate) raw: String,
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) kind: SymbolKind,
}

impl Symbol {
    /// One of a file.
    fn new(raw: &str, address: u64, size: u64, kind: SymbolKind) -> Self {
        Self { name: names::demangled(raw), raw: raw.to_owned(), address, size, kind }
    }

    /// A variable that the file has no symbol for.
    pub(crate) fn variable(name: String, address: u64, size: u64) -> Self {
        Self { raw: name.clone(), name, address, size, kind: SymbolKind::Data }
    }
}

/// The sections with debugging information of one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct DebugSections {
    /// By name, with relocations applied.
    pub(crate) contents: BTreeMap<String, Vec<u8>>,
    /// Whether there are others, which are compressed in a way that is not supported.
    pub(crate) is_unread: bool,
}

/// Thread-local variables as they are when a thread begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    pub(crate) bytes: Vec<u8>,
    pub(crate) align: u64,
    /// The address of the first section, in a linked file.
    pub(crate) first: Option<u64>,
    /// Name, place and size.
    pub(crate) variables: Vec<(String, u64, u64)>,
}

impl Template {
    /// How many bytes before the end of the storage the variables begin.
    pub(crate) fn size(&self) -> u64 {
        (self.bytes.len() as u64).next_multiple_of(self.align.max(1))
    }
}

/// The memory of a program before it runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    /// In ascending order, apart from each other.
    pub(crate) regions: Vec<Region>,
    /// In ascending order of their addresses.
    pub(crate) symbols: Vec<Symbol>,
    /// Names without a definition, by the address they were given.
    pub(crate) externals: BTreeMap<u64, String>,
    /// Places whose relocation is not supported, with the reason.
    pub(crate) unsupported: BTreeMap<u64, String>,
    /// One per file.
    pub(crate) debug: Vec<DebugSections>,
    /// Whether some file holds what a compiler leaves for the linker in place of code.
    pub(crate) is_for_linker: bool,
    /// Thread-local variables.
    pub(crate) local: Template,
    /// Allocated memory that code has stored to at load time: the size of each store by its address.
    pub(crate) written: BTreeMap<u64, u32>,
}

impl Image {
    /// Reads an object file, a static library or an executable.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let files = members(bytes)?;
        let mut elves = Vec::new();
        for (name, data) in &files {
            let elf = Elf::parse(*data).map_err(|error| malformed(name, &error))?;
            elves.push(elf);
        }
        let is_for_linker = |elf: &Elf<'_>| {
            elf.sections().any(|section| section.name().is_ok_and(|name| name.starts_with(".gnu.lto_")))
        };
        let mut image = Self { is_for_linker: elves.iter().any(is_for_linker), ..Self::default() };
        let placed = place::place(&elves, &mut image)?;
        relocate::relocate(&elves, &placed, &mut image)?;
        sort_by(&mut image.symbols, |a, b| (a.address, a.kind as u8, &a.name).cmp(&(b.address, b.kind as u8, &b.name)));
        Ok(image)
    }

    /// The region that holds all of these bytes.
    pub(crate) fn region(&self, address: u64, size: usize) -> Option<&Region> {
        let at = self.regions.partition_point(|region| region.base <= address).checked_sub(1)?;
        Some(&self.regions[at]).filter(|region| region.range(address, size).is_some())
    }

    /// The bytes at an address.
    pub(crate) fn bytes(&self, address: u64, size: usize) -> Option<&[u8]> {
        let region = self.region(address, size)?;
        region.bytes.get(region.range(address, size)?)
    }

    /// The same, to be changed.
    pub(crate) fn bytes_mut(&mut self, address: u64, size: usize) -> Option<&mut [u8]> {
        let at = self.regions.partition_point(|region| region.base <= address).checked_sub(1)?;
        let range = self.regions[at].range(address, size)?;
        self.regions[at].bytes.get_mut(range)
    }

    /// A value of up to 8 bytes, without sign.
    pub(crate) fn value(&self, address: u64, size: u32) -> Option<u64> {
        let bytes = self.bytes(address, size as usize)?;
        Some(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    /// The bytes of the code from an address to the end of its region, at most `most`.
    pub(crate) fn code(&self, address: u64, most: usize) -> Option<&[u8]> {
        let region = self.region(address, 1).filter(|region| region.is_executable)?;
        let start = region.range(address, 1)?.start;
        region.bytes.get(start..region.bytes.len().min(start.saturating_add(most)))
    }

    /// The symbol of a kind that covers an address. One without a size covers what comes up to the next symbol.
    pub(crate) fn symbol_at(&self, address: u64, kind: SymbolKind) -> Option<&Symbol> {
        let end = self.symbols.partition_point(|symbol| symbol.address <= address);
        let before = self.symbols[..end].iter().rev().filter(|symbol| symbol.kind == kind);
        before.take(64).find(|symbol| {
            address - symbol.address < symbol.size.max(1) || (symbol.size == 0 && self.is_near(symbol, address))
        })
    }

    fn is_near(&self, symbol: &Symbol, address: u64) -> bool {
        symbol.kind == SymbolKind::Function
            && self.region(symbol.address, (address - symbol.address) as usize).is_some()
    }

    /// All functions.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Function)
    }

    /// The function of this name, in full.
    pub(crate) fn function(&self, name: &str) -> Option<&Symbol> {
        self.functions().find(|symbol| symbol.name == name || symbol.raw == name)
    }

    /// `lock+0x1c`: an address in the code, by the function it lies in.
    pub(crate) fn code_name(&self, address: u64) -> String {
        match self.symbol_at(address, SymbolKind::Function) {
            Some(symbol) if symbol.address == address => symbol.name.clone(),
            Some(symbol) => format!("{}+{:#x}", symbol.name, address - symbol.address),
            None => format!("{address:#x}"),
        }
    }
}

/// The object files in a file: itself, or the members of a library.
fn members(bytes: &[u8]) -> Result<Vec<(String, &[u8])>, Refusal> {
    match FileKind::parse(bytes) {
        Ok(FileKind::Elf64) => Ok(vec![(String::new(), bytes)]),
        Ok(FileKind::Archive) => {
            let archive = ArchiveFile::parse(bytes).map_err(|error| malformed("", &error))?;
            let mut found = Vec::new();
            for member in archive.members() {
                let member = member.map_err(|error| malformed("", &error))?;
                let data = member.data(bytes).map_err(|error| malformed("", &error))?;
                if matches!(FileKind::parse(data), Ok(FileKind::Elf64)) {
                    found.push((String::from_utf8_lossy(member.name()).into_owned(), data));
                }
            }
            Ok(found)
        }
        Ok(kind) => Err(not_supported(&format!("it is a file of kind {kind:?}"))),
        Err(_) if bytes.starts_with(BITCODE) => {
            Err(not_supported("it is LLVM's bitcode, which is no machine code yet")
                .help("compile without `-flto` (clang) or `-C linker-plugin-lto` (rustc)"))
        }
        Err(_) => Err(not_supported("its first bytes are those of no known kind")),
    }
}

fn not_supported(what: &str) -> Refusal {
    Refusal::new("not-elf", format!("this is not an ELF file for x86-64: {what}"))
        .help("give Weir an object file (`gcc -c -g -O2 queue.c`), a static library or an executable for Linux")
}

fn malformed(member: &str, error: &object::Error) -> Refusal {
    let of = if member.is_empty() { String::new() } else { format!(" (member {member})") };
    Refusal::new("malformed-object", format!("the object file is damaged{of}: {error}")).help("compile it again")
}
