//! A program and its variant side by side: what a fence buys, and what it costs.

use super::number::enclosed;
use super::target::named;
use crate::answer::{Compared, Odds};

/// The table; nothing if nothing is compared.
pub(super) fn text(odds: &Odds<'_>) -> String {
    let [first, second] = odds.compared.as_slice() else { return String::new() };
    let probability = format!("probability of {}", named(odds));
    let cost = format!("expected cost up to `{}`", first.until);
    let rows = [
        [String::new(), first.file.clone(), second.file.clone()],
        [probability, enclosed(first.probability.interval), enclosed(second.probability.interval)],
        [cost, price(first), price(second)],
    ];
    let widths: Vec<usize> =
        (0..3).map(|column| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0)).collect();
    let line = |row: &[String; 3]| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        cells.collect::<Vec<String>>().join("   ").trim_end().to_owned() + "\n"
    };
    format!("\n{}", rows.iter().map(line).collect::<String>())
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn price(compared: &Compared) -> String {
    match compared.cost.cost {
        None => "never reached".to_owned(),
        Some(cost) if cost.lower <= 0.0 && cost.upper.is_infinite() => "unknown".to_owned(),
        Some(cost) => enclosed(cost),
    }
}
