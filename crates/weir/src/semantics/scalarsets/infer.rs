//! Proposes what holds thread numbers, and with which shift.
//!
//! Where copies of a thread differ, they differ in constants: 1, 2, 3 in the code of three copies is their number with
//! shift 1. From there numbers flow with assignments, loads, stores and comparisons, and shifts change with `+ c`. What
//! is related in this way forms a class (union-find, with the difference of shifts on each link). A class that is also
//! used in other computations, or compared by order, holds no numbers.
//!
//! What is combined bitwise with `1 << n`, where `n` is a number with shift 0, is a set of numbers. Copies that start it
//! with constants that differ in their own bits say the same.

use std::collections::BTreeSet;

use weir_ir::{
    BinaryOp, Diagnostic, Edge, Gather, Instruction, LocId, RegExpr, RegId, Rmw, Severity, Span, UnaryOp, Value,
};

use super::subject::Subject;
use super::{Kind, Kinds};

/// What holds the numbers of the threads at these positions, and the lines that rule out some candidates.
pub(super) fn kinds(subject: &Subject<'_>, family: &[usize]) -> (Kinds, Vec<Diagnostic>) {
    let mut inference = Inference::new(subject, family);
    for group in inference.groups() {
        let lead = inference.lead(&group);
        let body = subject.body(lead);
        for number in 0..body.edges().len() {
            if group.iter().any(|&position| subject.can_take(position, number)) {
                inference.edge(&group, number);
            }
        }
        for register in subject.observed[lead].iter() {
            inference.observe(lead, register);
        }
    }
    inference.finish()
}

/// Something that may hold numbers: a web, what a declaration contains, or the addresses of a declaration.
type Holder = usize;

/// What an expression may be.
enum Term {
    /// What a holder has, plus a constant.
    Held(Holder, Value),
    /// A constant for each copy.
    Constants(Vec<Value>),
    /// One bit: 1, shifted by what a holder has plus a constant.
    Bit(Holder, Value),
    /// The result of a computation: no number.
    Other,
}

/// What all holders of a class have in common.
#[derive(Clone, Default)]
struct Class {
    /// The shift, in terms of the root.
    shift: Option<Value>,
    /// Whether it receives constants that differ as sets do that contain all but the copy itself.
    starts_as_set: bool,
    /// Why it holds no numbers, and no sets.
    doubt: Option<Doubt>,
}

/// A holder is combined bitwise with the bit that a number stands for.
struct Membership {
    set: Holder,
    number: (Holder, Value),
    span: Span,
}

#[derive(Clone)]
struct Doubt {
    span: Span,
    why: &'static str,
}

struct Inference<'a> {
    subject: &'a Subject<'a>,
    family: &'a [usize],
    /// The first of the family whose webs are those of most others. Threads with other webs, because a property
    /// observes more of their registers, are also examined separately.
    lead: usize,
    /// Where the webs of the thread at each position begin; those that are like the lead share theirs.
    first_web: Vec<Holder>,
    first_content: Holder,
    first_address: Holder,
    parents: Vec<Holder>,
    /// The shift of each holder, less that of its parent.
    differences: Vec<Value>,
    classes: Vec<Class>,
    memberships: Vec<Membership>,
}

/// Where an expression is evaluated.
struct Place<'e> {
    position: usize,
    location: LocId,
    /// Registers that stand for what was just loaded.
    loaded: &'e [(RegId, Option<Holder>)],
    span: Span,
}

const COMPUTED: &str = "a thread number is used in a computation here";
const ORDERED: &str = "thread numbers are compared by order here";
const SHIFTED: &str = "thread numbers with different offsets are mixed here";
const INDEXED: &str = "cells that belong to threads are accessed by a computed index here";

impl<'a> Inference<'a> {
    fn new(subject: &'a Subject<'a>, family: &'a [usize]) -> Self {
        let mut next = 0;
        let mut take = |count: usize| {
            next += count;
            next - count
        };
        let mut first_web = Vec::new();
        let lead = lead(subject, family);
        let shared = take(subject.webs[lead].registers().len());
        for (position, webs) in subject.webs.iter().enumerate() {
            let is_alike = family.contains(&position) && *webs == subject.webs[lead];
            first_web.push(if is_alike { shared } else { take(webs.registers().len()) });
        }
        let declarations = subject.program.shared.len();
        let (first_content, first_address) = (take(declarations), take(declarations));
        Self {
            subject,
            family,
            lead,
            first_web,
            first_content,
            first_address,
            parents: (0..next).collect(),
            differences: vec![0; next],
            classes: vec![Class::default(); next],
            memberships: Vec::new(),
        }
    }

    /// The thread whose webs stand for those of a group.
    fn lead(&self, group: &[usize]) -> usize {
        if group.len() > 1 { self.lead } else { group[0] }
    }

    /// The family, and every thread with webs of its own by itself.
    fn groups(&self) -> Vec<Vec<usize>> {
        let shared = self.first_web[self.lead];
        let is_alike = |position: &usize| self.family.contains(position) && self.first_web[*position] == shared;
        let others = (0..self.subject.threads.len()).filter(|position| !is_alike(position));
        [self.family.to_vec()].into_iter().chain(others.map(|position| vec![position])).collect()
    }

    /// The root of a holder, and the difference of its shift from the root's.
    fn root(&self, mut holder: Holder) -> (Holder, Value) {
        let mut difference: Value = 0;
        while self.parents[holder] != holder {
            difference = difference.wrapping_add(self.differences[holder]);
            holder = self.parents[holder];
        }
        (holder, difference)
    }

    fn doubt(&mut self, holder: Holder, span: Span, why: &'static str) {
        let (root, _) = self.root(holder);
        self.classes[root].doubt.get_or_insert(Doubt { span, why });
    }

    /// `one` plus its constant and `other` plus its constant hold numbers of the same shift.
    fn unite(&mut self, one: (Holder, Value), other: (Holder, Value), span: Span) {
        let ((left, before), (right, after)) = (self.root(one.0), self.root(other.0));
        let difference = before.wrapping_add(one.1).wrapping_sub(after).wrapping_sub(other.1);
        if left == right {
            if difference != 0 {
                self.doubt(left, span, COMPUTED);
            }
            return;
        }
        self.parents[right] = left;
        self.differences[right] = difference;
        let joined = std::mem::take(&mut self.classes[right]);
        self.classes[left].starts_as_set |= joined.starts_as_set;
        if let Some(shift) = joined.shift {
            self.settle(left, shift.wrapping_sub(difference), span);
        }
        if let Some(Doubt { span, why }) = joined.doubt {
            self.doubt(left, span, why);
        }
    }

    /// The root holds numbers of this shift.
    fn settle(&mut self, root: Holder, shift: Value, span: Span) {
        match self.classes[root].shift {
            Some(known) if known != shift => self.doubt(root, span, SHIFTED),
            _ => self.classes[root].shift = Some(shift),
        }
    }

    fn relate(&mut self, one: Term, other: Term, span: Span) {
        match (one, other) {
            (Term::Held(one, plus), Term::Held(other, more)) => self.unite((one, plus), (other, more), span),
            (Term::Held(holder, plus), Term::Constants(values))
            | (Term::Constants(values), Term::Held(holder, plus)) => {
                let root = self.root(holder).0;
                self.classes[root].starts_as_set |= are_complements(&values);
                if let Some(first) = first_number(&values) {
                    let (root, difference) = self.root(holder);
                    self.settle(root, first.wrapping_sub(plus).wrapping_sub(difference), span);
                }
            }
            (Term::Held(holder, _), Term::Other) | (Term::Other, Term::Held(holder, _)) => {
                self.doubt(holder, span, COMPUTED);
            }
            (Term::Bit(number, _), other) | (other, Term::Bit(number, _)) => {
                self.doubt(number, span, COMPUTED);
                self.relate(Term::Other, other, span);
            }
            _ => {}
        }
    }

    fn term(&mut self, exprs: &[&RegExpr], place: &Place<'_>) -> Term {
        if let Some(values) = exprs.iter().map(|expr| expr.constant()).collect::<Option<Vec<_>>>() {
            return Term::Constants(values);
        }
        match exprs[0] {
            RegExpr::Const(_) => Term::Other,
            RegExpr::Leaf(register) => self.leaf(*register, place).map_or(Term::Other, |holder| Term::Held(holder, 0)),
            RegExpr::Unary(op, _) => {
                let operand = self.term(&operands(exprs, false), place);
                if *op != UnaryOp::Not {
                    self.relate(operand, Term::Other, place.span);
                }
                Term::Other
            }
            RegExpr::Binary(op, ..) => {
                let left = self.term(&operands(exprs, false), place);
                let right = self.term(&operands(exprs, true), place);
                self.binary(*op, left, right, place.span)
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: Term, right: Term, span: Span) -> Term {
        match (op, left, right) {
            (BinaryOp::Add, Term::Held(holder, plus), Term::Constants(values))
            | (BinaryOp::Add, Term::Constants(values), Term::Held(holder, plus))
                if is_uniform(&values) =>
            {
                Term::Held(holder, plus.wrapping_add(values[0]))
            }
            (BinaryOp::Subtract, Term::Held(holder, plus), Term::Constants(values)) if is_uniform(&values) => {
                Term::Held(holder, plus.wrapping_sub(values[0]))
            }
            (BinaryOp::Equal | BinaryOp::NotEqual, left, right) => {
                self.relate(left, right, span);
                Term::Other
            }
            (BinaryOp::And | BinaryOp::Or, ..) => Term::Other,
            (BinaryOp::ShiftLeft, Term::Constants(values), Term::Held(number, plus))
                if values.iter().all(|&value| value == 1) =>
            {
                Term::Bit(number, plus)
            }
            (BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor, Term::Held(set, 0), Term::Bit(number, plus))
            | (BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor, Term::Bit(number, plus), Term::Held(set, 0)) => {
                self.memberships.push(Membership { set, number: (number, plus), span });
                Term::Held(set, 0)
            }
            (op, left, right) => {
                let ordered =
                    matches!(op, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual);
                for term in [left, right] {
                    if let Term::Held(holder, _) | Term::Bit(holder, _) = term {
                        self.doubt(holder, span, if ordered { ORDERED } else { COMPUTED });
                    }
                }
                Term::Other
            }
        }
    }

    fn leaf(&self, register: RegId, place: &Place<'_>) -> Option<Holder> {
        let loaded = place.loaded.iter().find(|(other, _)| *other == register);
        loaded.map_or_else(|| self.web(place.position, place.location, register), |(_, holder)| *holder)
    }

    fn web(&self, position: usize, location: LocId, register: RegId) -> Option<Holder> {
        let web = self.subject.webs[position].at(location, register)?;
        Some(self.first_web[position] + web as usize)
    }

    /// All live ranges of a register that a property observes hold the same.
    fn observe(&mut self, position: usize, register: RegId) {
        let registers = self.subject.webs[position].registers();
        let webs: Vec<Holder> = (0..registers.len())
            .filter(|&web| registers[web] == register)
            .map(|web| self.first_web[position] + web)
            .collect();
        webs.windows(2).for_each(|pair| self.unite((pair[0], 0), (pair[1], 0), Span::default()));
    }

    /// A thread's register receives this.
    fn receive(&mut self, position: usize, edge: &Edge, register: RegId, term: Term) {
        if let Some(web) = self.web(position, edge.to, register) {
            self.relate(Term::Held(web, 0), term, edge.span);
        }
    }

    fn edge(&mut self, group: &[usize], number: usize) {
        let position = self.lead(group);
        let edge = self.subject.edge(position, number);
        let place = Place { position, location: edge.from, loaded: &[], span: edge.span };
        let all = |pick: &dyn Fn(&'a Instruction) -> Option<&'a RegExpr>| -> Vec<&'a RegExpr> {
            group.iter().filter_map(|&position| pick(&self.subject.edge(position, number).instruction)).collect()
        };
        match &edge.instruction {
            Instruction::Assign { register, .. } => {
                let values = all(&|instruction| match instruction {
                    Instruction::Assign { value, .. } => Some(value),
                    _ => None,
                });
                // A value that is never read may be anything.
                if self.web(position, edge.to, *register).is_some() {
                    let term = self.term(&values, &place);
                    self.receive(position, edge, *register, term);
                }
            }
            Instruction::Assume(_) | Instruction::Assert(_) => {
                let conditions = all(&|instruction| match instruction {
                    Instruction::Assume(condition) | Instruction::Assert(condition) => Some(condition),
                    _ => None,
                });
                self.term(&conditions, &place);
            }
            Instruction::Load { register, .. } => {
                let content = self.access(group, number, 0, &place);
                self.receive(position, edge, *register, held(content));
            }
            Instruction::Snapshot(loads) => {
                for (access, (register, _)) in loads.iter().enumerate() {
                    let content = self.access(group, number, access, &place);
                    self.receive(position, edge, *register, held(content));
                }
            }
            Instruction::Await { loads, .. } => {
                let mut loaded = Vec::new();
                for (access, (register, _)) in loads.iter().enumerate() {
                    let content = self.access(group, number, access, &place);
                    self.receive(position, edge, *register, held(content));
                    loaded.push((*register, content));
                }
                let conditions = all(&|instruction| match instruction {
                    Instruction::Await { condition, .. } => Some(condition),
                    _ => None,
                });
                self.term(&conditions, &Place { loaded: &loaded, ..place });
            }
            Instruction::Store { .. } => {
                let content = self.access(group, number, 0, &place);
                let values = all(&|instruction| match instruction {
                    Instruction::Store { value, .. } => Some(value),
                    _ => None,
                });
                let value = self.term(&values, &place);
                self.relate(held(content), value, edge.span);
            }
            Instruction::ReadModifyWrite { register, operation, .. } => {
                let content = self.access(group, number, 0, &place);
                self.rmw(group, number, content, &place);
                let result = match operation {
                    Rmw::CompareAndSwap { .. } => None,
                    Rmw::CompareExchange { .. } | Rmw::Exchange(_) | Rmw::Fetch(..) => content,
                };
                if let Some(register) = register {
                    self.receive(position, edge, *register, held(result));
                }
            }
            // A choice may be among threads.
            Instruction::Havoc { .. }
            | Instruction::Skip
            | Instruction::Fence
            | Instruction::Membarrier
            | Instruction::Lock
            | Instruction::Unlock
            | Instruction::Call { .. }
            | Instruction::Return(_)
            | Instruction::Spawn(_)
            | Instruction::Terminate => {}
        }
    }

    /// What a read-modify-write does with its operands.
    fn rmw(&mut self, group: &[usize], number: usize, content: Option<Holder>, place: &Place<'_>) {
        let operations: Vec<Vec<&RegExpr>> = group
            .iter()
            .map(|&position| match &self.subject.edge(position, number).instruction {
                Instruction::ReadModifyWrite { operation, .. } => super::swap::operands(operation),
                _ => Vec::new(),
            })
            .collect();
        let combines = matches!(
            self.subject.edge(place.position, number).instruction,
            Instruction::ReadModifyWrite { operation: Rmw::Fetch(..), .. }
        );
        for operand in 0..operations[0].len() {
            let exprs: Vec<&RegExpr> = operations.iter().filter_map(|all| all.get(operand).copied()).collect();
            let term = self.term(&exprs, place);
            if combines {
                self.relate(term, Term::Other, place.span);
            } else {
                self.relate(held(content), term, place.span);
            }
        }
        if let Some(content) = content.filter(|_| combines) {
            self.doubt(content, place.span, COMPUTED);
        }
    }

    /// What the cells contain that an edge accesses; nothing if they hold no numbers.
    fn access(&mut self, group: &[usize], number: usize, access: usize, place: &Place<'_>) -> Option<Holder> {
        let addresses: Vec<&RegExpr> = group
            .iter()
            .filter_map(|&position| self.subject.edge(position, number).instruction.accesses().nth(access))
            .collect();
        let term = self.term(&addresses, place);
        let mut declarations = Vec::new();
        let mut undeclared = false;
        for range in group.iter().filter_map(|&position| self.subject.addresses(position, number, access)) {
            let touched = self.subject.touched(range);
            declarations.extend(touched.declarations);
            undeclared |= touched.undeclared;
        }
        declarations.sort_unstable();
        declarations.dedup();
        for &declaration in &declarations {
            let base = self.first_address + declaration;
            match &term {
                Term::Held(holder, plus) => self.unite((*holder, *plus), (base, 0), place.span),
                Term::Constants(values) => {
                    self.relate(Term::Held(base, 0), Term::Constants(values.clone()), place.span)
                }
                Term::Bit(number, _) => {
                    self.doubt(*number, place.span, COMPUTED);
                    self.doubt(base, place.span, INDEXED);
                }
                Term::Other => self.doubt(base, place.span, INDEXED),
            }
        }
        let contents: Vec<Holder> = declarations.iter().map(|declaration| self.first_content + declaration).collect();
        contents.windows(2).for_each(|pair| self.unite((pair[0], 0), (pair[1], 0), place.span));
        let first = contents.first().copied();
        if let (Some(first), true) = (first, undeclared) {
            self.doubt(first, place.span, INDEXED);
        }
        first
    }

    /// The roots of the classes that hold sets.
    fn sets(&mut self) -> BTreeSet<Holder> {
        let memberships = std::mem::take(&mut self.memberships);
        for Membership { set, number: (number, plus), span } in &memberships {
            if self.classes[self.root(*set).0].starts_as_set {
                let (root, difference) = self.root(*number);
                self.settle(root, 0_i64.wrapping_sub(*plus).wrapping_sub(difference), *span);
            }
        }
        let in_memory: BTreeSet<Holder> =
            (self.first_content..self.classes.len()).map(|holder| self.root(holder).0).gather();
        // What is no set makes no numbers of what it is combined with, so other sets may be none either.
        loop {
            let fails = |one: &&Membership| {
                let set = self.root(one.set).0;
                let is_number = self.shift(one.number.0).map(|shift| shift.wrapping_add(one.number.1)) == Some(0);
                !is_number || in_memory.contains(&set) || self.classes[set].doubt.is_some()
            };
            let failing: Vec<&Membership> = memberships.iter().filter(fails).collect();
            let before = self.doubted();
            for one in failing {
                self.doubt(one.number.0, one.span, COMPUTED);
                self.doubt(one.set, one.span, COMPUTED);
            }
            if self.doubted() == before {
                break;
            }
        }
        memberships.iter().map(|one| self.root(one.set).0).filter(|&set| self.classes[set].doubt.is_none()).gather()
    }

    fn doubted(&self) -> usize {
        self.classes.iter().filter(|class| class.doubt.is_some()).count()
    }

    /// The shift of the numbers that a holder has, if it has numbers.
    fn shift(&self, holder: Holder) -> Option<Value> {
        let (root, difference) = self.root(holder);
        let class = &self.classes[root];
        class.shift.filter(|_| class.doubt.is_none()).map(|shift| shift.wrapping_add(difference))
    }

    fn finish(mut self) -> (Kinds, Vec<Diagnostic>) {
        let sets = self.sets();
        let shift = |holder: Holder| self.shift(holder);
        let kind = |holder: Holder| match shift(holder) {
            _ if sets.contains(&self.root(holder).0) => Kind::Set,
            Some(shift) => Kind::Number(shift),
            None => Kind::Plain,
        };
        let webs = self.subject.webs.iter().zip(&self.first_web);
        let webs = webs.map(|(webs, first)| (0..webs.registers().len()).map(|web| kind(first + web)).collect());
        let declarations = self.subject.program.shared.len();
        let mut regions: Vec<Value> =
            (0..declarations).filter_map(|declaration| shift(self.first_address + declaration)).collect();
        regions.sort_unstable();
        regions.dedup();
        let contents = (0..declarations).map(|declaration| kind(self.first_content + declaration)).collect();
        let doubts = self.classes.iter().filter(|class| class.shift.is_some()).filter_map(|class| class.doubt.as_ref());
        let doubts = doubts.map(|doubt| obstacle(doubt.why, doubt.span)).collect();
        (Kinds { webs: webs.collect(), contents, regions }, doubts)
    }
}

/// The first thread whose webs are those of most others.
fn lead(subject: &Subject<'_>, family: &[usize]) -> usize {
    let alike = |one: usize| family.iter().filter(|&&other| subject.webs[other] == subject.webs[one]).count();
    let rank = |&(at, &position): &(usize, &usize)| (alike(position), std::cmp::Reverse(at));
    family.iter().enumerate().max_by_key(rank).map_or(family[0], |(_, &position)| position)
}

/// What keeps copies of a thread apart.
pub(super) fn obstacle(why: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Severity::Note, "asymmetric", why, span)
}

fn held(content: Option<Holder>) -> Term {
    content.map_or(Term::Other, |holder| Term::Held(holder, 0))
}

/// The left or right operands of expressions of the same shape.
fn operands<'e>(exprs: &[&'e RegExpr], right: bool) -> Vec<&'e RegExpr> {
    let operand = |expr: &&'e RegExpr| match expr {
        RegExpr::Unary(_, operand) => Some(&**operand),
        RegExpr::Binary(_, first, second) => Some(if right { &**second } else { &**first }),
        RegExpr::Const(_) | RegExpr::Leaf(_) => None,
    };
    exprs.iter().filter_map(operand).collect()
}

fn is_uniform(values: &[Value]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}

/// Whether constants of the copies are sets in which each copy differs from the others in its own bit.
fn are_complements(values: &[Value]) -> bool {
    let differ = |(at, pair): (usize, &[Value])| (pair[0] ^ pair[1]) == 3_i64.wrapping_shl(at as u32);
    values.len() > 1 && values.len() <= super::MOST_THREADS && values.windows(2).enumerate().all(differ)
}

/// What the constants of the copies say about the first number: 3, 4, 5 are the numbers with shift 3. Of two copies
/// each may also know the other one's number.
fn first_number(values: &[Value]) -> Option<Value> {
    match values {
        [_] => None,
        [one, other] if one.wrapping_sub(*other) == 1 => Some(*other),
        _ => values.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == 1).then_some(values[0]),
    }
}
