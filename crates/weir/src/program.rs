//! Programs as users of the library hold them: read from text, ready for any analysis.

use std::fmt;
use std::ops::Deref;

use weir_ir::{Diagnostic, Source, Value};
use weir_syntax::{Language, ParseError};

use crate::fences::text::{FencedText, Sites};
use crate::fences::{self, Fences, unit_cost};
use crate::session::Session;
use crate::verdict::{Failure, Limit};
use crate::{check, reach, robust};

/// A program that was read from text without errors.
///
/// It dereferences to the automata that analyses work on, so every function of this library accepts it.
///
/// ```
/// use weir::{Language, Program, Session, Verdict};
///
/// let program = Program::parse(
///     "shared x, y;
///      thread P { x = 1; let r = y; }
///      thread Q { y = 1; let s = x; }
///      forbid P at end && Q at end && P.r == 0 && Q.s == 0;",
///     Language::Weir,
/// )?;
/// let session = Session::default();
/// assert!(matches!(program.check(&session)?.verdict, Verdict::Violated(_)));
/// assert!(matches!(program.robust(&session)?.verdict, Verdict::Violated(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    automata: weir_ir::Program,
    language: Language,
    constants: Vec<(String, Value)>,
    warnings: Vec<Diagnostic>,
}

impl Program {
    /// Reads a program.
    ///
    /// # Errors
    /// All errors in the text.
    ///
    /// ```
    /// use weir::{Language, Program};
    ///
    /// let error = Program::parse("thread P { x = 1; }", Language::Weir).unwrap_err();
    /// assert_eq!(error.to_string(), "<text>:1:12: there is no register, shared cell or constant `x`");
    /// ```
    pub fn parse(text: impl Into<String>, language: Language) -> Result<Self, SourceError> {
        Self::read(Source::new("<text>", text), language, &[])
    }

    /// Reads a program from a named source, with other values for some of its constants.
    ///
    /// # Errors
    /// All errors in the text.
    ///
    /// ```
    /// use weir::ir::Source;
    /// use weir::{Language, Program};
    ///
    /// let source = Source::new("many.weir", "const N = 2; shared x; thread P[N] { x = 1; }");
    /// let program = Program::read(source, Language::Weir, &[("N".to_owned(), 5)])?;
    /// assert_eq!(program.threads.len(), 5);
    /// # Ok::<(), weir::SourceError>(())
    /// ```
    pub fn read(source: Source, language: Language, constants: &[(String, Value)]) -> Result<Self, SourceError> {
        match language.load(&source, constants) {
            Ok(parsed) => Ok(Self::new(parsed, language, constants)),
            Err(errors) => Err(SourceError { source, errors }),
        }
    }

    /// As [`Program::read`], within the limits of a session: for texts from elsewhere, which may be large. A short text
    /// is read even if a limit was reached before.
    ///
    /// # Errors
    /// All errors in the text, or the limit that was reached.
    ///
    /// ```
    /// use std::time::Duration;
    /// use weir::ir::Source;
    /// use weir::{Language, Limit, Limits, Program, ReadError, Session};
    ///
    /// let session = Session::new(Limits { time: Some(Duration::ZERO), ..Limits::default() });
    /// let text = format!("shared x; thread P {{ {} }}", "x = 1; ".repeat(100_000));
    /// let source = Source::new("large.weir", text);
    /// let error = Program::read_within(source, Language::Weir, &[], &session).unwrap_err();
    /// assert!(matches!(error, ReadError::Stopped(Limit::Time)));
    /// ```
    pub fn read_within(
        source: Source,
        language: Language,
        constants: &[(String, Value)],
        session: &Session,
    ) -> Result<Self, ReadError> {
        match language.load_until(&source, constants, session) {
            Ok(parsed) => Ok(Self::new(parsed, language, constants)),
            Err(ParseError::Invalid(errors)) => Err(ReadError::Invalid(SourceError { source, errors })),
            Err(_) => Err(ReadError::Stopped(session.ended_by())),
        }
    }

    fn new(parsed: weir_syntax::Parsed, language: Language, constants: &[(String, Value)]) -> Self {
        let weir_syntax::Parsed { program, warnings } = parsed;
        Self { automata: program, language, constants: constants.to_vec(), warnings }
    }

    /// The language it was read from.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The constants that were given other values.
    pub fn constants(&self) -> &[(String, Value)] {
        &self.constants
    }

    /// Warnings and notes about the text, in its order.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Whether every property holds under TSO, one by one: a portfolio of engines.
    ///
    /// # Errors
    /// If the program has no properties, if no engine supports it, or if an invariant of Weir is broken.
    ///
    /// ```
    /// use weir::{Language, Program, Session, Verdict};
    ///
    /// let text = "shared x; thread P { x = 1; } forbid x == 2; exists x == 1; always x == 2;";
    /// let answer = Program::parse(text, Language::Weir)?.check(&Session::default())?;
    /// assert!(matches!(answer.verdict, Verdict::Violated(_)));
    /// let each: Vec<&str> = answer.properties.iter().map(|property| property.judgement.name()).collect();
    /// assert_eq!(each, ["holds", "met", "violated"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self, session: &Session) -> Result<check::Report, Failure> {
        check::check(self, &check::Options::default(), session)
    }

    /// Whether a property can be violated, asked of one engine.
    ///
    /// # Errors
    /// If the engine does not support the program, or if an invariant of Weir is broken.
    ///
    /// ```
    /// use weir::reach::{Engine, Options};
    /// use weir::{Language, Program, Session, Verdict};
    ///
    /// let text = "shared x; thread P { loop { x = 1; } } forbid x == 2;";
    /// let options = Options { engine: Engine::Dual, ..Options::default() };
    /// let report = Program::parse(text, Language::Weir)?.reach(&options, &Session::default())?;
    /// assert!(matches!(report.verdict, Verdict::Holds));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reach(&self, options: &reach::Options, session: &Session) -> Result<reach::Report, Failure> {
        reach::reach(self, options, session)
    }

    /// Whether it behaves under TSO only as it can under SC.
    ///
    /// # Errors
    /// If the program uses something that is not supported, or if an invariant of Weir is broken.
    ///
    /// ```
    /// use weir::{Language, Program, Session, Verdict};
    ///
    /// let text = "shared x, y; thread P { x = 1; fence; let r = y; } thread Q { y = 1; fence; let r = x; }";
    /// let report = Program::parse(text, Language::Weir)?.robust(&Session::default())?;
    /// assert!(matches!(report.verdict, Verdict::Holds));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn robust(&self, session: &Session) -> Result<robust::Report, Failure> {
        robust::robust(self, &robust::Options::default(), session)
    }
}

impl Program {
    /// The cheapest fences that make it robust (or what else the options ask for), each fence at a cost of 1 per thread
    /// that runs it, and the text with them, which was read and checked again.
    ///
    /// # Errors
    /// If the program uses something that is not supported, or if an invariant of Weir is broken.
    ///
    /// ```
    /// use weir::{Language, Program, Session};
    ///
    /// let text = "shared x, y;\nthread P { x = 1; let r = y; }\nthread Q { y = 1; let s = x; }\n";
    /// let program = Program::parse(text, Language::Weir)?;
    /// let repair = program.fences(&Default::default(), &Session::default())?;
    /// assert_eq!(repair.report.cost, 2);
    /// assert_eq!(repair.lines, [2, 3]);
    /// let fenced = repair.text.expect("fences help").text;
    /// weir::assert_robust!(&fenced);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fences(&self, options: &fences::Options, session: &Session) -> Result<Repair, Failure> {
        let mut sites = Sites::of(self, self.language, &self.constants, session)?;
        sites.list.iter_mut().for_each(|site| site.place.cost = unit_cost(&site.place.after));
        let report = fences::fences(&sites.program, &sites.places(), options, session)?;
        let chosen = match &report.fences {
            Fences::Cheapest(sets) => sets.first().cloned(),
            _ => None,
        };
        let lines = chosen.iter().flatten().map(|&number| sites.line(&sites.list[number])).collect();
        let text = chosen.map(|chosen| sites.write(self, &chosen, options, session)).transpose()?;
        Ok(Repair { report, lines, text })
    }
}

/// Fences for a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Repair {
    /// What was found, and how.
    pub report: fences::Report,
    /// The lines before which the fences of the first cheapest set go.
    pub lines: Vec<u32>,
    /// The program with these fences. None if no fences help, or a limit was reached.
    pub text: Option<FencedText>,
}

impl Deref for Program {
    type Target = weir_ir::Program;

    fn deref(&self) -> &weir_ir::Program {
        &self.automata
    }
}

/// Why a text is not a program.
#[derive(Clone, Debug)]
pub struct SourceError {
    source: Source,
    errors: Vec<Diagnostic>,
}

impl SourceError {
    /// The text.
    pub fn source_text(&self) -> &Source {
        &self.source
    }

    /// The errors, in order of the text; at least one.
    pub fn errors(&self) -> &[Diagnostic] {
        &self.errors
    }
}

impl fmt::Display for SourceError {
    /// One line per error: source, line, column, message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.errors.iter().enumerate() {
            let place = self.source.line_column(error.primary.span.start);
            let separator = if at == 0 { "" } else { "\n" };
            let (name, line, column) = (self.source.name(), place.line, place.column);
            write!(f, "{separator}{name}:{line}:{column}: {}", error.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for SourceError {}

/// Why a program was not read within a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not a program.
    Invalid(SourceError),
    /// A limit was reached.
    Stopped(Limit),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(error) => error.fmt(f),
            Self::Stopped(limit) => limit.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}
