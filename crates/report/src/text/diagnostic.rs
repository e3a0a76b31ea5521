//! Diagnostics with the source they mention, in the look of rustc.

use annotate_snippets::renderer::DEFAULT_LINE_NUM_STYLE;
use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Renderer, Snippet};
use weir_ir::sort::sort_by_key;
use weir_ir::{Diagnostic, Label, Severity, Source};

use super::excerpt::{Excerpt, Mark, excerpts};
use crate::wording::clean::{clean, clip};
use crate::wording::units::grouped;

/// At most this many diagnostics are shown; the rest is counted.
const SHOWN: usize = 40;
/// At most this many further places are shown with one diagnostic.
const SHOWN_LABELS: usize = 8;
/// Longest text beside a place, in characters.
const LABEL_LIMIT: usize = 160;

/// All diagnostics, one after the other, errors first when there are too many; without a newline at the end.
/// Colours are in it: the stream takes them out where they are not wanted.
pub fn render_all(source: &Source, diagnostics: &[&Diagnostic]) -> String {
    let mut shown: Vec<&Diagnostic> = diagnostics.to_vec();
    if shown.len() > SHOWN {
        sort_by_key(&mut shown, |diagnostic| std::cmp::Reverse(diagnostic.severity));
        shown.truncate(SHOWN);
    }
    let mut text: Vec<String> = shown.into_iter().map(|diagnostic| render(source, diagnostic)).collect();
    if diagnostics.len() > SHOWN {
        text.push(format!("… and {} more messages", grouped((diagnostics.len() - SHOWN) as u64)));
    }
    text.join("\n\n")
}

/// One diagnostic.
pub(super) fn render(source: &Source, diagnostic: &Diagnostic) -> String {
    let excerpts = excerpts(source, marks(diagnostic));
    let origin = excerpts.first().filter(|excerpt| excerpt.is_cut()).map(origin);
    let mut elements = snippets(excerpts);
    if let Some(help) = &diagnostic.help {
        elements.push(Level::HELP.message(clean(help)).into());
    }
    let title = level(diagnostic.severity).primary_title(clean(&diagnostic.message)).id(diagnostic.code);
    let text = Renderer::styled().render(&[title.elements(elements)]);
    match (origin, text.split_once('\n')) {
        (Some(origin), Some((title, rest))) => format!("{title}\n{origin}\n{rest}"),
        _ => text,
    }
}

/// Places of the source without a message of their own: an illustration.
pub(super) fn illustrate(source: &Source, labels: &[Label]) -> String {
    let marks = labels.iter().enumerate().map(|(at, label)| Mark::new(label.span, label.text.as_str(), at == 0));
    let group = Group::with_level(Level::NOTE).elements(snippets(excerpts(source, marks.collect())));
    Renderer::styled().render(&[group])
}

/// The place and the way out of a diagnostic whose message was already told.
pub(super) fn render_place(source: &Source, diagnostic: &Diagnostic) -> String {
    let mut elements = snippets(excerpts(source, marks(diagnostic)));
    elements.extend(diagnostic.help.iter().map(|help| Level::HELP.message(clean(help)).into()));
    Renderer::styled().render(&[Group::with_level(level(diagnostic.severity)).elements(elements)])
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

fn marks(diagnostic: &Diagnostic) -> Vec<Mark> {
    let mark = |label: &Label, is_primary| Mark::new(label.span, clip(&label.text, LABEL_LIMIT), is_primary);
    let further = diagnostic.secondary.iter().take(SHOWN_LABELS).map(|label| mark(label, false));
    std::iter::once(mark(&diagnostic.primary, true)).chain(further).collect()
}

fn snippets(excerpts: Vec<Excerpt>) -> Vec<Element<'static>> {
    excerpts.into_iter().map(snippet).collect()
}

/// An excerpt. One from the middle of a line goes without its place: the renderer would get the column wrong.
fn snippet(excerpt: Excerpt) -> Element<'static> {
    let path = (!excerpt.is_cut()).then(|| clean(excerpt.source.name()));
    let annotations: Vec<Annotation<'static>> = excerpt.marks.iter().map(annotation).collect();
    Snippet::source(excerpt.text).line_start(excerpt.line).path(path).annotations(annotations).into()
}

/// The place of an excerpt from the middle of a line, as the renderer would write it.
fn origin(excerpt: &Excerpt) -> String {
    let start = excerpt.marks.first().map_or(0, |mark| mark.range.start);
    let column = excerpt.column + excerpt.text.get(..start).map_or(0, |before| before.chars().count());
    let (name, line) = (clean(excerpt.source.name()), excerpt.line);
    let (style, indent) = (DEFAULT_LINE_NUM_STYLE, line.to_string().len());
    format!("{:indent$}{style}-->{style:#} {name}:{line}:{column}", "")
}

fn annotation(mark: &Mark) -> Annotation<'static> {
    let kind = if mark.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let label = (!mark.text.is_empty()).then(|| mark.text.clone());
    kind.span(mark.range.clone()).label(label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_ir::Span;

    fn plain(source: &Source, diagnostic: &Diagnostic) -> String {
        anstream::adapter::strip_str(&render(source, diagnostic)).to_string()
    }

    #[test]
    fn a_diagnostic_shows_place_reason_and_way_out() {
        let source = Source::new("p.weir", "shared x;\nthread P {\n    y = 1;\n}\n");
        let diagnostic = Diagnostic::error("unknown-name", "there is no `y`", Span::new(25, 26))
            .label("not declared")
            .also(Span::new(7, 8), "there is this one")
            .help("declare it: `shared y;`");
        assert_eq!(
            plain(&source, &diagnostic),
            "\
error[unknown-name]: there is no `y`
 --> p.weir:3:5
  |
1 | shared x;
  |        - there is this one
2 | thread P {
3 |     y = 1;
  |     ^ not declared
  |
  = help: declare it: `shared y;`"
        );
    }

    #[test]
    fn a_place_on_an_endless_line_is_shown_with_its_true_column() {
        let source = Source::new("p.weir", "a".repeat(10_000_000));
        let text = plain(&source, &Diagnostic::error("c", "m", Span::new(5_000_000, 5_000_003)).label("here"));
        assert!(text.len() < 1_000, "{} bytes", text.len());
        assert!(text.starts_with("error[c]: m\n --> p.weir:1:5000001\n  |\n1 | "), "{text}");
        assert!(text.ends_with("^^^ here"), "{text}");
    }

    #[test]
    fn escape_sequences_of_the_source_do_not_reach_the_terminal() {
        let source = Source::new("\u{1b}[2J.weir", "\u{1b}[31mred");
        let diagnostic = Diagnostic::error("c", "what is \u{1b}[0m?", Span::new(0, 1)).help("\u{7}");
        let rendered = plain(&source, &diagnostic);
        assert!(!rendered.contains(['\u{1b}', '\u{7}']), "{rendered:?}");
    }

    #[test]
    fn a_flood_is_counted_not_shown() {
        let source = Source::new("f", "x");
        let warning = Diagnostic::warning("c", "w", Span::new(0, 1));
        let error = Diagnostic::error("c", "the error", Span::new(0, 1));
        let many: Vec<&Diagnostic> = std::iter::repeat_n(&warning, 1_000).chain([&error]).collect();
        let text = render_all(&source, &many);
        assert!(text.contains("the error") && text.ends_with("… and 961 more messages"), "{text}");
    }
}
