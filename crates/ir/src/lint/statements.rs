//! Statements: all edges that came from one stretch of source, in all its copies.

use super::Unit;
use crate::ids::EdgeId;
use crate::program::Edge;
use crate::sort::sort_by_key;
use crate::span::Span;

/// An edge of one of the bodies.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) unit: usize,
    pub(super) edge: EdgeId,
}

impl Place {
    /// The body the edge is in.
    pub(super) fn unit<'u, 'p>(self, units: &'u [Unit<'p>]) -> &'u Unit<'p> {
        &units[self.unit]
    }

    /// The edge.
    pub(super) fn edge<'p>(self, units: &[Unit<'p>]) -> &'p Edge {
        units[self.unit].body.edge(self.edge)
    }
}

/// The edges of all bodies, by statement.
pub(super) struct Statements {
    /// In order of the source.
    places: Vec<Place>,
    /// The statements in this order, and where their places end.
    groups: Vec<(Span, usize)>,
    /// For each body, the statement of each edge.
    group_of: Vec<Vec<usize>>,
}

impl Statements {
    pub(super) fn of(units: &[Unit]) -> Self {
        let places = units.iter().enumerate().flat_map(|(unit, known)| {
            (0..known.body.edges().len()).map(move |edge| Place { unit, edge: EdgeId::new(edge) })
        });
        let mut places: Vec<(Span, Place)> = places.map(|place| (place.edge(units).span, place)).collect();
        sort_by_key(&mut places, |&(span, place)| (span, place.unit, place.edge));
        let mut group_of: Vec<Vec<usize>> = units.iter().map(|unit| vec![0; unit.body.edges().len()]).collect();
        let mut groups = Vec::new();
        let mut end = 0;
        for chunk in places.chunk_by(|(a, _), (b, _)| a == b) {
            for (_, place) in chunk {
                group_of[place.unit][place.edge.index()] = groups.len();
            }
            end += chunk.len();
            groups.push((chunk[0].0, end));
        }
        Self { places: places.into_iter().map(|(_, place)| place).collect(), groups, group_of }
    }

    /// Every statement, in order of the source.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Span, &[Place])> {
        let mut start = 0;
        self.groups.iter().map(move |&(span, end)| (span, &self.places[std::mem::replace(&mut start, end)..end]))
    }

    /// Which statement an edge belongs to, by its place in [`Statements::iter`].
    pub(super) fn index_of(&self, place: Place) -> usize {
        self.group_of[place.unit][place.edge.index()]
    }
}
