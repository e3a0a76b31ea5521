//! The helpers: Figure 7 of the paper.

use weir_ir::{BinaryOp, BinaryRmw, Edge, EdgeId, Expr, Instruction, RegExpr, RegId, Rmw, Value};

use super::space::LEVEL;
use super::thread::{Copy, ThreadWriter, Traced, occurs};
use super::{LOADED, STORED};
use crate::attack::AttackStep;

/// An access to memory, as the path sees it.
struct Access<'e> {
    address: &'e RegExpr,
    /// Receives what was read, or the result.
    register: Option<RegId>,
    writes: Writes<'e>,
}

/// Whether an access writes.
enum Writes<'e> {
    Never,
    Always,
    /// If the result is not 0.
    IfResult,
    /// If the result is this.
    IfResultIs(&'e RegExpr),
}

impl<'e> Access<'e> {
    fn of(instruction: &'e Instruction) -> Option<Self> {
        match instruction {
            Instruction::Load { register, address } => {
                Some(Self { address, register: Some(*register), writes: Writes::Never })
            }
            Instruction::Store { address, .. } => Some(Self { address, register: None, writes: Writes::Always }),
            Instruction::ReadModifyWrite { register, address, operation } => {
                let writes = match operation {
                    Rmw::CompareAndSwap { .. } => Writes::IfResult,
                    Rmw::CompareExchange { expected, .. } => Writes::IfResultIs(expected),
                    Rmw::Exchange(_) | Rmw::Fetch(..) => Writes::Always,
                };
                Some(Self { address, register: *register, writes })
            }
            _ => None,
        }
    }

    /// Whether what the access changes is still needed for its record.
    fn needs_result_apart(&self) -> bool {
        let expected = match self.writes {
            Writes::IfResultIs(expected) => Some(expected),
            _ => None,
        };
        let is_needed =
            |register| occurs(register, self.address) || expected.is_some_and(|expected| occurs(register, expected));
        match self.register {
            Some(register) => is_needed(register),
            None => matches!(self.writes, Writes::IfResult | Writes::IfResultIs(_)),
        }
    }
}

/// The same instruction with its result elsewhere.
fn redirected(instruction: &Instruction, to: RegId) -> Instruction {
    match instruction.clone() {
        Instruction::Load { address, .. } => Instruction::Load { register: to, address },
        Instruction::ReadModifyWrite { address, operation, .. } => {
            Instruction::ReadModifyWrite { register: Some(to), address, operation }
        }
        other => other,
    }
}

/// `left op right`, where the right side is a constant.
fn with(op: BinaryOp, left: RegExpr, right: Value) -> RegExpr {
    Expr::binary(op, left, Expr::Const(right))
}

impl ThreadWriter<'_> {
    /// An edge of the copy on the path: (10) to (12) of the figure.
    pub(super) fn on_path(&mut self, id: EdgeId, edge: &Edge) {
        if edge.instruction == Instruction::Membarrier {
            return;
        }
        let instructions = self.traced(id, edge, 0);
        self.chain((Copy::Path, edge.from), (Copy::Path, edge.to), edge.span, instructions);
    }

    /// An edge in a section that is to come onto the path: it is recorded in bits of its own, or it is what puts the
    /// section there.
    pub(super) fn in_section(&mut self, id: EdgeId, edge: &Edge) {
        if matches!(edge.instruction, Instruction::Lock | Instruction::Unlock | Instruction::Membarrier) {
            return;
        }
        let instructions = self.traced(id, edge, self.context.own_shift(self.thread).unwrap_or(0));
        self.chain((Copy::Section, edge.from), (Copy::Section, edge.to), edge.span, instructions);
        self.join(id, edge, Copy::Section);
    }

    /// From the original code, or from a section, onto the path: (8) and (9) of the figure.
    pub(super) fn join(&mut self, id: EdgeId, edge: &Edge, from: Copy) {
        if matches!(edge.instruction, Instruction::Lock) {
            let lock = self.ordinary(id, edge);
            return self.chain((from, edge.from), (Copy::Section, edge.to), edge.span, [lock]);
        }
        let own = match (from, self.context.own_shift(self.thread)) {
            (Copy::Section, Some(shift)) => STORED << shift,
            _ => 0,
        };
        if let Some(loads) = edge.instruction.loads_at_once() {
            return self.join_snapshot(id, edge, from, loads, own);
        }
        let Some(access) = Access::of(&edge.instruction) else { return };
        let address = self.context.space.beside_computed(access.address, LEVEL);
        let mut instructions = vec![(Instruction::Load { register: self.level, address }, None)];
        instructions.extend(self.recorded(id, edge, &access, 0, Some(own)));
        self.chain((from, edge.from), (Copy::Path, edge.to), edge.span, instructions);
    }

    /// What the edge does, and then its record, in the bits at `shift`.
    fn traced(&self, id: EdgeId, edge: &Edge, shift: u32) -> Vec<Traced> {
        if let Some(loads) = edge.instruction.loads_at_once() {
            return self.recorded_snapshot(id, edge, loads, shift);
        }
        match Access::of(&edge.instruction) {
            Some(access) => self.recorded(id, edge, &access, shift, None),
            None => vec![self.ordinary(id, edge)],
        }
    }

    /// Several loads in one step come onto the path by any of their cells, and with it the others.
    fn join_snapshot(&mut self, id: EdgeId, edge: &Edge, from: Copy, loads: &[(RegId, RegExpr)], own: Value) {
        for (register, address) in loads {
            let access = Access { address, register: Some(*register), writes: Writes::Never };
            let level = self.context.space.beside_computed(address, LEVEL);
            let look = Instruction::Load { register: self.level, address: level };
            let mut instructions = vec![(look, None), (Instruction::Assume(self.test(&access, None, own)), None)];
            instructions.extend(self.recorded_snapshot(id, edge, loads, 0));
            self.chain((from, edge.from), (Copy::Path, edge.to), edge.span, instructions);
        }
    }

    /// Several loads in one step and then their record. Addresses that the loads themselves change are kept.
    fn recorded_snapshot(&self, id: EdgeId, edge: &Edge, loads: &[(RegId, RegExpr)], shift: u32) -> Vec<Traced> {
        let changes = |address: &RegExpr| loads.iter().any(|(register, _)| occurs(*register, address));
        let (mut instructions, mut records) = (Vec::new(), Vec::new());
        for ((register, address), &kept) in loads.iter().zip(&self.several) {
            let kept = changes(address).then(|| {
                instructions.push((Instruction::Assign { register: kept, value: address.clone() }, None));
                Expr::Leaf(kept)
            });
            let address = kept.as_ref().unwrap_or(address);
            let access = Access { address, register: Some(*register), writes: Writes::Never };
            records.push((self.record(&access, None, shift), None));
        }
        instructions.push(self.ordinary(id, edge));
        instructions.extend(records);
        instructions
    }

    /// The access and then its record, in the bits at `shift`. If it must happen after something on the path, apart
    /// from what the bits `own` tell: with the test of the level that was read before.
    fn recorded(&self, id: EdgeId, edge: &Edge, access: &Access<'_>, shift: u32, own: Option<Value>) -> Vec<Traced> {
        let apart = access.needs_result_apart();
        let result = if apart { Some(self.result) } else { access.register };
        let instruction = if apart { redirected(&edge.instruction, self.result) } else { self.ordinary(id, edge).0 };
        let test = own.map(|own| (Instruction::Assume(self.test(access, result, own)), None));
        let is_known_before = matches!(access.writes, Writes::Never | Writes::Always);
        let mut instructions = Vec::new();
        instructions.extend(test.clone().filter(|_| is_known_before));
        instructions.push((instruction, self.origin(id, AttackStep::Ordinary)));
        instructions.extend(test.filter(|_| !is_known_before));
        // A load that comes onto the path finds the level of a store there already.
        if own.is_none() || !matches!(access.writes, Writes::Never) {
            instructions.push((self.record(access, result, shift), None));
        }
        if let (true, Some(register)) = (apart, access.register) {
            instructions.push((Instruction::Assign { register, value: Expr::Leaf(self.result) }, None));
        }
        instructions
    }

    /// Whether something on the path happens before the access: it was stored to, or it was loaded and the access
    /// writes.
    fn test(&self, access: &Access<'_>, result: Option<RegId>, own: Value) -> RegExpr {
        let level = || Expr::Leaf(self.level);
        let accessed = with(BinaryOp::BitAnd, level(), self.context.all_bits() & !own);
        let stored = with(BinaryOp::BitAnd, level(), self.context.store_bits() & !own);
        match access.writes {
            Writes::Never => stored,
            Writes::Always => accessed,
            Writes::IfResult | Writes::IfResultIs(_) => {
                let written = Expr::binary(BinaryOp::And, written(access, result), accessed);
                Expr::binary(BinaryOp::Or, stored, written)
            }
        }
    }

    /// Raises the level of the accessed cell.
    fn record(&self, access: &Access<'_>, result: Option<RegId>, shift: u32) -> Instruction {
        let bits = match access.writes {
            Writes::Never => Expr::Const(LOADED << shift),
            Writes::Always => Expr::Const(STORED << shift),
            Writes::IfResult | Writes::IfResultIs(_) => {
                let more = with(BinaryOp::Multiply, written(access, result), (STORED - LOADED) << shift);
                with(BinaryOp::Add, more, LOADED << shift)
            }
        };
        let address = self.context.space.beside_computed(access.address, LEVEL);
        Instruction::ReadModifyWrite { register: None, address, operation: Rmw::Fetch(BinaryRmw::Or, bits) }
    }
}

/// 1 if the access has written, else 0.
fn written(access: &Access<'_>, result: Option<RegId>) -> RegExpr {
    let result = result.map_or(Expr::Const(0), Expr::Leaf);
    match access.writes {
        Writes::Never => Expr::Const(0),
        Writes::Always => Expr::Const(1),
        Writes::IfResult => result,
        Writes::IfResultIs(expected) => Expr::binary(BinaryOp::Equal, result, (*expected).clone()),
    }
}
