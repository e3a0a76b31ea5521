//! The program as a machine reads it: cells, automata and properties in plain JSON.
//!
//! A checker that shares no code with Weir reads this and nothing else (`checker/`, docs/evidence.md). Evidence carries
//! the SHA-256 of exactly this text, so a change of the form is a change of the format of evidence.

use std::io::{self, Write};

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use weir_ir::flow::{Region, leavable_regions};
use weir_ir::{
    Address, BinaryOp, BinaryRmw, Body, EdgeId, Expr, Instruction, Multiplicity, Program, PropertyKind, RegExpr, RegId,
    Rmw, Shared, StateAtom, StateExpr, UnaryOp, Value,
};

/// Version of the form.
const AUTOMATON_FORMAT: u32 = 1;

/// The text.
///
/// # Panics
/// Never: all keys are strings, and writing to memory does not fail.
pub fn text(program: &Program) -> String {
    let mut text = Vec::new();
    write(program, &mut text).expect("writing to memory does not fail");
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// Writes the text.
///
/// # Errors
/// If `to` does not take it.
pub fn write(program: &Program, to: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *to, &Automata::new(program))?;
    to.write_all(b"\n")
}

/// The form.
#[derive(Serialize)]
pub(crate) struct Automata<'a> {
    format: u32,
    shared: Vec<SharedForm<'a>>,
    threads: Vec<ThreadForm<'a>>,
    procedures: Vec<ProcedureForm<'a>>,
    properties: Vec<PropertyForm<'a>>,
    /// For `forbid stuck`: threads, and the locations that they must always be able to leave.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    regions: Vec<(u32, Vec<u32>)>,
}

#[derive(Serialize)]
struct SharedForm<'a> {
    name: &'a str,
    is_array: bool,
    address: Address,
    initial: &'a [Value],
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<(Value, Value)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bits: Option<u32>,
}

#[derive(Serialize)]
struct ThreadForm<'a> {
    name: &'a str,
    runs: &'static str,
    /// How often it is picked, compared with others; absent if 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<u64>,
    #[serde(flatten)]
    body: BodyForm<'a>,
}

#[derive(Serialize)]
struct ProcedureForm<'a> {
    name: &'a str,
    parameters: Vec<u32>,
    #[serde(flatten)]
    body: BodyForm<'a>,
}

#[derive(Serialize)]
struct BodyForm<'a> {
    entry: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<u32>,
    registers: Vec<&'a str>,
    /// Where procedures are in it: each with its number, entry, parameters and registers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    frames: Vec<(u32, u32, Vec<u32>, Vec<u32>)>,
    locations: Vec<&'a [String]>,
    edges: Vec<EdgeForm<'a>>,
}

#[derive(Serialize)]
struct EdgeForm<'a> {
    from: u32,
    to: u32,
    line: u32,
    #[serde(rename = "do")]
    instruction: InstructionForm<'a>,
}

#[derive(Serialize)]
struct PropertyForm<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<StateForm<'a>>,
    text: String,
}

impl<'a> Automata<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        let thread = |thread: &'a weir_ir::Thread| ThreadForm {
            name: &thread.name,
            runs: match thread.multiplicity {
                Multiplicity::One => "once",
                Multiplicity::Spawned => "spawned",
                Multiplicity::Arbitrary => "arbitrary",
            },
            weight: Some(u64::from(thread.weight)).filter(|&weight| weight != 1),
            body: BodyForm::new(program, &thread.body),
        };
        let procedure = |procedure: &'a weir_ir::Procedure| ProcedureForm {
            name: &procedure.name,
            parameters: procedure.parameters.iter().map(|register| register.0).collect(),
            body: BodyForm::new(program, &procedure.body),
        };
        let property = |property: &'a weir_ir::Property| PropertyForm {
            kind: property_kind(&property.kind),
            condition: property.kind.condition().map(StateForm),
            text: program.property_text(property),
        };
        Self {
            format: AUTOMATON_FORMAT,
            shared: program.shared.iter().map(SharedForm::new).collect(),
            threads: program.threads.iter().map(thread).collect(),
            procedures: program.procedures.iter().map(procedure).collect(),
            properties: program.properties.iter().map(property).collect(),
            regions: regions(program),
        }
    }
}

/// What the threads must always be able to leave, if the program asks for it.
fn regions(program: &Program) -> Vec<(u32, Vec<u32>)> {
    if program.properties.iter().all(|property| property.kind != PropertyKind::ForbidStuck) {
        return Vec::new();
    }
    let form = |region: &Region| (region.thread.0, region.locations.iter().map(|location| location.0).collect());
    leavable_regions(program).iter().map(form).collect()
}

impl<'a> SharedForm<'a> {
    fn new(shared: &'a Shared) -> Self {
        Self {
            name: &shared.name,
            is_array: shared.is_array,
            address: shared.address,
            initial: &shared.initial,
            range: shared.range.map(|range| (range.low, range.high)),
            bits: shared.width.map(weir_ir::Width::bits),
        }
    }
}

impl<'a> BodyForm<'a> {
    fn new(program: &'a Program, body: &'a Body) -> Self {
        let edge = |edge: &'a weir_ir::Edge| EdgeForm {
            from: edge.from.0,
            to: edge.to.0,
            line: program.source.line(edge.span),
            instruction: InstructionForm(&edge.instruction),
        };
        let ids = (0..body.edges().len()).map(EdgeId::new);
        Self {
            entry: body.entry.0,
            failed: body.failed.map(|location| location.0),
            registers: body.registers.iter().map(|register| register.name.as_str()).collect(),
            frames: frames(body),
            locations: body.locations.iter().map(|location| location.labels.as_slice()).collect(),
            edges: ids.map(|id| edge(body.edge(id))).collect(),
        }
    }
}

fn frames(body: &Body) -> Vec<(u32, u32, Vec<u32>, Vec<u32>)> {
    let numbers = |registers: &[RegId]| registers.iter().map(|register| register.0).collect();
    let linked = (0..).zip(&body.frames).filter_map(|(number, frame)| Some((number, frame.as_ref()?)));
    linked
        .map(|(number, frame)| (number, frame.entry.0, numbers(&frame.parameters), numbers(&frame.registers)))
        .collect()
}

fn property_kind(kind: &PropertyKind) -> &'static str {
    match kind {
        PropertyKind::Forbid(_) => "forbid",
        PropertyKind::ForbidDeadlock => "deadlock",
        PropertyKind::Exists(_) => "exists",
        PropertyKind::Always(_) => "always",
        PropertyKind::ForbidStuck => "stuck",
        PropertyKind::Live(_) => "live",
    }
}

struct InstructionForm<'a>(&'a Instruction);

impl Serialize for InstructionForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Instruction::Skip => ("skip",).serialize(to),
            Instruction::Load { register, address } => ("load", register.0, RegForm(address)).serialize(to),
            Instruction::Snapshot(loads) => ("snapshot", load_forms(loads)).serialize(to),
            Instruction::Await { loads, condition } => ("await", load_forms(loads), RegForm(condition)).serialize(to),
            Instruction::Store { address, value } => ("store", RegForm(address), RegForm(value)).serialize(to),
            Instruction::Fence => ("fence",).serialize(to),
            Instruction::Membarrier => ("membarrier",).serialize(to),
            Instruction::Assign { register, value } => ("assign", register.0, RegForm(value)).serialize(to),
            Instruction::Assume(condition) => ("assume", RegForm(condition)).serialize(to),
            Instruction::Assert(condition) => ("assert", RegForm(condition)).serialize(to),
            Instruction::ReadModifyWrite { register, address, operation } => {
                let register = register.map(|register| register.0);
                ("rmw", register, RegForm(address), RmwForm(operation)).serialize(to)
            }
            Instruction::Lock => ("lock",).serialize(to),
            Instruction::Unlock => ("unlock",).serialize(to),
            Instruction::Havoc { register, range } => ("havoc", register.0, range.low, range.high).serialize(to),
            Instruction::Call { procedure, arguments, register } => {
                let arguments: Vec<_> = arguments.iter().map(RegForm).collect();
                ("call", procedure.0, arguments, register.map(|register| register.0)).serialize(to)
            }
            Instruction::Return(value) => ("return", RegForm(value)).serialize(to),
            Instruction::Spawn(thread) => ("spawn", thread.0).serialize(to),
            Instruction::Terminate => ("terminate",).serialize(to),
        }
    }
}

fn load_forms(loads: &[(RegId, RegExpr)]) -> Vec<(u32, RegForm<'_>)> {
    loads.iter().map(|(register, address)| (register.0, RegForm(address))).collect()
}

struct RmwForm<'a>(&'a Rmw);

impl Serialize for RmwForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Rmw::CompareAndSwap { expected, new } => ("cas", RegForm(expected), RegForm(new)).serialize(to),
            Rmw::CompareExchange { expected, new } => ("cmpxchg", RegForm(expected), RegForm(new)).serialize(to),
            Rmw::Exchange(value) => ("xchg", RegForm(value)).serialize(to),
            Rmw::Fetch(how, value) => {
                let name = match how {
                    BinaryRmw::Add => "add",
                    BinaryRmw::Subtract => "sub",
                    BinaryRmw::And => "and",
                    BinaryRmw::Or => "or",
                    BinaryRmw::Xor => "xor",
                };
                (name, RegForm(value)).serialize(to)
            }
        }
    }
}

/// An expression over the registers of a thread.
struct RegForm<'a>(&'a RegExpr);

impl Serialize for RegForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        expression(self.0, to, RegForm, |register| ("reg", register.0))
    }
}

/// An expression over a state.
struct StateForm<'a>(&'a StateExpr);

impl Serialize for StateForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        expression(self.0, to, StateForm, AtomForm)
    }
}

struct AtomForm<'a>(&'a StateAtom);

impl Serialize for AtomForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            StateAtom::At { thread, locations } => {
                let locations: Vec<u32> = locations.iter().map(|location| location.0).collect();
                ("at", thread.0, locations).serialize(to)
            }
            StateAtom::Register { thread, register } => ("register", thread.0, register.0).serialize(to),
            StateAtom::Cell(address) => ("cell", address).serialize(to),
        }
    }
}

/// A number stands for itself, an operator comes before its operands.
fn expression<'a, L, S: Serializer, F: Serialize, A: Serialize>(
    expr: &'a Expr<L>,
    to: S,
    form: impl Fn(&'a Expr<L>) -> F,
    leaf: impl FnOnce(&'a L) -> A,
) -> Result<S::Ok, S::Error> {
    match expr {
        Expr::Const(value) => value.serialize(to),
        Expr::Leaf(found) => leaf(found).serialize(to),
        Expr::Unary(operator, operand) => {
            let mut list = to.serialize_seq(Some(2))?;
            list.serialize_element(UnaryOp::symbol(*operator))?;
            list.serialize_element(&form(operand))?;
            list.end()
        }
        Expr::Binary(operator, left, right) => {
            let mut list = to.serialize_seq(Some(3))?;
            list.serialize_element(BinaryOp::symbol(*operator))?;
            list.serialize_element(&form(left))?;
            list.serialize_element(&form(right))?;
            list.end()
        }
    }
}
