//! Removing silent moves changes no behaviour: random control flow is compared with a plain machine that
//! has a program counter and moves silently, as the two read every sequence of steps.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::fmt::Write;

use crate::dump::instruction;
use crate::fuzz::Random;
use weir_ir::{Body, LocId, Source};
use weir_syntax::weir::{Options, parse};

/// An instruction of the plain machine.
enum Code {
    /// A step of this text.
    Step(String),
    /// A step of this text to elsewhere.
    StepTo(String, usize),
    /// Goes on at any of these places, silently.
    Fork(Vec<usize>),
}

/// Writes a random body twice: as source, and as code for the plain machine.
struct Writer {
    random: Random,
    source: String,
    code: Vec<Code>,
    steps: usize,
    /// Continue targets and the breaks to be patched, innermost last.
    loops: Vec<(usize, Vec<usize>)>,
    /// Where labels are, and jumps to be patched.
    labels: BTreeMap<usize, usize>,
    jumps: Vec<(usize, usize)>,
}

const LABELS: usize = 3;

impl Writer {
    fn step(&mut self) {
        self.steps += 1;
        let _ = write!(self.source, "r = {}; ", self.steps);
        self.code.push(Code::Step(format!("r = {}", self.steps)));
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..self.random.below(4) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.random.below(if depth > 0 { 12 } else { 8 }) {
            0..=2 => self.step(),
            3 => self.label(),
            4 => self.jump("goto"),
            5 => self.jump("jump"),
            6 | 7 => self.leave_loop(),
            8 => self.branch(depth),
            9 => self.repeat(depth, "while r == 1 "),
            10 => self.repeat(depth, "loop "),
            _ => self.choose(depth),
        }
    }

    fn label(&mut self) {
        let label = self.random.below(LABELS);
        if !self.labels.contains_key(&label) {
            let _ = write!(self.source, "l{label}: ");
            self.labels.insert(label, self.code.len());
        }
    }

    fn jump(&mut self, keyword: &str) {
        let label = self.random.below(LABELS);
        let _ = write!(self.source, "{keyword} l{label}; ");
        self.jumps.push((self.code.len(), label));
        let is_step = keyword == "goto";
        self.code.push(if is_step { Code::StepTo("skip".into(), 0) } else { Code::Fork(vec![0]) });
    }

    fn leave_loop(&mut self) {
        let at = self.code.len();
        let is_break = self.random.below(2) == 0;
        let Some((head, breaks)) = self.loops.last_mut() else { return };
        self.source.push_str(if is_break { "break; " } else { "continue; " });
        self.code.push(Code::Fork(vec![*head]));
        if is_break {
            breaks.push(at);
        }
    }

    /// Two steps that test the register; the second leads to a place that is returned for patching.
    fn test(&mut self) -> usize {
        let at = self.code.len();
        self.code.push(Code::Fork(vec![at + 1, at + 2]));
        self.code.push(Code::StepTo("assume r == 1".into(), at + 3));
        self.code.push(Code::StepTo("assume r != 1".into(), 0));
        at + 2
    }

    fn patch(&mut self, at: usize, target: usize) {
        match &mut self.code[at] {
            Code::StepTo(_, to) => *to = target,
            Code::Fork(to) => *to = vec![target],
            Code::Step(_) => unreachable!("steps are not patched"),
        }
    }

    fn branch(&mut self, depth: usize) {
        self.source.push_str("if r == 1 { ");
        let no = self.test();
        self.block(depth - 1);
        let end = self.code.len();
        self.code.push(Code::Fork(vec![0]));
        self.source.push_str("} else { ");
        self.patch(no, self.code.len());
        self.block(depth - 1);
        self.source.push_str("} ");
        self.patch(end, self.code.len());
    }

    fn repeat(&mut self, depth: usize, opener: &str) {
        let _ = write!(self.source, "{opener}{{ ");
        let head = self.code.len();
        let exit = opener.starts_with("while").then(|| self.test());
        self.loops.push((head, Vec::new()));
        if exit.is_none() {
            // A loop without any step has a rule of its own.
            self.step();
        }
        self.block(depth - 1);
        self.source.push_str("} ");
        self.code.push(Code::Fork(vec![head]));
        let end = self.code.len();
        let (_, breaks) = self.loops.pop().unwrap();
        breaks.into_iter().chain(exit).for_each(|at| self.patch(at, end));
    }

    fn choose(&mut self, depth: usize) {
        let choice = self.code.len();
        self.code.push(Code::Fork(Vec::new()));
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for branch in 0..2 + self.random.below(2) {
            self.source.push_str(if branch == 0 { "choose { " } else { "or { " });
            starts.push(self.code.len());
            self.block(depth - 1);
            self.source.push_str("} ");
            ends.push(self.code.len());
            self.code.push(Code::Fork(vec![0]));
        }
        self.code[choice] = Code::Fork(starts);
        ends.into_iter().for_each(|end| self.patch(end, self.code.len()));
    }
}

fn written(seed: u64) -> Writer {
    let mut writer = Writer {
        random: Random(seed),
        source: "thread T { let r; ".into(),
        code: Vec::new(),
        steps: 0,
        loops: Vec::new(),
        labels: BTreeMap::new(),
        jumps: Vec::new(),
    };
    writer.block(4);
    // Labels that jumps want and nothing declared are at the end; a last step, since a branch that ends the
    // thread without a step has a rule of its own.
    for label in 0..LABELS {
        if !writer.labels.contains_key(&label) {
            let _ = write!(writer.source, "l{label}: ");
            writer.labels.insert(label, writer.code.len());
        }
    }
    writer.step();
    writer.source.push('}');
    for (at, label) in std::mem::take(&mut writer.jumps) {
        let target = writer.labels[&label];
        writer.patch(at, target);
    }
    writer
}

/// The places a plain machine may be in after moving silently; the end is a place.
fn settled(code: &[Code], from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
    let mut open: Vec<usize> = from.into_iter().collect();
    let (mut seen, mut settled) = (BTreeSet::new(), BTreeSet::new());
    while let Some(at) = open.pop() {
        if seen.insert(at) {
            match code.get(at) {
                Some(Code::Fork(targets)) => open.extend(targets),
                _ => drop(settled.insert(at)),
            }
        }
    }
    settled
}

fn plain_steps(code: &[Code], places: &BTreeSet<usize>) -> BTreeMap<String, BTreeSet<usize>> {
    let mut steps: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for &at in places {
        let (text, to) = match code.get(at) {
            Some(Code::Step(text)) => (text, at + 1),
            Some(Code::StepTo(text, to)) => (text, *to),
            _ => continue,
        };
        steps.entry(text.clone()).or_default().extend(settled(code, [to]));
    }
    steps
}

fn automaton_steps(body: &Body, places: &BTreeSet<LocId>) -> BTreeMap<String, BTreeSet<LocId>> {
    let mut steps: BTreeMap<String, BTreeSet<LocId>> = BTreeMap::new();
    for (_, edge) in places.iter().flat_map(|&place| body.edges_from(place)) {
        steps.entry(instruction(body, &edge.instruction)).or_default().insert(edge.to);
    }
    steps
}

/// Reads every sequence of steps with both, and checks that both can go on in the same ways.
fn compare(source: &str, code: &[Code], body: &Body) {
    let start = (settled(code, [0]), BTreeSet::from([body.entry]));
    let mut open = VecDeque::from([start.clone()]);
    let mut seen = HashSet::from([start]);
    while let Some((plain, places)) = open.pop_front() {
        let (plain_steps, mut steps) = (plain_steps(code, &plain), automaton_steps(body, &places));
        assert_eq!(plain.contains(&code.len()), places.iter().any(|&place| body.is_done(place)), "{source}");
        assert!(plain_steps.keys().eq(steps.keys()), "{source}\n{plain_steps:?}\n{steps:?}");
        for (text, plain) in plain_steps {
            let next = (plain, steps.remove(&text).unwrap_or_default());
            if seen.insert(next.clone()) {
                open.push_back(next);
            }
        }
    }
}

#[test]
fn removing_silent_moves_keeps_every_sequence_of_steps() {
    let mut compared = 0;
    for seed in 0..4000 {
        let Writer { source, code, .. } = written(seed);
        match parse(&Source::new("random", source.as_str()), &Options::default()) {
            Ok(parsed) => {
                compare(&source, &code, &parsed.program.threads[0].body);
                compared += 1;
            }
            Err(errors) => assert!(errors.iter().all(|error| error.code == "jump-cycle"), "{source}\n{errors:?}"),
        }
    }
    assert!(compared > 3000, "{compared}");
}
