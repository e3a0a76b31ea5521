//! The extension as Algorithm 1 of the paper needs it: the path is followed with all its stores waiting, its first
//! store is removed from the code, and what else the thread could have done after that store is put back:
//! - At the end of the path all stores are made.
//! - Where the thread can turn off the path, all stores so far are made, and it turns off.
//! - Before each load, and right after the first store, the first store can be made and fenced, then the others; the
//!   thread goes on in its own code.
//!
//! So no way is left from that store to that load along the path without a fence, and the same path is not found again.
//! (The paper has the last kind of exit leave from behind the load and lead to before it, which would load twice.)

use weir_ir::{BinaryOp, Edge, Expr, Instruction, LocId, Program, Value};

use super::remembered::Stores;
use super::traced::{Builder, Traced, auxiliary, set, test};
use super::{DelayPath, Note, Origin, one_load};

const FLUSH: Origin = Origin { execute: None, flush: true, note: Note::Nothing };

/// A way off the path: the stores up to `count` are made in between.
struct Exit {
    from: LocId,
    count: usize,
    to: LocId,
}

/// Where the thread turns off the path once its stores are made: a copy of a location, with the edges that are not on
/// the path.
pub(super) struct Turn {
    pub(super) off: LocId,
    pub(super) from: LocId,
}

struct First<'a> {
    builder: &'a mut Builder,
    edges: Vec<Edge>,
    /// What the steps do in the original program.
    origins: Vec<Origin>,
    stores: Stores,
    /// Where each step is done.
    done: Vec<LocId>,
    turns: Vec<Turn>,
}

/// Extends by the path, whose steps do this in the original program.
pub(super) fn add(builder: &mut Builder, program: &Program, origins: &[Origin], path: &DelayPath) -> Vec<Turn> {
    let body = program.body(path.thread);
    let edges: Vec<Edge> = path.edges.iter().map(|&edge| body.edge(edge).clone()).collect();
    let stores = Stores::new(builder, program, &edges, false);
    let done = edges.iter().map(|edge| builder.location(edge.span)).collect();
    let on_path: Vec<Origin> = path.edges.iter().map(|edge| origins[edge.index()]).collect();
    let mut first = First { builder, edges, origins: on_path, stores, done, turns: Vec::new() };
    first.follow(program);
    let (unfenced, fenced) = first.exits(program, origins, path);
    first.leave(&unfenced, false);
    first.leave(&fenced, true);
    let turns = first.turns;
    builder.remove(body.edge(path.edges[0]));
    turns
}

impl First<'_> {
    /// Along the path, from its first store on.
    fn follow(&mut self, program: &Program) {
        for position in 0..self.edges.len() {
            let edge = self.edges[position].clone();
            let origin = Origin { flush: false, ..self.origins[position] };
            let from = position.checked_sub(1).map_or(edge.from, |before| self.done[before]);
            let to = self.done[position];
            let instructions = match &edge.instruction {
                load if one_load(load).is_some() => {
                    self.stores.load(self.builder, (position, &edge, origin), (from, to, to));
                    continue;
                }
                Instruction::Store { .. } => self.stores.remember(program, self.stores.count(position) - 1, origin),
                Instruction::Assert(condition) => vec![(Instruction::Assume(condition.clone()), origin)],
                other => vec![(other.clone(), origin)],
            };
            self.builder.link(from, to, edge.span, instructions);
        }
    }

    /// The ways off the path: those that just make the stores, and those that fence after the first.
    fn exits(&mut self, program: &Program, origins: &[Origin], path: &DelayPath) -> (Vec<Exit>, Vec<Exit>) {
        let body = program.body(path.thread);
        let (mut unfenced, mut fenced) = (Vec::new(), Vec::new());
        for position in 1..self.edges.len() {
            let (edge, from) = (self.edges[position].clone(), self.done[position - 1]);
            let count = self.stores.count(position - 1);
            let others: Vec<_> = body.edges_from(edge.from).filter(|&(id, _)| id != path.edges[position]).collect();
            let fails = match &edge.instruction {
                Instruction::Assert(condition) => Some(condition),
                _ => None,
            };
            if !others.is_empty() || fails.is_some() {
                let off = self.builder.location(edge.span);
                for (id, other) in others {
                    self.builder.link(off, other.to, other.span, [(other.instruction.clone(), origins[id.index()])]);
                }
                if let Some(condition) = fails {
                    let assert = (edge.instruction.clone(), self.origins[position]);
                    self.builder.link(off, edge.to, edge.span, [test(condition.negated()), assert]);
                }
                self.turns.push(Turn { off, from: edge.from });
                unfenced.push(Exit { from, count, to: off });
            }
            if position == 1 || one_load(&edge.instruction).is_some() {
                fenced.push(Exit { from, count, to: edge.from });
            }
        }
        if let (Some(&from), Some(last)) = (self.done.last(), self.edges.last()) {
            unfenced.push(Exit { from, count: self.stores.all.len(), to: last.to });
        }
        (unfenced, fenced)
    }

    /// One row of stores for all ways off the path; they come in the order of how many stores they make.
    fn leave(&mut self, exits: &[Exit], fence: bool) {
        if exits.is_empty() {
            return;
        }
        let span = self.edges[0].span;
        let exit = (exits.len() > 1).then(|| self.builder.register("exit_"));
        let begin = self.builder.location(span);
        let compare = |op, number: usize| -> Traced {
            exit.map_or_else(
                || auxiliary(Instruction::Skip),
                |exit| test(Expr::binary(op, Expr::Leaf(exit), Expr::Const(number as Value))),
            )
        };
        for (number, way) in exits.iter().enumerate() {
            let choose =
                exit.map_or_else(|| auxiliary(Instruction::Skip), |exit| set(exit, Expr::Const(number as Value)));
            self.builder.link(way.from, begin, span, [choose]);
        }
        let most = exits.last().map_or(0, |way| way.count);
        let mut at = begin;
        for made in 0..=most {
            for (number, way) in exits.iter().enumerate().filter(|(_, way)| way.count == made) {
                self.builder.link(at, way.to, span, [compare(BinaryOp::Equal, number)]);
            }
            if made == most {
                break;
            }
            let next = self.builder.location(span);
            let later = exits.partition_point(|way| way.count <= made);
            let mut instructions: Vec<Traced> =
                (made > 0).then(|| compare(BinaryOp::GreaterEqual, later)).into_iter().collect();
            instructions.extend(self.stores.all[made].flush(FLUSH));
            if fence && made == 0 {
                instructions.push(auxiliary(Instruction::Fence));
            }
            self.builder.link(at, next, span, instructions);
            at = next;
        }
    }
}
