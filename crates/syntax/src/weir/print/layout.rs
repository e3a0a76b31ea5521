//! An automaton as structured statements, placed as [`Shape`] says.
//!
//! Each edge becomes one statement or test, and nothing else takes a step: falling through, leaving a
//! block, `break`, `continue` and `jump` are none. So the text has the states of the automaton.

use std::collections::VecDeque;

use weir_ir::sort::sort_by_key;
use weir_ir::{Body, Edge, Instruction, LocId, RegExpr};

use super::ends;
use super::prune::goes_on;
use super::shape::Shape;

/// How deep blocks nest before the rest goes to the end of the text, with a jump to it. People lose
/// track long before the parser does.
const MAX_NESTING: usize = 12;

/// A piece of text.
pub(super) enum Item<'b> {
    /// A location begins here: the place for its labels.
    Place(LocId),
    /// One step.
    Step(&'b Instruction),
    /// `if condition { … } else { … }`
    If(RegExpr, Vec<Item<'b>>, Vec<Item<'b>>),
    /// `while condition { … }`
    While(RegExpr, Vec<Item<'b>>),
    /// `loop { … }`
    Loop(Vec<Item<'b>>),
    /// `choose { … } or { … }`
    Choose(Vec<Vec<Item<'b>>>),
    /// `jump label;`
    Jump(LocId),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `assert false;`: a step that fails by itself.
    Fail,
    /// `end;`
    End,
}

/// The statements of a tidy body; one place where it is done is at the end of the text.
pub(super) fn statements(body: &Body) -> Vec<Item<'_>> {
    let last = ends::last(body);
    let mut layout = Layout { body, shape: Shape::new(body, last), postponed: VecDeque::new() };
    let mut items = Vec::new();
    let mut next = (Some(body.entry) != last).then_some(body.entry);
    while let Some(start) = next {
        if let Some(last) = last.filter(|_| !items.is_empty() && falls_through(&items)) {
            items.push(Item::Jump(last));
        }
        layout.sequence(vec![(start, last)], Context::default(), &mut items);
        next = layout.postponed.pop_front();
    }
    items.extend(last.map(Item::Place));
    if last == Some(body.entry) {
        // A thread without any statement is taken for a mistake.
        items.push(Item::End);
    }
    items
}

/// What surrounds a statement.
#[derive(Clone, Copy, Default)]
struct Context {
    /// Where `break` leads.
    break_to: Option<LocId>,
    /// Where `continue` leads.
    continue_to: Option<LocId>,
    nesting: usize,
}

/// Locations whose code is still to be placed one after the other, the next one last; each with the
/// location that follows its code.
type Open = Vec<(LocId, Option<LocId>)>;

struct Layout<'b> {
    body: &'b Body,
    shape: Shape,
    /// Locations too deep for their place.
    postponed: VecDeque<LocId>,
}

impl<'b> Layout<'b> {
    fn sequence(&mut self, mut open: Open, context: Context, items: &mut Vec<Item<'b>>) {
        while let Some((loc, follow)) = open.pop() {
            items.push(Item::Place(loc));
            if self.shape.is_head(loc) && context.nesting < MAX_NESTING {
                self.place_loop(loc, follow, context, items, &mut open);
            } else {
                let follow = push_all(self.shape.after_loop(loc), follow, &mut open);
                self.place_code(loc, follow, context, items, &mut open);
            }
        }
    }

    fn place_loop(
        &mut self,
        head: LocId,
        follow: Option<LocId>,
        context: Context,
        items: &mut Vec<Item<'b>>,
        open: &mut Open,
    ) {
        let test = self.loop_test(head);
        let mut after = self.shape.after_loop(head).to_vec();
        // What the test leaves the loop for comes right behind it, if it has its place here.
        let leaves_for = test.as_ref().map(|test| test.otherwise);
        sort_by_key(&mut after, |&loc| Some(loc) != leaves_for);
        let follow = push_all(&after, follow, open);
        let break_to = leaves_for.or(follow);
        let inner = Context { break_to, continue_to: Some(head), nesting: context.nesting + 1 };
        let (mut body, mut inner_open) = (Vec::new(), Vec::new());
        if let Some(test) = test {
            let start = push_all(self.shape.behind(head), Some(head), &mut inner_open);
            self.lead(head, test.then, start, inner, &mut body, &mut inner_open);
            self.sequence(inner_open, inner, &mut body);
            items.push(Item::While(test.condition, body));
            items.extend(self.go(test.otherwise, follow, context));
        } else {
            self.place_code(head, Some(head), inner, &mut body, &mut inner_open);
            self.sequence(inner_open, inner, &mut body);
            items.push(Item::Loop(body));
        }
    }

    /// The test at the head of a loop, if it decides between staying and leaving.
    fn loop_test(&self, head: LocId) -> Option<Test> {
        let test = self.test(head)?;
        let within = |loc| self.shape.is_within(head, loc);
        match (within(test.then), within(test.otherwise)) {
            (true, false) => Some(test),
            (false, true) => test.swapped(),
            _ => None,
        }
    }

    /// The steps of one location, and what goes behind them.
    fn place_code(
        &mut self,
        loc: LocId,
        follow: Option<LocId>,
        context: Context,
        items: &mut Vec<Item<'b>>,
        open: &mut Open,
    ) {
        let follow = push_all(self.shape.behind(loc), follow, open);
        if let Some(test) = self.test(loc) {
            return self.place_if(loc, test, follow, context, items, open);
        }
        let body = self.body;
        let mut edges = body.edges_from(loc).map(|(_, edge)| edge);
        match (edges.next(), edges.len()) {
            (None, _) => items.push(Item::End),
            (Some(edge), 0) => {
                items.push(Item::Step(&edge.instruction));
                if let Some(to) = goes_on(edge) {
                    self.lead(loc, to, follow, context, items, open);
                }
            }
            (Some(first), _) => {
                let edges = std::iter::once(first).chain(edges);
                let branches = edges.map(|edge| self.step_branch(edge, follow, context)).collect();
                items.push(Item::Choose(branches));
            }
        }
    }

    fn place_if(
        &mut self,
        loc: LocId,
        test: Test,
        follow: Option<LocId>,
        context: Context,
        items: &mut Vec<Item<'b>>,
        open: &mut Open,
    ) {
        let then = self.branch(loc, test.then, follow, context);
        // Behind a branch that leads elsewhere, the other one needs no braces.
        if !falls_through(&then) {
            items.push(Item::If(test.condition, then, Vec::new()));
            return self.lead(loc, test.otherwise, follow, context, items, open);
        }
        let otherwise = self.branch(loc, test.otherwise, follow, context);
        let leaves = !falls_through(&otherwise);
        match test.condition_swapped() {
            Some(opposite) if leaves || (then.is_empty() && !otherwise.is_empty()) => {
                items.push(Item::If(opposite, otherwise, Vec::new()));
                items.extend(then);
            }
            _ => items.push(Item::If(test.condition, then, otherwise)),
        }
    }

    fn step_branch(&mut self, edge: &'b Edge, follow: Option<LocId>, context: Context) -> Vec<Item<'b>> {
        let mut items = vec![Item::Step(&edge.instruction)];
        if let Some(to) = goes_on(edge) {
            items.extend(self.branch(edge.from, to, follow, context));
        }
        items
    }

    /// What an edge leads to, in braces.
    fn branch(&mut self, from: LocId, to: LocId, follow: Option<LocId>, context: Context) -> Vec<Item<'b>> {
        let (mut items, mut open) = (Vec::new(), Vec::new());
        if self.shape.is_inline(from, to) && context.nesting >= MAX_NESTING {
            self.postponed.push_back(to);
            return vec![Item::Jump(to)];
        }
        let inner = Context { nesting: context.nesting + 1, ..context };
        self.lead(from, to, follow, inner, &mut items, &mut open);
        self.sequence(open, inner, &mut items);
        items
    }

    /// What an edge leads to, without braces.
    fn lead(
        &mut self,
        from: LocId,
        to: LocId,
        follow: Option<LocId>,
        context: Context,
        items: &mut Vec<Item<'b>>,
        open: &mut Open,
    ) {
        if self.shape.is_inline(from, to) {
            open.push((to, follow));
        } else {
            items.extend(self.go(to, follow, context));
        }
    }

    /// The way to code that is placed elsewhere; none if it follows anyway.
    fn go(&self, to: LocId, follow: Option<LocId>, context: Context) -> Option<Item<'b>> {
        let to = Some(to);
        if to == self.body.failed {
            Some(Item::Fail)
        } else if to == follow {
            None
        } else if to == context.break_to {
            Some(Item::Break)
        } else if to == context.continue_to {
            Some(Item::Continue)
        } else {
            to.map(Item::Jump)
        }
    }

    /// The two edges out of a location, if they are what an `if` or `while` makes.
    fn test(&self, loc: LocId) -> Option<Test> {
        let mut edges = self.body.edges_from(loc).map(|(_, edge)| edge);
        let (Some(first), Some(second), None) = (edges.next(), edges.next(), edges.next()) else { return None };
        let (Instruction::Assume(condition), Instruction::Assume(opposite)) = (&first.instruction, &second.instruction)
        else {
            return None;
        };
        let test = |condition: &RegExpr, then: LocId, otherwise: LocId| {
            Some(Test { condition: condition.clone(), then, otherwise })
        };
        if condition.constant().is_some() {
            None
        } else if condition.negated() == *opposite {
            test(condition, first.to, second.to)
        } else if opposite.negated() == *condition {
            test(opposite, second.to, first.to)
        } else {
            None
        }
    }
}

/// Two edges: one if the condition holds, one if not.
struct Test {
    condition: RegExpr,
    then: LocId,
    otherwise: LocId,
}

impl Test {
    /// The opposite condition, if the test on it makes the same two edges.
    fn condition_swapped(&self) -> Option<RegExpr> {
        let opposite = self.condition.negated();
        (opposite.negated() == self.condition).then_some(opposite)
    }

    fn swapped(self) -> Option<Test> {
        Some(Test { condition: self.condition_swapped()?, then: self.otherwise, otherwise: self.then })
    }
}

/// Opens locations whose code goes one after the other; gives what follows whatever comes before.
fn push_all(locations: &[LocId], follow: Option<LocId>, open: &mut Open) -> Option<LocId> {
    let mut next = follow;
    for &loc in locations.iter().rev() {
        open.push((loc, next));
        next = Some(loc);
    }
    next
}

/// Whether control can reach what comes behind these statements.
fn falls_through(items: &[Item]) -> bool {
    match items.last() {
        Some(Item::Step(instruction)) => !matches!(instruction, Instruction::Terminate | Instruction::Return(_)),
        Some(Item::If(_, then, otherwise)) => falls_through(then) || falls_through(otherwise),
        Some(Item::Choose(branches)) => branches.iter().any(|branch| falls_through(branch)),
        Some(Item::Loop(body)) => has_break(body),
        Some(Item::Jump(_) | Item::Break | Item::Continue | Item::Fail | Item::End) => false,
        Some(Item::While(..) | Item::Place(_)) | None => true,
    }
}

fn has_break(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Break => true,
        Item::If(_, then, otherwise) => has_break(then) || has_break(otherwise),
        Item::Choose(branches) => branches.iter().any(|branch| has_break(branch)),
        _ => false,
    })
}
