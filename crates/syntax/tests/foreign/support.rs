//! Texts, and what is said about them.

use std::path::{Path, PathBuf};

use weir_ir::{Diagnostic, Source};
use weir_syntax::Parsed;

/// The languages read here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    Rmm,
    Trencher,
}

impl Language {
    pub(crate) fn parse(self, source: &Source) -> Result<Parsed, Vec<Diagnostic>> {
        match self {
            Self::Rmm => weir_syntax::rmm::parse(source),
            Self::Trencher => weir_syntax::trencher::parse(source),
        }
    }

    /// Our own programs in the language.
    pub(crate) fn own_programs(self) -> Vec<(PathBuf, String)> {
        let (folder, extension) = match self {
            Self::Rmm => ("rmm", "rmm"),
            Self::Trencher => ("trencher", "txt"),
        };
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
        let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension() == Some(extension.as_ref())).collect();
        paths.sort();
        assert!(!paths.is_empty());
        paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
    }
}

/// `line:column code` of each diagnostic.
pub(crate) fn places(source: &Source, diagnostics: &[Diagnostic]) -> Vec<String> {
    let place = |diagnostic: &Diagnostic| {
        let at = source.line_column(diagnostic.primary.span.start);
        format!("{}:{} {}", at.line, at.column, diagnostic.code)
    };
    diagnostics.iter().map(place).collect()
}

/// Checks what is said about a text that is wrong.
pub(crate) fn complains(language: Language, text: &str, expected: &[&str]) {
    let source = Source::new("test", text);
    match language.parse(&source) {
        Ok(_) => panic!("no complaint about\n{text}"),
        Err(errors) => {
            assert_eq!(places(&source, &errors), expected, "{text}\n{errors:#?}");
            assert!(errors.iter().all(|error| !error.message.is_empty()));
        }
    }
}

/// Checks the warnings about a text that is right.
pub(crate) fn warns(language: Language, text: &str, expected: &[&str]) {
    let source = Source::new("test", text);
    let parsed = language.parse(&source).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    assert_eq!(places(&source, &parsed.warnings), expected, "{:#?}", parsed.warnings);
    assert_eq!(weir_ir::validate(&parsed.program), []);
}
