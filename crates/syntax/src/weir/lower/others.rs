//! `for each other j { … }`: the body runs once for each other copy of the thread, in any order.
//!
//! ```text
//! j.left = all others;
//! do {
//!     do { j = any 0..N - 1; } while j is not in j.left;
//!     remove j from j.left;
//!     …
//! } while j.left is not empty;
//! ```
//!
//! `j.left` is a set, with bit `k` for the copy of number `k`. It is only asked for members and changed by one member at
//! a time, so that whoever exchanges two copies can exchange their bits: that keeps the copies symmetric. A branch for
//! each copy instead of the repeated choice would save the steps of choices in vain, but has edges that belong to single
//! copies. The member is removed before the body, so that `j` is forgotten once the body has read it.

use weir_ir::{BinaryOp, Diagnostic, Instruction, Range, RegExpr, RegId, Register, Span, Value};

use super::super::ast::{Block, Name, Replication};
use super::builder::{Builder, Returns};
use super::graph::Node;
use super::names::Copies;

/// The set must fit into a register, without its sign.
const MOST_COPIES: u32 = 63;

impl<'a> Builder<'_, 'a> {
    pub(super) fn for_each_other(&mut self, name: Name<'a>, body: &'a Block<'a>, span: Span) {
        let header = Span { end: name.span.end, ..span };
        let copy = self.numbered_copy(header);
        let scope = self.open_scope();
        let register = self.declare(name);
        self.frame().others.push(name);
        match (copy, register) {
            (Some((me, copies)), Some(other)) => self.rounds(me, copies, other, body, header),
            // Reported; the body may be in error, too.
            _ => self.block(body),
        }
        self.frame().others.pop();
        self.close_scope(scope);
    }

    /// The number of the thread, and how many copies there are.
    fn numbered_copy(&mut self, header: Span) -> Option<(u32, u32)> {
        // In procedures it was reported by the checks.
        let (family, instance) = self.copy.filter(|_| matches!(self.frame().returns, Returns::Nowhere))?;
        let is_arbitrary = matches!(family.declaration.replication, Some(Replication::Arbitrary(_)));
        let why = match family.copies {
            _ if is_arbitrary => "the copies of a `[*]` thread have no numbers",
            Copies::Instances(copies) if copies <= MOST_COPIES => return Some((instance as u32, copies)),
            Copies::Instances(_) => "`for each other` is limited to 63 copies",
            Copies::Spawned => "spawned threads have no numbers",
            Copies::One | Copies::Arbitrary => "this thread has no other copies",
        };
        let error = Diagnostic::error("no-others", why, header).also(family.declaration.span, "declared here");
        let name = family.declaration.name.text;
        self.around.sink.error(error.help(format!("give a number of copies: `thread {name}[3]`")));
        None
    }

    fn rounds(&mut self, me: u32, copies: u32, other: RegId, body: &'a Block<'a>, header: Span) {
        let left = self.set_for(other);
        let all = (Value::MAX >> (MOST_COPIES - copies)) ^ (1 << me);
        self.step(Instruction::Assign { register: left, value: RegExpr::Const(all) }, header);
        let [choose, found, next, exit] = [(); 4].map(|()| self.graph.node());
        if all == 0 {
            // There is nobody to ask, and no way into the body.
            self.pass_to(exit, header);
        } else {
            self.choose_member(left, other, copies, [choose, found], header);
        }
        self.frame().loops.push((next, exit));
        self.guarded_block(body, found, next, header);
        self.frame().loops.pop();
        self.here = self.graph.reached(next);
        if self.here.is_some() {
            self.graph.begin(next, header);
            self.test(&RegExpr::Leaf(left), header, choose, exit);
        }
        self.here = self.graph.reached(exit);
    }

    /// From `choose`, leads control to `found` once a member of the set was chosen and removed.
    fn choose_member(&mut self, left: RegId, other: RegId, copies: u32, [choose, found]: [Node; 2], header: Span) {
        let range = Range { low: 0, high: Value::from(copies) - 1 };
        let bit = RegExpr::binary(BinaryOp::ShiftLeft, RegExpr::Const(1), RegExpr::Leaf(other));
        let with_bit = |op| RegExpr::binary(op, RegExpr::Leaf(left), bit.clone());
        self.pass_to(choose, header);
        self.graph.begin(choose, header);
        self.here = Some(choose);
        self.step(Instruction::Havoc { register: other, range }, header);
        let member = self.graph.node();
        self.test(&with_bit(BinaryOp::BitAnd), header, member, choose);
        self.here = Some(member);
        let without = Instruction::Assign { register: left, value: with_bit(BinaryOp::BitXor) };
        self.step_to(without, found, header);
    }

    /// The register for the set of those that are still to come.
    fn set_for(&mut self, other: RegId) -> RegId {
        if let Some(&set) = self.sets.get(&other) {
            return set;
        }
        let Register { name, span, .. } = &self.registers.list[other.index()];
        let set = self.registers.named(format!("{name}.left"), *span);
        self.sets.insert(other, set);
        set
    }

    /// Whether the name is that of another copy in an open `for each other`: then it cannot be assigned to, which is
    /// reported.
    pub(super) fn refuses_other(&mut self, name: Name<'a>) -> bool {
        let Some(&other) = self.frame().others.iter().find(|other| other.text == name.text) else { return false };
        let message = format!("`{}` is the number of the other copy and cannot be assigned to", name.text);
        let error = Diagnostic::error("bad-assignment", message, name.span).also(other.span, "declared here");
        self.around.sink.error(error.help("use another register: `let r = …;`"));
        true
    }
}
