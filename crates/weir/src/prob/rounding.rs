//! Sums and products of non-negative floating-point numbers that err to a known side.
//!
//! Rust rounds to nearest, so the result of one operation is off by at most half a unit in the last place: the next
//! number up is an upper bound, the next one down a lower bound.

/// The greatest relative error of a probability in a [`Graph`](super::graph::Graph): two conversions and one division,
/// each off by at most 2^-53; and of the product with another number, one more.
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
    use dashu_ratio::RBig;

    use super::*;

    const NUMBERS: [f64; 12] = [0.0, 5e-324, 1e-300, 1e-17, 0.1, 0.2, 1.0 / 3.0, 0.7, 1.0, 3.0, 123_456.789, 1e17];

    fn exact(number: f64) -> RBig {
        RBig::try_from(number).expect("finite")
    }

    /// At most a few units in the last place, or what is left at the very bottom.
    fn is_near(bound: f64, value: &RBig) -> bool {
        let value = value.to_f64().value();
        (bound - value).abs() <= 4e-15 * value.abs() + 1e-300
    }

    #[test]
    fn sums_keep_to_their_side_and_are_tight() {
        for left in NUMBERS {
            for right in NUMBERS.into_iter().chain(NUMBERS.map(|number| -number)) {
                let sum = exact(left) + exact(right);
                let (low, high) = (add_down(left, right), add_up(left, right));
                assert!(exact(low) <= sum && sum <= exact(high), "{left} {right}");
                assert!(low.next_up().next_up() >= high, "{left} {right}");
            }
        }
    }

    #[test]
    fn nothing_is_rounded_where_nothing_is_added() {
        for number in NUMBERS {
            assert_eq!(
                [add_up(0.0, number), add_up(number, 0.0), add_down(0.0, number), add_down(number, 0.0)],
                [number; 4]
            );
        }
        assert!(add_up(0.1, 0.2) > add_down(0.1, 0.2));
    }

    #[test]
    fn products_and_quotients_keep_to_their_side_and_are_tight() {
        for left in NUMBERS {
            for right in NUMBERS {
                let product = exact(left) * exact(right);
                let (low, high) = (times_down(left, right), times_up(left, right));
                assert!(low >= 0.0 && exact(low) <= product && product <= exact(high), "{left} {right}");
                assert!(is_near(low, &product) && is_near(high, &product), "{left} {right}");
                if right > 1e-18 {
                    let quotient = exact(left) / exact(right);
                    let (low, high) = (divide_down(left, right), divide_up(left, right));
                    assert!(low >= 0.0 && exact(low) <= quotient && quotient <= exact(high), "{left} {right}");
                    assert!(is_near(low, &quotient) && is_near(high, &quotient), "{left} {right}");
                }
            }
        }
        assert_eq!((times_up(0.0, 3.0), times_up(3.0, 0.0)), (0.0, 0.0));
        for none in [0.0, -1.0] {
            assert_eq!((divide_up(1.0, none), divide_down(1.0, none)), (f64::INFINITY, 0.0));
        }
    }

    #[test]
    fn the_probability_of_a_step_may_be_off_by_its_conversions() {
        let large = u128::MAX / 3;
        let shares =
            [(1, 3), (2, 7), (999_999_999_999_999_999, 1_000_000_000_000_000_000), (large - 1, large), (1, large)];
        for (numerator, denominator) in shares {
            let p = numerator as f64 / denominator as f64;
            let share = RBig::from_parts(numerator.into(), denominator.into());
            for number in NUMBERS {
                let value = exact(number) * &share;
                let (low, high) = (weighted_down(number, p), weighted_up(number, p));
                assert!(
                    low >= 0.0 && exact(low) <= value && value <= exact(high),
                    "{number} {numerator}/{denominator}"
                );
                assert!(is_near(low, &value) && is_near(high, &value), "{number} {numerator}/{denominator}");
            }
        }
        assert_eq!((weighted_up(0.0, 0.3), weighted_down(0.0, 0.3)), (0.0, 0.0));
    }
}
