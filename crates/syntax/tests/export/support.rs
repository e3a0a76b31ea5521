//! Programs, folders and other tools.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use weir_ir::{Program, Source};
use weir_syntax::Language;

/// A new folder, removed when this is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("weir-export-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for temporary files");
        Self(path)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("a temporary file");
    }

    /// Runs a command in the folder.
    pub(crate) fn run(&self, command: &str, arguments: &[&str]) -> Output {
        let local = self.0.join(command);
        let program = if local.exists() { local.as_path() } else { Path::new(command) };
        let output = Command::new(program).args(arguments).current_dir(&self.0).output();
        output.unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// Runs a command that must succeed without a word on standard error.
    pub(crate) fn run_quietly(&self, command: &str, arguments: &[&str], text: &str) -> String {
        let output = self.run(command, arguments);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && err.is_empty(), "{command}: {out}\n{err}\n{text}");
        out.into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether all of these commands are there. Says so if not, since a test is then skipped.
pub(crate) fn have(commands: &[(&str, &str)]) -> bool {
    for (command, argument) in commands {
        if !Command::new(command).arg(argument).output().is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: `{command}` is not installed");
            return false;
        }
    }
    true
}

/// How many programs to try: the variable's value, else the default.
pub(crate) fn count(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A program of Weir's own language.
pub(crate) fn read(text: &str) -> Program {
    let parsed = Language::Weir.load(&Source::new("test.weir", text), &[]);
    parsed.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program
}

/// All programs in `examples/`, by name.
pub(crate) fn examples() -> Vec<(String, Program)> {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.ends_with("parameterized") || path.ends_with("dynamic") {
                // No export has arbitrarily many threads.
            } else if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "weir") {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let text = std::fs::read_to_string(&path).expect("an example is readable");
                let parsed = Language::Weir.load(&Source::new(name.as_str(), text), &[]);
                found.push((name, parsed.expect("an example is a program").program));
            }
        }
    }
    found.sort_by(|left, right| left.0.cmp(&right.0));
    found
}
