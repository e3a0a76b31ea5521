//! Which tokens are separated by a space.

use super::super::token::Kind;
use super::{Piece, clean};

/// The pieces as one line.
pub(super) fn joined(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        if at > 0 && needs_space(&pieces[at - 1], piece) {
            text.push(' ');
        }
        if piece.is_comment() {
            text.push_str(&clean(piece.text));
        } else {
            text.push_str(piece.text);
        }
    }
    text
}

/// Whether the operator can have one operand or two.
pub(super) fn can_be_unary(kind: Kind) -> bool {
    matches!(kind, Kind::Minus | Kind::Star | Kind::Ampersand | Kind::Bang | Kind::Tilde)
}

/// Whether an operand can end with the token, so that an operator after it has two.
pub(super) fn ends_operand(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Name | Kind::Number | Kind::True | Kind::False | Kind::End | Kind::CloseParen | Kind::CloseBracket
    )
}

fn needs_space(left: &Piece, right: &Piece) -> bool {
    if left.is_comment() || right.is_comment() {
        return true;
    }
    if left.is_unary {
        return false;
    }
    match (left.kind, right.kind) {
        (Kind::OpenParen | Kind::OpenBracket | Kind::Dot | Kind::DotDot | Kind::DotDotEqual, _) => false,
        (_, Kind::CloseParen | Kind::CloseBracket | Kind::Semicolon | Kind::Comma | Kind::Colon) => false,
        (_, Kind::Dot | Kind::DotDot | Kind::DotDotEqual) => false,
        (Kind::OpenBrace, Kind::CloseBrace) => true,
        // Only a list of values continues after an opening brace, or has a brace after a value.
        (Kind::OpenBrace, _) => false,
        (_, Kind::CloseBrace) => false,
        (Kind::Name | Kind::Count, Kind::OpenParen) => false,
        (kind, Kind::OpenParen) if is_operation(kind) => false,
        (Kind::Name | Kind::Mem | Kind::CloseParen, Kind::OpenBracket) => false,
        _ => true,
    }
}

/// Whether the keyword is written like a procedure that is called.
fn is_operation(kind: Kind) -> bool {
    use Kind::*;
    matches!(kind, Cas | CmpXchg | Xchg | FetchAdd | FetchSub | FetchAnd | FetchOr | FetchXor)
}
