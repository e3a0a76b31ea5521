//! The table of what was caught, and the list of what survived.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::choose::{MODULES, module};
use crate::mutant::Mutant;
use crate::run::Fate;

/// Survivors that were looked at: they change nothing that a user or another part of the program can see. The file
/// lists one per line: file, function, change, reason, separated by tabs.
#[derive(Default)]
pub(crate) struct Listed(BTreeSet<String>);

impl Listed {
    /// Reads the list; lines that begin with `#` are comments.
    pub(crate) fn read(text: &str) -> Self {
        let name = |line: &str| line.splitn(4, '\t').take(3).collect::<Vec<_>>().join("\t");
        Self(text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).map(name).collect())
    }

    pub(crate) fn holds(&self, mutant: &Mutant) -> bool {
        self.0.contains(&mutant.name())
    }
}

#[derive(Default)]
struct Row {
    caught: usize,
    timed_out: usize,
    survived: usize,
    unreached: usize,
    listed: usize,
}

impl Row {
    fn count(&mut self, fate: &Fate, is_listed: bool) {
        match fate {
            Fate::Caught(_) => self.caught += 1,
            Fate::TimedOut(_) => self.timed_out += 1,
            _ if is_listed => self.listed += 1,
            Fate::Survived => self.survived += 1,
            Fate::Unreached => self.unreached += 1,
        }
    }

    fn line(&self, name: &str) -> String {
        let noticed = self.caught + self.timed_out;
        let all = noticed + self.survived + self.unreached;
        let percent = if all == 0 { 100.0 } else { 100.0 * noticed as f64 / all as f64 };
        let Self { caught, timed_out, survived, unreached, listed } = self;
        format!("| {name} | {all} | {caught} | {timed_out} | {survived} | {unreached} | {percent:.0} % | {listed} |")
    }
}

/// A table with a row per module, as Markdown.
pub(crate) fn table(mutants: &[Option<Mutant>], fates: &BTreeMap<usize, Fate>, listed: &Listed) -> String {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let mut sum = Row::default();
    for (number, mutant) in mutants.iter().enumerate() {
        let Some(mutant) = mutant else { continue };
        let is_listed = listed.holds(mutant);
        // Listed mutants need not have been tried.
        let Some(fate) = fates.get(&number).or(is_listed.then_some(&Fate::Survived)) else { continue };
        rows.entry(module(&mutant.file).unwrap_or("others")).or_default().count(fate, is_listed);
        sum.count(fate, is_listed);
    }
    let mut out = String::from(
        "| module | mutants | caught | timed out | survived | not reached | noticed | listed as equivalent |\n|---|---|---|---|---|---|---|---|\n",
    );
    for name in MODULES.iter().map(|(name, _)| *name).chain(["others"]) {
        if let Some(row) = rows.get(name) {
            let _ = writeln!(out, "{}", row.line(name));
        }
    }
    let _ = writeln!(out, "{}", sum.line("**all**"));
    out
}

/// The mutants that no test noticed and that are not listed.
pub(crate) fn unnoticed<'a>(
    mutants: &'a [Option<Mutant>],
    fates: &'a BTreeMap<usize, Fate>,
    listed: &Listed,
) -> Vec<(&'a Mutant, &'a Fate)> {
    let open = fates.iter().filter(|(_, fate)| matches!(fate, Fate::Survived | Fate::Unreached));
    let open = open.filter_map(|(&number, fate)| Some((mutants[number].as_ref()?, fate)));
    open.filter(|(mutant, _)| !listed.holds(mutant)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::mutants;

    #[test]
    fn listed_survivors_do_not_count() {
        let found = mutants("crates/weir/src/prob/x.rs", "fn f(a: u32) -> u32 { a + 2 }").expect("Rust");
        let name = found[0].name();
        let mutants: Vec<_> = found.into_iter().map(Some).collect();
        let fates = BTreeMap::from([(0, Fate::Survived), (1, Fate::Caught("t".to_owned())), (2, Fate::Unreached)]);
        let table = |listed: &Listed| table(&mutants, &fates, listed);
        assert!(table(&Listed::default()).contains("| prob | 3 | 1 | 0 | 1 | 1 | 33 % | 0 |"));
        let listed = Listed::read(&format!("# a comment\n{name}\tthe reason"));
        assert!(table(&listed).contains("| prob | 2 | 1 | 0 | 0 | 1 | 50 % | 1 |"));
        assert_eq!(unnoticed(&mutants, &fates, &listed).len(), 1);
    }
}
