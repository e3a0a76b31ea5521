//! Expressions: sums in parentheses, conditions in brackets.

use weir_ir::{BinaryOp, Expr, UnaryOp};

use super::super::ast::{Name, RegisterExpr};
use super::super::token::Kind;
use super::{Descent, Failed, Parse, Parser};

impl<'s> Parser<'s, '_> {
    /// A sum.
    pub(super) fn expr(&mut self) -> Parse<RegisterExpr<'s>> {
        self.nested(|parser| {
            let mut sum = parser.unit()?;
            loop {
                let op = match parser.peek() {
                    Kind::Plus => BinaryOp::Add,
                    Kind::Minus => BinaryOp::Subtract,
                    _ => return Ok(sum),
                };
                parser.bump();
                parser.count_operator()?;
                sum = Expr::binary(op, sum, parser.unit()?);
            }
        })
    }

    fn unit(&mut self) -> Parse<RegisterExpr<'s>> {
        let token = self.token();
        match token.kind {
            Kind::Register => {
                self.bump();
                Ok(Expr::Leaf(Name { text: token.text, span: token.span }))
            }
            Kind::Number => self.natural("a number").map(Expr::Const),
            Kind::Minus => {
                self.bump();
                self.count_operator()?;
                let operand = self.nested(Self::unit)?;
                Ok(match operand {
                    Expr::Const(value) => Expr::Const(value.wrapping_neg()),
                    operand => Expr::unary(UnaryOp::Negate, operand),
                })
            }
            Kind::OpenParen => {
                self.bump();
                let inner = self.expr()?;
                self.close(Kind::CloseParen, token)?;
                Ok(inner)
            }
            _ => Err(self.no_value()),
        }
    }

    fn no_value(&mut self) -> Failed {
        let mut error = self.unexpected("a value");
        error = match self.peek() {
            Kind::Name => error
                .help("memory cannot be used in an expression; read it into a register first, as in `read: $r := x`"),
            Kind::Me | Kind::Other | Kind::AtSign => {
                error.help("Memorax reserves this keyword without giving it a meaning")
            }
            Kind::OpenBracket => error.help("brackets enclose conditions; parentheses enclose sums"),
            _ => error,
        };
        self.error(error)
    }

    /// A condition: `||` of `&&` of comparisons.
    pub(super) fn condition(&mut self) -> Parse<RegisterExpr<'s>> {
        self.nested(|parser| parser.chain(Kind::OrOr, BinaryOp::Or, Self::conjunction))
    }

    fn conjunction(&mut self) -> Parse<RegisterExpr<'s>> {
        self.chain(Kind::AndAnd, BinaryOp::And, Self::negation)
    }

    fn chain(
        &mut self,
        separator: Kind,
        op: BinaryOp,
        part: fn(&mut Self) -> Parse<RegisterExpr<'s>>,
    ) -> Parse<RegisterExpr<'s>> {
        let mut whole = part(self)?;
        while self.eat(separator) {
            self.count_operator()?;
            whole = Expr::binary(op, whole, part(self)?);
        }
        Ok(whole)
    }

    fn negation(&mut self) -> Parse<RegisterExpr<'s>> {
        if !self.eat(Kind::Not) {
            return self.comparison();
        }
        self.count_operator()?;
        Ok(Expr::unary(UnaryOp::Not, self.comparison()?))
    }

    fn comparison(&mut self) -> Parse<RegisterExpr<'s>> {
        let token = self.token();
        match token.kind {
            Kind::True | Kind::False => {
                self.bump();
                return Ok(Expr::Const((token.kind == Kind::True).into()));
            }
            Kind::OpenBracket => {
                self.bump();
                let inner = self.condition()?;
                self.close(Kind::CloseBracket, token)?;
                return Ok(inner);
            }
            _ => {}
        }
        let left = self.expr()?;
        let op = match self.peek() {
            Kind::Equal => BinaryOp::Equal,
            Kind::NotEqual => BinaryOp::NotEqual,
            Kind::Less => BinaryOp::Less,
            Kind::Greater => BinaryOp::Greater,
            Kind::LessEqual => BinaryOp::LessEqual,
            Kind::GreaterEqual => BinaryOp::GreaterEqual,
            _ => {
                let error = self.unexpected("a comparison: `=`, `!=`, `<`, `>`, `<=` or `>=`");
                return Err(self.error(error));
            }
        };
        self.bump();
        self.count_operator()?;
        Ok(Expr::binary(op, left, self.expr()?))
    }
}
