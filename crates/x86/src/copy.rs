//! `memcpy` and `memset` as the library has them.

use weir_ir::{BinaryOp, Expr, Value};

use crate::accesses::is_constant;
use crate::image::Image;
use crate::known::{State, is_private};
use crate::models::Outcome;
use crate::ops::{Leaf, Op, Reg, binary, mask};
use crate::refusal::Refusal;

/// Longer copies are refused.
const MOST_BYTES: Value = 4096;

/// What a copy of private or constant bytes to private memory does. How the library accesses shared memory, in which
/// order and how many bytes at once, is not known.
pub(crate) fn copied(image: &Image, outcome: &Outcome, state: &State) -> Result<Vec<Op>, Refusal> {
    let [to, from, count] = [Reg::DI, Reg::SI, Reg::DX].map(|reg| state.register(reg).constant());
    let is_copy = *outcome == Outcome::Copies;
    let known = (|| {
        let (to, count) = (to?, count.filter(|&count| (0..=MOST_BYTES).contains(&count))?);
        let from = if is_copy { from? } else { 0 };
        let can_read = is_private(from) || is_constant(image, from, count as u32) || !is_copy;
        let is_apart = !is_copy || from.abs_diff(to) >= count as u64;
        (is_private(to) && can_read && is_apart).then_some((to, from, count))
    })();
    let (to, from, count) = known.ok_or_else(|| {
        let name = if is_copy { "memcpy" } else { "memset" };
        let message = format!("`{name}` is called for shared memory, or for an address or size only known at run time");
        Refusal::new("string-access", message).help("copy and clear shared memory in a loop, with `-fno-builtin`")
    })?;
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < count {
        let size = [8, 4, 2, 1].into_iter().find(|size| at + size <= count).unwrap_or(1);
        pieces.push((at, size as u32));
        at += size;
    }
    let mut ops = Vec::new();
    let loaded = Reg::own(0);
    for (at, size) in pieces {
        let value = if is_copy {
            ops.push(Op::Load { to: loaded, address: Expr::Const(from + at), size });
            Expr::Leaf(Leaf::Reg(loaded))
        } else {
            let byte = binary(BinaryOp::BitAnd, Expr::Leaf(Leaf::Reg(Reg::SI)), Expr::Const(0xFF));
            binary(BinaryOp::Multiply, byte, Expr::Const(0x0101_0101_0101_0101 & mask(size)))
        };
        ops.push(Op::Store { address: Expr::Const(to + at), value, size });
    }
    ops.push(Op::Set(Reg::AX, Expr::Const(to)));
    Ok(ops)
}
