//! What threads return: properties about it, and the code that they leave as it is.

use weir_ir::{Expr, Instruction, PropertyId, ThreadId};
use weir_testkit::{Goal, Model, explore};
use weir_x86::{Options, ReadError};

use crate::compiler::{Folder, gcc};

const CODE: &str = "
#include <assert.h>
int x;
unsigned char flag;
int negative(int n) { x = 5; return n - 2; }
unsigned char byte(void) { x = 5; return flag - 1; }
void nothing(void) { x = 5; }
int checked(int n) { assert(x == 0); return n; }
int endless(void) { for (;;) x = 1; }
";

fn options(threads: &[&str], property: &str) -> Options {
    let threads = threads.iter().map(|&call| call.into()).collect();
    Options { threads, properties: vec![property.into()], ..Options::default() }
}

/// Whether a run reaches what a property is about.
fn is_reached(folder: &Folder, threads: &[&str], property: &str) -> bool {
    let program = crate::read("code.o", &folder.read("code.o"), &options(threads, property));
    let found = explore(&program, Model::Tso, 100_000).expect("supported");
    found.goals.contains_key(&Goal::Property(PropertyId(0)))
}

#[test]
fn a_result_is_one_once_the_thread_has_ended() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    for level in ["-O0", "-O2"] {
        gcc(&folder, &["-g", level, "-c", "code.c", "-o", "code.o"]);
        let reached = |property: &str| is_reached(&folder, &["P=negative(3)", "Q=negative(1)"], property);
        for (property, expected) in [
            ("P.result == 1", true),
            ("P.eax == 1", true),
            // In the middle, a register holds something else, or nothing yet.
            ("P.result != 1", false),
            ("!(P.result == 1)", false),
            ("P.result == 0 || P.result == 3", false),
            ("P.result == 1 && x == 0", false),
            ("P.result == 1 || x == 0", true),
            ("x == 5 && !(P.result == 1 && Q.result == -1)", false),
            ("!(P.result == 1 && x == 5) && !(P.result == 1)", false),
            // Of the type that the function returns.
            ("Q.result == -1", true),
            ("Q.rax == -1", false),
            ("P.result + Q.result == 0", true),
        ] {
            assert_eq!(reached(&format!("forbid {property}")), expected, "{level}: {property}");
        }
        assert!(is_reached(&folder, &["P=byte()"], "forbid P.result == 255"), "{level}");
    }
}

#[test]
fn what_has_no_result_is_refused() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    gcc(&folder, &["-g", "-O1", "-c", "code.c", "-o", "code.o"]);
    let refused = |thread: &str, property: &str| {
        let files = |path: &str| weir_x86::SourceFile { name: path.to_owned(), text: None };
        let options = options(&[thread], property);
        match weir_x86::read("code.o", &folder.read("code.o"), &options, &files, &weir_ir::Uninterrupted) {
            Err(ReadError::Refused(refusal)) => refusal.message,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        refused("nothing()", "always nothing.result == 0"),
        "`nothing` returns nothing, so that it has no result"
    );
    assert_eq!(refused("endless()", "forbid endless.result == 0"), "`endless` never returns, so that it has no result");
}

/// A property about a result does not keep code alive that prepares a failure.
#[test]
fn assertions_are_the_same_with_a_property_about_the_result() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    for level in ["-O0", "-O2"] {
        gcc(&folder, &["-g", level, "-c", "code.c", "-o", "code.o"]);
        let program =
            crate::read("code.o", &folder.read("code.o"), &options(&["P=checked(3)"], "always P.result == 3"));
        let edges = program.body(ThreadId(0)).edges().iter();
        let asserted: Vec<_> = edges
            .filter_map(|edge| match &edge.instruction {
                Instruction::Assert(condition) => Some(condition),
                _ => None,
            })
            .collect();
        assert!(matches!(asserted[..], [condition] if *condition != Expr::Const(0)), "{level}: {asserted:?}");
    }
}
