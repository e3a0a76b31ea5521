//! Jumps through tables: where the index comes from, and that nothing behind the table is read.

use weir_x86::Options;

use crate::compiler::{Folder, gcc};
use crate::execute::execute;
use crate::read;

/// Each function jumps by `x`. What follows the table is no code.
const CODE: &str = "
.intel_syntax noprefix
.macro function name
.globl \\name
.type \\name, @function
\\name:
    mov eax, dword ptr [rip + x]
.endm
.macro jump
    lea rdx, [rip + table]
    movsxd rax, dword ptr [rdx + 4 * rax]
    add rax, rdx
    jmp rax
.endm
.text
function masked
    and eax, 6
    jump
function least
    mov ecx, 6
    cmp eax, 6
    cmova eax, ecx
    jump
function least_reversed
    mov ecx, 6
    cmp eax, 6
    cmovbe ecx, eax
    mov eax, ecx
    jump
function chosen
    mov ecx, 1
    mov esi, 4
    test eax, eax
    cmove ecx, esi
    mov eax, ecx
    jump
function shifted
    mov ecx, eax
    shr cx, 7
    cmp ax, 0x37f
    ja 1f
    movzx eax, cx
    jump
1:  mov eax, 6
    jump
function decreased
    mov ecx, eax
    shr cx, 7
    mov edx, eax
    xor eax, eax
    cmp dx, 0x3ff
    ja 1f
    dec ecx
    cmp cx, 5
    ja 1f
    movzx eax, cx
    jump
1:  mov eax, 6
    jump
function constant
    and eax, 0x12
    imul rax, rax, 0xfe03f81
    shr rax, 35
    cmp eax, 4
    ja 1f
    jump
1:  ret
.altmacro
.macro case number
case\\number:
    mov dword ptr [rip + y], 10 + \\number
    ret
.endm
.irp number, 0, 1, 2, 3, 4, 5, 6
case %number
.endr
nothing: .byte 6
.section .rodata
table:
.irp number, 0, 1, 2, 3, 4, 5, 6
.long case\\number - table
.endr
.long nothing - table
.data
.globl x, y
.type x, @object
.size x, 4
x: .long 0
.type y, @object
.size y, 4
y: .long 0
";

/// A function, and by which index it jumps.
type Expected = (&'static str, fn(i64) -> i64);

#[test]
fn indices_of_tables_are_known_where_code_bounds_them() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("tables.s", CODE);
    gcc(&folder, &["-c", "tables.s", "-o", "tables.o"]);
    let expected: [Expected; 7] = [
        ("masked", |x| x & 6),
        ("least", |x| x.min(6)),
        ("least_reversed", |x| x.min(6)),
        ("chosen", |x| if x == 0 { 4 } else { 1 }),
        ("shifted", |x| if x & 0xFFFF < 7 << 7 { (x & 0xFFFF) >> 7 } else { 6 }),
        ("constant", |_| 0),
        ("decreased", |x| if (1 << 7..7 << 7).contains(&(x & 0xFFFF)) { ((x & 0xFFFF) >> 7) - 1 } else { 6 }),
    ];
    for (name, index) in expected {
        let options = Options { threads: vec![format!("{name}()")], ..Options::default() };
        let program = read("tables.o", &folder.read("tables.o"), &options);
        for x in [0, 1, 2, 3, 4, 5, 6, 7, 8, 127, 128, 255, 256, 895, 896, 897, 0x1_0080, 0xFFFF_FFFF] {
            let mut program = program.clone();
            for cell in program.shared.iter_mut().filter(|cell| cell.name == "x") {
                cell.initial = vec![x];
            }
            let y = program.shared.iter().find(|cell| cell.name == "y").expect("a cell").address;
            assert_eq!(execute(&program, 1000)[&y], 10 + index(x), "{name} of {x}");
        }
    }
}
