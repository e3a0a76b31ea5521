//! SPIN's generated verifier: how it is made, with how much memory it runs, and what its report means.

use std::io;
use std::path::Path;
use std::process::Command;

use crate::families::Answer;
use crate::measure::{Limits, measure};
use crate::outcome::{Found, Outcome};

/// The file with the model.
pub(crate) const MODEL: &str = "model.pml";

/// The lengths of the stack that are tried, one after the other.
const DEPTHS: [u64; 2] = [1_000_000, 10_000_000];

/// Makes the verifier, and returns the command that runs it. Its stack and its hash table are as large as the search
/// needs, which a run that is not measured tells: with its defaults, it would spend a tenth of a second and 180 MB on
/// the smallest search, and with smaller ones it would have to move its table as it grows.
pub(crate) fn prepare(model: &str, options: &[&str], folder: &Path, limits: Limits) -> io::Result<Vec<String>> {
    compile(model, options, folder)?;
    let command = |options: [String; 2]| [&["./pan".to_owned()], &options[..]].concat();
    for depth in DEPTHS {
        let given = command([format!("-m{depth}"), "-w24".to_owned()]);
        let probe = measure(&given, folder, limits)?;
        if !is_too_deep(&probe.output) {
            return Ok(sized(&probe.output).map_or(given, command));
        }
    }
    Ok(command([format!("-m{}", DEPTHS[DEPTHS.len() - 1]), "-w24".to_owned()]))
}

/// Generates and compiles it, with the options that the model itself asks for.
fn compile(model: &str, options: &[&str], folder: &Path) -> io::Result<()> {
    let own = model.lines().find_map(|line| line.split_once("gcc -O2 -DSAFETY")?.1.split_once("-o pan"));
    let own = own.map(|(options, _)| options.split_whitespace()).into_iter().flatten();
    let run = |command: &mut Command| -> io::Result<()> {
        let output = command.current_dir(folder).output()?;
        let said = || String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(()) } else { Err(io::Error::other(said())) }
    };
    run(Command::new("spin").args(["-a", MODEL]))?;
    run(Command::new("cc").args(["-O2", "-DSAFETY"]).args(own).args(options).args(["-o", "pan", "pan.c"]))
}

fn is_too_deep(report: &str) -> bool {
    report.contains("max search depth too small")
}

/// The options for a search like the reported one: a stack for its depth, and a hash table with about as many slots as
/// there are states, as SPIN's manual advises.
fn sized(report: &str) -> Option<[String; 2]> {
    let depth: u64 = report.split_once("depth reached ")?.1.split(',').next()?.trim().parse().ok()?;
    let slots = states(report)?.next_power_of_two().ilog2().clamp(16, 28);
    Some([format!("-m{}", depth + 100), format!("-w{slots}")])
}

/// States that were stored. A number of more than eight digits is printed as 1.2e+08.
fn states(report: &str) -> Option<u64> {
    let line = report.lines().find(|line| line.contains("states, stored"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|states| states as u64)
}

/// What the report of a verifier says; nothing if there is none.
pub(crate) fn read(report: &str, reduces: bool) -> Option<Outcome> {
    let errors = report.lines().find_map(|line| line.split_once("errors: ")?.1.trim().parse::<u64>().ok())?;
    // An error ends the search, which is no reason to doubt it, unless it is about the model itself.
    let doubts: &[(&str, &str)] = &[
        ("OUTSIDE", "a value outside the range of the model"),
        ("max search depth too small", "search depth too small"),
        ("Search not completed", "search not completed"),
    ];
    let doubts = if errors > 0 { &doubts[..1] } else { doubts };
    if let Some((_, reason)) = doubts.iter().find(|(sign, _)| report.contains(sign)) {
        return Some(Outcome::Unknown((*reason).to_owned()));
    }
    let answer = if errors == 0 { Answer::Safe } else { Answer::Unsafe };
    let reduction = if reduces { "partial order" } else { "" };
    Some(Outcome::Answered(Found { answer, states: states(report), reduction: reduction.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(answer: Answer, states: Option<u64>, reduction: &str) -> Option<Outcome> {
        Some(Outcome::Answered(Found { answer, states, reduction: reduction.to_owned() }))
    }

    #[test]
    fn reports_of_spin_are_read() {
        let report = |errors: u32, more: &str| {
            format!("{more}\nState-vector 52 byte, depth reached 70, errors: {errors}\n     3930 states, stored\n")
        };
        assert_eq!(read(&report(0, ""), true), found(Answer::Safe, Some(3930), "partial order"));
        assert_eq!(read(&report(0, ""), false), found(Answer::Safe, Some(3930), ""));
        let stopped = "pan:1: assertion violated 0 (at depth 9)\nWarning: Search not completed";
        assert_eq!(read(&report(1, stopped), true), found(Answer::Unsafe, Some(3930), "partial order"));
        for more in ["error: max search depth too small", "assertion violated OUTSIDE", "Warning: Search not completed"]
        {
            assert!(matches!(read(&report(0, more), true), Some(Outcome::Unknown(_))), "{more}");
        }
        assert_eq!(read("pan: out of memory", true), None);
        let many = "depth reached 70, errors: 0\n 1.2345678e+08 states, stored\n";
        assert_eq!(read(many, true), found(Answer::Safe, Some(123_456_780), "partial order"));
    }

    #[test]
    fn the_verifier_gets_as_much_as_it_needs() {
        let report =
            |states: &str| format!("State-vector 52 byte, depth reached 17071, errors: 0\n {states} states, stored\n");
        let options = |depth: &str, slots: &str| Some([depth.to_owned(), slots.to_owned()]);
        assert_eq!(sized(&report("77421")), options("-m17171", "-w17"));
        assert_eq!(sized(&report("3")), options("-m17171", "-w16"));
        assert_eq!(sized(&report("1.2345678e+09")), options("-m17171", "-w28"));
        assert_eq!(sized("pan: out of memory"), None);
        assert!(is_too_deep("error: max search depth too small") && !is_too_deep(&report("3")));
    }
}
