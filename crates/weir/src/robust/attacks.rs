//! Attacks: which store of a thread might be delayed past which of its loads, as far as control flow tells.

use std::rc::Rc;

use weir_ir::flow::strongly_connected_components;
use weir_ir::{Body, EdgeId, Instruction, LocId, Program, ThreadId};

use crate::attack::{Attack, Attacks};
use crate::session::Session;
use crate::verdict::Limit;

/// The loads that a thread can come to from each of its locations before it drains its buffer, as far as control flow
/// tells. Locations with the same loads ahead share the list, and each list is made once: what lies ahead of a location
/// is known when its turn comes.
fn loads_ahead(body: &Body, session: &Session) -> Result<Vec<Rc<[EdgeId]>>, Limit> {
    let follow = |from: LocId| body.edges_from(from).filter(|(_, edge)| !edge.instruction.drains());
    let successors: Vec<Vec<usize>> =
        body.location_ids().map(|from| follow(from).map(|(_, edge)| edge.to.index()).collect()).collect();
    let mut ahead: Vec<Rc<[EdgeId]>> = vec![Rc::default(); successors.len()];
    let mut growth = Growth::new(session);
    for component in strongly_connected_components(&successors) {
        let own = component.iter().flat_map(|&from| body.edges_from(LocId::new(from)));
        let mut loads: Vec<EdgeId> = own.filter(|(_, edge)| edge.instruction.is_load()).map(|(load, _)| load).collect();
        let mut lists: Vec<&Rc<[EdgeId]>> =
            component.iter().flat_map(|&from| &successors[from]).map(|&to| &ahead[to]).collect();
        lists.dedup_by(|one, other| Rc::ptr_eq(one, other));
        let shared = lists.iter().copied().filter(|list| !list.is_empty()).collect::<Vec<_>>();
        let list = match shared[..] {
            [only] if loads.is_empty() => Rc::clone(only),
            _ => {
                loads.extend(shared.iter().flat_map(|list| list.iter().copied()));
                loads.sort_unstable();
                loads.dedup();
                growth.by(size_of_val(&*loads))?;
                Rc::from(loads)
            }
        };
        component.iter().for_each(|&at| ahead[at] = Rc::clone(&list));
        growth.by(0)?;
    }
    Ok(ahead)
}

/// A list that grows, and the limits: asking about them takes longer than adding a little.
struct Growth<'s> {
    session: &'s Session,
    bytes: u64,
    /// What was added since the limits were asked about.
    added: u64,
    steps: u32,
}

impl<'s> Growth<'s> {
    const STEPS: u32 = 1024;
    const BYTES: u64 = 1 << 16;

    fn new(session: &'s Session) -> Self {
        Self { session, bytes: 0, added: 0, steps: 0 }
    }

    /// The list has become longer. When it has no room left, it asks for as much as it has.
    ///
    /// # Errors
    /// The limit that came first.
    fn by(&mut self, bytes: usize) -> Result<(), Limit> {
        self.bytes += bytes as u64;
        self.added += bytes as u64;
        self.steps += 1;
        if self.steps < Self::STEPS && self.added < Self::BYTES {
            return Ok(());
        }
        let wanted = std::mem::take(&mut self.added);
        self.steps = 0;
        self.session.exceeded_with(self.bytes, wanted).map_or(Ok(()), Err)
    }
}

/// Lists the attacks of these threads.
///
/// # Errors
/// The limit that came first.
pub(crate) fn enumerate(program: &Program, threads: &[ThreadId], session: &Session) -> Result<Attacks, Limit> {
    let mut attacks = Attacks::default();
    let mut growth = Growth::new(session);
    for &thread in threads {
        let body = program.body(thread);
        let is = |wanted: fn(&Instruction) -> bool| body.edges().iter().filter(move |edge| wanted(&edge.instruction));
        attacks.total += is(Instruction::is_load).count() * is(Instruction::is_store).count();
        let ahead = loads_ahead(body, session)?;
        for store in (0..body.edges().len()).map(EdgeId::new).filter(|&edge| body.edge(edge).instruction.is_store()) {
            let loads = &ahead[body.edge(store).to.index()];
            attacks.open.extend(loads.iter().map(|&load| Attack { thread, store, load }));
            growth.by(loads.len() * size_of::<Attack>())?;
        }
    }
    Ok(attacks)
}
