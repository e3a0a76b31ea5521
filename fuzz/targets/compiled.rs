#![no_main]

use std::time::{Duration, Instant};

use weir_ir::Interrupt;

/// Ends some time after it began.
struct Deadline(Instant);

impl Interrupt for Deadline {
    fn is_over(&self) -> bool {
        self.0.elapsed() > Duration::from_secs(2)
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let options = weir_x86::Options {
        threads: vec!["push(&nodes[1])".into(), "pop(0)".into()],
        init: vec!["setup(4)".into()],
        properties: vec!["forbid top == 1".into()],
        ..Default::default()
    };
    let files = |path: &str| weir_x86::SourceFile { name: path.to_owned(), text: None };
    let _ = weir_x86::read("fuzz.o", bytes, &options, &files, &Deadline(Instant::now()));
});
