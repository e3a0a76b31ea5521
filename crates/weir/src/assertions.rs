//! Assertions for tests: they fail with the run that shows why.

use weir_ir::Source;
use weir_syntax::Language;
use weir_witness::{Checked, Goal};

use crate::check::Violation;
use crate::program::{Program, ReadError};
use crate::reach;
use crate::run_text::describe;
use crate::session::Session;
use crate::verdict::{Limit, Verdict};

/// Asserts that a `.weir` program is robust: under TSO it behaves only as it can under SC.
///
/// Panics with a run that SC forbids if it is not, and with the errors if the text is not a program. A second argument
/// is a [`Session`](crate::Session), to set limits; a limit that is reached makes the assertion fail too.
///
/// ```should_panic
/// weir::assert_robust!(
///     "shared x, y;
///      thread P { x = 1; let r = y; }
///      thread Q { y = 1; let s = x; }"
/// );
/// ```
#[macro_export]
macro_rules! assert_robust {
    ($text:expr $(,)?) => {
        $crate::assert_robust!($text, &$crate::Session::default())
    };
    ($text:expr, $session:expr $(,)?) => {
        if let ::core::result::Result::Err(why) = $crate::__robust($text, $session) {
            ::core::panic!("{why}");
        }
    };
}

/// Asserts that every property of a `.weir` program holds under TSO, and that every `exists` is met.
///
/// Panics with a run that violates a property if there is one, if there are no properties, and with the errors if the
/// text is not a program. A second argument is a [`Session`](crate::Session), to set limits; a limit that is reached
/// makes the assertion fail too.
///
/// ```
/// weir::assert_safe!(
///     "shared held, owners;
///      thread P[2] {
///          while xchg(held, 1) == 1 { }
///          let n = owners;
///          owners = n + 1;
///          assert n == 0;
///          owners = 0;
///          held = 0;
///      }"
/// );
/// ```
#[macro_export]
macro_rules! assert_safe {
    ($text:expr $(,)?) => {
        $crate::assert_safe!($text, &$crate::Session::default())
    };
    ($text:expr, $session:expr $(,)?) => {
        if let ::core::result::Result::Err(why) = $crate::__safe($text, $session) {
            ::core::panic!("{why}");
        }
    };
}

#[doc(hidden)]
pub fn robust(text: &str, session: &Session) -> Result<(), String> {
    let program = parse(text, "robust", session)?;
    let report = program.robust(session).map_err(|failure| failure.to_string())?;
    conclude("robust", &program, &report.verdict)
}

#[doc(hidden)]
pub fn safe(text: &str, session: &Session) -> Result<(), String> {
    let program = parse(text, "safe", session)?;
    if reach::all_goals(&program).is_empty() {
        return Err("the program has no properties, so there is nothing to assert; use `assert_robust!`, or add \
                    `forbid` or `assert`"
            .to_owned());
    }
    let answer = program.check(session).map_err(|failure| failure.to_string())?;
    let verdict = match answer.verdict {
        Verdict::Holds => Verdict::Holds,
        Verdict::Unknown(limit) => Verdict::Unknown(limit),
        Verdict::Violated(Violation::Run(checked)) => Verdict::Violated(checked),
        Verdict::Violated(Violation::NotMet(Goal::Property(property))) => {
            let property = program.property_text(&program.properties[property.index()]);
            return Err(format!("the program is not safe: no run meets `{property}`"));
        }
        Verdict::Violated(Violation::NotMet(_)) => return Err("the program is not safe".to_owned()),
    };
    conclude("safe", &program, &verdict)
}

fn parse(text: &str, what: &str, session: &Session) -> Result<Program, String> {
    let source = Source::new("<text>", text);
    Program::read_within(source, Language::Weir, &[], session).map_err(|error| match error {
        ReadError::Invalid(error) => format!("this is not a `.weir` program:\n{error}"),
        ReadError::Stopped(limit) => unknown(what, limit),
    })
}

fn unknown(what: &str, limit: Limit) -> String {
    format!("it is unknown whether the program is {what}: {limit}")
}

fn conclude(what: &str, program: &Program, verdict: &Verdict<Box<Checked>>) -> Result<(), String> {
    match verdict {
        Verdict::Holds => Ok(()),
        Verdict::Violated(checked) => Err(format!("the program is not {what}:\n{}", describe(program, checked))),
        Verdict::Unknown(limit) => Err(unknown(what, *limit)),
    }
}
