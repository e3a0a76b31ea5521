//! An automaton under construction: many small steps, of which those that do nothing are left out in the end.

mod registers;

use weir_ir::{Body, Edge, EdgeId, Expr, Instruction, LocId, Location, RegExpr, RegId, Register, Span};

use crate::limit::LimitKind;
use crate::ops::Test;
use registers::{Set, without_unused};

/// An automaton with steps that may do nothing.
#[derive(Debug)]
pub(crate) struct Draft {
    count: usize,
    entry: usize,
    end: usize,
    edges: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    from: usize,
    to: usize,
    instruction: Instruction,
    span: Span,
    /// The address of the instruction it belongs to.
    code: u64,
    /// The test that it leaves undefined.
    undefined: Option<Test>,
    /// An assertion that only fails where the model ends, and why it does.
    limit: Option<LimitKind>,
}

/// The automaton of a thread, and its assertions that only fail where the model ends.
pub(crate) type Finished = (Body, Vec<(EdgeId, LimitKind)>);

impl Draft {
    /// One with these locations, from 0 on, and those where it begins and ends.
    pub(crate) fn new(locations: usize) -> Self {
        Self { count: locations + 2, entry: locations, end: locations + 1, edges: Vec::new() }
    }

    pub(crate) fn entry(&self) -> usize {
        self.entry
    }

    pub(crate) fn end(&self) -> usize {
        self.end
    }

    pub(crate) fn location(&mut self) -> usize {
        self.count += 1;
        self.count - 1
    }

    pub(crate) fn edge(&mut self, from: usize, to: usize, instruction: Instruction, span: Span, code: u64) {
        self.edges.push(Step { from, to, instruction, span, code, undefined: None, limit: None });
    }

    /// An assertion that only fails where the model ends.
    pub(crate) fn limit(&mut self, (from, to): (usize, usize), holds: RegExpr, why: LimitKind, span: Span, code: u64) {
        let instruction = Instruction::Assert(holds);
        self.edges.push(Step { from, to, instruction, span, code, undefined: None, limit: Some(why) });
    }

    /// A step after which a test tells nothing.
    pub(crate) fn undefined(&mut self, from: usize, to: usize, register: RegId, test: Test, code: u64) {
        let instruction = Instruction::Assign { register, value: Expr::Const(0) };
        self.edges.push(Step {
            from,
            to,
            instruction,
            span: Span::default(),
            code,
            undefined: Some(test),
            limit: None,
        });
    }

    /// The automaton without steps that do nothing. `observed` registers matter at the end.
    ///
    /// # Errors
    /// A test that is looked at after an instruction that leaves it undefined, and that instruction.
    pub(crate) fn finish(mut self, registers: Vec<Register>, observed: &[RegId]) -> Result<Finished, (Test, u64)> {
        self.drop_dead(registers.len(), observed)?;
        self.contract();
        self.inline_tests(registers.len(), observed);
        self.contract();
        self.load_in_place(registers.len(), observed);
        self.contract();
        self.join_assertions();
        Ok(self.into_body(registers))
    }

    /// Turns assignments to registers that nothing reads afterwards into steps that do nothing.
    fn drop_dead(&mut self, registers: usize, observed: &[RegId]) -> Result<(), (Test, u64)> {
        let live = self.live(registers, observed);
        for step in &mut self.edges {
            let after = &live[step.to];
            match &mut step.instruction {
                Instruction::Assign { register, value }
                    if !after.contains(*register) || *value == Expr::Leaf(*register) =>
                {
                    step.instruction = Instruction::Skip;
                }
                Instruction::Assign { .. } => {
                    if let Some(test) = step.undefined {
                        return Err((test, step.code));
                    }
                }
                Instruction::ReadModifyWrite { register, .. }
                    if register.is_some_and(|register| !after.contains(register)) =>
                {
                    *register = None;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The registers that matter at each location. Those that only serve to compute what does not matter do not.
    fn live(&self, registers: usize, observed: &[RegId]) -> Vec<Set> {
        let mut live = vec![Set::new(registers); self.count];
        observed.iter().for_each(|&register| live[self.end].insert(register));
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); self.count];
        for (number, step) in self.edges.iter().enumerate() {
            into[step.to].push(number);
        }
        let mut work: Vec<usize> = (0..self.count).collect();
        let mut is_waiting = vec![true; self.count];
        while let Some(location) = work.pop() {
            is_waiting[location] = false;
            for &number in &into[location] {
                let step = &self.edges[number];
                let before = before(&step.instruction, &live[location]);
                if live[step.from].add(&before) && !std::mem::replace(&mut is_waiting[step.from], true) {
                    work.push(step.from);
                }
            }
        }
        live
    }

    /// Joins the ends of steps that do nothing, if nothing else begins where they do.
    fn contract(&mut self) {
        let mut leaving = vec![0_u32; self.count];
        self.edges.iter().for_each(|step| leaving[step.from] += 1);
        let mut joined: Vec<usize> = (0..self.count).collect();
        let mut kept = Vec::new();
        for step in std::mem::take(&mut self.edges) {
            if step.instruction != Instruction::Skip || leaving[step.from] != 1 {
                kept.push(step);
                continue;
            }
            let (from, to) = (root(&mut joined, step.from), root(&mut joined, step.to));
            if from == to {
                // A loop that does nothing does so for ever.
                kept.push(step);
            } else {
                joined[from] = to;
            }
        }
        for step in &mut kept {
            (step.from, step.to) = (root(&mut joined, step.from), root(&mut joined, step.to));
        }
        self.entry = root(&mut joined, self.entry);
        self.end = root(&mut joined, self.end);
        self.edges = kept;
    }

    /// For each location, the edges that leave it and how many enter it.
    fn degrees(&self) -> (Vec<Vec<usize>>, Vec<u32>) {
        let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); self.count];
        let mut entering = vec![0_u32; self.count];
        for (number, step) in self.edges.iter().enumerate() {
            leaving[step.from].push(number);
            entering[step.to] += 1;
        }
        (leaving, entering)
    }

    /// `t = condition` followed by branches on `t` becomes branches on the condition.
    fn inline_tests(&mut self, registers: usize, observed: &[RegId]) {
        let live = self.live(registers, observed);
        let (leaving, entering) = self.degrees();
        for number in 0..self.edges.len() {
            let step = &self.edges[number];
            let Instruction::Assign { register, value } = &step.instruction else { continue };
            let (register, value, to) = (*register, value.clone(), step.to);
            let is_only_test = |&next: &usize| {
                let next = &self.edges[next];
                let reads = matches!(&next.instruction, Instruction::Assume(test) if is_test_of(test, register));
                reads && !live[next.to].contains(register)
            };
            let is_plain = entering[to] == 1 && to != self.entry && to != step.from;
            if !is_plain || leaving[to].is_empty() || !leaving[to].iter().all(is_only_test) {
                continue;
            }
            for &next in &leaving[to] {
                if let Instruction::Assume(test) = &mut self.edges[next].instruction {
                    *test = match test {
                        Expr::Leaf(_) => value.clone(),
                        Expr::Binary(op, ..) => {
                            crate::simplify::simplify(&Expr::binary(*op, value.clone(), Expr::Const(0)), &|_| 64)
                        }
                        _ => value.negated(),
                    };
                }
            }
            self.edges[number].instruction = Instruction::Skip;
        }
    }

    /// A branch to a failure becomes an assertion that it is not taken, as people write it.
    fn join_assertions(&mut self) {
        let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); self.count];
        for (number, step) in self.edges.iter().enumerate() {
            leaving[step.from].push(number);
        }
        let fails = |edges: &[Step], location: usize| match leaving[location][..] {
            // Where the model ends, nothing fails.
            [only] => edges[only].instruction == Instruction::Assert(Expr::Const(0)) && edges[only].limit.is_none(),
            _ => false,
        };
        let mut dropped = vec![false; self.edges.len()];
        for ways in &leaving {
            let &[first, second] = &ways[..] else { continue };
            for (failing, going) in [(first, second), (second, first)] {
                let (Instruction::Assume(one), Instruction::Assume(other)) =
                    (&self.edges[failing].instruction, &self.edges[going].instruction)
                else {
                    continue;
                };
                if one.is_opposite_of(other)
                    && fails(&self.edges, self.edges[failing].to)
                    && !fails(&self.edges, self.edges[going].to)
                {
                    self.edges[going].instruction = Instruction::Assert(other.clone());
                    dropped[failing] = true;
                    break;
                }
            }
        }
        let mut number = 0;
        self.edges.retain(|_| {
            number += 1;
            !dropped[number - 1]
        });
    }

    /// A load followed by a copy of what was loaded becomes a load of the copy.
    fn load_in_place(&mut self, registers: usize, observed: &[RegId]) {
        let live = self.live(registers, observed);
        let (leaving, entering) = self.degrees();
        for number in 0..self.edges.len() {
            let step = &self.edges[number];
            let loaded = match &step.instruction {
                Instruction::Load { register, .. } => *register,
                Instruction::ReadModifyWrite { register: Some(register), .. } => *register,
                _ => continue,
            };
            let (1, &[next]) = (entering[step.to], &leaving[step.to][..]) else { continue };
            let Instruction::Assign { register: copy, value: Expr::Leaf(from) } = self.edges[next].instruction else {
                continue;
            };
            let is_entry = step.to == self.entry;
            if is_entry || from != loaded || copy == loaded || live[self.edges[next].to].contains(loaded) {
                continue;
            }
            match &mut self.edges[number].instruction {
                Instruction::Load { register, .. } => *register = copy,
                Instruction::ReadModifyWrite { register, .. } => *register = Some(copy),
                _ => {}
            }
            self.edges[next].instruction = Instruction::Skip;
        }
    }

    fn into_body(self, registers: Vec<Register>) -> Finished {
        // Only what control can reach is kept, in the order in which it gets there.
        let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); self.count];
        for (number, step) in self.edges.iter().enumerate() {
            leaving[step.from].push(number);
        }
        let mut ids: Vec<Option<LocId>> = vec![None; self.count];
        let mut order = vec![self.entry];
        ids[self.entry] = Some(LocId(0));
        let mut next = 0;
        let mut edges = Vec::new();
        while let Some(&from) = order.get(next) {
            next += 1;
            for &number in &leaving[from] {
                let step = &self.edges[number];
                if ids[step.to].is_none() {
                    ids[step.to] = Some(LocId::new(order.len()));
                    order.push(step.to);
                }
                edges.push(number);
            }
        }
        let span =
            |location: usize| leaving[location].first().map_or(Span::default(), |&number| self.edges[number].span);
        let mut locations: Vec<Location> =
            order.iter().map(|&location| Location { labels: Vec::new(), span: span(location) }).collect();
        let asserts = edges.iter().any(|&number| matches!(self.edges[number].instruction, Instruction::Assert(_)));
        let failed = asserts.then(|| {
            locations.push(Location::default());
            LocId::new(locations.len() - 1)
        });
        let id = |location: usize| ids[location].unwrap_or(LocId(0));
        let edge = |&number: &usize| {
            let step = &self.edges[number];
            Edge { from: id(step.from), to: id(step.to), instruction: step.instruction.clone(), span: step.span }
        };
        let limit = |(place, &number): (usize, &usize)| Some((EdgeId::new(place), self.edges[number].limit?));
        let limits = edges.iter().enumerate().filter_map(limit).collect();
        let edges = edges.iter().map(edge).collect();
        let (registers, edges) = without_unused(registers, edges);
        (Body::new(registers, locations, LocId(0), failed, edges), limits)
    }
}

/// Whether a condition is the value of a register, or its opposite.
fn is_test_of(test: &RegExpr, register: RegId) -> bool {
    let leaf = Expr::Leaf(register);
    match test {
        Expr::Leaf(_) => *test == leaf,
        Expr::Unary(weir_ir::UnaryOp::Not, inner) => **inner == leaf,
        Expr::Binary(weir_ir::BinaryOp::Equal | weir_ir::BinaryOp::NotEqual, inner, zero) => {
            **inner == leaf && **zero == Expr::Const(0)
        }
        _ => false,
    }
}

/// The registers that matter before a step, if these do after it.
fn before(instruction: &Instruction, after: &Set) -> Set {
    // Nothing comes after a failure.
    if *instruction == Instruction::Assert(Expr::Const(0)) {
        return after.emptied();
    }
    let mut live = after.clone();
    if let Instruction::Assign { register, .. } = instruction
        && !after.contains(*register)
    {
        return live;
    }
    instruction.defines().for_each(|register| live.remove(register));
    instruction.uses(&mut |register| live.insert(register));
    live
}

fn root(joined: &mut [usize], mut at: usize) -> usize {
    while joined[at] != at {
        joined[at] = joined[joined[at]];
        at = joined[at];
    }
    at
}
