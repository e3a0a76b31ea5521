//! Loops that only wait: `while x == 0 { }`. A thread in such a loop changes nothing, neither memory nor what it will
//! do next, until some cell has another value; so a run in which it stays there forever is one in which it waits for
//! ever.
//!
//! Direction of error: every loop that is named only waits; others may do so as well (`while r == 0 { r = x; }`, whose
//! register lives on from one iteration to the next). Such a loop is not the same as an `await`: it takes steps while
//! it waits. An analysis that treats one as the other has to justify that this does not change its answer.

use super::regions::spins;
use super::{Cfg, for_each_component, leavable_regions, live_registers, observed_registers, targets};
use crate::ids::{LocId, RegId, ThreadId};
use crate::program::{Body, Edge, Instruction, Program};
use crate::sort::sort_by_key;
use crate::span::Span;

/// A loop that only waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingLoop {
    /// Whose.
    pub thread: ThreadId,
    /// Where control enters it.
    pub header: LocId,
    /// All its locations, ascending.
    pub locations: Vec<LocId>,
    /// Where the header is in the source.
    pub span: Span,
}

impl WaitingLoop {
    /// The line of the source on which the loop begins.
    pub fn line(&self, program: &Program) -> u32 {
        program.source.line_column(self.span.start).line
    }
}

/// Every loop of a thread that only waits and that control can get to, by threads and headers.
pub fn waiting_loops(program: &Program) -> Vec<WaitingLoop> {
    let mut found = Vec::new();
    for thread in program.thread_ids() {
        let body = program.body(thread);
        let loops = loading_loops(body);
        if loops.is_empty() {
            continue;
        }
        let cfg = Cfg::of(body);
        let live = live_registers(body, &observed_registers(program, thread));
        let mut of_thread = Vec::new();
        for locations in loops {
            let is_inside = |loc: &LocId| locations.binary_search(loc).is_ok();
            let is_entered =
                |loc: &LocId| *loc == body.entry || cfg.predecessors(*loc).iter().any(|before| !is_inside(before));
            let entered: Vec<LocId> = locations.iter().copied().filter(is_entered).collect();
            let [header] = entered[..] else { continue };
            if cfg.is_reachable(header) && only_waits(body, &locations, |register| live.at(header).contains(register)) {
                let span = body.locations[header.index()].span;
                of_thread.push(WaitingLoop { thread, header, locations, span });
            }
        }
        sort_by_key(&mut of_thread, |waiting| waiting.header);
        found.extend(of_thread);
    }
    found
}

/// The strongly connected components in which something is loaded, each with its locations in ascending order.
fn loading_loops(body: &Body) -> Vec<Vec<LocId>> {
    let loads = |edge: &Edge| edge.instruction.is_load();
    if !body.edges().iter().any(loads) {
        return Vec::new();
    }
    let successors: Vec<Vec<usize>> = body.location_ids().map(|loc| next_locations(body, loc)).collect();
    let mut loops = Vec::new();
    for_each_component(&successors[..], |component| {
        let is_inside = |loc: LocId| component.binary_search(&loc.index()).is_ok();
        let mut leaving = component.iter().flat_map(|&loc| body.edges_from(LocId::new(loc)));
        if leaving.any(|(_, edge)| loads(edge) && is_inside(edge.to)) {
            loops.push(component.iter().copied().map(LocId::new).collect());
        }
    });
    loops
}

fn next_locations(body: &Body, loc: LocId) -> Vec<usize> {
    body.edges_from(loc).flat_map(|(_, edge)| targets(body, edge)).map(LocId::index).collect()
}

/// Whether all that happens within these locations is loads and tests, and nothing of it is remembered from one
/// iteration to the next.
fn only_waits(body: &Body, locations: &[LocId], lives_on: impl Fn(RegId) -> bool) -> bool {
    let is_inside = |loc: LocId| locations.binary_search(&loc).is_ok();
    let leaving = || locations.iter().flat_map(|&loc| body.edges_from(loc)).map(|(_, edge)| edge);
    let inner = || leaving().filter(|edge| is_inside(edge.to));
    let waits = |instruction: &Instruction| match instruction {
        Instruction::Skip | Instruction::Assume(_) => true,
        load => load.is_load() && load.defines().all(|register| !lives_on(register)),
    };
    inner().all(|edge| waits(&edge.instruction))
}

/// The places at which threads wait for others, by thread and in order of the text: every `await`, and every loop with
/// an exit that does nothing but load, test and try read-modify-writes. A thread that hangs usually does so at one of
/// these.
pub fn waits(program: &Program) -> Vec<(ThreadId, Span)> {
    let mut found = Vec::new();
    for thread in program.running_threads() {
        let awaits =
            program.body(thread).edges().iter().filter(|edge| matches!(edge.instruction, Instruction::Await { .. }));
        found.extend(awaits.map(|edge| (thread, edge.span)));
    }
    let reads = |one: &Instruction| one.is_load() || matches!(one, Instruction::ReadModifyWrite { .. });
    if !program.threads.iter().flat_map(|thread| thread.body.edges()).any(|edge| reads(&edge.instruction)) {
        return found;
    }
    for region in leavable_regions(program).into_iter().filter(|region| region.is_loop) {
        let body = program.body(region.thread);
        let inner = || {
            let edges = region.locations.iter().flat_map(|&loc| body.edges_from(loc).map(|(_, edge)| edge));
            edges.filter(|edge| region.contains(edge.to)).map(|edge| &edge.instruction)
        };
        if inner().any(reads) && inner().all(spins) {
            let first = body.edges_from(region.entry).next();
            found.extend(first.map(|(_, edge)| (region.thread, edge.span)));
        }
    }
    sort_by_key(&mut found, |&(thread, span)| (thread, span.start));
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Expr, UnaryOp};
    use crate::flow::testing::{Automaton, assign, constant, load, program, reg, store};

    fn not(register: u32) -> Instruction {
        Instruction::Assume(Expr::unary(UnaryOp::Not, reg(register)))
    }

    /// `while mem[1] == 0 { body }` and then a store; the body goes from location 2 back to 0.
    fn loops(body: Instruction) -> Vec<(LocId, Vec<LocId>)> {
        let mut automaton = Automaton::new(4);
        automaton.register("t");
        automaton.register("r");
        automaton.edge(0, 1, load(0, constant(1)));
        automaton.edge(1, 2, not(0));
        automaton.edge(2, 0, body);
        automaton.edge(1, 3, Instruction::Assume(reg(0)));
        let program = program(vec![], vec![automaton.body()]);
        waiting_loops(&program).into_iter().map(|waiting| (waiting.header, waiting.locations)).collect()
    }

    #[test]
    fn a_loop_that_only_loads_and_tests_waits() {
        let all = (0..3).map(LocId::new).collect::<Vec<_>>();
        assert_eq!(loops(Instruction::Skip), [(LocId(0), all.clone())]);
        assert_eq!(loops(load(1, constant(2))), [(LocId(0), all.clone())]);
        let wait = Instruction::Await { loads: vec![(crate::ids::RegId(1), constant(2))], condition: reg(1) };
        assert_eq!(loops(wait), [(LocId(0), all)]);
    }

    #[test]
    fn a_loop_that_does_anything_else_does_not() {
        for other in [store(constant(2), constant(1)), assign(1, reg(1)), Instruction::Fence, Instruction::Membarrier] {
            assert_eq!(loops(other.clone()), [], "{other:?}");
        }
    }

    /// Without a load there is nothing to wait for; a register that lives on may count.
    #[test]
    fn a_loop_without_loads_or_with_memory_does_not() {
        let mut automaton = Automaton::new(2);
        automaton.register("r");
        automaton.edge(0, 0, Instruction::Skip);
        automaton.edge(0, 1, Instruction::Skip);
        assert_eq!(waiting_loops(&program(vec![], vec![automaton.body()])), []);
        let mut automaton = Automaton::new(3);
        automaton.register("r");
        automaton.edge(0, 1, not(0));
        automaton.edge(1, 0, load(0, constant(1)));
        automaton.edge(0, 2, Instruction::Assume(reg(0)));
        assert_eq!(waiting_loops(&program(vec![], vec![automaton.body()])), []);
    }
}
