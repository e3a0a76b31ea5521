//! What the file says about functions and variables: names in C++, how many arguments a function takes, and debugging
//! information in all of its forms.

use std::process::Command;

use weir_x86::{Compiled, Options, ReadError};

use crate::compiler::{Folder, gcc};

/// The program with these threads, or the message and the way out.
fn read(folder: &Folder, threads: &[&str], property: Option<&str>) -> Result<Compiled, (String, String)> {
    let files = |path: &str| weir_x86::SourceFile { name: path.to_owned(), text: None };
    let options = Options {
        threads: threads.iter().map(|&call| call.into()).collect(),
        properties: property.into_iter().map(str::to_owned).collect(),
        ..Options::default()
    };
    match weir_x86::read("code.o", &folder.read("code.o"), &options, &files, &weir_ir::Uninterrupted) {
        Ok(compiled) => Ok(compiled),
        Err(ReadError::Refused(refusal)) => Err((refusal.message, refusal.help.unwrap_or_default())),
        Err(ReadError::Invalid(_, diagnostic)) => Err((diagnostic.message, diagnostic.help.unwrap_or_default())),
        Err(ReadError::Interrupted) => panic!("nothing interrupts it"),
    }
}

const CODE: &str = "\
struct pair { long a, b; }; enum kind { NONE }; typedef unsigned word; int x;
int none(void) { return x; }
int two(int v, volatile int *p) { return *p = v; }
void named(const char *text, word w, enum kind k, struct pair *pair) { x = w; }
long by_value(struct pair pair) { return pair.a + pair.b; }
int any(int n, ...) { return n; }
static __attribute__((noinline)) int half(int n, int unused) { return n / 2; }
int uses_half(int n) { return half(n, 1) + half(n + 1, 2); }
";

#[test]
fn the_number_of_arguments_is_that_of_the_declaration() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    for level in ["-O0", "-O2"] {
        gcc(&folder, &["-g", level, "-c", "code.c", "-o", "code.o"]);
        for call in ["none()", "none", "two(1, &x)", "by_value(1, 2)", "any(1)", "any(1, 2)", "uses_half(1)"] {
            assert!(read(&folder, &[call], None).is_ok(), "{level}: {call}");
        }
        for (call, message, help) in [
            ("none(1)", "`none` takes no arguments, and the call has 1", "`int none(void)` (code.c:2)"),
            ("two", "`two` takes 2 arguments, and the call has 0", "`int two(int v, volatile int *p)` (code.c:3)"),
            ("P=two(1)", "`two` takes 2 arguments, and the call has 1", "`int two(int v, volatile int *p)` (code.c:3)"),
            (
                "named(1, 2, 3)",
                "`named` takes 4 arguments, and the call has 3",
                "`void named(const char *text, word w, enum kind k, struct pair *pair)` (code.c:4)",
            ),
            ("any()", "`any` takes at least 1 argument, and the call has 0", "`int any(int n, ...)` (code.c:6)"),
        ] {
            let expected = (message.to_owned(), format!("its declaration is {help}"));
            assert_eq!(read(&folder, &[call], None).err(), Some(expected), "{level}: {call}");
        }
    }
    // Nothing says how many there are.
    gcc(&folder, &["-O1", "-c", "code.c", "-o", "code.o"]);
    assert!(read(&folder, &["none(1)"], None).is_ok());
}

#[test]
fn threads_have_names() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    gcc(&folder, &["-g", "-O1", "-c", "code.c", "-o", "code.o"]);
    let message = |call: &str| read(&folder, &[call], None).err().map(|(message, _)| message);
    assert_eq!(message("=none()").as_deref(), Some("`=none()` gives the thread an empty name"));
    assert_eq!(message("a b=none()").as_deref(), Some("`a b` cannot be the name of a thread"));
    assert_eq!(message(" P = none()"), None);
}

const CPP: &str = "
#include <atomic>
std::atomic<int> other;
namespace second { std::atomic<int> x; struct two { std::atomic<int> low, high; } pair; }
namespace ns {
std::atomic<int> x;
int f(int v) { x.store(v); return x.load(); }
int g(int v) { return v; }
long g(long v) { return v; }
struct queue { std::atomic<int> head; __attribute__((noinline)) void push(int v) { head.store(v); } } q;
template <class T> T same(T v) { x.store(v); return v; }
template int same<int>(int);
}
void use() { ns::q.push(1); }
int *take() { return new int(3); }
";

#[test]
fn functions_in_cpp_have_the_names_of_the_source() {
    let Some(folder) = Folder::with_gcc() else { return };
    if !Command::new("g++").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no g++ here");
        return;
    }
    folder.write("code.cpp", CPP);
    for options in [&["-g", "-O0"][..], &["-g", "-O2"], &["-O2"]] {
        gcc(&folder, &[options, &["-c", "code.cpp", "-o", "code.o"]].concat());
        let name = |call: &str| match read(&folder, &[call], None) {
            Ok(compiled) => compiled.program.threads[0].name.clone(),
            Err(error) => panic!("{options:?}: {call}: {error:?}"),
        };
        for (call, expected) in [
            ("ns::f(3)", "ns::f"),
            ("f(3)", "f"),
            ("ns::f(int)(3)", "ns::f"),
            ("_ZN2ns1fEi(3)", "_ZN2ns1fEi"),
            ("ns::g(long)(3)", "ns::g"),
            ("ns::queue::push(&ns::q, 1)", "ns::queue::push"),
            ("P=ns::same<int>(3)", "P"),
            ("take()", "take"),
        ] {
            assert_eq!(name(call), expected);
        }
        let error = |call: &str| read(&folder, &[call], None).expect_err("it is refused");
        let (message, help) = error("ns::g(1)");
        assert_eq!(message, "`ns::g` can be one of several functions");
        assert_eq!(help, "name one in full: `ns::g(int)`, `ns::g(long)`");
        assert_eq!(error("ns::queue::pull(1)").1, "did you mean `ns::queue::push`?");
        assert!(read(&folder, &["ns::f(3)"], Some("always ns::x == 3 && other == 0")).is_ok(), "{options:?}");
        assert!(read(&folder, &["ns::f(3)"], Some("always second::x == 0")).is_ok(), "{options:?}");
        if options.len() > 1 {
            // Of several with this name, none is meant.
            let (_, help) = read(&folder, &["ns::f(3)"], Some("always x == 0")).expect_err("it is refused");
            assert!(help.contains("`second::x`") && help.contains("`ns::x`"), "{help}");
            for part in ["pair.high", "second::pair.high"] {
                assert!(read(&folder, &["ns::f(3)"], Some(&format!("always {part} == 0"))).is_ok(), "{options:?}");
            }
            let (message, help) = error("ns::queue::push(1)");
            assert_eq!(message, "`ns::queue::push` takes 2 arguments, and the call has 1");
            assert!(help.contains("void ns::queue::push("), "{help}");
            assert!(read(&folder, &["ns::f(3)"], Some("always ns::q.head == 0")).is_ok(), "{options:?}");
        }
    }
}

const TYPED: &str = "struct { int head, tail; } q; void push(void) { q.tail = q.head + 1; }";

#[test]
fn compressed_debugging_information_is_read() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", TYPED);
    for form in ["-gz=none", "-gz=zlib", "-gz=zlib-gnu"] {
        gcc(&folder, &["-g", form, "-O1", "-c", "code.c", "-o", "code.o"]);
        let compiled = read(&folder, &["push()"], Some("always q.tail == 1")).expect("it is right");
        assert!(compiled.warnings.is_empty(), "{form}: {:?}", compiled.warnings);
    }
}

#[test]
fn debugging_information_that_is_elsewhere_is_missed() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", TYPED);
    gcc(&folder, &["-g", "-gsplit-dwarf", "-O1", "-c", "code.c", "-o", "code.o"]);
    let (_, help) = read(&folder, &["push()"], Some("always q.tail == 1")).expect_err("there are no names");
    assert!(help.contains("code.dwo") && help.contains("-gsplit-dwarf"), "{help}");
    let warnings = read(&folder, &["push()"], None).expect("it can be read").warnings;
    assert_eq!(warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["no-names"]);
}

#[test]
fn what_is_left_for_the_linker_is_named() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", TYPED);
    gcc(&folder, &["-flto", "-O1", "-c", "code.c", "-o", "code.o"]);
    let (_, help) = read(&folder, &["push()"], None).expect_err("there is no code");
    assert!(help.contains("-ffat-lto-objects"), "{help}");
    std::fs::write(folder.path().join("code.o"), b"BC\xC0\xDE\x35\x14\0\0").expect("a file");
    let (message, help) = read(&folder, &["push()"], None).expect_err("there is no code");
    assert!(message.contains("bitcode") && help.contains("-flto"), "{message} {help}");
}
