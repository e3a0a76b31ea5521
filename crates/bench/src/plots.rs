//! Plots of a family, as SVG: CPU time, states and memory against N, on logarithmic scales.

use std::fmt::Write as _;
use std::time::Duration;

use crate::cases::Row;
use crate::tools::Tool;

/// Colours that people who do not see all of them can tell apart (P. Tol's muted scheme, with black for the first).
const COLOURS: [&str; 13] = [
    "#000000", "#CC6677", "#332288", "#DDCC77", "#117733", "#88CCEE", "#882255", "#44AA99", "#999933", "#AA4499",
    "#777777", "#EE7733", "#0077BB",
];

/// The size of a panel's axes, and where they are.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 52.0;
const TOP: f64 = 30.0;
/// The distance from one panel to the next.
const PITCH: f64 = WIDTH + 70.0;
/// From the bottom of the axes to the first line of the legend.
const LEGEND: f64 = 52.0;
/// Entries of the legend in one line, and the height of a line.
const ENTRIES: usize = 5;
const LINE: f64 = 18.0;

/// What a panel shows of a row.
struct Panel {
    title: &'static str,
    value: fn(&Row) -> Option<f64>,
}

const PANELS: [Panel; 3] = [
    Panel { title: "CPU time, s", value: |row| row.median().as_ref().map(Duration::as_secs_f64) },
    Panel { title: "states", value: |row| Some(row.found()?.states? as f64) },
    Panel { title: "memory, MB", value: |row| row.found().map(|_| row.peak as f64 / 1e6) },
];

/// The plots of a family.
pub(crate) fn svg(title: &str, rows: &[Row]) -> String {
    let mut tools: Vec<Tool> = Vec::new();
    for row in rows.iter().filter(|row| row.found().is_some() && !tools.contains(&row.tool)).collect::<Vec<_>>() {
        if !tools.contains(&row.tool) {
            tools.push(row.tool);
        }
    }
    let width = LEFT + PANELS.len() as f64 * PITCH;
    let height = TOP + HEIGHT + LEGEND + LINE * tools.len().div_ceil(ENTRIES) as f64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"11\">\n<title>{title}</title>\n<rect \
         width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (at, panel) in PANELS.iter().enumerate() {
        let _ = writeln!(text, "<g transform=\"translate({:.0} {TOP:.0})\">", LEFT + at as f64 * PITCH);
        draw(panel, rows, &tools, &mut text);
        text.push_str("</g>\n");
    }
    legend(&tools, &mut text);
    text.push_str("</svg>\n");
    text
}

fn draw(panel: &Panel, rows: &[Row], tools: &[Tool], text: &mut String) {
    let _ = writeln!(text, "<text x=\"0\" y=\"-12\" font-weight=\"bold\">{}</text>", panel.title);
    let _ = writeln!(text, "<rect width=\"{WIDTH:.0}\" height=\"{HEIGHT:.0}\" fill=\"none\" stroke=\"#999\"/>");
    let values: Vec<f64> = rows.iter().filter_map(panel.value).collect();
    let Some(scale) = Scale::of(&values) else {
        let _ = writeln!(text, "<text x=\"{:.0}\" y=\"{:.0}\">no figures</text>", WIDTH / 2.0 - 28.0, HEIGHT / 2.0);
        return;
    };
    scale.draw(text);
    let columns = Columns::of(rows);
    columns.draw(text);
    // The first one last, so that no other hides it.
    for (at, tool) in tools.iter().enumerate().rev() {
        let own = rows.iter().filter(|row| row.tool == *tool);
        let points: Vec<(f64, f64)> =
            own.filter_map(|row| Some((columns.x(row.number), scale.y((panel.value)(row)?)))).collect();
        line(&points, COLOURS[at % COLOURS.len()], text);
    }
}

fn line(points: &[(f64, f64)], colour: &str, text: &mut String) {
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    if path.len() > 1 {
        let _ = writeln!(text, "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"/>", path.join(" "));
    }
    for (x, y) in points {
        let _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>");
    }
}

/// A logarithmic scale between two powers of ten.
struct Scale {
    low: i32,
    high: i32,
}

impl Scale {
    /// The scale that holds these values.
    fn of(values: &[f64]) -> Option<Self> {
        let exponent = |value: f64| value.max(1e-3).log10();
        let low = values.iter().copied().map(exponent).min_by(f64::total_cmp)?.floor() as i32;
        let high = values.iter().copied().map(exponent).max_by(f64::total_cmp)?.ceil() as i32;
        Some(Self { low, high: high.max(low + 1) })
    }

    fn y(&self, value: f64) -> f64 {
        let part = (value.max(1e-3).log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        HEIGHT * (1.0 - part)
    }

    fn draw(&self, text: &mut String) {
        for exponent in self.low..=self.high {
            let y = self.y(10f64.powi(exponent));
            let _ = writeln!(text, "<line x2=\"{WIDTH:.0}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>");
            let label = power(exponent);
            let _ = writeln!(text, "<text x=\"-6\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", y + 4.0);
        }
    }
}

/// A power of ten as people write it.
fn power(exponent: i32) -> String {
    match exponent {
        ..0 => format!("0.{}1", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        0..=4 => 10u32.pow(exponent.unsigned_abs()).to_string(),
        _ => format!("1e{exponent}"),
    }
}

/// One column per number, evenly spaced.
struct Columns(Vec<u32>);

impl Columns {
    fn of(rows: &[Row]) -> Self {
        let mut numbers: Vec<u32> = rows.iter().map(|row| row.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Self(numbers)
    }

    fn x(&self, number: u32) -> f64 {
        let at = self.0.iter().position(|&one| one == number).unwrap_or(0);
        WIDTH * (at as f64 + 0.5) / self.0.len() as f64
    }

    fn draw(&self, text: &mut String) {
        for &number in &self.0 {
            let (x, y) = (self.x(number), HEIGHT + 16.0);
            let _ = writeln!(text, "<text x=\"{x:.1}\" y=\"{y:.0}\" text-anchor=\"middle\">{number}</text>");
        }
    }
}

fn legend(tools: &[Tool], text: &mut String) {
    for (at, tool) in tools.iter().enumerate() {
        let (x, y) = (LEFT + (at % ENTRIES) as f64 * 175.0, TOP + HEIGHT + LEGEND + LINE * (at / ENTRIES) as f64 - 6.0);
        let colour = COLOURS[at % COLOURS.len()];
        let _ = writeln!(text, "<circle cx=\"{x:.0}\" cy=\"{:.0}\" r=\"4\" fill=\"{colour}\"/>", y - 4.0);
        let _ = writeln!(text, "<text x=\"{:.0}\" y=\"{y:.0}\">{}</text>", x + 10.0, tool.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::{Answer, Question};
    use crate::outcome::{Found, Outcome};
    use crate::tools::asked;

    fn row(number: u32, tool: Tool, millis: u64, states: Option<u64>) -> Row {
        let outcome = Outcome::Answered(Found { answer: Answer::Safe, states, reduction: String::new() });
        Row { number, tool, outcome, cpu: vec![Duration::from_millis(millis)], peak: 10_000_000 }
    }

    #[test]
    fn a_decade_is_as_high_as_any_other() {
        let scale = Scale::of(&[0.02, 5.0, 0.5]).unwrap();
        assert_eq!((scale.low, scale.high), (-2, 1));
        assert_eq!(scale.y(0.01), HEIGHT);
        assert_eq!(scale.y(10.0), 0.0);
        assert!((scale.y(0.1) - HEIGHT * 2.0 / 3.0).abs() < 1e-9);
        assert!(Scale::of(&[]).is_none());
        let flat = Scale::of(&[100.0]).unwrap();
        assert_eq!((flat.low, flat.high), (2, 3), "one value needs a scale, too");
    }

    #[test]
    fn powers_are_written_as_people_do() {
        assert_eq!([-3, -1, 0, 2, 7].map(power), ["0.001", "0.1", "1", "100", "1e7"]);
    }

    /// A line per tool with several figures, a mark per figure, a legend entry per tool with an answer.
    #[test]
    fn every_figure_is_drawn() {
        let tools = asked(Question::SafeSc, Answer::Safe);
        let mut rows = vec![
            row(3, tools[0], 10, Some(100)),
            row(3, tools[6], 20, None),
            row(4, tools[0], 100, Some(1000)),
            row(4, tools[6], 300, None),
        ];
        rows.push(Row { outcome: Outcome::OutOfTime, ..row(4, tools[7], 20_000, None) });
        let text = svg("a family", &rows);
        assert_eq!(text.matches("<polyline").count(), 2 + 1 + 2, "{text}");
        assert_eq!(text.matches("<circle").count(), 4 + 2 + 4 + 2, "{text}");
        assert!(text.contains(">weir check</text>") && text.contains(">SPIN</text>"), "{text}");
        assert!(!text.contains("SPIN, no reduction"), "it has no answer: {text}");
        assert!(text.contains("<polyline points=\"60.0,220.0 180.0,110.0\""), "10 ms and 100 ms: {text}");
        assert_eq!(text, svg("a family", &rows));
    }
}
