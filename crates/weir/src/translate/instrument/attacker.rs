//! The attacker: Figure 5 of the paper.

use weir_ir::{Edge, EdgeId, Expr, Instruction, LocId, RegExpr, RegId, Rmw, UnaryOp};

use super::LOADED;
use super::space::{DELAYED, LEVEL, WAITS};
use super::thread::{Copy, ThreadWriter, Traced};
use crate::attack::AttackStep;

impl ThreadWriter<'_> {
    /// From the original code into the attack, if the edge is the store of one: (1) of the figure.
    pub(super) fn begin(&mut self, id: EdgeId, edge: &Edge, leads: &[bool]) {
        let is_attack = self.context.attacks.iter().any(|attack| attack.thread == self.thread && attack.store == id);
        let Instruction::Store { address, value } = &edge.instruction else { return };
        if !is_attack || !leads[edge.to.index()] {
            return;
        }
        let mut instructions = self.become_attacker();
        instructions.extend(self.delay(id, address, value, AttackStep::Begin));
        instructions.push((Instruction::Assign { register: self.target, value: address.clone() }, None));
        self.chain((Copy::Original, edge.from), (Copy::Delaying, edge.to), edge.span, instructions);
    }

    /// Takes the flag, where there is one.
    fn become_attacker(&self) -> Vec<Traced> {
        let Some(flag) = self.context.flags.attacking else { return Vec::new() };
        let operation = Rmw::CompareAndSwap { expected: Expr::Const(0), new: Expr::Const(1) };
        let take = Instruction::ReadModifyWrite { register: Some(self.level), address: Expr::Const(flag), operation };
        vec![(take, None), (Instruction::Assume(Expr::Leaf(self.level)), None)]
    }

    /// A store that nobody else sees: (3) of the figure. The value goes first: if it is out of range, that blocks.
    fn delay(&self, id: EdgeId, address: &RegExpr, value: &RegExpr, kind: AttackStep) -> [Traced; 2] {
        let beside = |which| self.context.space.beside_computed(address, which);
        let store = Instruction::Store { address: beside(DELAYED), value: value.clone() };
        let waits = Instruction::Store { address: beside(WAITS), value: Expr::Const(1) };
        [(store, self.origin(id, kind)), (waits, None)]
    }

    /// An edge of the copy that delays: (2) to (6) of the figure.
    pub(super) fn delayed(&mut self, id: EdgeId, edge: &Edge, leads: &[bool]) {
        if let Instruction::Load { register: _, address } = &edge.instruction {
            return self.delayed_load(id, edge, address, leads);
        }
        if let Some(loads) = edge.instruction.loads_at_once() {
            return self.delayed_snapshot(id, edge, loads, leads);
        }
        // What needs an empty buffer ends the attack; so does what leads nowhere.
        if edge.instruction.drains() || !leads[edge.to.index()] {
            return;
        }
        let instructions = match &edge.instruction {
            Instruction::Store { address, value } => self.delay(id, address, value, AttackStep::Ordinary).to_vec(),
            _ => vec![self.ordinary(id, edge)],
        };
        self.chain((Copy::Delaying, edge.from), (Copy::Delaying, edge.to), edge.span, instructions);
    }

    /// A load takes what waits, else what memory has; and then it may be the attack's.
    fn delayed_load(&mut self, id: EdgeId, edge: &Edge, address: &RegExpr, leads: &[bool]) {
        let Instruction::Load { register, .. } = edge.instruction else { return };
        let beside = |which| self.context.space.beside_computed(address, which);
        let (delayed, waits, level) = (beside(DELAYED), beside(WAITS), beside(LEVEL));
        let from = self.at(Copy::Delaying, edge.from);
        let (looked, from_memory) = (self.builder.location(edge.span), self.builder.location(edge.span));
        self.builder.link(
            from,
            looked,
            edge.span,
            [(Instruction::Load { register: self.level, address: waits }, None)],
        );
        let nothing_waits = Expr::unary(UnaryOp::Not, Expr::Leaf(self.level));
        self.builder.link(looked, from_memory, edge.span, [(Instruction::Assume(nothing_waits), None)]);
        if leads[edge.to.index()] {
            let to = self.at(Copy::Delaying, edge.to);
            self.builder.link(from_memory, to, edge.span, [self.ordinary(id, edge)]);
            let own = Instruction::Load { register, address: delayed };
            let instructions =
                [(Instruction::Assume(Expr::Leaf(self.level)), None), (own, self.origin(id, AttackStep::Ordinary))];
            self.builder.link(looked, to, edge.span, instructions);
        }
        if self.is_attacked(id) {
            let waiting = self.waiting_location(edge);
            let halt = Instruction::Store { address: level, value: Expr::Const(LOADED) };
            self.builder.link(from_memory, waiting, edge.span, [(halt, self.origin(id, AttackStep::Halt))]);
        }
    }

    /// Several loads in one step, each from where the newest value is. Nobody else changes what waits, so that can be
    /// looked up before. If it is the attack's, one of the cells that are taken from memory begins the path.
    fn delayed_snapshot(&mut self, id: EdgeId, edge: &Edge, loads: &[(RegId, RegExpr)], leads: &[bool]) {
        let space = &self.context.space;
        let waits: Vec<RegId> = self.several[..loads.len()].to_vec();
        let look = |(&register, (_, address)): (&RegId, &(RegId, RegExpr))| {
            (Instruction::Load { register, address: space.beside_computed(address, WAITS) }, None)
        };
        let looks: Vec<Traced> = waits.iter().zip(loads).map(look).collect();
        let where_newest = |(&waits, (register, address)): (&RegId, &(RegId, RegExpr))| {
            (*register, space.beside_if(Expr::Leaf(waits), address, DELAYED))
        };
        let newest = edge.instruction.with_loads_at_once(waits.iter().zip(loads).map(where_newest).collect());
        let levels: Vec<RegExpr> = loads.iter().map(|(_, address)| space.beside_computed(address, LEVEL)).collect();
        let (from, looked) = (self.at(Copy::Delaying, edge.from), self.builder.location(edge.span));
        self.builder.link(from, looked, edge.span, looks);
        if leads[edge.to.index()] {
            let to = self.at(Copy::Delaying, edge.to);
            self.builder.link(looked, to, edge.span, [(newest.clone(), self.origin(id, AttackStep::Ordinary))]);
        }
        if self.is_attacked(id) {
            let waiting = self.waiting_location(edge);
            for (waits, level) in waits.into_iter().zip(levels) {
                let nothing_waits = Instruction::Assume(Expr::unary(UnaryOp::Not, Expr::Leaf(waits)));
                let halt = |address| Instruction::Store { address, value: Expr::Const(LOADED) };
                let halts = self.origin(id, AttackStep::Halt);
                let instructions = match edge.instruction {
                    // What it finds matters: it is only made if its condition holds. It may change the registers that
                    // the address is computed from, so that comes first.
                    Instruction::Await { .. } => vec![
                        (nothing_waits, None),
                        (Instruction::Assign { register: self.result, value: level }, None),
                        (newest.clone(), halts),
                        (halt(Expr::Leaf(self.result)), None),
                    ],
                    _ => vec![(nothing_waits, None), (halt(level), halts)],
                };
                self.builder.link(looked, waiting, edge.span, instructions);
            }
        }
    }

    fn is_attacked(&self, load: EdgeId) -> bool {
        self.context.attacks.iter().any(|attack| attack.thread == self.thread && attack.load == load)
    }

    /// Where the attacker waits until the helpers have come round: (13) of Figure 7.
    fn waiting_location(&mut self, edge: &Edge) -> LocId {
        if let Some(waiting) = self.waiting {
            return waiting;
        }
        let (waiting, done) = (self.builder.location(edge.span), self.builder.location(edge.span));
        let address = self.context.space.beside_computed(&Expr::Leaf(self.target), LEVEL);
        let look = Instruction::Load { register: self.level, address };
        let report = Instruction::Store { address: Expr::Const(self.context.flags.success), value: Expr::Const(1) };
        let is_accessed = Instruction::Assume(Expr::Leaf(self.level));
        self.builder.link(waiting, done, edge.span, [(look, None), (is_accessed, None), (report, None)]);
        self.waiting = Some(waiting);
        waiting
    }
}
