//! Diagnostics as serializable types.

use serde::Serialize;
use weir_ir::{Diagnostic, Severity, Source, Span};

use crate::wording::clean::{clean, clip};

/// A message about the source.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiagnosticRecord {
    /// Severity.
    pub severity: SeverityName,
    /// Stable identifier in kebab case.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// The source that the spans refer to, if not the answer's `file`: another file, or an option such as `--target`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The primary span.
    #[serde(flatten)]
    pub place: PlaceRecord,
    /// The label of the span.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Secondary spans that explain it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<LabelRecord>,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// The severity of a message.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SeverityName {
    Note,
    Warning,
    Error,
}

/// A source span. Lines and columns are numbered from 1, columns in characters; the end is exclusive.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceRecord {
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

/// A source span with a label.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabelRecord {
    #[serde(flatten)]
    pub place: PlaceRecord,
    /// The label of the span.
    pub text: String,
}

impl PlaceRecord {
    fn new(source: &Source, span: Span) -> Self {
        let (start, end) = (source.line_column(span.start), source.line_column(span.end));
        Self { line: start.line, column: start.column, end_line: end.line, end_column: end.column }
    }
}

impl DiagnosticRecord {
    /// A diagnostic about `source`. Long texts are truncated: a name can be as long as the file.
    pub fn new(source: &Source, diagnostic: &Diagnostic) -> Self {
        const LIMIT: usize = 400;
        let also = diagnostic
            .secondary
            .iter()
            .map(|label| LabelRecord { place: PlaceRecord::new(source, label.span), text: clip(&label.text, LIMIT) });
        Self {
            severity: match diagnostic.severity {
                Severity::Note => SeverityName::Note,
                Severity::Warning => SeverityName::Warning,
                Severity::Error => SeverityName::Error,
            },
            code: diagnostic.code,
            message: clean(&diagnostic.message),
            file: None,
            place: PlaceRecord::new(source, diagnostic.primary.span),
            label: clip(&diagnostic.primary.text, LIMIT),
            also: also.collect(),
            help: diagnostic.help.as_deref().map(clean),
        }
    }

    /// Diagnostics about `source`.
    pub fn all(source: &Source, diagnostics: &[Diagnostic]) -> Vec<Self> {
        diagnostics.iter().map(|diagnostic| Self::new(source, diagnostic)).collect()
    }

    /// Diagnostics about `source`, in an answer about a file that messages call `file`.
    pub fn all_in_answer(source: &Source, diagnostics: &[Diagnostic], file: &str) -> Vec<Self> {
        let mut records = Self::all(source, diagnostics);
        if source.name() != file {
            records.iter_mut().for_each(|record| record.file = Some(source.name().to_owned()));
        }
        records
    }
}
