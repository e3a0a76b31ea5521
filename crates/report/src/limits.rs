//! All limits in one table, for `weir limits`.

use std::fmt::Write as _;

use weir::ir::FixedLimit;
use weir::{Bound, FIXED_LIMITS};

use crate::wording::units::grouped;

/// All limits: those that options change, and those that are built in.
pub fn limits() -> String {
    let mut text = String::from(
        "Limits on a whole question, per file; reaching one gives the answer `unknown`:\n\n  --timeout TIME   none by default\n  \
         --memory SIZE    4GiB by default\n  --states N       none by default\n\nLimits on one stage; change one with `--limit \
         NAME=N`:\n\n",
    );
    let rows = Bound::ALL.map(|bound| {
        [
            bound.name().to_owned(),
            grouped(bound.default_value()),
            format!("{}; beyond: {}", bound.description(), bound.beyond()),
        ]
    });
    table(&mut text, &rows);
    text += "\nLimits that are built in:\n\n";
    let fixed = weir_syntax::limits::ALL.iter().chain(&FIXED_LIMITS);
    let rows: Vec<[String; 3]> = fixed.map(row).collect();
    table(&mut text, &rows);
    text
}

fn row(limit: &FixedLimit) -> [String; 3] {
    [limit.what.to_owned(), grouped(limit.value), format!("beyond: {}", limit.beyond)]
}

fn table(text: &mut String, rows: &[[String; 3]]) {
    let widest = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (first, second) = (widest(0), widest(1));
    for [name, value, what] in rows {
        let _ = writeln!(text, "  {name:<first$}  {value:>second$}  {what}");
    }
}
