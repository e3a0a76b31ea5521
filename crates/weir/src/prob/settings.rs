//! The odds: what the analysis takes as given about schedulers and buffers.

use weir_ir::{Diagnostic, Span};

use crate::Failure;

/// A positive fraction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fraction {
    /// Above the line.
    pub numerator: u64,
    /// Below the line; not 0.
    pub denominator: u64,
}

impl Fraction {
    /// The nearest floating-point number.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Reads `3`, `0.75` or `3/4`. At most nine digits on either side.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = |part: &str| (!part.is_empty() && part.len() <= 9).then(|| part.parse::<u64>().ok()).flatten();
        if let Some((numerator, denominator)) = text.split_once('/') {
            let (numerator, denominator) = (digits(numerator)?, digits(denominator)?);
            return (denominator > 0).then(|| Self::reduced(numerator, denominator));
        }
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let scale = 10_u64.pow(u32::try_from(part.len()).ok().filter(|&len| len <= 9)?);
        let part = if part.is_empty() { 0 } else { digits(part)? };
        Some(Self::reduced(digits(whole)? * scale + part, scale))
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
    /// Every sequence of flushes that is possible, the empty one included, is equally likely: the paper's.
    #[default]
    Uniform,
    /// Again and again: with this probability one more store is flushed, from any buffer that has one, all equally likely.
    Geometric(Fraction),
    /// One buffer is picked, the longer the likelier, and any number of its stores is flushed, all equally likely.
    Single,
}

/// The odds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    /// By how much likelier the thread that stepped last is to step again. `None` is 1: no memory.
    pub stickiness: Option<Fraction>,
    /// How stores leave the buffers.
    pub updates: UpdatePolicy,
}

impl Settings {
    /// Refuses what the theory does not cover: a thread that is never scheduled although it can step, and buffers that need not
    /// shrink.
    ///
    /// # Errors
    /// The reason.
    pub fn check(&self) -> Result<(), Failure> {
        if self.stickiness.is_some_and(|factor| factor.numerator == 0) {
            let what =
                "a thread that stepped last would never step again: the scheduler must leave every thread a chance";
            return Err(refusal("unfaithful-scheduler", what, "give a stickiness above 0; 1 is none at all"));
        }
        let UpdatePolicy::Geometric(p) = self.updates else { return Ok(()) };
        let (above, below) = (u128::from(p.numerator), u128::from(p.denominator));
        if above >= below {
            let what = "the probability to go on flushing must be below 1, else no store ever waits";
            return Err(refusal("bad-policy", what, "give a probability between 0.708 and 1"));
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
                "give a probability above 0.7072, whose square is above one half",
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
        assert_eq!(Fraction::parse("3"), fraction(3, 1));
        assert_eq!(Fraction::parse("0.0"), fraction(0, 1));
        assert_eq!(Fraction::parse("0.75"), fraction(3, 4));
        assert_eq!(Fraction::parse("3/4"), fraction(3, 4));
        for wrong in ["", ".", "1/0", "x", "-1", "1e3", "1.", "0.0000000001", "9999999999"] {
            assert!(Fraction::parse(wrong).is_none_or(|read| wrong == "1." && read.denominator == 1), "{wrong}");
        }
    }

    #[test]
    fn policies_that_let_buffers_grow_are_refused() {
        let with = |text| Settings {
            updates: UpdatePolicy::Geometric(Fraction::parse(text).expect("a number")),
            ..Settings::default()
        };
        assert!(with("0.8").check().is_ok());
        assert!(with("0.708").check().is_ok());
        for wrong in ["0.7", "0.5", "0", "1", "1.5"] {
            assert!(matches!(with(wrong).check(), Err(Failure::Refused(_))), "{wrong}");
        }
        let stuck = Settings { stickiness: Fraction::parse("0"), ..Settings::default() };
        assert!(stuck.check().is_err());
    }
}
