//! Whether two programs are the same up to names, the numbers of locations and the order of edges.

use std::collections::BTreeMap;

use weir_ir::{
    Body, CostSubject, Edge, Expr, Instruction, LocId, Multiplicity, Program, PropertyKind, RegExpr, Rmw, StateAtom,
    StateExpr, Value,
};
use weir_testkit::Rng;

/// Says what differs, on what control flow reaches.
pub(crate) fn isomorphic(left: &Program, right: &Program) -> Result<(), String> {
    same("cells", cells(left), cells(right))?;
    same("threads", headers(left), headers(right))?;
    same("procedures", left.procedures.len(), right.procedures.len())?;
    let mut maps = Vec::new();
    for (one, two) in left.threads.iter().zip(&right.threads) {
        let map = bodies(&one.body, &two.body).map_err(|error| format!("thread {}: {error}", one.name))?;
        label_costs(left, right, (&one.body, &two.body), &map)?;
        maps.push(map);
    }
    for (one, two) in left.procedures.iter().zip(&right.procedures) {
        same("parameters", &one.parameters, &two.parameters)?;
        bodies(&one.body, &two.body).map_err(|error| format!("procedure {}: {error}", one.name))?;
    }
    same("other costs", kind_costs(left), kind_costs(right))?;
    properties(left, right, &maps)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, left: T, right: T) -> Result<(), String> {
    if left == right { Ok(()) } else { Err(format!("{what} differ:\n{left:?}\n{right:?}")) }
}

fn cells(program: &Program) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let cells = program.shared.iter();
    cells.map(|shared| (shared.address, shared.is_array, shared.initial.clone(), shared.range)).collect()
}

fn headers(program: &Program) -> Vec<(Multiplicity, u32)> {
    program.threads.iter().map(|thread| (thread.multiplicity, thread.weight)).collect()
}

fn kind_costs(program: &Program) -> Vec<(CostSubject, Value)> {
    let rules = program.costs.iter().filter(|rule| !matches!(rule.subject, CostSubject::Label(_)));
    rules.map(|rule| (rule.subject.clone(), rule.cost)).collect()
}

type Map = BTreeMap<LocId, LocId>;

/// Walks two automata side by side; gives the locations that correspond.
fn bodies(left: &Body, right: &Body) -> Result<Map, String> {
    same("numbers of registers", left.registers.len(), right.registers.len())?;
    // `terminate` to any but one of several ends is written `skip`.
    let several_ends = left.location_ids().filter(|&loc| left.is_done(loc)).count() > 1;
    let mut map = Map::new();
    let mut back = Map::new();
    let mut open = vec![(left.entry, right.entry)];
    while let Some((one, two)) = open.pop() {
        match (map.insert(one, two), back.insert(two, one)) {
            (None, None) => {}
            (Some(before), Some(behind)) if (before, behind) == (two, one) => continue,
            _ => return Err(format!("{one:?} and {two:?} both correspond to something else")),
        }
        same(&format!("ends at {one:?} and {two:?}"), left.is_done(one), right.is_done(two))?;
        let (ones, twos) = (edges(left, one, several_ends), edges(right, two, several_ends));
        let texts = |edges: &[(Instruction, &Edge)]| edges.iter().map(|edge| edge.0.clone()).collect::<Vec<_>>();
        same(&format!("edges at {one:?} and {two:?}"), texts(&ones), texts(&twos))?;
        open.extend(ones.iter().zip(&twos).map(|(one, two)| (one.1.to, two.1.to)));
    }
    Ok(map)
}

/// The edges out of a location with constants folded, in an order of their own.
fn edges(body: &Body, loc: LocId, several_ends: bool) -> Vec<(Instruction, &Edge)> {
    let instruction = |edge: &Edge| match &edge.instruction {
        Instruction::Terminate if several_ends => Instruction::Skip,
        other => folded(other),
    };
    let mut edges: Vec<_> = body.edges_from(loc).map(|(_, edge)| (instruction(edge), edge)).collect();
    edges.sort_by_key(|(instruction, _)| format!("{instruction:?}"));
    edges
}

fn folded(instruction: &Instruction) -> Instruction {
    let mut folded = instruction.clone();
    match &mut folded {
        Instruction::Load { address: only, .. }
        | Instruction::Assign { value: only, .. }
        | Instruction::Assume(only)
        | Instruction::Assert(only)
        | Instruction::Return(only) => *only = fold(only),
        Instruction::Store { address, value } => (*address, *value) = (fold(address), fold(value)),
        Instruction::ReadModifyWrite { address, operation, .. } => {
            *address = fold(address);
            match operation {
                Rmw::CompareAndSwap { expected, new } | Rmw::CompareExchange { expected, new } => {
                    (*expected, *new) = (fold(expected), fold(new));
                }
                Rmw::Exchange(value) | Rmw::Fetch(_, value) => *value = fold(value),
            }
        }
        Instruction::Snapshot(loads) => loads.iter_mut().for_each(|(_, address)| *address = fold(address)),
        Instruction::Await { loads, condition } => {
            loads.iter_mut().for_each(|(_, address)| *address = fold(address));
            *condition = fold(condition);
        }
        Instruction::Call { arguments, .. } => arguments.iter_mut().for_each(|argument| *argument = fold(argument)),
        _ => {}
    }
    folded
}

fn fold(expr: &RegExpr) -> RegExpr {
    if let Some(value) = expr.constant() {
        return Expr::Const(value);
    }
    match expr {
        Expr::Unary(op, operand) => Expr::unary(*op, fold(operand)),
        Expr::Binary(op, left, right) => Expr::binary(*op, fold(left), fold(right)),
        other => other.clone(),
    }
}

/// What steps from corresponding locations cost by label.
fn label_costs(left: &Program, right: &Program, bodies: (&Body, &Body), map: &Map) -> Result<(), String> {
    let cost = |program: &Program, body: &Body, loc: LocId| {
        let labels = &body.locations[loc.index()].labels;
        let applies = |subject: &CostSubject| matches!(subject, CostSubject::Label(label) if labels.contains(label));
        let leaves = body.edges_from(loc).len() > 0;
        program.costs.iter().rfind(|rule| leaves && applies(&rule.subject)).map(|rule| rule.cost)
    };
    for (&one, &two) in map {
        same(&format!("costs at {one:?}"), cost(left, bodies.0, one), cost(right, bodies.1, two))?;
    }
    Ok(())
}

fn properties(left: &Program, right: &Program, maps: &[Map]) -> Result<(), String> {
    same("numbers of properties", left.properties.len(), right.properties.len())?;
    for (one, two) in left.properties.iter().zip(&right.properties) {
        match (&one.kind, &two.kind) {
            (PropertyKind::ForbidDeadlock, PropertyKind::ForbidDeadlock)
            | (PropertyKind::ForbidStuck, PropertyKind::ForbidStuck) => {}
            (PropertyKind::Forbid(one), PropertyKind::Forbid(two))
            | (PropertyKind::Live(one), PropertyKind::Live(two))
            | (PropertyKind::Exists(one), PropertyKind::Exists(two))
            | (PropertyKind::Always(one), PropertyKind::Always(two)) => conditions(left, one, two, maps)?,
            (one, two) => return Err(format!("kinds of properties differ: {one:?}\n{two:?}")),
        }
    }
    Ok(())
}

/// Two conditions have the same value in many made-up states.
fn conditions(program: &Program, left: &StateExpr, right: &StateExpr, maps: &[Map]) -> Result<(), String> {
    let mut rng = Rng::new(7);
    for _ in 0..20 {
        let state = MadeUp::new(program, maps, &mut rng);
        let one = left.eval(&mut |atom| state.observe(atom, false));
        let two = right.eval(&mut |atom| state.observe(atom, true));
        same("values of conditions", (one, left), (two, left)).map_err(|error| format!("{error}\n{right:?}"))?;
    }
    Ok(())
}

/// Places of all instances of each thread, in both programs; registers and cells come from a hash. A register
/// of a thread that does not run from the start is 0.
struct MadeUp {
    is_single: Vec<bool>,
    places: Vec<Vec<(LocId, LocId)>>,
    salt: u64,
}

impl MadeUp {
    fn new(program: &Program, maps: &[Map], rng: &mut Rng) -> Self {
        let is_single = program.threads.iter().map(|thread| thread.multiplicity == Multiplicity::One).collect();
        let mut places = Vec::new();
        for (thread, map) in program.threads.iter().zip(maps) {
            let all: Vec<(LocId, LocId)> = map.iter().map(|(&one, &two)| (one, two)).collect();
            let instances = if thread.multiplicity == Multiplicity::One { 1 } else { rng.below(4) };
            places.push((0..instances).map(|_| *rng.pick(&all)).collect());
        }
        Self { is_single, places, salt: rng.bits() }
    }

    fn observe(&self, atom: &StateAtom, in_second: bool) -> Value {
        match atom {
            StateAtom::At { thread, locations } => {
                let instances = self.places[thread.index()].iter();
                let place = |&(one, two): &(LocId, LocId)| if in_second { two } else { one };
                instances.map(place).filter(|loc| locations.contains(loc)).count() as Value
            }
            StateAtom::Register { thread, .. } if !self.is_single[thread.index()] => 0,
            StateAtom::Register { thread, register } => self.value(u64::from(thread.0) << 32 | u64::from(register.0)),
            StateAtom::Cell(address) => self.value(*address as u64 ^ 0xABCD),
        }
    }

    fn value(&self, key: u64) -> Value {
        Rng::new(self.salt ^ key).below(3) as Value
    }
}
