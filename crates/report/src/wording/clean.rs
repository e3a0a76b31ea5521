//! Text that came from outside, made fit for a terminal: of bounded length, without control characters.

use std::path::Path;

/// Longest text of one message, in characters.
const MESSAGE_LIMIT: usize = 400;

/// The name of a file as messages show it; `-` is standard input.
pub fn display_name(path: &Path) -> String {
    if path.as_os_str() == "-" { "<stdin>".to_owned() } else { clean(&path.display().to_string()) }
}

/// The text on one line: control characters spelled out, and a long text cut in the middle.
pub fn clean(text: &str) -> String {
    let clipped = clip(text, MESSAGE_LIMIT);
    let mut clean = String::with_capacity(clipped.len());
    for character in clipped.chars() {
        if character.is_control() || is_bidi_control(character) {
            clean.extend(character.escape_default());
        } else {
            clean.push(character);
        }
    }
    clean
}

/// The text, cut in the middle if it is longer than `limit` characters.
pub fn clip(text: &str, limit: usize) -> String {
    // Bytes are at least as many as characters: the common case needs no counting.
    if text.len() <= limit || text.chars().count() <= limit {
        return text.to_owned();
    }
    let half = limit / 2;
    let head: String = text.chars().take(half).collect();
    let tail: Vec<char> = text.chars().rev().take(half).collect();
    head + " … " + &tail.into_iter().rev().collect::<String>()
}

/// The text, cut to `width` characters; where something is cut off there is a `…`.
pub fn shorten(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// The text, cut to `width` characters in its middle, where there is a `…` then: the end of `name=1` tells most.
pub fn cut(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let tail = width.saturating_sub(1) / 2;
    let head = width.saturating_sub(1) - tail;
    text.chars().take(head).chain(['…']).chain(text.chars().skip(length - tail)).collect()
}

/// Characters that make a terminal show text in another order than it has.
fn is_bidi_control(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(clean("a\u{1b}[31mb\n\u{202e}é"), "a\\u{1b}[31mb\\n\\u{202e}é");
    }

    #[test]
    fn long_text_is_cut_in_the_middle() {
        let text = "é".repeat(500) + "end";
        let short = clean(&text);
        assert!(short.starts_with("éé") && short.ends_with("end") && short.contains(" … "));
        assert!(short.chars().count() <= MESSAGE_LIMIT + 3);
        assert_eq!(clip("abcdef", 6), "abcdef");
    }

    #[test]
    fn shortened_text_says_so() {
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("abcd", 3), "ab…");
        assert_eq!(shorten("abcd", 0), "…");
        assert_eq!(cut("abcdefg=1", 9), "abcdefg=1");
        assert_eq!(cut("abcdefg=1", 6), "abc…=1");
        assert_eq!(cut("abcd", 0), "…");
    }
}
