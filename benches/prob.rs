//! Certified probabilities: how much more a narrower interval takes.
//!
//! `cargo bench --bench prob` runs it. For each program and each width asked for: configurations that were looked at,
//! and milliseconds, with one worker. `-` is an interval that did not become as narrow as that, because of rounding or
//! within a minute.

#![allow(clippy::print_stdout)] // Printing is what it is for.

use std::path::Path;
use std::time::{Duration, Instant};

use weir::prob::{Question, Settings, cost, probability};
use weir::{Limits, Session};
use weir_ir::{Program, PropertyKind, Source, StateExpr};

/// How narrow an interval is asked for.
const WIDTHS: [f64; 6] = [1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10];

/// Three threads that each announce themselves and look for the next, again and again: can none of them see another?
const ROUND: &str = "
shared x, y, z;
thread A { let a; loop { x = 1; a = y; look: skip; x = 0; } }
thread B { let b; loop { y = 1; b = z; look: skip; y = 0; } }
thread C { let c; loop { z = 1; c = x; look: skip; z = 0; } }
forbid A at look && A.a == 0 && B at look && B.b == 0 && C at look && C.c == 0;
";

fn main() {
    print!("{:<34}", "");
    WIDTHS.iter().for_each(|width| print!("{width:>20.0e}"));
    println!();
    for name in ["litmus/sb", "mutex/dekker", "mutex/peterson", "papers/write-forever"] {
        row(name, &example(name));
    }
    row("three threads, three cells", &read("round.weir", ROUND.to_owned()));
}

fn row(name: &str, program: &Program) {
    let target = target(program);
    let settings = Settings::default();
    show(&format!("{name}: probability"), |width| {
        let question = Question { target: target.clone().into(), repeated: false, settings: settings.clone() };
        let answer = probability(program, &question, width, &session()).expect("an answer");
        answer.obstacle.is_none().then_some(answer.configurations)
    });
    show(&format!("{name}: cost"), |width| {
        let answer = cost(program, &target, &settings, width, &session()).expect("an answer");
        answer.obstacle.is_none().then_some(answer.configurations)
    });
}

fn show(name: &str, mut ask: impl FnMut(f64) -> Option<usize>) {
    print!("{name:<34}");
    for width in WIDTHS {
        let started = Instant::now();
        let cell = match ask(width) {
            Some(configurations) => format!("{configurations} {:.1}", started.elapsed().as_secs_f64() * 1e3),
            None => "-".to_owned(),
        };
        print!("{cell:>20}");
    }
    println!();
}

fn session() -> Session {
    Session::new(Limits { time: Some(Duration::from_secs(60)), ..Limits::default() })
}

fn example(name: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}.weir"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    read(&path.display().to_string(), text)
}

fn read(name: &str, text: String) -> Program {
    let source = Source::new(name.to_owned(), text);
    weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program
}

/// What the program's first property forbids, or asks for at the end.
fn target(program: &Program) -> StateExpr {
    let done = program.thread_ids().map(|thread| {
        let body = program.body(thread);
        let locations = body.location_ids().filter(|&location| body.is_done(location)).collect();
        StateExpr::Leaf(weir_ir::StateAtom::At { thread, locations })
    });
    match &program.properties[0].kind {
        PropertyKind::Forbid(condition) => condition.clone(),
        PropertyKind::Exists(condition) => {
            done.fold(condition.clone(), |all, done| StateExpr::binary(weir_ir::BinaryOp::And, done, all))
        }
        _ => panic!("no target"),
    }
}
