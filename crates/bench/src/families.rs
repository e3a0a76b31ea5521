//! Families of programs: a number N, a program for each N, and one question about it whose answer is known.

use std::fmt::{self, Write as _};

/// A family.
pub(crate) struct Family {
    /// Its name on the command line, and that of its plot.
    pub(crate) name: &'static str,
    /// What its programs are.
    pub(crate) what: &'static str,
    pub(crate) question: Question,
    pub(crate) text: Text,
    /// The numbers that are tried, as long as some tool still answers.
    pub(crate) sizes: &'static [u32],
    /// The known answer.
    pub(crate) expected: fn(u32) -> Answer,
}

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Question {
    /// Whether all properties hold under sequential consistency.
    SafeSc,
    /// Whether all properties hold with store buffers.
    SafeTso,
    /// Whether the program is robust.
    Robust,
    /// The fewest fences that make it robust.
    Fences,
}

impl Question {
    /// In words.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::SafeSc => "do all properties hold under SC?",
            Self::SafeTso => "do all properties hold under TSO?",
            Self::Robust => "is it robust?",
            Self::Fences => "how many fences make it robust?",
        }
    }
}

/// An answer to a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Safe,
    Unsafe,
    Robust,
    NotRobust,
    /// So many fences make it robust.
    Fences(u64),
}

impl fmt::Display for Answer {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Safe => write!(text, "safe"),
            Self::Unsafe => write!(text, "unsafe"),
            Self::Robust => write!(text, "robust"),
            Self::NotRobust => write!(text, "not robust"),
            Self::Fences(number) => write!(text, "{number} fences"),
        }
    }
}

/// Where the programs come from.
pub(crate) enum Text {
    /// An example with a constant `N`, below `examples/`.
    Example(&'static str),
    /// Written here.
    Written(fn(u32) -> String),
}

/// All families.
pub(crate) const FAMILIES: &[Family] = &[
    safe("lamport", "Lamport's fast mutex, N threads", Question::SafeSc, "mutex/lamport", &[3, 4, 5, 6, 7, 8, 10]),
    safe("peterson-n", "Peterson's algorithm, N threads", Question::SafeSc, "mutex/peterson-n", &[2, 3, 4, 5]),
    safe("burns", "Burns' algorithm, N threads", Question::SafeSc, "mutex/burns", &[2, 3, 4, 5, 6, 7]),
    safe("dijkstra", "Dijkstra's algorithm, N threads", Question::SafeSc, "mutex/dijkstra", &[2, 3, 4, 5]),
    safe("indexer", "N threads fill a hash table", Question::SafeSc, "papers/indexer", &[2, 4, 6, 8, 10, 11]),
    safe(
        "lamport-fenced",
        "Lamport's fast mutex with fences, N threads",
        Question::SafeTso,
        "mutex/lamport-fenced",
        &[3, 4, 5, 6, 7, 8, 9],
    ),
    safe(
        "burns-fenced",
        "Burns' algorithm with fences, N threads",
        Question::SafeTso,
        "mutex/burns-fenced",
        &[2, 3, 4, 5],
    ),
    safe(
        "bakery-fenced",
        "Lamport's bakery with fences, N threads",
        Question::SafeTso,
        "mutex/bakery-fenced",
        &[2, 3, 4],
    ),
    safe(
        "szymanski-fenced",
        "Szymanski's algorithm with fences, N threads",
        Question::SafeTso,
        "mutex/szymanski-fenced",
        &[2, 3, 4],
    ),
    safe(
        "dijkstra-fenced",
        "Dijkstra's algorithm with fences, N threads",
        Question::SafeTso,
        "mutex/dijkstra-fenced",
        &[2, 3, 4, 5],
    ),
    safe("mcs", "the MCS queue lock, N threads", Question::SafeTso, "mutex/mcs", &[2, 3, 4, 5, 6]),
    safe(
        "ticket",
        "the ticket lock, N threads that pass twice",
        Question::SafeTso,
        "mutex/ticket",
        &[2, 4, 6, 8, 10, 12],
    ),
    safe(
        "spinlock",
        "the spinlock of Linux, N identical threads",
        Question::SafeTso,
        "mutex/spinlock",
        &[2, 4, 8, 16, 32],
    ),
    Family {
        name: "ring",
        what: "store buffering in a ring: thread i stores to cell i, then loads cell i + 1",
        question: Question::SafeTso,
        text: Text::Written(ring),
        sizes: &[2, 4, 6, 8, 10, 12, 14, 16],
        expected: |_| Answer::Unsafe,
    },
    Family {
        name: "ring-fenced",
        what: "the same ring with a fence in each thread",
        question: Question::SafeTso,
        text: Text::Written(ring_fenced),
        sizes: &[2, 4, 6, 8, 10, 12, 14],
        expected: |_| Answer::Safe,
    },
    Family {
        name: "branching",
        what: "Dekker's core with N branches between store and load (thesis, Figure 5.3)",
        question: Question::SafeTso,
        text: Text::Written(branching),
        sizes: &[3, 10, 30, 100, 300, 1000],
        expected: |_| Answer::Unsafe,
    },
    Family {
        name: "unwinding",
        what: "Dekker's core with a loop of N stores that is taken twice (thesis, Figure 5.4)",
        question: Question::SafeTso,
        text: Text::Example("papers/dekker-unwinding"),
        sizes: &[3, 10, 20, 40, 80, 160],
        expected: |_| Answer::Unsafe,
    },
    Family {
        name: "robust-lamport",
        what: "Lamport's fast mutex, N threads",
        question: Question::Robust,
        text: Text::Example("mutex/lamport"),
        sizes: &[3, 4, 5, 6, 8, 10],
        expected: |_| Answer::NotRobust,
    },
    Family {
        name: "robust-mcs",
        what: "the MCS queue lock, N threads",
        question: Question::Robust,
        text: Text::Example("mutex/mcs"),
        sizes: &[2, 3, 4, 5, 6],
        expected: |_| Answer::Robust,
    },
    Family {
        name: "robust-ring",
        what: "store buffering in a ring of N threads",
        question: Question::Robust,
        text: Text::Written(ring),
        sizes: &[2, 4, 6, 8, 10, 12, 14],
        expected: |_| Answer::NotRobust,
    },
    Family {
        name: "robust-chain",
        what: "the same ring, but the last thread loads before it stores, so that there is no cycle",
        question: Question::Robust,
        text: Text::Written(chain),
        sizes: &[2, 4, 6, 8, 10, 12, 14],
        expected: |_| Answer::Robust,
    },
    Family {
        name: "fences-lamport",
        what: "Lamport's fast mutex, N threads",
        question: Question::Fences,
        text: Text::Example("mutex/lamport"),
        sizes: &[3, 4, 5, 6, 7, 8],
        // Two per thread: one after each store on the way in.
        expected: |threads| Answer::Fences(2 * u64::from(threads)),
    },
];

/// An example whose properties hold.
const fn safe(
    name: &'static str,
    what: &'static str,
    question: Question,
    example: &'static str,
    sizes: &'static [u32],
) -> Family {
    Family { name, what, question, text: Text::Example(example), sizes, expected: |_| Answer::Safe }
}

/// Thread i stores to its cell, and then loads the next one. Under SC, the thread that stores last reads 1.
fn ring(threads: u32) -> String {
    ring_of(threads, |own, next, _| format!("{own} = 1; let r = {next};"))
}

fn ring_fenced(threads: u32) -> String {
    ring_of(threads, |own, next, _| format!("{own} = 1; fence; let r = {next};"))
}

/// The order of the last thread leaves no way round.
fn chain(threads: u32) -> String {
    ring_of(threads, |own, next, is_last| match is_last {
        true => format!("let r = {next}; {own} = 1;"),
        false => format!("{own} = 1; let r = {next};"),
    })
}

/// The body of a thread is written from its own cell, the next one, and whether it is the last thread.
fn ring_of(threads: u32, body: impl Fn(&str, &str, bool) -> String) -> String {
    let cell = |at: u32| format!("x{}", at % threads);
    let cells: Vec<String> = (0..threads).map(cell).collect();
    let mut text = format!("shared {};\n\n", cells.join(", "));
    for at in 0..threads {
        let body = body(&cell(at), &cell(at + 1), at + 1 == threads);
        let _ = writeln!(text, "thread T{at} {{ {body} }}");
    }
    let read: Vec<String> = (0..threads).map(|at| format!("T{at}.r == 1")).collect();
    let _ = write!(text, "\nalways {};\n", read.join(" || "));
    text
}

/// The program of Figure 5.3, with one branch per value as drawn there: each tests for its value and stores the next
/// one.
fn branching(branches: u32) -> String {
    let branch = |cell: &str, at: u32| {
        format!("{{\n        assume r == {at};\n        {cell} = {};\n    }}", (at + 1) % branches)
    };
    let thread = |name: &str, own: &str, other: &str, cell: &str| {
        let diamond: Vec<String> = (0..branches).map(|at| branch(cell, at)).collect();
        format!(
            "thread {name} {{\n    let r;\n    {own} = 1;\n    r = {cell};\n    choose {}\n    r = {other};\n    \
             assume r == 0;\ngoal:\n    skip;\n}}\n\n",
            diamond.join(" or ")
        )
    };
    let threads = [thread("T1", "x", "y", "a"), thread("T2", "y", "x", "b")];
    format!("shared x, y, a, b;\n\n{}forbid T1 at goal && T2 at goal;\n", threads.concat())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use weir_ir::{Instruction, Program, Source};

    use super::*;

    /// The program of a family.
    fn program(family: &Family, number: u32) -> Program {
        let (text, defines) = match family.text {
            Text::Written(write) => (write(number), Vec::new()),
            Text::Example(name) => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}.weir"));
                let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                (text, vec![("N".to_owned(), i64::from(number))])
            }
        };
        let options = weir_syntax::weir::Options { defines };
        let parsed = weir_syntax::weir::parse(&Source::new(family.name, text), &options);
        parsed.unwrap_or_else(|errors| panic!("{} {number}: {errors:?}", family.name)).program
    }

    fn family(name: &str) -> &'static Family {
        FAMILIES.iter().find(|family| family.name == name).unwrap()
    }

    #[test]
    fn every_program_is_correct_and_asks_something() {
        for family in FAMILIES {
            assert!(family.sizes.is_sorted() && !family.sizes.is_empty(), "{}", family.name);
            let mut sizes = Vec::new();
            for &number in family.sizes {
                let program = program(family, number);
                assert!(!program.properties.is_empty(), "{} {number}", family.name);
                sizes.push(program.threads.iter().map(|thread| thread.body.edges().len()).sum::<usize>());
            }
            let is_fixed = family.name == "unwinding";
            assert!(is_fixed || sizes.is_sorted_by(|one, next| one < next), "{} does not grow: {sizes:?}", family.name);
        }
    }

    #[test]
    fn families_have_names_of_their_own() {
        let mut names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    /// Thread i of a ring stores to cell i and loads cell i + 1, and the last one loads the first cell.
    #[test]
    fn rings_close() {
        let expected = "shared x0, x1, x2;\n\nthread T0 { x0 = 1; let r = x1; }\nthread T1 { x1 = 1; let r = x2; }\n\
                        thread T2 { x2 = 1; let r = x0; }\n\nalways T0.r == 1 || T1.r == 1 || T2.r == 1;\n";
        assert_eq!(ring(3), expected);
        assert!(ring_fenced(3).contains("thread T2 { x2 = 1; fence; let r = x0; }"), "{}", ring_fenced(3));
        assert!(
            chain(3).contains("thread T1 { x1 = 1; let r = x2; }\nthread T2 { let r = x0; x2 = 1; }"),
            "{}",
            chain(3)
        );
    }

    /// A thread of Figure 5.3 has a store before and a load after a diamond of N branches, each with a test and a store.
    #[test]
    fn branches_are_those_of_the_figure() {
        let program = program(family("branching"), 5);
        for thread in &program.threads {
            let count = |wanted: fn(&Instruction) -> bool| {
                thread.body.edges().iter().filter(|edge| wanted(&edge.instruction)).count()
            };
            assert_eq!(count(|instruction| matches!(instruction, Instruction::Store { .. })), 1 + 5);
            assert_eq!(count(|instruction| matches!(instruction, Instruction::Load { .. })), 2);
            assert_eq!(count(|instruction| matches!(instruction, Instruction::Assume(_))), 5 + 1);
        }
        let text = branching(5);
        assert!(
            text.contains("assume r == 4;\n        a = 0;") && text.contains("assume r == 3;\n        b = 4;"),
            "{text}"
        );
    }
}
