//! Small pieces of text that several messages share.

/// `1 store`, `2 stores`, `3 properties`.
pub(crate) fn count_noun(count: usize, noun: &str) -> String {
    let number = thousands(count);
    match noun.strip_suffix('y') {
        _ if count == 1 => format!("{number} {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {noun}s"),
    }
}

/// A number with its digits in groups of three: `1,234`.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_nouns_agree() {
        assert_eq!(count_noun(0, "store"), "0 stores");
        assert_eq!(count_noun(1, "property"), "1 property");
        assert_eq!(count_noun(2, "property"), "2 properties");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }
}
