//! The languages behind one interface: how each is recognised, read and printed, where a fence can stand in it, and how
//! it is written there.
//! A new language is one folder, one variant here and an arm in each of these functions.

use weir_ir::sort::sort_by_key;
use weir_ir::{Diagnostic, Interrupt, Poll, Program, Source, Uninterrupted, Value};

use crate::fences::{self, FenceSites};
use crate::parsed::{ParseError, Parsed};
use crate::{litmus, rmm, trencher, weir};

/// A language that programs are written in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Language {
    /// Weir's own language.
    Weir,
    /// Litmus tests for x86, as herd7, litmus7 and diy7 read and write them.
    Litmus,
    /// The language of Memorax.
    Rmm,
    /// The language of Trencher.
    Trencher,
    /// Compiled code for x86-64. It is not text: another crate reads it, and what it reads has a listing for its text.
    X86,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Weir, Self::Litmus, Self::Rmm, Self::Trencher, Self::X86];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Weir => "weir",
            Self::Litmus => "litmus",
            Self::Rmm => "rmm",
            Self::Trencher => "trencher",
            Self::X86 => "x86",
        }
    }

    /// What it is, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Weir => "Weir's own language (`.weir`)",
            Self::Litmus => "Litmus tests for x86, in the format of herd7, litmus7 and diy7",
            Self::Rmm => "The language of Memorax (`.rmm`)",
            Self::Trencher => "The language of Trencher (`.trencher`, `.txt`)",
            Self::X86 => "Compiled code for x86-64: object files, static libraries, executables (`.o`, `.a`)",
        }
    }

    /// The language with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.name() == name)
    }

    /// The language of files with this extension, in upper or lower case.
    pub fn by_extension(extension: &str) -> Option<Self> {
        let extension = extension.to_ascii_lowercase();
        Self::ALL.into_iter().find(|language| language.extensions().contains(&extension.as_str()))
    }

    /// The extensions of its files, in lower case.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Weir => &["weir"],
            Self::Litmus => &["litmus"],
            Self::Rmm => &["rmm"],
            Self::Trencher => &["trencher", "txt"],
            Self::X86 => &["o", "a", "so", "elf"],
        }
    }

    /// Whether programs have named constants that can be given other values.
    pub fn has_constants(self) -> bool {
        self == Self::Weir
    }

    /// Reads a program. These values replace those of the constants in the source, where the language
    /// [has some](Self::has_constants).
    ///
    /// # Errors
    /// All that is wrong with the source, in its order.
    pub fn parse(self, source: &Source, constants: &[(String, Value)]) -> Result<Parsed, Vec<Diagnostic>> {
        self.read(source, constants, &Poll::new(&Uninterrupted))
    }

    /// As [`Language::parse`], unless it is interrupted. A short text is read in any case.
    ///
    /// # Errors
    /// As [`Language::parse`].
    pub fn parse_until(
        self,
        source: &Source,
        constants: &[(String, Value)],
        interrupt: &dyn Interrupt,
    ) -> Result<Parsed, ParseError> {
        let poll = Poll::later(interrupt);
        ParseError::unless_over(&poll, self.read(source, constants, &poll))
    }

    /// Reads a program. Once the poll is over, the result is of no use.
    fn read(self, source: &Source, constants: &[(String, Value)], poll: &Poll<'_>) -> Result<Parsed, Vec<Diagnostic>> {
        match self {
            Self::Weir => weir::read(source, &weir::Options { defines: constants.to_vec() }, false, poll),
            Self::Litmus => {
                litmus::read(source, poll).map(|test| Parsed { program: test.program, warnings: Vec::new() })
            }
            Self::Rmm => rmm::read(source, poll),
            Self::Trencher => trencher::read(source, poll),
            Self::X86 => {
                let message = "compiled code is not text";
                Err(vec![Diagnostic::error("not-text", message, weir_ir::Span::default())])
            }
        }
    }

    /// Reads a program and checks it: [`Language::parse`], validation, and [lints](weir_ir::lint) where they
    /// [apply](Self::is_linted). Warnings are in order of the source.
    ///
    /// # Errors
    /// All errors in the source, in its order.
    pub fn load(self, source: &Source, constants: &[(String, Value)]) -> Result<Parsed, Vec<Diagnostic>> {
        self.load_until(source, constants, &Uninterrupted).map_err(|error| match error {
            ParseError::Invalid(errors) => errors,
            ParseError::Interrupted => unreachable!("nothing interrupts it"),
        })
    }

    /// As [`Language::load`], unless it is interrupted. If that happens after the program was read, only lints are left
    /// out.
    ///
    /// # Errors
    /// As [`Language::load`].
    pub fn load_until(
        self,
        source: &Source,
        constants: &[(String, Value)],
        interrupt: &dyn Interrupt,
    ) -> Result<Parsed, ParseError> {
        let Parsed { program, mut warnings } = self.parse_until(source, constants, interrupt)?;
        if self.is_linted() {
            let (errors, remarks): (Vec<_>, Vec<_>) =
                weir_ir::validate(&program).into_iter().partition(Diagnostic::is_error);
            if !errors.is_empty() {
                return Err(ParseError::Invalid(errors));
            }
            warnings.extend(remarks);
            warnings.extend(weir_ir::lint_until(&program, interrupt));
            sort_by_key(&mut warnings, |warning| (warning.primary.span, warning.code));
        }
        Ok(Parsed { program, warnings })
    }

    /// Prints a program, which need not have been read from this language. `None` if Weir does not write the language.
    ///
    /// # Errors
    /// What the language cannot express.
    pub fn print(self, program: &Program) -> Option<Result<String, Vec<Diagnostic>>> {
        match self {
            Self::Weir => Some(Ok(weir::print::print(program))),
            Self::Trencher => Some(trencher::print::print(program)),
            Self::Litmus | Self::Rmm | Self::X86 => None,
        }
    }

    /// A fence as it is written.
    pub fn fence(self) -> &'static str {
        match self {
            Self::Weir | Self::Rmm => "fence;",
            Self::Litmus => "MFENCE",
            Self::Trencher | Self::X86 => "mfence",
        }
    }

    /// Whether the checks that people benefit from apply: litmus tests do on purpose what lints would remark on, and
    /// compilers do what they like.
    pub fn is_linted(self) -> bool {
        !matches!(self, Self::Litmus | Self::X86)
    }

    /// Where fences can stand in a program that was read from this language with these constants.
    ///
    /// # Errors
    /// As [`Language::parse_until`].
    pub fn fence_sites(
        self,
        program: &Program,
        constants: &[(String, Value)],
        interrupt: &dyn Interrupt,
    ) -> Result<FenceSites, ParseError> {
        match self {
            Self::Weir => fences::in_marked_text(program, constants, interrupt),
            Self::Trencher => Ok(fences::at_each_location(program)),
            Self::Litmus | Self::Rmm | Self::X86 => Ok(fences::between_statements(program)),
        }
    }

    /// The text with fences before what begins at these offsets. `None` if the language is not written by hand, or the
    /// text has a form that fences cannot be written into.
    pub fn write_fences(self, text: &str, offsets: impl IntoIterator<Item = u32>) -> Option<String> {
        match self {
            Self::Weir | Self::Rmm => Some(weir::fence_places::write_fences(text, offsets)),
            Self::Litmus => litmus::fences::write_fences(text, offsets),
            Self::Trencher | Self::X86 => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_lead_back() {
        for language in Language::ALL {
            assert_eq!(Language::by_name(language.name()), Some(language));
            for extension in language.extensions() {
                assert_eq!(Language::by_extension(&extension.to_uppercase()), Some(language));
            }
        }
        assert_eq!(Language::by_extension("txt"), Some(Language::Trencher));
        assert_eq!((Language::by_name("c"), Language::by_extension("c")), (None, None));
    }

    #[test]
    fn every_fence_can_be_read() {
        let texts = [
            (Language::Weir, "thread P { @ }"),
            (Language::Litmus, "X86 f\n{ }\n P0 ;\n @ ;\nexists (x=0)\n"),
            (Language::Rmm, "forbidden\n  L\ndata\n  x = 0\nprocess\ntext\n  L: @\n"),
            (Language::Trencher, "thread t\ninitial a\ntransition a b @\nend\n"),
        ];
        for (language, text) in texts {
            let text =
                text.replace('@', language.fence().trim_end_matches(if language == Language::Rmm { ";" } else { "" }));
            let program = language.parse(&Source::new("fence", text.as_str()), &[]);
            let program = program.unwrap_or_else(|errors| panic!("{text}\n{errors:#?}")).program;
            let mut edges = program.body(weir_ir::ThreadId(0)).edges().iter();
            assert!(edges.any(|edge| edge.instruction == weir_ir::Instruction::Fence), "{text}");
        }
    }
}
