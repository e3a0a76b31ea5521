//! Corner cases that random programs seldom hit, in all exports that a checker can be run on.

use weir_ir::{Program, Uninterrupted};
use weir_testkit::{Goal, Model, explore};

use crate::support::read;

/// Programs whose properties tell right from wrong.
pub(crate) const CORNERS: [&str; 5] = [
    // A compare-and-swap is only blocked by the range if it would write.
    "shared x: 0..1, y;\nthread P { let ok = cas(x, 1, 7); y = 1; }\nthread Q { let ok = cas(x, 0, 7); y = 2; }\n\
     forbid y == 1;\nforbid y == 2;\nforbid x == 7;\nforbid deadlock;\n",
    // Addresses of loads in one step are evaluated before any register changes.
    "shared a[4] = {2, 1, 3, 0};\nthread P { let r, s; r, s = a[r], a[r]; r, s = a[s], a[r]; }\n\
     forbid P at end && P.r == 3 && P.s == 3;\nforbid P at end && P.s == 2;\n",
    // A computed address reaches cells with a range, a width and neither.
    "shared x: 0..1, y: u8, z;\nthread P { let p = any 1..3; mem[p] = 257 + p; }\n\
     thread Q { let r = fetch_add(y, 255); }\nforbid x == 258;\nforbid y == 3;\nforbid y == 2;\nforbid y == 255;\n\
     forbid z == 260;\nforbid z == 4;\nforbid deadlock;\n",
    // Waiting for several cells, with the lock held by another thread; a failed assertion that blocks only its thread.
    "shared x, y, z;\nthread P { await x == 1 && y == 1; z = 1; }\nthread Q { lock; x = 1; y = 1; x = 0; unlock; }\n\
     thread R { let r = x; assert r == 0; x = 1; }\nforbid z == 1 && x == 0;\nforbid z == 1;\nforbid deadlock;\n",
    // Division by zero gives zero; shifts take the low six bits; the sign is kept.
    "shared x: 0..2, d, m, l, r;\nthread W { let w = any 0..2; x = w; }\n\
     thread P { let v = x; d = (0 - 7) / v; m = (0 - 7) % v; l = v << 64; r = (0 - 8) >> (v + 65); }\n\
     forbid d == 0 && P at end;\nforbid d == 0 - 3;\nforbid m == 0 - 1;\nforbid l == 2;\nforbid l == 1 && r != 0 - 2;\n\
     forbid r == 0 - 4;\nforbid m > 0;\n",
];

/// The numbers of the properties that the reference sees under SC: from 1, with one more for assertions.
pub(crate) fn seen(program: &Program) -> Vec<usize> {
    let outcome = explore(program, Model::Sc, 100_000).expect("an ordinary program");
    assert!(outcome.complete);
    let number = |goal: &Goal| match goal {
        Goal::Property(property) => property.index() + 1,
        Goal::Assertion(_) => program.properties.len() + 1,
    };
    let mut seen: Vec<usize> = outcome.goals.keys().map(number).collect();
    seen.dedup();
    seen
}

#[test]
fn btor2_gets_corner_cases_right() {
    for (at, text) in CORNERS.iter().enumerate() {
        let program = read(text);
        let Ok(export) = weir_syntax::btor2::print(&program, &Uninterrupted) else {
            assert_eq!(at, 2, "{text}");
            continue;
        };
        let found = weir_testkit::btor2::explore(&export.text, 100_000).expect("a file");
        let name = |number: &usize| match *number {
            number if number > program.properties.len() => "assertions".to_owned(),
            number => format!("property_{number}"),
        };
        let expected: std::collections::BTreeSet<String> = seen(&program).iter().map(name).collect();
        assert_eq!(found.bad, expected, "{text}\n{}", export.text);
    }
}

/// One property of each, chosen so that all are checked over time; all of them if the variable is set.
#[test]
fn spin_gets_corner_cases_right() {
    if !crate::spin::tools() {
        return;
    }
    let is_full = std::env::var_os("WEIR_CORNERS").is_some();
    for (at, text) in CORNERS.iter().enumerate() {
        let program = read(text);
        let export = weir_syntax::promela::print(&program, &Uninterrupted).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        let seen = seen(&program);
        for number in (1..=program.properties.len() + 1).filter(|number| is_full || *number == at % 3 + 1) {
            let expected = seen.contains(&number);
            let found = crate::spin::spin(&export.text, number, false);
            assert_eq!(
                found == crate::spin::Answer::Violated,
                expected,
                "{number}: {found:?}\n{text}\n{}",
                export.text
            );
        }
    }
}

#[test]
fn cbmc_gets_corner_cases_right() {
    if !crate::support::have(&[("cbmc", "--version"), ("timeout", "--version")]) {
        return;
    }
    for text in CORNERS {
        let program = read(text);
        let export = weir_syntax::c::print(&program, weir_syntax::c::Purpose::Cbmc, &Uninterrupted).expect("it fits");
        for number in seen(&program) {
            let is_deadlock = |property: &weir_ir::Property| property.kind == weir_ir::PropertyKind::ForbidDeadlock;
            if program.properties.get(number - 1).is_some_and(is_deadlock) {
                continue;
            }
            assert_ne!(crate::verifier::cbmc(&export.text, number, "4"), Some(false), "{number}\n{text}");
        }
    }
}
