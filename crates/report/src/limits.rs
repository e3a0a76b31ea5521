//! All limits in one table, for `weir limits`.

use std::fmt::Write as _;

use weir::ir::FixedLimit;
use weir::{Bound, FIXED_LIMITS};

use crate::wording::units::grouped;

/// All limits: those that options change, and those that are built in. `outside` are those of the caller.
pub fn limits(outside: &[FixedLimit]) -> String {
    let mut text = String::from(
        "Limits on a whole question, per file; reaching one gives the answer `unknown`:\n\n  \
         --timeout TIME   none by default\n  \
         --memory SIZE    4GiB by default, or nine tenths of what the container or `ulimit` allows\n  \
         --states N       none by default\n\n\
         Limits on one stage; change one with `--limit NAME=N`:\n\n",
    );
    for bound in Bound::ALL {
        let (name, value) = (bound.name(), grouped(bound.default_value()));
        row(&mut text, &format!("{name}={value}\n      {}", bound.description()), bound.beyond());
    }
    text += "\nLimits that are built in:\n\n";
    for FixedLimit { what, value, beyond } in weir_syntax::limits::ALL.iter().chain(&FIXED_LIMITS).chain(outside) {
        row(&mut text, &format!("{} {what}", grouped(*value)), beyond);
    }
    text
}

fn row(text: &mut String, limit: &str, beyond: &str) {
    let _ = writeln!(text, "  {limit}\n      beyond that: {beyond}");
}
