//! A fence in its place: the lines around it.

use weir_ir::{Source, Span};

use crate::answer::FencePlace;
use crate::text::parts::{Tone, emphasized};
use crate::wording::clean::{clean, clip};

/// Longest line that is shown, in characters.
const LINE_LIMIT: usize = 120;

/// The line of a place with the one before it, the fence, and the threads that run it.
pub(super) fn text(source: &Source, place: &FencePlace, threads: &str) -> String {
    let offset = place.offset as usize;
    let (Some(before), Some(after)) = (source.text().get(..offset), source.text().get(offset..)) else {
        return String::new();
    };
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let here = source.line(Span { start: place.offset, end: place.offset });
    let (left, right) = (&before[start..], after.split('\n').next().unwrap_or_default());
    let width = here.to_string().len();
    let numbered = |number: u32, line: &str| format!("{number:width$} | {}\n", shown(line));
    let added = |line: &str| format!("{:width$} {} {}\n", "", emphasized(Tone::Good, "+"), shown(line));
    let mut text = format!("\n{:width$}--> {}:{here}, in {}\n{:width$} |\n", "", clean(source.name()), threads, "");
    let above = before[..start].trim_end_matches('\n').rsplit('\n').next().filter(|_| start > 0);
    if let Some(above) = above.filter(|above| !above.trim().is_empty()) {
        text += &numbered(here.saturating_sub(1), above);
    }
    if left.trim().is_empty() {
        let inner = if right.starts_with('}') { "    " } else { "" };
        text += &added(&format!("{left}{inner}fence;"));
        text += &numbered(here, &format!("{left}{right}"));
    } else {
        text += &numbered(here, &format!("{left}{right}"));
        text += &added(&format!("{left}fence; {right}"));
    }
    text
}

fn shown(line: &str) -> String {
    clean(&clip(&line.trim_end().replace('\t', "    "), LINE_LIMIT))
}
