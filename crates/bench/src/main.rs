//! The benchmark suite: families of programs that grow with a number N, one question about each program, and every
//! tool that can answer it, measured in turns on one machine.
//!
//! Weir is measured as it is handed out: as a binary with a command line, like all other tools.

mod cases;
mod cliffs;
mod families;
mod measure;
mod outcome;
mod plots;
mod portfolio;
mod spin;
mod tables;
mod tools;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use cases::{Plan, Results};
use families::{FAMILIES, Family};
use measure::Limits;
use tools::Weir;

/// Measures Weir beside other tools, on families of programs that grow.
#[derive(Parser)]
#[command(after_help = "Examples:
  weir-bench --list
  weir-bench --family lamport --patience 5          One family, on the console
  weir-bench --patience 20 --rounds 3 --write       Everything, into docs/benchmarks.md and docs/benchmarks/
  weir-bench --portfolio --patience 30              `weir check` beside each of its engines

Exit status: 0 done, 1 a tool gave a wrong answer or crashed, 2 the suite could not run.")]
struct Arguments {
    /// Only this family; can be repeated [default: all]
    #[arg(long = "family", value_name = "NAME")]
    families: Vec<String>,

    /// Lists the families and the tools, and does nothing else
    #[arg(long)]
    list: bool,

    /// Asks `check` and each engine about all examples, rings and cliffs instead, and lists where `check` takes more
    /// than twice the time of the best engine and a fifth of a second
    #[arg(long, conflicts_with_all = ["list", "write"])]
    portfolio: bool,

    /// How often each tool is asked the same, in turns
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// CPU time for each answer. A tool that runs out of it is not asked about larger programs of the family
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    patience: u64,

    /// Address space for each answer, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    memory: u64,

    /// Number of workers that Weir may use
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: u32,

    /// The binary of Weir [default: `weir` beside this program]
    #[arg(long, value_name = "PATH")]
    weir: Option<PathBuf>,

    /// Writes tables and plots to docs/benchmarks.md and docs/benchmarks/, after each family. Families that are not
    /// measured keep what is there
    #[arg(long)]
    write: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, rest @ ..] = &arguments[..]
        && command == measure::COMMAND
    {
        return told(measure::here(rest).map(|report| say(&report)).map(|()| ExitCode::SUCCESS));
    }
    told(compare(&Arguments::parse()))
}

fn told(result: io::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        let _ = writeln!(io::stderr().lock(), "error: {error}");
        ExitCode::from(2)
    })
}

/// Prints a line. That nobody reads it is no reason to stop.
fn say(line: &str) {
    let _ = writeln!(io::stdout().lock(), "{line}");
}

fn compare(arguments: &Arguments) -> io::Result<ExitCode> {
    let families = if arguments.portfolio { Vec::new() } else { chosen(&arguments.families)? };
    if arguments.list {
        list(&families);
        return Ok(ExitCode::SUCCESS);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let scratch = std::env::temp_dir().join(format!("weir-bench-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let plan = Plan {
        weir: Weir { binary: binary(arguments.weir.as_deref())?, jobs: arguments.jobs },
        examples: root.join("examples"),
        scratch,
        rounds: arguments.rounds,
        limits: Limits { seconds: arguments.patience, bytes: arguments.memory << 20 },
    };
    let wrong = match arguments.portfolio {
        true => portfolio::run(&arguments.families, &plan, say),
        false => run(&families, &plan, arguments.write.then_some(root.join("docs")).as_deref()),
    };
    cases::remove(&plan.scratch)?;
    let wrong = wrong?;
    wrong.iter().for_each(|one| say(&format!("WRONG: {one}")));
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn chosen(names: &[String]) -> io::Result<Vec<&'static Family>> {
    if let Some(name) = names.iter().find(|name| FAMILIES.iter().all(|family| family.name != **name)) {
        return Err(io::Error::other(format!("there is no family `{name}`; `--list` shows all")));
    }
    Ok(FAMILIES.iter().filter(|family| names.is_empty() || names.iter().any(|name| name == family.name)).collect())
}

fn list(families: &[&Family]) {
    for family in families {
        say(&format!("{:<18} {}: {} N = {:?}", family.name, family.what, family.question.text(), family.sizes));
    }
    say("");
    tools::others().iter().for_each(|tool| say(tool));
}

/// The binary of Weir.
fn binary(given: Option<&Path>) -> io::Result<PathBuf> {
    let beside = || std::env::current_exe().map(|program| program.with_file_name("weir"));
    let binary = given.map_or_else(beside, |path| Ok(path.to_owned()))?;
    binary.canonicalize().map_err(|error| {
        let path = binary.display();
        io::Error::other(format!(
            "{path}: {error}; build it with `cargo build --release -p weir-cli`, or name it: `--weir PATH`"
        ))
    })
}

/// Measures these families; returns what went wrong.
fn run(families: &[&Family], plan: &Plan, docs: Option<&Path>) -> io::Result<Vec<String>> {
    let (mut wrong, mut behind) = (Vec::new(), Vec::new());
    for family in families {
        let results = cases::run(family, plan, say)?;
        let section = tables::section(family, &results, plan.rounds, plan.limits.seconds);
        say(&format!("\n{section}"));
        if let Some(docs) = docs {
            write(docs, family, &section, &results)?;
        }
        let told = |what: &str, found: Vec<String>| {
            found.into_iter().map(|one| format!("{what}: {}: {one}", family.name)).collect::<Vec<_>>()
        };
        behind.extend(told("check behind its engines", cases::behind_engines(&results.rows)));
        behind.extend(told("check behind SPIN", cases::behind_spin(&results.rows)));
        wrong.extend(results.wrong);
    }
    behind.iter().for_each(|one| say(one));
    Ok(wrong)
}

/// Puts the tables of a family into the document, and its plots beside it.
fn write(docs: &Path, family: &Family, section: &str, results: &Results) -> io::Result<()> {
    let plots = docs.join("benchmarks");
    std::fs::create_dir_all(&plots)?;
    std::fs::write(plots.join(format!("{}.svg", family.name)), plots::svg(family.name, &results.rows))?;
    let path = docs.join("benchmarks.md");
    let document = std::fs::read_to_string(&path)?;
    let preamble = tables::wrapped(&format!("Other tools in the last run: {}.", tools::others().join("; ")));
    let order: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
    let replaced = tables::replaced(&document, &preamble, &[(family.name, section.to_owned())], &order);
    let text = replaced.ok_or_else(|| io::Error::other(format!("{}: no place for the tables", path.display())))?;
    std::fs::write(path, text)
}
