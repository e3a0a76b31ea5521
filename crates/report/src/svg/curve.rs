//! How soon a target is reached, as a picture.

use std::fmt::Write;

use weir::prob::Curve;

use crate::answer::ProbAnswer;
use crate::text::target;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 40.0;

/// A picture: the band between the bounds, and its middle.
pub fn curve(answer: &ProbAnswer<'_>, curve: &Curve) -> String {
    draw(&format!("probability of reaching {} within n steps", target(&answer.origin)), curve)
}

fn draw(title: &str, curve: &Curve) -> String {
    let steps = curve.points.len().saturating_sub(1).max(1) as f64;
    let highest = curve.points.iter().map(|point| point.upper).fold(0.0, f64::max);
    let scale = nice(highest);
    let x = |step: usize| LEFT + WIDTH * step as f64 / steps;
    let y = |value: f64| TOP + HEIGHT * (1.0 - (value / scale).min(1.0));
    let mut line = String::new();
    let mut band = String::new();
    for (step, point) in curve.points.iter().enumerate() {
        let _ = write!(line, "{:.2},{:.2} ", x(step), y(f64::midpoint(point.lower, point.upper)));
        let _ = write!(band, "{:.2},{:.2} ", x(step), y(point.upper));
    }
    for (step, point) in curve.points.iter().enumerate().rev() {
        let _ = write!(band, "{:.2},{:.2} ", x(step), y(point.lower));
    }
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"13\">\n",
        LEFT + WIDTH + 24.0,
        TOP + HEIGHT + 56.0
    );
    let title = escape(title);
    let _ = writeln!(text, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>");
    let _ = writeln!(text, "<text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{title}</text>");
    for part in 0..=4 {
        let value = scale * f64::from(part) / 4.0;
        let (at, end) = (y(value), LEFT + WIDTH);
        let _ = writeln!(text, "<line x1=\"{LEFT}\" y1=\"{at:.2}\" x2=\"{end}\" y2=\"{at:.2}\" stroke=\"#ddd\"/>");
        let (left, base) = (LEFT - 8.0, at + 4.0);
        let _ = writeln!(text, "<text x=\"{left}\" y=\"{base:.2}\" text-anchor=\"end\">{}</text>", label(value));
        let step = (steps * f64::from(part) / 4.0).round();
        let (at, base) = (LEFT + WIDTH * step / steps, TOP + HEIGHT + 22.0);
        let _ = writeln!(text, "<text x=\"{at:.2}\" y=\"{base}\" text-anchor=\"middle\">{step}</text>");
    }
    let base = TOP + HEIGHT + 44.0;
    let _ = writeln!(text, "<text x=\"{}\" y=\"{base}\" text-anchor=\"middle\">steps</text>", LEFT + WIDTH / 2.0);
    let _ = writeln!(text, "<polygon points=\"{}\" fill=\"#1f77b4\" fill-opacity=\"0.25\"/>", band.trim_end());
    let _ = writeln!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"2\"/>",
        line.trim_end()
    );
    text + "</svg>\n"
}

/// The least of 1, 0.5, 0.2, 0.1, 0.05, … that is not less.
fn nice(highest: f64) -> f64 {
    let mut scale = 1.0;
    for _ in 0..30 {
        for factor in [0.5, 0.2, 0.1] {
            if highest > scale * factor {
                return if factor == 0.5 { scale } else { scale * if factor == 0.2 { 0.5 } else { 0.2 } };
            }
        }
        scale *= 0.1;
    }
    1.0
}

fn label(value: f64) -> String {
    if value == 0.0 || value >= 0.001 { format!("{}", (value * 1e6).round() / 1e6) } else { format!("{value:.1e}") }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_where_its_step_and_its_value_are() {
        let point = |lower, upper| weir::prob::Interval { lower, upper };
        let curve = Curve { points: vec![point(0.0, 0.0), point(0.5, 0.5), point(0.5, 1.0)], obstacle: None };
        let picture = draw("a < b", &curve);
        for part in [
            "viewBox=\"0 0 728 456\"",
            "<text x=\"64\" y=\"24\" font-size=\"15\">a &lt; b</text>",
            "<line x1=\"64\" y1=\"400.00\" x2=\"704\" y2=\"400.00\" stroke=\"#ddd\"/>",
            "<line x1=\"64\" y1=\"40.00\" x2=\"704\" y2=\"40.00\" stroke=\"#ddd\"/>",
            "<text x=\"56\" y=\"404.00\" text-anchor=\"end\">0</text>",
            "<text x=\"56\" y=\"134.00\" text-anchor=\"end\">0.75</text>",
            "<text x=\"64.00\" y=\"422\" text-anchor=\"middle\">0</text>",
            "<text x=\"384.00\" y=\"422\" text-anchor=\"middle\">1</text>",
            "<text x=\"704.00\" y=\"422\" text-anchor=\"middle\">2</text>",
            "<text x=\"384\" y=\"444\" text-anchor=\"middle\">steps</text>",
            "<polygon points=\"64.00,400.00 384.00,220.00 704.00,40.00 704.00,220.00 384.00,220.00 64.00,400.00\"",
            "<polyline points=\"64.00,400.00 384.00,220.00 704.00,130.00\"",
        ] {
            assert!(picture.contains(part), "{part} is not in\n{picture}");
        }
    }

    #[test]
    fn the_scale_is_a_round_number_above_the_highest_point() {
        let near = |left: f64, right: f64| (left - right).abs() < 1e-12;
        assert!(near(nice(1.0), 1.0) && near(nice(0.7), 1.0) && near(nice(0.4), 0.5));
        assert!(near(nice(0.15), 0.2) && near(nice(0.03), 0.05) && near(nice(0.0), 1.0));
    }
}
