//! Statements and blocks.

use weir_ir::{BinaryOp, Diagnostic, Span};

use super::super::ast::{Block, Declarator, Expr, ExprKind, Statement, StatementKind};
use super::super::token::Kind;
use super::{Descent, Parse, Parser, keywords};
use crate::parsing::TokenKind as _;

impl<'s> Parser<'s, '_> {
    /// `{ statements }`
    pub(super) fn block(&mut self, what: &str) -> Parse<Block<'s>> {
        if self.peek() != Kind::OpenBrace {
            let error = self.unexpected("`{`").help(format!("{what} must be enclosed in `{{` and `}}`"));
            return Err(self.error(error));
        }
        self.nested(Self::block_body)
    }

    fn block_body(&mut self) -> Parse<Block<'s>> {
        let open = self.bump().span;
        let mut statements = Vec::new();
        while self.peek() != Kind::CloseBrace {
            if self.peek() == Kind::Eof || self.peek().begins_item() {
                return Err(self.unclosed_block(open));
            }
            let start = self.cursor.position();
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(_) => {
                    self.is_whole = false;
                    self.skip_statement();
                    if self.cursor.position() == start {
                        self.bump();
                    }
                }
            }
        }
        self.bump();
        Ok(Block { statements, span: self.span_from(open) })
    }

    fn unclosed_block(&mut self, open: Span) -> super::Failed {
        let error = Diagnostic::error("unclosed-block", "this block is never closed", open)
            .label("opened here")
            .also(self.token().span, format!("`}}` is missing before {}", self.found()))
            .help("add the missing `}`");
        self.error(error)
    }

    fn statement(&mut self) -> Parse<Statement<'s>> {
        self.count_one()?;
        let first = self.token().span;
        let kind = match self.peek() {
            Kind::Name if self.peek_ahead(1) == Kind::Colon => {
                let label = self.name("a label")?;
                self.bump();
                return Ok(Statement { kind: StatementKind::Label(label), span: label.span });
            }
            Kind::If => self.if_statement()?,
            Kind::While => {
                self.bump();
                let condition = self.condition()?;
                StatementKind::While(condition, self.block("the body of a `while`")?)
            }
            Kind::Loop => self.keyword_and_block("the body of a `loop`", StatementKind::Loop)?,
            Kind::For => self.for_each_other()?,
            Kind::Atomic => self.keyword_and_block("the body of an `atomic`", StatementKind::Atomic)?,
            Kind::Choose => self.choose()?,
            Kind::OpenBrace => StatementKind::Block(self.block("a block")?),
            Kind::Semicolon => return Err(self.empty_statement()),
            _ => {
                let kind = self.simple_statement()?;
                let span = self.span_from(first);
                self.semicolon()?;
                return Ok(Statement { kind, span });
            }
        };
        Ok(Statement { kind, span: self.span_from(first) })
    }

    fn empty_statement(&mut self) -> super::Failed {
        let error = Diagnostic::error("empty-statement", "empty statement", self.token().span);
        self.error(error.help("remove it, or write `skip;` for a step that does nothing"))
    }

    fn keyword_and_block(
        &mut self,
        what: &str,
        make: impl FnOnce(Block<'s>) -> StatementKind<'s>,
    ) -> Parse<StatementKind<'s>> {
        self.bump();
        Ok(make(self.block(what)?))
    }

    /// A statement that ends in a semicolon.
    fn simple_statement(&mut self) -> Parse<StatementKind<'s>> {
        let keyword = self.peek();
        if keyword.is_keyword() && self.peek_ahead(1) == Kind::Colon {
            return Err(self.keyword_as_label());
        }
        let plain = match keyword {
            Kind::Break => Some(StatementKind::Break),
            Kind::Continue => Some(StatementKind::Continue),
            Kind::Fence => Some(StatementKind::Fence),
            Kind::Membarrier => Some(StatementKind::Membarrier),
            Kind::Skip => Some(StatementKind::Skip),
            Kind::Lock => Some(StatementKind::Lock),
            Kind::Unlock => Some(StatementKind::Unlock),
            Kind::Terminate => Some(StatementKind::Terminate),
            Kind::End => Some(StatementKind::End),
            _ => None,
        };
        if let Some(kind) = plain {
            self.bump();
            return Ok(kind);
        }
        match keyword {
            Kind::Let => self.let_statement(),
            Kind::Goto | Kind::Jump => {
                self.bump();
                let label = self.name("a label")?;
                Ok(if keyword == Kind::Goto { StatementKind::Goto(label) } else { StatementKind::Jump(label) })
            }
            Kind::Assume | Kind::Assert => {
                self.bump();
                let condition = self.condition()?;
                let is_assume = keyword == Kind::Assume;
                Ok(if is_assume { StatementKind::Assume(condition) } else { StatementKind::Assert(condition) })
            }
            Kind::Await => self.wait(),
            Kind::Spawn => {
                self.bump();
                Ok(StatementKind::Spawn(self.name("a thread name")?))
            }
            Kind::Return => {
                self.bump();
                let empty = matches!(self.peek(), Kind::Semicolon | Kind::CloseBrace);
                Ok(StatementKind::Return(if empty { None } else { Some(self.expression()?) }))
            }
            Kind::Else | Kind::Or => Err(self.stray_branch()),
            _ => self.assignment_or_call(),
        }
    }

    fn keyword_as_label(&mut self) -> super::Failed {
        let token = self.token();
        let message = format!("{} cannot be a label", token.kind.describe());
        let error = Diagnostic::error("keyword-as-name", message, token.span).label("reserved keyword");
        let failed = self.error(error.help("choose a name that is not a keyword"));
        // What follows the colon is a statement of its own.
        self.bump();
        self.bump();
        failed
    }

    fn stray_branch(&mut self) -> super::Failed {
        let token = self.token();
        let opener = if token.kind == Kind::Else { "an `if`" } else { "a `choose`" };
        let message = format!("{} does not follow the block of {opener}", token.kind.describe());
        self.error(Diagnostic::error("stray-branch", message, token.span))
    }

    fn let_statement(&mut self) -> Parse<StatementKind<'s>> {
        self.bump();
        let mut declarators = Vec::new();
        loop {
            let name = self.name("a register name")?;
            let value = if self.eat(Kind::Equal) { Some(self.expression()?) } else { None };
            declarators.push(Declarator { name, value, span: self.span_from(name.span) });
            if !self.eat(Kind::Comma) {
                return Ok(StatementKind::Let(declarators));
            }
        }
    }

    /// `for each other j { … }`; only the first word is a keyword.
    fn for_each_other(&mut self) -> Parse<StatementKind<'s>> {
        self.bump();
        for word in ["each", "other"] {
            if self.peek() != Kind::Name || self.slice(self.token().span) != word {
                let error = self.unexpected(&format!("`{word}`"));
                let help = "the only `for` is `for each other j { … }`, about the other copies of a replicated thread; \
                            to count, use a `while` loop";
                return Err(self.error(error.help(help)));
            }
            self.bump();
        }
        let name = self.name("a name for the number of the other copy")?;
        Ok(StatementKind::ForEachOther(name, self.block("the body of a `for each other`")?))
    }

    fn if_statement(&mut self) -> Parse<StatementKind<'s>> {
        let (mut arms, mut otherwise) = (Vec::new(), None);
        loop {
            self.bump();
            let condition = self.condition()?;
            arms.push((condition, self.block("the body of an `if`")?));
            if !self.eat(Kind::Else) {
                break;
            }
            if self.peek() != Kind::If {
                otherwise = Some(self.block("the body of an `else`")?);
                break;
            }
        }
        Ok(StatementKind::If { arms, otherwise })
    }

    fn choose(&mut self) -> Parse<StatementKind<'s>> {
        self.bump();
        let mut branches = vec![self.block("a branch of a `choose`")?];
        while self.eat(Kind::Or) {
            branches.push(self.block("a branch of a `choose`")?);
        }
        Ok(StatementKind::Choose(branches))
    }

    fn assignment_or_call(&mut self) -> Parse<StatementKind<'s>> {
        let target = self.expression()?;
        if self.peek() == Kind::Comma {
            return self.snapshot(target);
        }
        let Some(operator) = assignment_operator(self.peek()) else {
            return self.evaluation(target);
        };
        if !is_place(&target) {
            let error = Diagnostic::error("bad-assignment", "this cannot be assigned to", target.span)
                .help("a register, `x`, `flag[e]`, `mem[e]` or `*e` can");
            return Err(self.error(error));
        }
        self.bump();
        let value = self.expression()?;
        Ok(StatementKind::Assign { target, operator, value })
    }

    /// `await e`, or `await a, b = x, y if e`.
    fn wait(&mut self) -> Parse<StatementKind<'s>> {
        self.bump();
        let first = self.expression()?;
        if !matches!(self.peek(), Kind::Comma | Kind::Equal) {
            return Ok(StatementKind::Await { targets: Vec::new(), cells: Vec::new(), condition: first });
        }
        let (targets, cells) = self.loads(first)?;
        if self.peek() != Kind::If {
            let error =
                self.unexpected("`if`").help("`==` compares; `await r = x if r == 1;` keeps what it waited for");
            return Err(self.error(error));
        }
        self.bump();
        Ok(StatementKind::Await { targets, cells, condition: self.condition()? })
    }

    /// `a, b = x, y`, after the first name.
    fn snapshot(&mut self, first: Expr<'s>) -> Parse<StatementKind<'s>> {
        let (targets, cells) = self.loads(first)?;
        Ok(StatementKind::Snapshot { targets, cells })
    }

    /// As many names as cells: `a, b = x, y`, after the first name.
    fn loads(&mut self, first: Expr<'s>) -> Parse<(Vec<Expr<'s>>, Vec<Expr<'s>>)> {
        let targets = self.listed(first)?;
        if self.peek() != Kind::Equal {
            let error = self.unexpected("`=`").help("`a, b = x, y` loads several cells in one step");
            return Err(self.error(error));
        }
        let equal = self.bump().span;
        let first = self.expression()?;
        let cells = self.listed(first)?;
        if cells.len() == targets.len() {
            return Ok((targets, cells));
        }
        let message = format!("{} on the left, but {} on the right", targets.len(), cells.len());
        let error = Diagnostic::error("snapshot", message, equal);
        Err(self.error(error.help("`a, b = x, y` loads `x` into `a` and `y` into `b` in one step")))
    }

    /// The rest of a list, after its first expression.
    fn listed(&mut self, first: Expr<'s>) -> Parse<Vec<Expr<'s>>> {
        let mut all = vec![first];
        while self.eat(Kind::Comma) {
            all.push(self.expression()?);
        }
        Ok(all)
    }

    fn evaluation(&mut self, expression: Expr<'s>) -> Parse<StatementKind<'s>> {
        if matches!(expression.kind, ExprKind::Call(..) | ExprKind::ReadModifyWrite(..)) {
            return Ok(StatementKind::Evaluate(expression));
        }
        let mut message = "this expression has no effect".to_owned();
        let help = match &expression.kind {
            ExprKind::Binary(BinaryOp::Equal, ..) => "`=` assigns, `==` compares".to_owned(),
            ExprKind::Name(name) => match keywords::statement(name.text) {
                Some(help) => {
                    message = format!("there is no statement `{}`", name.text);
                    help
                }
                None => "a statement is an assignment, a call or starts with a keyword".to_owned(),
            },
            _ => "assign it (`r = …;`), or remove it; only calls and read-modify-writes can be statements".to_owned(),
        };
        self.error(Diagnostic::error("no-effect", message, expression.span).help(help));
        Ok(StatementKind::Skip)
    }
}

/// Whether an expression has the form of something that can be written.
pub(super) fn is_place(expression: &Expr) -> bool {
    matches!(expression.kind, ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Memory(_))
}

/// `Some(None)` for `=`, `Some(Some(op))` for `op=`.
fn assignment_operator(kind: Kind) -> Option<Option<BinaryOp>> {
    Some(match kind {
        Kind::Equal => None,
        Kind::PlusEqual => Some(BinaryOp::Add),
        Kind::MinusEqual => Some(BinaryOp::Subtract),
        Kind::StarEqual => Some(BinaryOp::Multiply),
        Kind::SlashEqual => Some(BinaryOp::Divide),
        Kind::PercentEqual => Some(BinaryOp::Remainder),
        Kind::AmpersandEqual => Some(BinaryOp::BitAnd),
        Kind::PipeEqual => Some(BinaryOp::BitOr),
        Kind::CaretEqual => Some(BinaryOp::BitXor),
        Kind::ShiftLeftEqual => Some(BinaryOp::ShiftLeft),
        Kind::ShiftRightEqual => Some(BinaryOp::ShiftRight),
        _ => return None,
    })
}
