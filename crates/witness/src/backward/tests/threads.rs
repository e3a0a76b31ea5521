//! The states that each thread can be in by itself, found naively: whatever a cell may ever hold, a load may find.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Address, Edge, Instruction, Multiplicity, Program, RegExpr, RegId, Rmw, ThreadId, Value};

use super::super::LocalState;

/// The values that cells may hold.
type Values = BTreeMap<Address, BTreeSet<Value>>;

/// The threads that run.
pub(super) fn running(program: &Program) -> Vec<ThreadId> {
    program.thread_ids().filter(|&thread| program.thread(thread).multiplicity != Multiplicity::Spawned).collect()
}

/// For each thread that runs its states; none if there are more than `limit`.
pub(super) fn local_states(program: &Program, limit: usize) -> Option<Vec<BTreeSet<LocalState>>> {
    let mut values = Values::new();
    let threads = running(program);
    let mut states: Vec<BTreeSet<LocalState>> = threads.iter().map(|&thread| start(program, thread)).collect();
    loop {
        let before = (states.clone(), values.clone());
        for (&thread, own) in threads.iter().zip(&mut states) {
            for state in own.clone() {
                for (_, edge) in program.body(thread).edges_from(state.location) {
                    own.extend(after(program, thread, &state, edge, &mut values));
                }
            }
            if own.len() > limit {
                return None;
            }
        }
        if (&states, &values) == (&before.0, &before.1) {
            return Some(states);
        }
    }
}

fn start(program: &Program, thread: ThreadId) -> BTreeSet<LocalState> {
    let body = program.body(thread);
    let registers = (0..body.registers.len()).map(|register| (RegId::new(register), 0)).collect();
    BTreeSet::from([LocalState { location: body.entry, registers, holds_lock: false }])
}

fn held(program: &Program, values: &Values, address: Address) -> BTreeSet<Value> {
    let stored = values.get(&address).cloned().unwrap_or_default();
    stored.into_iter().chain([program.initial_value(address)]).collect()
}

/// Where an edge may lead.
fn after(program: &Program, thread: ThreadId, state: &LocalState, edge: &Edge, values: &mut Values) -> Vec<LocalState> {
    let eval = |expr: &RegExpr| expr.eval(&mut |register| state.registers[register]);
    let next = LocalState { location: edge.to, ..state.clone() };
    let with = |changes: &[(RegId, Value)]| {
        let mut next = next.clone();
        next.registers.extend(changes.iter().copied());
        next
    };
    match &edge.instruction {
        Instruction::Skip | Instruction::Terminate | Instruction::Fence | Instruction::Membarrier => vec![next],
        Instruction::Load { register, address } => {
            held(program, values, eval(address)).into_iter().map(|value| with(&[(*register, value)])).collect()
        }
        Instruction::Snapshot(loads) | Instruction::Await { loads, .. } => {
            let mut found: Vec<BTreeMap<Address, Value>> = vec![BTreeMap::new()];
            for address in loads.iter().map(|(_, address)| eval(address)).collect::<BTreeSet<_>>() {
                let held = held(program, values, address);
                let longer = |found: BTreeMap<Address, Value>| {
                    held.iter()
                        .map(move |&value| found.clone().into_iter().chain([(address, value)]).collect())
                        .collect::<Vec<_>>()
                };
                found = found.into_iter().flat_map(longer).collect();
            }
            let set = |found: BTreeMap<Address, Value>| {
                with(&loads.iter().map(|(register, address)| (*register, found[&eval(address)])).collect::<Vec<_>>())
            };
            let goes_on = |after: &LocalState| match &edge.instruction {
                Instruction::Await { condition, .. } => condition.eval(&mut |register| after.registers[register]) != 0,
                _ => true,
            };
            found.into_iter().map(set).filter(goes_on).collect()
        }
        Instruction::Store { address, value } => {
            let (address, value) = (eval(address), eval(value));
            if !program.admits(address, value) {
                return Vec::new();
            }
            values.entry(address).or_default().insert(value);
            vec![next]
        }
        Instruction::Assign { register, value } => vec![with(&[(*register, eval(value))])],
        Instruction::Assume(condition) => {
            if eval(condition) == 0 {
                Vec::new()
            } else {
                vec![next]
            }
        }
        Instruction::Assert(condition) if eval(condition) == 0 => {
            let failed = program.body(thread).failed.expect("a place for failed assertions");
            vec![LocalState { location: failed, ..next }]
        }
        Instruction::Assert(_) => vec![next],
        Instruction::ReadModifyWrite { register, address, operation } => {
            let address = eval(address);
            let mut found = Vec::new();
            for old in held(program, values, address) {
                let (written, result) = match operation {
                    Rmw::CompareAndSwap { expected, new } if eval(expected) == old => (Some(eval(new)), 1),
                    Rmw::CompareAndSwap { .. } => (None, 0),
                    Rmw::CompareExchange { expected, new } if eval(expected) == old => (Some(eval(new)), old),
                    Rmw::CompareExchange { .. } => (None, old),
                    Rmw::Exchange(new) => (Some(eval(new)), old),
                    Rmw::Fetch(how, operand) => (Some(how.operator().apply(old, eval(operand))), old),
                };
                if written.is_none_or(|value| program.admits(address, value)) {
                    values.entry(address).or_default().extend(written);
                    found.push(register.map_or_else(|| next.clone(), |register| with(&[(register, result)])));
                }
            }
            found
        }
        Instruction::Lock if !state.holds_lock => vec![LocalState { holds_lock: true, ..next }],
        Instruction::Unlock if state.holds_lock => vec![LocalState { holds_lock: false, ..next }],
        Instruction::Lock | Instruction::Unlock => Vec::new(),
        Instruction::Havoc { register, range } => {
            (range.low..=range.high).map(|value| with(&[(*register, value)])).collect()
        }
        Instruction::Call { .. } | Instruction::Return(_) | Instruction::Spawn(_) => Vec::new(),
    }
}
