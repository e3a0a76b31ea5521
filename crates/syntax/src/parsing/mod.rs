//! What the front ends of all languages share: a text before it is split into tokens (`raw_text`), its tokens (`tokens`) and what they are (`token`), a
//! position in a list of tokens (`cursor`), and recursive descent over it (`descent`).

mod cursor;
mod descent;
pub(crate) mod raw_text;
mod token;
mod tokens;

pub(crate) use cursor::Cursor;
pub(crate) use descent::{Descent, Failed, Parse, too_deep, unexpected};
pub(crate) use token::{Index, Spanned, Token, TokenKind, found, name_too_long, shown, token_kinds};
pub(crate) use tokens::{Lexical, is_in_word, split};
