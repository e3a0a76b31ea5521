//! Accesses to 16 bytes of shared memory: the processor may make each at once or in halves, in either order.

use std::collections::BTreeSet;

use weir_ir::{ThreadId, Value};
use weir_testkit::{FinalState, Model, explore};
use weir_x86::Options;

use crate::compiler::{Folder, gcc};
use crate::read;

const CODE: &str = "
.intel_syntax noprefix
.macro function name
.globl \\name
.type \\name, @function
\\name:
.endm
.text
function clear
    pxor xmm0, xmm0
    movaps [rip + p], xmm0
    ret
function clear_at
    pxor xmm0, xmm0
    mov rdx, [rip + place]
    movups [rdx], xmm0
    ret
function forwarded
    pxor xmm0, xmm0
    movups [rip + p], xmm0
    mov rax, [rip + p]
    add rax, rax
    add rax, [rip + p + 8]
    ret
function upwards
    mov rax, [rip + p]
    mov rcx, [rip + p + 8]
    lea rax, [rcx + 2 * rax]
    ret
function downwards
    mov rcx, [rip + p + 8]
    mov rax, [rip + p]
    lea rax, [rcx + 2 * rax]
    ret
function both
    movdqa xmm1, [rip + p]
    movlps [rsp - 8], xmm1
    movhps [rsp - 16], xmm1
    mov rax, [rsp - 8]
    mov rcx, [rsp - 16]
    lea rax, [rcx + 2 * rax]
    ret
function high_then_low
    xor eax, eax
    mov [rip + p + 8], rax
    mov [rip + p], rax
    ret
function low_then_high
    xor eax, eax
    mov [rip + p], rax
    mov [rip + p + 8], rax
    ret
function across
    pxor xmm0, xmm0
    movups [rip + p], xmm0
    mov rax, [rip + p + 4]
    ret
function split
    pxor xmm0, xmm0
    movups [rip + p + 4], xmm0
    ret
.data
.balign 16
.globl p, place
.type p, @object
.size p, 32
p: .quad 1, 1, 0, 0
.type place, @object
.size place, 8
place: .quad p
";

fn compiled() -> Option<Folder> {
    let folder = Folder::with_gcc()?;
    folder.write("wide.s", CODE);
    gcc(&folder, &["-c", "wide.s", "-o", "wide.o"]);
    Some(folder)
}

/// Twice the first half and the second, as the first thread finds them.
fn results(folder: &Folder, threads: &[&str]) -> BTreeSet<Value> {
    let options = Options {
        threads: threads.iter().map(|call| format!("{call}()")).collect(),
        properties: vec![format!("always {}.result >= 0", threads[0])],
        ..Options::default()
    };
    let program = read("wide.o", &folder.read("wide.o"), &options);
    let found = explore(&program, Model::Tso, 100_000).expect("supported");
    assert!(found.complete && found.goals.is_empty(), "{threads:?}");
    let register = program.body(ThreadId(0)).register("rax").expect("it is observed");
    let result = |last: &FinalState| last.registers[&ThreadId(0)].get(&register).copied().unwrap_or(0);
    found.final_states.iter().map(result).collect()
}

#[test]
fn sixteen_bytes_are_accessed_at_once_or_in_halves() {
    let Some(folder) = compiled() else { return };
    let expected: [(&[&str], &[Value]); 9] = [
        // In which order the stores are seen tells the order of the halves, where that of the loads is known.
        (&["upwards", "low_then_high"], &[0, 2, 1, 3]),
        (&["upwards", "high_then_low"], &[0, 2, 3]),
        (&["downwards", "low_then_high"], &[0, 1, 3]),
        (&["upwards", "clear"], &[0, 1, 2, 3]),
        (&["downwards", "clear"], &[0, 1, 2, 3]),
        (&["downwards", "clear_at"], &[0, 1, 2, 3]),
        (&["both", "high_then_low"], &[0, 1, 2, 3]),
        (&["both", "low_then_high"], &[0, 1, 2, 3]),
        (&["forwarded"], &[0]),
    ];
    for (threads, expected) in expected {
        assert_eq!(results(&folder, threads), expected.iter().copied().collect(), "{threads:?}");
    }
}

#[test]
fn halves_that_are_no_words_are_refused() {
    let Some(folder) = compiled() else { return };
    let files = |path: &str| weir_x86::SourceFile { name: path.to_owned(), text: None };
    for (call, reason) in [
        ("split()", "16 bytes of shared memory, at an address that is no multiple of 8"),
        ("across()", "this load takes bytes of a store that does not contain it"),
    ] {
        let options = Options { threads: vec![call.into(), "clear()".into()], ..Options::default() };
        let error = weir_x86::read("wide.o", &folder.read("wide.o"), &options, &files, &weir_ir::Uninterrupted);
        let error = format!("{:?}", error.expect_err("it is refused"));
        assert!(error.contains(reason), "{call}: {error}");
    }
}
