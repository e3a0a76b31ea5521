//! Random expressions, shallow, over the registers of one thread.

use weir_ir::{BinaryOp, Expr, RegExpr, RegId, Shared, UnaryOp, Value};

use super::Config;
use crate::rng::Rng;

const COMPARISONS: [BinaryOp; 6] = [
    BinaryOp::Equal,
    BinaryOp::NotEqual,
    BinaryOp::Less,
    BinaryOp::LessEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterEqual,
];

/// A constant: mostly a small one.
pub(super) fn constant(rng: &mut Rng, config: &Config) -> Value {
    if rng.chance(config.extremes) {
        *rng.pick(&[-1, Value::MIN, Value::MAX, Value::MAX - 1, 1 << 32, -(1 << 31), 255, 256])
    } else {
        rng.below(config.mask as usize + 1) as Value
    }
}

/// A register that statements may use.
pub(super) fn register(rng: &mut Rng, config: &Config) -> RegId {
    RegId(rng.below(config.registers as usize) as u32)
}

/// An operand: a constant, a register, or a computation cut down to a few values.
pub(super) fn operand(rng: &mut Rng, config: &Config) -> RegExpr {
    match rng.below(10) {
        0..=4 => Expr::Const(constant(rng, config)),
        5..=7 => Expr::Leaf(register(rng, config)),
        8 => condition(rng, config),
        _ => cut_down(rng, config),
    }
}

/// A computation that yields one of a few values, whatever its operands hold.
fn cut_down(rng: &mut Rng, config: &Config) -> RegExpr {
    if config.growing > 0 && rng.chance(config.growing) {
        let op = *rng.pick(&[BinaryOp::Add, BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply]);
        return Expr::binary(op, Expr::Leaf(register(rng, config)), leaf(rng, config));
    }
    let computed = match rng.below(6) {
        0 => Expr::unary(*rng.pick(&[UnaryOp::Negate, UnaryOp::Complement]), leaf(rng, config)),
        1 => nested(rng, config),
        _ => Expr::binary(*rng.pick(&BinaryOp::ALL), leaf(rng, config), leaf(rng, config)),
    };
    if rng.chance(80) {
        Expr::binary(BinaryOp::BitAnd, computed, Expr::Const(config.mask))
    } else {
        Expr::binary(BinaryOp::Remainder, computed, Expr::Const(config.mask + 1))
    }
}

fn nested(rng: &mut Rng, config: &Config) -> RegExpr {
    let inner = Expr::binary(*rng.pick(&BinaryOp::ALL), leaf(rng, config), leaf(rng, config));
    Expr::binary(*rng.pick(&BinaryOp::ALL), inner, leaf(rng, config))
}

fn leaf(rng: &mut Rng, config: &Config) -> RegExpr {
    if rng.chance(60) { Expr::Leaf(register(rng, config)) } else { Expr::Const(constant(rng, config)) }
}

/// A condition: mostly a register compared with a constant.
pub(super) fn condition(rng: &mut Rng, config: &Config) -> RegExpr {
    let compare = |rng: &mut Rng| {
        let left = Expr::Leaf(register(rng, config));
        Expr::binary(*rng.pick(&COMPARISONS), left, leaf(rng, config))
    };
    match rng.below(10) {
        0 => Expr::unary(UnaryOp::Not, Expr::Leaf(register(rng, config))),
        1 => Expr::Leaf(register(rng, config)),
        2 => {
            let left = compare(rng);
            Expr::binary(*rng.pick(&[BinaryOp::And, BinaryOp::Or]), left, compare(rng))
        }
        _ => compare(rng),
    }
}

/// An address: mostly that of a declared cell; else computed from a register, or anything.
pub(super) fn address(rng: &mut Rng, config: &Config, shared: &[Shared]) -> RegExpr {
    let declaration = rng.pick(shared);
    let offset = rng.below(declaration.initial.len()) as Value;
    let declared = Expr::Const(declaration.address.wrapping_add(offset));
    if !rng.chance(config.computed_addresses) {
        return declared;
    }
    let kind = rng.below(12);
    let index = Expr::binary(BinaryOp::BitAnd, Expr::Leaf(register(rng, config)), Expr::Const(1));
    match kind {
        0 => Expr::Const(constant(rng, config)),
        1 | 2 => Expr::Leaf(register(rng, config)),
        // Two cells that are far apart: no engine can set aside all that lies between.
        3..=5 => Expr::binary(BinaryOp::ShiftLeft, index, Expr::Const(40)),
        _ => Expr::binary(BinaryOp::Add, declared, index),
    }
}

/// A comparison of `left` with a constant, for properties.
pub(super) fn compare_with_constant<L>(rng: &mut Rng, config: &Config, left: Expr<L>) -> Expr<L> {
    let operator = if rng.chance(70) { BinaryOp::Equal } else { *rng.pick(&COMPARISONS) };
    Expr::binary(operator, left, Expr::Const(constant(rng, config)))
}
