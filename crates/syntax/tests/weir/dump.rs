//! Plain texts of programs and messages, to compare with.

use std::fmt::Write;

use weir_ir::{
    BinaryRmw, Body, Diagnostic, Expr, Instruction, Program, PropertyKind, RegExpr, Rmw, Source, StateAtom, StateExpr,
};
use weir_syntax::weir::{Options, Parsed, parse};

/// Parses a text that must be right.
pub(crate) fn parsed(text: &str) -> Parsed {
    parse(&Source::new("test.weir", text), &Options::default())
        .unwrap_or_else(|errors| panic!("{text}\n{}", messages(text, &errors)))
}

/// The program of a text that must be right.
pub(crate) fn program(text: &str) -> Program {
    parsed(text).program
}

/// The errors of a text that must be wrong, one a line.
pub(crate) fn errors(text: &str) -> String {
    match parse(&Source::new("test.weir", text), &Options::default()) {
        Ok(_) => panic!("no error in\n{text}"),
        Err(errors) => messages(text, &errors),
    }
}

/// The warnings of a text that must be right, one a line.
pub(crate) fn warnings(text: &str) -> String {
    messages(text, &parsed(text).warnings)
}

/// `line:column code: message` for each.
pub(crate) fn messages(text: &str, diagnostics: &[Diagnostic]) -> String {
    let source = Source::new("test.weir", text);
    let one = |diagnostic: &Diagnostic| {
        let at = source.line_column(diagnostic.primary.span.start);
        format!("{}:{} {}: {}", at.line, at.column, diagnostic.code, diagnostic.message)
    };
    diagnostics.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// The steps of the only thread of a program whose body is given.
pub(crate) fn steps(declarations: &str, body: &str) -> Vec<String> {
    let program = program(&format!("{declarations} thread T {{ {body} }}"));
    edges(&program.threads[0].body)
}

/// Each edge as `0 -> 1: r = mem[1]`; locations with labels are `0(a)`.
pub(crate) fn edges(body: &Body) -> Vec<String> {
    let place = |loc: weir_ir::LocId| {
        let labels = &body.locations[loc.index()].labels;
        if labels.is_empty() { loc.0.to_string() } else { format!("{}({})", loc.0, labels.join(",")) }
    };
    let edge = |edge: &weir_ir::Edge| {
        format!("{} -> {}: {}", place(edge.from), place(edge.to), instruction(body, &edge.instruction))
    };
    body.edges().iter().map(edge).collect()
}

/// The text that each edge came from.
pub(crate) fn spans(program: &Program, body: &Body) -> Vec<String> {
    body.edges().iter().map(|edge| program.source.slice(edge.span).to_string()).collect()
}

pub(crate) fn instruction(body: &Body, instruction: &Instruction) -> String {
    let name = |register: &weir_ir::RegId| body.registers[register.index()].name.clone();
    let text = |value: &RegExpr| expression(value, &mut |register| name(register));
    let target = |register: &Option<weir_ir::RegId>| {
        register.as_ref().map_or(String::new(), |register| format!("{} = ", name(register)))
    };
    match instruction {
        Instruction::Skip => "skip".into(),
        Instruction::Load { register, address } => format!("{} = mem[{}]", name(register), text(address)),
        Instruction::Snapshot(loads) => {
            let registers: Vec<String> = loads.iter().map(|(register, _)| name(register)).collect();
            let cells: Vec<String> = loads.iter().map(|(_, address)| format!("mem[{}]", text(address))).collect();
            format!("{} = {}", registers.join(", "), cells.join(", "))
        }
        Instruction::Store { address, value } => format!("mem[{}] = {}", text(address), text(value)),
        Instruction::Fence => "fence".into(),
        Instruction::Membarrier => "membarrier".into(),
        Instruction::Await { loads, condition } => {
            let loads = self::instruction(body, &Instruction::Snapshot(loads.clone()));
            format!("await {loads} if {}", text(condition))
        }
        Instruction::Assign { register, value } => format!("{} = {}", name(register), text(value)),
        Instruction::Assume(value) => format!("assume {}", text(value)),
        Instruction::Assert(value) => format!("assert {}", text(value)),
        Instruction::ReadModifyWrite { register, address, operation } => {
            let cell = format!("mem[{}]", text(address));
            let operation = match operation {
                Rmw::CompareAndSwap { expected, new } => format!("cas({cell}, {}, {})", text(expected), text(new)),
                Rmw::CompareExchange { expected, new } => format!("cmpxchg({cell}, {}, {})", text(expected), text(new)),
                Rmw::Exchange(value) => format!("xchg({cell}, {})", text(value)),
                Rmw::Fetch(BinaryRmw::Add, value) => format!("fetch_add({cell}, {})", text(value)),
                Rmw::Fetch(op, value) => format!("fetch {op:?}({cell}, {})", text(value)),
            };
            format!("{}{operation}", target(register))
        }
        Instruction::Lock => "lock".into(),
        Instruction::Unlock => "unlock".into(),
        Instruction::Havoc { register, range } => format!("{} = any {}..{}", name(register), range.low, range.high),
        Instruction::Call { procedure, arguments, register } => {
            let arguments: Vec<String> = arguments.iter().map(text).collect();
            format!("{}call {}({})", target(register), procedure.0, arguments.join(", "))
        }
        Instruction::Return(value) => format!("return {}", text(value)),
        Instruction::Spawn(thread) => format!("spawn {}", thread.0),
        Instruction::Terminate => "terminate".into(),
    }
}

/// An expression with parentheses around everything that has operands, except on the outside.
fn expression<L>(value: &Expr<L>, leaf: &mut impl FnMut(&L) -> String) -> String {
    fn inner<L>(value: &Expr<L>, leaf: &mut impl FnMut(&L) -> String, outside: bool) -> String {
        let text = match value {
            Expr::Const(value) => return value.to_string(),
            Expr::Leaf(place) => return leaf(place),
            Expr::Unary(op, operand) => return format!("{}{}", op.symbol(), inner(operand, leaf, false)),
            Expr::Binary(op, left, right) => {
                let left = inner(left, leaf, false);
                format!("{left} {} {}", op.symbol(), inner(right, leaf, false))
            }
        };
        if outside { text } else { format!("({text})") }
    }
    inner(value, leaf, true)
}

/// The whole program as text.
pub(crate) fn whole(program: &Program) -> String {
    let mut text = String::new();
    for shared in &program.shared {
        writeln!(
            text,
            "shared {} @ {} {:?} {:?} {}",
            shared.name, shared.address, shared.initial, shared.range, shared.is_array
        )
        .unwrap();
    }
    for (name, value) in &program.constants {
        writeln!(text, "const {name} = {value}").unwrap();
    }
    let bodies = program
        .threads
        .iter()
        .map(|thread| (format!("thread {} {:?} {}", thread.name, thread.multiplicity, thread.weight), &thread.body));
    let procedures = program.procedures.iter().map(|procedure| (format!("proc {}", procedure.name), &procedure.body));
    for (header, body) in bodies.chain(procedures) {
        writeln!(
            text,
            "{header}: {:?}, failed {:?}",
            body.registers.iter().map(|register| &register.name).collect::<Vec<_>>(),
            body.failed
        )
        .unwrap();
        edges(body).iter().for_each(|edge| writeln!(text, "  {edge}").unwrap());
    }
    for property in &program.properties {
        writeln!(text, "{}", self::property(&property.kind)).unwrap();
    }
    for cost in &program.costs {
        writeln!(text, "cost {:?} = {}", cost.subject, cost.cost).unwrap();
    }
    text
}

pub(crate) fn property(kind: &PropertyKind) -> String {
    match kind {
        PropertyKind::Forbid(condition) => format!("forbid {}", state(condition)),
        PropertyKind::ForbidDeadlock => "forbid deadlock".into(),
        PropertyKind::Exists(condition) => format!("exists {}", state(condition)),
        PropertyKind::Always(condition) => format!("always {}", state(condition)),
        PropertyKind::ForbidStuck => "forbid stuck".into(),
        PropertyKind::Live(condition) => format!("live {}", state(condition)),
    }
}

fn state(condition: &StateExpr) -> String {
    expression(condition, &mut |atom| match atom {
        StateAtom::At { thread, locations } => {
            format!("{}@{:?}", thread.0, locations.iter().map(|loc| loc.0).collect::<Vec<_>>())
        }
        StateAtom::Register { thread, register } => format!("{}.{}", thread.0, register.0),
        StateAtom::Cell(address) => format!("mem[{address}]"),
    })
}
