//! The stores of a path kept in registers: storing there, and loading with regard to them.

use weir_ir::{BinaryOp, Edge, Expr, Instruction, LocId, Program, RegExpr, RegId, Shared, Span, Value, Width};

use super::traced::{Builder, Traced, auxiliary, set, test};
use super::{Origin, one_load};

/// One store of the path.
pub(super) struct Remembered {
    /// Which step of the path it is.
    pub(super) position: usize,
    /// What it stores where, as the path has it.
    instruction: (RegExpr, RegExpr),
    /// The same as kept: in registers, unless it is the same each time.
    pub(super) address: RegExpr,
    pub(super) value: RegExpr,
}

impl Remembered {
    /// The registers that hold it.
    fn registers(&self) -> impl Iterator<Item = RegId> + '_ {
        [&self.address, &self.value].into_iter().filter_map(|kept| match kept {
            Expr::Leaf(register) => Some(*register),
            _ => None,
        })
    }

    /// Writes it to memory, and forgets it: else states would differ in what nobody needs any more.
    pub(super) fn flush(&self, origin: Origin) -> Vec<Traced> {
        let (address, value) = (self.address.clone(), self.value.clone());
        let store = (Instruction::Store { address, value }, origin);
        std::iter::once(store).chain(self.registers().map(|register| set(register, Expr::Const(0)))).collect()
    }
}

/// All stores of a path.
pub(super) struct Stores {
    pub(super) all: Vec<Remembered>,
    /// The number of the oldest one that still waits, where some may have been flushed.
    pub(super) head: Option<RegId>,
    /// Which steps are loads after which stores can be flushed.
    loads: Vec<usize>,
    search: Option<Search>,
}

/// One search through all stores, for all loads that need one.
struct Search {
    /// The address that is looked for.
    wanted: RegId,
    /// Which load looks.
    asking: RegId,
    /// What was found.
    value: RegId,
    /// Where to look at the store of each number and older ones.
    at: Vec<LocId>,
    found: LocId,
    not_found: LocId,
}

impl Stores {
    pub(super) fn new(builder: &mut Builder, program: &Program, path: &[Edge], is_partial: bool) -> Self {
        let mut all = Vec::new();
        for (position, edge) in path.iter().enumerate() {
            if let Instruction::Store { address, value } = &edge.instruction {
                let number = all.len();
                let value = &stored(program, address, value);
                let mut keep = |wanted: &str, expr: &RegExpr| match expr.constant() {
                    Some(constant) => Expr::Const(constant),
                    None => Expr::Leaf(builder.register(&format!("{wanted}{number}_"))),
                };
                let (address_kept, value_kept) = (keep("address", address), keep("value", value));
                let instruction = (address.clone(), value.clone());
                all.push(Remembered { position, instruction, address: address_kept, value: value_kept });
            }
        }
        let is_load = |edge: &Edge| one_load(&edge.instruction).is_some();
        let loads = (0..path.len()).filter(|&at| is_partial && is_load(&path[at])).collect();
        let head = (is_partial && all.len() > 1).then(|| builder.register("oldest_"));
        Self { all, head, loads, search: None }
    }

    /// How many stores there are up to a step of the path.
    pub(super) fn count(&self, position: usize) -> usize {
        self.all.partition_point(|store| store.position <= position)
    }

    /// Keeps a store back instead of making it.
    pub(super) fn remember(&self, program: &Program, number: usize, origin: Origin) -> Vec<Traced> {
        let store = &self.all[number];
        let (address, value) = &store.instruction;
        // A value that wraps is never outside a range, so it does not matter which of the two is tested.
        // A store outside its range waits before it is made, not before it lands.
        let mut instructions: Vec<Traced> = admitted(program, address, value).map(test).collect();
        let sources = [(&store.address, address), (&store.value, value)];
        instructions.extend(sources.into_iter().filter_map(|(kept, source)| match kept {
            Expr::Leaf(register) => Some(set(*register, source.clone())),
            _ => None,
        }));
        if instructions.is_empty() {
            instructions.push(auxiliary(Instruction::Skip));
        }
        if let Some((_, last)) = instructions.last_mut() {
            *last = origin;
        }
        instructions
    }

    /// Loads: the newest waiting store to the address if there is one, else from memory. Goes on at `own` or at
    /// `memory`.
    pub(super) fn load(
        &mut self,
        builder: &mut Builder,
        (position, edge, origin): (usize, &Edge, Origin),
        (from, own, memory): (LocId, LocId, LocId),
    ) {
        let Some((register, address, condition)) = one_load(&edge.instruction) else { return };
        let span = edge.span;
        let from_memory = (edge.instruction.clone(), origin);
        let candidates: Vec<usize> = (0..self.count(position))
            .rev()
            .filter(|&number| may_be_equal(&self.all[number].address, address) != Some(false))
            .collect();
        // What an await finds among the waiting stores must satisfy its condition.
        let take = |value: RegExpr| -> Vec<Traced> {
            let with_value = |condition: &RegExpr| {
                test(condition.map(&mut |&leaf| if leaf == register { value.clone() } else { Expr::Leaf(leaf) }))
            };
            let holds = condition.map(with_value);
            holds.into_iter().chain([(Instruction::Assign { register, value: value.clone() }, origin)]).collect()
        };
        match candidates[..] {
            [] => builder.link(from, memory, span, [from_memory]),
            [newest, ..] if may_be_equal(&self.all[newest].address, address) == Some(true) => {
                let taken = take(self.all[newest].value.clone());
                match self.still_waits(newest, position) {
                    Expr::Const(_) => builder.link(from, own, span, taken),
                    waits => {
                        let flushed = waits.negated();
                        builder.link(from, own, span, [test(waits)].into_iter().chain(taken));
                        builder.link(from, memory, span, [test(flushed), from_memory]);
                    }
                }
            }
            [newest, ..] => {
                let search = self.search(builder, span);
                let instructions =
                    [set(search.wanted, address.clone()), set(search.asking, Expr::Const(position as Value))];
                builder.link(from, search.at[newest], span, instructions);
                let back =
                    || test(Expr::binary(BinaryOp::Equal, Expr::Leaf(search.asking), Expr::Const(position as Value)));
                let taken = take(Expr::Leaf(search.value));
                builder.link(search.found, own, span, [back()].into_iter().chain(taken));
                builder.link(search.not_found, memory, span, [back(), from_memory]);
            }
        }
    }

    /// Whether a store waits when control is at a step: the path may have been entered behind it, and it may have been
    /// flushed.
    fn still_waits(&self, number: usize, position: usize) -> RegExpr {
        let flushable = |&load: &usize| self.all[number].position < load && load < position;
        let is_newest = number + 1 == self.count(position);
        match self.head {
            Some(head) if !is_newest || self.loads.iter().any(flushable) => {
                Expr::binary(BinaryOp::LessEqual, Expr::Leaf(head), Expr::Const(number as Value))
            }
            _ => Expr::Const(1),
        }
    }

    fn search(&mut self, builder: &mut Builder, span: Span) -> &Search {
        let (all, head) = (&self.all, self.head);
        self.search.get_or_insert_with(|| {
            let [wanted, asking, value] = ["wanted_", "asking_", "found_"].map(|name| builder.register(name));
            let (found, not_found) = (builder.location(span), builder.location(span));
            let at: Vec<LocId> = all.iter().map(|_| builder.location(span)).collect();
            for (number, store) in all.iter().enumerate() {
                let older = number.checked_sub(1).map_or(not_found, |older| at[older]);
                let mut fits = Expr::binary(BinaryOp::Equal, store.address.clone(), Expr::Leaf(wanted));
                if let Some(head) = head {
                    let waits = Expr::binary(BinaryOp::LessEqual, Expr::Leaf(head), Expr::Const(number as Value));
                    fits = Expr::binary(BinaryOp::And, fits, waits);
                }
                builder.link(at[number], older, span, [test(fits.negated())]);
                builder.link(at[number], found, span, [test(fits), set(value, store.value.clone())]);
            }
            Search { wanted, asking, value, at, found, not_found }
        })
    }
}

/// Whether two addresses are equal, if that is known.
fn may_be_equal(left: &RegExpr, right: &RegExpr) -> Option<bool> {
    Some(left.constant()? == right.constant()?)
}

/// What a store of the value puts there, as far as cells with a width may be concerned.
fn stored(program: &Program, address: &RegExpr, value: &RegExpr) -> RegExpr {
    let wide = program.shared.iter().filter_map(|shared| Some((shared, shared.width?)));
    match address.constant() {
        Some(constant) => {
            let width = wide.clone().find(|(shared, _)| shared.offset_of(constant).is_some()).map(|(_, width)| width);
            width.map_or_else(|| value.clone(), |width| low_bits(value, width))
        }
        None => wide.fold(value.clone(), |kept, (shared, width)| {
            // `value - inside * (value - low bits)`: at most one declaration has the address inside.
            let lost = Expr::binary(BinaryOp::Subtract, value.clone(), low_bits(value, width));
            let lost_here = Expr::binary(BinaryOp::Multiply, is_inside(address, shared), lost);
            Expr::binary(BinaryOp::Subtract, kept, lost_here)
        }),
    }
}

fn low_bits(value: &RegExpr, width: Width) -> RegExpr {
    Expr::binary(BinaryOp::BitAnd, value.clone(), Expr::Const(width.range().high))
}

/// 1 if the address is one of the declaration, else 0.
fn is_inside(address: &RegExpr, shared: &Shared) -> RegExpr {
    let last = shared.address.wrapping_add(shared.initial.len() as Value - 1);
    let compare = |op, right| Expr::binary(op, address.clone(), Expr::Const(right));
    let (low, high) = (compare(BinaryOp::GreaterEqual, shared.address), compare(BinaryOp::LessEqual, last));
    Expr::binary(BinaryOp::And, low, high)
}

/// The conditions under which the value may be stored.
fn admitted(program: &Program, address: &RegExpr, value: &RegExpr) -> impl Iterator<Item = RegExpr> {
    let compare = |op, left: &RegExpr, right: Value| Expr::binary(op, left.clone(), Expr::Const(right));
    let both = |left, right| Expr::binary(BinaryOp::And, left, right);
    let within = move |shared: &Shared| {
        let range = shared.range?;
        let fits =
            both(compare(BinaryOp::GreaterEqual, value, range.low), compare(BinaryOp::LessEqual, value, range.high));
        let last = shared.address.wrapping_add(shared.initial.len() as Value - 1);
        match address.constant() {
            Some(constant) => shared.offset_of(constant).map(|_| fits),
            None => {
                let before = compare(BinaryOp::Less, address, shared.address);
                let outside = Expr::binary(BinaryOp::Or, before, compare(BinaryOp::Greater, address, last));
                Some(Expr::binary(BinaryOp::Or, outside, fits))
            }
        }
    };
    program.shared.iter().filter_map(within)
}
