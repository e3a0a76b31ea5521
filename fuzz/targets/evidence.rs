#![no_main]

// Saved runs and certificates. The program is not safe: whatever a certificate says, it is not accepted.

include!("program.rs");

use weir_ir::Uninterrupted;
use weir_report::saved::{Question, Saved, SavedCertificate};
use weir_witness::{Goal, Model};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    match Saved::parse(bytes) {
        Ok(Saved::Run(saved)) => {
            let program = program();
            let _ = ask(&program, false, |question| saved.replay(question).is_ok());
            let _ = ask(&program, true, |question| saved.replay(question).is_ok());
        }
        Ok(Saved::Proof(saved)) => refuse(&saved),
        Ok(Saved::NetProof(_)) | Err(_) => {}
    }
});

/// Asks about safety, or about robustness.
fn ask<R>(program: &Program, robust: bool, ask: impl FnOnce(&Question<'_>) -> R) -> R {
    let goals = [if robust { Goal::NotRobust } else { Goal::Property(weir_ir::PropertyId(0)) }];
    ask(&Question { program, language: Language::Weir, model: Model::Tso, goals: &goals })
}

/// No certificate is accepted.
fn refuse(saved: &SavedCertificate) {
    let program = program();
    for robust in [false, true] {
        let is_accepted = ask(&program, robust, |question| saved.check(question, &Uninterrupted).is_ok());
        assert!(!is_accepted, "a false proof is accepted");
    }
}
