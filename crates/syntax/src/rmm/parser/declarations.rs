//! The parts of a file: forbidden labels, data, processes.

use weir_ir::{Diagnostic, Range, Value};

use super::super::ast::{Declaration, File, Name, Process, Row};
use super::super::token::Kind;
use super::{Descent, Failed, Parse, Parser};

impl<'s> Parser<'s, '_> {
    pub(super) fn file(&mut self) -> File<'s> {
        let mut file = File { forbidden: Vec::new(), predicates: None, globals: Vec::new(), processes: Vec::new() };
        if self.whole(&mut file).is_err() {
            return file;
        }
        if self.peek() != Kind::Eof {
            let mut error = self.unexpected("`process` or the end of the file");
            if self.peek() == Kind::CloseBrace {
                error = error.help("unmatched `}`");
            } else if file.processes.last().is_some() {
                error = error.help("statements are separated by `;`");
            }
            self.error(error);
        }
        file
    }

    fn whole(&mut self, file: &mut File<'s>) -> Parse<()> {
        if self.peek() != Kind::Forbidden {
            let error = self.unexpected("`forbidden`");
            let help = "a program starts with the labels that must not be reached together, as in `forbidden CS CS`";
            return Err(self.error(error.help(help)));
        }
        self.bump();
        self.rows(&mut file.forbidden)?;
        if self.peek() == Kind::Predicates {
            file.predicates = Some(self.token().span);
            self.predicates()?;
        }
        if self.eat(Kind::Data) {
            file.globals = self.declarations(Kind::Name)?;
        }
        if self.peek() != Kind::Process {
            let error = self.unexpected("`data` or `process`");
            return Err(self.error(error));
        }
        while self.peek() == Kind::Process {
            let process = self.process()?;
            file.processes.push(process);
        }
        Ok(())
    }

    fn rows(&mut self, rows: &mut Vec<Row<'s>>) -> Parse<()> {
        loop {
            let start = self.cursor.position();
            let mut labels = Vec::new();
            while matches!(self.peek(), Kind::Name | Kind::Star) {
                let token = self.bump();
                let name = Name { text: token.text, span: token.span };
                labels.push((token.kind == Kind::Name).then_some(name));
            }
            if labels.is_empty() {
                let error = self.unexpected("a label or `*`");
                return Err(self.error(error));
            }
            rows.push(Row { labels, span: self.span_from(start) });
            if !self.eat(Kind::Semicolon) {
                return Ok(());
            }
        }
    }

    fn predicates(&mut self) -> Parse<()> {
        loop {
            self.bump();
            self.operators = 0;
            self.condition()?;
            if self.peek() != Kind::Semicolon {
                return Ok(());
            }
        }
    }

    /// Declarations of one kind of name, at least one. Nothing separates them.
    fn declarations(&mut self, kind: Kind) -> Parse<Vec<Declaration<'s>>> {
        let mut declarations: Vec<Declaration<'s>> = Vec::new();
        loop {
            let declaration = self.declaration(kind)?;
            if let Some(first) = declarations.iter().find(|first| first.name.text == declaration.name.text) {
                let message = format!("`{}` is declared twice", declaration.name.text);
                let error = Diagnostic::error("duplicate-name", message, declaration.name.span);
                self.sink.error(error.also(first.name.span, "the first one"));
            }
            declarations.push(declaration);
            if self.peek() == Kind::Comma {
                let error = self.unexpected("another declaration");
                return Err(self.error(error.help("declarations are not separated; remove the `,`")));
            }
            if self.peek() != kind {
                return Ok(declarations);
            }
        }
    }

    fn declaration(&mut self, kind: Kind) -> Parse<Declaration<'s>> {
        let start = self.cursor.position();
        let what = if kind == Kind::Name { "a declaration such as `x = 0`" } else { "a declaration such as `$r = 0`" };
        let name = self.name(kind, what)?;
        self.expect(Kind::Equal)?;
        let initial = if self.eat(Kind::Star) { None } else { Some(self.integer("the initial value or `*`")?) };
        let domain = if self.eat(Kind::Colon) { self.domain()? } else { None };
        let span = self.span_from(start);
        if let (Some(value), Some(range)) = (initial, domain)
            && !range.contains(value)
        {
            let message =
                format!("`{}` starts at {value}, outside its domain [{}:{}]", name.text, range.low, range.high);
            let error = Diagnostic::error("initial-value", message, span);
            self.sink.error(error.help("change the domain or the value"));
        }
        Ok(Declaration { name, initial, domain, span })
    }

    fn domain(&mut self) -> Parse<Option<Range>> {
        let open = self.token();
        if open.kind == Kind::Name && open.text == "Z" {
            self.bump();
            return Ok(None);
        }
        if open.kind != Kind::OpenBracket {
            let error = self.unexpected("a domain: `[LOW:HIGH]` or `Z`");
            return Err(self.error(error));
        }
        self.bump();
        let low = self.integer("the lowest value")?;
        self.expect(Kind::Colon)?;
        let high = self.integer("the highest value")?;
        self.close(Kind::CloseBracket, open)?;
        if low > high {
            let message = format!("the domain [{low}:{high}] is empty");
            let error = Diagnostic::error("empty-range", message, open.span).help("write the smaller value first");
            self.sink.error(error);
            return Err(Failed);
        }
        Ok(Some(Range { low, high }))
    }

    fn integer(&mut self, what: &str) -> Parse<Value> {
        let is_negative = self.eat(Kind::Minus);
        let value = self.natural(what)?;
        Ok(if is_negative { -value } else { value })
    }

    fn process(&mut self) -> Parse<Process<'s>> {
        let start = self.cursor.position();
        self.bump();
        let mut count = 1;
        if self.peek() == Kind::OpenParen {
            let open = self.bump();
            // More than there can be threads is reported later, with the others counted in.
            count = usize::try_from(self.natural("the number of processes")?).unwrap_or(usize::MAX);
            self.close(Kind::CloseParen, open)?;
        }
        let span = self.span_from(start);
        let (mut data, mut registers) = (None, None);
        while matches!(self.peek(), Kind::Data | Kind::Registers) {
            let keyword = self.bump();
            let (place, kind) =
                if keyword.kind == Kind::Data { (&mut data, Kind::Name) } else { (&mut registers, Kind::Register) };
            if place.replace(self.declarations(kind)?).is_some() {
                let message = format!("a process can have only one `{}` part", keyword.text);
                self.sink.error(Diagnostic::error("duplicate-part", message, keyword.span).help("merge the two"));
            }
        }
        if self.peek() != Kind::Text {
            let error = self.unexpected("`text`");
            return Err(self
                .error(error.help("a process consists of `data` and `registers`, both optional, followed by `text`")));
        }
        self.bump();
        let text = self.statements()?;
        let (data, registers) = (data.unwrap_or_default(), registers.unwrap_or_default());
        Ok(Process { count, data, registers, text, span })
    }
}
