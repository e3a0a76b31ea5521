//! The tokens of the language.

use weir_ir::Span;

use crate::parsing::raw_text::LexError;
use crate::parsing::{self, Lexical, is_in_word, token_kinds};

token_kinds! {
    /// The kind of a token.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) enum Kind {
        If "if" Then "then" Else "else" While "while" Do "do" Goto "goto"
        Read "read" Write "write" SyncWrite "syncwr" SyncRead "syncrd" Cas "cas"
        Fence "fence" StoreFence "ssfence" LoadFence "llfence" Locked "locked" StoreLocked "slocked"
        True "true" False "false" My "my" Me "me" Other "other" Not "not" Nop "nop"
        Process "process" Text "text" Data "data"
        Either "either" Or "or" Forbidden "forbidden" Assume "assume" Predicates "predicates" Registers "registers"
        Macro "macro" EndMacro "endmacro"
        Equal "=" OpenParen "(" CloseParen ")" Comma "," Minus "-" Star "*" Semicolon ";" Colon ":" Assign ":="
        OpenBrace "{" CloseBrace "}" OrOr "||" AndAnd "&&" NotEqual "!=" Less "<" Greater ">" LessEqual "<="
        GreaterEqual ">=" Plus "+" OpenBracket "[" CloseBracket "]" AtSign "@";

        Name => "a name",
        Register => "a register",
        Number => "a number",
        Comment => "a comment",
    }
}

impl Lexical for Kind {
    const NAME: Self = Self::Name;
    const NUMBER: Self = Self::Number;

    fn fixed(text: &str) -> Option<Self> {
        Self::with_text(text)
    }

    fn is_blank(character: char) -> bool {
        matches!(character, ' ' | '\t' | '\r' | '\n' | '\x0B' | '\x0C' | '\u{FEFF}')
    }

    /// Comments do not nest.
    fn other(rest: &str) -> Option<(Result<Self, LexError>, usize)> {
        if let Some(comment) = rest.strip_prefix("/*") {
            return Some(match comment.find("*/") {
                Some(end) => (Ok(Self::Comment), end + 4),
                None => (Err(LexError::OpenComment), rest.len()),
            });
        }
        let name = rest.strip_prefix('$')?;
        let length = name.find(|character| !is_in_word(character)).unwrap_or(name.len());
        (length > 0).then_some((Ok(Self::Register), length + 1))
    }
}

/// A token, as it is written or as a macro produced it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind,
    pub(super) text: &'s str,
    pub(super) span: Span,
    /// The text it stands in: 0 is the file, others are calls of macros.
    pub(super) frame: u32,
}

impl parsing::Token for Token<'_> {
    type Kind = Kind;

    fn kind(self) -> Kind {
        self.kind
    }

    fn span(self) -> Span {
        self.span
    }
}
