//! Threads written as nested blocks, in a few words.

use weir_ir::{BinaryOp, Expr, Instruction, LocId, RegExpr, RegId, Thread, Value};

use crate::sketch::ThreadSketch;

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Block {
    /// One instruction.
    Do(Instruction),
    /// One of several.
    Choose(Vec<Vec<Block>>),
    /// As long as the condition holds.
    While(RegExpr, Vec<Block>),
    /// Any number of times.
    Repeat(Vec<Block>),
    /// Without end: nothing comes after it.
    Forever(Vec<Block>),
}

impl From<Instruction> for Block {
    fn from(instruction: Instruction) -> Self {
        Self::Do(instruction)
    }
}

/// A thread that does this.
pub fn thread(name: &str, blocks: &[Block]) -> Thread {
    let mut sketch = ThreadSketch::new(name);
    let (entry, end) = (sketch.entry(), sketch.location());
    lay(&mut sketch, entry, end, blocks);
    sketch.finish()
}

fn lay(sketch: &mut ThreadSketch, from: LocId, to: LocId, blocks: &[Block]) {
    let Some((last, before)) = blocks.split_last() else { return sketch.edge(from, to, Instruction::Skip) };
    let mut at = from;
    for block in before {
        let next = sketch.location();
        lay_one(sketch, at, next, block);
        at = next;
    }
    lay_one(sketch, at, to, last);
}

fn lay_one(sketch: &mut ThreadSketch, from: LocId, to: LocId, block: &Block) {
    // A loop has a head of its own, so that what leads there and its ways back can be distinguished.
    let mut head = || {
        let head = sketch.location();
        sketch.edge(from, head, Instruction::Skip);
        head
    };
    match block {
        Block::Do(instruction) => sketch.edge(from, to, instruction.clone()),
        Block::Choose(alternatives) => alternatives.iter().for_each(|blocks| lay(sketch, from, to, blocks)),
        Block::While(condition, blocks) => {
            let (head, body) = (head(), sketch.location());
            sketch.edge(head, body, Instruction::Assume(condition.clone()));
            lay(sketch, body, head, blocks);
            sketch.edge(head, to, Instruction::Assume(condition.negated()));
        }
        Block::Repeat(blocks) => {
            let head = head();
            lay(sketch, head, head, blocks);
            sketch.edge(head, to, Instruction::Skip);
        }
        Block::Forever(blocks) => {
            let head = head();
            lay(sketch, head, head, blocks);
        }
    }
}

/// The register equals the value.
pub fn is(register: u32, value: Value) -> RegExpr {
    Expr::binary(BinaryOp::Equal, Expr::Leaf(RegId(register)), Expr::Const(value))
}

/// Goes on only if the register equals the value.
pub fn assume(register: u32, value: Value) -> Block {
    Block::Do(Instruction::Assume(is(register, value)))
}

/// `if register == value { blocks }`.
pub fn when(register: u32, value: Value, blocks: Vec<Block>) -> Block {
    let then = std::iter::once(assume(register, value)).chain(blocks).collect();
    Block::Choose(vec![then, vec![Block::Do(Instruction::Assume(is(register, value).negated()))]])
}

/// `lock; blocks; unlock;`.
pub fn locked(blocks: Vec<Block>) -> Vec<Block> {
    let lock = std::iter::once(Block::Do(Instruction::Lock));
    lock.chain(blocks).chain([Block::Do(Instruction::Unlock)]).collect()
}
