//! Mutation testing: makes small, plausible mistakes in the source of Weir and asks whether the tests notice.
//!
//! All mutants of a run are compiled into one copy of the workspace, each behind a switch (`tree.rs`); the tests that
//! reach a mutant are known from a run with all switches off (`run.rs`). So a mutant costs no more than running some
//! tests, until one fails.

mod choose;
mod compile;
mod find;
mod mutant;
mod report;
mod run;
mod tree;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Parser;

use mutant::Mutant;
use report::Listed;
use run::Fate;
use tree::Tree;

/// Breaks the source in many small ways and asks whether the tests notice.
#[derive(Parser)]
#[command(after_help = "Examples:
  weir-mutants                                                      300 mutants of all modules, all tests
  weir-mutants --path crates/weir/src/prob --count 60 -- -p weir --lib --test prob
                                                                    60 mutants of one module, the tests that are about it")]
struct Arguments {
    /// Only files whose path begins so; may be repeated [default: the modules of the table in docs/testing.md]
    #[arg(long, value_name = "PREFIX")]
    path: Vec<String>,
    /// How many mutants, about
    #[arg(long, default_value_t = 300)]
    count: usize,
    /// Minimum number of each module
    #[arg(long, default_value_t = 20)]
    least: usize,
    /// Decides which mutants are chosen
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many tests run at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// About how many seconds of CPU time tests may take before a mutant counts as a survivor [default: all that reach it]
    #[arg(long, value_name = "SECONDS", default_value_t = f64::INFINITY, hide_default_value = true)]
    effort: f64,
    /// Where the copy of the workspace and its build are kept [default: target/mutants]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Runs only those of the chosen mutants that the last run with the same choice left unnoticed
    #[arg(long)]
    again: bool,
    /// Runs the mutants of tests/mutants/equivalent.tsv too: those that a test notices do not belong there
    #[arg(long)]
    with_listed: bool,
    /// Lists the chosen mutants and does nothing else
    #[arg(long)]
    list: bool,
    /// What `cargo test --no-run` is asked to build
    #[arg(last = true, default_value = "--workspace")]
    tests: Vec<String>,
}

fn main() -> ExitCode {
    match mutate(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Prints a line. That nobody reads it is no reason to stop.
fn say(line: &str) {
    let _ = writeln!(io::stdout().lock(), "{line}");
}

fn mutate(arguments: &Arguments) -> io::Result<ExitCode> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let all = found(&workspace, &arguments.path)?;
    let count = all.len();
    let chosen = choose::choose(all, arguments.count, arguments.least, arguments.seed);
    say(&format!("{} of {count} mutants chosen with seed {}", chosen.len(), arguments.seed));
    if arguments.list {
        chosen.iter().for_each(|mutant| say(&format!("{}:{}\t{}", mutant.file, mutant.line, mutant.name())));
        return Ok(ExitCode::SUCCESS);
    }
    let folder = arguments.folder.clone().unwrap_or_else(|| workspace.join("target/mutants"));
    let mut mutants: Vec<Option<Mutant>> = chosen.into_iter().map(Some).collect();
    let tree = Tree::copy(&workspace, &folder, &mutants)?;
    compile::settle(&tree, &mut mutants, &folder.join("uncompilable.txt"))?;
    let listed = std::fs::read_to_string(workspace.join("tests/mutants/equivalent.tsv")).unwrap_or_default();
    let listed = Listed::read(&listed);
    let left = folder.join("unnoticed.txt");
    let again = if arguments.again { Some(std::fs::read_to_string(&left)?) } else { None };
    let is_wanted = |mutant: &Mutant| {
        (arguments.with_listed || !listed.holds(mutant))
            && again.as_ref().is_none_or(|names| names.lines().any(|name| name == mutant.name()))
    };
    say(&format!("{} of them compile", mutants.iter().flatten().count()));
    let mut numbers: Vec<usize> =
        (0..mutants.len()).filter(|&number| mutants[number].as_ref().is_some_and(is_wanted)).collect();
    // The modules mixed, so that a run that is cut short says something about each.
    numbers.sort_by_key(|&number| (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    say(&format!("{} are tried; building the tests", numbers.len()));
    let binaries = compile::tests(&tree, &arguments.tests)?;
    let scratch = folder.join("reached");
    std::fs::create_dir_all(&scratch)?;
    let begun = Instant::now();
    let leave_out = |name: &str| say(&format!("{name} fails with every mutant off and is left out"));
    let tests = run::baseline(&binaries, &scratch, arguments.jobs, leave_out)?;
    say(&format!("{} tests pass with every mutant off, in {:.0} s", tests.len(), begun.elapsed().as_secs_f64()));
    let done = AtomicUsize::new(0);
    let tell = |number: usize, fate: &Fate| {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        let name = mutants[number].as_ref().map(|mutant| format!("{}:{} {}", mutant.file, mutant.line, mutant.change));
        say(&format!("[{done}/{}] {fate:?}: {}", numbers.len(), name.unwrap_or_default()));
    };
    let fates = run::fates(&binaries, &tests, &numbers, arguments.jobs, arguments.effort, tell)?;
    say(&format!("\n{}", report::table(&mutants, &fates, &listed)));
    let unnoticed = report::unnoticed(&mutants, &fates, &listed);
    unnoticed
        .iter()
        .for_each(|(mutant, fate)| say(&format!("{}:{}: {fate:?}\n{}\t", mutant.file, mutant.line, mutant.name())));
    std::fs::write(left, unnoticed.iter().map(|(mutant, _)| mutant.name() + "\n").collect::<String>())?;
    Ok(if unnoticed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// All mutants of the files with these prefixes, in order of files.
fn found(workspace: &Path, prefixes: &[String]) -> io::Result<Vec<Mutant>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(workspace.join("crates"))? {
        collect(&entry?.path().join("src"), &mut files)?;
    }
    files.sort();
    let mut all = Vec::new();
    for path in files {
        let file = path.strip_prefix(workspace).unwrap_or(&path).to_string_lossy().into_owned();
        let is_wanted = match prefixes {
            [] => choose::module(&file).is_some(),
            prefixes => prefixes.iter().any(|prefix| file.starts_with(prefix.as_str())),
        };
        if is_wanted && !is_test(&file) {
            let text = std::fs::read_to_string(&path)?;
            all.extend(find::mutants(&file, &text).map_err(|error| io::Error::other(format!("{file}: {error}")))?);
        }
    }
    Ok(all)
}

/// Whether the file is compiled for tests alone.
fn is_test(file: &str) -> bool {
    ["/tests/", "/testing/"].iter().any(|folder| file.contains(folder))
        || ["tests.rs", "/testing.rs"].iter().any(|name| file.ends_with(name))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
