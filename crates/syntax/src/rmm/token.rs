//! The tokens of the language.

use logos::Logos;
use weir_ir::Span;

use crate::parsing::raw_text::LexError;
use crate::parsing::{self, token_kinds};

token_kinds! {
    /// The kind of a token.
    #[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
    #[logos(error = LexError)]
    #[logos(skip r"[ \t\r\n\x0B\x0C\u{FEFF}]+")]
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

        #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
        Name => "a name",
        #[regex(r"\$[A-Za-z0-9_]+")]
        Register => "a register",
        // Digits with letters after them are one token, so that `12ab` is one bad number.
        #[regex(r"[0-9][A-Za-z0-9_]*")]
        Number => "a number",
        #[token("/*", skip_comment)]
        Comment => "a comment",
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

/// Moves past a comment whose `/*` was just read. Comments do not nest.
fn skip_comment(lexer: &mut logos::Lexer<Kind>) -> Result<(), LexError> {
    let rest = lexer.remainder();
    let end = rest.find("*/");
    lexer.bump(end.map_or(rest.len(), |end| end + 2));
    if end.is_some() { Ok(()) } else { Err(LexError::OpenComment) }
}
