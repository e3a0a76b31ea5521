//! Where fences can stand in a source text.

use std::collections::BTreeMap;

use weir_ir::flow::{EnteredLocation, entered_locations};
use weir_ir::sort::sort_by_key;
use weir_ir::{EdgeId, Interrupt, LocId, Poll, Program, Span, ThreadId, Value};

use crate::parsed::ParseError;
use crate::weir::fence_places::mark;

/// A place in the text where a fence can stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FenceSite {
    /// Where: the first byte of what the fence comes before.
    pub offset: u32,
    /// The steps after which the fence comes: one for each thread that runs this text, and for each way there.
    pub after: Vec<(ThreadId, EdgeId)>,
    /// The locations at which the fence stands. In a `.weir` text it is a step of its own.
    pub locations: Vec<(ThreadId, LocId)>,
    /// Whether a fence can be written there: not if several statements begin at the same location.
    pub is_in_text: bool,
}

/// The places of a program.
#[derive(Clone, Debug)]
pub struct FenceSites {
    /// The program whose steps and locations the places name: the one that was read, or one with a step for each place.
    pub program: Program,
    /// The places, in order of the text.
    pub sites: Vec<FenceSite>,
}

impl FenceSites {
    fn new(program: Program, mut sites: Vec<FenceSite>) -> Self {
        sort_by_key(&mut sites, |site| site.offset);
        Self { program, sites }
    }
}

/// Everywhere a statement can stand in a `.weir` text.
pub(crate) fn in_marked_text(
    program: &Program,
    constants: &[(String, Value)],
    interrupt: &dyn Interrupt,
) -> Result<FenceSites, ParseError> {
    let options = crate::weir::Options { defines: constants.to_vec() };
    let poll = Poll::later(interrupt);
    let marked = ParseError::unless_over(&poll, mark(&program.source, &options, &poll))?;
    let sites = marked.places.into_iter().map(|place| {
        let from = |&(thread, edge): &(ThreadId, EdgeId)| (thread, marked.program.body(thread).edge(edge).from);
        FenceSite {
            offset: place.offset,
            locations: place.steps.iter().map(from).collect(),
            after: place.steps,
            is_in_text: true,
        }
    });
    let sites = sites.collect();
    Ok(FenceSites::new(marked.program, sites))
}

/// Each location by itself.
pub(crate) fn at_each_location(program: &Program) -> FenceSites {
    let sites = entered_locations(program).into_iter().map(|at| alone(program, at)).collect();
    FenceSites::new(program.clone(), sites)
}

/// Where a statement begins. Where one text is run by several threads, or from several calls, it is one place.
///
/// A statement may take several steps. A fence in the middle of it achieves no more than one before or after it, as no
/// statement loads after it has stored.
pub(crate) fn between_statements(program: &Program) -> FenceSites {
    let mut sites: BTreeMap<(u32, bool), FenceSite> = BTreeMap::new();
    for at in entered_locations(program).into_iter().filter(|at| !is_inside_statement(program, at)) {
        let site = alone(program, at);
        match sites.get_mut(&(site.offset, site.is_in_text)) {
            Some(known) => {
                known.after.extend(site.after);
                known.locations.extend(site.locations);
            }
            None => {
                sites.insert((site.offset, site.is_in_text), site);
            }
        }
    }
    FenceSites::new(program.clone(), sites.into_values().collect())
}

fn alone(program: &Program, EnteredLocation { thread, location, by }: EnteredLocation) -> FenceSite {
    let mut leaving: Vec<Span> = program.body(thread).edges_from(location).map(|(_, edge)| edge.span).collect();
    leaving.sort_unstable();
    leaving.dedup();
    let first = leaving.first().map_or(0, |span| span.start);
    let choice = before_choice(program.source.text(), first);
    let is_in_text = leaving.len() == 1 || choice.is_some();
    let after = by.into_iter().map(|edge| (thread, edge)).collect();
    FenceSite { offset: choice.unwrap_or(first), after, locations: vec![(thread, location)], is_in_text }
}

/// Where the outermost `either{` of a `.rmm` program stands whose first branch begins here. All branches begin at the
/// same location, so a fence there comes before the choice. The fenced text is read again, so a place that only looks
/// like an `either{` does no harm.
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

/// Whether only the statement that goes on there leads there.
fn is_inside_statement(program: &Program, at: &EnteredLocation) -> bool {
    let body = program.body(at.thread);
    let leaving: Vec<Span> = body.edges_from(at.location).map(|(_, edge)| edge.span).collect();
    at.location != body.entry && at.by.iter().all(|&edge| leaving.contains(&body.edge(edge).span))
}
