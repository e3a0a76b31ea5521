// The program that evidence is about, which is not safe.

use weir_ir::{Program, Source};
use weir_syntax::Language;

const TEXT: &str = "shared x, y; thread P { x = 1; skip; let r = y; } thread Q { y = 1; skip; let s = x; } \
                    forbid P at end && Q at end && P.r == 0 && Q.s == 0;";

fn program() -> Program {
    Language::Weir.parse(&Source::new("fuzz.weir", TEXT), &[]).expect("a program").program
}
