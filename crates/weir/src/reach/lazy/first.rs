//! Algorithm 1 of the paper, as it stands, but for line 3: it is the extended program that is asked about under SC, not
//! the one that was given.

use weir_ir::EdgeId;

use super::oracle::{self, Witnesses};
use super::{Answer, Lazy, Round};
use crate::reach::Coverage;
use crate::translate::delay::{DelayPath, Extended, delay_first, is_cyclic, unroll};
use crate::verdict::{Failure, Limit, Verdict};

/// How often loops are unrolled at most: far more than any budget allows.
pub(crate) const MOST_TIMES: usize = 1 << 12;

impl Lazy<'_> {
    pub(super) fn first(&mut self) -> Result<Answer, Failure> {
        if !is_cyclic(self.program) {
            return Ok(self.algorithm(Extended::new(self.program))?.unwrap_or_else(stopped));
        }
        // A program that is robust needs no unrolling.
        let whole = Extended::new(self.program);
        let (verdict, coverage) = self.search(&whole)?;
        if !matches!(verdict, Verdict::Holds) {
            return Ok((verdict, coverage));
        }
        let (witnesses, statistics) = oracle::one(&whole, self.options, &self.looking())?;
        self.statistics.add(&statistics);
        match witnesses {
            Witnesses::Found(found) if found.is_empty() => return Ok((Verdict::Holds, coverage)),
            Witnesses::Stopped(limit) => return Ok((Verdict::Unknown(limit), coverage)),
            Witnesses::Found(_) => {}
        }
        let mut times = 1;
        while times <= MOST_TIMES {
            match self.algorithm(unroll(self.program, times))? {
                // Nothing up to here; that says nothing of what comes after.
                Some((Verdict::Holds, _)) => times *= 2,
                Some(answer) => return Ok(answer),
                None => break,
            }
        }
        Ok(stopped())
    }

    /// Algorithm 1. `None` if there were too many rounds.
    fn algorithm(&mut self, mut extended: Extended) -> Result<Option<Answer>, Failure> {
        let original = extended.program.clone();
        loop {
            let (verdict, coverage) = self.search(&extended)?;
            if !matches!(verdict, Verdict::Holds) {
                return Ok(Some((verdict, coverage)));
            }
            let (witnesses, statistics) = oracle::one(&extended, self.options, &self.looking())?;
            self.statistics.add(&statistics);
            let path = match witnesses {
                Witnesses::Stopped(limit) => return Ok(Some((Verdict::Unknown(limit), coverage))),
                Witnesses::Found(found) => match found.into_iter().next() {
                    None => return Ok(Some((Verdict::Holds, coverage))),
                    Some(path) => path,
                },
            };
            if !self.may_go_on(&extended) {
                return Ok(None);
            }
            self.rounds.push(Round { added: vec![projected(&extended, &path)] });
            extended = delay_first(&extended, &original, &path)?;
        }
    }
}

fn stopped() -> Answer {
    (Verdict::Unknown(Limit::Extensions), Coverage::default())
}

/// The path as steps of the original program.
fn projected(extended: &Extended, path: &DelayPath) -> DelayPath {
    let origin = |edge: &EdgeId| extended.origins[path.thread.index()][edge.index()].execute;
    DelayPath { thread: path.thread, edges: path.edges.iter().filter_map(origin).collect() }
}
