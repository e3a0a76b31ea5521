//! The tools: what each is asked, how it is started, and what its answer means.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::families::{Answer, Question};
use crate::measure::{End, Limits, Measured};
use crate::outcome::{Found, Outcome, Ready};
use crate::spin;

/// A tool, with the options that make it one row of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A command of Weir.
    Weir(&'static [&'static str]),
    /// The verifier that SPIN generates, compiled with these options.
    Spin(&'static [&'static str]),
    /// Trencher, with this option.
    Trencher(&'static str),
    Herd,
}

const fn weir(name: &'static str, arguments: &'static [&'static str]) -> Tool {
    Tool { name, kind: Kind::Weir(arguments) }
}

/// What is measured for each question; the first row is what the others are compared with.
const SAFE_SC: &[Tool] = &[
    weir("weir check", &["check", "--model", "sc"]),
    weir("explicit, all states", &["reach", "--model", "sc", "--symmetry", "off"]),
    weir("explicit, symmetry", &["reach", "--model", "sc"]),
    weir("explicit, local", &["reach", "--model", "sc", "--reduction", "local"]),
    weir("explicit, local, dfs", &["reach", "--model", "sc", "--reduction", "local", "--search", "dfs"]),
    weir("explicit, persistent", &["reach", "--model", "sc", "--reduction", "persistent"]),
    Tool { name: "SPIN", kind: Kind::Spin(&[]) },
    Tool { name: "SPIN, no reduction", kind: Kind::Spin(&["-DNOREDUCE"]) },
];

/// Engines that look at some runs only, and so never find out that a program is safe.
const ROUNDS: &str = "rounds";
const AGE: &str = "age";

const SAFE_TSO: &[Tool] = &[
    weir("weir check", &["check"]),
    weir("explicit", &["reach"]),
    weir("explicit, local", &["reach", "--reduction", "local"]),
    weir("explicit, local, dfs", &["reach", "--reduction", "local", "--search", "dfs"]),
    weir("explicit, persistent", &["reach", "--reduction", "persistent"]),
    weir("lazy", &["reach", "--engine", "lazy"]),
    weir("dual", &["reach", "--engine", "dual"]),
    weir("set", &["reach", "--engine", "set"]),
    weir("multiset", &["reach", "--engine", "multiset"]),
    weir("coherence", &["reach", "--engine", "coherence"]),
    weir(ROUNDS, &["reach", "--engine", "rounds"]),
    weir(AGE, &["reach", "--engine", "age"]),
    Tool { name: "herd7", kind: Kind::Herd },
];

const ROBUST: &[Tool] = &[
    weir("weir robust", &["robust"]),
    weir("instrumented", &["robust", "--method", "instrumented"]),
    weir("single", &["robust", "--method", "single"]),
    weir("trf", &["robust", "--method", "trf"]),
    Tool { name: "Trencher", kind: Kind::Trencher("-r") },
];

const FENCES: &[Tool] = &[weir("weir fences", &["fences"]), Tool { name: "Trencher", kind: Kind::Trencher("-f") }];

/// Those that can find this answer to a question.
pub(crate) fn asked(question: Question, expected: Answer) -> Vec<Tool> {
    let tools = match question {
        Question::SafeSc => SAFE_SC,
        Question::SafeTso => SAFE_TSO,
        Question::Robust => ROBUST,
        Question::Fences => FENCES,
    };
    let can_find = |tool: &&Tool| expected == Answer::Unsafe || ![ROUNDS, AGE].contains(&tool.name);
    tools.iter().filter(can_find).copied().collect()
}

/// What must be on the `PATH` for a tool, and why tools that are there are not asked.
const OTHERS: &[(&str, &[&str], Option<&str>)] = &[
    ("SPIN", &["spin", "cc"], None),
    ("Trencher", &["trencher"], None),
    ("herd7", &["herd7"], None),
    ("CBMC", &["cbmc"], Some("its answers hold within a bound on loops only")),
    ("Nidhugg", &["nidhugg"], Some("no export")),
    ("GenMC", &["genmc"], Some("no export")),
    ("Memorax", &["memorax"], Some("no export")),
    ("DualTSO", &["dualtso"], Some("no export")),
];

/// What is said about each of the other tools: whether it is installed, and whether it is asked.
pub(crate) fn others() -> Vec<String> {
    let others = OTHERS.iter().map(|&(name, programs, not_asked)| {
        let is_there = programs.iter().all(|program| on_path(program).is_some());
        match (is_there, not_asked) {
            (false, _) => format!("{name}: absent"),
            (true, None) => format!("{name}: {}", version(name)),
            (true, Some(why)) => format!("{name}: installed, not asked ({why})"),
        }
    });
    others.collect()
}

fn version(name: &str) -> String {
    let arguments: &[&str] = match name {
        "SPIN" => &["spin", "-V"],
        "herd7" => &["herd7", "-version"],
        _ => return "installed".to_owned(),
    };
    let output = Command::new(arguments[0]).args(&arguments[1..]).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("installed").trim().to_owned()
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// A program that a question is about.
pub(crate) struct Subject {
    pub(crate) file: PathBuf,
    /// `-D N=…`, if it is an example.
    pub(crate) defines: Vec<String>,
}

/// The binary of Weir, and how many workers it may use.
pub(crate) struct Weir {
    pub(crate) binary: PathBuf,
    pub(crate) jobs: u32,
}

impl Weir {
    pub(crate) fn command(&self, arguments: &[&str], subject: &Subject) -> Vec<String> {
        let mut command = vec![self.binary.display().to_string()];
        command.extend(arguments.iter().map(|&argument| argument.to_owned()));
        command.extend(subject.defines.iter().cloned());
        command.push(subject.file.display().to_string());
        command
    }

    /// The program in another language, or why that language does not have it.
    fn translate(&self, form: &str, subject: &Subject) -> io::Result<Result<String, String>> {
        let command = self.command(&["translate", "--to", form], subject);
        let output = Command::new(&command[0]).args(&command[1..]).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        Ok(match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(said.lines().next().unwrap_or("refused").to_owned()),
        })
    }
}

impl Tool {
    /// Whether it is part of Weir.
    pub(crate) fn is_weir(&self) -> bool {
        matches!(self.kind, Kind::Weir(_))
    }

    /// Whether it is a single engine of Weir, which `check` could have asked.
    pub(crate) fn is_engine(&self) -> bool {
        matches!(self.kind, Kind::Weir(arguments) if arguments[0] == "reach")
    }

    /// Whether it is SPIN with its reduction.
    pub(crate) fn is_reducing_spin(&self) -> bool {
        matches!(self.kind, Kind::Spin([]))
    }

    /// Whether what it needs is installed.
    pub(crate) fn is_installed(&self) -> bool {
        let programs: &[&str] = match self.kind {
            Kind::Weir(_) => &[],
            Kind::Spin(_) => &["spin", "cc"],
            Kind::Trencher(_) => &["trencher"],
            Kind::Herd => &["herd7"],
        };
        programs.iter().all(|program| on_path(program).is_some())
    }

    /// Makes everything ready that is not measured, in an empty folder.
    pub(crate) fn prepare(&self, weir: &Weir, subject: &Subject, folder: &Path, limits: Limits) -> io::Result<Ready> {
        let (form, file) = match self.kind {
            Kind::Weir(arguments) => {
                let jobs = weir.jobs.to_string();
                let options = [arguments, &["--format", "json", "--jobs", &jobs]].concat();
                return Ok(Ready::Command(weir.command(&options, subject)));
            }
            Kind::Spin(_) => ("promela", spin::MODEL),
            Kind::Trencher(_) => ("trencher", "program.txt"),
            Kind::Herd => ("litmus", "test.litmus"),
        };
        let text = match weir.translate(form, subject)? {
            Ok(text) => text,
            Err(why) => return Ok(Ready::Refused(why)),
        };
        std::fs::write(folder.join(file), &text)?;
        let command = match self.kind {
            Kind::Spin(options) => return spin::prepare(&text, options, folder, limits),
            Kind::Trencher(option) => vec!["trencher", option, file],
            Kind::Herd | Kind::Weir(_) => vec!["herd7", file],
        };
        Ok(Ready::Command(command.into_iter().map(str::to_owned).collect()))
    }

    /// What it said.
    pub(crate) fn read(&self, measured: &Measured, limits: Limits) -> Outcome {
        if measured.is_out_of_time(limits) {
            return Outcome::OutOfTime;
        }
        let outcome = match self.kind {
            Kind::Weir(_) => read_weir(&measured.output),
            Kind::Spin(options) => spin::read(&measured.output, options.is_empty()),
            Kind::Trencher(_) => read_trencher(&measured.output),
            Kind::Herd => read_herd(&measured.output),
        };
        outcome.unwrap_or_else(|| {
            let how = match measured.end {
                End::Exit(status) => format!("exit status {status}"),
                End::Signal(signal) => format!("signal {signal}"),
            };
            let last = measured.output.lines().last().unwrap_or_default();
            Outcome::Failed(format!("{how}: {last}"))
        })
    }
}

/// The answer is one JSON object.
pub(crate) fn read_weir(output: &str) -> Option<Outcome> {
    let answer: Value = serde_json::from_str(output.lines().next()?).ok()?;
    let text = |key: &str| answer[key].as_str().unwrap_or_default();
    let found = match text("verdict") {
        "safe" | "unreachable" => Answer::Safe,
        "unsafe" | "reachable" => Answer::Unsafe,
        "robust" => Answer::Robust,
        "not-robust" => Answer::NotRobust,
        "fenced" => Answer::Fences(answer["fences"].as_array()?.len() as u64),
        "unknown" => return Some(Outcome::Unknown(text("reason").to_owned())),
        _ => return None,
    };
    let statistics = &answer["statistics"];
    let mut reductions: Vec<&str> = statistics["reduction"].as_str().into_iter().collect();
    reductions.extend(statistics["up_to_symmetry"].as_bool().filter(|is_so| *is_so).map(|_| "symmetry"));
    let by = if text("command") == "check" { text("engine") } else { "" };
    let reduction = match (by, reductions.is_empty()) {
        ("", _) => reductions.join(", "),
        (by, true) => by.to_owned(),
        (by, false) => format!("{by}: {}", reductions.join(", ")),
    };
    Some(Outcome::Answered(Found { answer: found, states: answer["states"].as_u64(), reduction }))
}

/// A sentence.
fn read_trencher(output: &str) -> Option<Outcome> {
    let answer = if output.contains("IS NOT robust") {
        Answer::NotRobust
    } else if output.contains("IS robust") {
        Answer::Robust
    } else {
        let (_, rest) = output.split_once("fences for enforcing robustness (")?;
        Answer::Fences(rest.split_whitespace().next()?.parse().ok()?)
    };
    Some(Outcome::Answered(Found { answer, states: None, reduction: String::new() }))
}

/// The log of a litmus test that says what must hold of all outcomes: its observation.
fn read_herd(output: &str) -> Option<Outcome> {
    let observation = output.lines().find(|line| line.starts_with("Observation "))?;
    let answer = match observation.split_whitespace().nth(2)? {
        "Always" => Answer::Safe,
        "Sometimes" | "Never" => Answer::Unsafe,
        _ => return None,
    };
    Some(Outcome::Answered(Found { answer, states: None, reduction: String::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(answer: Answer, states: Option<u64>, reduction: &str) -> Option<Outcome> {
        Some(Outcome::Answered(Found { answer, states, reduction: reduction.to_owned() }))
    }

    #[test]
    fn answers_of_weir_are_read() {
        let check = r#"{"command":"check","verdict":"safe","engine":"dfs","states":63,"statistics":{"up_to_symmetry":true,"reduction":"local"}}"#;
        assert_eq!(read_weir(check), found(Answer::Safe, Some(63), "dfs: local, symmetry"));
        let check = r#"{"command":"check","verdict":"unsafe","engine":"set","states":7,"statistics":{}}"#;
        assert_eq!(read_weir(check), found(Answer::Unsafe, Some(7), "set"));
        let reach = r#"{"command":"reach","verdict":"reachable","engine":"explicit","states":9,"statistics":{}}"#;
        assert_eq!(read_weir(reach), found(Answer::Unsafe, Some(9), ""));
        let reach = r#"{"command":"reach","verdict":"unreachable","states":9,"statistics":{"up_to_symmetry":true}}"#;
        assert_eq!(read_weir(reach), found(Answer::Safe, Some(9), "symmetry"));
        let robust = r#"{"command":"robust","verdict":"not-robust","states":9,"statistics":{}}"#;
        assert_eq!(read_weir(robust), found(Answer::NotRobust, Some(9), ""));
        let fences = r#"{"command":"fences","verdict":"fenced","fences":[{},{}],"states":5,"statistics":{}}"#;
        assert_eq!(read_weir(fences), found(Answer::Fences(2), Some(5), ""));
        let unknown = r#"{"command":"reach","verdict":"unknown","reason":"no memory","states":5}"#;
        assert_eq!(read_weir(unknown), Some(Outcome::Unknown("no memory".to_owned())));
        assert_eq!(read_weir("error: no such file"), None);
    }

    #[test]
    fn sentences_of_trencher_and_logs_of_herd_are_read() {
        assert_eq!(read_trencher("Program IS NOT robust.\n"), found(Answer::NotRobust, None, ""));
        assert_eq!(read_trencher("Program IS robust.\n"), found(Answer::Robust, None, ""));
        let fences = "Computed fences for enforcing robustness (6 total): (P0,q1)\n";
        assert_eq!(read_trencher(fences), found(Answer::Fences(6), None, ""));
        assert_eq!(read_trencher("trencher: can't open file\n"), None);
        let log = |observation| format!("Test ring Required\nStates 4\nOk\nObservation ring {observation} 3 1\n");
        assert_eq!(read_herd(&log("Always")), found(Answer::Safe, None, ""));
        assert_eq!(read_herd(&log("Sometimes")), found(Answer::Unsafe, None, ""));
        assert_eq!(read_herd("Fatal error"), None);
    }

    /// What stops early is no answer.
    #[test]
    fn only_answers_count() {
        let limits = Limits { seconds: 20, bytes: 1 << 32 };
        let tool = asked(Question::SafeSc, Answer::Safe)[0];
        let measured = |end, seconds, output: &str| Measured {
            cpu: std::time::Duration::from_secs(seconds),
            peak: 0,
            end,
            output: output.to_owned(),
        };
        assert_eq!(tool.read(&measured(End::Signal(24), 20, ""), limits), Outcome::OutOfTime);
        let crash = tool.read(&measured(End::Signal(11), 1, "thread main panicked"), limits);
        assert_eq!(crash, Outcome::Failed("signal 11: thread main panicked".to_owned()));
    }

    #[test]
    fn bounded_engines_are_asked_for_violations_only() {
        let names = |expected| asked(Question::SafeTso, expected).iter().map(|tool| tool.name).collect::<Vec<_>>();
        assert!(names(Answer::Unsafe).contains(&ROUNDS) && names(Answer::Unsafe).contains(&AGE));
        assert!(!names(Answer::Safe).contains(&ROUNDS) && !names(Answer::Safe).contains(&AGE));
        assert_eq!(names(Answer::Safe)[0], "weir check");
    }
}
