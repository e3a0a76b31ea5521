//! Names of functions and variables as people write them.

use std::fmt;

use cpp_demangle::{BorrowedSymbol, DemangleOptions, DemangleWrite, ParseOptions};

/// Longer names stay as they are, before and after: a short one can stand for a very long one.
const LONGEST: usize = 2048;

/// A name as the source has it: Rust's without its hash, C++'s with the types of parameters.
pub(crate) fn demangled(raw: &str) -> String {
    match rustc_demangle::try_demangle(raw) {
        Ok(name) => format!("{name:#}"),
        Err(_) => cpp(raw).unwrap_or_else(|| raw.to_owned()),
    }
}

fn cpp(raw: &str) -> Option<String> {
    if !raw.starts_with("_Z") || raw.len() > LONGEST {
        return None;
    }
    let options = ParseOptions::default().recursion_limit(64);
    let (symbol, rest) = BorrowedSymbol::with_tail_and_options(raw.as_bytes(), &options).ok()?;
    let mut bounded = Bounded(String::new());
    let options = DemangleOptions::new().no_return_type().recursion_limit(64);
    symbol.structured_demangle(&mut bounded, &options).ok()?;
    // What follows names a part of the function: `.cold`.
    Some(bounded.0 + std::str::from_utf8(rest).ok()?)
}

/// Text that cannot grow without end.
struct Bounded(String);

impl DemangleWrite for Bounded {
    fn write_string(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0 += text;
        Ok(())
    }
}

/// A function's name without the types of its parameters: `ns::f` for `ns::f(int)`.
pub(crate) fn without_parameters(name: &str) -> &str {
    let whole = name.strip_suffix(" const").unwrap_or(name);
    match opening(whole) {
        Some(at) if at > 0 => &whole[..at],
        _ => name,
    }
}

/// Where the parenthesis opens that closes at the end.
pub(crate) fn opening(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.ends_with(')').then_some(())?;
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        for (raw, name, short) in [
            ("_ZN2ns1fEi", "ns::f(int)", "ns::f"),
            ("_ZN2ns1QclEPFvvE", "ns::Q::operator()(void (*)())", "ns::Q::operator()"),
            ("_ZNK2ns1Q3topEv", "ns::Q::top() const", "ns::Q::top"),
            ("_Z2tfIiET_S0_", "tf<int>(int)", "tf<int>"),
            ("_ZN2ns1fEi.cold", "ns::f(int) [clone .cold]", "ns::f(int) [clone .cold]"),
            ("_ZN2ns1xE", "ns::x", "ns::x"),
            ("_Znwm", "operator new(unsigned long)", "operator new"),
            ("main", "main", "main"),
            ("_Zzz", "_Zzz", "_Zzz"),
        ] {
            let found = demangled(raw);
            assert_eq!((found.as_str(), without_parameters(&found)), (name, short));
        }
    }

    /// Each type takes the one before it twice.
    #[test]
    fn a_name_that_would_be_huge_stays_as_it_is() {
        let nested = |depth: u32| {
            let before = |at: u32| format!("S{}_", char::from_digit(at, 36).expect("a digit").to_ascii_uppercase());
            let types = (0..depth).map(|at| format!("S_I{}{}E", before(at), before(at)));
            "_Z1f1aIiE".to_owned() + &types.collect::<String>()
        };
        assert!(demangled(&nested(3)).starts_with("f(a<int>, a<a<int>, a<int>"));
        assert_eq!(demangled(&nested(20)), nested(20));
    }
}
