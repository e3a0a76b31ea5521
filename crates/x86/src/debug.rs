//! What compilers tell about the source: the line of each instruction, the types of variables, and how functions are
//! declared.
//!
//! None of it is needed to translate code, so that whatever is damaged or unknown here is left out.

mod functions;
mod lines;
mod types;

use std::collections::BTreeMap;

use weir_ir::sort::sort_by_key;

use gimli::{Dwarf, EndianSlice, LittleEndian};

use crate::image::DebugSections;
use crate::objects::Part;
pub(crate) use functions::{Function, Returned};

type Slice<'d> = EndianSlice<'d, LittleEndian>;

/// A place in a source file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SourcePlace {
    /// The number of the file.
    pub(crate) file: usize,
    /// From 1.
    pub(crate) line: u32,
    /// From 1; 0 if it is not known.
    pub(crate) column: u32,
}

/// A stretch of code that was inlined, with the place of the call.
#[derive(Clone, Copy, Debug)]
struct Inlined {
    start: u64,
    end: u64,
    /// How deep it is nested.
    depth: isize,
    call: SourcePlace,
}

/// What compilers tell about the source.
#[derive(Debug, Default)]
pub(crate) struct Debug {
    /// Paths of source files.
    pub(crate) files: Vec<String>,
    /// Where a stretch of code begins: its end and its place.
    lines: BTreeMap<u64, (u64, SourcePlace)>,
    inlined: Vec<Inlined>,
    /// What the variable at an address consists of.
    variables: BTreeMap<u64, Vec<Part>>,
    /// How the function at an address is declared.
    functions: BTreeMap<u64, Function>,
    /// Why names and types are missing, if that can be told.
    pub(crate) missing: Option<Missing>,
}

/// Why debugging information is not there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    /// It is compressed in a way that is not supported.
    Compressed,
    /// It is in a file of its own.
    Apart(String),
}

impl Missing {
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Compressed => {
                "names and types are missing: debugging information is compressed, and not by zlib".into()
            }
            Self::Apart(file) => format!("names and types are missing: they are in `{file}`, which Weir does not read"),
        }
    }

    /// What to do about it.
    pub(crate) fn help(&self) -> &'static str {
        match self {
            Self::Compressed => "compile with `-gz=zlib`, or without `-gz`",
            Self::Apart(_) => "compile without `-gsplit-dwarf` (`-C split-debuginfo=off` for rustc)",
        }
    }
}

impl Debug {
    /// Reads what there is.
    pub(crate) fn read(sections: &[DebugSections]) -> Self {
        let mut debug = Self::default();
        for sections in sections {
            if sections.is_unread {
                debug.missing = Some(Missing::Compressed);
            }
            let load = |id: gimli::SectionId| -> Result<Slice<'_>, gimli::Error> {
                Ok(EndianSlice::new(sections.contents.get(id.name()).map_or(&[][..], Vec::as_slice), LittleEndian))
            };
            if let Ok(dwarf) = Dwarf::load(load) {
                // What was read before something damaged stays.
                let _ = debug.read_units(&dwarf);
            }
        }
        debug
    }

    fn read_units<'d>(&mut self, dwarf: &Dwarf<Slice<'d>>) -> Result<(), gimli::Error> {
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            let unit = dwarf.unit(header)?;
            if let Some(name) = unit.dwo_name().ok().flatten() {
                let name = dwarf.attr_string(&unit, name).map(|name| name.to_string_lossy().into_owned());
                self.missing = Some(Missing::Apart(name.unwrap_or_default()));
            }
            let files = lines::read(dwarf, &unit, self).unwrap_or_default();
            types::read(dwarf, &unit, &files, self)?;
        }
        Ok(())
    }

    /// The number of a file.
    fn file(&mut self, path: String) -> usize {
        self.files.iter().position(|known| *known == path).unwrap_or_else(|| {
            self.files.push(path);
            self.files.len() - 1
        })
    }

    /// Where the code at an address comes from: the innermost place first, then the calls that were inlined.
    pub(crate) fn places(&self, address: u64) -> Vec<SourcePlace> {
        let line = self.lines.range(..=address).next_back().filter(|(_, (end, _))| address < *end);
        let mut inlined: Vec<&Inlined> =
            self.inlined.iter().filter(|inlined| (inlined.start..inlined.end).contains(&address)).collect();
        sort_by_key(&mut inlined, |inlined| std::cmp::Reverse(inlined.depth));
        line.map(|(_, &(_, place))| place).into_iter().chain(inlined.into_iter().map(|inlined| inlined.call)).collect()
    }

    /// How the function at an address is declared.
    pub(crate) fn function(&self, address: u64) -> Option<&Function> {
        self.functions.get(&address)
    }

    /// `queue.c:41`: a place without the folders of its file.
    pub(crate) fn short(&self, place: SourcePlace) -> String {
        let path = &self.files[place.file];
        format!("{}:{}", path.rsplit('/').next().unwrap_or(path), place.line)
    }

    /// What the variable at an address consists of.
    pub(crate) fn parts(&self, address: u64) -> Vec<Part> {
        self.variables.get(&address).cloned().unwrap_or_default()
    }
}
