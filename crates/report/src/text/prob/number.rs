//! Numbers and intervals as text, rounded so that what is printed still holds.

use weir::prob::{Interval, Rational};

/// An interval: one number if both ends are the same to the digits that matter, else both.
pub(super) fn enclosed(interval: Interval) -> String {
    let Interval { lower, upper } = interval;
    if !upper.is_finite() {
        let least = if lower > 0.0 { down(lower, digits(lower * 1e-4)) } else { "0".to_owned() };
        return format!("at least {least}");
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
    unsigned(format!("{value}"))
}

/// At most the number, with this many digits behind the point.
fn down(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.parse().is_ok_and(|read: f64| read <= value) {
        return unsigned(text);
    }
    unsigned(format!("{:.digits$}", value - 0.75 * 10_f64.powi(-(digits as i32))))
}

/// At least the number, with this many digits behind the point.
fn up(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.parse().is_ok_and(|read: f64| read >= value) {
        return unsigned(text);
    }
    unsigned(format!("{:.digits$}", value + 0.75 * 10_f64.powi(-(digits as i32))))
}

/// Probabilities and costs are never below 0, so a sign is left of one that was rounded to 0.
fn unsigned(text: String) -> String {
    text.strip_prefix('-').map(str::to_owned).unwrap_or(text)
}

/// A share of all.
pub(super) fn percent(share: f64) -> String {
    format!("{}%", (share * 1e6).round() / 1e4)
}

/// A fraction, with its value if it is not whole.
pub(super) fn fraction(value: &Rational) -> String {
    let text = value.to_string();
    let is_whole = !text.contains('/');
    let is_long = text.len() > 120;
    if is_whole && !is_long {
        return text;
    }
    let digits = text.len() - usize::from(!is_whole);
    let text = if is_long { format!("a fraction with {digits} digits") } else { text };
    format!("{text} ({})", rounded(value.to_f64()))
}

/// A number above 0 in digits that say something.
fn rounded(value: f64) -> String {
    if value.is_infinite() {
        "above 1e308".to_owned()
    } else if value < f64::MIN_POSITIVE {
        "below 1e-307".to_owned()
    } else if value < 1e-3 {
        format!("about {value:.5e}")
    } else {
        format!("about {value:.6}")
    }
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
        assert_eq!(enclosed(Interval { lower: 0.0, upper: f64::INFINITY }), "at least 0");
        for value in [1.0 / 3.0, 2.0 / 3.0, 0.1, 123.456] {
            for digits in 1..12 {
                let read = |text: String| text.parse::<f64>().expect("a number");
                assert!(read(down(value, digits)) <= value && value <= read(up(value, digits)), "{value} {digits}");
            }
        }
    }

    #[test]
    fn nothing_is_below_zero() {
        assert_eq!(enclosed(Interval { lower: 0.0063, upper: 0.9 }), "between 0.00 and 0.90");
        assert_eq!(enclosed(Interval { lower: -0.0, upper: 1.0 }), "between 0.00 and 1.00");
        assert_eq!(enclosed(Interval { lower: -0.0, upper: 0.0 }), "0");
        for value in [0.0, 0.000_6, 0.005_1, 0.007, 0.009_999] {
            assert!((1..8).all(|digits| !down(value, digits).contains('-')), "{value}");
        }
    }

    #[test]
    fn small_values_keep_their_digits() {
        let one_of = |many: u64| fraction(&format!("1/{many}").parse().expect("a fraction"));
        assert_eq!(one_of(1_024), "1/1024 (about 9.76562e-4)");
        assert_eq!(one_of(64), "1/64 (about 0.015625)");
        assert_eq!(one_of(55_555_555), "1/55555555 (about 1.80000e-8)");
        let huge = format!("1{}", "0".repeat(400));
        assert_eq!(
            fraction(&format!("1/{huge}").parse().expect("a fraction")),
            "a fraction with 402 digits (below 1e-307)"
        );
        assert_eq!(fraction(&huge.parse().expect("a number")), "a fraction with 401 digits (above 1e308)");
    }

    #[test]
    fn fractions_show_their_value() {
        assert_eq!(fraction(&"3/4".parse().expect("a fraction")), "3/4 (about 0.750000)");
        assert_eq!(fraction(&"1".parse().expect("a number")), "1");
    }
}
