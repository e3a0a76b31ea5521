#![no_main]

include!("language.rs");

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(Language::Litmus, bytes));
