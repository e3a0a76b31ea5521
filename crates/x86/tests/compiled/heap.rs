//! Memory that threads allocate and free.

use weir_ir::{Program, ThreadId, Value};
use weir_testkit::{FinalState, Model, explore};
use weir_x86::{Compiled, LimitKind, Options};

use crate::compiler::{Folder, gcc};
use crate::read;

const CODE: &str = "
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <unistd.h>
struct node { int value; struct node *next; };
_Atomic(struct node *) shared;
int first, second;
atomic_int done;
void publish(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = 0;
    atomic_store_explicit(&shared, node, memory_order_release);
}
int take(void) {
    struct node *node = atomic_exchange(&shared, 0);
    int value = node ? node->value : -1;
    free(node);
    return value;
}
int peek(void) {
    struct node *node = atomic_load(&shared);
    return node ? node->value : -1;
}
void twice(void) { int *p = calloc(1, sizeof *p); free(p); free(p); }
void late(void) { int *p = malloc(4); first = *p; free(p); *p = 2; }
void stray(void) { free(&first); }
void middle(void) { char *p = malloc(8); free(p + 4); }
int several(int n) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        int *p = malloc(sizeof *p);
        if (!p) break;
        *p = i;
        count += *p == i;
        free(p);
    }
    return count;
}
int copied(int n) {
    char here[24], there[24];
    memset(here, n, 24);
    here[5] = 1;
    memcpy(there, here, 23);
    there[23] = 7;
    return there[5] + there[6] + there[22] + there[23];
}
void blurred(void) { memcpy(&first, &second, 4); }
int fenced(int *mine, int *other) { atomic_store_explicit((atomic_int *)mine, 1, memory_order_relaxed);
    syscall(324, 8, 0, 0); return atomic_load_explicit((atomic_int *)other, memory_order_relaxed); }
int quick(int *mine, int *other) { atomic_store_explicit((atomic_int *)mine, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); return atomic_load_explicit((atomic_int *)other, memory_order_relaxed); }
void odd(void) { syscall(first); }
";

/// What a thread returned.
fn result(program: &Program, last: &FinalState, thread: u32) -> Value {
    let register = program.body(ThreadId(thread)).register("rax").expect("it is observed");
    last.registers[&ThreadId(thread)].get(&register).copied().unwrap_or(0)
}

/// Whether no assertion fails, under TSO.
fn is_safe(folder: &Folder, calls: &[&str]) -> bool {
    let options = Options { threads: calls.iter().map(|&call| call.into()).collect(), ..Options::default() };
    let program = read("code.o", &folder.read("code.o"), &options);
    let found = explore(&program, Model::Tso, 2_000_000).expect("supported");
    assert!(found.complete);
    found.goals.is_empty()
}

#[test]
fn freed_memory_is_not_accessed() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    // Without a linkage table, calls load the address of the function from memory, as Rust's do.
    for (level, calls) in [("-O0", "-fplt"), ("-O1", "-fplt"), ("-O1", "-fno-plt")] {
        gcc(&folder, &[level, calls, "-fno-builtin", "-c", "code.c", "-o", "code.o"]);
        for (calls, expected) in [
            (&["publish(7)", "take()"][..], true),
            (&["publish(7)", "take()", "take()"], true),
            (&["publish(7)", "peek()"], true),
            // The one that looks does not know that the other one has freed it.
            (&["publish(7)", "take()", "peek()"], false),
            (&["twice()"], false),
            (&["late()"], false),
            (&["stray()"], false),
            (&["middle()"], false),
        ] {
            assert_eq!(is_safe(&folder, calls), expected, "{calls:?} at {level}");
        }
        let results = |call: &str| {
            let options = Options {
                threads: vec![format!("w={call}")],
                properties: vec!["always w.result >= 0".into()],
                ..Options::default()
            };
            let program = read("code.o", &folder.read("code.o"), &options);
            let found = explore(&program, Model::Tso, 100_000).expect("supported");
            assert!(found.complete && found.goals.is_empty() && found.final_states.len() == 1);
            found.final_states.first().map(|last| result(&program, last, 0))
        };
        assert_eq!(results("copied(3)"), Some(1 + 3 + 3 + 7), "{level}");
        assert_eq!((results("several(3)"), results("several(4)")), (Some(3), Some(4)), "{level}");
        // Memory is not given out again, and so the model ends.
        let compiled = |call: &str| {
            let files = |path: &str| weir_x86::SourceFile { name: path.to_owned(), text: None };
            let options = Options { threads: vec![call.into()], ..Options::default() };
            let read = weir_x86::read("code.o", &folder.read("code.o"), &options, &files, &weir_ir::Uninterrupted);
            read.expect("it can be read")
        };
        let Compiled { program, limits, warnings } = compiled("several(5)");
        let found = explore(&program, Model::Tso, 100_000).expect("supported");
        assert!(found.complete && found.final_states.is_empty() && found.goals.len() == 1, "{level}");
        let kinds: Vec<LimitKind> = limits.iter().map(|limit| limit.kind).collect();
        assert!(kinds.contains(&LimitKind::Allocation(4)), "{level}: {kinds:?}");
        assert_eq!(warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["no-reuse"], "{level}");
        assert!(compiled("publish(1)").warnings.is_empty() && compiled("take()").warnings.is_empty(), "{level}");
    }
}

/// Store buffering between a thread with a remote fence and one without any; and between two without.
#[test]
fn a_remote_fence_is_one_for_all_threads() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    gcc(&folder, &["-O2", "-c", "code.c", "-o", "code.o"]);
    let both_zero = |left: &str, right: &str| {
        let threads = vec![format!("l={left}(&first, &second)"), format!("r={right}(&second, &first)")];
        let properties = vec!["always l.result + r.result > 0".to_owned()];
        let program = read("code.o", &folder.read("code.o"), &Options { threads, properties, ..Options::default() });
        let found = explore(&program, Model::Tso, 1_000_000).expect("supported");
        found.final_states.iter().any(|last| result(&program, last, 0) == 0 && result(&program, last, 1) == 0)
    };
    assert!(both_zero("quick", "quick"));
    assert!(!both_zero("fenced", "quick") && !both_zero("quick", "fenced") && !both_zero("fenced", "fenced"));
}
