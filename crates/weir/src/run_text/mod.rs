//! Runs in plain text: what each step does, and a list of all steps for messages of tests and logs. `weir-report` draws
//! runs as tables, graphs and pictures.

mod step;

use std::fmt::Write as _;

use weir_ir::Program;
use weir_witness::Checked;

pub use step::{StepDescriber, StepText, step_texts};

/// A run, one line per step: its number, the thread, what it does, and the line of the source.
///
/// ```
/// use weir::{Language, Program, Session, Verdict, describe};
///
/// let text = "shared x; thread P { x = 1; let r = x; assert r == 2; }";
/// let program = Program::parse(text, Language::Weir)?;
/// let Verdict::Violated(why) = program.check(&Session::default())?.verdict else { panic!("it is unsafe") };
/// let run = why.run().expect("an assertion fails in a run");
/// assert!(describe(&program, run).starts_with("  1  P  x = 1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn describe(program: &Program, checked: &Checked) -> String {
    let texts: Vec<String> = step_texts(program, checked.replay()).iter().map(ToString::to_string).collect();
    let events = checked.replay().events();
    let name = |thread| program.thread(thread).name.as_str();
    let widest = events.iter().map(|event| name(event.thread).chars().count()).max().unwrap_or(0);
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let mut lines = String::new();
    for ((number, event), text) in (1..).zip(events).zip(&texts) {
        let (thread, line) = (name(event.thread), event.line(program));
        let _ = writeln!(lines, "{number:>3}  {thread:<widest$}  {text:<longest$}  line {line}");
    }
    lines
}
