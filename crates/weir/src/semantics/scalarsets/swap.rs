//! Does exchanging two copies of a thread map the program to itself?
//!
//! The exchange τ of numbers `a` and `b` acts on values that are numbers (of shift `c`: it swaps `c + a` and `c + b`),
//! on addresses (in each region it swaps the cells of `a` and `b`), on threads, and through these on states. What is
//! checked here is that τ is an automorphism of the transition system on its reachable states:
//!
//! - each edge of a thread is mapped to the same edge of its image, constants included, and its operands have the kinds
//!   of the cells and registers: so a step from `s` becomes a step from `τ s`;
//! - the initial state is its own image, so that with `s` also `τ s` is reachable, and the ranges of values hold for
//!   it;
//! - each goal is mapped to a goal.
//!
//! Expressions are checked by their kind: a number can be copied, shifted by a constant, compared with `==` and `!=`
//! to a number of the same shift or a constant, and used as an address. Nothing else is allowed to see it.

use weir_ir::{
    Address, BinaryOp, Body, Diagnostic, Edge, Instruction, LocId, Range, RegExpr, RegId, Rmw, Span, StateAtom,
    StateExpr, UnaryOp, Value,
};
use weir_witness::Goal;

use super::claims::{self, Claims};
use super::infer;
use super::subject::Subject;
use super::{Family, Kind};

/// The exchange of two threads of a family.
pub(super) struct Swap<'a> {
    subject: &'a Subject<'a>,
    family: &'a Family,
    /// The two numbers.
    one: usize,
    other: usize,
}

/// Two edges, one of which should be the image of the other, and where they stand.
struct Pair<'p> {
    position: usize,
    location: LocId,
    /// Kinds of registers that stand for what was just loaded.
    loaded: &'p [(RegId, Kind)],
}

/// What is wrong.
type Checked<T = ()> = Result<T, &'static str>;

/// Registers, and the addresses that they are loaded from at once.
type Loads<'a> = &'a [(RegId, RegExpr)];

fn obstacle(why: &str, span: Span) -> Box<Diagnostic> {
    Box::new(infer::obstacle(why, span))
}

pub(super) const CODE: &str = "they run different code";
const CONSTANT: &str = "a constant tells the copies apart here";
const KIND: &str = "a thread number and another value are mixed here";
const ADDRESS: &str = "cells that belong to threads are accessed by something other than a thread number here";

impl<'a> Swap<'a> {
    pub(super) fn new(subject: &'a Subject<'a>, family: &'a Family, one: usize, other: usize) -> Self {
        Self { subject, family, one, other }
    }

    /// # Errors
    /// What tells the two threads apart.
    pub(super) fn check(&self, goals: &[Goal]) -> Result<(), Box<Diagnostic>> {
        for position in 0..self.subject.threads.len() {
            self.thread(position)?;
        }
        self.memory()?;
        self.goals(goals)
    }

    /// The number with two of them exchanged.
    fn number(&self, number: usize) -> usize {
        match number {
            number if number == self.one => self.other,
            number if number == self.other => self.one,
            number => number,
        }
    }

    /// The thread that takes the place of the one at this position.
    fn image(&self, position: usize) -> usize {
        let number = self.family.threads.iter().position(|&other| other == position);
        number.map_or(position, |number| self.family.threads[self.number(number)])
    }

    /// The image of a value of this kind.
    fn value(&self, kind: Kind, value: Value) -> Value {
        match kind {
            Kind::Plain => value,
            Kind::Number(shift) => match usize::try_from(value.wrapping_sub(shift)) {
                Ok(number) => shift.wrapping_add(self.number(number) as Value),
                Err(_) => value,
            },
            Kind::Set => {
                let differ = (value >> self.one ^ value >> self.other) & 1;
                value ^ (differ << self.one | differ << self.other)
            }
        }
    }

    /// The addresses of the cells that belong to one of the two threads.
    fn moved(&self) -> impl Iterator<Item = Address> {
        let numbers = [self.one as Value, self.other as Value];
        self.family.kinds.regions.iter().flat_map(move |base| numbers.map(|number| base.wrapping_add(number)))
    }

    fn address(&self, address: Address) -> Address {
        let regions = self.family.kinds.regions.iter();
        let images = regions.map(|&base| self.value(Kind::Number(base), address));
        images.into_iter().find(|&image| image != address).unwrap_or(address)
    }

    fn content(&self, address: Address) -> Kind {
        self.subject.declaration(address).map_or(Kind::Plain, |declaration| self.family.kinds.contents[declaration])
    }

    fn thread(&self, position: usize) -> Result<(), Box<Diagnostic>> {
        let (subject, image) = (self.subject, self.image(position));
        let (body, other) = (subject.body(position), subject.body(image));
        let span = subject.program.thread(subject.threads[position]).span;
        if !same_shape(body, other) || subject.webs[position] != subject.webs[image] {
            return Err(obstacle(CODE, span));
        }
        if subject.observed[position] != subject.observed[image] {
            return Err(obstacle("the copies differ in the registers that properties observe", span));
        }
        for number in 0..body.edges().len() {
            if subject.can_take(position, number) || subject.can_take(image, number) {
                let edges = (subject.edge(position, number), subject.edge(image, number));
                self.edge(position, number, edges).map_err(|why| obstacle(why, edges.0.span))?;
            }
        }
        // Registers start at 0.
        for (web, &register) in subject.webs[position].registers().iter().enumerate() {
            let kind = self.family.kinds.webs[position][web];
            let starts = subject.webs[position].at(body.entry, register) == Some(web as u32);
            if starts && self.value(kind, 0) != 0 {
                return Err(obstacle("a register starts as the number of one copy", span));
            }
        }
        Ok(())
    }

    fn web_kind(&self, position: usize, location: LocId, register: RegId) -> Option<Kind> {
        let web = self.subject.webs[position].at(location, register)?;
        Some(self.family.kinds.webs[position][web as usize])
    }

    fn edge(&self, position: usize, number: usize, (edge, image): (&Edge, &Edge)) -> Checked {
        let pair = Pair { position, location: edge.from, loaded: &[] };
        // A value that is never read does not count.
        let receives = |register: RegId, kind: Kind| match self.web_kind(position, edge.to, register) {
            Some(wanted) if wanted != kind => Err(KIND),
            _ => Ok(()),
        };
        match (&edge.instruction, &image.instruction) {
            (Instruction::Assign { register, value }, Instruction::Assign { value: other, .. }) => {
                match self.web_kind(position, edge.to, *register) {
                    Some(kind) => self.maps(value, other, kind, &pair),
                    None => Ok(()),
                }
            }
            (Instruction::Assume(condition), Instruction::Assume(other))
            | (Instruction::Assert(condition), Instruction::Assert(other)) => self.truth(condition, other, &pair),
            (Instruction::Load { register, address }, Instruction::Load { address: other, .. }) => {
                receives(*register, self.access(number, 0, (address, other), &pair)?)
            }
            (Instruction::Snapshot(loads), Instruction::Snapshot(others)) => {
                self.loads(number, (loads, others), &pair, &receives).map(|_| ())
            }
            (Instruction::Await { loads, condition }, Instruction::Await { loads: others, condition: other }) => {
                let loaded = self.loads(number, (loads, others), &pair, &receives)?;
                self.truth(condition, other, &Pair { loaded: &loaded, ..pair })
            }
            (Instruction::Store { address, value }, Instruction::Store { address: other, value: stored }) => {
                let content = self.access(number, 0, (address, other), &pair)?;
                self.maps(value, stored, content, &pair)
            }
            (
                Instruction::ReadModifyWrite { register, address, operation },
                Instruction::ReadModifyWrite { address: other, operation: same, .. },
            ) => {
                let content = self.access(number, 0, (address, other), &pair)?;
                let result = self.rmw(operation, same, content, &pair)?;
                register.map_or(Ok(()), |register| receives(register, result))
            }
            (Instruction::Havoc { register, range }, Instruction::Havoc { range: other, .. }) => {
                let kind = self.web_kind(position, edge.to, *register).unwrap_or(Kind::Plain);
                if range == other && self.is_closed(*range, kind) { Ok(()) } else { Err(CONSTANT) }
            }
            (Instruction::Call { .. } | Instruction::Return(_) | Instruction::Spawn(_), _) => Err(CODE),
            // The shapes agree, and these have no operands.
            _ => Ok(()),
        }
    }

    /// Whether a range holds the image of each of its values.
    fn is_closed(&self, range: Range, kind: Kind) -> bool {
        match kind {
            Kind::Plain => true,
            Kind::Number(shift) => {
                let contains = |number: usize| range.contains(shift.wrapping_add(number as Value));
                contains(self.one) == contains(self.other)
            }
            Kind::Set => false,
        }
    }

    /// The loads of a snapshot or an await, and of which kind each of their registers is then.
    fn loads(
        &self,
        number: usize,
        (loads, others): (Loads<'_>, Loads<'_>),
        pair: &Pair<'_>,
        receives: &dyn Fn(RegId, Kind) -> Checked,
    ) -> Checked<Vec<(RegId, Kind)>> {
        let mut loaded = Vec::new();
        for (access, ((register, address), (_, other))) in loads.iter().zip(others).enumerate() {
            let kind = self.access(number, access, (address, other), pair)?;
            receives(*register, kind)?;
            loaded.push((*register, kind));
        }
        Ok(loaded)
    }

    /// The kind of the result.
    fn rmw(&self, operation: &Rmw, other: &Rmw, content: Kind, pair: &Pair<'_>) -> Checked<Kind> {
        let is_fetch = matches!(operation, Rmw::Fetch(..));
        if is_fetch && content != Kind::Plain {
            return Err(KIND);
        }
        for (operand, image) in operands(operation).into_iter().zip(operands(other)) {
            self.maps(operand, image, content, pair)?;
        }
        Ok(if matches!(operation, Rmw::CompareAndSwap { .. }) { Kind::Plain } else { content })
    }

    /// Whether the address is mapped to the other one; if so, the kind of what is there.
    fn access(
        &self,
        number: usize,
        access: usize,
        (address, image): (&RegExpr, &RegExpr),
        pair: &Pair<'_>,
    ) -> Checked<Kind> {
        let positions = [pair.position, self.image(pair.position)];
        let ranges = positions.into_iter().filter_map(|position| self.subject.addresses(position, number, access));
        let ranges: Vec<Range> = ranges.collect();
        match (address.constant(), image.constant()) {
            (Some(address), Some(image)) if self.address(address) == image => {}
            (Some(_), _) | (_, Some(_)) => return Err(CONSTANT),
            (None, None) => {
                let kind = self.kind(address, pair).unwrap_or(Kind::Plain);
                self.maps(address, image, kind, pair)?;
                // As a value it must be mapped to the same as it is as an address.
                let shift = match kind {
                    Kind::Plain => None,
                    Kind::Number(shift) => Some(shift),
                    Kind::Set => return Err(ADDRESS),
                };
                let numbers = shift
                    .into_iter()
                    .flat_map(|shift| [self.one, self.other].map(|number| shift.wrapping_add(number as Value)));
                let mut doubtful = self.moved().chain(numbers);
                let is_touched = |address: Address| ranges.iter().any(|range| range.contains(address));
                if doubtful.any(|address| is_touched(address) && self.value(kind, address) != self.address(address)) {
                    return Err(ADDRESS);
                }
            }
        }
        self.common_content(&ranges)
    }

    /// The kind of everything at these addresses.
    fn common_content(&self, ranges: &[Range]) -> Checked<Kind> {
        let mut common: Option<Kind> = None;
        for range in ranges {
            let touched = self.subject.touched(*range);
            let declared = touched.declarations.iter().map(|&declaration| self.family.kinds.contents[declaration]);
            for kind in declared.chain(touched.undeclared.then_some(Kind::Plain)) {
                if *common.get_or_insert(kind) != kind {
                    return Err(KIND);
                }
            }
        }
        Ok(common.unwrap_or(Kind::Plain))
    }

    /// The kind of an expression; none for a constant, which can have any kind.
    fn kind(&self, expr: &RegExpr, pair: &Pair<'_>) -> Option<Kind> {
        if expr.constant().is_some() {
            return None;
        }
        let shifted = |expr: &RegExpr, plus: Value| match self.kind(expr, pair) {
            Some(Kind::Number(shift)) => Kind::Number(shift.wrapping_add(plus)),
            _ => Kind::Plain,
        };
        let is = |expr: &RegExpr, kind: Kind| self.kind(expr, pair) == Some(kind);
        Some(match expr {
            RegExpr::Leaf(register) => self.leaf(*register, pair),
            RegExpr::Binary(op, left, right) => match (op, left.constant(), right.constant()) {
                (BinaryOp::Add, _, Some(plus)) => shifted(left, plus),
                (BinaryOp::Add, Some(plus), _) => shifted(right, plus),
                (BinaryOp::Subtract, _, Some(minus)) => shifted(left, minus.wrapping_neg()),
                (BinaryOp::ShiftLeft, Some(1), _) if is(right, Kind::Number(0)) => Kind::Set,
                (BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor, ..)
                    if is(left, Kind::Set) || is(right, Kind::Set) =>
                {
                    Kind::Set
                }
                _ => Kind::Plain,
            },
            RegExpr::Const(_) | RegExpr::Unary(..) => Kind::Plain,
        })
    }

    fn leaf(&self, register: RegId, pair: &Pair<'_>) -> Kind {
        let loaded = pair.loaded.iter().find(|(other, _)| *other == register);
        let kept = || self.web_kind(pair.position, pair.location, register).unwrap_or(Kind::Plain);
        loaded.map_or_else(kept, |(_, kind)| *kind)
    }

    /// Whether an expression is of this kind and its image is the other one.
    fn maps(&self, expr: &RegExpr, image: &RegExpr, kind: Kind, pair: &Pair<'_>) -> Checked {
        match (expr.constant(), image.constant()) {
            (Some(value), Some(image)) if self.value(kind, value) == image => return Ok(()),
            (Some(_), _) | (_, Some(_)) => return Err(CONSTANT),
            (None, None) => {}
        }
        match (expr, image) {
            (RegExpr::Leaf(register), RegExpr::Leaf(other)) => {
                if register == other && self.leaf(*register, pair) == kind { Ok(()) } else { Err(KIND) }
            }
            (RegExpr::Unary(op, operand), RegExpr::Unary(_, other)) if kind == Kind::Plain => match op {
                UnaryOp::Not => self.truth(operand, other, pair),
                UnaryOp::Negate | UnaryOp::Complement => self.maps(operand, other, Kind::Plain, pair),
            },
            (RegExpr::Binary(op, left, right), RegExpr::Binary(_, other_left, other_right)) => match kind {
                Kind::Number(shift) => self.shifted(*op, (left, right), (other_left, other_right), shift, pair),
                Kind::Set => self.set(*op, (left, right), (other_left, other_right), pair),
                Kind::Plain => self.plain(*op, (left, right), (other_left, other_right), pair),
            },
            _ => Err(KIND),
        }
    }

    /// A number plus or minus a constant.
    fn shifted(
        &self,
        op: BinaryOp,
        (left, right): (&RegExpr, &RegExpr),
        (other_left, other_right): (&RegExpr, &RegExpr),
        shift: Value,
        pair: &Pair<'_>,
    ) -> Checked {
        let same = |one: &RegExpr, other: &RegExpr| match (one.constant(), other.constant()) {
            (Some(one), Some(other)) if one == other => Some(one),
            _ => None,
        };
        match op {
            BinaryOp::Add => {
                if let Some(plus) = same(right, other_right) {
                    self.maps(left, other_left, Kind::Number(shift.wrapping_sub(plus)), pair)
                } else if let Some(plus) = same(left, other_left) {
                    self.maps(right, other_right, Kind::Number(shift.wrapping_sub(plus)), pair)
                } else {
                    Err(KIND)
                }
            }
            BinaryOp::Subtract => {
                let minus = same(right, other_right).ok_or(KIND)?;
                self.maps(left, other_left, Kind::Number(shift.wrapping_add(minus)), pair)
            }
            _ => Err(KIND),
        }
    }

    /// A set made of others, or of the number of its only member.
    fn set(
        &self,
        op: BinaryOp,
        (left, right): (&RegExpr, &RegExpr),
        (other_left, other_right): (&RegExpr, &RegExpr),
        pair: &Pair<'_>,
    ) -> Checked {
        match op {
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                self.maps(left, other_left, Kind::Set, pair)?;
                self.maps(right, other_right, Kind::Set, pair)
            }
            BinaryOp::ShiftLeft if [left, other_left].iter().all(|one| one.constant() == Some(1)) => {
                self.maps(right, other_right, Kind::Number(0), pair)?;
                if self.is_bit(right, pair) { Ok(()) } else { Err(KIND) }
            }
            _ => Err(KIND),
        }
    }

    /// Whether the value is the number of a bit: counts of shifts are taken modulo 64, and 64 is no thread's number.
    fn is_bit(&self, expr: &RegExpr, pair: &Pair<'_>) -> bool {
        // What is known of registers is from before the loads of an await.
        let thread = self.subject.threads[pair.position];
        let values = self.subject.ranges.value_at(thread, pair.location, expr).filter(|_| pair.loaded.is_empty());
        values.is_some_and(|values| 0 <= values.low && values.high < 64)
    }

    /// An operator whose result is neither a number nor a set.
    fn plain(
        &self,
        op: BinaryOp,
        (left, right): (&RegExpr, &RegExpr),
        (other_left, other_right): (&RegExpr, &RegExpr),
        pair: &Pair<'_>,
    ) -> Checked {
        match op {
            BinaryOp::And | BinaryOp::Or => {
                self.truth(left, other_left, pair)?;
                self.truth(right, other_right, pair)
            }
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let kind = self.kind(left, pair).or_else(|| self.kind(right, pair)).unwrap_or(Kind::Plain);
                self.maps(left, other_left, kind, pair)?;
                self.maps(right, other_right, kind, pair)
            }
            _ => {
                self.maps(left, other_left, Kind::Plain, pair)?;
                self.maps(right, other_right, Kind::Plain, pair)
            }
        }
    }

    /// Whether an expression is zero exactly if its image is.
    fn truth(&self, expr: &RegExpr, image: &RegExpr, pair: &Pair<'_>) -> Checked {
        let kind = self.kind(expr, pair).unwrap_or(Kind::Plain);
        self.maps(expr, image, kind, pair)?;
        if self.value(kind, 0) == 0 { Ok(()) } else { Err(CONSTANT) }
    }

    /// Cells, their declarations and their initial values.
    fn memory(&self) -> Result<(), Box<Diagnostic>> {
        let program = self.subject.program;
        let regions = &self.family.kinds.regions;
        let count = self.family.threads.len() as u64;
        if regions.windows(2).any(|pair| (pair[1].wrapping_sub(pair[0]) as u64) < count) {
            return Err(obstacle("some cells belong to threads in two different ways", Span::default()));
        }
        for address in self.moved() {
            let image = self.address(address);
            let facts = |address| program.shared_at(address).map(|(shared, _)| (shared.range, shared.width));
            let span = program.shared_at(address).map_or(Span::default(), |(shared, _)| shared.span);
            let expected = self.value(self.content(address), program.initial_value(address));
            let same = facts(address) == facts(image) && self.content(address) == self.content(image);
            if !same || program.initial_value(image) != expected {
                return Err(obstacle("cells of different copies differ from the start", span));
            }
        }
        for (shared, &kind) in program.shared.iter().zip(&self.family.kinds.contents) {
            if kind == Kind::Plain {
                continue;
            }
            if shared.width.is_some() || shared.range.is_some_and(|range| !self.is_closed(range, kind)) {
                return Err(obstacle("these cells cannot hold the numbers of all copies", shared.span));
            }
            let moved: Vec<Address> = self.moved().collect();
            let starts = shared.addresses().zip(&shared.initial).filter(|(address, _)| !moved.contains(address));
            if starts.into_iter().any(|(_, &value)| self.value(kind, value) != value) {
                return Err(obstacle("a cell starts as the number of one copy", shared.span));
            }
        }
        Ok(())
    }

    fn goals(&self, goals: &[Goal]) -> Result<(), Box<Diagnostic>> {
        let program = self.subject.program;
        let claims = Claims::new(program, goals);
        for goal in goals {
            let image = claims::image(program, *goal, &mut |condition| self.state(condition, Kind::Plain));
            if !image.is_some_and(|image| claims.contains(&image)) {
                return Err(obstacle("a property tells the copies apart", claims::span(program, *goal)));
            }
        }
        Ok(())
    }

    /// The image of a condition over states; nothing if it uses numbers in other ways.
    fn state(&self, expr: &StateExpr, kind: Kind) -> Option<StateExpr> {
        if let Some(value) = expr.constant() {
            return Some(StateExpr::Const(self.value(kind, value)));
        }
        match expr {
            StateExpr::Const(_) => None,
            StateExpr::Leaf(atom) => (self.atom_kind(atom)? == kind).then(|| StateExpr::Leaf(self.atom(atom))),
            StateExpr::Unary(op, operand) if kind == Kind::Plain => {
                Some(StateExpr::unary(*op, self.state(operand, self.truth_kind(*op == UnaryOp::Not, operand)?)?))
            }
            StateExpr::Unary(..) => None,
            StateExpr::Binary(op, left, right) if kind == Kind::Plain => {
                let (left_kind, right_kind) = match op {
                    BinaryOp::And | BinaryOp::Or => (self.truth_kind(true, left)?, self.truth_kind(true, right)?),
                    BinaryOp::Equal | BinaryOp::NotEqual => {
                        let kinds = [self.state_kind(left)?, self.state_kind(right)?];
                        let common = kinds.into_iter().find(|kind| *kind != Kind::Plain).unwrap_or(Kind::Plain);
                        (common, common)
                    }
                    _ => (Kind::Plain, Kind::Plain),
                };
                Some(StateExpr::binary(*op, self.state(left, left_kind)?, self.state(right, right_kind)?))
            }
            StateExpr::Binary(..) => None,
        }
    }

    /// The kind of an operand of which only the truth counts, if its image has the same truth.
    fn truth_kind(&self, is_truth: bool, operand: &StateExpr) -> Option<Kind> {
        let kind = if is_truth { self.state_kind(operand)? } else { Kind::Plain };
        (self.value(kind, 0) == 0).then_some(kind)
    }

    /// The kind of a cell or register; of anything else, that of a plain value.
    fn state_kind(&self, expr: &StateExpr) -> Option<Kind> {
        if let StateExpr::Leaf(atom) = expr { self.atom_kind(atom) } else { Some(Kind::Plain) }
    }

    fn atom_kind(&self, atom: &StateAtom) -> Option<Kind> {
        match atom {
            StateAtom::At { .. } => Some(Kind::Plain),
            StateAtom::Cell(address) => Some(self.content(*address)),
            StateAtom::Register { thread, register } => {
                let Some(position) = self.subject.threads.iter().position(|other| other == thread) else {
                    return Some(Kind::Plain);
                };
                let registers = self.subject.webs[position].registers().iter().enumerate();
                let mut kinds = registers.filter(|(_, other)| *other == register);
                let kind = |(web, _): (usize, &RegId)| self.family.kinds.webs[position][web];
                let first = kinds.next().map_or(Kind::Plain, kind);
                kinds.all(|web| kind(web) == first).then_some(first)
            }
        }
    }

    fn atom(&self, atom: &StateAtom) -> StateAtom {
        let thread = |thread: &weir_ir::ThreadId| {
            let position = self.subject.threads.iter().position(|other| other == thread);
            position.map_or(*thread, |position| self.subject.threads[self.image(position)])
        };
        match atom {
            StateAtom::At { thread: one, locations } => {
                StateAtom::At { thread: thread(one), locations: locations.clone() }
            }
            StateAtom::Register { thread: one, register } => {
                StateAtom::Register { thread: thread(one), register: *register }
            }
            StateAtom::Cell(address) => StateAtom::Cell(self.address(*address)),
        }
    }
}

/// Whether two bodies differ in constants only.
pub(super) fn same_shape(one: &Body, other: &Body) -> bool {
    let outline =
        |body: &Body| (body.entry, body.failed, body.registers.len(), body.locations.len(), body.edges().len());
    let same = |(left, right): (&Edge, &Edge)| {
        (left.from, left.to) == (right.from, right.to)
            && without_constants(&left.instruction) == without_constants(&right.instruction)
    };
    outline(one) == outline(other) && one.edges().iter().zip(other.edges()).all(same)
}

/// The instruction with every constant expression replaced by 0.
fn without_constants(instruction: &Instruction) -> Instruction {
    let bare = |expr: &RegExpr| bare(expr);
    match instruction {
        Instruction::Load { register, address } => Instruction::Load { register: *register, address: bare(address) },
        Instruction::Snapshot(_) | Instruction::Await { .. } => {
            let loads = instruction.loads_at_once().unwrap_or_default();
            let loads = loads.iter().map(|(register, address)| (*register, bare(address))).collect();
            match instruction {
                Instruction::Await { condition, .. } => Instruction::Await { loads, condition: bare(condition) },
                _ => Instruction::Snapshot(loads),
            }
        }
        Instruction::Store { address, value } => Instruction::Store { address: bare(address), value: bare(value) },
        Instruction::Assign { register, value } => Instruction::Assign { register: *register, value: bare(value) },
        Instruction::Assume(condition) => Instruction::Assume(bare(condition)),
        Instruction::Assert(condition) => Instruction::Assert(bare(condition)),
        Instruction::ReadModifyWrite { register, address, operation } => {
            let operation = match operation {
                Rmw::CompareAndSwap { expected, new } => {
                    Rmw::CompareAndSwap { expected: bare(expected), new: bare(new) }
                }
                Rmw::CompareExchange { expected, new } => {
                    Rmw::CompareExchange { expected: bare(expected), new: bare(new) }
                }
                Rmw::Exchange(value) => Rmw::Exchange(bare(value)),
                Rmw::Fetch(op, value) => Rmw::Fetch(*op, bare(value)),
            };
            Instruction::ReadModifyWrite { register: *register, address: bare(address), operation }
        }
        other => other.clone(),
    }
}

fn bare(expr: &RegExpr) -> RegExpr {
    match expr {
        RegExpr::Leaf(register) => RegExpr::Leaf(*register),
        expr if expr.constant().is_some() => RegExpr::Const(0),
        RegExpr::Unary(op, operand) => RegExpr::unary(*op, bare(operand)),
        RegExpr::Binary(op, left, right) => RegExpr::binary(*op, bare(left), bare(right)),
        RegExpr::Const(_) => RegExpr::Const(0),
    }
}

/// The operands of a read-modify-write.
pub(super) fn operands(operation: &Rmw) -> Vec<&RegExpr> {
    match operation {
        Rmw::CompareAndSwap { expected, new } | Rmw::CompareExchange { expected, new } => vec![expected, new],
        Rmw::Exchange(value) | Rmw::Fetch(_, value) => vec![value],
    }
}
