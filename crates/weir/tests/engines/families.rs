//! Every program of some small shapes: for each construct of the language all pairs of a few bodies that use it.
//! Exactly what the reference reaches is reached in every way of asking, and as many questions have an answer as ever
//! had.

use weir_ir::{Program, Source};

use crate::exactly::{Tallies, check, questioned};
use crate::ways::Way;

/// Programs made of all unordered pairs of the bodies, equal ones included.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    declarations: &'static str,
    /// Whether each body also comes with `x` and `y` in each other's place.
    is_mirrored: bool,
    bodies: &'static [&'static str],
}

pub(crate) const FAMILIES: [Family; 14] = [
    Family {
        name: "choose",
        declarations: "shared x, y;",
        is_mirrored: true,
        bodies: &[
            "choose { x = 1; } or { y = 1; } let r = y;",
            "x = 1; choose { fence; } or { skip; } let r = y;",
            "y = 1; choose { let r = x; } or { let s = y; } or { fence; }",
            "choose { x = 1; y = 1; } or { y = 2; x = 2; }",
            "let r = x; choose { assume r == 1; } or { assume r == 2; y = 3; }",
            "y = 1; let r = x;",
            "let r = y; if r == 1 { x = 2; } else { let s = x; x = 3; }",
        ],
    },
    Family {
        name: "locks",
        declarations: "shared x, y;",
        is_mirrored: true,
        bodies: &[
            "lock; x = 1; y = 1; unlock;",
            "lock; let r = x; if r == 0 { x = 1; } else { y = 2; } unlock;",
            "x = 1; let r = y;",
            "x = 1; lock; let r = y; unlock;",
            "y = 1; lock; unlock; let r = x;",
            "lock; x = 2; let r = x;",
            "choose { lock; } or { skip; } y = 2; choose { unlock; } or { skip; } let r = x;",
            "let r = x; let s = y; unlock;",
        ],
    },
    Family {
        name: "snapshots",
        declarations: "shared x, y;",
        is_mirrored: true,
        bodies: &[
            "let a, b; a, b = x, y;",
            "x = 1; let a, b; a, b = x, y;",
            "y = 1; x = 1; let a, b, c; a, b, c = y, x, y;",
            "x = 1; y = 1; x = 2;",
            "y = 2; let a, b; a, b = x, x;",
            "let a, b; a, b = y, x; if a == 1 { x = 3; }",
            "x = 1; fence; let a, b; b, a = x, y;",
            "lock; y = 1; x = 1; unlock; let a, b; a, b = x, y;",
        ],
    },
    Family {
        name: "arrays",
        declarations: "shared a[3] = {0, 1, 2}, x;",
        is_mirrored: false,
        bodies: &[
            "let r = x; a[r] = 3; let s = a[1];",
            "x = 1; let r = x; let s = a[r];",
            "let r = a[0]; a[r] = r + 1; let s = a[1];",
            "x = 2; a[0] = 1; let s = a[2];",
            "let r = any 0..2; a[r] = 4; let s = a[0];",
            "let r = x; mem[&a + r] = 5; x = 1;",
            "let p = &x; *p = 1; let r = *p; let s = a[r];",
        ],
    },
    Family {
        name: "ranges",
        declarations: "shared x: 0..1, y: 1..2 = 2, z;",
        is_mirrored: false,
        bodies: &[
            "x = 1; let r = z; x = r;",
            "z = 2; let r = x;",
            "z = 1; y = 0; let r = x;",
            "let r = y; x = r; z = 3;",
            "let r = fetch_add(x, 1); z = 1;",
            "let r = fetch_add(y, -1); let s = z;",
            "let r = any -1..2; x = r; let s = y;",
            "let r = cas(x, 0, 2); let s = xchg(y, 1);",
        ],
    },
    Family {
        name: "havoc",
        declarations: "shared x, y;",
        is_mirrored: true,
        bodies: &[
            "let r = any 0..2; x = r; let s = y;",
            "let r = any 0..1; if r { x = 1; } let s = y;",
            "let r = any -1..0; y = r; let s = x;",
            "let r = any 1..1; y = r; let s = x;",
            "let r = x; let s = any 0..1; assume r == s; y = 2;",
            "y = 1; let r = any 0..1; let s = x; assert r <= s + 1;",
        ],
    },
    Family {
        name: "loops",
        declarations: "shared x, y;",
        is_mirrored: true,
        bodies: &[
            "loop { x = 1; x = 0; }",
            "loop { let r = y; if r == 1 { break; } x = 1; }",
            "let r = 0; while r == 0 { r = x; } y = 1;",
            "y = 1; let r = x; while r == 1 { r = x; y = 2; }",
            "loop { choose { x = 1; } or { break; } } let r = y;",
            "loop { x = 1; fence; let r = y; if r == 0 { critical: skip; } x = 0; }",
            "y = 1; loop { let r = x; x = 1 - r; fence; }",
        ],
    },
    Family {
        name: "exchanges",
        declarations: "shared x: 0..3, y: 0..3;",
        is_mirrored: true,
        bodies: &[
            "let r = xchg(x, 1); let s = y;",
            "x = 1; let r = cas(y, 0, 1);",
            "let r = cas(x, 1, 2); y = 1; let s = x;",
            "xchg(y, 2); let r = x;",
            "let r = fetch_add(x, 1); let s = fetch_add(x, -1);",
            "cas(x, 0, 3); let r = y; x = 1;",
            "y = 1; fetch_add(x, 2); let r = y;",
            "let r = cmpxchg(x, 0, 1); y = r; let s = x;",
        ],
    },
    Family {
        name: "ends",
        declarations: "shared x, y;",
        is_mirrored: true,
        bodies: &[
            "x = 1; terminate; y = 1;",
            "let r = x; if r == 1 { terminate; } y = 1; let s = x;",
            "y = 1; let r = x; assert r == 0; x = 2;",
            "x = 1; let r = y; assert r == 0;",
            "y = 1; let r = x; assume r == 1; x = 2;",
            "x = 1; assume false; y = 1;",
            "assert true; y = 2; skip; let r = x;",
        ],
    },
    Family {
        name: "extremes",
        declarations: "shared x = -9223372036854775808, y = 9223372036854775807;",
        is_mirrored: false,
        bodies: &[
            "x = 9223372036854775807; let r = y; y = r + 1;",
            "let r = x; y = r - 1; let s = x;",
            "let r = x; if r < 0 { y = -1; } x = 0;",
            "mem[-9223372036854775808] = 1; let r = mem[9223372036854775807]; x = r;",
            "mem[9223372036854775807] = 2; let r = mem[-9223372036854775808]; y = r;",
        ],
    },
    Family {
        name: "coherence",
        declarations: "shared x, y;",
        is_mirrored: true,
        bodies: &[
            "x = 1; x = 2; let r = x; let s = y;",
            "y = 1; x = 1; y = 2; let r = x;",
            "x = 1; y = 1; x = 1; let r = y;",
            "let r = x; let s = x; let t = y;",
            "let r = y; x = 3; let s = x; fence; let t = x;",
            "y = 2; let r = y; x = r; x = r;",
        ],
    },
    Family {
        name: "membarriers",
        declarations: "shared x, y;",
        is_mirrored: true,
        bodies: &[
            "x = 1; let r = y;",
            "x = 1; membarrier; let r = y;",
            "membarrier; x = 1; let r = y; membarrier;",
            "let r = x; membarrier; let s = y;",
            "x = 1; y = 1; let r = y; choose { membarrier; } or { fence; } let s = x;",
            "loop { membarrier; let r = x; if r == 1 { break; } } y = 2;",
            "lock; x = 1; let r = y; unlock; membarrier;",
            "lock; membarrier; let r = x; y = 1; unlock; let s = x;",
            "y = 1; let r = x; assert r == 0; membarrier; x = 2;",
            "x = 1; let r = y; choose { assume r == 0; let s = x; } or { membarrier; let s = y; x = 2; }",
        ],
    },
    Family {
        name: "awaits",
        declarations: "shared x, y;",
        is_mirrored: true,
        bodies: &[
            "x = 1; await y == 1; let r = x;",
            "await x == 1; y = 1; let r = x;",
            "x = 1; let r = y; await x == 1 && y == 0; x = 2;",
            "let r; x = 1; await r = y if r != 1; let s = x;",
            "let r, s; y = 1; await r, s = x, y if r <= s; x = s + 1;",
            "x = 1; fence; await y != 2; let r = y; y = 2;",
            "lock; await x == 0; y = 1; unlock; let r = x;",
            "let r = any 0..1; y = 1; choose { await x == r; } or { await mem[&x + r] == 1; } let s = x;",
        ],
    },
    Family {
        name: "widths",
        declarations: "shared x: u8 = 255, y: u8, z[2]: u16 = 65535;",
        is_mirrored: false,
        bodies: &[
            "x = 256; let r = y; y = r - 256;",
            "y = 511; let r = x; if r == 0 { y = 3; }",
            "let r = fetch_or(x, 257); let s = y;",
            "let r = fetch_xor(y, 511); let s = x; x = s + 256;",
            "let r = cas(x, 255, 256); let s = xchg(y, -1);",
            "let r = y; mem[&z + r] = 65536 + 7; let s = z[0];",
            "let p = any 1..2; *p = 300; let r = *p; let s = z[1];",
            "let r = cmpxchg(z[0], 65535, -2); y = r; await x == 0 || y == 255; let s = y;",
        ],
    },
];

impl Family {
    /// The programs, each with its text. A program and its mirror image are one.
    pub(crate) fn programs(&self) -> Vec<(String, Program)> {
        let count = self.bodies.len();
        let pairs = (0..count).flat_map(|left| (left..count).map(move |right| (left, right)));
        let mut programs = Vec::new();
        for (left, right) in pairs {
            programs.push(self.program(self.bodies[left], self.bodies[right]));
            if self.is_mirrored {
                programs.push(self.program(self.bodies[left], &mirrored(self.bodies[right])));
            }
        }
        programs
    }

    fn program(&self, left: &str, right: &str) -> (String, Program) {
        let text = format!("{} thread P {{ {left} }} thread Q {{ {right} }}", self.declarations);
        (text.clone(), parse(&text))
    }
}

/// The text with the names `x` and `y` in each other's place.
fn mirrored(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_part = |at: Option<&u8>| at.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let swap = |(at, letter): (usize, char)| {
        let alone = !is_part(at.checked_sub(1).and_then(|at| bytes.get(at))) && !is_part(bytes.get(at + 1));
        match letter {
            'x' if alone => 'y',
            'y' if alone => 'x',
            _ => letter,
        }
    };
    text.char_indices().map(swap).collect()
}

/// A program from its text.
pub(crate) fn parse(text: &str) -> Program {
    let parsed = weir_syntax::weir::parse(&Source::new("family", text), &weir_syntax::weir::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{text}: {errors:#?}")).program
}

/// Asked about every program.
const ALWAYS: [Way; 7] = [Way::Tso, Way::Lazy, Way::LazyFirst, Way::Dual, Way::Set, Way::Queue(1), Way::Coherence];

/// Asked about every few programs.
const BY_TURNS: [Way; 14] = [
    Way::Sc,
    Way::Multiset,
    Way::DepthFirst,
    Way::Portfolio,
    Way::Workers,
    Way::Queue(2),
    Way::KeepDead,
    Way::Counting(1),
    Way::LazyWorkers,
    Way::Queue(3),
    Way::SetDepthFirst,
    Way::Counting(0),
    Way::Queue(0),
    Way::Fused,
];

/// The ways in which the program of this number is asked about.
pub(crate) fn ways(number: usize) -> Vec<Way> {
    let turn = (0..3).map(|at| BY_TURNS[(3 * number + at) % BY_TURNS.len()]);
    ALWAYS.into_iter().chain([Way::Persistent, Way::Dynamic, Way::Cartesian]).chain(turn).collect()
}

/// Asks about every program of a family.
fn agree(name: &str) -> Tallies {
    let family = FAMILIES.iter().find(|family| family.name == name).expect("a family");
    let mut tallies = Tallies::new();
    for (number, (text, program)) in family.programs().into_iter().enumerate() {
        check(&text, &questioned(&program, number as u64), &ways(number), &mut tallies);
    }
    tallies
}

/// How many questions were answered in the ways that are asked about every program, in their order: so many must be.
fn all_is_answered(name: &str, least: [u64; 7]) {
    let tallies = agree(name);
    let found = ALWAYS.map(|way| tallies[&way].answered());
    let enough = found.iter().zip(least).all(|(found, least)| *found >= least);
    assert!(enough, "{name}: {found:?} where {least:?} are wanted: {tallies:?}");
    // Whatever can be reached, refinement finds a run to.
    let reached = tallies[&Way::Tso].reached;
    assert!(tallies[&Way::Coherence].reached >= reached, "{name}: {tallies:?}");
    // Those that are asked by turns are as good as the one they vary.
    let varied = [Way::Sc, Way::DepthFirst, Way::Workers, Way::KeepDead, Way::Fused, Way::Persistent, Way::Dynamic];
    for way in varied.into_iter().chain([Way::Cartesian, Way::Portfolio]) {
        let tally = &tallies[&way];
        assert!(tally.answered() == tally.asked || name == "loops", "{name}, {way:?}: {tally:?}");
    }
}

macro_rules! families {
    ($($name:ident $least:expr),* $(,)?) => {
        $(#[test]
        fn $name() {
            all_is_answered(stringify!($name), $least);
        })*
    };
}

families!(
    choose [222, 222, 222, 166, 161, 166, 166],
    locks [292, 226, 226, 220, 220, 220, 220],
    snapshots [293, 197, 197, 221, 214, 216, 221],
    arrays [112, 112, 112, 84, 83, 84, 84],
    ranges [143, 143, 143, 107, 107, 107, 107],
    havoc [180, 180, 180, 138, 138, 138, 138],
    loops [76, 184, 175, 163, 162, 163, 163],
    exchanges [292, 292, 292, 220, 215, 220, 220],
    ends [278, 278, 278, 222, 216, 222, 222],
    extremes [61, 61, 61, 31, 45, 46, 46],
    coherence [163, 163, 152, 121, 118, 120, 121],
    widths [144, 133, 134, 108, 103, 107, 108],
    awaits [297, 247, 245, 221, 217, 225, 225],
    membarriers [464, 426, 426, 354, 353, 354, 354],
);
