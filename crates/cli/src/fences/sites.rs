//! Where fences can be written.

use std::collections::BTreeMap;

use weir::Session;
use weir::fences::{AtLocation, Place, at_locations};
use weir_ir::{LocId, Program, Span, ThreadId};
use weir_syntax::weir::fences::fence_places;

use super::Costs;
use crate::args::Language;
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
        let (program, mut list) = match language {
            Language::Weir => in_weir(program, defines)?,
            Language::Trencher => {
                (program.clone(), at_locations(program).into_iter().map(|at| alone(program, at)).collect())
            }
            Language::Litmus | Language::Rmm => (program.clone(), in_statements(program)),
        };
        list.sort_by_key(|site| site.offset);
        Ok(Self { program, list, language })
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

/// Everywhere a statement can stand.
fn in_weir(program: &Program, defines: &[(String, i64)]) -> Result<(Program, Vec<Site>), Trouble> {
    let options = weir_syntax::weir::Options { defines: defines.to_vec() };
    let marked =
        fence_places(&program.source, &options).map_err(|errors| Trouble::Source(program.source.clone(), errors))?;
    let sites = marked.places.into_iter().map(|place| {
        let from =
            |&(thread, edge): &(ThreadId, weir_ir::EdgeId)| (thread, marked.program.body(thread).edge(edge).from);
        Site {
            offset: place.offset,
            locations: place.steps.iter().map(from).collect(),
            place: Place { after: place.steps, cost: 1 },
            is_in_text: true,
        }
    });
    let sites = sites.collect();
    Ok((marked.program, sites))
}

/// A location by itself.
fn alone(program: &Program, AtLocation { thread, location, place }: AtLocation) -> Site {
    let mut leaving: Vec<Span> = program.body(thread).edges_from(location).map(|(_, edge)| edge.span).collect();
    leaving.sort_unstable();
    leaving.dedup();
    let first = leaving.first().map_or(0, |span| span.start);
    let choice = before_choice(program.source.text(), first);
    let is_in_text = leaving.len() == 1 || choice.is_some();
    Site { offset: choice.unwrap_or(first), place, locations: vec![(thread, location)], is_in_text }
}

/// Where the `either{` of a `.rmm` program stands whose first branch begins here; the outermost one. All branches begin at the same
/// location, so a fence there comes before the choice. What is written there is read and
/// checked again, so a place that only looks like it does no harm.
fn before_choice(text: &str, first: u32) -> Option<u32> {
    let mut before = text.get(..first as usize)?;
    let mut found = None;
    while let Some(outside) =
        before.trim_end().strip_suffix('{').and_then(|head| head.trim_end().strip_suffix("either"))
    {
        found = u32::try_from(outside.len()).ok();
        before = outside;
    }
    found
}

/// Where a statement begins. Where one text is run by several threads, or from several calls, it is one place.
///
/// A statement may take several steps. A fence in its midst is worth no more than one before or after it: no statement stores first and
/// loads then.
fn in_statements(program: &Program) -> Vec<Site> {
    let mut sites: BTreeMap<(u32, bool), Site> = BTreeMap::new();
    for at in at_locations(program).into_iter().filter(|at| !is_inside_statement(program, at)) {
        let site = alone(program, at);
        match sites.get_mut(&(site.offset, site.is_in_text)) {
            Some(known) => {
                known.place.after.extend(site.place.after);
                known.locations.extend(site.locations);
            }
            None => {
                sites.insert((site.offset, site.is_in_text), site);
            }
        }
    }
    sites.into_values().collect()
}

/// Whether only the statement that goes on there leads there.
fn is_inside_statement(program: &Program, at: &AtLocation) -> bool {
    let body = program.body(at.thread);
    let leaving: Vec<Span> = body.edges_from(at.location).map(|(_, edge)| edge.span).collect();
    at.location != body.entry && at.place.after.iter().all(|&(_, edge)| leaving.contains(&body.edge(edge).span))
}
