#![no_main]

use weir_ir::{Source, Uninterrupted};
use weir_syntax::nets::{NetFormat, ThreadQuestion};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let source = Source::new("fuzz", text);
    for format in NetFormat::ALL {
        let _ = format.parse_until(&source, &ThreadQuestion::default(), &Uninterrupted);
    }
});
