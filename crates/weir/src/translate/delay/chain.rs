//! All that TSO can do along one path, beside the thread's own code.
//!
//! The path can be entered at each of its stores, which is then the oldest delayed one. From there on, the steps are
//! those of the path, with delayed stores. After a load from memory any number of the oldest stores may be flushed;
//! once none is delayed, the path is left. Flushing there is enough: a flush that comes later than the last load before
//! it, or than its own store, could as well come at once, since no thread can observe the difference.

use weir_ir::{BinaryOp, Edge, Expr, Instruction, LocId, Program, RegId, Value};

use super::guard::guards;
use super::remembered::Stores;
use super::traced::{Builder, Traced, auxiliary, noted, set, test};
use super::{DelayPath, Note, Origin, one_load};

const FLUSH: Origin = Origin { execute: None, flush: true, note: Note::Nothing };

/// Adds the path.
pub(super) fn add(builder: &mut Builder, program: &Program, number: usize, path: &DelayPath) {
    let body = program.body(path.thread);
    let edges: Vec<Edge> = path.edges.iter().map(|&edge| body.edge(edge).clone()).collect();
    let stores = Stores::new(builder, program, &edges, true);
    let loads: Vec<usize> = (0..edges.len()).filter(|&at| one_load(&edges[at].instruction).is_some()).collect();
    let loaded = loads.iter().map(|&at| builder.location(edges[at].span)).collect();
    let done = edges.iter().map(|edge| builder.location(edge.span)).collect();
    let after = (loads.len() > 1).then(|| builder.register("after_"));
    let mut chain = Chain { builder, program, number, path, edges, stores, loads, loaded, done, after };
    chain.enter();
    chain.follow();
    chain.flush();
}

struct Chain<'a> {
    builder: &'a mut Builder,
    program: &'a Program,
    number: usize,
    path: &'a DelayPath,
    edges: Vec<Edge>,
    stores: Stores,
    /// Which steps are loads.
    loads: Vec<usize>,
    /// Where each load has just been made from memory, before the flushes.
    loaded: Vec<LocId>,
    /// Where each step is done.
    done: Vec<LocId>,
    /// After which load stores are flushed, if there are several.
    after: Option<RegId>,
}

impl Chain<'_> {
    fn executes(&self, position: usize) -> Origin {
        Origin { execute: Some(self.path.edges[position]), ..Origin::default() }
    }

    /// From the thread's own code to each store of the path.
    fn enter(&mut self) {
        let guards = guards(&self.edges);
        for number in 0..self.stores.all.len() {
            let position = self.stores.all[number].position;
            let mut instructions: Vec<Traced> = guards[position].clone().map(test).into_iter().collect();
            instructions.extend(self.stores.remember(self.program, number, self.executes(position)));
            if let Some(head) = self.stores.head {
                // Last but one, so that what blocks the store comes first.
                instructions.insert(instructions.len() - 1, set(head, Expr::Const(number as Value)));
                if instructions.last().is_some_and(|(instruction, _)| *instruction == Instruction::Skip) {
                    instructions.pop();
                    instructions.last_mut().into_iter().for_each(|(_, origin)| *origin = self.executes(position));
                }
            }
            if let Some((_, origin)) = instructions.first_mut() {
                origin.note = Note::Enters;
            }
            let edge = &self.edges[position];
            self.builder.link(edge.from, self.done[position], edge.span, instructions);
        }
    }

    /// Along the path.
    fn follow(&mut self) {
        for position in 1..self.edges.len() {
            let (edge, origin) = (self.edges[position].clone(), self.executes(position));
            let (from, to) = (self.done[position - 1], self.done[position]);
            let instructions = match &edge.instruction {
                load if one_load(load).is_some() => {
                    let number = self.loads.partition_point(|&load| load < position);
                    let ends = (from, to, self.loaded[number]);
                    self.stores.load(self.builder, (position, &edge, origin), ends);
                    continue;
                }
                Instruction::Store { .. } => {
                    let number = self.stores.count(position) - 1;
                    self.stores.remember(self.program, number, origin)
                }
                Instruction::Assert(condition) => vec![(Instruction::Assume(condition.clone()), origin)],
                other => vec![(other.clone(), origin)],
            };
            self.builder.link(from, to, edge.span, instructions);
        }
    }

    /// Flushes after loads: one row of flushes for the whole path.
    fn flush(&mut self) {
        let spans: Vec<_> = self.stores.all.iter().map(|store| self.edges[store.position].span).collect();
        // Where a store is about to be flushed as the first one after a load, and where it has been flushed.
        let about: Vec<LocId> = spans.iter().map(|&span| self.builder.location(span)).collect();
        let flushed: Vec<LocId> = spans.iter().map(|&span| self.builder.location(span)).collect();
        self.begin_to_flush(&about);
        let back = self.after.map(|_| self.back_to_path());
        for number in 0..spans.len() {
            self.builder.link(about[number], flushed[number], spans[number], self.stores.all[number].flush(FLUSH));
            self.leave(number, flushed[number]);
        }
        for next in 1..spans.len() {
            let (span, more) = (spans[next], self.builder.location(spans[next]));
            self.builder.link(flushed[next - 1], more, span, [self.waits_for(next)]);
            self.builder.link(more, flushed[next], span, self.stores.all[next].flush(FLUSH));
            if let (Some(head), Some(back)) = (self.stores.head, back) {
                self.builder.link(more, back, span, [set(head, Expr::Const(next as Value))]);
            }
        }
    }

    /// Passes if the load came after this store, so that this one waits, too.
    fn waits_for(&self, store: usize) -> Traced {
        let least = self.loads.iter().position(|&load| load > self.stores.all[store].position).unwrap_or(0);
        self.after.map_or_else(
            || auxiliary(Instruction::Skip),
            |after| test(Expr::binary(BinaryOp::GreaterEqual, Expr::Leaf(after), Expr::Const(least as Value))),
        )
    }

    /// From each load to the flush of the oldest store that waits.
    fn begin_to_flush(&mut self, about: &[LocId]) {
        let choose = match about {
            [only] => *only,
            _ => self.builder.location(self.edges[0].span),
        };
        for (number, &position) in self.loads.iter().enumerate() {
            let (span, loaded, done) = (self.edges[position].span, self.loaded[number], self.done[position]);
            let skip = || [auxiliary(Instruction::Skip)];
            let instruction = self.after.map(|after| [set(after, Expr::Const(number as Value))]);
            self.builder.link(loaded, choose, span, instruction.unwrap_or_else(skip));
            // At the end of the path all that waits must go.
            let (from, to) = if position + 1 < self.edges.len() { (loaded, done) } else { (done, loaded) };
            self.builder.link(from, to, span, skip());
        }
        if let Some(head) = self.stores.head {
            for (number, &to) in about.iter().enumerate() {
                let is_oldest = Expr::binary(BinaryOp::Equal, Expr::Leaf(head), Expr::Const(number as Value));
                self.builder.link(choose, to, self.edges[0].span, [test(is_oldest)]);
            }
        }
    }

    /// Whether it is this load after which stores are flushed, if there are several.
    fn is_after(&self, load: usize) -> Instruction {
        self.after.map_or(Instruction::Skip, |after| {
            Instruction::Assume(Expr::binary(BinaryOp::Equal, Expr::Leaf(after), Expr::Const(load as Value)))
        })
    }

    /// From the path to the thread's own code, after the loads for which this store was the last to wait.
    fn leave(&mut self, store: usize, flushed: LocId) {
        for (number, &position) in self.loads.iter().enumerate() {
            if self.stores.count(position) == store + 1 {
                let instruction = noted(self.is_after(number), Note::Leaves { path: self.number, position });
                self.builder.link(flushed, self.edges[position].to, self.edges[position].span, [instruction]);
            }
        }
    }

    /// Where some stores have been flushed and others wait: back to the load.
    fn back_to_path(&mut self) -> LocId {
        let back = self.builder.location(self.edges[0].span);
        for (number, &position) in self.loads.iter().enumerate() {
            if position + 1 < self.edges.len() {
                let instruction = noted(self.is_after(number), Note::Enters);
                self.builder.link(back, self.done[position], self.edges[position].span, [instruction]);
            }
        }
        back
    }
}
