//! How soon a target is reached, as a table.

use std::fmt::Write as _;

use weir::prob::Curve;

/// One line per number of steps.
pub fn curve(points: &Curve) -> String {
    let mut text = "steps,lower,upper\n".to_owned();
    for (step, point) in points.points.iter().enumerate() {
        let _ = writeln!(text, "{step},{},{}", point.lower, point.upper);
    }
    text
}

#[cfg(test)]
mod tests {
    use weir::prob::Interval;

    use super::*;

    #[test]
    fn tables_have_one_line_a_step() {
        let point = Interval { lower: 0.25, upper: 0.5 };
        let curve = Curve { points: vec![point, point], obstacle: None };
        assert_eq!(super::curve(&curve), "steps,lower,upper\n0,0.25,0.5\n1,0.25,0.5\n");
    }
}
