//! Read-modify-writes: the global lock around a read and a write. A thread that holds the lock already
//! puts fences around them instead, since the lock cannot be taken twice.

use weir_ir::{Edge, RegExpr, RegId, Rmw};

use super::expressions::binary;
use super::{Refusal, ThreadPrinter, ranges};

impl ThreadPrinter<'_> {
    pub(super) fn read_modify_write(
        &mut self,
        edge: &Edge,
        register: Option<RegId>,
        address: &RegExpr,
        operation: &Rmw,
    ) -> Result<(), Refusal> {
        let (open, close) = self.brackets(edge)?;
        let cell = self.expr(address)?;
        let result = register.map(|register| self.register(register));
        match operation {
            Rmw::CompareAndSwap { expected, new } | Rmw::CompareExchange { expected, new } => {
                self.unless_blocked(address, Some(new))?;
                let (expected, new) = (self.expr(expected)?, self.expr(new)?);
                let held = self.scratch.clone();
                let succeeded = matches!(operation, Rmw::CompareAndSwap { .. });
                let report = |value: &str| {
                    let value = if succeeded { value.to_string() } else { held.clone() };
                    result.iter().map(|result| format!("local {result} {value}")).collect::<Vec<_>>()
                };
                let middle = self.states.fresh("q");
                let read = vec![open.to_string(), format!("read {held} {cell}")];
                self.chain(self.state(edge.from), read, middle.clone());
                let hit = [format!("check == {held} {expected}"), format!("write {new} {cell}")];
                let hit = hit.into_iter().chain(report("1")).chain([close.to_string()]).collect();
                self.chain(middle.clone(), hit, self.state(edge.to));
                let miss = std::iter::once(format!("check != {held} {expected}"));
                let miss = miss.chain(report("0")).chain([close.to_string()]).collect();
                self.chain(middle, miss, self.state(edge.to));
            }
            Rmw::Exchange(value) => {
                let checks = ranges::checks(self, address, value)?;
                let new = self.expr(value)?;
                let steps = self.swap(register, address, value, &new, &cell);
                let lines = checks.into_iter().chain([open.to_string()]).chain(steps).chain([close.to_string()]);
                self.chain(self.state(edge.from), lines.collect(), self.state(edge.to));
            }
            Rmw::Fetch(op, value) => {
                self.unless_blocked(address, None)?;
                let holder = self.holder(register, address, value);
                let operand = self.expr(value)?;
                let new = binary(op.operator(), &holder, &operand, value.constant())?;
                let steps = self.swap(register, address, value, &new, &cell);
                let lines = std::iter::once(open.to_string()).chain(steps).chain([close.to_string()]);
                self.chain(self.state(edge.from), lines.collect(), self.state(edge.to));
            }
        }
        Ok(())
    }

    /// Reads the cell, writes `new`, and leaves what was read in the register.
    fn swap(
        &self,
        register: Option<RegId>,
        address: &RegExpr,
        operand: &RegExpr,
        new: &str,
        cell: &str,
    ) -> Vec<String> {
        let holder = self.holder(register, address, operand);
        let mut lines = vec![format!("read {holder} {cell}"), format!("write {new} {cell}")];
        if let Some(register) = register.map(|register| self.register(register)).filter(|name| *name != holder) {
            lines.push(format!("local {register} {holder}"));
        }
        lines
    }

    /// What receives the value read: the register itself, unless the operands still need its old value.
    fn holder(&self, register: Option<RegId>, address: &RegExpr, operand: &RegExpr) -> String {
        let Some(register) = register else { return self.scratch.clone() };
        let mut is_needed = false;
        for expr in [address, operand] {
            expr.for_each_leaf(&mut |leaf| is_needed |= *leaf == register);
        }
        if is_needed { self.scratch.clone() } else { self.register(register) }
    }

    /// What comes before and after: the lock, or fences where the thread holds it.
    fn brackets(&self, edge: &Edge) -> Result<(&'static str, &'static str), Refusal> {
        match self.lock[edge.from.index()] {
            [true, true] => {
                let message = "this read-modify-write is executed both with and without the lock held";
                Err(Refusal::new(message, "write it twice, once inside the locked section and once outside"))
            }
            [_, false] => Ok(("lock", "unlock")),
            [false, true] => Ok(("mfence", "mfence")),
        }
    }

    /// Refuses a write that a range may block after the lock was taken: everyone would be stuck.
    fn unless_blocked(&self, address: &RegExpr, new: Option<&RegExpr>) -> Result<(), Refusal> {
        let known = address.constant().zip(new.and_then(RegExpr::constant));
        let is_admitted = known.is_some_and(|(address, value)| self.program.admits(address, value));
        if is_admitted || ranges::is_free(self, address) {
            return Ok(());
        }
        let message =
            "the range of the cell may block this read-modify-write, which Trencher's language cannot express";
        Err(Refusal::new(message, "declare the cell without a range"))
    }
}
