//! How cells become variables of a target language.
//!
//! The accesses of a program divide its cells into *segments*: an access whose address is computed joins all cells that
//! it may reach. A segment that is just one declaration becomes a variable or an array of that name; any other becomes
//! an array of its own, indexed by address. So a program without pointers keeps all its names.
//!
//! Addresses are taken from the analysis of value ranges. Where that cannot tell, the access is taken to stay within
//! the declared cells, and the export checks at run time that it does (`Access::is_checked`).

use std::collections::BTreeMap;

use weir_ir::flow::Ranges;
use weir_ir::sort::sort_by_key;
use weir_ir::{
    Address, Body, Diagnostic, EdgeId, Gather, Program, Range, RegExpr, Shared, StateAtom, ThreadId, Value, Width,
    body_instruction_text,
};

use super::refusal::Refusal;
use crate::limits::MAX_EXPORTED_CELLS;

/// An edge of a thread.
type Step = (ThreadId, EdgeId);

/// The cells of a program as variables.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Ascending by address, without overlap.
    segments: Vec<Segment>,
    accesses: BTreeMap<Step, Vec<Access>>,
}

/// Cells that some access cannot tell apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub(crate) first: Address,
    pub(crate) last: Address,
    pub(crate) form: Form,
    /// The declarations in it (places in [`Program::shared`]), ascending by address.
    pub(crate) shared: Vec<usize>,
    /// The values that its cells can hold.
    pub(crate) values: Range,
}

/// What a segment looks like in the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// One cell.
    Scalar,
    /// One array, as it was declared.
    Array,
    /// Several declarations, or cells that no declaration names.
    Mixed,
}

/// Where an instruction accesses memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Access {
    /// The segment it stays in.
    pub(crate) segment: usize,
    /// Whether that must be checked at run time.
    pub(crate) is_checked: bool,
}

/// What limits the values of a segment's cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Constraint {
    /// Nothing.
    Free,
    /// A store of any other value is blocked.
    Within(Range),
    /// A store keeps the low bits.
    Wrapping(Width),
    /// It depends on the cell.
    Differing,
}

impl Memory {
    /// The segments of a program, or what stands in the way.
    pub(crate) fn of(program: &Program, ranges: &Ranges) -> Result<Self, Vec<Diagnostic>> {
        let declared = declared_hull(program);
        let mut refused = Vec::new();
        let mut stretches: Vec<Range> = program.shared.iter().filter_map(stretch).collect();
        let mut found: Vec<(Step, Vec<(Range, bool)>)> = Vec::new();
        for thread in program.running_threads() {
            let body = program.body(thread);
            for (at, edge) in body.edges().iter().enumerate() {
                let id = EdgeId::new(at);
                let reached = ranges.addresses_of(thread, id);
                let mut own = Vec::new();
                for (&reached, address) in reached.iter().zip(edge.instruction.accesses()) {
                    match bounded(reached, declared) {
                        Some((reached, is_checked)) => own.push((reached, is_checked)),
                        None => refused.push(wide_address(program, body, address, reached).at(edge.span)),
                    }
                }
                stretches.extend(own.iter().map(|&(reached, _)| reached));
                found.push(((thread, id), own));
            }
        }
        stretches.extend(observed_cells(program).map(Range::single));
        let joined = joined(stretches);
        if let Some(message) = too_many(&joined) {
            let help = "declare fewer cells, or bound the addresses that are computed";
            let span = program.shared.first().map_or_else(Default::default, |shared| shared.span);
            refused.push(Refusal::new(message, help).at(span));
        }
        if !refused.is_empty() {
            return Err(refused);
        }
        let mut by_address: Vec<usize> = (0..program.shared.len()).collect();
        by_address.retain(|&at| !program.shared[at].initial.is_empty());
        sort_by_key(&mut by_address, |&at| program.shared[at].address);
        let of = |stretch| segment(program, ranges, &by_address, stretch);
        let segments: Vec<Segment> = joined.into_iter().map(of).collect();
        let place = |address: Address| segments.partition_point(|segment| segment.last < address);
        let access = |(reached, is_checked): (Range, bool)| Access { segment: place(reached.low), is_checked };
        let accesses = found.into_iter().map(|(at, own)| (at, own.into_iter().map(access).collect())).gather();
        Ok(Self { segments, accesses })
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub(crate) fn segment(&self, segment: usize) -> &Segment {
        &self.segments[segment]
    }

    /// The accesses of an edge, one for each cell it accesses; none if no run takes the edge.
    pub(crate) fn accesses(&self, thread: ThreadId, edge: EdgeId) -> &[Access] {
        self.accesses.get(&(thread, edge)).map_or(&[], Vec::as_slice)
    }

    /// The segment of a cell that a property observes.
    pub(crate) fn observed(&self, address: Address) -> usize {
        self.segments.partition_point(|segment| segment.last < address)
    }
}

impl Segment {
    /// How many cells it has.
    pub(crate) fn len(&self) -> usize {
        usize::try_from(Range { low: self.first, high: self.last }.extent()).unwrap_or(usize::MAX).saturating_add(1)
    }

    /// The values with which its cells start.
    pub(crate) fn initial(&self, program: &Program) -> Vec<Value> {
        let mut initial = vec![0; self.len()];
        for shared in self.shared.iter().map(|&at| &program.shared[at]) {
            let start = usize::try_from(shared.address.wrapping_sub(self.first)).unwrap_or(0);
            initial[start..start + shared.initial.len()].copy_from_slice(&shared.initial);
        }
        initial
    }

    /// What limits the values of its cells.
    pub(crate) fn constraint(&self, program: &Program) -> Constraint {
        let mut limits = self.shared.iter().map(|&at| limit(&program.shared[at]));
        let covered: usize = self.shared.iter().map(|&at| program.shared[at].initial.len()).sum();
        let first = limits.next().unwrap_or(Constraint::Free);
        let is_same = limits.all(|other| other == first) && (covered == self.len() || first == Constraint::Free);
        if is_same { first } else { Constraint::Differing }
    }
}

/// What limits the values of the cells of one declaration.
pub(crate) fn limit(shared: &Shared) -> Constraint {
    match (shared.range, shared.width) {
        (Some(range), _) => Constraint::Within(range),
        (None, Some(width)) => Constraint::Wrapping(width),
        (None, None) => Constraint::Free,
    }
}

fn stretch(shared: &Shared) -> Option<Range> {
    let beyond_first = Value::try_from(shared.initial.len().checked_sub(1)?).ok()?;
    Some(Range { low: shared.address, high: shared.address.checked_add(beyond_first)? })
}

fn declared_hull(program: &Program) -> Option<Range> {
    program.shared.iter().filter_map(stretch).reduce(Range::hull).filter(|hull| hull.extent() < MAX_EXPORTED_CELLS)
}

/// The addresses that an access may have, and whether that must be checked: more than can be exported are taken to be
/// those of declared cells.
fn bounded(reached: Range, declared: Option<Range>) -> Option<(Range, bool)> {
    if reached.extent() < MAX_EXPORTED_CELLS { Some((reached, false)) } else { Some((declared?, true)) }
}

fn wide_address(program: &Program, body: &Body, address: &RegExpr, reached: Range) -> Refusal {
    let load = weir_ir::Instruction::Load { register: weir_ir::RegId(0), address: address.clone() };
    let text = body_instruction_text(program, body, &load);
    let cell = text.split_once(" = ").map_or(text.as_str(), |(_, cell)| cell);
    let message = format!("the address of `{cell}` may be any from {} to {}", reached.low, reached.high);
    let help = format!(
        "at most {MAX_EXPORTED_CELLS} cells can be exported: mask the index, or give cells that hold \
                        addresses a range"
    );
    Refusal::new(message, help)
}

fn observed_cells(program: &Program) -> impl Iterator<Item = Address> {
    let mut cells = Vec::new();
    for condition in program.properties.iter().filter_map(|property| property.kind.condition()) {
        condition.for_each_leaf(&mut |atom| {
            if let StateAtom::Cell(address) = atom {
                cells.push(*address);
            }
        });
    }
    cells.into_iter()
}

/// The union of the stretches, as stretches that do not overlap, ascending.
fn joined(mut stretches: Vec<Range>) -> Vec<Range> {
    stretches.sort_unstable();
    let mut joined: Vec<Range> = Vec::new();
    for stretch in stretches {
        match joined.last_mut() {
            Some(last) if last.high >= stretch.low => last.high = last.high.max(stretch.high),
            _ => joined.push(stretch),
        }
    }
    joined
}

fn too_many(stretches: &[Range]) -> Option<String> {
    let cells = stretches.iter().fold(0u64, |cells, stretch| cells.saturating_add(stretch.extent()).saturating_add(1));
    (cells > MAX_EXPORTED_CELLS)
        .then(|| format!("the program accesses {cells} cells, and at most {MAX_EXPORTED_CELLS} can be exported"))
}

/// The segment of a stretch, given all declarations in order of their addresses.
fn segment(program: &Program, ranges: &Ranges, by_address: &[usize], stretch: Range) -> Segment {
    let up_to = |address: Address| by_address.partition_point(|&at| program.shared[at].address < address);
    let beyond = by_address.partition_point(|&at| program.shared[at].address <= stretch.high);
    let shared = by_address[up_to(stretch.low)..beyond].to_vec();
    let is_whole = |only: &Shared| only.initial.len() as u64 == stretch.extent() + 1;
    let form = match shared[..] {
        [only] if program.shared[only].is_array && is_whole(&program.shared[only]) => Form::Array,
        _ if stretch.low == stretch.high => Form::Scalar,
        _ => Form::Mixed,
    };
    let held = |address| ranges.cell(address).hull(Range::single(program.initial_value(address)));
    let values = (stretch.low..=stretch.high).map(held).reduce(Range::hull).unwrap_or(Range::single(0));
    Segment { first: stretch.low, last: stretch.high, form, shared, values }
}
