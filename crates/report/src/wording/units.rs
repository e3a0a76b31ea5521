//! Numbers, sizes and times as people read them.

use std::time::Duration;

/// A number with its thousands set apart: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 state`, `1,234 states`.
pub fn counted(number: u64, noun: &str) -> String {
    let (stem, ending) = match noun.strip_suffix('y') {
        _ if number == 1 => (noun, ""),
        Some(stem) => (stem, "ies"),
        None => (noun, "s"),
    };
    format!("{} {stem}{ending}", grouped(number))
}

/// A number of bytes in the unit that reads best.
pub fn size_text(bytes: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|&(size, _)| bytes >= size) {
        Some((size, unit)) if bytes.is_multiple_of(size) => format!("{} {unit}", bytes / size),
        Some((size, unit)) => format!("{:.1} {unit}", bytes as f64 / size as f64),
        None => counted(bytes, "byte"),
    }
}

/// A time in the unit that reads best.
pub fn time_text(time: Duration) -> String {
    match time.as_secs() {
        0 if time.subsec_millis() == 0 => format!("{} µs", time.subsec_micros()),
        0 => format!("{} ms", time.subsec_millis()),
        1..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3600 => format!("{} min {:02} s", time.as_secs() / 60, time.as_secs() % 60),
        seconds => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "state"), "1 state");
        assert_eq!(size_text(4 << 30), "4 GiB");
        assert_eq!(size_text(1536), "1.5 KiB");
        assert_eq!(size_text(12), "12 bytes");
        assert_eq!(time_text(Duration::from_millis(1500)), "1.5 s");
        assert_eq!(time_text(Duration::from_secs(3725)), "1 h 02 min");
    }
}
