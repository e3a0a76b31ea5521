//! Values that may grow without bound: what keeps a search from ending, as far as the value ranges tell.

use weir_ir::flow::Ranges;
use weir_ir::{Address, Edge, EdgeId, Instruction, Program, Range, RegExpr, RegId, Rmw, Shared, Span, ThreadId, Value};

use super::relevance::Relevance;

/// Something whose values may grow without bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Growth {
    /// What grows.
    pub what: Growing,
    /// The instruction that makes it grow.
    pub span: Span,
}

/// What grows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Growing {
    /// A cell.
    Cell(Address),
    /// A register of a thread.
    Register(ThreadId, RegId),
}

/// More values than this are too many to enumerate.
const MANY: u64 = 1 << 20;

pub(super) fn is_bounded(program: &Program, ranges: &Ranges, relevance: &Relevance) -> bool {
    let few = |range: Range| range.extent() < MANY;
    let registers =
        |thread: ThreadId| !relevance.is_kept(thread) || relevance.values(ranges, thread).into_values().all(few);
    program.running_threads().all(registers)
        && cells(program, relevance).all(|address| few(ranges.cell(address)))
        && (!reaches_undeclared(program, relevance) || few(ranges.undeclared()))
}

/// The declared cells that count.
fn cells(program: &Program, relevance: &Relevance) -> impl Iterator<Item = Address> {
    let counts = |address: &Address| relevance.cells().iter().any(|cells| cells.contains(*address));
    program.shared.iter().flat_map(Shared::addresses).filter(counts)
}

fn reaches_undeclared(program: &Program, relevance: &Relevance) -> bool {
    let declared =
        |cells: &Range| program.shared_at(cells.low).is_some_and(|(shared, _)| shared.offset_of(cells.high).is_some());
    !relevance.cells().iter().all(declared)
}

/// What may grow in a slice: cells first, then registers that do not just hold what was loaded.
pub(super) fn growth(program: &Program, ranges: &Ranges, relevance: &Relevance) -> Vec<Growth> {
    let unbounded = |range: Range| range.low == Value::MIN || range.high == Value::MAX;
    let edges = || {
        program.running_threads().filter(|&thread| relevance.is_kept(thread)).flat_map(move |thread| {
            let numbered = program.body(thread).edges().iter().enumerate();
            numbered.map(move |(at, edge)| (thread, EdgeId::new(at), edge))
        })
    };
    let grows = |(thread, id, edge): (ThreadId, EdgeId, &Edge)| {
        ranges.can_take(thread, id)
            && written(&edge.instruction)
                .is_none_or(|value| ranges.value_at(thread, edge.from, value).is_some_and(unbounded))
    };
    let mut found = Vec::new();
    for address in cells(program, relevance).filter(|&address| unbounded(ranges.cell(address))) {
        let writes = |(thread, id, edge): &(ThreadId, EdgeId, &Edge)| {
            matches!(edge.instruction, Instruction::Store { .. } | Instruction::ReadModifyWrite { .. })
                && ranges.addresses_of(*thread, *id).iter().any(|addresses| addresses.contains(address))
        };
        if let Some((_, _, edge)) = edges().filter(writes).find(|&edge| grows(edge)) {
            found.push(Growth { what: Growing::Cell(address), span: edge.span });
        }
    }
    for (thread, id, edge) in edges() {
        let Instruction::Assign { register, .. } = edge.instruction else { continue };
        let what = Growing::Register(thread, register);
        let counts = relevance.has_definition(thread, edge, register) && unbounded(ranges.register(thread, register));
        let is_known = found.iter().any(|known| known.what == what);
        if counts && !is_known && grows((thread, id, edge)) {
            found.push(Growth { what, span: edge.span });
        }
    }
    found
}

/// What an instruction writes, if one of its operands says so.
fn written(instruction: &Instruction) -> Option<&RegExpr> {
    match instruction {
        Instruction::Store { value, .. } | Instruction::Assign { value, .. } => Some(value),
        Instruction::ReadModifyWrite { operation, .. } => match operation {
            Rmw::Exchange(new) | Rmw::CompareAndSwap { new, .. } | Rmw::CompareExchange { new, .. } => Some(new),
            Rmw::Fetch(..) => None,
        },
        _ => None,
    }
}
