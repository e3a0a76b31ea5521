//! Copies of a thread that store, compare and index by their numbers: of attacks that are images of each other only one
//! is asked about. Random bodies, some of which are *almost* symmetric, compared with the definitions.

use weir_ir::{Program, Source};
use weir_testkit::Rng;
use weir_testkit::traces::Bounds;

use crate::reference::{Count, judge};

/// What may wait, and what may overtake it.
const STORES: [&str; 3] = ["flag[i] = 1;", "x = 1;", "owner = i + 1;"];
const LOADS: [&str; 4] = ["r = y;", "r = x;", "r = flag[any 0..N - 1];", "q = turn; r = flag[q];"];

/// Statements that do not tell the copies apart.
const SYMMETRIC: [&str; 14] = [
    "flag[i] = 1;",
    "flag[i] = 2;",
    "owner = i + 1;",
    "turn = i;",
    "x = 1;",
    "y = 1;",
    "r = x;",
    "r = y;",
    "r = owner;",
    "q = turn; r = flag[q];",
    "r = flag[any 0..N - 1];",
    "if r == 0 { fence; }",
    "if r == i + 1 { r = y; }",
    "r = xchg(z, i + 1);",
];

/// Statements that do.
const ASYMMETRIC: [&str; 6] = [
    "if i == 0 { fence; }",
    "if i == 1 { r = x; }",
    "r = flag[0];",
    "if i < 1 { flag[1] = 1; }",
    "owner = 1; r = x;",
    "if r < i { x = 2; }",
];

fn text(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let asymmetric = *rng.pick(&[0, 0, 25]);
    let (copies, most) = *rng.pick(&[(2, 4), (2, 3), (3, 2)]);
    let mut body = String::new();
    for _ in 0..rng.between(0, most - 2) {
        body += if rng.chance(asymmetric) { rng.pick::<&str>(&ASYMMETRIC) } else { rng.pick::<&str>(&SYMMETRIC) };
        body.push('\n');
    }
    let (store, load) = (rng.pick::<&str>(&STORES), rng.pick::<&str>(&LOADS));
    let beside = if rng.chance(30) { "thread Q { x = 2; let s = flag[0]; }" } else { "" };
    format!(
        "const N = {copies};\nshared owner, turn, flag[N], x, y, z;\n\
         thread P(i)[N] {{\nlet q, r;\n{store}\n{body}{load}\n}}\n{beside}\n"
    )
}

fn parsed(text: &str) -> Program {
    let source = Source::new("copies.weir", text);
    weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program
}

#[test]
fn attacks_of_copies_agree_with_the_definition() {
    let seeds = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(50);
    let mut count = Count::default();
    for seed in 0..seeds {
        let text = text(seed);
        judge(&parsed(&text), Bounds { instructions: 24, ways: 3_000 }, &mut count)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
    }
    let least = |found: usize, percent: usize| found * 100 >= percent * count.programs;
    assert!(least(count.decided, 80) && least(count.not_robust, 10) && least(count.answered[0], 100), "{count:?}");
}
