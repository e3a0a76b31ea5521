//! Numbers and intervals as text, rounded so that what is printed still holds.

use weir::prob::{Interval, RBig};

/// An interval: one number if both ends are the same to the digits that matter, else both.
pub(super) fn enclosed(interval: Interval) -> String {
    let Interval { lower, upper } = interval;
    if !upper.is_finite() {
        return format!("at least {}", down(lower, digits(lower.abs() * 1e-4)));
    }
    if lower == upper {
        return shortest(lower);
    }
    // More digits are not worth reading; JSON has them all.
    let digits = digits((upper - lower).max(upper.abs().max(1.0) * 1e-8));
    format!("between {} and {}", down(lower, digits), up(upper, digits))
}

/// How many digits behind the point show a difference of this size.
fn digits(width: f64) -> usize {
    if width <= 0.0 { 15 } else { (2.0 - width.log10().ceil()).clamp(1.0, 17.0) as usize }
}

/// The number itself, with as few digits as tell it from others.
fn shortest(value: f64) -> String {
    format!("{value}")
}

/// At most the number, with this many digits behind the point.
fn down(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.parse().is_ok_and(|read: f64| read <= value) {
        return text;
    }
    format!("{:.digits$}", value - 0.75 * 10_f64.powi(-(digits as i32)))
}

/// At least the number, with this many digits behind the point.
fn up(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.parse().is_ok_and(|read: f64| read >= value) {
        return text;
    }
    format!("{:.digits$}", value + 0.75 * 10_f64.powi(-(digits as i32)))
}

/// A share of all.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

/// A fraction, with its value if it is not whole.
pub(super) fn fraction(value: &RBig) -> String {
    let (text, rounded) = (value.to_string(), value.to_f64().value());
    let text = if text.len() > 120 { format!("a fraction of {} digits", text.len() - 1) } else { text };
    if text.contains('/') || text.starts_with('a') { format!("{text} (about {rounded:.6})") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_ends_still_enclose() {
        let text = enclosed(Interval { lower: 0.123_456_78, upper: 0.123_457_12 });
        assert_eq!(text, "between 0.12345678 and 0.12345712");
        assert_eq!(enclosed(Interval { lower: 0.5, upper: 0.5 }), "0.5");
        assert_eq!(enclosed(Interval { lower: 2.0 / 3.0, upper: 0.67 }), "between 0.6666 and 0.6700");
        assert!(enclosed(Interval { lower: 2.0, upper: f64::INFINITY }).starts_with("at least "));
        for value in [1.0 / 3.0, 2.0 / 3.0, 0.1, 123.456] {
            for digits in 1..12 {
                let read = |text: String| text.parse::<f64>().expect("a number");
                assert!(read(down(value, digits)) <= value && value <= read(up(value, digits)), "{value} {digits}");
            }
        }
    }

    #[test]
    fn fractions_show_their_value() {
        assert_eq!(fraction(&RBig::from_parts(3.into(), 4_u8.into())), "3/4 (about 0.750000)");
        assert_eq!(fraction(&RBig::ONE), "1");
    }
}
