//! One command, measured: its CPU time, its peak of resident memory, and how it ended.
//!
//! The system adds up what all children of a process took. So each command is started by a process of its own: this
//! program again, with the hidden command [`COMMAND`]. That process also takes on the limits, which its child inherits;
//! it does next to nothing itself, so that its own memory, which the system counts for the child until the child has
//! loaded its program, stays below that of any tool.

use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::libc::{SIGKILL, SIGXCPU};
use nix::sys::resource::{Resource, UsageWho, getrusage, setrlimit};
use nix::sys::time::TimeValLike;

/// The hidden command that measures: `measure SECONDS BYTES OUTPUT COMMAND…`.
pub(crate) const COMMAND: &str = "measure";

/// What a command may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// CPU time.
    pub(crate) seconds: u64,
    /// Address space, in bytes.
    pub(crate) bytes: u64,
}

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// With this status.
    Exit(i32),
    /// Killed by this signal.
    Signal(i32),
}

/// What a command took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Measured {
    /// User and system time.
    pub(crate) cpu: Duration,
    /// Peak of resident memory, in bytes.
    pub(crate) peak: u64,
    pub(crate) end: End,
    /// What it printed.
    pub(crate) output: String,
}

impl Measured {
    /// Whether it used up its CPU time. The signal alone tells: the system sends it by the ticks of its clock, and then
    /// reports up to a tenth less time. Whoever survives it is killed.
    pub(crate) fn is_out_of_time(&self, limits: Limits) -> bool {
        match self.end {
            End::Signal(SIGXCPU) => true,
            End::Signal(SIGKILL) => self.cpu >= Duration::from_secs(limits.seconds),
            _ => false,
        }
    }
}

/// Runs a command in a folder, within limits. What it prints goes through a file, since nobody reads while it runs.
pub(crate) fn measure(command: &[String], folder: &Path, limits: Limits) -> io::Result<Measured> {
    let printed = folder.join("printed");
    let output = Command::new(std::env::current_exe()?)
        .arg(COMMAND)
        .args([limits.seconds.to_string(), limits.bytes.to_string()])
        .arg(&printed)
        .args(command)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let report = Report::read(&text).ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        io::Error::other(format!("measuring `{}` failed: {}", command.join(" "), said.trim()))
    })?;
    let output = String::from_utf8_lossy(&std::fs::read(&printed)?).into_owned();
    Ok(Measured { cpu: Duration::from_micros(report.micros), peak: report.kibibytes * 1024, end: report.end, output })
}

/// The measuring process: runs the command and prints the report.
pub(crate) fn here(arguments: &[String]) -> io::Result<String> {
    let [seconds, bytes, printed, program, arguments @ ..] = arguments else {
        return Err(io::Error::other("expected SECONDS BYTES OUTPUT COMMAND…"));
    };
    let number = |text: &String| text.parse::<u64>().map_err(io::Error::other);
    let (seconds, bytes) = (number(seconds)?, number(bytes)?);
    // A process that survives the signal at the first limit is killed at the second one.
    setrlimit(Resource::RLIMIT_CPU, seconds, seconds + 2)?;
    setrlimit(Resource::RLIMIT_AS, bytes, bytes)?;
    // A core of a process that ran out of time is of no use, and large.
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    let printed = File::create(printed)?;
    let status = Command::new(program).args(arguments).stdout(printed.try_clone()?).stderr(printed).status()?;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    let report =
        Report { micros: micros.unsigned_abs(), kibibytes: usage.max_rss().unsigned_abs(), end: End::of(status) };
    Ok(report.text())
}

impl End {
    fn of(status: ExitStatus) -> Self {
        match status.code() {
            Some(code) => Self::Exit(code),
            None => Self::Signal(status.signal().unwrap_or(0)),
        }
    }
}

/// What the measuring process tells.
#[derive(PartialEq, Eq, Debug)]
struct Report {
    micros: u64,
    kibibytes: u64,
    end: End,
}

impl Report {
    fn text(&self) -> String {
        let (how, number) = match self.end {
            End::Exit(code) => ("exit", code),
            End::Signal(signal) => ("signal", signal),
        };
        format!("{} {} {how} {number}", self.micros, self.kibibytes)
    }

    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split_whitespace();
        let (micros, kibibytes) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let end = match (parts.next()?, parts.next()?.parse().ok()?) {
            ("exit", code) => End::Exit(code),
            ("signal", signal) => End::Signal(signal),
            _ => return None,
        };
        Some(Self { micros, kibibytes, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_reads_as_it_was_written() {
        for end in [End::Exit(3), End::Signal(24)] {
            let report = Report { micros: 1_234_567, kibibytes: 89, end };
            assert_eq!(Report::read(&report.text()), Some(report));
        }
        assert_eq!(Report::read("12 34 exit"), None);
        assert_eq!(Report::read(""), None);
    }

    #[test]
    fn only_a_killed_process_is_out_of_time() {
        let limits = Limits { seconds: 2, bytes: 0 };
        let measured =
            |seconds, end| Measured { cpu: Duration::from_secs(seconds), peak: 0, end, output: String::new() };
        assert!(measured(1, End::Signal(SIGXCPU)).is_out_of_time(limits), "the clocks of the system differ");
        assert!(measured(2, End::Signal(SIGKILL)).is_out_of_time(limits));
        assert!(!measured(1, End::Signal(SIGKILL)).is_out_of_time(limits), "killed by somebody else");
        assert!(!measured(3, End::Signal(11)).is_out_of_time(limits), "a crash");
        assert!(!measured(3, End::Exit(0)).is_out_of_time(limits), "an answer");
    }
}
