//! Compiles the copy. Mutants that do not compile are taken out: the compiler's messages tell which they are.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::mutant::Mutant;
use crate::tree::{Places, Tree};

#[derive(Deserialize)]
struct Message {
    reason: String,
    message: Option<Diagnostic>,
    executable: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
    manifest_path: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
    spans: Vec<Place>,
    #[serde(default)]
    children: Vec<Diagnostic>,
}

#[derive(Deserialize)]
struct Place {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
}

impl Diagnostic {
    fn places(&self) -> Vec<&Place> {
        self.spans.iter().chain(self.children.iter().flat_map(|child| &child.spans)).collect()
    }
}

/// A test binary.
#[derive(Clone, Debug)]
pub(crate) struct Binary {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// Where cargo would run it.
    pub(crate) directory: PathBuf,
}

fn cargo(tree: &Tree, arguments: &[&str]) -> io::Result<Vec<Message>> {
    let mut child = Command::new("cargo")
        .args(arguments)
        .arg("--message-format=json")
        .current_dir(&tree.root)
        // Not the build directory of the original: cargo does not tell a crate from its copy.
        .env("CARGO_TARGET_DIR", tree.root.join("../build"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let output = child.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
    let mut messages = Vec::new();
    for line in BufReader::new(output).lines() {
        if let Ok(message) = serde_json::from_str(&line?) {
            messages.push(message);
        }
    }
    child.wait()?;
    Ok(messages)
}

/// Writes the mutants into the copy and takes out those that do not compile. The file keeps their names for the next
/// run.
pub(crate) fn settle(tree: &Tree, mutants: &mut [Option<Mutant>], known: &Path) -> io::Result<()> {
    let mut uncompilable: BTreeSet<String> =
        std::fs::read_to_string(known).unwrap_or_default().lines().map(str::to_owned).collect();
    for mutant in mutants.iter_mut() {
        mutant.take_if(|mutant| uncompilable.contains(&mutant.name()));
    }
    loop {
        let places = tree.instrument(mutants)?;
        let messages = cargo(tree, &["check", "--workspace", "--lib"])?;
        let errors: Vec<Diagnostic> =
            messages.into_iter().filter_map(|message| message.message).filter(|found| found.level == "error").collect();
        if errors.is_empty() {
            return Ok(());
        }
        let guilty: BTreeSet<usize> = errors.iter().flat_map(|error| blamed(&places, error)).collect();
        if guilty.is_empty() {
            let text = errors.iter().filter_map(|error| error.rendered.as_deref()).collect::<String>();
            return Err(io::Error::other(format!("the copy does not compile:\n{text}")));
        }
        for number in guilty {
            if let Some(mutant) = mutants[number].take() {
                uncompilable.insert(mutant.name());
            }
        }
        std::fs::write(known, uncompilable.iter().map(|name| format!("{name}\n")).collect::<String>())?;
    }
}

/// The mutants that an error is about: those that it points into, else the nearest one before it in that file, else the
/// file's first.
fn blamed(places: &Places, error: &Diagnostic) -> Vec<usize> {
    let mut inside = Vec::new();
    let mut near = Vec::new();
    for place in error.places() {
        let Some(mutants) = places.get(&place.file_name) else { continue };
        let touches = |range: &std::ops::Range<usize>| place.byte_start < range.end && range.start < place.byte_end;
        inside.extend(mutants.iter().filter(|(_, range)| touches(range)).map(|(number, _)| *number));
        let before = mutants.iter().rev().find(|(_, range)| range.start <= place.byte_start);
        near.extend(before.or(mutants.first()).map(|(number, _)| *number));
    }
    if inside.is_empty() { near } else { inside }
}

/// Compiles the tests that the arguments name.
pub(crate) fn tests(tree: &Tree, selection: &[String]) -> io::Result<Vec<Binary>> {
    let mut arguments = vec!["test", "--no-run"];
    arguments.extend(selection.iter().map(String::as_str));
    let messages = cargo(tree, &arguments)?;
    let errors: String = messages
        .iter()
        .filter_map(|message| message.message.as_ref())
        .filter(|found| found.level == "error")
        .filter_map(|found| found.rendered.as_deref())
        .collect();
    if !errors.is_empty() {
        return Err(io::Error::other(format!("the tests do not compile:\n{errors}")));
    }
    let binary = |message: Message| {
        let is_test = message.reason == "compiler-artifact" && message.profile.is_some_and(|profile| profile.test);
        let directory = message.manifest_path?.parent().map(Path::to_owned)?;
        is_test.then_some(Binary { name: message.target?.name, path: message.executable?, directory })
    };
    let found: Vec<Binary> = messages.into_iter().filter_map(binary).collect();
    if found.is_empty() { Err(io::Error::other("no test binary was built")) } else { Ok(found) }
}
