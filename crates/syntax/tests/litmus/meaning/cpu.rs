//! Arithmetic of the processor, after its manual: results and flags of each width, in 128 bits.

use super::tree::Size;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Flags {
    pub(super) zero: bool,
    pub(super) sign: bool,
    pub(super) carry: bool,
    pub(super) overflow: bool,
}

impl Flags {
    pub(super) fn nth(self, at: usize) -> bool {
        [self.zero, self.sign, self.carry, self.overflow][at]
    }
}

/// The names of a condition code, and what it asks of the flags.
type Code = (&'static [&'static str], fn(Flags) -> bool);

/// Condition codes, with all their names and what they ask of the flags.
pub(super) const CODES: [Code; 14] = [
    (&["e", "z"], |f| f.zero),
    (&["ne", "nz"], |f| !f.zero),
    (&["s"], |f| f.sign),
    (&["ns"], |f| !f.sign),
    (&["c", "b", "nae"], |f| f.carry),
    (&["nc", "nb", "ae"], |f| !f.carry),
    (&["o"], |f| f.overflow),
    (&["no"], |f| !f.overflow),
    (&["be", "na"], |f| f.carry || f.zero),
    (&["nbe", "a"], |f| !f.carry && !f.zero),
    (&["l", "lt", "nge"], |f| f.sign != f.overflow),
    (&["ge", "nl"], |f| f.sign == f.overflow),
    (&["le", "ng"], |f| f.zero || f.sign != f.overflow),
    (&["g", "gt", "nle"], |f| !f.zero && f.sign == f.overflow),
];

/// Whether a condition code holds.
pub(super) fn holds(code: &str, flags: Flags) -> bool {
    let found = CODES.iter().find(|(names, _)| names.contains(&code));
    found.unwrap_or_else(|| panic!("no condition {code}")).1(flags)
}

fn bits(size: Size) -> u32 {
    8 * size
}

/// The low bits.
pub(super) fn low(value: u64, size: Size) -> u64 {
    (u128::from(value) % (1 << bits(size))) as u64
}

fn is_negative(value: u64, size: Size) -> bool {
    low(value, size) >> (bits(size) - 1) == 1
}

/// The low bits as a number with sign.
pub(super) fn signed(value: u64, size: Size) -> i128 {
    let value_low = i128::from(low(value, size));
    if is_negative(value, size) { value_low - (1 << bits(size)) } else { value_low }
}

fn with(result: u64, size: Size, carry: bool, overflow: bool) -> (u64, Flags) {
    let result = low(result, size);
    (result, Flags { zero: result == 0, sign: is_negative(result, size), carry, overflow })
}

fn fits(value: i128, size: Size) -> bool {
    let half = 1_i128 << (bits(size) - 1);
    (-half..half).contains(&value)
}

/// The result of an operation with two operands, and the flags afterwards.
pub(super) fn binary(name: &str, a: u64, b: u64, size: Size) -> (u64, Flags) {
    let (wide_a, wide_b) = (u128::from(low(a, size)), u128::from(low(b, size)));
    match name {
        "add" | "xadd" => {
            let sum = wide_a + wide_b;
            let overflow = !fits(signed(a, size) + signed(b, size), size);
            with((sum % (1 << 64)) as u64, size, sum >= 1 << bits(size), overflow)
        }
        "sub" | "cmp" | "cmpxchg" => {
            let overflow = !fits(signed(a, size) - signed(b, size), size);
            with(a.wrapping_sub(b), size, wide_a < wide_b, overflow)
        }
        "and" | "test" => with(a & b, size, false, false),
        "or" => with(a | b, size, false, false),
        "xor" => with(a ^ b, size, false, false),
        _ => panic!("no operation {name}"),
    }
}

/// The same for one operand. `inc` and `dec` keep the carry, `not` keeps all flags.
pub(super) fn unary(name: &str, a: u64, size: Size, before: Flags) -> (u64, Flags) {
    match name {
        "inc" => {
            let (result, flags) = binary("add", a, 1, size);
            (result, Flags { carry: before.carry, ..flags })
        }
        "dec" => {
            let (result, flags) = binary("sub", a, 1, size);
            (result, Flags { carry: before.carry, ..flags })
        }
        "neg" => binary("sub", 0, a, size),
        "not" => (low(!a, size), before),
        _ => panic!("no operation {name}"),
    }
}

/// A shift. The overflow flag is only defined for one bit.
pub(super) fn shift(name: &str, a: u64, count: u32, size: Size) -> (u64, Flags) {
    let a = low(a, size);
    let bit = |at: u32| a >> at & 1 == 1;
    match name {
        "shl" | "sal" => {
            let carry = bit(bits(size) - count);
            let result = low(a << count, size);
            with(result, size, carry, is_negative(result, size) != carry)
        }
        "shr" => with(a >> count, size, bit(count - 1), is_negative(a, size)),
        "sar" => with((signed(a, size) >> count) as u64, size, bit(count - 1), false),
        _ => panic!("no operation {name}"),
    }
}
