//! The words of the language.

use logos::Logos;
use weir_ir::Span;

use crate::descent::Word;
use crate::raw_text::LexError;

/// Declares the kinds of words: those with a fixed text once, with their text.
macro_rules! kinds {
    ($($name:ident $text:tt)*) => {
        /// The kind of a word.
        #[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
        #[logos(error = LexError)]
        #[logos(skip r"[ \t\r\n\x0B\x0C\u{FEFF}]+")]
        pub(super) enum Kind {
            $(#[token($text)] $name,)*
            #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
            Name,
            #[regex(r"\$[A-Za-z0-9_]+")]
            Register,
            // Digits with letters after them are one word, so that `12ab` is one bad number.
            #[regex(r"[0-9][A-Za-z0-9_]*")]
            Number,
            #[token("/*", skip_comment)]
            Comment,
            /// Behind the last word.
            Eof,
        }

        impl Kind {
            /// The text, for kinds that have just one.
            pub(super) fn text(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some($text),)*
                    Self::Name | Self::Register | Self::Number | Self::Comment | Self::Eof => None,
                }
            }
        }
    };
}

kinds! {
    If "if" Then "then" Else "else" While "while" Do "do" Read "read" Write "write" SyncWrite "syncwr" SyncRead "syncrd"
    Fence "fence" StoreFence "ssfence" LoadFence "llfence" Locked "locked" StoreLocked "slocked" Cas "cas" Goto "goto"
    True "true" False "false" My "my" Me "me" Other "other" Process "process" Not "not" Nop "nop" Text "text" Data "data"
    Either "either" Or "or" Forbidden "forbidden" Assume "assume" Predicates "predicates" Registers "registers"
    Macro "macro" EndMacro "endmacro"
    Equal "=" OpenParen "(" CloseParen ")" Comma "," Minus "-" Star "*" Semicolon ";" Colon ":" Assign ":="
    OpenBrace "{" CloseBrace "}" OrOr "||" AndAnd "&&" NotEqual "!=" Less "<" Greater ">" LessEqual "<="
    GreaterEqual ">=" Plus "+" OpenBracket "[" CloseBracket "]" AtSign "@"
}

impl Kind {
    /// How messages speak of it.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Name => "a name".into(),
            Self::Register => "a register".into(),
            Self::Number => "a number".into(),
            Self::Comment => "a comment".into(),
            Self::Eof => "the end of the file".into(),
            word => format!("`{}`", word.text().unwrap_or_default()),
        }
    }
}

/// A word, as it is written or as a macro gave it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind,
    pub(super) text: &'s str,
    pub(super) span: Span,
    /// The text it stands in: 0 is the file, others are calls of macros.
    pub(super) frame: u32,
}

impl Word for Token<'_> {
    type Kind = Kind;

    fn kind(self) -> Kind {
        self.kind
    }

    fn span(self) -> Span {
        self.span
    }

    fn describe(kind: Kind) -> String {
        kind.describe()
    }
}

/// Moves past a comment whose `/*` was just read. Comments do not nest.
fn skip_comment(lexer: &mut logos::Lexer<Kind>) -> Result<(), LexError> {
    let rest = lexer.remainder();
    let end = rest.find("*/");
    lexer.bump(end.map_or(rest.len(), |end| end + 2));
    if end.is_some() { Ok(()) } else { Err(LexError::OpenComment) }
}
