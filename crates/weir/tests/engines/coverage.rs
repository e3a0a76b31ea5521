//! Every construct of the language meets every engine in every option: the table is printed by
//! `cargo test -p weir --test engines coverage -- --nocapture`, and no cell of it is empty without a reason.
//!
//! A number says how many of the programs here that have the construct got an answer from the engine, which was
//! compared with the reference interpreter. Other tests compare many more; these are enough to see that none is left
//! out.

mod beside;
mod constructs;

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Address, Program, Value};
use weir_testkit::random::{self, Config};
use weir_testkit::sketch::{self, cell, load, store, straight};

use self::beside::{Asked, Beside};
use self::constructs::Construct;
use crate::exactly::{compare, questioned};
use crate::families::FAMILIES;
use crate::ways::Way;

/// Why some cells are empty.
const GAPS: [(Construct, &str, &str); 0] = [];

/// Some programs of each family, random ones with everything, and some about a cell that is not declared.
fn programs() -> Vec<Program> {
    let of_families = FAMILIES.iter().flat_map(|family| family.programs().into_iter().step_by(9));
    let random = (0..70).map(|seed| random::program(seed, &Config::everything()));
    let more = (0..90).map(|seed| random::program(seed, &Config::synchronizing()));
    of_families
        .map(|(_, program)| program)
        .chain(random)
        .chain((1..=3).map(about_an_undeclared_cell))
        .chain(more)
        .collect()
}

/// Store buffering over `x` and a cell that nobody has declared.
fn about_an_undeclared_cell(value: Value) -> Program {
    const X: Address = 1;
    const UNDECLARED: Address = 9;
    let threads = vec![
        straight("P0", [store(X, value), load(0, UNDECLARED)]),
        straight("P1", [store(UNDECLARED, value), load(0, X)]),
    ];
    sketch::program(vec![cell("x", X)], threads, Vec::new())
}

/// For each construct and each column how many programs were answered.
#[derive(Default)]
struct Table(BTreeMap<(Construct, String), u64>);

impl Table {
    fn add(&mut self, constructs: &BTreeSet<Construct>, column: &str, is_answered: bool) {
        for &construct in constructs {
            *self.0.entry((construct, column.to_owned())).or_default() += u64::from(is_answered);
        }
    }

    #[allow(clippy::print_stdout, reason = "the table is what the command is for")]
    fn print(&self) {
        let columns: BTreeSet<&String> = self.0.keys().map(|(_, column)| column).collect();
        for (number, column) in columns.iter().enumerate() {
            println!("{number:3}: {column}");
        }
        let head: String = (0..columns.len()).map(|number| format!("{number:4}")).collect();
        println!("{:22}{head}", "");
        for construct in Construct::ALL {
            let count = |column: &&String| self.0.get(&(construct, (*column).clone())).copied().unwrap_or(0);
            let row: String = columns.iter().map(|column| format!("{:4}", count(column))).collect();
            println!("{:22}{row}", format!("{construct:?}"));
        }
    }

    /// The cells that are empty although nothing says why, and those that are not although something does.
    fn wrong(&self) -> Vec<String> {
        let reason = |construct, column: &str| GAPS.iter().any(|gap| (gap.0, gap.1) == (construct, column));
        let columns: BTreeSet<&String> = self.0.keys().map(|(_, column)| column).collect();
        let mut wrong = Vec::new();
        for construct in Construct::ALL {
            for column in &columns {
                let count = self.0.get(&(construct, (*column).clone())).copied().unwrap_or(0);
                if (count == 0) != reason(construct, column) {
                    wrong.push(format!("{construct:?} x {column}: {count}"));
                }
            }
        }
        wrong
    }
}

#[test]
fn every_construct_meets_every_engine() {
    let mut table = Table::default();
    for (number, program) in (0..).zip(programs()) {
        let asking = questioned(&program, number);
        let constructs = Construct::of(&asking);
        // A third of all ways for each program: there are enough programs.
        let ways: Vec<Way> = Way::ALL.into_iter().skip(number as usize % 3).step_by(3).collect();
        let tallies = compare(&asking, &ways).unwrap_or_else(|wrong| panic!("program {number}: {wrong}"));
        for (way, tally) in tallies {
            table.add(&constructs, &format!("reach {way:?}"), tally.answered() > 0);
        }
        let asked = Asked::new(&asking, number);
        for &beside in Beside::ALL.iter().skip(number as usize % 3).step_by(3) {
            let is_answered = beside.compare(&asked).unwrap_or_else(|wrong| {
                panic!("program {number}, {beside:?}: {wrong}\n{}", weir_testkit::dump(&asking))
            });
            table.add(&constructs, &format!("{beside:?}"), is_answered);
        }
    }
    table.print();
    let wrong = table.wrong();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
