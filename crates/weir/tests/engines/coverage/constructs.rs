//! What a program is made of.

use std::collections::BTreeSet;

use weir_ir::{Body, Expr, Instruction, LocId, Multiplicity, Program, RegExpr, Rmw, Shared, Thread, Value};
use weir_testkit::reference::{Goal, Model, explore};

use crate::exactly::LIMITS;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Construct {
    Load,
    Store,
    Fence,
    Membarrier,
    Skip,
    Assign,
    Assume,
    Assert,
    Terminate,
    Havoc,
    CompareAndSwap,
    CompareExchange,
    Exchange,
    Fetch,
    /// A read-modify-write whose result nobody wants.
    WithoutResult,
    Snapshot,
    /// Of one cell.
    Await,
    /// Of several cells.
    AwaitSeveral,
    /// Of three cells or more.
    LongSnapshot,
    /// That names one cell twice.
    RepeatedInSnapshot,
    /// That loads a cell to which its thread stores.
    SnapshotOfOwn,
    /// Several edges out of a location.
    Choice,
    Loop,
    Locked,
    /// A lock that is not given back, or given back without being taken.
    StrayLock,
    /// Several ways through a locked section.
    BranchInLock,
    Array,
    ComputedAddress,
    Undeclared,
    Range,
    Width,
    BlockedStore,
    Extreme,
    Deadlock,
    EqualThreads,
    AbsentThread,
    ThreeThreads,
}

impl Construct {
    pub(super) const ALL: [Self; 37] = {
        use Construct::*;
        [
            Load,
            Store,
            Fence,
            Membarrier,
            Skip,
            Assign,
            Assume,
            Assert,
            Terminate,
            Havoc,
            CompareAndSwap,
            CompareExchange,
            Exchange,
            Fetch,
            WithoutResult,
            Snapshot,
            Await,
            AwaitSeveral,
            LongSnapshot,
            RepeatedInSnapshot,
            SnapshotOfOwn,
            Choice,
            Loop,
            Locked,
            StrayLock,
            BranchInLock,
            Array,
            ComputedAddress,
            Undeclared,
            Range,
            Width,
            BlockedStore,
            Extreme,
            Deadlock,
            EqualThreads,
            AbsentThread,
            ThreeThreads,
        ]
    };

    /// All that the program has.
    pub(super) fn of(program: &Program) -> BTreeSet<Self> {
        let mut found = BTreeSet::new();
        let running: Vec<&Thread> =
            program.threads.iter().filter(|thread| thread.multiplicity == Multiplicity::One).collect();
        for thread in &running {
            for edge in thread.body.edges() {
                of_instruction(program, &thread.body, &edge.instruction, &mut found);
            }
            of_body(&thread.body, &mut found);
        }
        of_data(program, &mut found);
        let alike =
            |(at, left): (usize, &&Thread)| running[..at].iter().any(|right| left.body.does_the_same(&right.body));
        let shown = [
            (running.iter().enumerate().any(alike), Self::EqualThreads),
            (running.len() < program.threads.len(), Self::AbsentThread),
            (running.len() > 2, Self::ThreeThreads),
        ];
        found.extend(shown.into_iter().filter(|(is_there, _)| *is_there).map(|(_, construct)| construct));
        found
    }
}

fn of_instruction(program: &Program, body: &Body, instruction: &Instruction, found: &mut BTreeSet<Construct>) {
    use Construct::*;
    found.insert(match instruction {
        Instruction::Load { .. } => Load,
        Instruction::Store { .. } => Store,
        Instruction::Fence => Fence,
        Instruction::Membarrier => Membarrier,
        Instruction::Skip => Skip,
        Instruction::Assign { .. } => Assign,
        Instruction::Assume(_) => Assume,
        Instruction::Assert(_) => Assert,
        Instruction::Terminate => Terminate,
        Instruction::Havoc { .. } => Havoc,
        Instruction::Snapshot(_) => Snapshot,
        Instruction::Await { loads, .. } if loads.len() == 1 => Await,
        Instruction::Await { .. } => AwaitSeveral,
        Instruction::Lock | Instruction::Unlock => Locked,
        Instruction::ReadModifyWrite { operation, .. } => match operation {
            Rmw::CompareAndSwap { .. } => CompareAndSwap,
            Rmw::CompareExchange { .. } => CompareExchange,
            Rmw::Exchange(_) => Exchange,
            Rmw::Fetch(..) => Fetch,
        },
        Instruction::Call { .. } | Instruction::Return(_) | Instruction::Spawn(_) => return,
    });
    if let Instruction::ReadModifyWrite { register: None, .. } = instruction {
        found.insert(WithoutResult);
    }
    if let Instruction::Snapshot(loads) = instruction {
        let addresses: BTreeSet<String> = loads.iter().map(|(_, address)| format!("{address:?}")).collect();
        found.extend((loads.len() > 2).then_some(LongSnapshot));
        found.extend((addresses.len() < loads.len()).then_some(RepeatedInSnapshot));
        let stores = |address: &RegExpr| {
            body.edges()
                .iter()
                .any(|edge| matches!(&edge.instruction, Instruction::Store { address: other, .. } if other == address))
        };
        found.extend(loads.iter().any(|(_, address)| stores(address)).then_some(SnapshotOfOwn));
    }
    let declared = |address: Value| program.shared_at(address).is_some();
    for address in addresses(instruction) {
        match address {
            Expr::Const(address) => found.extend((!declared(*address)).then_some(Undeclared)),
            _ => found.extend([ComputedAddress]),
        }
    }
}

fn addresses(instruction: &Instruction) -> Vec<&RegExpr> {
    match instruction {
        Instruction::Load { address, .. }
        | Instruction::Store { address, .. }
        | Instruction::ReadModifyWrite { address, .. } => vec![address],
        Instruction::Snapshot(loads) | Instruction::Await { loads, .. } => {
            loads.iter().map(|(_, address)| address).collect()
        }
        _ => Vec::new(),
    }
}

/// Choices, loops and what happens within locks: by a walk that remembers whether the lock is held.
fn of_body(body: &Body, found: &mut BTreeSet<Construct>) {
    use Construct::*;
    let mut seen = BTreeSet::new();
    let mut open = vec![(body.entry, false)];
    while let Some((at, is_locked)) = open.pop() {
        if !seen.insert((at, is_locked)) {
            continue;
        }
        found.extend((body.edges_from(at).len() > 1).then_some(Choice));
        found.extend((is_locked && body.edges_from(at).len() > 1).then_some(BranchInLock));
        found.extend((is_locked && body.is_done(at)).then_some(StrayLock));
        found.extend(reaches(body, at).then_some(Loop));
        for (_, edge) in body.edges_from(at) {
            let locked = match edge.instruction {
                Instruction::Lock | Instruction::Unlock => {
                    let takes = edge.instruction == Instruction::Lock;
                    found.extend((takes == is_locked).then_some(StrayLock));
                    takes
                }
                _ => is_locked,
            };
            open.push((edge.to, locked));
        }
    }
}

/// Whether a thread can come back to a location.
fn reaches(body: &Body, start: LocId) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for (_, edge) in body.edges_from(at) {
            if edge.to == start {
                return true;
            }
            if seen.insert(edge.to) {
                open.push(edge.to);
            }
        }
    }
    false
}

fn of_data(program: &Program, found: &mut BTreeSet<Construct>) {
    use Construct::*;
    let far = |value: Value| !(-1000..=1000).contains(&value);
    let is_extreme = |shared: &Shared| far(shared.address) || shared.initial.iter().any(|&value| far(value));
    let outcome = explore(program, Model::Tso, LIMITS.0).expect("the reference can");
    let is_deadlock = |goal: &Goal| match goal {
        Goal::Property(property) => program.properties[property.index()].kind == weir_ir::PropertyKind::ForbidDeadlock,
        Goal::Assertion(_) => false,
    };
    let shown = [
        (program.shared.iter().any(|shared| shared.is_array), Array),
        (program.shared.iter().any(|shared| shared.range.is_some()), Range),
        (program.shared.iter().any(|shared| shared.width.is_some()), Width),
        (program.shared.iter().any(is_extreme), Extreme),
        (!outcome.blocked.is_empty(), BlockedStore),
        (outcome.goals.keys().any(is_deadlock), Deadlock),
    ];
    found.extend(shown.into_iter().filter(|(is_there, _)| *is_there).map(|(_, construct)| construct));
}
