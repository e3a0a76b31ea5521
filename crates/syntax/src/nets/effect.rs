//! What a rule of a `.spec` file does, from its assignments: what it takes, moves and gives.
//!
//! The new value of a variable is a sum of old values and a constant. Each old value may occur once in all new values:
//! its tokens stay, go to another place, or vanish. A constant that is subtracted is taken from tokens that the guard
//! guarantees, before any are moved; if only one variable contributes, it must have as many, since no count is
//! negative.

use std::collections::BTreeMap;

use weir_ir::net::{Move, Tokens};
use weir_ir::{Gather, PlaceId, Span};

/// The new value of a variable.
pub(super) struct Assignment {
    /// The old values that are added up, and where they are written.
    pub(super) sources: Vec<(PlaceId, Span)>,
    /// The constant that is added.
    pub(super) change: i64,
    pub(super) span: Span,
}

/// What a rule does that a transition of a net cannot do.
pub(super) enum Unsupported {
    AssignedTwice { place: PlaceId, span: Span, first: Span },
    Copied { place: PlaceId, span: Span },
    Unguarded { place: PlaceId, lacking: u64, span: Span },
    Negative { place: PlaceId, span: Span },
}

/// The guard and the assignments of a rule.
pub(super) struct Effect {
    needs: BTreeMap<PlaceId, u64>,
    assignments: BTreeMap<PlaceId, Assignment>,
}

/// What a transition needs, takes, moves and gives.
pub(super) type Parts = (Vec<Tokens>, Vec<Tokens>, Vec<Move>, Vec<Tokens>);

impl Effect {
    /// A rule with this guard.
    pub(super) fn new(guard: Vec<Tokens>) -> Self {
        let mut needs = BTreeMap::new();
        for (place, count) in guard {
            let need = needs.entry(place).or_insert(0);
            *need = count.max(*need);
        }
        Self { needs, assignments: BTreeMap::new() }
    }

    pub(super) fn assign(&mut self, place: PlaceId, assignment: Assignment) -> Result<(), Unsupported> {
        if let Some(first) = self.assignments.get(&place) {
            return Err(Unsupported::AssignedTwice { place, span: assignment.span, first: first.span });
        }
        self.assignments.insert(place, assignment);
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Parts, Unsupported> {
        let goes_to = self.destinations()?;
        let moves = self.assignments.keys().chain(goes_to.keys()).copied();
        let moves: std::collections::BTreeSet<PlaceId> = moves.gather();
        let moves = moves.into_iter().filter(|place| goes_to.get(place) != Some(place));
        let moves = moves.map(|from| Move { from, to: goes_to.get(&from).copied().into_iter().collect() }).collect();
        let (mut takes, mut gives) = (BTreeMap::new(), Vec::new());
        for (&place, Assignment { sources, change, span }) in &self.assignments {
            match u64::try_from(*change) {
                Ok(0) => {}
                Ok(given) => gives.push((place, given)),
                Err(_) => take(place, sources, change.unsigned_abs(), *span, &mut self.needs, &mut takes)?,
            }
        }
        let needs = self.needs.into_iter().filter(|&(_, need)| need > 0).collect();
        Ok((needs, takes.into_iter().collect(), moves, gives))
    }

    /// Where the tokens of each place go, if an assignment says so.
    fn destinations(&self) -> Result<BTreeMap<PlaceId, PlaceId>, Unsupported> {
        let mut goes_to = BTreeMap::new();
        for (&place, assignment) in &self.assignments {
            for &(source, span) in &assignment.sources {
                let stays = source != place && !self.assignments.contains_key(&source);
                if goes_to.insert(source, place).is_some() || stays {
                    return Err(Unsupported::Copied { place: source, span });
                }
            }
        }
        Ok(goes_to)
    }
}

/// Takes `count` tokens from the places whose tokens are added up.
fn take(
    place: PlaceId,
    sources: &[(PlaceId, Span)],
    count: u64,
    span: Span,
    needs: &mut BTreeMap<PlaceId, u64>,
    takes: &mut BTreeMap<PlaceId, u64>,
) -> Result<(), Unsupported> {
    match sources {
        [] => return Err(Unsupported::Negative { place, span }),
        [(only, _)] => {
            let need = needs.entry(*only).or_insert(0);
            *need = count.max(*need);
        }
        _ => {}
    }
    let mut left = count;
    for &(source, _) in sources {
        let part = left.min(needs.get(&source).copied().unwrap_or(0));
        if part > 0 {
            takes.insert(source, part);
        }
        left -= part;
    }
    if left > 0 { Err(Unsupported::Unguarded { place, lacking: left, span }) } else { Ok(()) }
}
