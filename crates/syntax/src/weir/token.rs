//! The tokens of the language.

use crate::parsing::raw_text::LexError;
use crate::parsing::{Lexical, Spanned, token_kinds};

/// A token of the source.
pub(crate) type Token = Spanned<Kind>;

token_kinds! {
    /// The kind of a token.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) enum Kind {
        Const "const" Shared "shared" Thread "thread" Proc "proc"
        Let "let" If "if" Else "else" While "while" Loop "loop" For "for" Break "break" Continue "continue"
        Goto "goto" Jump "jump" Choose "choose" Or "or" Any "any"
        Assume "assume" Assert "assert" Fence "fence" Membarrier "membarrier" Skip "skip"
        Cas "cas" CmpXchg "cmpxchg" Xchg "xchg"
        FetchAdd "fetch_add" FetchSub "fetch_sub" FetchAnd "fetch_and" FetchOr "fetch_or" FetchXor "fetch_xor"
        Atomic "atomic" Await "await" Lock "lock" Unlock "unlock" Mem "mem" Spawn "spawn" Return "return" Terminate "terminate"
        Forbid "forbid" Exists "exists" Always "always" Live "live" Deadlock "deadlock" Stuck "stuck"
        At "at" Count "count" End "end" Weight "weight" Cost "cost" True "true" False "false"
        OpenBrace "{" CloseBrace "}" OpenParen "(" CloseParen ")" OpenBracket "[" CloseBracket "]"
        Semicolon ";" Comma "," Colon ":" Dot "." DotDot ".." DotDotEqual "..=" AtSign "@"
        Equal "=" PlusEqual "+=" MinusEqual "-=" StarEqual "*=" SlashEqual "/=" PercentEqual "%="
        AmpersandEqual "&=" PipeEqual "|=" CaretEqual "^=" ShiftLeftEqual "<<=" ShiftRightEqual ">>="
        PipePipe "||" AmpersandAmpersand "&&"
        EqualEqual "==" BangEqual "!=" Less "<" LessEqual "<=" Greater ">" GreaterEqual ">="
        Pipe "|" Caret "^" Ampersand "&" ShiftLeft "<<" ShiftRight ">>"
        Plus "+" Minus "-" Star "*" Slash "/" Percent "%" Bang "!" Tilde "~";

        Name => "a name",
        Number => "a number",
        LineComment => "a comment",
        BlockComment => "a comment",
    }
}

impl Lexical for Kind {
    const NAME: Self = Self::Name;
    const NUMBER: Self = Self::Number;

    fn fixed(text: &str) -> Option<Self> {
        Self::with_text(text)
    }

    fn is_blank(character: char) -> bool {
        matches!(character, ' ' | '\t' | '\r' | '\n' | '\x0C' | '\u{FEFF}')
    }

    fn other(rest: &str) -> Option<(Result<Self, LexError>, usize)> {
        if rest.starts_with("//") {
            return Some((Ok(Self::LineComment), rest.find('\n').unwrap_or(rest.len())));
        }
        rest.starts_with("/*").then(|| match end_of_block_comment(rest) {
            Some(end) => (Ok(Self::BlockComment), end),
            None => (Err(LexError::OpenComment), rest.len()),
        })
    }
}

impl Kind {
    /// Whether it begins an item, and can stand nowhere else.
    pub(crate) fn begins_item(self) -> bool {
        use Kind::*;
        matches!(self, Const | Shared | Thread | Proc | Forbid | Exists | Always | Live | Cost)
    }

    /// Whether it is a keyword that can only begin a statement.
    pub(crate) fn begins_statement(self) -> bool {
        use Kind::*;
        matches!(
            self,
            Let | If
                | While
                | Loop
                | For
                | Break
                | Continue
                | Goto
                | Jump
                | Choose
                | Assume
                | Assert
                | Await
                | Fence
                | Membarrier
                | Skip
                | Atomic
                | Lock
                | Unlock
                | Spawn
                | Return
                | Terminate
        )
    }
}

/// Where a block comment ends that begins here, if it does. Block comments nest.
fn end_of_block_comment(text: &str) -> Option<usize> {
    let (mut at, mut open) = (2, 1usize);
    while open > 0 {
        match text.as_bytes().get(at..at + 2)? {
            b"/*" => (at, open) = (at + 2, open + 1),
            b"*/" => (at, open) = (at + 2, open - 1),
            _ => at += 1,
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsing::split;

    #[test]
    fn the_reference_lists_all_keywords() {
        let reference = include_str!("../../../../docs/language.md");
        let listed =
            reference.split("Keywords, which cannot be names:").nth(1).and_then(|rest| rest.split("\n\n").next());
        let listed = listed.expect("the reference has a list of keywords");
        let names: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
        let mut keywords: Vec<&str> =
            TEXTS.iter().copied().filter(|text| text.starts_with(char::is_alphabetic)).collect();
        keywords.sort_unstable();
        assert_eq!(names, keywords);
    }

    fn kinds(text: &str) -> Vec<(Result<Kind, LexError>, &str)> {
        split::<Kind>(text).map(|(kind, range)| (kind, &text[range])).collect()
    }

    #[test]
    fn the_longest_text_counts() {
        let expected = [(Kind::ShiftLeftEqual, "<<="), (Kind::ShiftLeft, "<<"), (Kind::Less, "<"), (Kind::Dot, ".")];
        let expected = expected.map(|(kind, text)| (Ok(kind), text));
        assert_eq!(kinds("<<=<< < ."), expected);
        assert_eq!(kinds("..=")[0], (Ok(Kind::DotDotEqual), "..="));
    }

    #[test]
    fn keywords_are_whole_words() {
        let expected = [(Kind::If, "if"), (Kind::Name, "ifs"), (Kind::Name, "_if"), (Kind::Number, "1if")];
        assert_eq!(kinds("if ifs _if 1if"), expected.map(|(kind, text)| (Ok(kind), text)));
    }

    #[test]
    fn characters_that_begin_no_token_are_errors_of_their_own() {
        let stray = |text| (Err(LexError::Stray), text);
        assert_eq!(kinds("a#é😀\u{FEFF}$"), [(Ok(Kind::Name), "a"), stray("#"), stray("é"), stray("😀"), stray("$")]);
    }

    #[test]
    fn block_comments_nest_and_must_end() {
        assert_eq!(kinds("/*a/**/*/;"), [(Ok(Kind::BlockComment), "/*a/**/*/"), (Ok(Kind::Semicolon), ";")]);
        assert_eq!(kinds("; /* /* */"), [(Ok(Kind::Semicolon), ";"), (Err(LexError::OpenComment), "/* /* */")]);
        assert_eq!(kinds("//x\n;")[0], (Ok(Kind::LineComment), "//x"));
    }
}
