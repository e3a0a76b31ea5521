//! Fences in the table of a litmus test: rows of their own, with the other columns left empty.
//!
//! This assumes the usual form of tables, in which no row takes more than one line. The result for any other form does
//! not read as the program with its fences; the caller checks that.

use std::collections::BTreeMap;

/// The instruction.
const FENCE: &str = "MFENCE";

/// The text with a fence before the instruction at each of these offsets. None if they are not in rows of a table.
pub(crate) fn write_fences(text: &str, offsets: impl IntoIterator<Item = u32>) -> Option<String> {
    let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for offset in offsets {
        let offset = offset as usize;
        let start = text.get(..offset)?.rfind(['\n', ';']).map_or(0, |before| before + 1);
        rows.entry(start).or_default().push(offset);
    }
    let mut fenced = String::new();
    let mut written = 0;
    for (start, offsets) in rows {
        let end = start + text[start..].find([';', '\n'])?;
        let row = Row::new(&text[start..end], offsets.iter().map(|offset| offset - start));
        fenced += &text[written..start];
        let begins_line = start == 0 || text[..start].ends_with('\n');
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        fenced += &format!("{};{}{}", row.fences(), if begins_line { line_end } else { "" }, row.rest());
        written = end;
    }
    Some(fenced + &text[written..])
}

/// A row: each cell as what stands before its instruction, and the rest. The first part is there only where a fence is
/// written.
struct Row<'t> {
    cells: Vec<(Option<&'t str>, &'t str)>,
}

impl<'t> Row<'t> {
    fn new(row: &'t str, offsets: impl Iterator<Item = usize> + Clone) -> Self {
        let mut start = 0;
        let cells = row.split('|').map(|cell| {
            let here = offsets.clone().find(|offset| (start..=start + cell.len()).contains(offset));
            let split = here.and_then(|offset| cell.split_at_checked(offset - start));
            start += cell.len() + 1;
            split.map_or((None, cell), |(before, rest)| (Some(before), rest))
        });
        Self { cells: cells.collect() }
    }

    /// The row with the fences. A label goes with the fence: who jumps there waits, too.
    fn fences(&self) -> String {
        let cell = |&(before, rest): &(Option<&str>, &str)| {
            let width = before.unwrap_or_default().chars().count() + rest.chars().count();
            let fence = before.map_or_else(String::new, |before| format!("{before}{FENCE} "));
            format!("{fence:width$}")
        };
        self.cells.iter().map(cell).collect::<Vec<_>>().join("|")
    }

    /// The row as it was, without the labels that went.
    fn rest(&self) -> String {
        let cell =
            |(before, rest): &(Option<&str>, &str)| " ".repeat(before.unwrap_or_default().chars().count()) + rest;
        self.cells.iter().map(cell).collect::<Vec<_>>().join("|")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fenced(text: &str, before: &[&str]) -> String {
        let offsets = before.iter().map(|part| text.find(part).expect("it is there") as u32);
        write_fences(text, offsets).expect("it is a table")
    }

    #[test]
    fn fences_on_one_row_share_a_row() {
        let text = " P0         | P1         ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (x=0)";
        let expected =
            " P0         | P1         ;\n MFENCE      | MFENCE      ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (x=0)";
        assert_eq!(fenced(text, &["MOV EAX,[y]", "MOV EAX,[x]"]), expected);
        let expected =
            " P0         | P1         ;\n             | MFENCE      ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (x=0)";
        assert_eq!(fenced(text, &["MOV EAX,[x]"]), expected);
    }

    #[test]
    fn a_label_goes_with_the_fence() {
        let expected = "P0;\r\nL: MFENCE ;\r\n   INC [x];\r\n";
        assert_eq!(fenced("P0;\r\nL: INC [x];\r\n", &["INC"]), expected);
    }

    #[test]
    fn rows_can_share_a_line() {
        assert_eq!(fenced("P0; MOV [x],$1; MOV EAX,[y];", &["MOV EAX"]), "P0; MOV [x],$1; MFENCE     ; MOV EAX,[y];");
    }
}
