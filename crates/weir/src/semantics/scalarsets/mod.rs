//! Data symmetry: copies of a thread that can be exchanged together with the numbers that stand for them.
//!
//! The copies of a replicated thread seldom run the same code: each knows its number, stores it, compares it and uses
//! it as an index. They are symmetric all the same if numbers are used for nothing else (a *scalarset*: C. N. Ip, D. L.
//! Dill, *Better verification through symmetry*, 1996). Then two copies can be exchanged if everything that holds a
//! number is renamed with them: cells, registers, positions in arrays, stores in buffers.
//!
//! A register may also hold a set of numbers: bit `n` stands for the thread of number `n`. It is renamed bit by bit, so
//! sets may be combined bitwise, compared with `==` and `!=`, and made of `1 << n`.
//!
//! Three steps. [`infer`] proposes what holds numbers, and with which shift (`i + 1` has shift 1). [`swap`] then checks
//! for two copies that exchanging them maps the program to itself: code, initial values and goals. Soundness depends on
//! this check alone; a bad proposal fails it, and nothing is reduced. Copies that can be exchanged with each other form
//! a class: the transpositions of a class generate all its permutations.

mod claims;
mod infer;
mod subject;
mod swap;

use weir_ir::{Address, Diagnostic, LocId, Program, RegId, Span, Thread, ThreadId, Value};
use weir_witness::Goal;

use self::subject::Subject;
use self::swap::Swap;
use super::compile::Compiled;

/// What is known about the symmetry of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symmetry {
    pub(crate) families: Vec<Family>,
    /// What keeps copies of a thread apart.
    pub(crate) obstacles: Vec<Diagnostic>,
}

/// Threads that run the same code up to their numbers.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    /// Their positions, by number.
    pub(crate) threads: Vec<usize>,
    /// The numbers that can be exchanged with each other: sets of two or more.
    pub(crate) classes: Vec<Vec<usize>>,
    pub(crate) kinds: Kinds,
}

/// What a value is, as far as threads of a family are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Plain,
    /// A number of this shift: `v` stands for the thread of number `v - shift`.
    Number(Value),
    /// A set: each bit stands for the thread of that number.
    Set,
}

/// What holds numbers of the threads of a family, or sets of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    /// By position of the thread and [web](weir_ir::flow::Webs).
    pub(crate) webs: Vec<Vec<Kind>>,
    /// For each declaration of cells, what they contain: numbers or plain values.
    pub(crate) contents: Vec<Kind>,
    /// Where cells begin that are indexed by numbers: as many as there are threads.
    pub(crate) regions: Vec<Address>,
}

/// Families with more threads are not reduced.
pub(crate) const MOST_THREADS: usize = 64;

/// Programs with more edges are not examined: each exchange is checked edge by edge.
const MOST_EDGES: usize = 20_000;

/// Finds the symmetry of a compiled program with these goals.
pub(crate) fn symmetry(program: &Program, compiled: &Compiled, goals: &[Goal]) -> Symmetry {
    // Threads start in the order of their numbers.
    if program.spawns() {
        return Symmetry::default();
    }
    let edges: usize = compiled.threads.iter().map(|&thread| program.body(thread).edges().len()).sum();
    let mut groups = if edges > MOST_EDGES { Vec::new() } else { groups(program, &compiled.threads) };
    let mut symmetry =
        Symmetry { families: Vec::new(), obstacles: different_code(program, &compiled.threads, &groups) };
    groups.retain(|group| group.len() > 1 && group.len() <= MOST_THREADS);
    // Cells in the interned map are not distinguished here.
    if groups.is_empty() || compiled.machine.layout.heap.is_some() || !compiled.machine.keeps_back.is_empty() {
        return symmetry;
    }
    let subject = Subject::new(program, compiled);
    for threads in groups {
        family(&subject, threads, goals, &mut symmetry);
    }
    symmetry
}

impl Symmetry {
    /// The threads that can be exchanged with each other: sets of two or more.
    pub(crate) fn classes(&self, threads: &[ThreadId]) -> Vec<Vec<ThreadId>> {
        let thread = |family: &Family, &number: &usize| threads[family.threads[number]];
        let class =
            |family: &Family, class: &Vec<usize>| class.iter().map(|number| thread(family, number)).collect::<Vec<_>>();
        self.families.iter().flat_map(|family| family.classes.iter().map(move |one| class(family, one))).collect()
    }
}

/// Threads, by position, that may be copies of each other: the instances of a replicated thread, or threads that are
/// alike without being declared as copies.
fn groups(program: &Program, threads: &[ThreadId]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (position, &thread) in threads.iter().enumerate() {
        let fits = |group: &&mut Vec<usize>| {
            let first = threads[group[0]];
            let (one, other) = (&program.thread(first).family, &program.thread(thread).family);
            let related = one.1.is_some() == other.1.is_some() && (one.1.is_none() || one.0 == other.0);
            related && swap::same_shape(program.body(first), program.body(thread))
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(position),
            None => groups.push(vec![position]),
        }
    }
    groups
}

/// Instances of a replicated thread that differ in more than constants.
fn different_code(program: &Program, threads: &[ThreadId], groups: &[Vec<usize>]) -> Vec<Diagnostic> {
    let firsts: Vec<&Thread> = groups.iter().map(|group| program.thread(threads[group[0]])).collect();
    let is_split = |(at, first): &(usize, &&Thread)| {
        first.family.1.is_some() && firsts[..*at].iter().filter(|other| other.family.0 == first.family.0).count() == 1
    };
    firsts.iter().enumerate().filter(is_split).map(|(_, first)| apart(first, swap::CODE, first.span)).collect()
}

fn apart(thread: &Thread, why: &str, span: Span) -> Diagnostic {
    infer::obstacle(&format!("copies of `{}` are kept apart: {why}", thread.family.0), span)
}

/// Adds the family of these threads, if some of them can be exchanged.
fn family(subject: &Subject<'_>, threads: Vec<usize>, goals: &[Goal], symmetry: &mut Symmetry) {
    let (kinds, doubts) = infer::kinds(subject, &threads);
    let count = threads.len();
    let mut family = Family { threads, classes: Vec::new(), kinds };
    let mut classes: Vec<Vec<usize>> = Vec::new();
    let mut reason = None;
    for number in 0..count {
        let mut fits = |class: &&mut Vec<usize>| {
            let last = class.last().copied().unwrap_or(number);
            let checked = Swap::new(subject, &family, last, number).check(goals);
            checked.map_err(|why| reason.get_or_insert(why)).is_ok()
        };
        match classes.iter_mut().find(&mut fits) {
            Some(class) => class.push(number),
            None => classes.push(vec![number]),
        }
    }
    if let Some(reason) = reason.filter(|_| classes.len() > 1) {
        // A line that uses numbers in other ways is something that users can change; that constants differ follows from
        // it.
        let obstacle = doubts.into_iter().next().unwrap_or(*reason);
        let thread = subject.program.thread(subject.threads[family.threads[0]]);
        let obstacle = apart(thread, &obstacle.message, obstacle.primary.span);
        symmetry.obstacles.push(obstacle);
    }
    classes.retain(|class| class.len() > 1);
    let is_new = symmetry.families.iter().all(|other| are_independent(other, &family));
    if !classes.is_empty() && is_new && subject.has_cells(&family.kinds.regions, count) {
        family.classes = classes;
        symmetry.families.push(family);
    }
}

/// Whether nothing is renamed with both families, so that the order of renaming does not matter.
fn are_independent(one: &Family, other: &Family) -> bool {
    let overlap = |left: Kind, right: Kind| match (left, right) {
        (Kind::Number(left), Kind::Number(right)) => {
            let (first, second) = (one.threads.len() as i128, other.threads.len() as i128);
            let (left, right) = (i128::from(left), i128::from(right));
            left < right + second && right < left + first
        }
        (left, right) => left != Kind::Plain && right != Kind::Plain,
    };
    let (webs, others) = (one.kinds.webs.iter().flatten(), other.kinds.webs.iter().flatten());
    let contents = one.kinds.contents.iter().zip(&other.kinds.contents);
    let regions = one.kinds.regions.iter().flat_map(|left| other.kinds.regions.iter().map(move |right| (left, right)));
    !webs.zip(others).chain(contents).any(|(left, right)| overlap(*left, *right))
        && !regions.into_iter().any(|(left, right)| overlap(Kind::Number(*left), Kind::Number(*right)))
}

/// What the registers that are live at a location hold, by position, for a family.
pub(crate) fn live_kinds(
    compiled: &Compiled,
    program: &Program,
    kinds: &Kinds,
    position: usize,
) -> Vec<Vec<(RegId, super::state::Field, Kind)>> {
    let body = program.body(compiled.threads[position]);
    let webs = compiled.webs(body, position);
    let at = |loc: LocId| {
        let kind = |register| webs.at(loc, register).map_or(Kind::Plain, |web| kinds.webs[position][web as usize]);
        compiled.live_fields(position, loc).map(|(register, field)| (register, field, kind(register))).collect()
    };
    body.location_ids().map(at).collect()
}
