//! The odds: what the analysis takes as given about schedulers and buffers.

use weir_ir::{Diagnostic, Span};

use crate::verdict::Failure;

/// A positive fraction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fraction {
    /// The numerator.
    pub numerator: u64,
    /// The denominator; not 0.
    pub denominator: u64,
}

impl Fraction {
    /// The nearest floating-point number.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Reads `3`, `0.75` or `3/4`. At most nine digits on either side.
    pub fn parse(text: &str) -> Option<Self> {
        let is_number = |part: &str| (1..=9).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        let digits = |part: &str| is_number(part).then(|| part.parse::<u64>().ok()).flatten();
        if let Some((numerator, denominator)) = text.split_once('/') {
            let (numerator, denominator) = (digits(numerator)?, digits(denominator)?);
            return (denominator > 0).then(|| Self::reduced(numerator, denominator));
        }
        let Some((whole, part)) = text.split_once('.') else { return Some(Self::reduced(digits(text)?, 1)) };
        let (whole, decimals) = (digits(whole)?, digits(part)?);
        let scale = 10_u64.pow(part.len() as u32);
        Some(Self::reduced(whole * scale + decimals, scale))
    }

    /// In lowest terms: shares are counted in whole numbers, and those grow with the denominator.
    fn reduced(numerator: u64, denominator: u64) -> Self {
        let (mut divisor, mut rest) = (numerator, denominator);
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        Self { numerator: numerator / divisor, denominator: denominator / divisor }
    }
}

/// How stores leave the buffers after each step of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum UpdatePolicy {
    /// Every possible sequence of flushes, including the empty one, is equally likely, as in the paper.
    #[default]
    Uniform,
    /// Repeatedly, with this probability, one more store is flushed, from a nonempty buffer chosen uniformly.
    Geometric(Fraction),
    /// One buffer is picked, longer buffers likelier, and a number of its stores chosen uniformly is flushed.
    Single,
}

/// The scheduler and flush probabilities.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How much likelier the thread that stepped last is to step again. `None` means 1.
    pub stickiness: Option<Fraction>,
    /// How stores leave the buffers.
    pub updates: UpdatePolicy,
    /// Whether configurations that differ only in the numbering of interchangeable threads are lumped, where the answer
    /// is a probability.
    pub symmetry: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { stickiness: None, updates: UpdatePolicy::default(), symmetry: true }
    }
}

impl Settings {
    /// Refuses what the theory does not cover: a thread that is never scheduled although it can step, and buffers that
    /// need not shrink.
    ///
    /// # Errors
    /// The reason.
    pub fn check(&self) -> Result<(), Failure> {
        if self.stickiness.is_some_and(|factor| factor.numerator == 0) {
            let what = "the thread that stepped last would starve; the scheduler must give every thread a chance";
            return Err(refusal("unfaithful-scheduler", what, "use a positive stickiness; 1 means none"));
        }
        let UpdatePolicy::Geometric(p) = self.updates else { return Ok(()) };
        let (above, below) = (u128::from(p.numerator), u128::from(p.denominator));
        if above >= below {
            let what = "the probability of another flush must be below 1, otherwise no store is ever delayed";
            return Err(refusal("bad-policy", what, "use a probability between 0.708 and 1"));
        }
        // A step may add one store; the buffers shrink only if two leave.
        if 2 * above * above <= below * below {
            let what = format!(
                "flushing with probability {} is not left-biased: large buffers must be likelier to shrink than to stay or \
                 grow, and shrinking in a step that stores takes two flushes",
                p.to_f64()
            );
            return Err(refusal(
                "not-left-biased",
                what,
                "use a probability above 0.7072, whose square exceeds one half",
            ));
        }
        Ok(())
    }
}

pub(super) fn refusal(code: &'static str, what: impl Into<String>, help: &str) -> Failure {
    Failure::Refused(Box::new(Diagnostic::error(code, what, Span::default()).help(help)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_read_and_reduced() {
        let fraction = |numerator, denominator| Some(Fraction { numerator, denominator });
        for (text, read) in [
            ("3", fraction(3, 1)),
            ("0", fraction(0, 1)),
            ("0.0", fraction(0, 1)),
            ("0.75", fraction(3, 4)),
            ("12.5", fraction(25, 2)),
            ("0.05", fraction(1, 20)),
            ("3/4", fraction(3, 4)),
            ("12/8", fraction(3, 2)),
            ("0/7", fraction(0, 1)),
            ("999999999", fraction(999_999_999, 1)),
            ("0.000000001", fraction(1, 1_000_000_000)),
            ("999999999/1", fraction(999_999_999, 1)),
            ("1/999999999", fraction(1, 999_999_999)),
        ] {
            assert_eq!(Fraction::parse(text), read, "{text}");
        }
    }

    #[test]
    fn what_is_no_fraction_is_not_read() {
        let wrong = [
            "", ".", "1.", ".5", "1/0", "1/", "/2", "x", "-1", "+1", "1/+2", "1e3", " 1", "1 /2", "1.2.3", "1/2/3",
            "0.5/2",
        ];
        let too_long = ["0.0000000001", "9999999999", "1/9999999999", "9999999999/1"];
        for text in wrong.into_iter().chain(too_long) {
            assert_eq!(Fraction::parse(text), None, "{text}");
        }
    }

    fn code(settings: &Settings) -> Option<&'static str> {
        match settings.check() {
            Ok(()) => None,
            Err(Failure::Refused(error)) => Some(error.code),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn policies_that_let_buffers_grow_are_refused() {
        let with = |text| Settings {
            updates: UpdatePolicy::Geometric(Fraction::parse(text).expect("a number")),
            ..Settings::default()
        };
        // On either side of the square root of one half, of 1, and of 0.
        for fine in ["0.8", "0.708", "0.707106782", "5/7", "0.999999999"] {
            assert_eq!(code(&with(fine)), None, "{fine}");
        }
        for low in ["0", "0.5", "0.7", "0.707106781", "7/10", "0.000000001"] {
            assert_eq!(code(&with(low)), Some("not-left-biased"), "{low}");
        }
        for high in ["1", "1.5", "1.000000001", "999999999"] {
            assert_eq!(code(&with(high)), Some("bad-policy"), "{high}");
        }
    }

    #[test]
    fn stickiness_leaves_every_thread_a_chance() {
        let with = |text| Settings { stickiness: Fraction::parse(text), ..Settings::default() };
        for fine in ["1", "9", "1/9", "0.000000001", "999999999"] {
            assert_eq!(code(&with(fine)), None, "{fine}");
        }
        assert_eq!(code(&with("0")), Some("unfaithful-scheduler"));
        assert_eq!(code(&Settings::default()), None);
    }
}
