//! Parts of a program as `.weir` text: what a message, a witness or a graph shows for an address, an
//! instruction, a place or a property. Names are shown as the program has them (`Worker[1]`, `f.r`);
//! the printer of whole programs makes them valid first, and then uses these same texts.
//!
//! A text reads back as the same part: parentheses stand only where the grammar needs them, and
//! `flag[e]` is written only for the address that the parser makes of it.

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::ids::{EdgeId, LocId, RegId, ThreadId};
use crate::program::{
    Address, BinaryRmw, Body, Instruction, Multiplicity, Program, Property, PropertyKind, RegExpr, Rmw, StateAtom,
    StateExpr,
};

impl Program {
    /// A cell as the source names it: `x`, `flag[1]`; `mem[7]` where nothing is declared.
    pub fn cell_name(&self, address: Address) -> String {
        match self.shared_at(address) {
            Some((shared, offset)) if shared.is_array => format!("{}[{offset}]", shared.name),
            Some((shared, _)) => shared.name.clone(),
            None => format!("mem[{address}]"),
        }
    }

    /// What an edge of a thread does, such as `x = 1`, `r = flag[1]` or `ok = cas(x, 0, 1)`.
    pub fn instruction_text(&self, thread: ThreadId, edge: EdgeId) -> String {
        let body = self.body(thread);
        body_instruction_text(self, body, &body.edge(edge).instruction)
    }

    /// A place of a thread: its label, else the line it is on.
    pub fn place_name(&self, thread: ThreadId, loc: LocId) -> String {
        body_place_name(self, self.body(thread), loc)
    }

    /// Where a thread is, in words: `at critical`, `at line 12`, `done`, `at a failed assertion`.
    pub fn whereabouts(&self, thread: ThreadId, loc: LocId) -> String {
        let body = self.body(thread);
        let is_named = body.locations.get(loc.index()).is_some_and(|location| !location.labels.is_empty());
        if body.failed == Some(loc) {
            "at a failed assertion".into()
        } else if body.is_done(loc) && !is_named {
            "done".into()
        } else {
            format!("at {}", self.place_name(thread, loc))
        }
    }

    /// A condition on states, such as `P0 at critical && x == 1`.
    pub fn condition_text(&self, condition: &StateExpr) -> String {
        render(condition, &mut |atom| self.atom_text(atom)).text
    }

    /// A property, such as `forbid P0 at critical && P1 at critical`.
    pub fn property_text(&self, property: &Property) -> String {
        match &property.kind {
            PropertyKind::Forbid(condition) => format!("forbid {}", self.condition_text(condition)),
            PropertyKind::ForbidDeadlock => "forbid deadlock".to_string(),
            PropertyKind::Exists(condition) => format!("exists {}", self.condition_text(condition)),
            PropertyKind::Always(condition) => format!("always {}", self.condition_text(condition)),
            PropertyKind::ForbidStuck => "forbid stuck".to_string(),
            PropertyKind::Live(condition) => format!("live {}", self.condition_text(condition)),
        }
    }

    fn atom_text(&self, atom: &StateAtom) -> Text {
        match atom {
            StateAtom::At { thread, locations } => self.places_text(*thread, locations),
            StateAtom::Register { thread, register } => {
                Text::atom(format!("{}.{}", self.thread(*thread).name, register_name(self.body(*thread), *register)))
            }
            StateAtom::Cell(address) => Text::atom(self.cell_name(*address)),
        }
    }

    /// How many instances of a thread are at one of these places. A single thread is at one place at a
    /// time, so several places are alternatives; instances of the others are counted and added up.
    fn places_text(&self, thread: ThreadId, locations: &[LocId]) -> Text {
        let single = self.thread(thread).multiplicity == Multiplicity::One;
        let names = self.place_set(thread, locations);
        let at = |name: String| format!("{} at {name}", self.thread(thread).name);
        let (op, binding) = if single { (BinaryOp::Or, PLACE) } else { (BinaryOp::Add, ATOM) };
        let one = |name| if single { at(name) } else { format!("count({})", at(name)) };
        match names.len() {
            0 => Text::atom("0".to_string()),
            1 => Text { text: names.into_iter().map(one).collect(), binding },
            _ => {
                let separator = format!(" {} ", op.symbol());
                let text = names.into_iter().map(one).collect::<Vec<_>>().join(&separator);
                Text { text, binding: op.precedence() }
            }
        }
    }

    /// The fewest names that cover exactly these places: one label, `end`, or one name for each.
    fn place_set(&self, thread: ThreadId, locations: &[LocId]) -> Vec<String> {
        let body = self.body(thread);
        let first = locations.first().and_then(|loc| body.locations.get(loc.index()));
        let labels = first.map_or(&[][..], |location| &location.labels);
        if let Some(label) = labels.iter().find(|label| body.labelled(label) == locations) {
            return vec![label.clone()];
        }
        if body.location_ids().filter(|&loc| body.is_done(loc)).eq(locations.iter().copied()) {
            return vec!["end".to_string()];
        }
        let name = |&loc: &LocId| match body.failed {
            Some(failed) if failed == loc => "a failed assertion".to_owned(),
            _ => body_place_name(self, body, loc),
        };
        locations.iter().map(name).collect()
    }
}

/// What an instruction of `body` (of a thread or a procedure of `program`) does, without the semicolon.
pub fn body_instruction_text(program: &Program, body: &Body, instruction: &Instruction) -> String {
    let expr = |value: &RegExpr| expr_text(body, value);
    let name = |register: RegId| register_name(body, register);
    let into = |register: &Option<RegId>, text: String| match register {
        Some(register) => format!("{} = {text}", name(*register)),
        None => text,
    };
    match instruction {
        Instruction::Skip => "skip".to_string(),
        Instruction::Load { register, address } => {
            format!("{} = {}", name(*register), address_text(program, body, address))
        }
        Instruction::Snapshot(loads) => loads_text(program, body, loads),
        Instruction::Await { loads, condition } => {
            format!("await {} if {}", loads_text(program, body, loads), expr(condition))
        }
        Instruction::Store { address, value } => {
            format!("{} = {}", address_text(program, body, address), expr(value))
        }
        Instruction::Fence => "fence".to_string(),
        Instruction::Membarrier => "membarrier".to_string(),
        Instruction::Assign { register, value } => format!("{} = {}", name(*register), expr(value)),
        Instruction::Assume(condition) => format!("assume {}", expr(condition)),
        Instruction::Assert(condition) => format!("assert {}", expr(condition)),
        Instruction::ReadModifyWrite { register, address, operation } => {
            into(register, rmw_text(&address_text(program, body, address), operation, &expr))
        }
        Instruction::Lock => "lock".to_string(),
        Instruction::Unlock => "unlock".to_string(),
        Instruction::Havoc { register, range } => {
            format!("{} = any {}..{}", name(*register), range.low, range.high)
        }
        Instruction::Call { procedure, arguments, register } => {
            let callee = program.procedures.get(procedure.index()).map_or("?", |procedure| &procedure.name);
            let arguments: Vec<String> = arguments.iter().map(expr).collect();
            into(register, format!("{callee}({})", arguments.join(", ")))
        }
        Instruction::Return(value) => format!("return {}", expr(value)),
        Instruction::Spawn(thread) => {
            format!("spawn {}", program.threads.get(thread.index()).map_or("?", |thread| &thread.name))
        }
        Instruction::Terminate => "terminate".to_string(),
    }
}

/// `a, b = x, y`
fn loads_text(program: &Program, body: &Body, loads: &[(RegId, RegExpr)]) -> String {
    let registers: Vec<String> = loads.iter().map(|(register, _)| register_name(body, *register)).collect();
    let cells: Vec<String> = loads.iter().map(|(_, address)| address_text(program, body, address)).collect();
    format!("{} = {}", registers.join(", "), cells.join(", "))
}

/// An expression over the registers of `body`.
pub fn expr_text(body: &Body, expr: &RegExpr) -> String {
    render(expr, &mut |&register| Text::atom(register_name(body, register))).text
}

/// A place of a body: its label, else the line it is on, else (with no source) its number.
pub fn body_place_name(program: &Program, body: &Body, loc: LocId) -> String {
    let Some(location) = body.locations.get(loc.index()) else {
        return format!("location {}", loc.0);
    };
    match location.labels.first() {
        Some(label) => label.clone(),
        None if program.source.text().is_empty() => format!("location {}", loc.0),
        None => format!("line {}", program.source.line(location.span)),
    }
}

fn register_name(body: &Body, register: RegId) -> String {
    body.registers.get(register.index()).map_or_else(|| format!("r{}", register.0), |register| register.name.clone())
}

/// The cell at an address: by name where the address is constant, else `flag[e]` or `mem[e]`.
fn address_text(program: &Program, body: &Body, address: &RegExpr) -> String {
    if let Some(address) = address.constant() {
        return program.cell_name(address);
    }
    if let Expr::Binary(BinaryOp::Add, base, index) = address
        && let Expr::Const(base) = **base
        && let Some((shared, 0)) = program.shared_at(base)
        && shared.is_array
    {
        return format!("{}[{}]", shared.name, expr_text(body, index));
    }
    format!("mem[{}]", expr_text(body, address))
}

fn rmw_text(cell: &str, operation: &Rmw, expr: &impl Fn(&RegExpr) -> String) -> String {
    match operation {
        Rmw::CompareAndSwap { expected, new } => format!("cas({cell}, {}, {})", expr(expected), expr(new)),
        Rmw::CompareExchange { expected, new } => format!("cmpxchg({cell}, {}, {})", expr(expected), expr(new)),
        Rmw::Exchange(value) => format!("xchg({cell}, {})", expr(value)),
        Rmw::Fetch(op, value) => format!("{}({cell}, {})", fetch_name(*op), expr(value)),
    }
}

fn fetch_name(op: BinaryRmw) -> &'static str {
    match op {
        BinaryRmw::Add => "fetch_add",
        BinaryRmw::Subtract => "fetch_sub",
        BinaryRmw::And => "fetch_and",
        BinaryRmw::Or => "fetch_or",
        BinaryRmw::Xor => "fetch_xor",
    }
}

/// A text and how tightly its outermost operator binds; higher is tighter, operators as in
/// [`BinaryOp::precedence`].
struct Text {
    text: String,
    binding: u8,
}

/// `T at label` binds tighter than any operator, but reads better with parentheses after `!`.
const PLACE: u8 = 9;
const UNARY: u8 = 10;
const ATOM: u8 = 11;

impl Text {
    fn atom(text: String) -> Self {
        Self { text, binding: ATOM }
    }

    /// The text as an operand of something that binds this tightly.
    fn within(self, binding: u8) -> String {
        if self.binding >= binding { self.text } else { format!("({})", self.text) }
    }
}

fn render<L>(expr: &Expr<L>, leaf: &mut impl FnMut(&L) -> Text) -> Text {
    match expr {
        Expr::Const(value) => Text { text: value.to_string(), binding: if *value < 0 { UNARY } else { ATOM } },
        Expr::Leaf(place) => leaf(place),
        Expr::Unary(op, operand) => {
            let operand = render(operand, leaf);
            // Two signs in a row look like a decrement.
            let signs = *op == UnaryOp::Negate && operand.text.starts_with('-');
            let operand = operand.within(if signs { ATOM } else { UNARY });
            Text { text: format!("{}{operand}", op.symbol()), binding: UNARY }
        }
        Expr::Binary(op, left, right) => {
            let binding = op.precedence();
            // Operators associate to the left; comparisons do not chain at all.
            let left_binding = if op.negated().is_some() { binding + 1 } else { binding };
            let left = render(left, leaf).within(left_binding);
            let right = render(right, leaf).within(binding + 1);
            Text { text: format!("{left} {} {right}", op.symbol()), binding }
        }
    }
}

#[cfg(test)]
mod tests;
