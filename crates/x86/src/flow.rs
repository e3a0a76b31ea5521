//! Which instructions a thread can execute, and what is known at each of them.
//!
//! A point of the code is an address together with the calls that led there, so that a function that is called from two
//! places is two pieces of code. Values that are the same in every run are followed through registers and the stack:
//! the stack pointer always is, and with it the address of every local variable. What is found errs to one side:
//! control may be thought to reach what it does not, and a value not to be known that is.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use weir_ir::{BinaryOp, Expr, Interrupt, Poll, Value};

use crate::copy::copied;
use crate::graph::{Entries, Exit, Flow, Node, Target};
use crate::heap::{self, MOST_CALLS, Site, counter};
use crate::image::{Image, without_parameters};
use crate::known::{Known, State, stack_end};
use crate::limit::LimitKind;
use crate::local;
use crate::models::{Models, Outcome, is_lock, system_call};
use crate::ops::{E, Leaf, Lifted, Next, Op, Reg, not};
use crate::refusal::Refusal;
use crate::run;
use crate::table::{NoTable, Passed, Targets, is_target, targets};
use crate::transfer::apply;

/// Threads with more points of code than this are refused.
const MOST_NODES: usize = 50_000;

/// How many instructions before a jump are looked at to find out where it goes.
const LONGEST_WAY: usize = 48;

/// Repeated instructions with a larger count are refused.
const MOST_REPEATS: usize = 512;

/// What a thread runs.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    /// Its number, from 0.
    pub(crate) thread: usize,
    pub(crate) entry: u64,
    pub(crate) arguments: Vec<Value>,
}

/// The calls that led to a point.
#[derive(Clone, Debug)]
struct Context {
    caller: Option<usize>,
    /// Where it returns to.
    back: u64,
    /// The function.
    entry: u64,
    /// The stack pointer on entry.
    stack: Value,
    /// The call, if it is one of a pointer.
    guessed_at: Option<u64>,
}

/// Finds the code of a thread. Calls of pointers go to some of the given functions.
pub(crate) fn explore(
    image: &Image,
    models: &Models,
    start: &Start,
    functions: &[u64],
    interrupt: &dyn Interrupt,
) -> Result<Flow, Refusal> {
    // Functions with code that is not supported are left out, each where it is called. A run that calls one gets to
    // where the model ends.
    let mut refused = BTreeSet::new();
    loop {
        let mut explorer = Explorer::new(image, models, start.thread, (functions, &refused));
        match explorer.explore(start, interrupt) {
            Ok(exits) => {
                let callers = (0..explorer.contexts.len()).map(|context| explorer.callers(context)).collect();
                let Explorer { nodes, tables, sites, frees, calls_pointers, .. } = explorer;
                let arguments = start.arguments.clone();
                return Ok(Flow { arguments, nodes, callers, exits, tables, sites, calls_pointers, frees });
            }
            Err((refusal, number)) => match explorer.guess(number) {
                Some(guess) if refusal.code != "interrupted" => refused.insert(guess),
                _ => return Err(refusal.called_from(&explorer.callers_of(number))),
            },
        };
    }
}

impl<'a> Explorer<'a> {
    fn new(
        image: &'a Image,
        models: &'a Models,
        thread: usize,
        (functions, refused): (&'a [u64], &'a BTreeSet<(u64, u64)>),
    ) -> Self {
        Self {
            image,
            models,
            functions,
            refused,
            contexts: Vec::new(),
            known_contexts: HashMap::new(),
            nodes: Vec::new(),
            numbers: HashMap::new(),
            lifted: HashMap::new(),
            entered: Vec::new(),
            tables: HashMap::new(),
            thread,
            sites: Vec::new(),
            calls_pointers: false,
            frees: false,
        }
    }

    /// Follows the thread; the ways on from each point. With a refusal comes the point that it is about.
    fn explore(&mut self, start: &Start, interrupt: &dyn Interrupt) -> Result<Vec<Vec<Exit>>, (Refusal, usize)> {
        let explorer = self;
        let (image, models) = (explorer.image, explorer.models);
        let mut state = State::new();
        if models.can_allocate(image) {
            (0..MOST_CALLS).for_each(|site| state.store(counter(start.thread, site), 8, Known::Const(0)));
        }
        for (reg, &argument) in Reg::ARGUMENTS.into_iter().zip(&start.arguments) {
            state.set(reg, Known::Const(argument));
        }
        // As after a call: the stack pointer is a multiple of 16 less 8.
        let stack = stack_end(start.thread) - 72;
        state.set(Reg::SP, Known::Const(stack));
        state.set(Reg::FS, Known::Const(local::end(start.thread) as Value));
        explorer.contexts.push(Context { caller: None, back: 0, entry: start.entry, stack, guessed_at: None });
        explorer.visit(0, start.entry, state).map_err(|refusal| (refusal, 0))?;
        let mut work: VecDeque<usize> = [0].into();
        let mut is_waiting = vec![true];
        let poll = Poll::every(64, interrupt);
        while let Some(number) = work.pop_front() {
            if poll.is_over() {
                return Err((Refusal::new("interrupted", "reading was interrupted"), number));
            }
            is_waiting[number] = false;
            let address = explorer.nodes[number].address;
            let changed = explorer.step(number).map_err(|refusal| (refusal.at(address), number))?;
            is_waiting.resize(explorer.nodes.len(), false);
            for next in changed {
                if !std::mem::replace(&mut is_waiting[next], true) {
                    work.push_back(next);
                }
            }
        }
        let mut exits = Vec::new();
        for number in 0..explorer.nodes.len() {
            let address = explorer.nodes[number].address;
            exits.push(explorer.exits(number).map_err(|refusal| (refusal.at(address), number))?);
        }
        Ok(exits)
    }
}

struct Explorer<'a> {
    image: &'a Image,
    models: &'a Models,
    contexts: Vec<Context>,
    known_contexts: HashMap<(usize, u64, u64), usize>,
    nodes: Vec<Node>,
    numbers: HashMap<(usize, u64), usize>,
    lifted: HashMap<u64, Rc<Lifted>>,
    /// The points from which control gets to each.
    entered: Vec<BTreeSet<usize>>,
    tables: HashMap<(usize, usize), Entries>,
    thread: usize,
    sites: Vec<Site>,
    calls_pointers: bool,
    frees: bool,
    /// Where calls of pointers can go.
    functions: &'a [u64],
    /// Where they do not: the call and the function.
    refused: &'a BTreeSet<(u64, u64)>,
}

impl Explorer<'_> {
    /// Control reaches a point in a state. The number of the point if this is news.
    fn visit(&mut self, context: usize, address: u64, state: State) -> Result<Option<usize>, Refusal> {
        if let Some(&number) = self.numbers.get(&(context, address)) {
            let is_news = self.nodes[number].state.join(&state);
            if self.nodes[number].state.register(Reg::SP).constant().is_none() {
                return Err(Refusal::new(
                    "stack-pointer",
                    format!("the stack pointer at {} depends on how control gets there", self.image.code_name(address)),
                )
                .help("arrays of variable length and `alloca` are not supported: give the array a fixed size"));
            }
            return Ok(is_news.then_some(number));
        }
        if self.nodes.len() >= MOST_NODES {
            return Err(Refusal::new(
                "too-much-code",
                format!("a thread runs more than {MOST_NODES} instructions of code"),
            )
            .help("give Weir a smaller function to run, or model what it calls"));
        }
        let lifted = match self.lifted.get(&address) {
            Some(lifted) => Rc::clone(lifted),
            None => {
                let lifted = Rc::new(run::instruction(self.image, address)?);
                self.lifted.insert(address, Rc::clone(&lifted));
                lifted
            }
        };
        let number = self.nodes.len();
        self.nodes.push(Node { context, address, lifted, state });
        self.numbers.insert((context, address), number);
        Ok(Some(number))
    }

    /// Follows an instruction. The points at which more is possible than before.
    fn step(&mut self, number: usize) -> Result<Vec<usize>, Refusal> {
        let mut changed = Vec::new();
        for Followed { to, state, .. } in self.follow(number)? {
            if let (Place::Point(context, address), Some(state)) = (to, state) {
                changed.extend(self.visit(context, address, state)?);
                self.entered.resize(self.nodes.len(), BTreeSet::new());
                self.entered[self.numbers[&(context, address)]].insert(number);
            }
        }
        Ok(changed)
    }

    /// The ways on, once all points are known.
    fn exits(&mut self, number: usize) -> Result<Vec<Exit>, Refusal> {
        let ways = self.follow(number)?;
        let exit = |way: Followed| {
            let to = match way.to {
                Place::Point(context, address) => match self.numbers.get(&(context, address)) {
                    Some(&number) => Target::Node(number),
                    None => return Err(Refusal::new("bug", "a way that was not followed")),
                },
                Place::End => Target::End,
                Place::Fail => Target::Fail,
            };
            Ok(Exit { condition: way.condition, effects: way.effects, to })
        };
        ways.into_iter().map(exit).collect()
    }

    /// A repeated instruction, written out by what is known about the count.
    fn unrolled(&mut self, number: usize) -> Result<(), Refusal> {
        let node = &self.nodes[number];
        let Some(lifted) = self.lifted.get(&node.address) else { return Ok(()) };
        let Next::Repeat(ops) = &lifted.next else { return Ok(()) };
        let count = node.state.register(Reg::CX).constant();
        let count = count.and_then(|count| usize::try_from(count).ok()).filter(|&count| count <= MOST_REPEATS);
        let count = count.ok_or_else(|| {
            Refusal::new(
                "string-length",
                format!(
                    "how often this instruction is repeated is only known at run time, or more than {MOST_REPEATS}"
                ),
            )
            .help("copy and clear in a loop (`-fno-tree-loop-distribute-patterns`), or fewer bytes at once")
        })?;
        let ops = std::iter::repeat_n(ops, count).flatten().cloned().collect();
        let unrolled = Lifted { ops, next: Next::Fall, ..Lifted::clone(lifted) };
        self.nodes[number].lifted = Rc::new(unrolled);
        Ok(())
    }

    fn follow(&mut self, number: usize) -> Result<Vec<Followed>, Refusal> {
        self.unrolled(number)?;
        let node = &self.nodes[number];
        let (context, lifted, mut state) = (node.context, Rc::clone(&node.lifted), node.state.clone());
        for op in &lifted.ops {
            apply(self.image, op, &mut state)?;
        }
        let on = |state| Followed::to(Place::Point(context, lifted.end), state);
        Ok(match &lifted.next {
            // Repeated instructions have been written out.
            Next::Fall | Next::Repeat(_) => vec![on(state)],
            Next::Jump(to) => self.jump(context, *to, state)?,
            Next::Branch(condition, to) => match state.value(condition) {
                Known::Const(0) => vec![on(state)],
                Known::Const(_) => self.jump(context, *to, state)?,
                Known::Any { .. } => {
                    let mut ways = self.jump(context, *to, state.clone())?;
                    ways.iter_mut().for_each(|way| way.condition = Some(condition.clone()));
                    ways.push(Followed { condition: Some(not(condition.clone())), ..on(state) });
                    ways
                }
            },
            Next::JumpTo(to) if state.value(to).constant().is_none() => {
                match targets(self.image, &self.way_to(number), to) {
                    Ok(found) => self.jump_by_table(number, to, found, &state),
                    Err(NoTable::Unknown) if self.functions.is_empty() => return Err(no_table()),
                    Err(_) => self.call_pointer(number, to, None, &state)?,
                }
            }
            Next::JumpTo(to) => {
                let to = known_target(&state, to, "jump")?;
                self.jump(context, to, state)?
            }
            Next::Call(to) if state.value(to).constant().is_none() => {
                self.call_pointer(number, to, Some(lifted.end), &state)?
            }
            Next::Call(to) => {
                let to = known_target(&state, to, "call")?;
                self.call((context, None), to, lifted.end, state)?
            }
            Next::Return => vec![self.leave(context, state)?],
            Next::Trap => vec![Followed::failed(state)],
        })
    }

    /// A jump to what a table holds: one way for each target.
    fn jump_by_table(&mut self, number: usize, to: &E, found: Targets, state: &State) -> Vec<Followed> {
        let context = self.nodes[number].context;
        self.tables.extend(found.loads);
        let way = |address: u64| Followed {
            condition: Some(Expr::binary(BinaryOp::Equal, to.clone(), Expr::Const(address as Value))),
            ..Followed::to(Place::Point(context, address), state.clone())
        };
        // What leads elsewhere is an entry behind the end of the table, which no run should take.
        let from = self.nodes[number].address;
        let is_target = |address: &u64| is_target(self.image, from, *address);
        let (inside, outside): (Vec<u64>, Vec<u64>) = found.addresses.into_iter().partition(is_target);
        let is_other =
            inside.iter().map(|&address| not(Expr::binary(BinaryOp::Equal, to.clone(), Expr::Const(address as Value))));
        let is_other = is_other.fold(Expr::Const(1), both);
        let mut ways: Vec<Followed> = inside.into_iter().map(way).collect();
        if found.is_cut || !outside.is_empty() {
            ways.push(Followed::beyond(is_other, state.clone()));
        }
        ways
    }

    /// The instructions before a point as far back as there is only one way to it.
    fn way_to(&self, number: usize) -> Vec<Passed<'_>> {
        let mut way = vec![Passed { number, node: &self.nodes[number], taken: None }];
        let mut at = number;
        while way.len() < LONGEST_WAY {
            // Control also gets to the first point from outside.
            let before = self.entered.get(at).filter(|before| before.len() == 1 && at > 0);
            let Some(before) = before else { break };
            let Some(&before) = before.first() else { break };
            let (node, next) = (&self.nodes[before], &self.nodes[at]);
            let taken = match node.lifted.next {
                Next::Fall | Next::Jump(_) | Next::JumpTo(_) => None,
                // Where both ways lead to the same place, the condition says nothing.
                Next::Branch(_, to) if to == node.lifted.end => None,
                Next::Branch(_, to) => Some(to == next.address),
                _ => break,
            };
            if node.context != next.context {
                break;
            }
            way.push(Passed { number: before, node, taken });
            at = before;
        }
        way.reverse();
        way
    }

    /// A jump; one to a function that is not in the file calls it and returns.
    fn jump(&mut self, context: usize, to: u64, state: State) -> Result<Vec<Followed>, Refusal> {
        let Some(outcome) = self.external(to, &state)? else {
            return Ok(vec![Followed::to(Place::Point(context, to), state)]);
        };
        let mut ways = Vec::new();
        for (condition, effects) in self.modelled(&outcome, (context, to), &state)? {
            let after = self.after(&effects, state.clone())?;
            ways.push(Followed { condition, effects, ..self.leave(context, after)? });
        }
        Ok(if outcome == Outcome::Fails { vec![Followed::failed(state)] } else { ways })
    }

    /// A call of a pointer, or a jump to one: one way for each function that it may be, and the end of the model for
    /// all others.
    fn call_pointer(
        &mut self,
        number: usize,
        to: &E,
        back: Option<u64>,
        state: &State,
    ) -> Result<Vec<Followed>, Refusal> {
        self.calls_pointers = true;
        let (context, at) = (self.nodes[number].context, self.nodes[number].address);
        // A call of a null pointer fails, like any other access there.
        let is_null = Expr::binary(BinaryOp::Equal, to.clone(), Expr::Const(0));
        let mut is_other = not(is_null.clone());
        let mut ways = vec![Followed { condition: Some(is_null), ..Followed::failed(state.clone()) }];
        for &function in self.functions {
            let is_code =
                self.image.externals.contains_key(&function) || run::instruction(self.image, function).is_ok();
            if !is_code || self.refused.contains(&(at, function)) {
                continue;
            }
            let followed = match back {
                Some(back) => self.call((context, Some(at)), function, back, state.clone()),
                None => {
                    let callee = self.in_place_of(context, at, function);
                    self.jump(callee, function, state.clone())
                }
            };
            let Ok(followed) = followed else { continue };
            let is_it = Expr::binary(BinaryOp::Equal, to.clone(), Expr::Const(function as Value));
            is_other = both(is_other, not(is_it.clone()));
            ways.extend(followed.into_iter().map(|way| {
                let condition = way.condition.clone().map_or(is_it.clone(), |first| both(is_it.clone(), first));
                Followed { condition: Some(condition), ..way }
            }));
        }
        ways.push(Followed::beyond(is_other, state.clone()));
        Ok(ways)
    }

    /// The context of a function that another one ends with a jump to.
    fn in_place_of(&mut self, context: usize, at: u64, function: u64) -> usize {
        let fresh = self.contexts.len();
        // No call returns to such an address.
        let callee = *self.known_contexts.entry((context, !at, function)).or_insert(fresh);
        if callee == fresh {
            let before = self.contexts[context].clone();
            self.contexts.push(Context { entry: function, guessed_at: Some(at), ..before });
        }
        callee
    }

    /// Where the calls return to that led to a context, the last call first.
    fn callers(&self, context: usize) -> Vec<u64> {
        let mut found = Vec::new();
        let mut context = &self.contexts[context];
        while let Some(caller) = context.caller {
            found.push(context.back);
            context = &self.contexts[caller];
        }
        found
    }

    fn callers_of(&self, number: usize) -> Vec<u64> {
        self.nodes.get(number).map_or_else(Vec::new, |node| self.callers(node.context))
    }

    /// The last call of a pointer on the way to a point, and the function that was called.
    fn guess(&self, number: usize) -> Option<(u64, u64)> {
        let mut context = Some(self.nodes.get(number)?.context);
        while let Some(number) = context {
            let Context { caller, entry, guessed_at, .. } = self.contexts[number];
            if let Some(at) = guessed_at {
                return Some((at, entry));
            }
            context = caller;
        }
        None
    }

    fn call(
        &mut self,
        (context, guessed_at): (usize, Option<u64>),
        to: u64,
        back: u64,
        mut state: State,
    ) -> Result<Vec<Followed>, Refusal> {
        if let Some(outcome) = self.external(to, &state)? {
            if outcome == Outcome::Fails {
                return Ok(vec![Followed::failed(state)]);
            }
            let mut ways = Vec::new();
            for (condition, effects) in self.modelled(&outcome, (context, back), &state)? {
                let after = self.after(&effects, state.clone())?;
                ways.push(Followed { condition, effects, ..Followed::to(Place::Point(context, back), after) });
            }
            return Ok(ways);
        }
        let stack = state.register(Reg::SP).constant().unwrap_or(0).wrapping_sub(8);
        state.set(Reg::SP, Known::Const(stack));
        state.store(stack, 8, Known::Const(back as Value));
        let mut caller = Some(context);
        while let Some(number) = caller {
            if self.contexts[number].entry == to {
                let name = self.image.code_name(to);
                return Err(Refusal::new(
                    "recursion",
                    format!("`{name}` calls itself, and recursion is not supported"),
                )
                .help("write it as a loop, or give Weir the function that it is called from less deeply"));
            }
            caller = self.contexts[number].caller;
        }
        let fresh = self.contexts.len();
        let callee = *self.known_contexts.entry((context, back, to)).or_insert(fresh);
        if callee == fresh {
            self.contexts.push(Context { caller: Some(context), back, entry: to, stack, guessed_at });
        }
        Ok(vec![Followed::to(Place::Point(callee, to), state)])
    }

    fn leave(&self, context: usize, mut state: State) -> Result<Followed, Refusal> {
        let Context { caller, back, stack, entry, .. } = self.contexts[context];
        if state.register(Reg::SP) != Known::Const(stack) {
            let name = self.image.code_name(entry);
            return Err(Refusal::new("stack-pointer", format!("`{name}` returns with another stack pointer")));
        }
        let Some(caller) = caller else { return Ok(Followed { state: None, ..Followed::to(Place::End, state) }) };
        state.set(Reg::SP, Known::Const(stack + 8));
        Ok(Followed::to(Place::Point(caller, back), state))
    }

    /// What a function does that is not in the file; `None` if it is.
    fn external(&self, to: u64, state: &State) -> Result<Option<Outcome>, Refusal> {
        let outcome = match self.image.externals.get(&to) {
            Some(name) => Some(self.models.outcome(name).ok_or_else(|| not_in_file(name))?),
            // A library that was linked in fails in its own way; there is no need to follow it.
            None => self.models.outcome(&self.image.code_name(to)),
        };
        if outcome != Some(Outcome::System) {
            return Ok(outcome);
        }
        let argument = |reg| state.register(reg).constant();
        let known = argument(Reg::DI).and_then(|number| system_call(number, argument(Reg::SI)));
        known.map(Some).ok_or_else(|| {
            let number = argument(Reg::DI).map_or("a number that is only known at run time".into(), |n| n.to_string());
            Refusal::new("unknown-function", format!("the code makes a system call that is not supported ({number})"))
                .help("call it in a function of its own, and say what that does: `--function NAME=nothing`")
        })
    }

    /// The ways through a function with a model: the condition, and what happens.
    fn modelled(&mut self, outcome: &Outcome, at: (usize, u64), state: &State) -> Result<Vec<Way>, Refusal> {
        let only = |ops| vec![(None, ops)];
        let returned = |value| Op::Set(Reg::AX, Expr::Const(value));
        Ok(match outcome {
            Outcome::Returns(value) => only(vec![returned(*value)]),
            Outcome::Fence => only(vec![Op::Fence]),
            Outcome::Membarrier => only(vec![Op::Membarrier, returned(0)]),
            Outcome::FindsLocal => only(local::find(self.image)),
            Outcome::Fails | Outcome::System => Vec::new(),
            Outcome::Copies | Outcome::Sets => only(copied(self.image, outcome, state)?),
            Outcome::Allocates(size) => {
                let arguments = [Reg::DI, Reg::SI].map(|reg| state.register(reg).constant());
                let size = heap::size(*size, arguments).ok_or_else(|| {
                    Refusal::new("allocation-size", "how much memory is allocated here is only known at run time")
                        .help("allocate a fixed size, or in a function for `--init`")
                })?;
                let number = self.site(at, size)?;
                let counter = counter(self.thread, number);
                self.sites[number].is_repeated |= state.load(counter, 8).constant().is_none();
                only(self.sites[number].ops(counter))
            }
            Outcome::Frees => {
                self.frees = true;
                let pointer = Expr::Leaf(Leaf::Reg(Reg::DI));
                match state.register(Reg::DI).constant() {
                    Some(0) => only(Vec::new()),
                    Some(_) => only(heap::free()),
                    None => vec![
                        (Some(Expr::binary(BinaryOp::Equal, pointer.clone(), Expr::Const(0))), Vec::new()),
                        (Some(Expr::binary(BinaryOp::NotEqual, pointer, Expr::Const(0))), heap::free()),
                    ],
                }
            }
        })
    }

    /// The number of a call that allocates memory.
    fn site(&mut self, at: (usize, u64), size: u64) -> Result<usize, Refusal> {
        if let Some(known) = self.sites.iter().position(|site| site.at == at) {
            return Ok(known);
        }
        self.sites.push(Site::new(self.thread, at, size, &self.sites)?);
        Ok(self.sites.len() - 1)
    }

    /// What is known after these operations.
    fn after(&self, effects: &[Op], mut state: State) -> Result<State, Refusal> {
        effects.iter().try_for_each(|op| apply(self.image, op, &mut state))?;
        Ok(state)
    }
}

/// A way through a function with a model: when it is taken, and what happens.
type Way = (Option<E>, Vec<Op>);

/// A way on, before all points are known.
struct Followed {
    condition: Option<E>,
    effects: Vec<Op>,
    to: Place,
    state: Option<State>,
}

impl Followed {
    fn failed(state: State) -> Self {
        Self { state: None, ..Self::to(Place::Fail, state) }
    }

    /// Where the model ends, if the condition holds.
    fn beyond(condition: E, state: State) -> Self {
        let effects = vec![Op::Limit(Expr::Const(0), LimitKind::Target)];
        Self { condition: Some(condition), effects, ..Self::failed(state) }
    }

    fn to(to: Place, state: State) -> Self {
        Self { condition: None, effects: Vec::new(), to, state: Some(state) }
    }
}

#[derive(Clone, Copy)]
enum Place {
    Point(usize, u64),
    End,
    Fail,
}

fn both(left: E, right: E) -> E {
    match left {
        Expr::Const(1) => right,
        left => Expr::binary(BinaryOp::And, left, right),
    }
}

/// A jump to an address that is computed in a way that is not known.
fn no_table() -> Refusal {
    let message = "the target of this jump is only known at run time, and not one of a table that Weir recognises";
    Refusal::new("unknown-target", message).help(
        "if it is a `switch`, compile without jump tables (`-fno-jump-tables`; `-Z no-jump-tables` for rustc); if it \
         calls a pointer, call the function by its name",
    )
}

/// The code calls something that is not there, and nobody knows what it does.
fn not_in_file(name: &str) -> Refusal {
    let refusal = Refusal::new("unknown-function", format!("the code calls `{name}`, which is not in the file"));
    if is_lock(name) {
        return refusal.help(
            "Weir has no model of locks of the system, and one that does nothing would not exclude other threads: \
             write the functions with atomics (a spinlock will do), and link them in with `ld -r -o all.o a.o lock.o`",
        );
    }
    let plain = without_parameters(name);
    refusal.help(format!(
        "link it in (`ld -r -o all.o a.o b.o`), or say what it does: `--function {plain}=nothing`, `=fail` or `=fence`"
    ))
}

fn known_target(state: &State, to: &E, what: &str) -> Result<u64, Refusal> {
    state.value(to).constant().map(|to| to as u64).ok_or_else(|| {
        Refusal::new("unknown-target", format!("the target of this {what} is only known at run time"))
            .help("call the function by its name")
    })
}
