//! What each construct becomes, step by step.

use crate::dump::{edges, program, spans, steps, whole};

#[test]
fn peterson() {
    let p = program(
        "shared flag[2], turn;
         thread P0 { loop { flag[0] = 1; turn = 1; while flag[1] == 1 && turn == 1 { } critical: skip; flag[0] = 0; } }
         forbid P0 at critical;",
    );
    println!("{}", whole(&p));
    println!("{:?}", spans(&p, &p.threads[0].body));
    println!("{:?}", p.threads[0].body.locations.iter().map(|l| p.source.slice(l.span)).collect::<Vec<_>>());
    println!("{:#?}", steps("shared x, y;", "let a; choose { x = 1; } or { } or { b: loop { y = 2; if a == 1 { break; } } } loop { choose { x = 3; } or { } }"));
    let p = program("shared x; proc f(a, b) { l: let c = a + x; if c > b { return c; } return 7; } proc g() { } proc h(n) { if n > 0 { return h(n - 1); } return x; }
     thread T(i)[2] { let r = f(x, i); g(); f(1, 2 * i); let s = 1 + f(x, x); r = h(3); if i > 0 { x = 4; }  let q = r && x; q = any 0..3; q = cas(x, 0, q); loop {}   } thread U { goto a; a: jump b; b: skip; }
     forbid T at f.l; forbid T[1].r == 3 && U at end; exists count(T at end) == 2; ");
    println!("{}", whole(&p));
    println!("{:?}", spans(&p, &p.threads[0].body));
}
