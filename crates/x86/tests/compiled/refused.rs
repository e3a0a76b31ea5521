//! What is not supported is refused with the instruction, its line and a way out.

use weir_x86::{Options, ReadError};

use crate::compiler::{Folder, gcc};

/// The message, the line of source it is about, and the way out.
fn refusal(folder: &Folder, options: &Options) -> (String, u32, String) {
    let text = String::from_utf8(folder.read("code.c")).expect("text");
    let files = |_: &str| weir_x86::SourceFile { name: "code.c".into(), text: Some(text.clone()) };
    match weir_x86::read("code.o", &folder.read("code.o"), options, &files, &weir_ir::Uninterrupted) {
        Ok(_) => panic!("it is not refused: {options:?}"),
        Err(ReadError::Refused(refusal)) => (refusal.message, 0, refusal.help.unwrap_or_default()),
        Err(ReadError::Invalid(source, diagnostic)) => {
            let line = source.line(diagnostic.primary.span);
            (diagnostic.message, line, diagnostic.help.unwrap_or_default())
        }
        Err(ReadError::Interrupted) => panic!("nothing interrupts it"),
    }
}

const CODE: &str = "\
int *shared, x; short halves[2]; extern int elsewhere; void log_it(int); extern __thread int mine;
int deep(int n) { return n ? n * deep(n - 1) : 1; }
void escape(void) { int local = 1; shared = &local; }
void outside(void) { log_it(3); }
void other(void) { x = elsewhere; }
void local_array(int *p) { int a[4] = { 1, 2, 3, 4 }; x = a[x & 3]; }
void call(void (**f)(void)) { f[x](); }
void wide(void) { *(int *)halves = 1; }
void narrow(void) { halves[1] = 1; }
void thread_local(void) { mine = 1; }
void streaming(void) { __builtin_ia32_movnti(&x, 1); }
double real(double d) { return d * 2; }
void fine(void) { x = 1; }
struct big { long w[40]; } from, to; void copy(void) { to = from; }
extern int table[]; void offset(void) { x = table[x & 7]; }
void grow(void) { shared = __builtin_malloc(x); }
void system_call(void) { extern long syscall(long, ...); syscall(60, 0); }
int *twice; void late(void) { halves[0] = 1; x = *(int *)halves; }
void later(void) { halves[0] = 1; x = 1; shared = 0; x = *(int *)halves; halves[1] = 2; }
void locked(void) { extern int pthread_mutex_lock(void *); pthread_mutex_lock(shared); }
int ticks(void) { return __builtin_ia32_rdtsc(); }
";

#[test]
fn what_is_not_supported_is_refused_with_its_line() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    gcc(&folder, &["-g", "-O1", "-fno-optimize-sibling-calls", "-c", "code.c", "-o", "code.o"]);
    let threads =
        |calls: &[&str]| Options { threads: calls.iter().map(|&call| call.into()).collect(), ..Options::default() };
    let expected = [
        (&["deep(3)"][..], "`deep` calls itself, and recursion is not supported", 2),
        (
            &["escape()"],
            "the address of a local variable is stored in shared memory, and stacks are private in Weir",
            3,
        ),
        (&["outside()"], "the code calls `log_it`, which is not in the file", 4),
        (&["other()"], "the code uses `elsewhere`, which is not in the file", 5),
        (&["local_array(&x)"], "the address of this access to the stack is only known at run time", 6),
        (
            &["wide()", "narrow()"],
            "mixed sizes: `wide` stores 4 bytes at `halves`, and `narrow` stores 2 bytes at `halves[1]` that overlap",
            9,
        ),
        (
            &["thread_local()"],
            "the instruction uses a thread-local variable that is not in the file, which is not supported",
            10,
        ),
        (&["streaming()"], "non-temporal stores do not follow the order of store buffers, and are not supported", 11),
        (&["real()"], "the instruction `addsd` is not supported in this form", 12),
        (&["copy()"], "the processor may make the accesses of this instruction to shared memory in any order", 14),
        (&["offset()"], "the code uses `table`, which is not in the file", 15),
        (&["grow()"], "how much memory is allocated here is only known at run time", 16),
        (&["system_call()"], "the code makes a system call that is not supported (60)", 17),
        (
            &["later()", "narrow()"],
            "mixed sizes: this load takes bytes of a store that does not contain it and may not be the last one in the \
             buffer",
            19,
        ),
        (&["fin()"], "there is no function `fin` in the file", 0),
        (&["fine(&y)"], "there is no variable `y` in the file", 0),
        (&["fine("], "`fine(` is not a call", 0),
        (&["fine(x)"], "`x` is neither a number nor the address of a variable", 0),
        (&[], "nothing says which functions of the file run as threads", 0),
    ];
    for (calls, message, line) in expected {
        let (found, at, help) = refusal(&folder, &threads(calls));
        assert_eq!((found.as_str(), at), (message, line), "{calls:?}");
        assert!(!help.is_empty() || line == 12, "{calls:?} has no way out");
    }
    for (claim, message) in [
        ("forbid z == 1", "there is no variable `z` in the file"),
        ("forbid fine at code.c:3", "`fine` has no step at code.c:3"),
        ("forbid fin at code.c:3", "there is no thread `fin`"),
        ("forbid halves == 1", "`halves` is not a number"),
        ("never x == 1", "`never x == 1` is not a property"),
    ] {
        let options = Options { properties: vec![claim.into()], ..threads(&["fine()"]) };
        assert_eq!(refusal(&folder, &options).0, message);
    }
}

#[test]
fn the_way_out_is_one_for_the_code() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    gcc(&folder, &["-g", "-O1", "-fno-optimize-sibling-calls", "-c", "code.c", "-o", "code.o"]);
    for (call, way_out, other) in [
        ("outside()", "--function log_it=nothing", "atomics"),
        ("locked()", "write the functions with atomics", "=nothing"),
        ("ticks()", "the number that it returns", "vector"),
        ("real(0)", "without vector code", "the number"),
        ("nowhere()", "its functions are `deep`, `escape`", ".L"),
    ] {
        let options = Options { threads: vec![call.into()], ..Options::default() };
        let (_, _, help) = refusal(&folder, &options);
        assert!(help.contains(way_out) && !help.contains(other), "{call}: {help}");
    }
}

#[test]
fn a_file_that_is_linked_to_addresses_in_use_is_refused() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", "int x; void fine(void) { x = 1; }");
    let linked = ["-O1", "-nostdlib", "-static", "-Wl,-e,fine", "-Wl,--build-id=none", "code.c", "-o", "code.o"];
    let options = Options { threads: vec!["fine()".into()], ..Options::default() };
    for start in ["0x50000000", "0x5ffff000", "0x700000000000"] {
        gcc(&folder, &[&linked[..], &[&format!("-Wl,-Ttext-segment={start}")]].concat());
        let (message, _, help) = refusal(&folder, &options);
        assert!(message.contains("where Weir places stacks and blocks") && !help.is_empty(), "{start}: {message}");
    }
    gcc(&folder, &[&linked[..], &["-Wl,-Ttext-segment=0x400000"]].concat());
    crate::read("code.o", &folder.read("code.o"), &options);
}
