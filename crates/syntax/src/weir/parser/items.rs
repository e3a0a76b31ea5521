//! Items: constants, shared cells, threads, procedures, properties, costs.

use weir_ir::{Diagnostic, Span, Width};

use super::super::ast::{
    Constant, CostDecl, Expr, File, Initial, LabelRef, Name, ProcDecl, PropertyDecl, PropertyForm, RangeExpr,
    Replication, SharedDecl, ThreadDecl,
};
use super::super::token::Kind;
use super::{Descent, Parse, Parser, keywords};

impl<'s> Parser<'s, '_> {
    pub(super) fn file(&mut self) -> File<'s> {
        let mut file = File::default();
        while self.peek() != Kind::Eof {
            let start = self.cursor.position();
            if self.item(&mut file).is_err() {
                self.is_whole = false;
                self.skip_item(start);
            }
        }
        file
    }

    fn item(&mut self, file: &mut File<'s>) -> Parse<()> {
        match self.peek() {
            Kind::Const => file.constants.push(self.constant()?),
            Kind::Shared => self.shared(&mut file.shared)?,
            Kind::Thread => file.threads.push(self.thread()?),
            Kind::Let => self.thread_locals(&mut file.thread_locals)?,
            Kind::Proc => file.procedures.push(self.procedure(false)?),
            Kind::Name if self.slice(self.token().span) == "noinline" && self.peek_ahead(1) == Kind::Proc => {
                self.bump();
                file.procedures.push(self.procedure(true)?);
            }
            Kind::Forbid | Kind::Exists | Kind::Always | Kind::Live => file.properties.push(self.property()?),
            Kind::Cost => file.costs.push(self.cost()?),
            _ => return self.no_item(),
        }
        Ok(())
    }

    fn no_item(&mut self) -> Parse<()> {
        let kind = self.peek();
        let error = if kind == Kind::CloseBrace {
            Diagnostic::error("unmatched-brace", "unmatched `}`", self.token().span).help("remove it")
        } else {
            let error = self.unexpected("an item");
            let meant = if kind == Kind::Name { keywords::item(self.slice(self.token().span)) } else { None };
            let is_statement = kind.begins_statement() || matches!(kind, Kind::Name | Kind::Star);
            error.help(meant.unwrap_or_else(|| {
                let otherwise = if is_statement {
                    "statements belong in a thread or procedure: `thread P0 { … }`"
                } else {
                    "items start with `const`, `shared`, `let`, `thread`, `proc`, `forbid`, `exists`, `always`, `live` \
                     or `cost`"
                };
                otherwise.to_owned()
            }))
        };
        Err(self.error(error))
    }

    /// Skips to the next token that begins an item.
    fn skip_item(&mut self, start: usize) {
        if self.cursor.position() == start {
            self.bump();
        }
        self.skip_to(|parser| parser.peek().begins_item());
    }

    fn constant(&mut self) -> Parse<Constant<'s>> {
        self.bump();
        let name = self.name("a constant name")?;
        self.expect(Kind::Equal)?;
        let value = self.expression()?;
        self.semicolon()?;
        Ok(Constant { name, value })
    }

    fn shared(&mut self, declarations: &mut Vec<SharedDecl<'s>>) -> Parse<()> {
        self.bump();
        loop {
            declarations.push(self.shared_declaration()?);
            if !self.eat(Kind::Comma) {
                return self.semicolon();
            }
        }
    }

    fn shared_declaration(&mut self) -> Parse<SharedDecl<'s>> {
        let name = self.name("the name of a shared cell")?;
        let size = if self.peek() == Kind::OpenBracket { Some(self.bracketed()?) } else { None };
        let (mut address, mut range, mut width) = (None, None, None);
        loop {
            match self.peek() {
                Kind::AtSign if address.is_none() => {
                    self.bump();
                    address = Some(self.bound()?);
                }
                Kind::Colon if range.is_none() && width.is_none() => {
                    self.bump();
                    width = self.width()?;
                    range = if width.is_some() { None } else { Some(self.range()?) };
                }
                _ => break,
            }
        }
        let initial = if self.eat(Kind::Equal) { Some(self.initial()?) } else { None };
        Ok(SharedDecl { name, size, address, range, width, initial, span: self.span_from(name.span) })
    }

    /// `u8`, `u16` or `u32`, unless a range begins with a constant of that name.
    fn width(&mut self) -> Parse<Option<(Width, Span)>> {
        let (text, is_name) = (self.slice(self.token().span), self.peek() == Kind::Name);
        let is_range = matches!(self.peek_ahead(1), Kind::DotDot | Kind::DotDotEqual);
        let looks_like_one = text.starts_with(['u', 'i']) && text[1..].parse::<u8>().is_ok();
        match Width::named(text) {
            Some(width) if !is_range => Ok(Some((width, self.bump().span))),
            None if is_name && looks_like_one && !is_range => {
                let message = format!("there is no width `{text}`");
                let error = Diagnostic::error("unknown-width", message, self.token().span);
                let help = "the widths are `u8`, `u16` and `u32`; without one, a cell has 64 bits with a sign";
                Err(self.error(error.help(help)))
            }
            _ => Ok(None),
        }
    }

    fn initial(&mut self) -> Parse<Initial<'s>> {
        if self.peek() != Kind::OpenBrace {
            return Ok(Initial::All(self.expression()?));
        }
        let open = self.bump();
        let values = self.separated(Kind::CloseBrace, Self::expression)?;
        self.close(Kind::CloseBrace, open)?;
        Ok(Initial::Each(values, self.span_from(open.span)))
    }

    /// Expressions between commas, up to a closing bracket; a comma may stand before it.
    pub(super) fn separated<T>(&mut self, close: Kind, mut one: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut all = Vec::new();
        while self.peek() != close {
            all.push(one(self)?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        Ok(all)
    }

    /// `[e]`
    pub(super) fn bracketed(&mut self) -> Parse<Expr<'s>> {
        let open = self.bump();
        let inner = self.expression()?;
        self.close(Kind::CloseBracket, open)?;
        Ok(inner)
    }

    /// `low..high`; the ends bind tighter than comparisons.
    pub(super) fn range(&mut self) -> Parse<RangeExpr<'s>> {
        let low = Box::new(self.bound()?);
        if !self.eat(Kind::DotDot) && !self.eat(Kind::DotDotEqual) {
            let error = self.unexpected("`..`").help("a range is written `low..high`, and both ends are included");
            return Err(self.error(error));
        }
        let high = Box::new(self.bound()?);
        let span = low.span.to(high.span);
        Ok(RangeExpr { low, high, span })
    }

    fn thread(&mut self) -> Parse<ThreadDecl<'s>> {
        let first = self.bump().span;
        let name = self.name("a thread name")?;
        let mut parameter = None;
        if self.peek() == Kind::OpenParen {
            let open = self.bump();
            parameter = Some(self.name("a name for the thread's number")?);
            self.close(Kind::CloseParen, open)?;
        }
        let replication = if self.peek() == Kind::OpenBracket { Some(self.replication()?) } else { None };
        let weight = if self.eat(Kind::Weight) { Some(self.bound()?) } else { None };
        let span = self.span_from(first);
        let body = self.block("the body of the thread")?;
        Ok(ThreadDecl { name, parameter, replication, weight, body, span })
    }

    fn replication(&mut self) -> Parse<Replication<'s>> {
        if self.peek_ahead(1) != Kind::Star || self.peek_ahead(2) != Kind::CloseBracket {
            return Ok(Replication::Times(self.bracketed()?));
        }
        let open = self.bump().span;
        self.bump();
        self.bump();
        Ok(Replication::Arbitrary(self.span_from(open)))
    }

    /// `let a, b;`
    fn thread_locals(&mut self, names: &mut Vec<Name<'s>>) -> Parse<()> {
        self.bump();
        loop {
            let name = self.name("the name of a thread-local variable")?;
            if self.peek() == Kind::Equal {
                let error = self.unexpected("`,` or `;`");
                let help = "thread-local variables start at 0; set them where threads begin";
                return Err(self.error(error.help(help)));
            }
            names.push(name);
            if !self.eat(Kind::Comma) {
                return self.semicolon();
            }
        }
    }

    fn procedure(&mut self, noinline: bool) -> Parse<ProcDecl<'s>> {
        let first = self.bump().span;
        let name = self.name("a procedure name")?;
        let open = self.expect(Kind::OpenParen)?;
        let parameters = self.separated(Kind::CloseParen, |parser| parser.name("a parameter name"))?;
        self.close(Kind::CloseParen, open)?;
        let span = self.span_from(first);
        let body = self.block("the body of the procedure")?;
        Ok(ProcDecl { name, noinline, parameters, body, span })
    }

    fn property(&mut self) -> Parse<PropertyDecl<'s>> {
        let keyword = self.bump();
        let form = match keyword.kind {
            Kind::Forbid if self.eat(Kind::Deadlock) => self.alone("deadlock", PropertyForm::ForbidDeadlock)?,
            Kind::Forbid if self.eat(Kind::Stuck) => self.alone("stuck", PropertyForm::ForbidStuck)?,
            Kind::Forbid => PropertyForm::Forbid(self.condition()?),
            Kind::Exists => PropertyForm::Exists(self.condition()?),
            Kind::Live => PropertyForm::Live(self.condition()?),
            _ => PropertyForm::Always(self.condition()?),
        };
        let span = self.span_from(keyword.span);
        self.semicolon()?;
        Ok(PropertyDecl { form, span })
    }

    /// `forbid deadlock` and `forbid stuck` are properties of their own: no condition follows.
    fn alone(&mut self, what: &str, form: PropertyForm<'s>) -> Parse<PropertyForm<'s>> {
        if self.peek() == Kind::Semicolon || self.peek().begins_item() || self.peek() == Kind::Eof {
            return Ok(form);
        }
        let error = self.unexpected("`;`").help(not_in_conditions(what));
        Err(self.error(error))
    }

    fn cost(&mut self) -> Parse<CostDecl<'s>> {
        let first = self.bump().span;
        let subject = self.cost_subject()?;
        self.expect(Kind::Equal)?;
        let cost = self.expression()?;
        let span = self.span_from(first);
        self.semicolon()?;
        Ok(CostDecl { subject, cost, span })
    }

    fn cost_subject(&mut self) -> Parse<LabelRef<'s>> {
        if matches!(self.peek(), Kind::Fence | Kind::Lock) {
            let span = self.bump().span;
            return Ok(LabelRef { procedure: None, label: Name { text: self.slice(span), span } });
        }
        self.label_reference("`load`, `store`, `fence`, `rmw`, `lock`, `local` or a label")
    }

    /// `label` or `f.label`
    pub(super) fn label_reference(&mut self, what: &str) -> Parse<LabelRef<'s>> {
        let first = self.name(what)?;
        if !self.eat(Kind::Dot) {
            return Ok(LabelRef { procedure: None, label: first });
        }
        let label = self.name("a label of the procedure")?;
        Ok(LabelRef { procedure: Some(first), label })
    }
}

/// What to write instead of `deadlock` or `stuck` within a condition.
pub(super) fn not_in_conditions(what: &str) -> String {
    format!("`{what}` cannot be combined with a condition; write `forbid {what};`")
}
