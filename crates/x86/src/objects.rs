//! Shared objects: what they are called, where they are, and what they consist of.

use std::collections::BTreeMap;

use weir_ir::Value;

use crate::image::{Image, SymbolKind};

/// A part of an object that is accessed as a whole: a number or a pointer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    /// Where, in bytes from the start of the object.
    pub(crate) offset: u64,
    /// How many bytes: 1, 2, 4 or 8.
    pub(crate) size: u32,
    /// With the name of the object: `q.head`, `ring[3]`.
    pub(crate) name: String,
    pub(crate) is_signed: bool,
}

/// A named object.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) is_writable: bool,
    /// Its parts in ascending order, if the file has information about types.
    pub(crate) parts: Vec<Part>,
}

impl Object {
    /// The part at an address.
    pub(crate) fn part(&self, address: Value) -> Option<&Part> {
        let offset = (address as u64).checked_sub(self.address)?;
        let at = self.parts.partition_point(|part| part.offset < offset);
        self.parts.get(at).filter(|part| part.offset == offset)
    }

    /// The path before its name: `ns::` of `ns::q`.
    fn path(&self) -> &str {
        self.name.rfind("::").map_or("", |at| &self.name[..at + 2])
    }

    /// A name of one of its parts without the path of the object, which debugging information leaves out.
    pub(crate) fn without_path<'n>(&self, name: &'n str) -> &'n str {
        name.strip_prefix(self.path()).unwrap_or(name)
    }

    /// The name of some bytes of it.
    pub(crate) fn name_of(&self, address: Value, size: u32) -> String {
        let offset = (address as u64).wrapping_sub(self.address);
        match self.part(address) {
            Some(part) if part.size == size => part.name.clone(),
            _ if offset == 0 && u64::from(size) >= self.size => self.name.clone(),
            _ => format!("{}+{offset:#x}", self.name),
        }
    }
}

/// All objects of a file, in ascending order of their addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    list: Vec<Object>,
}

impl Objects {
    /// The objects of an image. `parts` tells what the one of this name and address consists of.
    pub(crate) fn new(image: &Image, parts: impl Fn(u64, &str) -> Vec<Part>) -> Self {
        let mut list: Vec<Object> = Vec::new();
        for symbol in image.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Data && symbol.size > 0) {
            let Some(region) = image.region(symbol.address, usize::try_from(symbol.size).unwrap_or(usize::MAX)) else {
                continue;
            };
            // Two names for the same object are one; the symbols are in order.
            if list.last().is_some_and(|last| last.address + last.size > symbol.address) {
                continue;
            }
            list.push(Object {
                name: symbol.name.clone(),
                address: symbol.address,
                size: symbol.size,
                is_writable: region.is_writable,
                parts: parts(symbol.address, &symbol.name),
            });
        }
        // Variables that are local to functions and files can have the same name.
        for number in 1..list.len() {
            let same = list[..number].iter().filter(|object| object.name == list[number].name).count();
            if same > 0 {
                let name = format!("{}#{}", list[number].name, same + 1);
                let old = std::mem::replace(&mut list[number].name, name.clone());
                for part in &mut list[number].parts {
                    part.name = part.name.replacen(&old, &name, 1);
                }
            }
        }
        // Those of several modules, too: there the path tells which one it is.
        let own = |object: &Object| object.name[object.path().len()..].to_owned();
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        list.iter().for_each(|object| *count.entry(own(object)).or_default() += 1);
        for object in &mut list {
            let path = object.path().to_owned();
            if count[&own(object)] > 1 {
                object.parts.iter_mut().for_each(|part| part.name = format!("{path}{}", part.name));
            }
        }
        Self { list }
    }

    /// The object at an address.
    pub(crate) fn at(&self, address: Value) -> Option<&Object> {
        let address = address as u64;
        let before = self.list.partition_point(|object| object.address <= address).checked_sub(1)?;
        Some(&self.list[before]).filter(|object| address - object.address < object.size)
    }

    /// The object of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Object> {
        self.list.iter().find(|object| object.name == name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Object> {
        self.list.iter()
    }
}
