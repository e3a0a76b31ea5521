//! Calls of pointers: to functions whose addresses memory holds, and to anything else.

use std::collections::BTreeSet;

use weir_ir::{ThreadId, Value};
use weir_testkit::{FinalState, Goal, Model, explore};
use weir_x86::{Compiled, LimitKind, ModelLimit, Options, limited};

use crate::compiler::{Folder, gcc};

const CODE: &str = "
struct ops { int (*get)(int); void (*put)(int); };
int x, (*hook)(int);
static int get_first(int n) { return n + 10; }
static int get_second(int n) { return x + n + 20; }
static void put_first(int n) { x = n; }
static void put_second(int n) { x = 2 * n; }
const struct ops first = { get_first, put_first }, second = { get_second, put_second };
const struct ops *current = &first;
static int strange(int n) { return n / 2.5; }
static int (*const strange_ones[])(int) = { get_first, strange };
void setup(int which) { current = which ? &second : &first; }
int use(int n) { current->put(n); return current->get(n); }
void exchange(void) { current = &second; }
void install(void) { hook = get_second; }
int call_hook(int n) { return hook ? hook(n) : -1; }
void misplace(void) { hook = (int (*)(int))((char *)get_first + 1); }
void install_any(int which) { hook = strange_ones[which & 1]; }
";

/// Threads, preparation, what the first thread returns, and whether a run leaves the model.
type Expected<'e> = (&'e [&'e str], &'e [&'e str], &'e [Value], bool);

struct Found {
    /// What the first thread returns.
    results: BTreeSet<Value>,
    /// Why runs get to where the model ends.
    limits: Vec<LimitKind>,
}

fn asked(folder: &Folder, threads: &[&str], init: &[&str]) -> Found {
    let files = |path: &str| weir_x86::SourceFile { name: path.to_owned(), text: None };
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let name = threads[0].split('(').next().expect("a name");
    let properties = vec![format!("always {name}.result >= 0")];
    let options = Options { threads: texts(threads), init: texts(init), properties, ..Options::default() };
    let compiled = weir_x86::read("code.o", &folder.read("code.o"), &options, &files, &weir_ir::Uninterrupted);
    let Compiled { program, limits, .. } = compiled.unwrap_or_else(|error| panic!("{threads:?}: {error:?}"));
    let found = explore(&program, Model::Tso, 100_000).expect("supported");
    assert!(found.complete);
    let register = program.body(ThreadId(0)).register("rax").expect("it is observed");
    let result = |last: &FinalState| {
        let value = last.registers[&ThreadId(0)].get(&register).copied().unwrap_or(0);
        Value::from(value as i32)
    };
    let is_reached = |limit: &&ModelLimit| {
        let found = explore(&limited(&program, &[(limit.thread, limit.edge)]), Model::Tso, 100_000);
        found.expect("supported").goals.contains_key(&Goal::Assertion(limit.thread))
    };
    Found {
        results: found.final_states.iter().map(result).collect(),
        limits: limits.iter().filter(is_reached).map(|limit| limit.kind).collect(),
    }
}

#[test]
fn calls_of_pointers_go_to_the_functions_that_memory_holds() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    for level in ["-O0", "-O2"] {
        gcc(&folder, &["-g", level, "-c", "code.c", "-o", "code.o"]);
        let expected: [Expected<'_>; 8] = [
            (&["use(3)"], &[], &[13], false),
            (&["use(3)"], &["setup(1)"], &[29], false),
            // Between the calls, or before both.
            (&["use(3)", "exchange()"], &[], &[13, 26, 29], false),
            (&["call_hook(3)"], &["install()"], &[23], false),
            (&["call_hook(3)", "install()"], &[], &[-1, 23], false),
            (&["call_hook(3)", "misplace()"], &["install()"], &[23], true),
            (&["call_hook(3)", "install_any(0)"], &["install()"], &[13, 23], false),
            // Its code is not supported, so it is as good as unknown.
            (&["call_hook(3)", "install_any(1)"], &["install_any(0)"], &[13], true),
        ];
        for (threads, init, results, is_limited) in expected {
            let found = asked(&folder, threads, init);
            assert_eq!(found.results, results.iter().copied().collect(), "{threads:?} after {init:?} at {level}");
            let limits = if is_limited { vec![LimitKind::Target] } else { Vec::new() };
            assert_eq!(found.limits, limits, "{threads:?} after {init:?} at {level}");
        }
    }
}

/// With one function, there are two ways on: to it, and to where the model ends, which is no failed assertion.
#[test]
fn a_call_of_another_function_than_the_only_one_is_no_failed_assertion() {
    let Some(folder) = Folder::with_gcc() else { return };
    let code = "static int first(int n) { return n + 1; } int (*only)(int) = first;\n\
                int call(int n) { return only(n); }\n\
                void misplace(void) { only = (int (*)(int))((char *)first + 1); }\n";
    folder.write("code.c", code);
    gcc(&folder, &["-O1", "-c", "code.c", "-o", "code.o"]);
    assert!(asked(&folder, &["call(3)"], &[]).limits.is_empty());
    let found = asked(&folder, &["call(3)", "misplace()"], &[]);
    assert_eq!((found.results, found.limits), ([4].into(), vec![LimitKind::Target]));
}

/// Also where no memory holds the address of any function, and as the last thing that a function does.
#[test]
fn a_call_of_a_null_pointer_fails() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder
        .write("code.c", "int x; void (*hook)(void); void last(void) { hook(); } void first(void) { hook(); x = 1; }");
    for level in ["-O0", "-O2"] {
        gcc(&folder, &["-g", level, "-c", "code.c", "-o", "code.o"]);
        for call in ["first()", "last()"] {
            let options = Options { threads: vec![call.into()], ..Options::default() };
            let program = crate::read("code.o", &folder.read("code.o"), &options);
            let found = explore(&program, Model::Tso, 1000).expect("supported");
            assert!(found.goals.contains_key(&Goal::Assertion(ThreadId(0))), "{level}: {call}");
            let files = |path: &str| weir_x86::SourceFile { name: path.to_owned(), text: None };
            let bytes = folder.read("code.o");
            let compiled = weir_x86::read("code.o", &bytes, &options, &files, &weir_ir::Uninterrupted).expect("right");
            let limits: Vec<_> = compiled.limits.iter().map(|limit| (limit.thread, limit.edge)).collect();
            let found = explore(&limited(&program, &limits), Model::Tso, 1000).expect("supported");
            assert!(!found.goals.contains_key(&Goal::Assertion(ThreadId(0))), "{level}: {call} leaves the model");
        }
    }
}
