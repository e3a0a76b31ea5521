//! What is refused: where, and with which message.

use weir_ir::Source;

use crate::read;

/// The first error as `line:column message`.
fn refusal(text: &str) -> String {
    let errors = read(text).expect_err("this must be refused");
    let at = Source::new("", text).line_column(errors[0].primary.span.start);
    format!("{}:{} {}", at.line, at.column, errors[0].message)
}

/// Errors in the frame of a test.
#[test]
fn headers_and_frames() {
    let cases = [
        ("", "1:1 this is not a litmus test: the file is empty"),
        ("{ }", "1:1 a litmus test starts with its instruction set and its name"),
        ("x86 SB\n{ }", "1:1 the instruction set must be written `X86`, not `x86`"),
        ("AArch64 MP\n{ }", "1:1 litmus tests for `AArch64` are not supported, only those for `X86` and `X86_64`"),
        ("X86\n{ }", "1:4 the name of the test is missing"),
        ("X86 SB\nx=0;", "2:5 the initial state is missing"),
        ("X86 SB\n\"not closed\n{ }", "2:1 this string is not closed"),
        ("X86 SB\n{ x=0;\n P0 ;\n", "2:1 the initial state is not closed"),
        ("X86 SB\n{ x=0; ", "2:1 the initial state is not closed"),
        ("X86 SB\n(* not closed\n{ }", "2:1 this comment is not closed"),
        ("X86 SB\n{ }\n", "3:1 expected a thread name, such as `P0`, found the end of the test"),
        ("X86 SB\n{ }\n P0 ; P0 ;", "3:7 unknown instruction `P0`"),
        ("X86 SB\n{ }\n P0 | P0 ;", "3:7 two columns are named `P0`"),
        ("X86 SB\n{ }\n T0 ;", "3:2 expected a thread name, such as `P0`, found `T0`"),
        ("X86 SB\n{ }}\n P0 ;", "2:4 expected a thread name, such as `P0`, found `}`"),
        ("X86 SB\n{ }\n P0 ;\n MOV [x],$1", "4:12 expected `;` at the end of the row, found the end of the test"),
        ("X86 SB\n{ }\n P0 ;\n # ;", "4:2 unexpected character `#`"),
    ];
    for (text, expected) in cases {
        let found = refusal(text);
        assert!(found.starts_with(expected), "{text}\n{found}");
    }
}

fn initial(state: &str) -> String {
    refusal(&format!("X86_64 t\n{{ {state} }}\n P0 ;\n movl (x),%eax ;\n"))
}

#[test]
fn initial_states() {
    let cases = [
        ("x=", "2:6 expected a number or a cell name, found `}`"),
        ("x=1 y=2", "2:7 expected `;` or `}`, found `y`"),
        ("x=1; x=2", "2:8 `x` is initialized twice"),
        ("0:rax=1; 0:eax=2", "2:12 this register is initialized twice"),
        ("1:rax=1", "2:3 there is no thread P1"),
        ("0:foo=1", "2:5 expected a register name, found `foo`"),
        ("0:al=1", "2:3 only part of the register is initialized"),
        ("float x=1", "2:3 there is no type `float`"),
        ("x[0]=1", "2:3 a single element cannot be initialized"),
        ("int x[0]", "2:3 an array needs at least one element"),
        ("int x[2]={1,2,3}", "2:3 3 values for 2 elements"),
        ("x={1,2}", "2:3 several values for a single register or cell"),
        ("int x[2]; 0:rax=x[2]", "2:13 there is no cell `x[2]`"),
        ("x=99999999999999999999", "2:5 `99999999999999999999` is not a 64-bit number"),
        ("%a=1", "2:3 this register does not name its thread"),
        ("uint64_t x", "4:7 mixed sizes: `x` is declared with 8 bytes, but accessed with 4 bytes"),
    ];
    for (state, expected) in cases {
        let found = initial(state);
        assert!(found.starts_with(expected), "{state}\n{found}");
    }
}

fn x86(instruction: &str) -> String {
    refusal(&format!("X86 t\n{{ }}\n P0 | P1 ;\n{instruction} | ;\nexists (x=0)"))
}

fn x86_64(instruction: &str) -> String {
    refusal(&format!("X86_64 t\n{{ p=x; }}\n P0 ;\n{instruction} ;\nexists (x=0)"))
}

#[test]
fn instructions() {
    let cases = [
        ("MVO [x],$1", "4:1 unknown instruction `MVO`"),
        ("MOV [x]", "4:1 this instruction takes 2 operands, but has 1"),
        ("INC [x],[y]", "4:1 this instruction takes 1 operand, but has 2"),
        ("MFENCE [x]", "4:1 this instruction takes 0 operands, but has 1"),
        ("MOV $1,[x]", "4:5 a number cannot be the destination"),
        ("MOV [x],[y]", "4:1 an x86 instruction can have at most one memory operand"),
        ("MOV [x],y", "4:9 expected an operand"),
        ("MOV [x,$1", "4:7 expected `]`, found `,`"),
        ("MOV [1],$1", "4:6 expected a cell or a register, found `1`"),
        ("MOV [x],$1 $2", "4:12 expected `|` or `;` after the instruction"),
        ("MOV EAX,BX", "4:1 the registers have different sizes"),
        ("LOCK MOV [x],$1", "4:1 `LOCK` cannot be applied to this instruction"),
        ("LOCK INC EAX", "4:1 `LOCK` cannot be applied to this instruction"),
        ("LOCK", "4:6 expected an instruction, found `|`"),
        ("JMP", "4:5 expected the label to jump to, found `|`"),
        ("JNE L1", "4:5 P0 has no label `L1`"),
        ("CMPXCHG EAX,EBX", "4:1 this instruction takes a cell and a register"),
        ("XCHG [x],$1", "4:10 a number cannot be an operand of an exchange"),
        ("SHL EAX,EBX", "4:9 the shift count must be a constant"),
        ("SHL EAX,$32", "4:9 the shift count for 4 bytes must be 1 to 31"),
        ("MOVNTI [x],EAX", "4:1 `MOVNTI` is not supported"),
        ("MOV EBX,[EAX]", "4:9 there is no cell at this address (0)"),
        ("L0: L0: NOP", "4:5 the label `L0` is defined twice"),
        ("NOP | NOP", "4:13 this row has 3 or more columns, but there are 2 threads"),
    ];
    for (instruction, expected) in cases {
        let found = x86(instruction);
        assert!(found.starts_with(expected), "{instruction}\n{found}");
    }
    let few = refusal("X86 t\n{ }\n P0 | P1 ;\n NOP ;\n");
    assert_eq!(few, "4:2 this row has 1 column, but there are 2 threads");
}

#[test]
fn instructions_of_64_bits() {
    let cases = [
        ("movl (x),$1", "4:10 a number cannot be the destination"),
        ("movb %eax,(x)", "4:1 the instruction operates on 1 byte, but the register has 4 bytes"),
        ("movw $1,2(x)", "4:11 mixed sizes: this access starts in the middle of `x`"),
        ("movl $1,(%rax)", "4:9 there is no cell at this address (0)"),
        ("mov $1,(%rax)", "4:8 the size of this access is unknown"),
        ("movl (p),%eax", "4:6 mixed sizes: `p` is declared with 8 bytes, but accessed with 4 bytes"),
        (
            "movl (x),%eax ;\nmovq %rbx,(x)",
            "5:11 mixed sizes: `x` is accessed with 8 bytes here, but with 4 bytes elsewhere",
        ),
        ("shll $2,%eax ;\njl L0 ;\nL0:", "4:1 the overflow flag is undefined after a shift by more than one bit"),
    ];
    for (instruction, expected) in cases {
        let found = x86_64(instruction);
        assert!(found.starts_with(expected), "{instruction}\n{found}");
    }
}

#[test]
fn questions() {
    let cases = [
        ("exists", "4:7 expected a cell name"),
        ("exists (x=0", "4:12 expected `/\\`, `\\/` or `)`, found the end of the test"),
        ("exists (x=0))", "4:13 expected `/\\`, `\\/` or the end of the test, found `)`"),
        ("exists (x)", "4:10 expected `=` or `!=`, found `)`"),
        ("exists (x=)", "4:11 expected a number or a cell name, found `)`"),
        ("exists (7:EAX=0)", "4:9 there is no thread P7"),
        ("exists (0:EXX=0)", "4:11 expected a register name, found `EXX`"),
        ("exists (x[3]=0)", "4:9 there is no cell `x[3]`"),
        ("exists (x={1})", "4:9 x is not an array"),
        ("~x=0", "4:2 expected `exists`, found `x`"),
        ("locations x exists (x=0)", "4:11 expected `[`, found `x`"),
        ("locations [x y z exists (x=0)", "4:25 expected `;` or `]`, found `(`"),
        ("filter exists (x=0)", "4:15 expected `=` or `!=`, found `(`"),
        ("exists (fault(P0))", "4:9 conditions on faults are not supported"),
    ];
    for (question, expected) in cases {
        let found = refusal(&format!("X86 t\n{{ }}\n P0 ;\n{question}"));
        assert!(found.starts_with(expected), "{question}\n{found}");
    }
}

/// All errors as `line:column message`.
fn refusals(text: &str) -> Vec<String> {
    let source = Source::new("", text);
    let shown = |error: &weir_ir::Diagnostic| {
        let at = source.line_column(error.primary.span.start);
        format!("{}:{} {}", at.line, at.column, error.message)
    };
    read(text).expect_err("this must be refused").iter().map(shown).collect()
}

#[track_caller]
fn check_all(text: &str, expected: &[&str]) {
    let found = refusals(text);
    let agree =
        found.len() == expected.len() && found.iter().zip(expected).all(|(found, wanted)| found.starts_with(wanted));
    assert!(agree, "{text}\n{found:#?}");
}

#[test]
fn all_errors_of_the_code_and_the_question_are_reported() {
    check_all(
        "X86 t\n{ }\n P0 | P1 ;\n MVO [x],$1 | MOV [y,$1 ;\n MOV EAX,$1 | JNO2 l | NOP ;\n NOP ;\n MOV EAX,EBX | NOP ;\nexists (0:EAX=)",
        &[
            "4:2 unknown instruction `MVO`",
            "4:21 expected `]`",
            "5:15 unknown instruction `JNO2`",
            "6:2 this row has 1 column, but there are 2 threads",
            "8:15 ",
        ],
    );
    // A row that is not ended takes the next one with it, and nothing is said of that.
    check_all(
        "X86 t\n{ }\n P0 | P1 ;\n NOP | MOV EAX,$1\n NOP | MVO ;\n NOP | MVO ;\nexists (x=0)",
        &["5:2 expected `|` or `;` after the instruction", "6:8 unknown instruction `MVO`"],
    );
    check_all("X86 t\n{ }\n P0 ;\n MVO EAX\nexists (x=0)", &["4:2 unknown instruction `MVO`"]);
    check_all("X86 t\n{ }\n P0 ;\n MVO EAX", &["4:2 unknown instruction `MVO`"]);
    // One for each thread of what instructions cannot mean.
    check_all(
        "X86 t\n{ }\n P0 | P1 ;\n JMP far | JMP away ;\n JMP off | JMP out ;\nexists (x=0)",
        &["4:6 P0 has no label `far`", "4:16 P1 has no label `away`"],
    );
}

#[test]
fn sizes_in_words_are_reported_as_unnecessary() {
    let errors = read("X86 t\n{ }\n P0 ;\n MOV DWORD PTR [x],$1 ;\nexists (x=0)").expect_err("refused");
    assert!(errors[0].help.as_ref().is_some_and(|help| help.starts_with("leave out the size")), "{errors:?}");
}

#[test]
fn every_refusal_shows_a_way_out_where_it_is_not_obvious() {
    for text in ["AArch64 MP\n{ }", "X86 t\n{ }\n P0 ;\n MVO [x],$1 ;", "X86 t\n{ }\n P0 | P1 ;\n NOP ;"] {
        let errors = read(text).expect_err("refused");
        assert!(errors[0].help.is_some(), "{text}");
    }
}
