//! Comparing one program: each goal by itself, each final state that only TSO reaches, and all final states together.

use std::collections::{BTreeMap, BTreeSet};

use weir::reach::{Engine, Form, LazyOptions, Options, reach};
use weir::{Failure, Limits, Session, Verdict};
use weir_ir::{Address, BinaryOp, Expr, Program, Property, PropertyId, PropertyKind, Span, StateAtom, StateExpr};
use weir_testkit::reference::{self, FinalState, Outcome};
use weir_witness::Goal;

/// Both forms.
pub(crate) const FORMS: [Form; 2] = [Form::Keep, Form::First];

/// What the engine says about one goal; `None` for "unknown".
pub(crate) fn answer(program: &Program, goal: Goal, form: Form, states: u64) -> Result<Option<bool>, String> {
    // The published form grows fast.
    let rounds = if form == Form::Keep { 60 } else { 20 };
    let lazy = LazyOptions { form, rounds };
    let options = Options { engine: Engine::Lazy, lazy, goals: vec![goal], ..Options::default() };
    let session = Session::new(Limits { states: Some(states), ..Limits::default() });
    match reach(program, &options, &session) {
        Ok(report) => Ok(match report.verdict {
            Verdict::Holds => Some(false),
            // The run was replayed when it was made.
            Verdict::Violated(_) => Some(true),
            Verdict::Unknown(_) => None,
        }),
        Err(Failure::Refused(refusal))
            if ["deadlock-with-locks", "state-too-large", "several-loads"].contains(&refusal.code) =>
        {
            Ok(None)
        }
        Err(failure) => Err(failure.to_string()),
    }
}

/// How many questions were asked, and how many of them had an answer.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Tally {
    pub(crate) asked: u64,
    pub(crate) answered: u64,
    pub(crate) only_tso: u64,
}

/// What the reference finds, for both forms.
pub(crate) struct Explored {
    tso: Outcome,
    sc: Outcome,
}

/// Visits so many states at most under each model.
pub(crate) fn explored(program: &Program, limit: usize) -> Result<Explored, String> {
    let under = |model| reference::explore(program, model, limit).map_err(|error| error.what.to_owned());
    Ok(Explored { tso: under(reference::Model::Tso)?, sc: under(reference::Model::Sc)? })
}

/// Compares all that can be asked about a program; what differs, if anything.
pub(crate) fn compare(
    program: &Program,
    Explored { tso, sc }: &Explored,
    form: Form,
    states: u64,
) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let mut ask = |program: &Program, goal: Goal, expected: Option<bool>, what: &str| {
        let found = answer(program, goal, form, states).map_err(|error| format!("{what}: {error}"))?;
        tally.asked += 1;
        tally.answered += u64::from(found.is_some());
        match (expected, found) {
            (Some(expected), Some(found)) if expected != found => {
                Err(format!("{form:?}, {what}: reachable is {expected}, the engine says {found}"))
            }
            _ => Ok(()),
        }
    };
    for goal in weir::reach::all_goals(program) {
        let seen = tso.goals.keys().any(|&found| same(found, goal));
        let expected = (seen || tso.complete).then_some(seen);
        ask(program, goal, expected, &format!("{goal:?}"))?;
    }
    let atoms = atoms(program, tso);
    let only: Vec<&FinalState> = tso.final_states.difference(&sc.final_states).filter(|_| sc.complete).collect();
    let mut extra = program.clone();
    let goal = Goal::Property(PropertyId(0));
    for state in only.iter().take(3) {
        extra.properties = vec![property(PropertyKind::Exists(is(state, program, &atoms)))];
        ask(&extra, goal, Some(true), &format!("only under TSO: {state:?}"))?;
    }
    // Few enough that the condition is not too deep.
    if tso.complete && tso.final_states.len() <= 40 {
        let any = tso.final_states.iter().map(|state| is(state, program, &atoms));
        let any = any.reduce(|left, right| Expr::binary(BinaryOp::Or, left, right)).unwrap_or(Expr::Const(0));
        extra.properties = vec![property(PropertyKind::Always(any))];
        ask(&extra, goal, Some(false), "a final state that the reference does not know")?;
    }
    tally.only_tso = only.len() as u64;
    Ok(tally)
}

fn same(found: reference::Goal, goal: Goal) -> bool {
    match (found, goal) {
        (reference::Goal::Property(left), Goal::Property(right)) => left == right,
        (reference::Goal::Assertion(left), Goal::Assertion(right)) => left == right,
        _ => false,
    }
}

fn property(kind: PropertyKind) -> Property {
    Property { kind, span: Span::default() }
}

/// The addresses that final states mention.
fn atoms(program: &Program, outcome: &Outcome) -> BTreeSet<Address> {
    let declared = program.shared.iter().flat_map(|shared| shared.addresses());
    let touched = outcome.final_states.iter().flat_map(|state| state.memory.keys().copied());
    declared.chain(touched).collect()
}

/// The condition that the final state is this one.
fn is(state: &FinalState, program: &Program, addresses: &BTreeSet<Address>) -> StateExpr {
    let initial: BTreeMap<Address, i64> =
        program.shared.iter().flat_map(|shared| shared.addresses().zip(shared.initial.iter().copied())).collect();
    let cells = addresses.iter().map(|address| {
        let value = state.memory.get(address).or_else(|| initial.get(address)).copied().unwrap_or(0);
        (StateAtom::Cell(*address), value)
    });
    let registers = state.registers.iter().flat_map(|(&thread, registers)| {
        registers.iter().map(move |(&register, &value)| (StateAtom::Register { thread, register }, value))
    });
    let equal = |(atom, value)| Expr::binary(BinaryOp::Equal, Expr::Leaf(atom), Expr::Const(value));
    let both = |left, right| Expr::binary(BinaryOp::And, left, right);
    cells.chain(registers).map(equal).reduce(both).unwrap_or(Expr::Const(1))
}
