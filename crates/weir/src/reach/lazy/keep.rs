//! The practical form: the code stays, what TSO can do along the paths is added, several paths in each round.
//!
//! The oracle looks for runs that are not robust *and* delay along a path that is not covered yet. If there is none,
//! the extended program reaches under SC all that the original reaches under TSO; see SOUNDNESS.md.

use weir_ir::Program;
use weir_ir::sort::sort_by_key;

use super::oracle::{self, Witnesses};
use super::{Answer, Lazy, Round};
use crate::robust::Covered;
use crate::translate::delay::{DelayPath, delay};
use crate::verdict::{Failure, Limit, Verdict};

impl Lazy<'_> {
    pub(super) fn keep(&mut self) -> Result<Answer, Failure> {
        let mut paths: Vec<DelayPath> = Vec::new();
        loop {
            let extended = delay(self.program, &paths)?;
            let (verdict, coverage) = self.search(&extended)?;
            if !matches!(verdict, Verdict::Holds) {
                return Ok((verdict, coverage));
            }
            let (witnesses, statistics) = oracle::uncovered(&extended, &paths, self.options, &self.looking())?;
            self.statistics.add(&statistics);
            match witnesses {
                Witnesses::Stopped(limit) => return Ok((Verdict::Unknown(limit), coverage)),
                Witnesses::Found(found) if found.is_empty() => return Ok((Verdict::Holds, coverage)),
                Witnesses::Found(_) if !self.may_go_on(&extended) => {
                    return Ok((Verdict::Unknown(Limit::Extensions), coverage));
                }
                Witnesses::Found(found) => {
                    add(self.program, &mut paths, &found);
                    self.rounds.push(Round { added: found });
                }
            }
        }
    }
}

/// Adds paths, and leaves out those that are parts of others.
fn add(program: &Program, paths: &mut Vec<DelayPath>, found: &[DelayPath]) {
    paths.extend(found.iter().cloned());
    let letters = |path: &DelayPath| path.edges.iter().map(|edge| edge.0).collect::<Vec<u32>>();
    // Longer ones first, so that what is covered by another is seen at once; among equals the order stays.
    sort_by_key(paths, |path| (path.thread, std::cmp::Reverse(path.edges.len())));
    for thread in program.thread_ids() {
        let mut kept: Vec<Vec<u32>> = Vec::new();
        paths.retain(|path| {
            let word = letters(path);
            let is_new = path.thread != thread || !Covered::new(&kept, Vec::new()).contains(&word);
            if path.thread == thread && is_new {
                kept.push(word);
            }
            is_new
        });
    }
}
