//! Tests as text, in the syntax of either instruction set.

use super::tree::{
    Cell, Condition, Declared, Initial, Instruction, Operand, Place, Quantifier, Register, Test, Thread,
};

const FLAGS: [&str; 4] = ["zf", "sf", "cf", "of"];

/// The register that tests of `X86` call by a name of their own.
pub(super) const SYMBOLIC: usize = 7;

pub(super) fn of(test: &Test) -> String {
    let mut text = format!("{} random\n\"what it does is not said here\"\nOrigin=made up\n{{", arch(test));
    for cell in &test.cells {
        text += &cell_text(cell);
    }
    for thread in &test.threads {
        text += &registers(test, thread);
    }
    text += "}\n";
    let heads: Vec<String> = test.threads.iter().map(|thread| format!(" P{} ", thread.number)).collect();
    text += &format!("{};\n", heads.join("|"));
    let columns: Vec<Vec<String>> = test.threads.iter().map(|thread| column(test, thread)).collect();
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cells: Vec<&str> = columns.iter().map(|column| column.get(row).map_or("", String::as_str)).collect();
        text += &format!(" {} ;\n", cells.join(" | "));
    }
    text + &question(test, &condition(test, &test.condition))
}

/// What the test asks, with this text for its condition.
pub(super) fn question(test: &Test, condition_text: &str) -> String {
    let mut text = String::new();
    if !test.locations.is_empty() {
        let types = ["", " int", "", " int*"];
        let one = |(nth, it): (usize, &Place)| format!("{}{};", place(test, it), types[nth % types.len()]);
        text += &format!("locations [{}]\n", test.locations.iter().enumerate().map(one).collect::<Vec<_>>().join(" "));
    }
    if let Some(filter) = &test.filter {
        text += &format!("filter ({})\n", condition(test, filter));
    }
    let keyword = match (test.quantifier, test.style % 3) {
        (Quantifier::Exists, 0) => "exists",
        (Quantifier::Exists, 1) => "final",
        (Quantifier::Exists, _) => "",
        (Quantifier::NotExists, 0) => "not exists",
        (Quantifier::NotExists, _) => "~exists",
        (Quantifier::Forall, _) => "forall",
    };
    text + &format!("{keyword} ({condition_text})\n")
}

fn arch(test: &Test) -> &'static str {
    if test.is_wide { "X86_64" } else { "X86" }
}

fn initial(initial: &Initial, is_reference: bool) -> String {
    match initial {
        Initial::Number(value) => value.to_string(),
        Initial::Address(name) if is_reference => format!("&{name}"),
        Initial::Address(name) => name.clone(),
    }
}

fn cell_text(cell: &Cell) -> String {
    let values: Vec<String> = cell.initial.iter().map(|value| initial(value, true)).collect();
    let length = cell.length.map_or(String::new(), |length| format!("[{length}]"));
    let value = match (values.as_slice(), cell.length) {
        ([], _) => String::new(),
        (values, Some(_)) => format!("={{{}}}", values.join(",")),
        (values, None) => format!("={}", values[0]),
    };
    match (cell.declared, values.is_empty()) {
        (Some(declared), _) => format!(" {declared} {}{length}{value};", cell.name),
        (None, false) => format!(" {}{value};", cell.name),
        (None, true) => String::new(),
    }
}

fn registers(test: &Test, thread: &Thread) -> String {
    let one = |Declared { register, value, declared }: &Declared| {
        let name = format!("{}:{}", thread.number, register_name(test, *register));
        let value = value.as_ref().map_or(String::new(), |value| format!("={}", initial(value, false)));
        let declared = declared.map_or(String::new(), |(declared, ..)| format!("{declared} "));
        format!(" {declared}{name}{value};")
    };
    thread.registers.iter().map(one).collect()
}

/// A register as results name it.
pub(super) fn register_name(test: &Test, register: Register) -> String {
    match (test.is_wide, register.number) {
        (false, SYMBOLIC) => "%a".to_string(),
        (false, _) => register.name().to_ascii_uppercase(),
        (true, _) => register.name().to_string(),
    }
}

fn column(test: &Test, thread: &Thread) -> Vec<String> {
    let labels = |labels: &[String]| labels.iter().map(|label| format!("{label}: ")).collect::<String>();
    let mut lines: Vec<String> = thread.code.iter().map(|one| labels(&one.labels) + &instruction(test, one)).collect();
    if !thread.last_labels.is_empty() {
        lines.push(labels(&thread.last_labels));
    }
    lines
}

fn instruction(test: &Test, instruction: &Instruction) -> String {
    let letter = match instruction.size {
        1 => "b",
        2 => "w",
        4 => "l",
        _ => "q",
    };
    let mut name = format!("{}{}", instruction.name, if instruction.has_suffix { letter } else { "" });
    if instruction.is_locked {
        name = format!("lock{} {name}", if test.style.is_multiple_of(2) { ";" } else { "" });
    }
    if !test.is_wide {
        name = name.to_ascii_uppercase();
    }
    if let Some(target) = &instruction.target {
        return format!("{name} {target}");
    }
    let mut operands: Vec<String> = instruction.operands.iter().map(|one| operand(test, one)).collect();
    if test.is_wide && !is_written_destination_first(test, instruction) {
        operands.reverse();
    }
    format!("{name} {}", operands.join(",")).trim_end().to_string()
}

/// Two instructions are written both ways in tests of 64 bits, and moves on a condition if the source is a cell.
fn is_written_destination_first(test: &Test, instruction: &Instruction) -> bool {
    let is_memory =
        |at: usize| matches!(instruction.operands.get(at), Some(Operand::Cell(_) | Operand::Computed { .. }));
    let is_free = match instruction.name.as_str() {
        "cmpxchg" | "xadd" => is_memory(0),
        name if name.starts_with("cmov") => is_memory(1),
        _ => false,
    };
    is_free && (test.style / 3).is_multiple_of(2)
}

fn operand(test: &Test, operand: &Operand) -> String {
    let percent = |register: &Register| {
        let name = register_name(test, *register);
        if test.is_wide { format!("%{name}") } else { name }
    };
    let (open, close) = if test.is_wide { ("(", ")") } else { ("[", "]") };
    match operand {
        Operand::Number(value) if test.style.is_multiple_of(5) && *value >= 0 => format!("$0x{value:x}"),
        Operand::Number(value) => format!("${value}"),
        Operand::AddressOf(name) => format!("${name}"),
        Operand::Register(register) => percent(register),
        Operand::Cell(name) => format!("{open}{name}{close}"),
        Operand::Computed { base, offset, index } => {
            let offset = if *offset == 0 && test.style.is_multiple_of(2) { String::new() } else { offset.to_string() };
            let index = index.as_ref().map_or(String::new(), |(register, scale)| {
                let scale =
                    if *scale == 1 && test.style.is_multiple_of(2) { String::new() } else { format!(",{scale}") };
                format!(",{}{scale}", percent(register))
            });
            format!("{offset}{open}{}{index}{close}", percent(base))
        }
    }
}

pub(super) fn place(test: &Test, place: &Place) -> String {
    match place {
        Place::Register(thread, register) => format!("{thread}:{}", register_name(test, *register)),
        Place::Flag(thread, flag) => {
            let name = FLAGS[*flag];
            format!("{thread}:{}", if test.is_wide { name.to_string() } else { name.to_ascii_uppercase() })
        }
        Place::Cell(name, None) => name.clone(),
        Place::Cell(name, Some(index)) => format!("{name}[{index}]"),
    }
}

fn condition(test: &Test, tree: &Condition) -> String {
    let atom = |left: &Place| match left {
        Place::Cell(name, None) if test.style.is_multiple_of(4) => format!("[{name}]"),
        other => place(test, other),
    };
    let join = |parts: &[Condition], operator: &str| {
        parts.iter().map(|part| inner(test, part)).collect::<Vec<_>>().join(operator)
    };
    match tree {
        Condition::Equal(left, value) => format!("{}={value}", atom(left)),
        Condition::Differs(left, value) if test.style.is_multiple_of(2) => format!("{}!={value}", atom(left)),
        Condition::Differs(left, value) => format!("{}<>{value}", atom(left)),
        Condition::IsAddress(left, name) if test.style.is_multiple_of(2) => format!("{}=&{name}", atom(left)),
        Condition::IsAddress(left, name) => format!("{}={name}", atom(left)),
        Condition::SamePlace(left, right) => match right {
            Place::Cell(..) if test.style.is_multiple_of(2) => format!("{}=*{}", atom(left), place(test, right)),
            Place::Cell(..) => format!("{}=[{}]", atom(left), place(test, right)),
            _ => format!("{}={}", atom(left), place(test, right)),
        },
        Condition::Elements(name, values) => {
            format!("{name}={{{}}}", values.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
        }
        Condition::Not(part) => format!("~{}", inner(test, part)),
        Condition::And(parts) => join(parts, " /\\ "),
        Condition::Or(parts) => join(parts, " \\/ "),
        Condition::Implies(left, right) => format!("{} => {}", inner(test, left), inner(test, right)),
        Condition::True => "true".to_string(),
        Condition::False => "false".to_string(),
    }
}

/// A part of a condition, in parentheses unless it is one comparison.
fn inner(test: &Test, tree: &Condition) -> String {
    let text = condition(test, tree);
    let is_plain = !matches!(tree, Condition::Not(_) | Condition::And(_) | Condition::Or(_) | Condition::Implies(..));
    if is_plain { text } else { format!("({text})") }
}
