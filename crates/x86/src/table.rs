//! Jump tables: where an indirect jump can go.
//!
//! Compilers turn `switch` into a comparison of the index with the largest case, a load from a constant table, and a
//! jump to what it holds. The instructions before the jump are executed with symbols in place of what is not known. If
//! the target depends on one bounded value only, each of its values gives a target. The bound is that of a branch that
//! was passed on the way, that of a conditional move (the smaller of two values), or the size of the value itself.
//!
//! What is found is all that the jump can do, and perhaps more; where that is not certain, nothing is found and the
//! jump is refused.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use weir_ir::{BinaryOp, Expr, RegExpr, RegId, Value};

use crate::accesses::{is_constant, of};
use crate::graph::{Entries, Node};
use crate::image::{Image, SymbolKind};
use crate::known::{Known, State, is_private};
use crate::lift::{LONGEST, decode};
use crate::ops::{E, Leaf, Next, Op, Reg, not, register};
use crate::simplify::{bits, simplify};
use crate::transfer::apply;

/// Tables with more entries are refused.
const MOST_ENTRIES: usize = 256;
/// No more values of an index are tried: an index of 16 bits may be shifted before it is used.
const MOST_VALUES: u64 = 1 << 16;
/// Registers hold no larger expressions.
const MOST_OPERATORS: usize = 12;

/// An instruction on the way to the jump.
pub(crate) struct Passed<'a> {
    pub(crate) number: usize,
    pub(crate) node: &'a Node,
    /// Whether the branch at its end was taken; `None` if there is none.
    pub(crate) taken: Option<bool>,
}

/// Where a jump can go.
#[derive(Default)]
pub(crate) struct Targets {
    pub(crate) addresses: BTreeSet<u64>,
    /// The loads from the table: by point and operation.
    pub(crate) loads: HashMap<(usize, usize), Entries>,
    /// Whether there seem to be more, behind the end of the table.
    pub(crate) is_cut: bool,
}

/// Why a jump goes through no table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoTable {
    /// A variable holds where it goes.
    Pointer,
    /// There may be a table, of a form that is not known.
    Unknown,
}

/// The targets of the jump at the end of a way.
pub(crate) fn targets(image: &Image, way: &[Passed<'_>], to: &E) -> Result<Targets, NoTable> {
    let mut machine = Machine::new(image);
    let mut target = None;
    for passed in way {
        let mut state = passed.node.state.clone();
        for (part, op) in passed.node.lifted.ops.iter().enumerate() {
            machine.execute((passed.number, part), op, &state);
            apply(image, op, &mut state).map_err(|_| NoTable::Unknown)?;
        }
        if let (Next::Branch(condition, _), Some(taken)) = (&passed.node.lifted.next, passed.taken) {
            let condition = if taken { condition.clone() } else { not(condition.clone()) };
            let fact = machine.value(&condition, &state);
            if let Some((index, last)) = machine.bound(&fact) {
                let index = machine.named(&index);
                machine.bounds.push((index, last));
            }
        }
        target = Some(machine.value(to, &state));
    }
    let target = target.ok_or(NoTable::Unknown)?;
    if let Expr::Leaf(symbol) = target
        && matches!(machine.symbols[symbol.index()], Symbol::Variable(_))
    {
        return Err(NoTable::Pointer);
    }
    let ends = way.last().map(|passed| references(image, passed.node.address)).unwrap_or_default();
    let narrow = machine.narrow(&target);
    let bounded = machine.bounds.iter().filter(|(_, last)| *last < MOST_VALUES);
    let bounded = bounded.map(|(index, last)| (index.clone(), (0..=*last as Value).collect()));
    // Where the index is known, nothing has to be tried in its place.
    let known = (Expr::Const(0), vec![0]);
    let found = bounded.chain(narrow).chain([known]);
    let mut found = found.filter_map(|(index, values)| machine.all(&target, &index, values, &ends));
    found.next().ok_or(NoTable::Unknown)
}

/// The addresses that a function computes: where other tables begin.
fn references(image: &Image, from: u64) -> BTreeSet<Value> {
    let own = image.symbol_at(from, SymbolKind::Function).filter(|own| own.size > 0);
    let mut found = BTreeSet::new();
    let (mut at, end) = own.map_or((0, 0), |own| (own.address, own.address.saturating_add(own.size)));
    while at < end {
        let Some(instruction) = image.code(at, LONGEST).and_then(|code| decode(code, at)) else { break };
        if instruction.is_ip_rel_memory_operand() {
            found.insert(instruction.ip_rel_memory_address() as Value);
        }
        at = instruction.next_ip();
    }
    found
}

/// Whether a jump through a table may go there: to the beginning of an instruction of the same function. What assembly
/// does not give a size may go on anywhere.
pub(crate) fn is_target(image: &Image, from: u64, to: u64) -> bool {
    let function = |address| image.symbol_at(address, SymbolKind::Function);
    let Some(own) = function(from).filter(|own| own.size > 0) else { return true };
    let Some(other) = function(to) else { return false };
    // Compilers move what is seldom executed elsewhere.
    let is_part = || other.raw.strip_prefix(&own.raw).is_some_and(|rest| rest.starts_with(".cold"));
    if other.address != own.address && !is_part() {
        return false;
    }
    let mut at = other.address;
    while at < to {
        match image.code(at, LONGEST).and_then(|code| decode(code, at)) {
            Some(instruction) => at = instruction.next_ip(),
            // What follows is data, or code that is not supported.
            None => return true,
        }
    }
    at == to
}

/// What a symbol stands for.
#[derive(Clone, Debug)]
enum Symbol {
    /// Any value of so many bits.
    Any(u8),
    /// What a variable of so many bits holds.
    Variable(u8),
    /// What a load reads at a computed address.
    Loaded { at: (usize, usize), address: RegExpr, size: u32 },
}

/// Executes code with symbols; they are numbered like registers.
struct Machine<'a> {
    image: &'a Image,
    known: HashMap<Leaf, RegExpr>,
    /// Private memory, by address and size.
    stack: BTreeMap<(Value, u32), RegExpr>,
    symbols: Vec<Symbol>,
    /// Values, and the largest that each can have.
    bounds: Vec<(RegExpr, u64)>,
    /// Values that have a symbol, in the order in which they got it.
    names: Vec<(RegExpr, RegExpr)>,
}

impl<'a> Machine<'a> {
    fn new(image: &'a Image) -> Self {
        let (known, stack) = (HashMap::new(), BTreeMap::new());
        Self { image, known, stack, symbols: Vec::new(), bounds: Vec::new(), names: Vec::new() }
    }

    fn symbol(&mut self, symbol: Symbol) -> RegExpr {
        self.symbols.push(symbol);
        Expr::Leaf(RegId::new(self.symbols.len() - 1))
    }

    fn bits_of(&self, symbol: RegId) -> u8 {
        match self.symbols[symbol.index()] {
            Symbol::Any(bits) | Symbol::Variable(bits) => bits,
            Symbol::Loaded { size, .. } => (8 * size) as u8,
        }
    }

    /// The value of an expression over registers and flags.
    fn value(&mut self, expr: &E, state: &State) -> RegExpr {
        let mapped = expr.map(&mut |leaf| {
            let known = match leaf {
                Leaf::Reg(reg) => state.register(*reg),
                Leaf::Test(test) => state.flag(*test),
            };
            if let Known::Const(value) = known {
                return Expr::Const(value);
            }
            if let Some(value) = self.known.get(leaf) {
                return value.clone();
            }
            let fresh = self.symbol(Symbol::Any(known.bits()));
            self.known.insert(*leaf, fresh.clone());
            fresh
        });
        let mut value = simplify(&mapped, &|symbol| self.bits_of(symbol));
        self.names.iter().for_each(|(named, symbol)| replace(&mut value, named, symbol));
        value
    }

    /// The same, to be kept: what is long becomes a symbol, so that expressions cannot grow without end.
    fn kept(&mut self, expr: &E, state: &State) -> RegExpr {
        let value = self.value(expr, state);
        if operators(&value) <= MOST_OPERATORS {
            return value;
        }
        let bits = self.width(&value);
        self.symbol(Symbol::Any(bits))
    }

    /// A symbol for a value, wherever it occurs: what is computed from it stays short.
    fn named(&mut self, value: &RegExpr) -> RegExpr {
        if matches!(value, Expr::Leaf(_)) {
            return value.clone();
        }
        let bits = self.width(value);
        let symbol = self.symbol(Symbol::Any(bits));
        self.known.values_mut().chain(self.stack.values_mut()).for_each(|known| replace(known, value, &symbol));
        self.names.push((value.clone(), symbol.clone()));
        symbol
    }

    fn execute(&mut self, at: (usize, usize), op: &Op, state: &State) {
        match op {
            Op::Set(to, value) => {
                let value = self.kept(value, state);
                self.known.insert(Leaf::Reg(*to), value);
            }
            Op::Flag(test, value) => {
                let value = match value {
                    // Branches look at few of them, and they are not computed with.
                    Some(value) => self.value(value, state),
                    None => self.symbol(Symbol::Any(1)),
                };
                self.known.insert(Leaf::Test(*test), value);
            }
            Op::Load { to, address, size } => {
                let value = self.load(at, address, *size, state);
                self.known.insert(Leaf::Reg(*to), value);
            }
            Op::Store { address, value, size } => {
                let value = self.kept(value, state);
                self.forget(op, state);
                if let Some(address) = state.value(address).constant() {
                    self.stack.insert((address, *size), value);
                }
            }
            Op::SetIf(condition, to, value) => {
                let chosen = self.chosen(condition, *to, value, state);
                self.known.insert(Leaf::Reg(*to), chosen);
            }
            Op::Change { to, .. } => {
                let fresh = self.symbol(Symbol::Any(64));
                self.known.insert(Leaf::Reg(*to), fresh);
                self.forget(op, state);
            }
            Op::ChangePair { to, .. } => {
                for to in [to.0, to.1] {
                    let fresh = self.symbol(Symbol::Any(64));
                    self.known.insert(Leaf::Reg(to), fresh);
                }
                self.forget(op, state);
            }
            Op::Fence | Op::Membarrier | Op::Check(_) | Op::Limit(..) => {}
        }
    }

    /// One of two values. Where the condition is a comparison that makes it the smaller one, it has a bound.
    fn chosen(&mut self, condition: &E, to: Reg, value: &E, state: &State) -> RegExpr {
        let (new, old) = (self.value(value, state), self.value(&register(to), state));
        let (fact, opposite) = (self.value(condition, state), self.value(&not(condition.clone()), state));
        let largest = self.largest(&new, &fact).zip(self.largest(&old, &opposite)).map(|(new, old)| new.max(old));
        let Some(largest) = largest else { return self.symbol(Symbol::Any(64)) };
        let chosen = self.symbol(Symbol::Any((64 - largest.leading_zeros()) as u8));
        self.bounds.push((chosen.clone(), largest));
        chosen
    }

    /// The largest value, without sign, that something can have where a condition holds.
    fn largest(&self, value: &RegExpr, fact: &RegExpr) -> Option<u64> {
        let bound = self.bound(fact).filter(|(index, _)| index == value).map(|(_, last)| last);
        let width = self.width(value);
        bound.or_else(|| value.constant().map(|value| value as u64)).or_else(|| (width <= 8).then(|| (1 << width) - 1))
    }

    fn load(&mut self, at: (usize, usize), address: &E, size: u32, state: &State) -> RegExpr {
        match state.value(address) {
            Known::Const(address) if is_private(address) => match self.stack.get(&(address, size)) {
                Some(value) => value.clone(),
                None => {
                    let fresh = self.symbol(Symbol::Any((8 * size) as u8));
                    self.stack.insert((address, size), fresh.clone());
                    fresh
                }
            },
            Known::Const(address) if is_constant(self.image, address, size) => {
                self.symbol(Symbol::Any((8 * size) as u8))
            }
            Known::Const(_) => self.symbol(Symbol::Variable((8 * size) as u8)),
            Known::Any { .. } => {
                let address = self.value(address, state);
                self.symbol(Symbol::Loaded { at, address, size })
            }
        }
    }

    /// Forgets what an operation overwrites on the stack.
    fn forget(&mut self, op: &Op, state: &State) {
        for (address, size, _) in of(op) {
            let Some(address) = state.value(&address).constant() else { continue };
            let end = address + Value::from(size);
            self.stack.retain(|&(at, length), _| at >= end || at + Value::from(length) <= address);
        }
    }

    /// A value and its largest one, without sign, if a condition bounds it.
    fn bound(&self, fact: &RegExpr) -> Option<(RegExpr, u64)> {
        let Expr::Binary(op, left, right) = fact else { return None };
        let (small, large, is_strict) = match op {
            BinaryOp::Less => (left, right, true),
            BinaryOp::LessEqual => (left, right, false),
            BinaryOp::Greater => (right, left, true),
            BinaryOp::GreaterEqual => (right, left, false),
            _ => return None,
        };
        let Expr::Const(limit) = **large else { return None };
        let limit = if is_strict { limit.checked_sub(1)? } else { limit };
        match &**small {
            // A comparison without sign of 64 bits flips the highest bit of both sides.
            Expr::Binary(BinaryOp::BitXor, inner, flip) if **flip == Expr::Const(Value::MIN) => {
                Some(((**inner).clone(), (limit ^ Value::MIN) as u64))
            }
            small if self.width(small) < 64 && limit >= 0 => Some((small.clone(), limit as u64)),
            _ => None,
        }
    }

    /// How many bits a value has at most, without sign.
    fn width(&self, value: &RegExpr) -> u8 {
        bits(value, &|symbol| self.bits_of(symbol))
    }

    /// Values of few bits that an expression consists of, and all that each can be; those that others are computed from
    /// come first.
    fn narrow(&self, expr: &RegExpr) -> Vec<(RegExpr, Vec<Value>)> {
        let mut found = Vec::new();
        match expr {
            Expr::Leaf(symbol) => {
                if let Symbol::Loaded { address, .. } = &self.symbols[symbol.index()] {
                    found.extend(self.narrow(address));
                }
            }
            Expr::Unary(_, operand) => found.extend(self.narrow(operand)),
            Expr::Binary(_, left, right) => {
                found.extend(self.narrow(left));
                found.extend(self.narrow(right));
            }
            Expr::Const(_) => {}
        }
        if expr.constant().is_none() && self.width(expr) <= 8 {
            let ones = self.ones(expr);
            found.push((expr.clone(), (0..=ones).filter(|value| value & !ones == 0).collect()));
        }
        found
    }

    /// The bits that can be 1 in a value.
    fn ones(&self, value: &RegExpr) -> Value {
        let all = 1_i64.checked_shl(self.width(value).into()).map_or(-1, |bit| bit.wrapping_sub(1));
        match value {
            Expr::Binary(BinaryOp::BitAnd, _, mask) => mask.constant().map_or(all, |mask| mask & all),
            _ => all,
        }
    }

    /// The targets for all values of the index.
    fn all(&self, target: &RegExpr, index: &RegExpr, values: Vec<Value>, ends: &BTreeSet<Value>) -> Option<Targets> {
        let mut found = Targets::default();
        let mut ways = Vec::new();
        let mut begins: HashMap<(usize, usize), Value> = HashMap::new();
        for value in values {
            let mut loads = HashMap::new();
            let address = self.eval(target, (index, value), &mut loads)?;
            for (&at, entries) in &loads {
                let begin = begins.entry(at).or_insert(Value::MAX);
                *begin = entries.keys().copied().fold(*begin, Value::min);
            }
            ways.push((address, loads));
        }
        // Where the next table begins, this one ends.
        let is_behind = |loads: &HashMap<(usize, usize), Entries>| {
            let is_between = |begin: Value, load: Value| load > begin && ends.range(begin + 1..=load).next().is_some();
            loads.iter().any(|(at, entries)| entries.keys().any(|&load| is_between(begins[at], load)))
        };
        for (address, loads) in ways {
            if is_behind(&loads) {
                found.is_cut = true;
                continue;
            }
            self.image.code(address as u64, 1)?;
            found.addresses.insert(address as u64);
            for (at, entries) in loads {
                found.loads.entry(at).or_default().extend(entries);
            }
            if found.addresses.len() > MOST_ENTRIES || found.loads.values().any(|loads| loads.len() > MOST_ENTRIES) {
                return None;
            }
        }
        Some(found)
    }

    /// The value of an expression for one value of the index.
    fn eval(
        &self,
        expr: &RegExpr,
        index: (&RegExpr, Value),
        loads: &mut HashMap<(usize, usize), Entries>,
    ) -> Option<Value> {
        if expr == index.0 {
            return Some(index.1);
        }
        match expr {
            Expr::Const(value) => Some(*value),
            Expr::Unary(op, operand) => Some(op.apply(self.eval(operand, index, loads)?)),
            Expr::Binary(op, left, right) => {
                Some(op.apply(self.eval(left, index, loads)?, self.eval(right, index, loads)?))
            }
            Expr::Leaf(symbol) => match &self.symbols[symbol.index()] {
                Symbol::Any(_) | Symbol::Variable(_) => None,
                Symbol::Loaded { at, address, size } => {
                    let address = self.eval(address, index, loads)?;
                    let value = self.image.value(address as u64, *size)? as Value;
                    if !is_constant(self.image, address, *size) {
                        return None;
                    }
                    loads.entry(*at).or_default().insert(address, value);
                    Some(value)
                }
            },
        }
    }
}

/// Puts one expression in the place of another.
fn replace(expr: &mut RegExpr, old: &RegExpr, new: &RegExpr) {
    if expr == old {
        *expr = new.clone();
        return;
    }
    match expr {
        Expr::Const(_) | Expr::Leaf(_) => {}
        Expr::Unary(_, operand) => replace(operand, old, new),
        Expr::Binary(_, left, right) => {
            replace(left, old, new);
            replace(right, old, new);
        }
    }
}

/// How many operators an expression has.
fn operators(expr: &RegExpr) -> usize {
    match expr {
        Expr::Const(_) | Expr::Leaf(_) => 0,
        Expr::Unary(_, operand) => 1 + operators(operand),
        Expr::Binary(_, left, right) => 1 + operators(left) + operators(right),
    }
}
