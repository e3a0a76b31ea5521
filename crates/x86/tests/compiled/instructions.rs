//! Single instructions against the processor: registers, memory and all conditions afterwards, on values at the limits.

use weir_ir::Program;
use weir_testkit::Rng;

use crate::compiler::{Folder, gcc, run};
use crate::execute::execute;
use crate::read;

/// Which conditions are defined after an instruction.
#[derive(Clone, Copy)]
enum Defined {
    All,
    /// Carry and overflow.
    Carries,
    Carry,
    Nothing,
}

const CONDITIONS: [&str; 7] = ["o", "b", "e", "be", "s", "l", "le"];

impl Defined {
    fn conditions(self) -> &'static [&'static str] {
        match self {
            Self::All => &CONDITIONS,
            Self::Carries => &CONDITIONS[..2],
            Self::Carry => &CONDITIONS[1..2],
            Self::Nothing => &[],
        }
    }
}

/// Names of registers by size: accumulator, counter, data.
const SIZES: [[&str; 4]; 5] = [
    ["rax", "rcx", "rdx", "qword"],
    ["eax", "ecx", "edx", "dword"],
    ["ax", "cx", "dx", "word"],
    ["al", "cl", "dl", "byte"],
    ["ah", "cl", "dh", "byte"],
];

/// The instructions. Each is executed after a comparison of the accumulator with the data register.
fn instructions() -> Vec<(String, Defined)> {
    let mut list = Vec::new();
    let mut add = |text: String, defined| list.push((text, defined));
    for [a, c, d, word] in SIZES {
        let size = word;
        let memory = format!("{size} ptr [rip + m_{size}]");
        for name in ["add", "sub", "adc", "sbb", "and", "or", "xor", "cmp", "test"] {
            add(format!("{name} {a}, {c}"), Defined::All);
            add(format!("{name} {a}, 17"), Defined::All);
            add(format!("{name} {memory}, {c}"), Defined::All);
            if name != "test" {
                add(format!("{name} {a}, {memory}"), Defined::All);
            }
            if !["cmp", "test", "adc", "sbb"].contains(&name) {
                add(format!("lock {name} {memory}, {c}"), Defined::All);
            }
        }
        for name in ["inc", "dec", "neg"] {
            add(format!("{name} {a}"), Defined::All);
            add(format!("{name} {memory}"), Defined::All);
        }
        add(format!("lock inc {memory}"), Defined::All);
        add(format!("lock dec {memory}"), Defined::All);
        add(format!("not {a}"), Defined::All);
        add(format!("lock not {memory}"), Defined::All);
        for name in ["shl", "shr", "sar"] {
            add(format!("{name} {a}, 1"), Defined::All);
            add(format!("{name} {a}, 5\n{name} {memory}, 3\ntest {a}, {a}"), Defined::All);
            add(
                format!("{name} {a}, 3\nsetb r8b\nsete r9b\nsets r10b\nmovzx eax, r8b\nmovzx ecx, r9b"),
                Defined::Nothing,
            );
            add(format!("mov rcx, rdx\n{name} {a}, cl"), Defined::Nothing);
        }
        add(format!("rol {a}, 3\nror {memory}, 5"), Defined::Nothing);
        add(format!("xchg {a}, {c}"), Defined::All);
        add(format!("xchg {memory}, {c}"), Defined::All);
        add(format!("xadd {a}, {c}"), Defined::All);
        add(format!("lock xadd {memory}, {c}"), Defined::All);
        if a != "ah" {
            for prefix in ["", "lock "] {
                add(format!("{prefix}cmpxchg {memory}, {c}"), Defined::All);
                // The comparison succeeds, with something in the upper half of the accumulator.
                add(format!("mov {a}, {memory}\nbts rax, 45\n{prefix}cmpxchg {memory}, {c}"), Defined::All);
                add(format!("bts rax, 45\n{prefix}cmpxchg {memory}, {c}"), Defined::All);
            }
            add(format!("mul {c}"), Defined::Carries);
            add(format!("imul {c}"), Defined::Carries);
            add(format!("mul {memory}"), Defined::Carries);
        }
        if word != "byte" {
            add(format!("imul {a}, {c}"), Defined::Carries);
            add(format!("imul {a}, {memory}, -7"), Defined::Carries);
            for (name, defined) in ["bt", "bts", "btr", "btc"].map(|name| (name, Defined::Carry)) {
                add(format!("{name} {a}, {c}"), defined);
                add(format!("{name} {a}, 13"), defined);
                add(format!("{name} {memory}, 9"), defined);
                if name != "bt" {
                    add(format!("lock {name} {memory}, 9"), defined);
                }
            }
            for condition in CONDITIONS {
                add(format!("cmov{condition} {c}, {d}"), Defined::All);
                add(format!("cmovn{condition} {c}, {memory}"), Defined::All);
            }
            add(format!("lea {a}, [rcx + rdx*4 + 100]"), Defined::All);
            add(format!("movsx {a}, cl"), Defined::All);
            add(format!("movzx {a}, cl"), Defined::All);
            if a != "rax" {
                add(format!("movzx {a}, ch"), Defined::All);
            }
        }
    }
    for condition in CONDITIONS {
        // A condition that is used again after a jump on it.
        add(format!("j{condition} 1f\nmov rax, 5\n1:\nset{condition} cl"), Defined::All);
        add(format!("jn{condition} 1f\nlea rax, [rcx + 1]\n1:\nj{condition} 2f\nmov rdx, 7\n2:"), Defined::All);
        add(format!("set{condition} ah\nsetn{condition} cl"), Defined::All);
    }
    for text in [
        "cdqe",
        "cwde",
        "cbw",
        "cqo",
        "cdq",
        "cwd",
        "bswap rax",
        "bswap ecx",
        "movsxd rax, ecx",
        "movsx eax, cx",
        "push rcx\npush -3\npop rdx\npop rax",
        "lea eax, [rcx*8 - 3]",
        "xor ecx, ecx",
        "sub rax, rax",
        "movq xmm0, rax\nmovd xmm1, ecx\nmovq rdx, xmm1\npunpcklqdq xmm1, xmm0\nmovq rcx, xmm1",
        "push rax\npush rcx\nmovups xmm3, [rsp]\nmovaps xmm4, xmm3\nmovups [rsp - 16], xmm4\nmov rdx, [rsp - 8]\npop rax\npop rcx",
        "xor edx, edx\nor rcx, 1\ndiv rcx",
        "cqo\nor rcx, 1\nand rcx, 0xff\nidiv rcx",
        "cdq\nor ecx, 1\nand ecx, 0xff\nidiv ecx",
        "movzx eax, al\nor cl, 1\ndiv cl",
        "or rcx, 64\nbsr rax, rcx",
        "or ecx, 1\nbsr eax, ecx\nbsf edx, ecx",
        "or rcx, 512\nbsf rax, rcx",
        "or cx, 32\nbsf ax, cx\nbsr dx, cx",
        "or rcx, 32768\ntzcnt rax, rcx",
        "mov ecx, 0\nor rdx, 1\ntzcnt rax, rcx",
        "or ecx, 1024\ntzcnt edx, ecx",
        "push rdi\nsub rsp, 32\nmov rdi, rsp\nmov ecx, 4\nrep stosq\nmov rcx, [rsp + 24]\nadd rsp, 32\npop rdi",
        "push rdi\npush rcx\npush rdx\nlea rdi, [rsp + 5]\nstosb\nstosw\nmov rcx, rdi\nsub rcx, rsp\npop rdx\npop rax\npop rdi",
        "push rdi\npush rsi\npush rcx\npush rdx\npush rax\npush rdx\nlea rsi, [rsp + 17]\nlea rdi, [rsp + 1]\nmov ecx, 3\nrep movsd\n\
         mov rcx, rsi\nsub rcx, rdi\npop rdx\npop rax\nadd rsp, 16\npop rsi\npop rdi",
        "push rbx\nmov ebx, 77\nlock cmpxchg8b qword ptr [rip + m_qword]\nsete bl\nmovzx r8d, bl\npop rbx\nadd rcx, r8",
        "push rbx\nmov rbx, rcx\nmov rax, [rip + m_qword]\nmov rdx, rax\nshr rdx, 32\nbts rdx, 40\nbts rax, 41\n\
         lock cmpxchg8b qword ptr [rip + m_qword]\nsete bl\nmovzx r8d, bl\npop rbx\nadd rcx, r8",
    ] {
        let defined =
            if text.contains("xor ecx") || text.contains("sub rax") || !text.contains("div") && !text.contains("or ") {
                Defined::All
            } else {
                Defined::Nothing
            };
        add(text.to_owned(), defined);
    }
    list
}

/// Variables: three for registers, one of each size in memory; and what each becomes.
const REGISTERS: [&str; 3] = ["rax", "rcx", "rdx"];
const MEMORY: [(&str, &str, u32); 4] = [
    ("m_qword", "unsigned long", 8),
    ("m_dword", "unsigned int", 4),
    ("m_word", "unsigned short", 2),
    ("m_byte", "unsigned char", 1),
];

fn code(list: &[(String, Defined)]) -> String {
    let mut code = String::new();
    REGISTERS.iter().for_each(|name| code += &format!("unsigned long i_{name}, o_{name};\n"));
    MEMORY.iter().for_each(|(name, kind, _)| code += &format!("{kind} {name};\n"));
    CONDITIONS.iter().for_each(|name| code += &format!("unsigned char f_{name};\n"));
    for (number, (text, defined)) in list.iter().enumerate() {
        let mut lines = vec![format!(".globl t{number}"), format!(".type t{number}, @function"), format!("t{number}:")];
        lines.extend(REGISTERS.iter().map(|name| format!("mov {name}, [rip + i_{name}]")));
        lines.push("cmp rax, rdx".to_owned());
        lines.extend(text.lines().map(str::to_owned));
        lines.extend(defined.conditions().iter().map(|name| format!("set{name} [rip + f_{name}]")));
        lines.extend(REGISTERS.iter().map(|name| format!("mov [rip + o_{name}], {name}")));
        lines.extend(["ret".to_owned(), format!(".size t{number}, . - t{number}")]);
        let body: String = lines.iter().map(|line| format!("\"{line}\\n\"\n")).collect();
        code += &format!("asm(\".intel_syntax noprefix\\n.text\\n\"\n{body}\".att_syntax\\n\");\n");
    }
    code
}

/// All variables that an instruction can change.
fn outputs() -> Vec<String> {
    let registers = REGISTERS.iter().map(|name| format!("o_{name}"));
    let memory = MEMORY.iter().map(|(name, ..)| (*name).to_owned());
    registers.chain(memory).chain(CONDITIONS.iter().map(|name| format!("f_{name}"))).collect()
}

/// All variables that are set before.
fn inputs() -> Vec<(String, u32)> {
    let registers = REGISTERS.iter().map(|name| (format!("i_{name}"), 8));
    registers.chain(MEMORY.iter().map(|(name, _, size)| ((*name).to_owned(), *size))).collect()
}

fn driver(count: usize, sets: &[Vec<u64>]) -> String {
    let mut text = String::from("#include <stdio.h>\n");
    inputs().iter().zip(sets[0].iter()).for_each(|((name, size), _)| {
        let kind = MEMORY.iter().find(|(.., known)| known == size).map_or("unsigned long", |(_, kind, _)| kind);
        text += &format!("extern {kind} {name};\n");
    });
    REGISTERS.iter().for_each(|name| text += &format!("extern unsigned long o_{name};\n"));
    CONDITIONS.iter().for_each(|name| text += &format!("extern unsigned char f_{name};\n"));
    (0..count).for_each(|number| text += &format!("void t{number}(void);\n"));
    let wide = inputs().len();
    text += &format!("static const unsigned long given[][{wide}] = {{\n");
    for set in sets {
        text += &format!("{{ {} }},\n", set.iter().map(|value| format!("{value}UL")).collect::<Vec<_>>().join(", "));
    }
    text += "};\nstatic void (*const all[])(void) = {";
    text += &(0..count).map(|number| format!("t{number}")).collect::<Vec<_>>().join(", ");
    text += &format!(
        "}};\nint main(void) {{\nfor (int t = 0; t < {count}; t++) for (int i = 0; i < {}; i++) {{\n",
        sets.len()
    );
    inputs().iter().enumerate().for_each(|(at, (name, _))| text += &format!("{name} = given[i][{at}];\n"));
    outputs().iter().filter(|name| !name.starts_with('m')).for_each(|name| text += &format!("{name} = 0;\n"));
    text += "all[t]();\n";
    outputs().iter().for_each(|name| text += &format!("printf(\"%lu \", (unsigned long){name});\n"));
    text + "printf(\"\\n\"); }\nreturn 0; }\n"
}

fn translated(program: &Program, set: &[u64]) -> Vec<u64> {
    let mut program = program.clone();
    for ((name, size), value) in inputs().iter().zip(set) {
        if let Some(cell) = program.shared.iter_mut().find(|cell| cell.name == *name) {
            cell.initial = vec![if *size == 8 { *value as i64 } else { (*value & ((1 << (8 * size)) - 1)) as i64 }];
        }
    }
    let memory = execute(&program, 10_000);
    let value = |name: &String| {
        let at = inputs().iter().position(|(input, _)| input == name);
        let Some(cell) = program.shared.iter().find(|cell| cell.name == *name) else {
            // Nothing accesses it.
            return at.map_or(0, |at| set[at] & (u64::MAX >> (64 - 8 * inputs()[at].1)));
        };
        memory.get(&cell.address).copied().unwrap_or(cell.initial[0]) as u64
    };
    outputs().iter().map(value).collect()
}

/// A loop that does nothing does so for ever: a thread in it never ends.
#[test]
fn an_endless_loop_does_not_end() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", "int x; void wait(void) { x = 1; for (;;) ; }\nvoid spin(void) { for (;;) { x = 1; } }\n");
    for level in ["-O0", "-O2"] {
        gcc(&folder, &[level, "-c", "code.c", "-o", "code.o"]);
        for call in ["wait()", "spin()"] {
            let options = weir_x86::Options { threads: vec![call.into()], ..Default::default() };
            let program = read("code.o", &folder.read("code.o"), &options);
            let found = weir_testkit::explore(&program, weir_testkit::Model::Sc, 1_000).expect("supported");
            assert!(found.complete && found.final_states.is_empty(), "{call} at {level}");
        }
    }
}

/// Values at the limits of all sizes.
fn limit(rng: &mut Rng) -> u64 {
    let size = *rng.pick(&[8, 16, 32, 64]);
    let top = 1_u64 << (size - 1);
    let low = *rng.pick(&[0, 1, 2, top - 1, top, top + 1, top.wrapping_mul(2).wrapping_sub(1), rng.clone().bits()]);
    if rng.chance(40) { low } else { low ^ (rng.bits() << (size - 1) << 1) }
}

#[test]
fn instructions_do_what_the_processor_does() {
    let Some(folder) = Folder::with_gcc() else { return };
    let list = instructions();
    let mut rng = Rng::new(3);
    let sets: Vec<Vec<u64>> = (0..40).map(|_| inputs().iter().map(|_| limit(&mut rng)).collect()).collect();
    folder.write("code.c", &code(&list));
    folder.write("driver.c", &driver(list.len(), &sets));
    gcc(&folder, &["-c", "code.c", "-o", "code.o"]);
    gcc(&folder, &["driver.c", "code.o", "-o", "driver"]);
    let printed = run(&folder, "driver");
    let mut rows =
        printed.lines().map(|line| line.split_whitespace().map(|word| word.parse::<u64>().expect("a number")));
    let bytes = folder.read("code.o");
    for (number, (text, _)) in list.iter().enumerate() {
        let options = weir_x86::Options { threads: vec![format!("t{number}()")], ..Default::default() };
        let program = read("code.o", &bytes, &options);
        for set in &sets {
            let expected: Vec<u64> = rows.next().expect("a row for each").collect();
            let found = translated(&program, set);
            assert_eq!(found, expected, "{text}\non {:?} = {set:x?}\nfor {:?}", inputs(), outputs());
        }
    }
}
