//! Exact numbers: fractions of integers of any size.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use dashu_ratio::RBig;

use super::probability::Interval;

/// A fraction of integers of any size, in lowest terms. As text it is `3/4`, or `2` if it is whole; [`str::parse`]
/// reads the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rational(RBig);

impl Rational {
    /// The nearest floating-point number: infinite if the fraction is larger than any.
    pub fn to_f64(&self) -> f64 {
        self.0.to_f64().value()
    }

    /// The narrowest interval of floating-point numbers that contains a fraction that is not below 0. Both ends are the
    /// same if the fraction is such a number itself.
    pub fn interval(&self) -> Interval {
        let nearest = self.to_f64();
        let compared = RBig::try_from(nearest).map(|nearest| nearest.cmp(&self.0));
        match compared {
            Ok(Ordering::Equal) => Interval { lower: nearest, upper: nearest },
            Ok(Ordering::Less) => Interval { lower: nearest, upper: nearest.next_up() },
            Ok(Ordering::Greater) => Interval { lower: nearest.next_down().max(0.0), upper: nearest },
            // It is larger than any.
            Err(_) => Interval { lower: f64::MAX, upper: f64::INFINITY },
        }
    }

    pub(super) fn new(value: RBig) -> Self {
        Self(value)
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The text is not a fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NotRational;

impl fmt::Display for NotRational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a whole number or a fraction such as 3/4")
    }
}

impl std::error::Error for NotRational {}

impl FromStr for Rational {
    type Err = NotRational;

    fn from_str(text: &str) -> Result<Self, NotRational> {
        let value = RBig::from_str(text).map_err(|_| NotRational)?;
        // The library reads `1/0` as it stands.
        if value.denominator().is_zero() { Err(NotRational) } else { Ok(Self(value)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_around_a_fraction_are_next_to_each_other() {
        let third = RBig::from_parts(1.into(), 3_u8.into());
        for value in [third.clone(), RBig::from(2) * third, RBig::from(10).pow(-400), RBig::from(3).pow(100)] {
            let Interval { lower, upper } = Rational::new(value.clone()).interval();
            assert_eq!(lower.next_up(), upper);
            assert!(RBig::try_from(lower).is_ok_and(|lower| lower < value), "{value}");
            assert!(RBig::try_from(upper).is_ok_and(|upper| value < upper), "{value}");
        }
        let interval = |value: RBig| Rational::new(value).interval();
        assert_eq!(interval(RBig::from_parts(3.into(), 4_u8.into())), Interval { lower: 0.75, upper: 0.75 });
        assert_eq!(interval(RBig::ZERO), Interval { lower: 0.0, upper: 0.0 });
        assert_eq!(interval(RBig::from(10).pow(400)), Interval { lower: f64::MAX, upper: f64::INFINITY });
    }

    #[test]
    fn text_is_read_back() {
        for text in ["3/4", "2", "0", "1/123456789012345678901234567890"] {
            assert_eq!(text.parse::<Rational>().map(|value| value.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("6/8".parse::<Rational>(), "3/4".parse());
        assert_eq!(("".parse::<Rational>(), "1/0".parse::<Rational>()), (Err(NotRational), Err(NotRational)));
    }
}
