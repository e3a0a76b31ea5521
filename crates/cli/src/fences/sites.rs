//! Where fences can be written, and what they cost there.

use std::collections::BTreeMap;

use weir::Session;
use weir::fences::Place;
use weir_ir::{LocId, Program, Span, ThreadId};
use weir_syntax::{FenceSites, Language};

use super::Costs;
use crate::trouble::Trouble;

/// A place in the text.
pub(crate) struct Site {
    /// Where: the first byte of what the fence comes before.
    pub(crate) offset: u32,
    /// The same for the search, with its cost.
    pub(crate) place: Place,
    /// The locations at which the fence would be. In a `.weir` text it is a step of its own.
    pub(crate) locations: Vec<(ThreadId, LocId)>,
    /// Whether a fence can be written there: not if several statements begin at the same location.
    pub(crate) is_in_text: bool,
}

/// All places of a program.
pub(crate) struct Sites {
    /// The program that is searched: the one that was read, or one with a step for each place.
    pub(crate) program: Program,
    /// The places, in order of the text.
    pub(crate) list: Vec<Site>,
    /// What the program is written in.
    pub(crate) language: Language,
}

impl Sites {
    /// The places of a program that was read without errors.
    pub(crate) fn of(program: &Program, language: Language, defines: &[(String, i64)]) -> Result<Self, Trouble> {
        let FenceSites { program, sites } =
            language.fence_sites(program, defines).map_err(|errors| Trouble::Source(program.source.clone(), errors))?;
        let site = |site: weir_syntax::FenceSite| Site {
            offset: site.offset,
            place: Place { after: site.after, cost: 1 },
            locations: site.locations,
            is_in_text: site.is_in_text,
        };
        Ok(Self { program, list: sites.into_iter().map(site).collect(), language })
    }

    /// Sets what a fence costs at each place.
    pub(crate) fn price(&mut self, costs: &Costs, session: &Session) -> Result<(), Trouble> {
        let prices = costs.prices(self, session)?;
        self.list.iter_mut().zip(prices).for_each(|(site, price)| site.place.cost = price);
        Ok(())
    }

    /// The line of a place.
    pub(crate) fn line(&self, site: &Site) -> u32 {
        self.program.source.line(at(site.offset))
    }

    /// Each thread that runs the text of a place, with the labels it has there.
    pub(crate) fn threads(&self, site: &Site) -> BTreeMap<ThreadId, Vec<String>> {
        let labels =
            |thread: ThreadId, location: LocId| self.program.body(thread).locations[location.index()].labels.clone();
        let mut threads: BTreeMap<ThreadId, Vec<String>> = BTreeMap::new();
        for &(thread, location) in &site.locations {
            threads.entry(thread).or_default().extend(labels(thread, location));
        }
        threads
    }
}

/// A single point of a text.
pub(crate) fn at(offset: u32) -> Span {
    Span { start: offset, end: offset }
}
