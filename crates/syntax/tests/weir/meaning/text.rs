//! Programs as text, with as few parentheses as the reference allows.

use super::arithmetic::precedence;
use super::tree::{Block, Condition, Expr, Program, Property, Shared, Statement, Thread, Value};

pub(super) fn of(program: &Program) -> String {
    let mut text = String::new();
    for (name, value, _) in &program.constants {
        text += &format!("const {name} = {};\n", expr(value));
    }
    for declaration in &program.shared {
        text += &format!("shared {};\n", shared(declaration));
    }
    for procedure in &program.procedures {
        text += &format!("proc {}({}) {}\n", procedure.name, procedure.parameters.join(", "), block(&procedure.body));
    }
    for one in &program.threads {
        text += &format!("thread {} {}\n", header(one), block(&one.body));
    }
    for property in &program.properties {
        text += &match property {
            Property::Forbid(holds) => format!("forbid {};\n", condition(holds)),
            Property::Deadlock => "forbid deadlock;\n".to_string(),
            Property::Exists(holds) => format!("exists {};\n", condition(holds)),
            Property::Always(holds) => format!("always {};\n", condition(holds)),
        };
    }
    for (subject, cost) in &program.costs {
        text += &format!("cost {subject} = {cost};\n");
    }
    text
}

fn header(thread: &Thread) -> String {
    let mut text = thread.name.clone();
    if let Some((count, number)) = &thread.copies {
        text += &number.as_ref().map_or(String::new(), |number| format!("({number})"));
        text += &format!("[{count}]");
    }
    text + &thread.weight.map_or(String::new(), |weight| format!(" weight {weight}"))
}

fn shared(shared: &Shared) -> String {
    let mut text = shared.name.clone();
    text += &shared.size.map_or(String::new(), |size| format!("[{size}]"));
    text += &shared.address.map_or(String::new(), |address| format!(" @ {address}"));
    text += &shared.bits.map_or(String::new(), |bits| format!(": u{bits}"));
    text += &shared.range.map_or(String::new(), |(low, high)| format!(": {low}..{high}"));
    text + &match shared.initial.as_slice() {
        [] => String::new(),
        [one] => format!(" = {one}"),
        several => format!(" = {{{}}}", several.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn block(statements: &Block) -> String {
    let lines: Vec<String> = statements.iter().map(statement).collect();
    format!("{{ {} }}", lines.join(" "))
}

fn statement(statement: &Statement) -> String {
    match statement {
        Statement::Let(names) => {
            let one = |(name, value): &(String, Option<Expr>)| {
                value.as_ref().map_or(name.clone(), |value| format!("{name} = {}", expr(value)))
            };
            format!("let {};", names.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        Statement::Assign(target, op, value) => format!("{} {op}= {};", expr(target), expr(value)),
        Statement::Snapshot(registers, cells) => format!("{} = {};", registers.join(", "), list(cells)),
        Statement::Await { keeps: Some(register), cell, op, other } => {
            format!("await {register} = {} if {register} {op} {};", expr(cell), expr(other))
        }
        Statement::Await { keeps: None, cell, op, other } => format!("await {} {op} {};", expr(cell), expr(other)),
        Statement::Evaluate(value) => format!("{};", expr(value)),
        Statement::If(arms, otherwise) => {
            let arms: Vec<String> =
                arms.iter().map(|(test, then)| format!("if {} {}", expr(test), block(then))).collect();
            arms.join(" else ") + &otherwise.as_ref().map_or(String::new(), |block_| format!(" else {}", block(block_)))
        }
        Statement::While(test, body) => format!("while {} {}", expr(test), block(body)),
        Statement::Loop(body) => format!("loop {}", block(body)),
        Statement::ForEachOther(name, body) => format!("for each other {name} {}", block(body)),
        Statement::Break => "break;".to_string(),
        Statement::Continue => "continue;".to_string(),
        Statement::Label(label) => format!("{label}:"),
        Statement::Goto(label) => format!("goto {label};"),
        Statement::Jump(label) => format!("jump {label};"),
        Statement::Choose(branches) => {
            format!("choose {}", branches.iter().map(block).collect::<Vec<_>>().join(" or "))
        }
        Statement::Assume(holds) => format!("assume {};", expr(holds)),
        Statement::Assert(holds) => format!("assert {};", expr(holds)),
        Statement::Fence => "fence;".to_string(),
        Statement::Membarrier => "membarrier;".to_string(),
        Statement::Skip => "skip;".to_string(),
        Statement::Lock => "lock;".to_string(),
        Statement::Unlock => "unlock;".to_string(),
        Statement::Atomic(body) => format!("atomic {}", block(body)),
        Statement::Return(value) => value.as_ref().map_or("return;".into(), |value| format!("return {};", expr(value))),
        Statement::Terminate => "terminate;".to_string(),
        Statement::End => "end;".to_string(),
        Statement::Block(body) => block(body),
    }
}

fn list(all: &[Expr]) -> String {
    all.iter().map(expr).collect::<Vec<_>>().join(", ")
}

/// Numbers in all the ways to write them, each value in one of them.
fn number(value: Value) -> String {
    match value {
        2 => "0b1_0".to_string(),
        3 => "0x3".to_string(),
        1000 => "1_000".to_string(),
        _ => value.to_string(),
    }
}

fn expr(tree: &Expr) -> String {
    match tree {
        Expr::Number(value) => number(*value),
        Expr::Register(name) | Expr::Constant(name) | Expr::Cell(name) => name.clone(),
        Expr::Element(name, index) => format!("{name}[{}]", expr(index)),
        Expr::Memory(address) => format!("mem[{}]", expr(address)),
        Expr::Pointee(address) => format!("*{}", operand(address)),
        Expr::Address(name, index) => {
            format!("&{name}{}", index.as_ref().map_or(String::new(), |index| format!("[{}]", expr(index))))
        }
        Expr::Unary(op, inner) => format!("{op}{}", operand(inner)),
        Expr::Binary(op, left, right) => {
            format!("{} {op} {}", side(left, precedence(op), false), side(right, precedence(op), true))
        }
        Expr::Call(name, arguments) => format!("{name}({})", list(arguments)),
        Expr::Modify(operation, cell, operands) => format!("{operation}({}, {})", expr(cell), list(operands)),
        Expr::Any(low, high) => format!("any {low}..{high}"),
    }
}

/// The operand of an operator that stands in front.
fn operand(tree: &Expr) -> String {
    let text = expr(tree);
    // `- -1` would be one number with one minus too many for a reader.
    let is_plain = !matches!(tree, Expr::Binary(..) | Expr::Any(..)) && !text.starts_with('-');
    if is_plain { text } else { format!("({text})") }
}

/// One side of an operator. All bind to the left; comparisons do not chain.
fn side(tree: &Expr, above: u8, is_right: bool) -> String {
    let text = expr(tree);
    let needs_parentheses = match tree {
        Expr::Binary(op, ..) => {
            let own = precedence(op);
            own < above || own == above && (is_right || own == 3)
        }
        Expr::Any(..) => true,
        _ => false,
    };
    if needs_parentheses { format!("({text})") } else { text }
}

fn condition(tree: &Condition) -> String {
    let thread =
        |name: &str, number: &Option<usize>| number.map_or(name.to_string(), |number| format!("{name}[{number}]"));
    let place = |label: &Option<String>| label.clone().unwrap_or("end".to_string());
    match tree {
        Condition::Number(value) => number(*value),
        Condition::Constant(name) | Condition::Cell(name, None) => name.clone(),
        Condition::Cell(name, Some(index)) => format!("{name}[{index}]"),
        Condition::Memory(address) => format!("mem[{address}]"),
        Condition::Address(name) => format!("&{name}"),
        Condition::Register(name, number, register) => format!("{}.{register}", thread(name, number)),
        Condition::At(name, number, label) => format!("{} at {}", thread(name, number), place(label)),
        Condition::Count(name, label) => format!("count({name} at {})", place(label)),
        Condition::Unary(op, inner) => format!("{op}({})", condition(inner)),
        Condition::Binary(op, left, right) => {
            let one = |side: &Condition, is_right: bool| match side {
                Condition::Binary(inner, ..) => {
                    let (own, above) = (precedence(inner), precedence(op));
                    let loose = own < above || own == above && (is_right || own == 3);
                    if loose { format!("({})", condition(side)) } else { condition(side) }
                }
                _ => condition(side),
            };
            format!("{} {op} {}", one(left, false), one(right, true))
        }
    }
}
