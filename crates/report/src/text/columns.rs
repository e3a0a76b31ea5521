//! Text in columns.

use super::wrap::words;

/// Between two columns.
const GAP: usize = 4;
/// Between two columns where there is little room.
const NARROW_GAP: usize = 2;
/// The least width of the column of step numbers.
const NUMBER_WIDTH: usize = 4;
/// No column is made narrower than this.
const LEAST_WIDTH: usize = 10;

/// A line of a table.
pub(super) enum Line {
    /// A number, if any, and one text for each column.
    Cells(Option<usize>, Vec<String>),
    /// A remark across all columns.
    Remark(String),
}

/// Lines with numbers in front and columns as wide as they need to be.
pub(super) struct Table {
    pub(super) lines: Vec<Line>,
}

impl Table {
    /// The width of the longest line of columns.
    pub(super) fn width(&self) -> usize {
        self.width_with(&self.widths(), GAP)
    }

    /// The lines as text, without spaces at their ends.
    pub(super) fn text(&self) -> String {
        self.text_with(&self.widths(), GAP, usize::MAX)
    }

    /// The same in lines of at most `width` characters, as far as the least widths of columns allow: what does not fit
    /// into its column goes on in the next line.
    pub(super) fn text_within(&self, width: usize) -> String {
        let (widths, gap) = self.widths_within(width);
        self.text_with(&widths, gap, width)
    }

    /// Whether the columns have room in such lines, and every word in its column.
    pub(super) fn keeps_words_within(&self, width: usize) -> bool {
        let (widths, gap) = self.widths_within(width);
        if self.width_with(&widths, gap) > width {
            return false;
        }
        let fits = |(cell, width): (&String, &usize)| cell.split(' ').all(|word| word.chars().count() <= *width);
        self.rows().all(|(_, cells)| cells.iter().zip(&widths).all(fits))
    }

    /// The widths of columns in lines of at most `width` characters, and the gap between them.
    fn widths_within(&self, width: usize) -> (Vec<usize>, usize) {
        let mut widths = self.widths();
        let gap = if self.width_with(&widths, GAP) <= width { GAP } else { NARROW_GAP };
        let excess = self.width_with(&widths, gap).saturating_sub(width);
        for _ in 0..excess {
            // The widest column has the most to give, and of several the last one, which tells the least.
            match widths.iter_mut().filter(|width| **width > LEAST_WIDTH).max() {
                Some(widest) => *widest -= 1,
                None => break,
            }
        }
        (widths, gap)
    }

    fn text_with(&self, widths: &[usize], gap: usize, line_width: usize) -> String {
        let number_width = self.number_width();
        let mut text = String::new();
        for line in &self.lines {
            match line {
                Line::Remark(remark) => {
                    let room = line_width.saturating_sub(number_width + gap).max(LEAST_WIDTH);
                    let rows = words(remark, room).into_iter().map(|words| format!("{:gap$}{words}", ""));
                    push_rows(&mut text, rows.map(|row| format!("{:number_width$}{row}", "")));
                }
                Line::Cells(number, cells) => {
                    let number = number.map_or(String::new(), |number| number.to_string());
                    let cells: Vec<Vec<String>> =
                        cells.iter().zip(widths).map(|(cell, &width)| words(cell, width)).collect();
                    let height = cells.iter().map(Vec::len).max().unwrap_or(1);
                    push_rows(
                        &mut text,
                        (0..height).map(|row| {
                            let number = if row == 0 { number.as_str() } else { "" };
                            let cell = |cell: &Vec<String>| cell.get(row).cloned().unwrap_or_default();
                            let cells = cells
                                .iter()
                                .zip(widths)
                                .map(|(lines, width)| format!("{:gap$}{:width$}", "", cell(lines)));
                            format!("{number:>number_width$}{}", cells.collect::<String>())
                        }),
                    );
                }
            }
        }
        text
    }

    fn width_with(&self, widths: &[usize], gap: usize) -> usize {
        widths.iter().map(|width| width + gap).sum::<usize>() + self.number_width()
    }

    fn rows(&self) -> impl Iterator<Item = (Option<usize>, &Vec<String>)> {
        self.lines.iter().filter_map(|line| match line {
            Line::Cells(number, cells) => Some((*number, cells)),
            Line::Remark(_) => None,
        })
    }

    fn number_width(&self) -> usize {
        let largest = self.rows().filter_map(|(number, _)| number).max().unwrap_or(0);
        largest.to_string().len().max(NUMBER_WIDTH)
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for (_, cells) in self.rows() {
            widths.resize(widths.len().max(cells.len()), 0);
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        widths
    }
}

fn push_rows(text: &mut String, rows: impl Iterator<Item = String>) {
    for row in rows {
        text.push_str(row.trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(Option<usize>, [&str; 2])], remark: &str) -> Table {
        let cells =
            |(number, cells): &(Option<usize>, [&str; 2])| Line::Cells(*number, cells.map(String::from).to_vec());
        Table { lines: rows.iter().map(cells).chain([Line::Remark(remark.into())]).collect() }
    }

    #[test]
    fn columns_are_aligned_by_characters_and_lines_end_without_spaces() {
        let table = table(&[(None, ["é", "b"]), (Some(12), ["long", ""])], "so");
        assert_eq!(table.text(), "        é       b\n  12    long\n        so\n");
        assert_eq!(table.width(), 4 + 4 + 4 + 4 + 1);
        assert_eq!(table.text_within(17), table.text());
    }

    #[test]
    fn where_there_is_little_room_cells_go_on_below() {
        let table = table(
            &[(Some(1), ["one two three four", "five"]), (Some(2), ["six", "a_long_name=7"])],
            "and so on, and on",
        );
        let narrow = table.text_within(30);
        let expected = [
            "   1  one two      five",
            "      three four",
            "   2  six          a_lon…ame=7",
            "      and so on, and on",
        ];
        assert_eq!(narrow.lines().collect::<Vec<_>>(), expected);
        assert!(table.keeps_words_within(34) && !table.keeps_words_within(33));
        assert!(table.text_within(0).lines().all(|line| line.chars().count() <= 4 + 2 + 10 + 2 + 10));
    }
}
