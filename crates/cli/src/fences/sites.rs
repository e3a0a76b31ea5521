//! Where fences can be written.

use std::collections::{BTreeMap, BTreeSet};

use weir::fences::Place;
use weir_ir::{LocId, Program, Span, ThreadId};
use weir_report::answer::FencePlace;
use weir_syntax::{FenceSites, Language};

use crate::error::Error;

/// A set of places, by number.
pub(crate) type Chosen = BTreeSet<usize>;

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
    pub(crate) fn of(program: &Program, language: Language, defines: &[(String, i64)]) -> Result<Self, Error> {
        let FenceSites { program, sites } =
            language.fence_sites(program, defines).map_err(|errors| Error::Source(program.source.clone(), errors))?;
        let site = |site: weir_syntax::FenceSite| Site {
            offset: site.offset,
            place: Place { after: site.after, cost: 1 },
            locations: site.locations,
            is_in_text: site.is_in_text,
        };
        Ok(Self { program, list: sites.into_iter().map(site).collect(), language })
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

impl Sites {
    /// These places, for an answer.
    pub(crate) fn places(&self, chosen: &Chosen) -> Vec<FencePlace> {
        let place = |site: &Site| FencePlace {
            offset: site.offset,
            threads: self.threads(site),
            location: site.locations.first().copied(),
        };
        chosen.iter().map(|&number| place(&self.list[number])).collect()
    }
}

/// A single point of a text.
pub(crate) fn at(offset: u32) -> Span {
    Span { start: offset, end: offset }
}
