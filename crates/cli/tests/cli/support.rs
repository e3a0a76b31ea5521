//! Running the program.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a run of the program left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

/// The program, with an environment that does not depend on who runs the tests.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.current_dir(root()).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env("COLUMNS", "100");
    command
}

/// Runs the program with these arguments and nothing on standard input.
pub(crate) fn weir(arguments: &[&str]) -> Ran {
    weir_with_input(arguments, b"")
}

/// Runs the program with these arguments and this standard input.
pub(crate) fn weir_with_input(arguments: &[&str], input: &[u8]) -> Ran {
    let started = Instant::now();
    let mut command = program();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let input = input.to_vec();
    // From a thread of its own: the program may answer before it has read everything.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("the program ends");
    let _ = writer.join();
    Ran {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        took: started.elapsed(),
    }
}

impl Ran {
    /// The one JSON object on standard output.
    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.stdout.lines().count(), 1, "one line of JSON: {self:?}");
        serde_json::from_str(&self.stdout).expect("stdout is JSON")
    }

    /// Whatever it said, it was no bug of ours.
    pub(crate) fn assert_no_bug(&self) {
        let said = self.stdout.clone() + &self.stderr;
        assert!(!said.contains("bug in Weir") && !said.contains("panicked"), "{said}");
        assert!(self.status.is_some(), "killed by a signal: {said}");
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository exists")
}

/// A program of the test data.
pub(crate) fn sample(name: &str) -> String {
    format!("tests/cli/programs/{name}.weir")
}

/// A directory of this test's own, empty.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("the scratch directory can be made");
    directory
}

/// Writes a file into a directory and names it.
pub(crate) fn write(directory: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = directory.join(name);
    std::fs::write(&path, content).expect("the scratch directory can be written");
    path.to_str().expect("the path is UTF-8").to_owned()
}
