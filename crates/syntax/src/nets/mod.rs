//! Petri nets as text: `.spec`, the format of the mist tools, and `.tts`, thread transition systems as BFC reads them.
//!
//! A net is no program: it has no threads, cells or instructions, and becomes a [`Net`](weir_ir::net::Net) rather than
//! a [`Program`](weir_ir::Program). So these formats are not among the [languages](crate::Language) of programs.

mod effect;
mod parsed;
mod question;
mod spec;
mod spec_tokens;
mod tts;

use weir_ir::{Interrupt, Poll, Source};

use crate::parsed::ParseError;

pub use parsed::ParsedNet;
pub use question::{ThreadQuestion, read_initial, read_target};

/// A format of nets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NetFormat {
    /// Guarded assignments over counters, as mist reads them.
    Spec,
    /// Thread transition systems, as BFC reads them.
    Tts,
}

impl NetFormat {
    /// All formats.
    pub const ALL: [Self; 2] = [Self::Spec, Self::Tts];

    /// Its name on the command line, and the extension of its files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::Tts => "tts",
        }
    }

    /// What it is, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Spec => "Petri nets with transfers and resets, in the format of mist",
            Self::Tts => "Thread transition systems, in the format of BFC",
        }
    }

    /// The format of this name or extension, whatever its case.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name().eq_ignore_ascii_case(name))
    }

    /// Whether the text says where the net starts and what is looked for. If not, the asker does.
    pub fn has_question(self) -> bool {
        self == Self::Spec
    }

    /// Reads a net, unless that is interrupted. A thread transition system starts where `question` says, and its
    /// targets are those of `question`; a `.spec` file has its own.
    ///
    /// # Errors
    /// All that is wrong with the source, in its order.
    pub fn parse_until(
        self,
        source: &Source,
        question: &ThreadQuestion,
        interrupt: &dyn Interrupt,
    ) -> Result<ParsedNet, ParseError> {
        let poll = Poll::later(interrupt);
        let read = match self {
            Self::Spec => spec::read(source, &poll),
            Self::Tts => tts::read(source, question, &poll),
        };
        ParseError::unless_over(&poll, read)
    }
}
