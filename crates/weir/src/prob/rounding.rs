//! Sums and products of non-negative floating-point numbers that err to a known side.
//!
//! Rust rounds to nearest, so the result of one operation is off by at most half a unit in the last place: the next number up is an
//! upper bound, the next one down a lower bound.

/// The greatest relative error of a probability in a [`Graph`](super::graph::Graph): two conversions and one division, each off by
/// at most 2^-53; and of the product with another number, one more.
const FEW_UNITS: f64 = 1e-15;

/// At least `left + right`.
pub(super) fn add_up(left: f64, right: f64) -> f64 {
    let sum = left + right;
    if left == 0.0 || right == 0.0 { sum } else { sum.next_up() }
}

/// At most `left + right`.
pub(super) fn add_down(left: f64, right: f64) -> f64 {
    let sum = left + right;
    if left == 0.0 || right == 0.0 { sum } else { sum.next_down() }
}

/// At least the product of a non-negative number and a probability from the graph.
pub(super) fn weighted_up(number: f64, p: f64) -> f64 {
    if number == 0.0 { 0.0 } else { number * p * (1.0 + FEW_UNITS) + f64::MIN_POSITIVE }
}

/// At most the product of a non-negative number and a probability from the graph.
pub(super) fn weighted_down(number: f64, p: f64) -> f64 {
    (number * p * (1.0 - FEW_UNITS) - f64::MIN_POSITIVE).max(0.0)
}

/// At least `left * right`, both non-negative.
pub(super) fn times_up(left: f64, right: f64) -> f64 {
    if left == 0.0 || right == 0.0 { 0.0 } else { (left * right).next_up().max(f64::MIN_POSITIVE) }
}

/// At most `left * right`, both non-negative.
pub(super) fn times_down(left: f64, right: f64) -> f64 {
    (left * right).next_down().max(0.0)
}

/// At least `left / right`; infinite if `right` is not positive.
pub(super) fn divide_up(left: f64, right: f64) -> f64 {
    if right > 0.0 { (left / right).next_up() } else { f64::INFINITY }
}

/// At most `left / right`, not negative.
pub(super) fn divide_down(left: f64, right: f64) -> f64 {
    if right > 0.0 { (left / right).next_down().max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_kept() {
        for (left, right) in [(0.1, 0.2), (1.0 / 3.0, 1e-17), (0.7, 0.1), (1e300, 1e-300), (5e-324, 0.5)] {
            assert!(add_down(left, right) <= left + right && left + right <= add_up(left, right));
            assert!(weighted_down(left, right) < weighted_up(left, right));
            assert!(times_down(left, right) <= times_up(left, right));
        }
        assert_eq!(add_up(0.0, 0.3), 0.3);
        assert_eq!(weighted_up(0.0, 0.3), 0.0);
        assert_eq!(divide_up(1.0, 0.0), f64::INFINITY);
    }
}
