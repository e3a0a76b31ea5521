//! The portfolio beside its members: does `check` cost no more than twice the best single engine, and a fifth of a
//! second?
//!
//! Each program is given to all engines one by one, and then to `check`. An engine may take a second more than the best
//! one so far; one that needs longer, or has no answer, is not asked about larger programs of its kind. Answers of
//! `check` must be the same each time, whatever the number of workers.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::cases::Plan;
use crate::cliffs::CLIFFS;
use crate::families::{Answer, FAMILIES, Question, Text};
use crate::measure::{Limits, Measured, measure};
use crate::outcome::Outcome;
use crate::tools::{Subject, read_weir};

/// One engine as users call it: the commands that together give its answer.
struct Engine {
    name: &'static str,
    commands: &'static [&'static [&'static str]],
    kind: Kind,
}

/// What the answers of an engine are worth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All of them count.
    Exact,
    /// Those about places, registers and cells count: without store buffers, what can no longer happen is something
    /// else.
    BySc,
    /// Only violations count.
    Hunter,
    /// Both.
    ScHunter,
}

impl Kind {
    fn hunts(self) -> bool {
        matches!(self, Self::Hunter | Self::ScHunter)
    }

    fn is_without_buffers(self) -> bool {
        matches!(self, Self::BySc | Self::ScHunter)
    }
}

const fn engine(name: &'static str, kind: Kind, commands: &'static [&'static [&'static str]]) -> Engine {
    Engine { name, commands, kind }
}

const ENGINES: &[Engine] = &[
    engine("sc", Kind::ScHunter, &[&["reach", "--model", "sc", "--reduction", "local"]]),
    engine("robust, sc", Kind::BySc, &[&["robust"], &["reach", "--model", "sc", "--reduction", "local"]]),
    engine("persistent, dfs", Kind::Exact, &[&["reach", "--reduction", "persistent", "--search", "dfs"]]),
    engine("persistent", Kind::Exact, &[&["reach", "--reduction", "persistent"]]),
    engine("local, dfs", Kind::Exact, &[&["reach", "--reduction", "local", "--search", "dfs"]]),
    engine("local", Kind::Exact, &[&["reach", "--reduction", "local"]]),
    engine("explicit, dfs", Kind::Exact, &[&["reach", "--search", "dfs"]]),
    engine("explicit", Kind::Exact, &[&["reach"]]),
    engine("lazy", Kind::Exact, &[&["reach", "--engine", "lazy"]]),
    engine("dual", Kind::Exact, &[&["reach", "--engine", "dual"]]),
    engine("set", Kind::Exact, &[&["reach", "--engine", "set"]]),
    engine("multiset", Kind::Exact, &[&["reach", "--engine", "multiset"]]),
    engine("coherence", Kind::Exact, &[&["reach", "--engine", "coherence"]]),
    engine("rounds", Kind::Hunter, &[&["reach", "--engine", "rounds"]]),
    engine("age", Kind::Hunter, &[&["reach", "--engine", "age"]]),
];

/// Properties that are about what can no longer happen.
const ABOUT_THE_FUTURE: &[&str] = &["forbid deadlock", "forbid stuck", "live "];

/// The numbers that are tried for examples with a constant `N`, as long as some engine answers.
const SIZES: &[u32] = &[2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32];

/// Programs of one kind, smallest first.
struct Series {
    name: String,
    programs: Vec<(Option<u32>, Source)>,
}

enum Source {
    File(PathBuf),
    Text(String),
}

/// Measures all programs whose name contains one of these; returns what must not happen.
pub(crate) fn run(names: &[String], plan: &Plan, say: impl Fn(&str)) -> io::Result<Vec<String>> {
    let (mut behind, mut wrong, mut answered) = (Vec::new(), Vec::new(), 0);
    for series in all_series(&plan.examples)? {
        if !names.is_empty() && !names.iter().any(|name| series.name.contains(name.as_str())) {
            continue;
        }
        let mut open: Vec<&Engine> = ENGINES.iter().collect();
        for (number, source) in &series.programs {
            let name = number.map_or_else(|| series.name.clone(), |number| format!("{} {number}", series.name));
            let subject = subject(source, *number, plan)?;
            let text = std::fs::read_to_string(&subject.file)?;
            let is_about_the_future =
                ABOUT_THE_FUTURE.iter().any(|start| text.lines().any(|line| line.starts_with(start)));
            let race = Race { subject: &subject, is_about_the_future, plan };
            let times = race.engines(&mut open)?;
            let Some((best, fastest)) = times.iter().map(|(name, time)| (*time, *name)).min() else { break };
            answered += 1;
            let (line, is_behind, differing) = race.check(&name, best, fastest)?;
            say(&format!("{line}  {}", beside(&times)));
            behind.extend(is_behind.then_some(line));
            wrong.extend(differing);
        }
    }
    say(&format!("\n{answered} questions that an engine answers, {} over the bound", behind.len()));
    behind.iter().for_each(|line| say(line));
    Ok(wrong)
}

/// A program that is being asked about.
struct Race<'a> {
    subject: &'a Subject,
    /// Whether a property is about what can no longer happen.
    is_about_the_future: bool,
    plan: &'a Plan,
}

impl Race<'_> {
    /// The CPU time of each engine that has the answer.
    fn engines<'e>(&self, open: &mut Vec<&'e Engine>) -> io::Result<BTreeMap<&'e str, Duration>> {
        let mut times: BTreeMap<&str, Duration> = BTreeMap::new();
        let mut still_open = Vec::new();
        for &engine in open.iter().filter(|engine| !(self.is_about_the_future && engine.kind.is_without_buffers())) {
            let patience = times.values().min().map_or(self.plan.limits.seconds, |best| best.as_secs() + 2);
            let limits = Limits { seconds: patience.min(self.plan.limits.seconds), ..self.plan.limits };
            match self.ask(engine, limits)? {
                Asked::Answered(time) => {
                    times.insert(engine.name, time);
                    still_open.push(engine);
                }
                // The smallest program may be of another kind.
                Asked::NoViolation => still_open.push(engine),
                Asked::Nothing => {}
            }
        }
        let best = times.values().min().copied().unwrap_or_default();
        let is_close = |engine: &&Engine| times.get(engine.name).is_none_or(|time| *time < best * 4 + A_SECOND);
        *open = still_open.into_iter().filter(is_close).collect();
        Ok(times)
    }

    fn ask(&self, engine: &Engine, limits: Limits) -> io::Result<Asked> {
        let mut time = Duration::ZERO;
        for (at, command) in engine.commands.iter().enumerate() {
            let measured = self.measure(command, 1, limits)?;
            time += measured.cpu;
            let Some(Outcome::Answered(found)) = read_weir(&measured.output) else { return Ok(Asked::Nothing) };
            let is_last = at + 1 == engine.commands.len();
            match found.answer {
                Answer::NotRobust => return Ok(Asked::NoViolation),
                Answer::Safe if is_last && engine.kind.hunts() => return Ok(Asked::NoViolation),
                _ => {}
            }
        }
        Ok(Asked::Answered(time))
    }

    fn measure(&self, arguments: &[&str], jobs: u32, limits: Limits) -> io::Result<Measured> {
        let jobs = jobs.to_string();
        let options = [arguments, &["--format", "json", "--jobs", &jobs]].concat();
        measure(&self.plan.weir.command(&options, self.subject), &self.plan.scratch, limits)
    }

    /// A line about `check`, whether it is over the bound, and what differs from call to call.
    fn check(&self, name: &str, best: Duration, fastest: &str) -> io::Result<(String, bool, Option<String>)> {
        let most = most(best);
        let seconds = (most * 3).as_secs() + 2;
        let limits = Limits { seconds, ..self.plan.limits };
        let mut calls = vec![self.measure(&["check"], 1, limits)?, self.measure(&["check"], 2, limits)?];
        // A busy moment of the machine is not an excess.
        while calls.len() < 2 * self.plan.rounds as usize && median(&calls) > most {
            calls.push(self.measure(&["check"], 1 + calls.len() as u32 % 2, limits)?);
        }
        let cpu = median(&calls);
        let answers: Vec<Option<Value>> = calls.iter().map(|call| lasting(&call.output)).collect();
        let differs = answers.windows(2).any(|pair| pair[0] != pair[1] && pair[0].is_some() && pair[1].is_some());
        let answer = answers[0].as_ref();
        let text = |key: &str| answer.and_then(|answer| answer[key].as_str()).unwrap_or("-").to_owned();
        let is_behind = cpu > most || text("verdict") == "unknown" || answer.is_none();
        let line = format!(
            "{name:<36} {:<8} {:>8.3} s {:<16} check {:>8.3} s {:<10} {:>5.1}{}",
            text("verdict"),
            best.as_secs_f64(),
            fastest,
            cpu.as_secs_f64(),
            text("engine"),
            cpu.as_secs_f64() / best.as_secs_f64().max(0.001),
            if is_behind { "  OVER" } else { "" },
        );
        Ok((line, is_behind, differs.then(|| format!("{name}: identical calls give different answers"))))
    }
}

const A_SECOND: Duration = Duration::from_secs(1);

/// What `check` may take.
fn most(best: Duration) -> Duration {
    2 * best + Duration::from_millis(200)
}

/// The times of all engines, in milliseconds.
fn beside(times: &BTreeMap<&str, Duration>) -> String {
    let texts: Vec<String> = times.iter().map(|(name, time)| format!("{name} {}", time.as_millis())).collect();
    format!("[{}]", texts.join("; "))
}

/// What came of asking an engine.
enum Asked {
    Answered(Duration),
    /// It looks for violations, or for a robust program, in vain.
    NoViolation,
    /// It gave up, refused, or took too long.
    Nothing,
}

fn median(calls: &[Measured]) -> Duration {
    let mut times: Vec<Duration> = calls.iter().map(|call| call.cpu).collect();
    times.sort_unstable();
    times[(times.len() - 1) / 2]
}

/// What must be the same each time: an answer without what it took.
fn lasting(output: &str) -> Option<Value> {
    let mut answer = serde_json::from_str(output.lines().next()?).ok()?;
    without_times(&mut answer);
    Some(answer)
}

fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !key.ends_with("seconds"));
            fields.values_mut().for_each(without_times);
        }
        Value::Array(values) => values.iter_mut().for_each(without_times),
        _ => {}
    }
}

/// All examples, the families that are written, and the cliffs.
fn all_series(examples: &Path) -> io::Result<Vec<Series>> {
    let mut files = Vec::new();
    for folder in ["litmus", "mutex", "papers", "structures", "dynamic/recursion", "dynamic/spawn"] {
        let entries = std::fs::read_dir(examples.join(folder))?;
        files.extend(entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?);
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "weir"));
    files.sort();
    let mut all = files.into_iter().map(example).collect::<io::Result<Vec<_>>>()?;
    for family in FAMILIES.iter().filter(|family| family.question == Question::SafeTso) {
        if let Text::Written(write) = family.text {
            all.push(written(family.name, write, family.sizes));
        }
    }
    all.extend(CLIFFS.iter().map(|cliff| written(cliff.name, cliff.write, cliff.sizes)));
    Ok(all)
}

fn written(name: &str, write: fn(u32) -> String, sizes: &[u32]) -> Series {
    let programs = sizes.iter().map(|&number| (Some(number), Source::Text(write(number)))).collect();
    Series { name: name.to_owned(), programs }
}

/// An example, for several numbers if it has one.
fn example(file: PathBuf) -> io::Result<Series> {
    let is_scaled = std::fs::read_to_string(&file)?.lines().any(|line| line.starts_with("const N = "));
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let sizes = if is_scaled { SIZES.iter().copied().map(Some).collect() } else { vec![None] };
    let programs = sizes.into_iter().map(|number| (number, Source::File(file.clone()))).collect();
    Ok(Series { name, programs })
}

fn subject(source: &Source, number: Option<u32>, plan: &Plan) -> io::Result<Subject> {
    match source {
        Source::File(file) => {
            let defines = number.into_iter().flat_map(|number| ["-D".to_owned(), format!("N={number}")]).collect();
            Ok(Subject { file: file.clone(), defines })
        }
        Source::Text(text) => {
            let file = plan.scratch.join("written.weir");
            std::fs::write(&file, text)?;
            Ok(Subject { file, defines: Vec::new() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_twice_the_best_and_a_fifth_of_a_second() {
        assert_eq!(most(Duration::from_millis(300)), Duration::from_millis(800));
    }

    #[test]
    fn answers_are_compared_without_times() {
        let one = lasting(r#"{"verdict":"safe","seconds":1.5,"attempts":[{"states":3,"search_seconds":0.1}]}"#);
        let other = lasting(r#"{"verdict":"safe","seconds":2.5,"attempts":[{"states":3,"search_seconds":0.7}]}"#);
        assert!(one.is_some() && one == other);
        assert_ne!(one, lasting(r#"{"verdict":"safe","seconds":1.5,"attempts":[{"states":4}]}"#));
        assert_eq!(lasting("killed"), None);
    }

    #[test]
    fn series_are_all_examples_and_all_that_is_written() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let all = all_series(&examples).unwrap();
        let numbers = |name: &str| all.iter().find(|series| series.name == name).unwrap().programs.len();
        assert_eq!((numbers("sb"), numbers("lamport-fenced")), (1, SIZES.len()));
        assert!(numbers("ring") > 3 && numbers("counter") == 3);
    }
}
