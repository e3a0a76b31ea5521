//! `weir replay`: is a saved run or certificate valid?

use std::collections::BTreeMap;
use std::slice;

use weir_ir::Value;
use weir_report::answer::{Answer, CertificateAnswer, CommandName, ReplayAnswer};
use weir_report::saved::{Rejection, Saved};
use weir_report::wording::clean::display_name;

use super::task::{Allowance, Task, Work};
use crate::args::{ProgramOptions, ReplayOptions};
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::input::read_text;
use crate::limits::MAX_SAVED_BYTES;
use crate::load::load;

/// Runs it.
pub(super) fn run(options: &'static ReplayOptions, console: &mut Console) -> Status {
    let files = slice::from_ref(&options.file);
    let (command, format) = (CommandName::Replay, options.format);
    let one = |task: &Task<'_>, console: &mut Console| one(task, options, console);
    Work { command, format, files, limits: Allowance::of_resources(&options.limits), is_spaced: false, one }
        .run(console)
}

fn one(task: &Task<'_>, options: &ReplayOptions, console: &mut Console) -> Result<Status, Error> {
    let saved = read(options)?;
    let given = |defines: &BTreeMap<String, Value>| ProgramOptions {
        from: options.from,
        defines: defines.iter().map(|(name, &value)| (name.clone(), value)).collect(),
    };
    match &saved {
        Saved::Run(saved) => {
            let loaded = load(task.file, &given(&saved.defines), &task.session)?;
            let result = saved.replay(&loaded.program);
            let subject = task.subject(&loaded);
            let answer = ReplayAnswer::new(&subject, &options.witness, saved, result);
            Ok(task.answer(&Answer::Replay(Box::new(answer)), false, console))
        }
        Saved::Proof(saved) => {
            let loaded = load(task.file, &given(&saved.defines), &task.session)?;
            let result = match saved.check(&loaded.program, &task.session) {
                Err(Rejection::Interrupted) => return Err(Error::Stopped(task.session.ended_by())),
                Err(Rejection::Mismatch(mismatch)) => Err(mismatch),
                Ok(()) => Ok(()),
            };
            let subject = task.subject(&loaded);
            let answer = CertificateAnswer::new(&subject, &options.witness, saved, result);
            Ok(task.answer(&Answer::Certificate(answer), false, console))
        }
    }
}

/// Reads the saved witness or certificate.
fn read(options: &ReplayOptions) -> Result<Saved, Error> {
    let bad = |reason: String| Error::input(format!("the witness {}: {reason}", display_name(&options.witness)));
    let text = read_text(&options.witness, MAX_SAVED_BYTES).map_err(|error| bad(error.reason()))?;
    Saved::parse(&text).map_err(bad)
}
