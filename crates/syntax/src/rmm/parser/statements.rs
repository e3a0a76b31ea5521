//! Statements.

use super::super::ast::{Cell, Labelled, Name, Statement, StatementKind};
use super::super::token::{Kind, Token};
use super::{Descent, Failed, Parse, Parser};

impl<'s> Parser<'s, '_> {
    /// Statements with `;` between them, at least one.
    pub(super) fn statements(&mut self) -> Parse<Vec<Labelled<'s>>> {
        let mut statements = Vec::new();
        loop {
            match self.labelled() {
                Ok(statement) => statements.push(statement),
                Err(Failed) => self.skip_statement(),
            }
            if !self.eat(Kind::Semicolon) {
                return Ok(statements);
            }
        }
    }

    /// Skips to the end of a statement; blocks are skipped whole.
    fn skip_statement(&mut self) {
        let mut open = 0usize;
        loop {
            match self.peek() {
                Kind::Eof | Kind::Process => return,
                Kind::Semicolon | Kind::CloseBrace | Kind::Or if open == 0 => return,
                Kind::OpenBrace => open += 1,
                Kind::CloseBrace => open -= 1,
                _ => {}
            }
            self.bump();
        }
    }

    fn labelled(&mut self) -> Parse<Labelled<'s>> {
        let mut label = None;
        if self.peek() == Kind::Name {
            let name = self.name(Kind::Name, "a label")?;
            if self.peek() != Kind::Colon {
                let mut error = self.unexpected(&format!("`:` after the label `{}`", name.text));
                if self.peek() == Kind::OpenParen {
                    error = error.help(format!("there is no macro `{}` defined above", name.text));
                }
                return Err(self.error(error));
            }
            self.bump();
            label = Some(name);
        }
        let statement = self.nested(Self::statement)?;
        Ok(Labelled { label, statement })
    }

    fn statement(&mut self) -> Parse<Statement<'s>> {
        let start = self.cursor.position();
        let first = self.token();
        let kind = self.statement_kind()?;
        // The span of a block is its first token; the statements in it have their own spans.
        let is_block = matches!(
            kind,
            StatementKind::Either(_) | StatementKind::Sequence(_) | StatementKind::If(..) | StatementKind::While(..)
        );
        let span = if is_block { first.span } else { self.span_from(start) };
        Ok(Statement { kind, span })
    }

    fn statement_kind(&mut self) -> Parse<StatementKind<'s>> {
        let (token, start) = (self.token(), self.cursor.position());
        self.operators = 0;
        if token.kind != Kind::Register {
            self.bump();
        }
        Ok(match token.kind {
            Kind::Nop => StatementKind::Nop,
            Kind::Fence => StatementKind::Fence,
            Kind::StoreFence | Kind::LoadFence => weaker(token, StatementKind::Nop),
            Kind::Read => self.read()?,
            Kind::SyncRead => weaker(token, self.read()?),
            Kind::Write => self.write()?,
            Kind::SyncWrite => weaker(token, self.write()?),
            Kind::StoreLocked => {
                self.expect(Kind::Write)?;
                weaker(token, self.write()?)
            }
            Kind::Cas => self.compare_and_swap()?,
            Kind::Register => {
                let register = self.name(Kind::Register, "a register")?;
                self.expect(Kind::Assign)?;
                StatementKind::Assign(register, self.expr()?)
            }
            Kind::Assume => {
                self.expect(Kind::Colon)?;
                StatementKind::Assume(self.condition()?)
            }
            Kind::If => self.branch()?,
            Kind::While => {
                let condition = self.condition()?;
                self.expect(Kind::Do)?;
                StatementKind::While(condition, Box::new(self.labelled()?))
            }
            Kind::Goto => StatementKind::Goto(self.name(Kind::Name, "a label")?),
            Kind::Either => StatementKind::Either(self.alternatives()?),
            Kind::Locked => self.locked()?,
            Kind::OpenBrace => {
                let statements = self.statements()?;
                self.close(Kind::CloseBrace, token)?;
                StatementKind::Sequence(statements)
            }
            _ => {
                self.cursor.rewind(start);
                let mut error = self.unexpected("a statement");
                if matches!(token.kind, Kind::CloseBrace | Kind::Or | Kind::Else | Kind::Eof | Kind::Process) {
                    error = error.help("`;` separates statements; do not write it after the last one");
                }
                return Err(self.error(error));
            }
        })
    }

    /// After `read`.
    fn read(&mut self) -> Parse<StatementKind<'s>> {
        self.expect(Kind::Colon)?;
        if self.peek() == Kind::Register {
            let register = self.name(Kind::Register, "a register")?;
            self.expect(Kind::Assign)?;
            return Ok(StatementKind::ReadInto(register, self.cell()?));
        }
        let cell = self.cell()?;
        self.expect(Kind::Equal)?;
        Ok(StatementKind::ReadEqual(cell, self.expr()?))
    }

    /// After `write`.
    fn write(&mut self) -> Parse<StatementKind<'s>> {
        self.expect(Kind::Colon)?;
        let cell = self.cell()?;
        self.expect(Kind::Assign)?;
        Ok(StatementKind::Write(cell, self.expr()?))
    }

    /// After `cas`.
    fn compare_and_swap(&mut self) -> Parse<StatementKind<'s>> {
        let open = self.expect(Kind::OpenParen)?;
        let cell = self.cell()?;
        self.expect(Kind::Comma)?;
        let expected = self.expr()?;
        self.expect(Kind::Comma)?;
        let new = self.expr()?;
        self.close(Kind::CloseParen, open)?;
        Ok(StatementKind::CompareAndSwap(cell, expected, new))
    }

    /// After `if`.
    fn branch(&mut self) -> Parse<StatementKind<'s>> {
        let condition = self.condition()?;
        self.expect(Kind::Then)?;
        let then = Box::new(self.labelled()?);
        let otherwise = if self.eat(Kind::Else) { Some(Box::new(self.labelled()?)) } else { None };
        Ok(StatementKind::If(condition, then, otherwise))
    }

    /// After `locked`.
    fn locked(&mut self) -> Parse<StatementKind<'s>> {
        if self.peek() != Kind::Write {
            return Ok(StatementKind::Locked(self.alternatives()?));
        }
        let start = self.cursor.position();
        self.bump();
        let kind = self.write()?;
        let statement = Statement { kind, span: self.span_from(start) };
        Ok(StatementKind::Locked(vec![vec![Labelled { label: None, statement }]]))
    }

    fn alternatives(&mut self) -> Parse<Vec<Vec<Labelled<'s>>>> {
        let open = self.expect(Kind::OpenBrace)?;
        let mut alternatives = vec![self.statements()?];
        while self.eat(Kind::Or) {
            alternatives.push(self.statements()?);
        }
        self.close(Kind::CloseBrace, open)?;
        Ok(alternatives)
    }

    fn cell(&mut self) -> Parse<Cell<'s>> {
        let token = self.token();
        match token.kind {
            Kind::Name => {
                self.bump();
                let name = Name { text: token.text, span: token.span };
                if self.peek() != Kind::OpenBracket {
                    return Ok(Cell::Global(name));
                }
                let open = self.bump();
                let cell = if self.eat(Kind::My) {
                    Cell::Own(name)
                } else {
                    let number = self.natural("`my` or the number of another process")?;
                    Cell::Other(name, usize::try_from(number).unwrap_or(usize::MAX))
                };
                self.close(Kind::CloseBracket, open)?;
                Ok(cell)
            }
            Kind::OpenBracket => {
                self.bump();
                let pointer = self.expr()?;
                self.close(Kind::CloseBracket, token)?;
                Ok(Cell::Pointer(pointer, token.span))
            }
            _ => {
                let error = self.unexpected("a memory location");
                Err(self.error(error.help("such as `x`, `x[my]`, `x[0]` or `[$pointer]`")))
            }
        }
    }
}

fn weaker<'s>(token: Token<'_>, kind: StatementKind<'s>) -> StatementKind<'s> {
    StatementKind::Weaker(token.kind.text().unwrap_or_default(), Box::new(kind))
}
