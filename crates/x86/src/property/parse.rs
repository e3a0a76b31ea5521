//! Conditions, by precedence climbing.

use weir_ir::Expr;

use super::{Name, OPERATORS, PREFIXES};
use crate::call::number;
use crate::refusal::Refusal;

/// A condition over names.
pub(super) type Tree = Expr<Name>;

/// Conditions are nested no deeper than this.
const DEEPEST: u32 = 60;

/// Reads a condition.
pub(super) fn condition(text: &str) -> Result<Tree, Refusal> {
    let mut parser = Parser { text, rest: text };
    let tree = parser.binary(0, DEEPEST)?;
    parser.skip_space();
    if parser.rest.is_empty() { Ok(tree) } else { Err(parser.unexpected()) }
}

struct Parser<'t> {
    text: &'t str,
    rest: &'t str,
}

impl<'t> Parser<'t> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn unexpected(&self) -> Refusal {
        let near: String = self.rest.chars().take(12).collect();
        let message = if near.is_empty() {
            format!("the condition `{}` ends too early", self.text)
        } else {
            format!("the condition `{}` cannot be read from `{near}` on", self.text)
        };
        Refusal::new("malformed-property", message).help(
            "conditions are as in C, over variables (`q.head`), results (`consumer.result`) and lines \
                   (`producer at queue.c:41`)",
        )
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        let taken = self.rest.strip_prefix(token);
        self.rest = taken.unwrap_or(self.rest);
        taken.is_some()
    }

    fn binary(&mut self, least: u8, depth: u32) -> Result<Tree, Refusal> {
        let depth = depth.checked_sub(1).ok_or_else(|| self.unexpected())?;
        let mut left = self.unary(depth)?;
        let mut length = 0;
        loop {
            self.skip_space();
            let found = OPERATORS.iter().find(|(token, _)| self.rest.starts_with(token));
            let Some(&(token, op)) = found.filter(|(_, op)| op.precedence() > least) else { return Ok(left) };
            self.take(token);
            let right = self.binary(op.precedence(), depth)?;
            left = Expr::binary(op, left, right);
            length += 1;
            if length > DEEPEST {
                return Err(self.unexpected());
            }
        }
    }

    fn unary(&mut self, depth: u32) -> Result<Tree, Refusal> {
        let depth = depth.checked_sub(1).ok_or_else(|| self.unexpected())?;
        self.skip_space();
        if self.take("(") {
            let inner = self.binary(0, depth)?;
            return if self.take(")") { Ok(inner) } else { Err(self.unexpected()) };
        }
        for (prefix, op) in PREFIXES {
            if self.rest.starts_with(prefix) {
                self.rest = &self.rest[1..];
                return Ok(Expr::unary(op, self.unary(depth)?));
            }
        }
        self.leaf()
    }

    fn word(&mut self) -> &'t str {
        self.skip_space();
        let is_part = |c: char| c.is_alphanumeric() || "_.#:[]$".contains(c);
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn leaf(&mut self) -> Result<Tree, Refusal> {
        let before = self.rest;
        let word = self.word();
        if word.is_empty() {
            return Err(self.unexpected());
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            self.rest = if number(word).is_none() { before } else { self.rest };
            return number(word).map(Expr::Const).ok_or_else(|| self.unexpected());
        }
        let after = self.rest;
        if self.word() == "at" {
            self.skip_space();
            let end = self.rest.find(char::is_whitespace).unwrap_or(self.rest.len());
            let (place, rest) = self.rest.split_at(end);
            let place = place.trim_end_matches(')');
            let parsed = place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
            let (file, line) = parsed.ok_or_else(|| self.unexpected())?;
            self.rest = &self.rest[place.len()..];
            debug_assert!(self.rest.ends_with(rest));
            return Ok(Expr::Leaf(Name::At(word.to_owned(), file.to_owned(), line)));
        }
        self.rest = after;
        Ok(Expr::Leaf(Name::Path(word.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<i64> {
        let tree = condition(text).ok()?;
        Some(tree.eval(&mut |name| match name {
            Name::Path(path) => path.len() as i64,
            Name::At(_, file, line) => file.len() as i64 * 100 + i64::from(*line),
        }))
    }

    #[test]
    fn conditions_bind_as_in_the_native_language() {
        assert_eq!(value("1 + 2 * 3"), Some(7));
        assert_eq!(value("(1 + 2) * 3 - -1"), Some(10));
        assert_eq!(value("a.b == 3 && ring[3] == 7"), Some(1));
        assert_eq!(value("1 | 2 == 3"), Some(1));
        assert_eq!(value("P at queue.c:41 + 1"), Some(742));
        assert_eq!(value("(P at q.c:5) == 305 && !0"), Some(1));
        assert_eq!(value("0xff - 1 - 1"), Some(253));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for text in ["", "1 +", "(1", "1)", "P at", "P at q.c", "1 2", "4x", &"(".repeat(10_000), &"-".repeat(10_000)] {
            assert_eq!(value(text), None, "{text}");
        }
        let long = vec!["1"; 1000].join("+");
        assert_eq!(value(&long), None);
    }
}
