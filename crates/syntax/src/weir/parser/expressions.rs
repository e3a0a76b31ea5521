//! Expressions: precedence climbing over [`BinaryOp::precedence`].

use weir_ir::{BinaryOp, BinaryRmw, Diagnostic, Span, UnaryOp, Value};

use super::super::ast::{Expr, ExprKind, PlaceExpr, RmwForm, ThreadRef};
use super::super::limits::MAX_NESTING;
use super::super::token::{Kind, Token};
use super::items::not_in_conditions;
use super::statements::is_place;
use super::{Descent, Failed, Parse, Parser, too_deep};

/// Binds tighter than comparisons, so that `any 0..N - 1 == 2` compares.
const BOUND_PRECEDENCE: u8 = 4;
const COMPARISON_PRECEDENCE: u8 = 3;

impl<'s> Parser<'s, '_> {
    pub(super) fn expression(&mut self) -> Parse<Expr<'s>> {
        self.binary(1)
    }

    /// An expression whose value is a truth value: `=` in it is a mistake for `==`.
    pub(super) fn condition(&mut self) -> Parse<Expr<'s>> {
        let condition = self.expression()?;
        if self.peek() != Kind::Equal {
            return Ok(condition);
        }
        let error =
            Diagnostic::error("assignment-in-condition", "`=` is assignment, not comparison", self.token().span);
        self.error(error.help("write `==`"));
        self.bump();
        self.expression()
    }

    /// One end of a range, an address or a weight.
    pub(super) fn bound(&mut self) -> Parse<Expr<'s>> {
        self.binary(BOUND_PRECEDENCE)
    }

    fn binary(&mut self, least: u8) -> Parse<Expr<'s>> {
        self.nested(|parser| {
            let mut left = parser.unary()?;
            while let Some(op) = binary_operator(parser.peek()).filter(|op| op.precedence() >= least) {
                parser.bump();
                let right = parser.binary(op.precedence() + 1)?;
                parser.refuse_chain(op, &left, &right);
                left = parser.joined(op, left, right)?;
            }
            Ok(left)
        })
    }

    /// `a < b < c` would compare 0 or 1 with `c`, which nobody means.
    fn refuse_chain(&mut self, op: BinaryOp, left: &Expr<'s>, right: &Expr<'s>) {
        let next = binary_operator(self.peek()).filter(|next| next.precedence() == COMPARISON_PRECEDENCE);
        let (COMPARISON_PRECEDENCE, Some(next)) = (op.precedence(), next) else { return };
        let shown = |span: Span| Some(self.slice(span)).filter(|text| text.len() <= 40).unwrap_or("…");
        let (left, middle) = (shown(left.span), shown(right.span));
        let help = format!("write `{left} {} {middle} && {middle} {} …`", op.symbol(), next.symbol());
        let error = Diagnostic::error("chained-comparison", "comparisons do not chain", self.token().span);
        self.error(error.help(help));
    }

    fn joined(&mut self, op: BinaryOp, left: Expr<'s>, right: Expr<'s>) -> Parse<Expr<'s>> {
        let (span, depth) = (left.span.to(right.span), 1 + left.depth.max(right.depth));
        if depth as usize > MAX_NESTING {
            let error = if left.depth > right.depth { too_long(right.span) } else { too_deep(right.span) };
            return Err(self.give_up(error));
        }
        Ok(Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span, depth })
    }

    fn unary(&mut self) -> Parse<Expr<'s>> {
        self.count_one()?;
        let op = match self.peek() {
            Kind::Minus if self.peek_ahead(1) == Kind::Number => return self.negative_number(),
            Kind::Minus => UnaryOp::Negate,
            Kind::Bang => UnaryOp::Not,
            Kind::Tilde => UnaryOp::Complement,
            Kind::Star => return self.nested(Self::dereference),
            Kind::Ampersand => return self.address_of(),
            _ => return self.primary(),
        };
        let first = self.bump().span;
        let operand = self.nested(Self::unary)?;
        Ok(wrapped(first.to(operand.span), operand, |operand| ExprKind::Unary(op, operand)))
    }

    fn dereference(&mut self) -> Parse<Expr<'s>> {
        let first = self.bump().span;
        let operand = self.unary()?;
        Ok(wrapped(first.to(operand.span), operand, ExprKind::Memory))
    }

    fn address_of(&mut self) -> Parse<Expr<'s>> {
        let first = self.bump().span;
        if self.peek() != Kind::Name {
            let error = self.unexpected("the name of a shared cell").help("`&x` and `&flag[e]` are addresses");
            return Err(self.error(error));
        }
        let name = self.name("the name of a shared cell")?;
        let index = if self.peek() == Kind::OpenBracket { Some(Box::new(self.bracketed()?)) } else { None };
        let depth = 1 + index.as_ref().map_or(0, |index| index.depth);
        Ok(Expr { kind: ExprKind::AddressOf(name, index), span: self.span_from(first), depth })
    }

    fn primary(&mut self) -> Parse<Expr<'s>> {
        let token = self.token();
        match token.kind {
            Kind::Number => {
                self.bump();
                Ok(leaf(self.number(token, false), token.span))
            }
            Kind::True | Kind::False => {
                self.bump();
                Ok(leaf(ExprKind::Number(Value::from(token.kind == Kind::True)), token.span))
            }
            Kind::Name => self.named(),
            Kind::OpenParen => {
                self.bump();
                let inner = self.expression()?;
                self.close(Kind::CloseParen, token)?;
                Ok(Expr { span: self.span_from(token.span), ..inner })
            }
            Kind::Mem => {
                self.bump();
                if self.peek() != Kind::OpenBracket {
                    let error = self.unexpected("`[`").help("`mem[e]` is the cell at address `e`");
                    return Err(self.error(error));
                }
                let address = self.bracketed()?;
                Ok(wrapped(self.span_from(token.span), address, ExprKind::Memory))
            }
            Kind::Any => {
                self.bump();
                let range = self.range()?;
                let depth = 1 + range.low.depth.max(range.high.depth);
                Ok(Expr { kind: ExprKind::Any(range), span: self.span_from(token.span), depth })
            }
            Kind::Count => self.count(),
            kind => match rmw_form(kind) {
                Some(form) => self.read_modify_write(form),
                None => Err(self.no_expression()),
            },
        }
    }

    fn no_expression(&mut self) -> Failed {
        let mut error = self.unexpected("an expression");
        let is_doubled = self
            .cursor
            .behind(1)
            .zip(self.cursor.behind(2))
            .is_some_and(|(last, first)| (last.kind, first.kind) == (Kind::Minus, Kind::Minus));
        error = match self.peek() {
            Kind::Plus if self.previous().kind == Kind::Plus => error.help("there is no `++`: write `r += 1`"),
            _ if is_doubled => error.help("there is no `--`: write `r -= 1`"),
            Kind::Deadlock => error.help(not_in_conditions("deadlock")),
            Kind::Stuck => error.help(not_in_conditions("stuck")),
            kind if kind.is_keyword() => error.label("reserved keyword"),
            _ => error,
        };
        self.error(error)
    }

    /// What begins with a name: a register, cell, call, place or register of a thread.
    fn named(&mut self) -> Parse<Expr<'s>> {
        let name = self.name("a name")?;
        if self.peek() == Kind::OpenParen {
            let open = self.bump();
            let arguments = self.separated(Kind::CloseParen, Self::expression)?;
            self.close(Kind::CloseParen, open)?;
            let depth = 1 + deepest(&arguments);
            return Ok(Expr { kind: ExprKind::Call(name, arguments), span: self.span_from(name.span), depth });
        }
        let index = if self.peek() == Kind::OpenBracket { Some(self.bracketed()?) } else { None };
        let span = self.span_from(name.span);
        match self.peek() {
            Kind::At | Kind::Dot => self.observation(ThreadRef { name, index, span }),
            _ => Ok(match index {
                Some(index) => wrapped(span, index, |index| ExprKind::Index(name, index)),
                None => leaf(ExprKind::Name(name), span),
            }),
        }
    }

    /// `T at label` or `T.r`, after the `T`.
    fn observation(&mut self, thread: ThreadRef<'s>) -> Parse<Expr<'s>> {
        let first = thread.span;
        let depth = 1 + thread.index.as_ref().map_or(0, |index| index.depth);
        let kind = if self.bump().kind == Kind::Dot {
            let register = self.name("a register name")?;
            if self.peek() == Kind::OpenParen {
                let help = "docs/from-code.md says how to write the atomic operations of C, C++ and Rust";
                let error = Diagnostic::error("no-methods", "cells have no methods", register.span).help(help);
                return Err(self.error(error));
            }
            ExprKind::Register(Box::new(thread), register)
        } else {
            let at_end = self.eat(Kind::End);
            let label = if at_end { None } else { Some(self.label_reference("a label or `end`")?) };
            ExprKind::At(Box::new(PlaceExpr { thread, label }))
        };
        Ok(Expr { kind, span: self.span_from(first), depth })
    }

    /// `count(T at label)`
    fn count(&mut self) -> Parse<Expr<'s>> {
        let first = self.bump().span;
        let open = self.expect(Kind::OpenParen)?;
        let counted = self.expression()?;
        self.close(Kind::CloseParen, open)?;
        let (span, depth) = (self.span_from(first), 1 + counted.depth);
        match counted.kind {
            ExprKind::At(place) => Ok(Expr { kind: ExprKind::Count(place), span, depth }),
            _ => {
                let error = Diagnostic::error("bad-count", "`count` takes a place", counted.span);
                Err(self.error(error.help("`count(T at label)` is the number of instances of `T` at that label")))
            }
        }
    }

    fn read_modify_write(&mut self, form: RmwForm) -> Parse<Expr<'s>> {
        let first = self.bump().span;
        if self.peek() != Kind::OpenParen {
            let error = self.unexpected("`(`").help(format!("it is written `{}`", form.shape()));
            return Err(self.error(error));
        }
        let open = self.bump();
        let mut operands = self.separated(Kind::CloseParen, Self::expression)?;
        self.close(Kind::CloseParen, open)?;
        let span = self.span_from(first);
        if operands.len() != form.operands() + 1 {
            let message =
                format!("`{}` takes {} operands, not {}", form.keyword(), form.operands() + 1, operands.len());
            return Err(self.report_at("wrong-arity", message, span, format!("it is written `{}`", form.shape())));
        }
        let depth = 1 + deepest(&operands);
        let cell = Box::new(operands.remove(0));
        if !is_place(&cell) {
            let message = format!("`{}` needs a cell here", form.keyword());
            return Err(self.report_at("not-a-cell", message, cell.span, "a cell is `x`, `flag[e]`, `mem[e]` or `*e`"));
        }
        Ok(Expr { kind: ExprKind::ReadModifyWrite(form, cell, operands), span, depth })
    }

    fn report_at(&mut self, code: &'static str, message: String, span: Span, help: impl Into<String>) -> Failed {
        self.error(Diagnostic::error(code, message, span).help(help))
    }

    fn negative_number(&mut self) -> Parse<Expr<'s>> {
        let first = self.bump().span;
        let token = self.bump();
        Ok(leaf(self.number(token, true), first.to(token.span)))
    }

    /// A number, or an error if it has no value.
    fn number(&mut self, token: Token, negative: bool) -> ExprKind<'s> {
        let text = self.slice(token.span);
        let magnitude = magnitude(text);
        let limit = Value::MAX as u64 + u64::from(negative);
        match magnitude {
            Some(magnitude) if magnitude <= limit => {
                let value = magnitude as Value;
                ExprKind::Number(if negative { value.wrapping_neg() } else { value })
            }
            Some(_) => self.malformed_number(
                Diagnostic::error("number-too-large", format!("`{text}` does not fit in 64 bits"), token.span)
                    .help("values range from -9223372036854775808 to 9223372036854775807"),
            ),
            None => self.malformed_number(
                Diagnostic::error("bad-number", format!("`{text}` is not a number"), token.span)
                    .help("write numbers as in `42`, `0x2a` or `0b101010`; digits can be separated by `_`"),
            ),
        }
    }

    fn malformed_number(&mut self, error: Diagnostic) -> ExprKind<'s> {
        // The parser went past the number and did not fail: report it whatever else is wrong here.
        self.sink.error(error);
        ExprKind::Malformed
    }
}

/// All that works on an expression recurses as deep as it is, and each operand in a row is one level.
fn too_long(span: Span) -> Diagnostic {
    let message = format!("this expression has more than {MAX_NESTING} operands in a row");
    Diagnostic::error("too-deep", message, span)
        .label("the limit was reached here")
        .help("split it: compute `let part = …;` first and continue with `part`, or group operands with parentheses")
}

/// The value of a number as written, at most `u64::MAX`; `None` if it is malformed.
fn magnitude(text: &str) -> Option<u64> {
    let (digits, radix) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0b" | "0B") => (&text[2..], 2),
        _ => (text, 10),
    };
    let well_formed = !digits.is_empty() && !digits.starts_with('_') && !digits.ends_with('_');
    let mut value: u64 = 0;
    for digit in digits.chars().filter(|&digit| digit != '_') {
        let digit = u64::from(digit.to_digit(radix)?);
        value = value.saturating_mul(u64::from(radix)).saturating_add(digit);
    }
    well_formed.then_some(value)
}

fn leaf<'s>(kind: ExprKind<'s>, span: Span) -> Expr<'s> {
    Expr { kind, span, depth: 1 }
}

fn wrapped<'s>(span: Span, operand: Expr<'s>, kind: impl FnOnce(Box<Expr<'s>>) -> ExprKind<'s>) -> Expr<'s> {
    let depth = 1 + operand.depth;
    Expr { kind: kind(Box::new(operand)), span, depth }
}

fn deepest(expressions: &[Expr]) -> u32 {
    expressions.iter().map(|expression| expression.depth).max().unwrap_or(0)
}

fn rmw_form(kind: Kind) -> Option<RmwForm> {
    Some(match kind {
        Kind::Cas => RmwForm::CompareAndSwap,
        Kind::CmpXchg => RmwForm::CompareExchange,
        Kind::Xchg => RmwForm::Exchange,
        Kind::FetchAdd => RmwForm::Fetch(BinaryRmw::Add),
        Kind::FetchSub => RmwForm::Fetch(BinaryRmw::Subtract),
        Kind::FetchAnd => RmwForm::Fetch(BinaryRmw::And),
        Kind::FetchOr => RmwForm::Fetch(BinaryRmw::Or),
        Kind::FetchXor => RmwForm::Fetch(BinaryRmw::Xor),
        _ => return None,
    })
}

fn binary_operator(kind: Kind) -> Option<BinaryOp> {
    Some(match kind {
        Kind::PipePipe => BinaryOp::Or,
        Kind::AmpersandAmpersand => BinaryOp::And,
        Kind::EqualEqual => BinaryOp::Equal,
        Kind::BangEqual => BinaryOp::NotEqual,
        Kind::Less => BinaryOp::Less,
        Kind::LessEqual => BinaryOp::LessEqual,
        Kind::Greater => BinaryOp::Greater,
        Kind::GreaterEqual => BinaryOp::GreaterEqual,
        Kind::Pipe => BinaryOp::BitOr,
        Kind::Caret => BinaryOp::BitXor,
        Kind::Ampersand => BinaryOp::BitAnd,
        Kind::ShiftLeft => BinaryOp::ShiftLeft,
        Kind::ShiftRight => BinaryOp::ShiftRight,
        Kind::Plus => BinaryOp::Add,
        Kind::Minus => BinaryOp::Subtract,
        Kind::Star => BinaryOp::Multiply,
        Kind::Slash => BinaryOp::Divide,
        Kind::Percent => BinaryOp::Remainder,
        _ => return None,
    })
}
