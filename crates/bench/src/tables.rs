//! Results as Markdown, and their place in a document.

use std::fmt::Write as _;
use std::time::Duration;

use crate::cases::{Results, Row, is_first};
use crate::families::Family;
use crate::outcome::Outcome;

/// What stands before and after the tables in a document.
const BEGIN: &str = "<!-- weir-bench: tables begin -->";
const END: &str = "<!-- weir-bench: tables end -->";

/// The section of a family.
pub(crate) fn section(family: &Family, results: &Results, rounds: u32, patience: u64) -> String {
    let mut text = format!("### {}\n\n", family.name);
    let asked = format!("{}: {}", capitalized(family.what), family.question.text());
    let times = if rounds == 1 { "once".to_owned() } else { format!("{rounds} times") };
    let expected = expected(family, results);
    text.push_str(&wrapped(&format!("{asked} Answer: {expected}. Each was asked {times}, for at most {patience} s.")));
    let _ = writeln!(text, "\n![{0}: time, states and memory](benchmarks/{0}.svg)\n", family.name);
    text.push_str("| N | tool | CPU s | spread | states | how | MB | to Weir |\n");
    text.push_str("|--:|---|--:|---|--:|---|--:|--:|\n");
    for group in results.rows.chunk_by(|one, next| one.number == next.number) {
        let base = group.iter().find(|row| is_first(row)).and_then(Row::median);
        for (at, row) in group.iter().enumerate() {
            let number = if at == 0 { row.number.to_string() } else { String::new() };
            text.push_str(&line(&number, row, base, patience));
        }
    }
    for (tool, why) in &results.refused {
        let _ = write!(text, "\n{}", wrapped(&format!("{} was not asked: {why}.", tool.name)));
    }
    text
}

/// The answer; of a family where it depends on the number, that of all numbers.
fn expected(family: &Family, results: &Results) -> String {
    let mut answers: Vec<String> = results.rows.iter().map(|row| (family.expected)(row.number).to_string()).collect();
    answers.dedup();
    answers.join(", ")
}

fn line(number: &str, row: &Row, base: Option<Duration>, patience: u64) -> String {
    let name = row.tool.name;
    let memory = row.peak.div_ceil(1_000_000);
    match &row.outcome {
        Outcome::Answered(found) => {
            let median = row.median().unwrap_or_default();
            let ratio = base.map_or_else(|| "-".to_owned(), |base| ratio(median, base));
            let states = found.states.map_or_else(|| "-".to_owned(), |states| states.to_string());
            let (cpu, spread, how) = (seconds(median), spread(&row.cpu), &found.reduction);
            format!("| {number} | {name} | {cpu} | {spread} | {states} | {how} | {memory} | {ratio} |\n")
        }
        Outcome::OutOfTime => {
            format!("| {number} | {name} | > {patience} | | | out of time | {memory} | |\n")
        }
        Outcome::Unknown(reason) => {
            format!("| {number} | {name} | - | | | no answer: {} | {memory} | |\n", short(reason))
        }
        Outcome::Failed(how) => format!("| {number} | {name} | - | | | **failed**: {} | {memory} | |\n", short(how)),
    }
}

/// As much of a message as a cell of a table takes.
fn short(text: &str) -> String {
    const MOST: usize = 50;
    let text = text.replace('|', "/");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    }
}

/// Seconds, with as many digits as mean something.
pub(crate) fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 0.9995 { format!("{seconds:.3}") } else { format!("{seconds:.2}") }
}

/// From the fastest to the slowest round.
fn spread(ascending: &[Duration]) -> String {
    match ascending {
        [] | [_] => String::new(),
        [first, .., last] => format!("{}–{}", seconds(*first), seconds(*last)),
    }
}

fn ratio(time: Duration, base: Duration) -> String {
    let ratio = time.as_secs_f64() / base.as_secs_f64().max(1e-6);
    match ratio {
        ..0.095 => format!("{ratio:.3}"),
        ..9.95 => format!("{ratio:.1}"),
        _ => format!("{ratio:.0}"),
    }
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// The text in lines of at most 120 characters.
pub(crate) fn wrapped(text: &str) -> String {
    const MOST: usize = 120;
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let is_first = length == 0;
        if !is_first && length + 1 + word.chars().count() > MOST {
            lines.push('\n');
            length = 0;
        } else if !is_first {
            lines.push(' ');
            length += 1;
        }
        lines.push_str(word);
        length += word.chars().count();
    }
    lines.push('\n');
    lines
}

/// The document with new sections: each replaces the one of the same family, and families that were not measured keep
/// theirs. `order` is the order of families, and `preamble` what stands before the first one.
pub(crate) fn replaced(document: &str, preamble: &str, sections: &[(&str, String)], order: &[&str]) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (old, after) = rest.split_once(END)?;
    let old: Vec<(&str, &str)> = old.split("\n### ").skip(1).filter_map(|one| one.split_once('\n')).collect();
    let mut tables = format!("{}\n", preamble.trim());
    for name in order {
        let new = sections.iter().find(|(family, _)| family == name).map(|(_, text)| text.clone());
        let kept = || old.iter().find(|(family, _)| family == name).map(|(_, rest)| format!("### {name}\n{rest}"));
        if let Some(text) = new.or_else(kept) {
            let _ = write!(tables, "\n{}\n", text.trim());
        }
    }
    Some(format!("{before}{BEGIN}\n\n{tables}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::{Answer, FAMILIES, Question};
    use crate::outcome::Found;
    use crate::tools::{Tool, asked};

    fn row(number: u32, tool: Tool, outcome: Outcome, millis: &[u64]) -> Row {
        let cpu = millis.iter().map(|&millis| Duration::from_millis(millis)).collect();
        Row { number, tool, outcome, cpu, peak: 12_300_000 }
    }

    fn answered(states: Option<u64>, reduction: &str) -> Outcome {
        Outcome::Answered(Found { answer: Answer::Safe, states, reduction: reduction.to_owned() })
    }

    #[test]
    fn a_section_has_a_row_per_number_and_tool() {
        let tools = asked(Question::SafeSc, Answer::Safe);
        let rows = vec![
            row(3, tools[0], answered(Some(264), "explicit: local, symmetry"), &[10, 12, 20]),
            row(3, tools[7], answered(Some(7118), ""), &[30, 40, 150]),
            row(4, tools[0], answered(Some(2000), ""), &[1000, 1500]),
            row(4, tools[7], Outcome::OutOfTime, &[20_000]),
            row(4, tools[6], Outcome::Unknown("a | b".to_owned()), &[20_000]),
        ];
        let refused = vec![(tools[1], "N = 3: no".to_owned())];
        let results = Results { rows, refused, wrong: Vec::new() };
        let expected = "\
### lamport

Lamport's fast mutex, N threads: do all properties hold under SC? Answer: safe. Each was asked 3 times, for at most 20
s.

![lamport: time, states and memory](benchmarks/lamport.svg)

| N | tool | CPU s | spread | states | how | MB | to Weir |
|--:|---|--:|---|--:|---|--:|--:|
| 3 | weir check | 0.012 | 0.010–0.020 | 264 | explicit: local, symmetry | 13 | 1.0 |
|  | SPIN, no reduction | 0.040 | 0.030–0.150 | 7118 |  | 13 | 3.3 |
| 4 | weir check | 1.25 | 1.00–1.50 | 2000 |  | 13 | 1.0 |
|  | SPIN, no reduction | > 20 | | | out of time | 13 | |
|  | SPIN | - | | | no answer: a / b | 13 | |

explicit, all states was not asked: N = 3: no.
";
        assert_eq!(section(&FAMILIES[0], &results, 3, 20), expected);
    }

    #[test]
    fn sections_of_other_families_stay() {
        let document = format!("# A\n\n{BEGIN}\n\nold\n\n### b\n\nB, old\n\n### c\n\nC, old\n{END}\n\nrest\n");
        let new = [("a", "### a\n\nA\n".to_owned()), ("c", "### c\n\nC\n".to_owned())];
        let expected =
            format!("# A\n\n{BEGIN}\n\nnew\n\n### a\n\nA\n\n### b\n\nB, old\n\n### c\n\nC\n\n{END}\n\nrest\n");
        let once = replaced(&document, "new\n", &new, &["a", "b", "c"]).unwrap();
        assert_eq!(once, expected);
        assert_eq!(replaced(&once, "new", &new, &["a", "b", "c"]).unwrap(), expected, "twice is no different");
        assert_eq!(replaced("# A\n", "", &new, &["a"]), None);
    }

    #[test]
    fn lines_have_at_most_120_characters() {
        let text = wrapped(&"abcdefghi ".repeat(30));
        assert!(text.lines().all(|line| line.len() <= 120 && !line.ends_with(' ')), "{text}");
        assert_eq!(text.lines().next().map(str::len), Some(119));
        assert_eq!(text.split_whitespace().count(), 30);
    }

    #[test]
    fn figures_have_few_digits() {
        let time = |millis| seconds(Duration::from_millis(millis));
        assert_eq!([time(3), time(999), time(1000), time(12_345)], ["0.003", "0.999", "1.00", "12.35"]);
        let ratio = |time, base| ratio(Duration::from_millis(time), Duration::from_millis(base));
        assert_eq!([ratio(4, 1000), ratio(5, 10), ratio(99, 10), ratio(1000, 3)], ["0.004", "0.5", "9.9", "333"]);
        assert_eq!(short(&"x".repeat(60)), format!("{}…", "x".repeat(50)));
    }
}
