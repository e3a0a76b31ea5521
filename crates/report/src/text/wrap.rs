//! Lines that fit: what is longer than the terminal is wide is broken between words, never inside one.

use crate::wording::clean::cut;

/// The narrowest room for words beside a margin; where there is less, they go further left.
const LEAST_ROOM: usize = 24;
/// How far the rest of a broken line is indented, relative to its beginning.
const INDENT: usize = 2;

/// The text in lines of at most `width` characters, as far as words allow. What continues a line is indented: below the
/// message of a `help:`, below the text beside a mark, otherwise a little. Colours do not count.
pub fn wrap(text: &str, width: usize) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if visible(line) <= width { format!("{line}{end}") } else { broken(line, width) + end }
    });
    lines.collect()
}

/// The words of a text in lines of at most `width` characters. A word that is longer loses its middle.
pub(super) fn words(text: &str, width: usize) -> Vec<String> {
    if text.chars().count() <= width {
        return vec![text.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = cut(word, width);
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// How many characters of a line are seen.
fn visible(line: &str) -> usize {
    if line.contains('\u{1b}') { super::plain(line).chars().count() } else { line.chars().count() }
}

/// A line that is too long, in several.
fn broken(line: &str, width: usize) -> String {
    let margin = margin(&super::plain(line), width);
    let (mut text, mut used, mut at_start) = (String::new(), 0, true);
    for piece in line.split_inclusive(' ') {
        let length = visible(piece);
        let seen = visible(piece.trim_end_matches(' '));
        // Spaces at the start are the line's own indentation.
        if !at_start && seen > 0 && used + seen > width {
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
            text.push_str(&margin);
            used = margin.chars().count();
        }
        at_start = at_start && seen == 0;
        text.push_str(piece);
        used += length;
    }
    text
}

/// What the rest of a line begins with.
fn margin(line: &str, width: usize) -> String {
    let indented = line.len() - line.trim_start().len();
    let (gutter, rest) = gutter(line);
    let start = match gutter {
        0 => indented + after_title(rest.trim_start()).unwrap_or(INDENT),
        _ => gutter + after_mark(rest).unwrap_or(rest.len() - rest.trim_start().len() + INDENT),
    };
    let start = if start + LEAST_ROOM <= width { start } else { gutter.max(indented.min(width / 4)) + INDENT };
    match gutter {
        0 => " ".repeat(start),
        _ => format!("{:>gutter$}{:rest$}", "| ", "", rest = start - gutter),
    }
}

/// How long the line number and the bar in front of a line of source are, and what follows them.
fn gutter(line: &str) -> (usize, &str) {
    let number = line.trim_start().trim_start_matches(|character: char| character.is_ascii_digit());
    match number.trim_start().strip_prefix("| ") {
        Some(rest) => (line.len() - rest.len(), rest),
        None => (0, line),
    }
}

/// Where the message begins after `help:`, `= help:`, `note:`, `warning[id]:` or `error:`.
fn after_title(line: &str) -> Option<usize> {
    let (title, _) = line.split_once(": ")?;
    let kind = title.trim_start_matches("= ").split('[').next()?;
    let is_title = matches!(kind, "help" | "note");
    is_title.then_some(title.len() + 2)
}

/// Where the text beside a mark (`^^^`, `---`) begins.
fn after_mark(line: &str) -> Option<usize> {
    let mark = line.trim_start_matches([' ', '|']);
    let text = mark.trim_start_matches(['^', '-', '_']);
    (text.len() < mark.len()).then(|| line.len() - text.trim_start().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_fit_stay_as_they_are() {
        let text = "one two\n\n   three    four\n";
        assert_eq!(wrap(text, 16), text);
        assert_eq!(wrap("\u{1b}[31mfour\u{1b}[0m", 4), "\u{1b}[31mfour\u{1b}[0m", "colours do not count");
    }

    #[test]
    fn long_lines_are_broken_between_words_and_indented() {
        assert_eq!(wrap("aaa bbb ccc ddd\n", 9), "aaa bbb\n  ccc ddd\n");
        let help = "help: one two three four five six seven eight nine\n";
        assert_eq!(wrap(help, 30), "help: one two three four five\n      six seven eight nine\n");
        let help = "  = help: one two three four five six seven eight nine";
        assert_eq!(wrap(help, 36), "  = help: one two three four five\n          six seven eight nine");
        let note = "\u{1b}[36mhelp\u{1b}[0m: one two three four five six seven eight nine";
        assert_eq!(wrap(note, 30), "\u{1b}[36mhelp\u{1b}[0m: one two three four five\n      six seven eight nine");
    }

    #[test]
    fn the_bar_beside_source_goes_on() {
        let mark = "12 |     ^^^^^ this store waits in the buffer for ever";
        assert_eq!(wrap(mark, 40), "12 |     ^^^^^ this store waits in the\n   |           buffer for ever");
        let source = "12 |     while one == two && three == four { }";
        assert_eq!(wrap(source, 40), "12 |     while one == two && three ==\n   |       four { }");
        let far = format!("   | {}^ too far to the right", " ".repeat(30));
        assert_eq!(wrap(&far, 45), format!("   | {}^ too far\n   |   to the right", " ".repeat(30)));
    }

    #[test]
    fn no_word_is_broken_and_none_is_lost() {
        let text =
            "help: a few words, `some code(1, 2)`, and a_word_that_is_longer_than_any_line_could_be, then more\n";
        for width in 1..120 {
            let wrapped = wrap(text, width);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&wrapped), words(text), "{width}");
            for line in wrapped.lines() {
                let is_one_word = line.trim().split(' ').count() == 1;
                assert!(line.chars().count() <= width || is_one_word, "{width}: {line}");
            }
        }
    }

    #[test]
    fn the_words_of_a_cell_fit_into_its_column() {
        assert_eq!(words("[x=1 y=2]", 9), ["[x=1 y=2]"]);
        assert_eq!(words("[x=1 y=2]", 8), ["[x=1", "y=2]"]);
        assert_eq!(words("a_rather_long_name=7 b", 11), ["a_rat…ame=7", "b"]);
        assert_eq!(words("", 0), [""]);
    }
}
