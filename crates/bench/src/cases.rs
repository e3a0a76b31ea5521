//! A family, measured: every tool on every program, in turns.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::families::{Answer, Family, Text};
use crate::measure::{Limits, measure};
use crate::outcome::{Found, Outcome};
use crate::tools::{Subject, Tool, Weir, asked};

/// How to measure.
pub(crate) struct Plan {
    pub(crate) weir: Weir,
    /// The folder with the examples.
    pub(crate) examples: PathBuf,
    /// An empty folder.
    pub(crate) scratch: PathBuf,
    /// How often each tool is asked the same.
    pub(crate) rounds: u32,
    pub(crate) limits: Limits,
}

/// What was measured of a tool on a program.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) number: u32,
    pub(crate) tool: Tool,
    pub(crate) outcome: Outcome,
    /// CPU time of each round, in ascending order.
    pub(crate) cpu: Vec<Duration>,
    /// The largest peak of memory, in bytes.
    pub(crate) peak: u64,
}

impl Row {
    /// The answer, if there is one.
    pub(crate) fn found(&self) -> Option<&Found> {
        match &self.outcome {
            Outcome::Answered(found) => Some(found),
            _ => None,
        }
    }

    /// The median of CPU times, if there is an answer.
    pub(crate) fn median(&self) -> Option<Duration> {
        self.found().and_then(|_| median(&self.cpu))
    }
}

/// The median of ascending values; of two in the middle, the mean.
fn median(ascending: &[Duration]) -> Option<Duration> {
    let middle = ascending.len() / 2;
    let upper = *ascending.get(middle)?;
    Some(if ascending.len() % 2 == 1 { upper } else { (ascending[middle - 1] + upper) / 2 })
}

/// What was measured of a family.
pub(crate) struct Results {
    /// By number, and in the order of tools.
    pub(crate) rows: Vec<Row>,
    /// Installed tools that were not asked, with the reason.
    pub(crate) refused: Vec<(Tool, String)>,
    /// What must not happen: wrong answers and crashes.
    pub(crate) wrong: Vec<String>,
}

/// Asks all tools about all programs of a family, smallest first. A tool without an answer is not asked about larger
/// programs.
pub(crate) fn run(family: &Family, plan: &Plan, say: impl Fn(&str)) -> io::Result<Results> {
    let mut open: Vec<Tool> =
        asked(family.question, (family.expected)(family.sizes[0])).into_iter().filter(Tool::is_installed).collect();
    let mut results = Results { rows: Vec::new(), refused: Vec::new(), wrong: Vec::new() };
    for &number in family.sizes {
        let subject = subject(family, number, plan)?;
        let mut ready = Vec::new();
        for &tool in &open {
            let folder = empty_folder(plan, tool)?;
            match tool.prepare(&plan.weir, &subject, &folder, plan.limits) {
                Ok(Ok(command)) => ready.push((tool, command, folder)),
                Ok(Err(why)) => results.refused.push((tool, format!("N = {number}: {why}"))),
                Err(error) => results.wrong.push(format!("{} {number}: {}: {error}", family.name, tool.name)),
            }
        }
        let rows = in_turns(number, &ready, plan)?;
        for row in &rows {
            say(&progress(family, row));
            results.wrong.extend(complaint(family, row));
        }
        open = rows.iter().filter(|row| row.found().is_some()).map(|row| row.tool).collect();
        results.rows.extend(rows);
        if open.is_empty() {
            break;
        }
    }
    Ok(results)
}

/// One row per tool. Each round asks all of them once, so that a busy moment of the machine is not that of one tool.
fn in_turns(number: u32, ready: &[(Tool, Vec<String>, PathBuf)], plan: &Plan) -> io::Result<Vec<Row>> {
    let mut rows: Vec<Option<Row>> = vec![None; ready.len()];
    for _ in 0..plan.rounds {
        for ((tool, command, folder), row) in ready.iter().zip(&mut rows) {
            if row.as_ref().is_some_and(|row| row.found().is_none()) {
                continue;
            }
            let measured = measure(command, folder, plan.limits)?;
            let outcome = tool.read(&measured, plan.limits);
            let row = row.get_or_insert_with(|| Row {
                number,
                tool: *tool,
                outcome: outcome.clone(),
                cpu: Vec::new(),
                peak: 0,
            });
            row.cpu.push(measured.cpu);
            row.cpu.sort_unstable();
            row.peak = row.peak.max(measured.peak);
            row.outcome = worse(&row.outcome, outcome);
        }
    }
    Ok(rows.into_iter().flatten().collect())
}

/// What a row says after one more round: anything but the same answer counts.
fn worse(before: &Outcome, now: Outcome) -> Outcome {
    match (before, &now) {
        (Outcome::Answered(one), Outcome::Answered(other)) if one.answer != other.answer => {
            Outcome::Failed(format!("{} in one round, {} in another", one.answer, other.answer))
        }
        (Outcome::Answered(_), Outcome::Answered(_)) => before.clone(),
        _ => now,
    }
}

/// What must not happen.
fn complaint(family: &Family, row: &Row) -> Option<String> {
    let expected: Answer = (family.expected)(row.number);
    let what = match &row.outcome {
        Outcome::Answered(found) if found.answer != expected => format!("says {}, but it is {expected}", found.answer),
        Outcome::Failed(how) => format!("failed: {how}"),
        _ => return None,
    };
    Some(format!("{} {}: {} {what}", family.name, row.number, row.tool.name))
}

/// A line for somebody who waits.
fn progress(family: &Family, row: &Row) -> String {
    let what = match &row.outcome {
        Outcome::Answered(found) => found.answer.to_string(),
        Outcome::OutOfTime => "out of time".to_owned(),
        Outcome::Unknown(reason) => format!("unknown: {reason}"),
        Outcome::Failed(how) => format!("FAILED: {how}"),
    };
    let times: Vec<String> = row.cpu.iter().map(|cpu| format!("{:.3}", cpu.as_secs_f64())).collect();
    format!("{} {}: {}: {what} ({} s)", family.name, row.number, row.tool.name, times.join(", "))
}

/// The program for a number, as a file.
fn subject(family: &Family, number: u32, plan: &Plan) -> io::Result<Subject> {
    match family.text {
        Text::Example(name) => Ok(Subject {
            file: plan.examples.join(format!("{name}.weir")),
            defines: vec!["-D".to_owned(), format!("N={number}")],
        }),
        Text::Written(write) => {
            let file = plan.scratch.join(format!("{}-{number}.weir", family.name));
            std::fs::write(&file, write(number))?;
            Ok(Subject { file, defines: Vec::new() })
        }
    }
}

/// A folder of a tool alone.
fn empty_folder(plan: &Plan, tool: Tool) -> io::Result<PathBuf> {
    let name: String = tool.name.chars().filter(|character| character.is_ascii_alphanumeric()).collect();
    let folder = plan.scratch.join(name);
    remove(&folder)?;
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Removes a folder, if it is there.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Where `check` is behind: the numbers at which it takes more than twice the time of the best single engine, and a
/// fifth of a second.
pub(crate) fn behind_engines(rows: &[Row]) -> Vec<String> {
    behind(rows, Tool::is_engine, |check, best| check > 2 * best + Duration::from_millis(200))
}

/// Where SPIN with its reduction takes less CPU time than `check`.
pub(crate) fn behind_spin(rows: &[Row]) -> Vec<String> {
    behind(rows, Tool::is_reducing_spin, |check, best| check > best)
}

fn behind(
    rows: &[Row],
    is_rival: impl Fn(&Tool) -> bool,
    is_behind: impl Fn(Duration, Duration) -> bool,
) -> Vec<String> {
    let mut found = Vec::new();
    for group in rows.chunk_by(|one, next| one.number == next.number) {
        let rivals = group.iter().filter(|row| is_rival(&row.tool));
        let best = rivals.filter_map(|row| Some((row.median()?, row.tool.name))).min();
        let check = group.iter().find(|row| is_first(row));
        let (Some((best, name)), Some(check)) = (best, check) else { continue };
        let number = group[0].number;
        let (best_seconds, seconds) = (best.as_secs_f64(), check.median().map(|time| time.as_secs_f64()));
        match seconds {
            Some(seconds) if is_behind(Duration::from_secs_f64(seconds), best) => {
                found.push(format!("N = {number}: {seconds:.2} s, {name} {best_seconds:.2} s"));
            }
            None => found.push(format!("N = {number}: no answer, {name} {best_seconds:.2} s")),
            Some(_) => {}
        }
    }
    found
}

/// Whether a row is that of the command that the others are compared with.
pub(crate) fn is_first(row: &Row) -> bool {
    row.tool.is_weir() && row.tool.name.starts_with("weir ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::{FAMILIES, Question};

    fn answered(answer: Answer) -> Outcome {
        Outcome::Answered(Found { answer, states: None, reduction: String::new() })
    }

    fn row(name: &str, outcome: Outcome, millis: &[u64]) -> Row {
        let tools = asked(Question::SafeSc, Answer::Safe);
        let tool = tools.into_iter().find(|tool| tool.name == name).unwrap();
        let cpu = millis.iter().map(|&millis| Duration::from_millis(millis)).collect();
        Row { number: 3, tool, outcome, cpu, peak: 0 }
    }

    #[test]
    fn wrong_answers_and_crashes_are_complained_about() {
        let lamport = &FAMILIES[0];
        let complaint = |outcome| complaint(lamport, &row("SPIN", outcome, &[10]));
        assert_eq!(complaint(answered(Answer::Safe)), None);
        assert_eq!(complaint(Outcome::OutOfTime), None);
        assert_eq!(complaint(Outcome::Unknown("no memory".to_owned())), None);
        let wrong = complaint(answered(Answer::Unsafe)).unwrap();
        assert_eq!(wrong, "lamport 3: SPIN says unsafe, but it is safe");
        assert!(complaint(Outcome::Failed("signal 11".to_owned())).is_some());
    }

    /// A tool that answers in one round and not in the next has no answer, and two different answers are a failure.
    #[test]
    fn rounds_must_agree() {
        let (safe, other) = (answered(Answer::Safe), answered(Answer::Unsafe));
        assert_eq!(worse(&safe, safe.clone()), safe);
        assert!(matches!(worse(&safe, other), Outcome::Failed(_)));
        assert_eq!(worse(&safe, Outcome::OutOfTime), Outcome::OutOfTime);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let time = |millis: &[u64]| row("SPIN", answered(Answer::Safe), millis).median();
        assert_eq!(time(&[1, 2, 9]), Some(Duration::from_millis(2)));
        assert_eq!(time(&[1, 2, 4, 9]), Some(Duration::from_millis(3)));
        assert_eq!(row("SPIN", Outcome::OutOfTime, &[1]).median(), None);
    }

    #[test]
    fn check_is_behind_from_twice_the_best_engine_and_a_fifth_of_a_second() {
        let rows = |check: Outcome, millis: u64| {
            let engines = [("explicit, local", 300), ("explicit, symmetry", 100), ("SPIN", 50)];
            let engines = engines.map(|(name, millis)| row(name, answered(Answer::Safe), &[millis]));
            [&[row("weir check", check, &[millis])], &engines[..]].concat()
        };
        let safe = || answered(Answer::Safe);
        assert_eq!(behind_engines(&rows(safe(), 400)), Vec::<String>::new());
        assert_eq!(behind_engines(&rows(safe(), 401)), ["N = 3: 0.40 s, explicit, symmetry 0.10 s"]);
        assert_eq!(behind_engines(&rows(Outcome::OutOfTime, 9)), ["N = 3: no answer, explicit, symmetry 0.10 s"]);
        assert_eq!(behind_spin(&rows(safe(), 50)), Vec::<String>::new());
        assert_eq!(behind_spin(&rows(safe(), 60)), ["N = 3: 0.06 s, SPIN 0.05 s"]);
    }
}
