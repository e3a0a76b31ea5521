//! Text in columns.

/// Between two columns.
const GAP: usize = 4;
/// The least width of the column of step numbers.
const NUMBER_WIDTH: usize = 4;

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
    /// The width of the longest line.
    pub(super) fn width(&self) -> usize {
        self.widths().iter().map(|width| width + GAP).sum::<usize>() + self.number_width()
    }

    /// The lines as text, without spaces at their ends.
    pub(super) fn text(&self) -> String {
        let (widths, number_width) = (self.widths(), self.number_width());
        let mut text = String::new();
        for line in &self.lines {
            let row = match line {
                Line::Remark(remark) => format!("{:number_width$}{:GAP$}{remark}", "", ""),
                Line::Cells(number, cells) => {
                    let number = number.map_or(String::new(), |number| number.to_string());
                    let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{:GAP$}{cell:width$}", ""));
                    format!("{number:>number_width$}{}", cells.collect::<String>())
                }
            };
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_characters_and_lines_end_without_spaces() {
        let cells = |number, cells: [&str; 2]| Line::Cells(number, cells.map(String::from).to_vec());
        let lines = vec![cells(None, ["é", "b"]), cells(Some(12), ["long", ""]), Line::Remark("so".into())];
        let table = Table { lines };
        assert_eq!(table.text(), "        é       b\n  12    long\n        so\n");
        assert_eq!(table.width(), 4 + 4 + 4 + 4 + 1);
    }
}
