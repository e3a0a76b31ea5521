//! Programs that are small to read and large to search for whoever does not see what matters in them.

use std::fmt::Write as _;

/// A program for each number.
pub(crate) struct Cliff {
    pub(crate) name: &'static str,
    pub(crate) write: fn(u32) -> String,
    pub(crate) sizes: &'static [u32],
}

/// All of them.
pub(crate) const CLIFFS: &[Cliff] = &[
    Cliff { name: "local-steps", write: local_steps, sizes: &[100, 1000, 10_000] },
    Cliff { name: "counter", write: counter, sizes: &[100, 1000, 10_000] },
    Cliff { name: "values", write: values, sizes: &[10, 100, 1000] },
    Cliff { name: "cells", write: cells, sizes: &[100, 1000, 10_000, 100_000] },
    Cliff { name: "touched-cells", write: touched_cells, sizes: &[100, 1000, 10_000, 100_000] },
    Cliff { name: "identical-threads", write: identical_threads, sizes: &[2, 4, 8, 12, 16, 32] },
];

/// Two threads of so many steps that nobody else can see, each between a store and a load.
fn local_steps(steps: u32) -> String {
    let mut text = "shared x, y;\n\n".to_owned();
    for (name, own, other) in [("P0", "x", "y"), ("P1", "y", "x")] {
        let _ = write!(text, "thread {name} {{\n    let a;\n    {own} = 1;\n    fence;\n");
        (0..steps).for_each(|_| text.push_str("    a = a + 1;\n"));
        let _ = write!(text, "    let r = {other};\n}}\n\n");
    }
    text.push_str("always P0.r == 1 || P1.r == 1;\n");
    text
}

/// A loop that counts in a register, beside a thread that waits for its end.
fn counter(rounds: u32) -> String {
    format!(
        "shared x, y;\n\nthread P0 {{\n    let i;\n    while i < {rounds} {{\n        i = i + 1;\n    }}\n    x = 1;\n    \
         y = 1;\n}}\n\nthread P1 {{\n    await y == 1;\n    let r = x;\n}}\n\nalways P1.r == 1;\n"
    )
}

/// A value out of so many, of which only matters whether it is zero.
fn values(most: u32) -> String {
    format!(
        "shared x: 0..{most}, y: 0..{most};\n\nthread P0 {{\n    let v = any 1..{most};\n    x = v;\n    fence;\n    \
         let r = y;\n}}\n\nthread P1 {{\n    let v = any 1..{most};\n    y = v;\n    fence;\n    let r = x;\n}}\n\n\
         always P0.r != 0 || P1.r != 0;\n"
    )
}

/// A store to any of so many cells, and a load of any.
fn cells(count: u32) -> String {
    format!(
        "shared a[{count}];\n\nthread P0 {{\n    let i = any 0..{last};\n    a[i] = 1;\n}}\n\nthread P1 {{\n    \
         let i = any 0..{last};\n    let r = a[i];\n}}\n\nalways P1.r <= 1;\n",
        last = count - 1
    )
}

/// Four cells out of so many, picked by values that are not written down as constants.
fn touched_cells(count: u32) -> String {
    format!(
        "shared a[{count}];\n\nthread P0 {{\n    let i = any 0..1;\n    a[i * {half}] = 1;\n    fence;\n    \
         let r = a[i * {half} + 1];\n}}\n\nthread P1 {{\n    let i = any 0..1;\n    a[i * {half} + 1] = 1;\n    \
         fence;\n    let r = a[i * {half}];\n}}\n\nalways P0.r <= 1 && P1.r <= 1;\n",
        half = count / 2
    )
}

/// So many identical threads that take the same lock.
fn identical_threads(threads: u32) -> String {
    format!(
        "shared free = 1, inside;\n\nthread P(i)[{threads}] {{\n    let got;\n    loop {{\n        \
         got = xchg(free, 0);\n        if got == 1 {{ break; }}\n    }}\n    inside = inside + 1;\n    \
         assert inside == 1;\n    inside = inside - 1;\n    free = 1;\n}}\n"
    )
}
