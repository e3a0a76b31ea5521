// Shared by the targets of the languages; included, since each target is a program of its own.

use std::time::{Duration, Instant};

use weir_ir::{Interrupt, Source};
use weir_syntax::Language;

/// Ends some time after it began.
struct Deadline(Instant);

impl Interrupt for Deadline {
    fn is_over(&self) -> bool {
        self.0.elapsed() > Duration::from_secs(2)
    }
}

/// Reads the text and prints it again, if it is one; what is printed can be read.
fn read(language: Language, bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let source = Source::new("fuzz", text);
    let Ok(parsed) = language.parse_until(&source, &[], &Deadline(Instant::now())) else { return };
    assert_eq!(weir_ir::validate(&parsed.program), []);
    if text.len() > 2_000 {
        return;
    }
    if let Some(Ok(printed)) = language.print(&parsed.program) {
        let again = Source::new("printed", printed.as_str());
        let again = language.parse_until(&again, &[], &Deadline(Instant::now()));
        assert!(!matches!(again, Err(weir_syntax::ParseError::Invalid(_))), "{text}\n---\n{printed}");
    }
}
