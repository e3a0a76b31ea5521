//! What tests look like once they are read: as few steps and registers as one would write by hand.

use weir_ir::{Instruction, body_instruction_text};

use crate::read;

/// The steps of the first thread, with labels where they lead from one.
fn steps(text: &str) -> Vec<String> {
    let program = read(text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program;
    let body = &program.threads[0].body;
    let step = |edge: &weir_ir::Edge| {
        let labels = &body.locations[edge.from.index()].labels;
        let label = if labels.is_empty() { String::new() } else { format!("{}: ", labels.join(",")) };
        format!("{label}{}", body_instruction_text(&program, body, &edge.instruction))
    };
    body.edges().iter().map(step).collect()
}

#[test]
fn registers_of_32_bits_are_read_and_written_in_one_step() {
    let text = "X86 t\n{ 0:EBX=0; 0:ECX=7; }\n P0 ;\n MOV EAX,[x] ;\n MOV [y],EAX ;\n MOV EBX,$1 ;\n MOV [y],ECX ;\nexists (0:EAX=0)";
    assert_eq!(steps(text), ["EAX = x", "y = EAX", "EBX = 1", "y = 7"]);
}

#[test]
fn registers_that_start_with_something_and_are_written_get_it_first() {
    let text = "X86 t\n{ 0:EAX=3; 0:EBX=0; }\n P0 ;\n ADD EAX,$1 ;\n ADD EBX,$1 ;\nexists (0:EAX=0)";
    let found = steps(text);
    assert_eq!(found.iter().filter(|step| step.as_str() == "EAX = 3").count(), 1, "{found:?}");
    assert_eq!(found.iter().filter(|step| step.starts_with("EBX = ")).count(), 1, "{found:?}");
}

#[test]
fn labels_stay_and_registers_are_those_of_the_test() {
    let text = "X86 t\n{ }\n P0 ;\n L0: MOV EAX,[x] ;\n CMP EAX,$0 ;\n JE L0 ;\n L1: NOP ;\nexists (0:EAX=0)";
    let found = steps(text);
    assert_eq!(found[0], "L0: EAX = x");
    assert!(found.contains(&"L1: skip".to_string()), "{found:?}");
    let program = read(text).expect("correct").program;
    let registers = &program.threads[0].body.registers;
    let own: Vec<&str> = registers.iter().filter(|one| !one.is_temporary).map(|one| one.name.as_str()).collect();
    assert_eq!(own, ["EAX", "ZF"]);
}

#[test]
fn a_locked_addition_is_one_step_unless_its_result_may_not_fit_the_cell() {
    let of = |initial: &str, instruction: &str| {
        let text = format!("X86_64 t\n{{ {initial} }}\n P0 ;\n {instruction} ;\nexists (x=0)");
        let program = read(&text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program;
        let edges = program.threads[0].body.edges();
        let locks = edges.iter().any(|edge| edge.instruction == Instruction::Lock);
        let modifies = edges.iter().any(|edge| matches!(edge.instruction, Instruction::ReadModifyWrite { .. }));
        assert_ne!(locks, modifies, "{text}");
        modifies
    };
    // The ranges of cells hold for all times, so one addition counts as any number of them.
    assert!(!of("int8_t x=1;", "lock incb (x)"));
    assert!(!of("x=1;", "lock decl (x)"));
    assert!(!of("int16_t x=1;", "lock addw $3,(x)"));
    assert!(of("int16_t x=1;", "lock addw $0,(x)"));
    assert!(of("x=1;", "lock subl $0,(x)"));
    assert!(of("int64_t x=-1;", "lock incq (x)"));
    assert!(of("int8_t x=127;", "lock xorb $-1,(x)"));
    assert!(!of("int8_t x=1;", "lock negb (x)"));
}

#[test]
fn cells_lie_away_from_the_numbers_of_the_test() {
    let addresses = |number: &str| {
        let text = format!("X86_64 t\n{{ 0:rax=x; 0:rbx={number}; }}\n P0 ;\n movl $1,(%rax) ;\nexists (0:rax=x)");
        read(&text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).addresses
    };
    assert_eq!(addresses("1"), [(4096, "x".to_string())]);
    assert_eq!(addresses("4095"), [(4096, "x".to_string())]);
    assert_eq!(addresses("4096"), [(8192, "x".to_string())]);
    assert_eq!(addresses("4099"), [(8192, "x".to_string())]);
    assert_eq!(addresses("4100"), [(4096, "x".to_string())]);
    // Without addresses as values, cells are numbered, and values have no names.
    let plain = read("X86 t\n{ }\n P0 ;\n MOV [x],$1 ;\n MOV [y],$1 ;\nexists (x=1)").expect("correct");
    assert_eq!(plain.addresses, []);
    assert_eq!(plain.program.shared.iter().map(|cell| cell.address).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(plain.address_name(1), None);
}

#[test]
fn elements_of_an_array_follow_each_other_and_arrays_are_aligned() {
    let text = "X86_64 t\n{ int16_t t[3]; int x; 0:rax=t; }\n P0 ;\n movw $1,4(%rax) ;\nexists (x=1)";
    let litmus = read(text).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let expected = [(4096, "t[0]"), (4098, "t[1]"), (4100, "t[2]"), (4160, "x")];
    assert_eq!(litmus.addresses, expected.map(|(address, name)| (address, name.to_string())));
}

#[test]
fn a_cell_that_only_the_left_side_of_an_implication_names_exists_and_is_observed() {
    let litmus =
        read("X86 t\n{ }\n P0 ;\n MOV [x],$1 ;\nforall (z=0 => x=1)").unwrap_or_else(|errors| panic!("{errors:#?}"));
    let cells: Vec<&str> = litmus.program.shared.iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(cells, ["x", "z"]);
    let observed: Vec<&str> = litmus.observed.iter().map(|observable| observable.name.as_str()).collect();
    assert_eq!(observed, ["x", "z"]);
}
