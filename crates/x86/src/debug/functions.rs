//! How functions are declared: what they take and what they return.

use gimli::constants as dw;

use super::types::{Entries, Entry};
use super::{Debug, SourcePlace};

/// Declarations refer to others no deeper than this, and types to types.
const DEEPEST: u32 = 24;

/// A function as the source declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Function {
    /// Name and type of each parameter.
    parameters: Vec<(String, String)>,
    is_variadic: bool,
    /// The type of what it returns, as the source has it.
    result_type: String,
    language: Language,
    /// How many registers the parameters take, unless some take none or several.
    registers: Option<usize>,
    /// What it returns.
    pub(crate) result: Returned,
    /// Where it is declared.
    pub(crate) place: Option<SourcePlace>,
}

/// What a unit is written in, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Language {
    C,
    Rust,
    /// C++, or another one with its names of types.
    Other,
}

impl Language {
    pub(super) fn of(unit: Option<gimli::DwLang>) -> Self {
        match unit {
            Some(dw::DW_LANG_Rust) => Self::Rust,
            Some(dw::DW_LANG_C | dw::DW_LANG_C89 | dw::DW_LANG_C99 | dw::DW_LANG_C11 | dw::DW_LANG_C17) => Self::C,
            _ => Self::Other,
        }
    }
}

/// What a function returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Returned {
    /// Something that is no number.
    Other,
    Nothing,
    /// A number of so many bytes.
    Number {
        size: u32,
        is_signed: bool,
    },
}

impl Function {
    /// Whether it can be called with so many arguments.
    pub(crate) fn takes(&self, arguments: usize) -> bool {
        self.registers.is_none_or(|registers| arguments == registers || self.is_variadic && arguments > registers)
    }

    /// `2 arguments`.
    pub(crate) fn arguments(&self) -> String {
        let least = if self.is_variadic { "at least " } else { "" };
        match self.parameters.len() {
            0 => format!("{least}no arguments"),
            1 => format!("{least}1 argument"),
            count => format!("{least}{count} arguments"),
        }
    }

    /// The declaration, in the words of its language.
    pub(crate) fn declaration(&self, name: &str) -> String {
        let parameter = |(name, of): &(String, String)| match (self.language == Language::Rust, name.is_empty()) {
            (true, _) => format!("{name}: {of}"),
            (false, true) => of.clone(),
            (false, false) => joined(of, name),
        };
        let mut parameters: Vec<String> = self.parameters.iter().map(parameter).collect();
        if self.is_variadic {
            parameters.push("...".to_owned());
        }
        let parameters = parameters.join(", ");
        match (self.language, self.result) {
            (Language::Rust, Returned::Nothing) => format!("fn {name}({parameters})"),
            (Language::Rust, _) => format!("fn {name}({parameters}) -> {}", self.result_type),
            (Language::C, _) if parameters.is_empty() => format!("{}(void)", joined(&self.result_type, name)),
            _ => format!("{}({parameters})", joined(&self.result_type, name)),
        }
    }
}

/// A type and a name, as C puts them together.
fn joined(of: &str, name: &str) -> String {
    let gap = if of.ends_with(['*', '&']) { "" } else { " " };
    format!("{of}{gap}{name}")
}

/// Where the code of a function begins, and its entry.
pub(super) struct Found {
    pub(super) address: u64,
    pub(super) entry: usize,
    pub(super) place: Option<SourcePlace>,
}

/// Reads the declarations of functions. What cannot be followed is left out.
pub(super) fn read(entries: &Entries, found: &[Found], language: Language, debug: &mut Debug) {
    let types = Types { entries, language };
    for function in found {
        if let Some(declared) = types.function(function) {
            debug.functions.entry(function.address).or_insert(declared);
        }
    }
}

struct Types<'e> {
    entries: &'e Entries,
    language: Language,
}

impl<'e> Types<'e> {
    fn function(&self, found: &Found) -> Option<Function> {
        let mut chain = vec![self.entries.get(&found.entry)?];
        // The definition may complete a declaration, and a copy that was not inlined refers to what was.
        while let Some(next) = chain.last()?.declaration {
            if chain.len() as u32 > DEEPEST {
                return None;
            }
            chain.push(self.entries.get(&next)?);
        }
        // Compilers may change how local functions are called, and say so.
        if chain.iter().any(|entry| entry.is_called_otherwise) || chain.iter().all(|entry| entry.name.is_empty()) {
            return None;
        }
        let children = |entry: &&Entry| -> Vec<&'e Entry> {
            entry.children.iter().filter_map(|child| self.entries.get(child)).collect()
        };
        let lists: Vec<Vec<&Entry>> = chain.iter().map(children).collect();
        let parameters = |list: &Vec<&'e Entry>| -> Vec<&'e Entry> {
            list.iter().copied().filter(|child| child.tag == dw::DW_TAG_formal_parameter).collect()
        };
        let parameters = lists.iter().map(parameters).find(|list| !list.is_empty()).unwrap_or_default();
        let parameters: Vec<(&str, Option<usize>)> = parameters.into_iter().map(|entry| self.named(entry)).collect();
        let result = chain.iter().find_map(|entry| entry.of);
        let is_number = |of: &Option<usize>| of.is_some_and(|of| self.number(of, DEEPEST).is_some());
        // A large result is written to where one more argument points.
        let is_plain = parameters.iter().all(|(_, of)| is_number(of)) && (result.is_none() || is_number(&result));
        Some(Function {
            registers: is_plain.then_some(parameters.len()),
            parameters: parameters.into_iter().map(|(name, of)| (name.to_owned(), self.text(of, DEEPEST))).collect(),
            is_variadic: lists.iter().flatten().any(|child| child.tag == dw::DW_TAG_unspecified_parameters),
            result_type: self.text(result, DEEPEST),
            language: self.language,
            result: match result {
                None => Returned::Nothing,
                Some(of) => self.number(of, DEEPEST).unwrap_or(Returned::Other),
            },
            place: found.place,
        })
    }

    /// The name and the type of a parameter.
    fn named(&self, entry: &'e Entry) -> (&'e str, Option<usize>) {
        let declared = entry.declaration.and_then(|declared| self.entries.get(&declared));
        let name = if entry.name.is_empty() { declared.map_or("", |declared| &declared.name) } else { &entry.name };
        (name, entry.of.or_else(|| declared?.of))
    }

    /// The number that a type stands for, if it is in one register.
    fn number(&self, of: usize, depth: u32) -> Option<Returned> {
        let entry = self.entries.get(&of).filter(|_| depth > 0)?;
        let size = u32::try_from(entry.size).ok().filter(|size| [1, 2, 4, 8].contains(size));
        match entry.tag {
            tag if is_pointer(tag) => Some(Returned::Number { size: 8, is_signed: false }),
            dw::DW_TAG_base_type if entry.is_float => None,
            dw::DW_TAG_base_type => Some(Returned::Number { size: size?, is_signed: entry.is_signed }),
            dw::DW_TAG_enumeration_type => Some(Returned::Number { size: size?, is_signed: false }),
            tag if is_qualifier(tag) || tag == dw::DW_TAG_typedef => self.number(entry.of?, depth - 1),
            _ => None,
        }
    }

    /// The name of a type.
    fn text(&self, of: Option<usize>, depth: u32) -> String {
        let Some(entry) = of.and_then(|of| self.entries.get(&of)).filter(|_| depth > 0) else {
            return if of.is_none() && self.language != Language::Rust { "void".into() } else { "…".into() };
        };
        let inner = || self.text(entry.of, depth - 1);
        let keyword = |word: &str| match self.language {
            Language::C => format!("{word} {}", entry.name),
            _ => entry.name.clone(),
        };
        match entry.tag {
            _ if self.language == Language::Rust && !entry.name.is_empty() => entry.name.clone(),
            dw::DW_TAG_reference_type => joined(&inner(), "&"),
            dw::DW_TAG_rvalue_reference_type => joined(&inner(), "&&"),
            tag if is_pointer(tag) => joined(&inner(), "*"),
            dw::DW_TAG_const_type => qualified("const", &inner()),
            dw::DW_TAG_volatile_type => qualified("volatile", &inner()),
            dw::DW_TAG_atomic_type => qualified("_Atomic", &inner()),
            dw::DW_TAG_restrict_type => inner(),
            dw::DW_TAG_subroutine_type => "void (…)".into(),
            dw::DW_TAG_structure_type if !entry.name.is_empty() => keyword("struct"),
            dw::DW_TAG_union_type if !entry.name.is_empty() => keyword("union"),
            dw::DW_TAG_enumeration_type if !entry.name.is_empty() => keyword("enum"),
            _ if entry.name.is_empty() => "…".into(),
            _ => entry.name.clone(),
        }
    }
}

/// A qualified type, as C writes it.
fn qualified(word: &str, of: &str) -> String {
    if of.ends_with('*') { format!("{of}{word}") } else { format!("{word} {of}") }
}

pub(super) fn is_pointer(tag: gimli::DwTag) -> bool {
    [dw::DW_TAG_pointer_type, dw::DW_TAG_reference_type, dw::DW_TAG_rvalue_reference_type].contains(&tag)
}

fn is_qualifier(tag: gimli::DwTag) -> bool {
    [dw::DW_TAG_const_type, dw::DW_TAG_volatile_type, dw::DW_TAG_atomic_type, dw::DW_TAG_restrict_type].contains(&tag)
}
