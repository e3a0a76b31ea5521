//! The first lines of a test: `X86 SB "a comment"`, then lines `Key=Value`, up to the initial state.

use weir_ir::{Diagnostic, Source, Span};

use super::Refused;
use super::token::comment_end;

/// Which instruction set a test is written for; with it goes the order of operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Architecture {
    /// `X86`: 32 bits, the destination first: `MOV [x],$1`.
    X86,
    /// `X86_64`: 64 bits, the destination last: `movl $1,(x)`.
    X86_64,
}

impl Architecture {
    /// Bytes of an address.
    pub(super) fn address_size(self) -> u32 {
        match self {
            Self::X86 => 4,
            Self::X86_64 => 8,
        }
    }
}

/// What stands before the initial state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) architecture: Architecture,
    pub(super) name: String,
    pub(super) name_span: Span,
    pub(super) info: Vec<(String, String)>,
    /// Where the text after `{` starts.
    pub(super) body: usize,
    /// The brace.
    pub(super) brace: Span,
}

/// Reads up to the brace that opens the initial state.
pub(super) fn read(source: &Source) -> Result<Header, Refused> {
    let mut reader = Reader { text: source.text(), at: 0 };
    reader.skip_blanks_and_comments()?;
    let architecture = reader.architecture()?;
    let (name, name_span) = reader.test_name()?;
    let name = if name == "--" { stem(source.name()).to_owned() } else { name };
    let (info, brace) = reader.info()?;
    Ok(Header { architecture, name, name_span, info, body: brace.end as usize, brace })
}

/// The name of a file without folders and extension.
fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

struct Reader<'s> {
    text: &'s str,
    at: usize,
}

impl<'s> Reader<'s> {
    fn rest(&self) -> &'s str {
        &self.text[self.at..]
    }

    /// Moves over all characters that `inside` accepts.
    fn take(&mut self, inside: impl Fn(char) -> bool) -> (&'s str, Span) {
        let rest = self.rest();
        let len = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        let span = Span::new(self.at, self.at + len);
        self.at += len;
        (&rest[..len], span)
    }

    fn skip_blanks_and_comments(&mut self) -> Result<(), Refused> {
        loop {
            self.take(|c| c.is_whitespace() || c == '\u{feff}');
            if !self.rest().starts_with("(*") {
                return Ok(());
            }
            self.at = comment_end(self.text, self.at)?;
        }
    }

    fn architecture(&mut self) -> Result<Architecture, Refused> {
        let (name, span) = self.take(|c| c.is_ascii_alphanumeric() || c == '_');
        match name {
            "X86" => Ok(Architecture::X86),
            "X86_64" => Ok(Architecture::X86_64),
            _ => Err(wrong_header(name, span, self.rest().is_empty()).into()),
        }
    }

    fn test_name(&mut self) -> Result<(String, Span), Refused> {
        self.take(|c| c == ' ' || c == '\t');
        let (name, span) = self.take(|c| !c.is_whitespace() && !"(\";{".contains(c));
        if name.is_empty() {
            let error = Diagnostic::error("litmus-header", "the name of the test is missing", span);
            return Err(error.help("a litmus test starts like this: `X86 SB`").into());
        }
        Ok((name.to_owned(), span))
    }

    /// The lines `Key=Value`, and the brace after them. Anything else up to the brace is a comment.
    fn info(&mut self) -> Result<(Vec<(String, String)>, Span), Refused> {
        let mut info = Vec::new();
        // The rest of the first line is no `Key=Value`, even if it looks so.
        let mut at_line_start = false;
        loop {
            let (blanks, _) = self.take(char::is_whitespace);
            at_line_start |= blanks.contains('\n');
            let rest = self.rest();
            match rest.chars().next() {
                None => return Err(self.no_initial_state().into()),
                Some('{') => return Ok((info, Span::new(self.at, self.at + 1))),
                Some('(') if rest.starts_with("(*") => self.at = comment_end(self.text, self.at)?,
                Some('"') => self.skip_string()?,
                _ => match at_line_start.then(|| self.key_value()).flatten() {
                    Some(pair) => info.push(pair),
                    None => self.skip_other(),
                },
            }
            at_line_start = false;
        }
    }

    fn key_value(&mut self) -> Option<(String, String)> {
        let (line, _) = self.rest().split_once('\n')?;
        let (key, value) = line.split_once('=')?;
        let key = key.trim_end();
        let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.chars().all(|c| c.is_ascii_alphanumeric() || "_/.-".contains(c));
        if !is_key {
            return None;
        }
        self.at += line.len();
        Some((key.to_owned(), value.trim().to_owned()))
    }

    fn skip_other(&mut self) {
        let start = self.at;
        self.take(|c| c != '\n' && c != '{' && c != '"' && c != '(');
        if self.at == start {
            self.take_one();
        }
    }

    fn take_one(&mut self) {
        self.at += self.rest().chars().next().map_or(0, char::len_utf8);
    }

    fn skip_string(&mut self) -> Result<(), Refused> {
        let start = self.at;
        self.at += 1;
        self.take(|c| c != '"');
        if self.rest().is_empty() {
            let error = Diagnostic::error("truncated", "this string is not closed", Span::new(start, start + 1));
            return Err(error.help("close it with `\"`").into());
        }
        self.at += 1;
        Ok(())
    }

    fn no_initial_state(&self) -> Diagnostic {
        let end = self.text.trim_end().len();
        let error = Diagnostic::error("truncated", "the initial state is missing", Span::new(end, end));
        error.help("write it in braces before the code; `{ }` if all cells and registers start at 0")
    }
}

fn wrong_header(name: &str, span: Span, is_end: bool) -> Diagnostic {
    let help = "begin with the instruction set and a name: `X86 SB` or `X86_64 SB`";
    let message = match name {
        "" if is_end => "this is not a litmus test: the file is empty".to_owned(),
        "" => "a litmus test starts with its instruction set and its name".to_owned(),
        _ if name.eq_ignore_ascii_case("x86") || name.eq_ignore_ascii_case("x86_64") => {
            format!("the instruction set must be written `{}`, not `{name}`", name.to_ascii_uppercase())
        }
        _ => format!("litmus tests for `{name}` are not supported, only those for `X86` and `X86_64`"),
    };
    Diagnostic::error("litmus-header", message, span).help(help)
}
