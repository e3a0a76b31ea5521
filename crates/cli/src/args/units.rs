//! Times, sizes and definitions as people write them on a command line.

use std::num::NonZeroUsize;
use std::time::Duration;

use weir::Bound;
use weir_ir::{Value, nearest};

/// A bound and its value, such as `dual-values=5000`.
pub(crate) fn parse_bound(text: &str) -> Result<(Bound, u64), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=N, as in dual-values=5000")?;
    let Some(bound) = Bound::by_name(name) else {
        return Err(match nearest(name, Bound::ALL.map(Bound::name)) {
            Some(guess) => format!("there is no limit `{name}`; did you mean `{guess}`?"),
            None => format!("there is no limit `{name}`; `weir limits` lists all limits"),
        });
    };
    let value: u64 = value.replace(['_', ','], "").parse().map_err(|_| format!("`{value}` is not a whole number"))?;
    if value > bound.largest_value() {
        return Err(format!("`{name}` can be at most {}", bound.largest_value()));
    }
    Ok((bound, value))
}

/// A time such as `500ms`, `60s`, `10m`, `2h` or plain seconds.
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let (number, unit) = split_unit(text);
    let seconds_each = match unit.as_str() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("unknown unit of time `{unit}`; use ms, s, m or h, as in 500ms or 10m")),
    };
    let seconds = parse_number(number)? * seconds_each;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if time.is_zero() => Err("the time limit must be positive".into()),
        Ok(time) => Ok(time),
        Err(_) => Err("the time limit is too large".into()),
    }
}

/// A size such as `4GiB`, `512MB` or plain bytes.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let bytes_each: f64 = match unit.as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024.0 * 1024.0,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "t" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(format!("unknown unit of memory `{unit}`; use KiB, MiB, GiB, KB, MB or GB, as in 512MiB")),
    };
    let bytes = parse_number(number)? * bytes_each;
    if bytes < 1.0 {
        return Err("the memory limit must be positive".into());
    }
    if bytes >= u64::MAX as f64 {
        return Err("the memory limit is too large".into());
    }
    Ok(bytes as u64)
}

/// More workers than this only cost memory: each keeps queues and tables of its own.
const MOST_JOBS: usize = 256;

/// A number of workers.
pub(crate) fn parse_jobs(text: &str) -> Result<NonZeroUsize, String> {
    let jobs: NonZeroUsize = text.parse().map_err(|_| "expected an integer of at least 1".to_owned())?;
    if jobs.get() > MOST_JOBS { Err(format!("the maximum is {MOST_JOBS}")) } else { Ok(jobs) }
}

/// A definition `NAME=VALUE`.
pub(crate) fn parse_define(text: &str) -> Result<(String, Value), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err("expected NAME=VALUE, as in -D N=5".into());
    };
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() {
        return Err("missing name before `=`".into());
    }
    let number = parse_value(value);
    number.map(|number| (name.to_owned(), number)).ok_or_else(|| format!("`{value}` is not a 64-bit integer"))
}

/// An integer in the notations of the language.
fn parse_value(text: &str) -> Option<Value> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ => (10, digits),
    };
    // `from_str_radix` would take a sign here as well.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = i128::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    Value::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// The number and the unit after it, the unit in lower case.
fn split_unit(text: &str) -> (&str, String) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim().to_lowercase())
}

fn parse_number(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number, optionally followed by a unit".to_owned())?;
    if number.is_finite() { Ok(number) } else { Err("the number is too large".into()) }
}

/// `NAME=WHAT`: what a function does.
pub(super) fn parse_function(text: &str) -> Result<(String, weir_x86::Outcome), String> {
    let (name, what) = text.rsplit_once('=').ok_or("expected NAME=WHAT, as in `log_event=nothing`")?;
    let outcome = weir_x86::parse_outcome(what);
    let known = "expected `nothing`, `fail`, `fence`, `membarrier`, `malloc`, `calloc`, `free` or a number";
    Ok((name.trim().to_owned(), outcome.ok_or_else(|| format!("unknown behaviour `{what}`: {known}"))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_take_units_and_plain_seconds() {
        let ms = |text| parse_time(text).map(|time| time.as_millis());
        assert_eq!(ms("500ms"), Ok(500));
        assert_eq!(ms("60s"), Ok(60_000));
        assert_eq!(ms("10m"), Ok(600_000));
        assert_eq!(ms("2h"), Ok(7_200_000));
        assert_eq!(ms("90"), Ok(90_000));
        assert_eq!(ms("1.5 s"), Ok(1_500));
        for bad in ["", "s", "-1s", "5 days", "0", "0ms", "1e9", "99999999999999999999999h", "1..2", "²s"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_take_binary_and_decimal_units() {
        assert_eq!(parse_size("4GiB"), Ok(4 << 30));
        assert_eq!(parse_size("512mb"), Ok(512_000_000));
        assert_eq!(parse_size("1 KiB"), Ok(1024));
        assert_eq!(parse_size("1048576"), Ok(1 << 20));
        assert_eq!(parse_size("1.5KiB"), Ok(1536));
        for bad in ["", "GiB", "-1", "4 gallons", "0", "0.1", "99999999999TiB", "NaN", "inf"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn jobs_are_bounded() {
        assert_eq!(parse_jobs("8").map(NonZeroUsize::get), Ok(8));
        for bad in ["", "0", "-1", "257", "1000000", "18446744073709551615", "two"] {
            assert!(parse_jobs(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn definitions_take_the_integers_of_the_language() {
        let value = |text| parse_define(text).ok().map(|(name, value)| format!("{name}:{value}"));
        assert_eq!(value("N=5").as_deref(), Some("N:5"));
        assert_eq!(value("N = -0x10").as_deref(), Some("N:-16"));
        assert_eq!(value("N=0b1_01").as_deref(), Some("N:5"));
        assert_eq!(value("N=-9223372036854775808").as_deref(), Some("N:-9223372036854775808"));
        for bad in ["N", "=5", "N=", "N=x", "N=--5", "N=9223372036854775808", "N=0x", "N=5=6", "N=é1"] {
            assert_eq!(value(bad), None, "{bad}");
        }
    }
}
