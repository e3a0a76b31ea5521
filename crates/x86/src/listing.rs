//! The code of all threads as text, with the places in the source that it comes from.
//!
//! Spans of the program are stretches of this text, one per instruction: two instructions of one line of source are
//! two places.

use std::collections::BTreeMap;
use std::fmt::Write;

use iced_x86::{FastFormatter, Instruction, SymbolResolver, SymbolResult};
use weir_ir::sort::sort_by_key;
use weir_ir::{Source, Span};

use crate::debug::{Debug, SourcePlace};
use crate::image::Image;
use crate::lift::{LONGEST, decode};
use crate::objects::Objects;

/// A source file, as the caller finds it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFile {
    /// Its name, as messages show it.
    pub name: String,
    /// Its text, if it can be read.
    pub text: Option<String>,
}

/// Finds source files by the paths that the compiler noted.
pub type Files<'f> = dyn Fn(&str) -> SourceFile + 'f;

/// An instruction, as answers name it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Point {
    address: u64,
    /// In a function of a library: where the call returns to that the program's own source makes.
    own_call: Option<u64>,
}

impl Point {
    /// An instruction with the calls that led there: where they return to, the last call first.
    pub(crate) fn new(debug: &Debug, address: u64, callers: &[u64]) -> Self {
        let is_own = |at: u64| chosen(debug, at).is_some_and(|place| !is_foreign(&debug.files[place.file]));
        let own_call =
            if is_own(address) { None } else { callers.iter().copied().find(|&back| is_own(back.saturating_sub(1))) };
        Self { address, own_call }
    }

    /// The place that people should look at.
    fn place(self, debug: &Debug) -> Option<SourcePlace> {
        // A call ends just before where it returns to.
        chosen(debug, self.own_call.map_or(self.address, |back| back.saturating_sub(1)))
    }
}

/// The code of all threads as text.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) source: Source,
    /// The span of each instruction.
    spans: BTreeMap<Point, Span>,
    /// The spans of the lines before the code.
    pub(crate) header: Vec<Span>,
}

impl Listing {
    /// The text of these instructions, after some lines.
    pub(crate) fn new(
        name: &str,
        header: &[String],
        image: &Image,
        objects: &Objects,
        (debug, files): (&Debug, &Files<'_>),
        points: impl IntoIterator<Item = Point>,
    ) -> Self {
        let mut text = String::new();
        let mut lines = Vec::new();
        for line in header {
            let start = text.len();
            text += line;
            lines.push(Span::new(start, text.len()));
            text.push('\n');
        }
        let mut spans = BTreeMap::new();
        let mut formatter = formatter(image, objects);
        let mut sources = Sources::default();
        let mut origins = Vec::new();
        for point in points {
            let address = point.address;
            let _ = write!(text, "{:24} ", image.code_name(address));
            let start = text.len();
            match instruction(image, address) {
                Some(instruction) => formatter.format(&instruction, &mut text),
                None => text += "(no instruction)",
            }
            let span = Span::new(start, text.len());
            spans.insert(point, span);
            if let Some(place) = point.place(debug) {
                origins.push((span, place, text[start..].to_owned()));
                let _ = write!(text, "  ; {}", debug.short(place));
            }
            text.push('\n');
        }
        let origins = sources.resolve(debug, files, &origins);
        let source = Source::compiled(name, text, sources.list, origins);
        Self { source, spans, header: lines }
    }

    /// The span of an instruction.
    pub(crate) fn span(&self, point: Point) -> Span {
        self.spans.get(&point).copied().unwrap_or_default()
    }
}

/// The instruction at an address.
fn instruction(image: &Image, address: u64) -> Option<Instruction> {
    decode(image.code(address, LONGEST)?, address)
}

/// The place that people should look at: the innermost one in a file of theirs.
fn chosen(debug: &Debug, address: u64) -> Option<SourcePlace> {
    let places = debug.places(address);
    let is_own = |place: &&SourcePlace| !is_foreign(&debug.files[place.file]);
    places.iter().find(is_own).or(places.first()).copied()
}

/// Whether a file belongs to the compiler or to a library.
fn is_foreign(path: &str) -> bool {
    ["/usr/", "/rustc/"].iter().any(|prefix| path.starts_with(prefix))
        || ["/.cargo/registry/", "/rustlib/", "/.rustup/"].iter().any(|part| path.contains(part))
        || path.is_empty()
}

/// Source files that are referred to.
#[derive(Default)]
struct Sources {
    list: Vec<Source>,
}

impl Sources {
    /// The stretches of files that instructions come from.
    fn resolve(
        &mut self,
        debug: &Debug,
        files: &Files<'_>,
        origins: &[(Span, SourcePlace, String)],
    ) -> Vec<(Span, usize, Span)> {
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, place, _) in origins {
            if numbers.contains_key(&place.file) {
                continue;
            }
            let SourceFile { name, text } = files(&debug.files[place.file]);
            let own = origins.iter().filter(|(_, other, _)| other.file == place.file);
            let text = text.unwrap_or_else(|| stand_in(own.map(|(_, place, code)| (place.line, code.as_str()))));
            numbers.insert(place.file, self.list.len());
            self.list.push(Source::new(name, text));
        }
        let resolved = origins.iter().map(|&(span, place, _)| {
            let number = numbers[&place.file];
            (span, number, statement(self.list[number].text(), place))
        });
        resolved.collect()
    }
}

/// A text for a file that cannot be read: on each line the first instruction of that line.
fn stand_in<'c>(code: impl Iterator<Item = (u32, &'c str)>) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for (line, code) in code {
        // Nobody writes longer files by hand.
        let line = line.min(1_000_000) as usize;
        lines.resize(lines.len().max(line), "");
        if let Some(text) = lines.get_mut(line.saturating_sub(1)).filter(|text| text.is_empty()) {
            *text = code;
        }
    }
    lines.join("\n")
}

/// The statement around a place, or what of it is on its line.
fn statement(text: &str, place: SourcePlace) -> Span {
    let mut start = 0;
    for _ in 1..place.line {
        match text[start..].find('\n') {
            Some(newline) => start += newline + 1,
            None => return Span::new(text.len(), text.len()),
        }
    }
    let line = text[start..].split('\n').next().unwrap_or_default();
    let code = line.split("//").next().unwrap_or_default();
    let at = (place.column as usize).saturating_sub(1);
    let (mut from, mut to) = (0, code.len());
    if place.column > 0 && at < code.len() && code.is_char_boundary(at) {
        from = code[..at].rfind([';', '{', '}']).map_or(0, |before| before + 1);
        to = code[at..].find([';', '{', '}']).map_or(code.len(), |after| at + after);
    }
    let piece = &code[from..to];
    let from = from + (piece.len() - piece.trim_start().len());
    let to = from + piece.trim().len();
    Span::new(start + from, start + to)
}

/// Names of objects and functions, for operands.
struct Names(Vec<(u64, u64, String)>);

impl SymbolResolver for Names {
    fn symbol(&mut self, _: &Instruction, _: u32, _: Option<u32>, address: u64, _: u32) -> Option<SymbolResult<'_>> {
        let at = self.0.partition_point(|(start, ..)| *start <= address).checked_sub(1)?;
        let (start, end, name) = self.0.get(at)?;
        (address < *end).then(|| SymbolResult::with_str(*start, name))
    }
}

fn formatter(image: &Image, objects: &Objects) -> FastFormatter {
    let mut names: Vec<(u64, u64, String)> = Vec::new();
    for object in objects.iter() {
        names.push((object.address, object.address + object.size.max(1), object.name.clone()));
    }
    for symbol in image.functions() {
        names.push((symbol.address, symbol.address.saturating_add(symbol.size.max(1)), symbol.name.clone()));
    }
    names.extend(image.externals.iter().map(|(&address, name)| (address, address + 16, name.clone())));
    sort_by_key(&mut names, |(start, ..)| *start);
    names.dedup_by_key(|(start, ..)| *start);
    let resolver: Box<dyn SymbolResolver> = Box::new(Names(names));
    let mut formatter = FastFormatter::try_with_options(Some(resolver)).unwrap_or_default();
    formatter.options_mut().set_space_after_operand_separator(true);
    formatter.options_mut().set_rip_relative_addresses(false);
    formatter.options_mut().set_use_hex_prefix(true);
    formatter.options_mut().set_always_show_memory_size(false);
    formatter
}
