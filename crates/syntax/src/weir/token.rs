//! The tokens of the language.

use logos::Logos;

use crate::parsing::raw_text::LexError;
use crate::parsing::{Spanned, token_kinds};

/// A token of the source.
pub(crate) type Token = Spanned<Kind>;

token_kinds! {
    /// The kind of a token.
    #[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
    #[logos(error = LexError)]
    #[logos(skip r"[ \t\r\n\x0C\u{FEFF}]+")]
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

        #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
        Name => "a name",
        // Digits with letters after them are one token, so that `12ab` is one bad number.
        #[regex(r"[0-9][A-Za-z0-9_]*")]
        Number => "a number",
        #[regex(r"//[^\n]*", allow_greedy = true)]
        LineComment => "a comment",
        #[token("/*", skip_block_comment)]
        BlockComment => "a comment",
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

/// Moves past a block comment whose `/*` was just read. Block comments nest.
fn skip_block_comment(lexer: &mut logos::Lexer<Kind>) -> Result<(), LexError> {
    let rest = lexer.remainder().as_bytes();
    let (mut at, mut open) = (0, 1usize);
    while open > 0 {
        match rest.get(at..at + 2) {
            Some(b"/*") => (at, open) = (at + 2, open + 1),
            Some(b"*/") => (at, open) = (at + 2, open - 1),
            Some(_) => at += 1,
            None => {
                lexer.bump(rest.len());
                return Err(LexError::OpenComment);
            }
        }
    }
    lexer.bump(at);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
