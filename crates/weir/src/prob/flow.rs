//! Probability propagated step by step. Configurations with negligible probability are dropped, so the result is a
//! lower bound.

use crate::session::Session;
use crate::verdict::Limit;

use super::chain::Chain;
use super::explore::expand;
use super::graph::Graph;
use super::rounding::{add_down, weighted_down};
use super::transitions::Entry;

/// Configurations that less than this is at are dropped.
const NEGLIGIBLE: f64 = 1e-11;

/// Where a run is after some number of steps, and how likely.
pub(super) struct Flow<'c, 'a, const N: usize> {
    pub(super) graph: Graph<'c, 'a, N>,
    /// Configurations and at least how likely they are.
    pub(super) masses: Vec<(u32, f64)>,
}

impl<'c, 'a, const N: usize> Flow<'c, 'a, N> {
    /// At the start of a run.
    pub(super) fn new(chain: &'c Chain<'a, N>) -> Self {
        Self { graph: Graph::new(chain), masses: vec![(0, 1.0)] }
    }

    /// How much there is in all, at least.
    pub(super) fn total(&self) -> f64 {
        self.masses.iter().fold(0.0, |sum, &(_, mass)| add_down(sum, mass))
    }

    /// One step further. Calls `moved` with what moves along which entry.
    pub(super) fn advance(&mut self, session: &Session, mut moved: impl FnMut(&Entry, f64)) -> Result<(), Limit> {
        if let Some(limit) = session.exceeded_with(self.graph.bytes(), 0) {
            return Err(limit);
        }
        let mut sums: Vec<f64> = vec![0.0; self.graph.len()];
        let mut touched: Vec<u32> = Vec::new();
        for (count, &(number, mass)) in self.masses.iter().enumerate() {
            if self.graph.is_expandable(number as usize)
                && let Some(limit) = expand(&mut self.graph, number as usize, count, session)
            {
                return Err(limit);
            }
            sums.resize(self.graph.len(), 0.0);
            for entry in self.graph.row(number as usize) {
                moved(entry, mass);
                let sum = &mut sums[entry.to as usize];
                if *sum == 0.0 {
                    touched.push(entry.to);
                }
                *sum = add_down(*sum, weighted_down(mass, entry.p)).max(0.0);
            }
        }
        touched.sort_unstable();
        touched.dedup();
        let masses = touched.into_iter().map(|number| (number, sums[number as usize]));
        self.masses = masses.filter(|&(_, mass)| mass >= NEGLIGIBLE).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prob::chain::{Visitor, with_chain};
    use crate::prob::settings::Settings;
    use crate::prob::testing::model;
    use crate::session::{Limits, Session};

    /// How much there is after each of so many steps, and in how many configurations.
    struct Steps(usize);

    impl Visitor for Steps {
        type Output = Vec<(f64, usize)>;

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output {
            let session = Session::default();
            let mut flow = Flow::new(chain);
            let mut all = vec![(flow.total(), flow.masses.len())];
            for _ in 0..self.0 {
                let mut moved = 0.0;
                let before = flow.total();
                flow.advance(&session, |entry, mass| moved += mass * entry.p).expect("no limit");
                assert!((moved - before).abs() < 1e-12, "all that is there moves");
                all.push((flow.total(), flow.masses.len()));
            }
            let limited = Session::new(Limits { states: Some(1), ..Limits::default() });
            let mut flow = Flow::new(chain);
            let session = limited;
            let ended = (0..3).find_map(|_| flow.advance(&session, |_, _| ()).err());
            assert_eq!(ended, Some(Limit::States));
            all
        }
    }

    #[test]
    fn all_of_it_moves_on_and_next_to_nothing_is_dropped() {
        let text = "shared x; thread P { loop { x = 1; } } thread Q { skip; skip; } forbid x == 9;";
        let all = with_chain(&model(text, &Settings::default()), Steps(20));
        assert_eq!(all[0], (1.0, 1));
        // P has stored, and that has left or not; or Q has stepped.
        assert_eq!(all[1].1, 3);
        for (total, configurations) in all {
            assert!(total <= 1.0 && total > 1.0 - 1e-8, "{total}");
            // Lengths beyond a dozen are next to nothing.
            assert!(configurations < 120, "{configurations}");
        }
    }

    #[test]
    fn what_two_ways_lead_to_adds_up() {
        let text = "thread P { skip; } thread Q { skip; } forbid P at end && Q at end;";
        let all = with_chain(&model(text, &Settings::default()), Steps(2));
        assert_eq!(all.iter().map(|&(_, configurations)| configurations).collect::<Vec<_>>(), [1, 2, 1]);
        assert!(all[2].0 > 1.0 - 1e-12);
    }
}
