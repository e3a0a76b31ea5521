//! What the names of a file stand for.

use std::collections::{BTreeSet, HashMap};

use weir_ir::sort::sort_by_key;
use weir_ir::{ProcId, Shared, Span, ThreadId, Value};

use super::super::ast::{Expr, ExprKind, File, Name, ProcDecl, ThreadDecl};
use super::super::sink::Sink;
use super::check::Facts;
use super::name_errors::duplicate;
use super::size::Size;

/// What a name refers to, as an index into the list of its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Global {
    Constant(usize),
    Shared(usize),
    ThreadLocal(usize),
    Procedure(usize),
    Thread(usize),
}

impl Global {
    /// How messages mention it.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Constant(_) => "a constant",
            Self::Shared(_) => "a shared cell",
            Self::ThreadLocal(_) => "a thread-local variable",
            Self::Procedure(_) => "a procedure",
            Self::Thread(_) => "a thread",
        }
    }
}

/// How many threads a declaration stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Copies {
    One,
    Instances(u32),
    Spawned,
    Arbitrary,
}

/// A thread declaration and the threads it stands for.
#[derive(Debug)]
pub(super) struct Family<'a> {
    pub(super) declaration: &'a ThreadDecl<'a>,
    pub(super) first: ThreadId,
    pub(super) copies: Copies,
    pub(super) weight: u32,
}

impl Family<'_> {
    /// Its threads in [`weir_ir::Program::threads`].
    pub(super) fn threads(&self) -> impl Iterator<Item = ThreadId> + use<> {
        let count = if let Copies::Instances(count) = self.copies { count } else { 1 };
        (self.first.0..self.first.0 + count).map(ThreadId)
    }
}

/// A procedure and what is known about it.
#[derive(Debug)]
pub(super) struct ProcInfo<'a> {
    pub(super) declaration: &'a ProcDecl<'a>,
    pub(super) facts: Facts<'a>,
    /// Where it is in [`weir_ir::Program::procedures`], if it stays a procedure and is called; else it is inlined.
    pub(super) kept: Option<ProcId>,
    /// Whether it can reach a call of itself, or is declared `noinline`.
    pub(super) stays: bool,
    /// A lower bound on its size, including what it inlines.
    pub(super) size: Size,
}

/// Everything that has a name for the whole file. Filled in step by step.
#[derive(Default, Debug)]
pub(super) struct Globals<'a> {
    names: HashMap<&'a str, (Global, Span)>,
    /// `None` where the value is in error or not known yet.
    pub(super) constants: Vec<(Name<'a>, Option<Value>)>,
    /// For each thread declaration the number of copies that the options give, under its name there.
    pub(super) given_copies: Vec<Option<(String, Value)>>,
    /// Empty until addresses are known.
    pub(super) shared: Vec<Shared>,
    pub(super) thread_locals: Vec<Name<'a>>,
    /// Those that properties mention, of whatever thread.
    pub(super) observed_locals: Vec<usize>,
    pub(super) procedures: Vec<ProcInfo<'a>>,
    pub(super) families: Vec<Family<'a>>,
    /// What the checks found in the body of each family.
    pub(super) thread_facts: Vec<Facts<'a>>,
    /// Whether each place where a fence could be written gets a step of its own.
    pub(super) marks_fence_places: bool,
}

impl<'a> Globals<'a> {
    /// Collects the names of a file; two of one name are an error.
    pub(super) fn collect(file: &'a File<'a>, sink: &mut Sink) -> Self {
        let mut globals = Self::default();
        let constants = file.constants.iter().enumerate().map(|(at, item)| (item.name, Global::Constant(at)));
        let shared = file.shared.iter().enumerate().map(|(at, item)| (item.name, Global::Shared(at)));
        let procedures = file.procedures.iter().enumerate().map(|(at, item)| (item.name, Global::Procedure(at)));
        let threads = file.threads.iter().enumerate().map(|(at, item)| (item.name, Global::Thread(at)));
        let locals = file.thread_locals.iter().enumerate().map(|(at, &name)| (name, Global::ThreadLocal(at)));
        let mut all: Vec<_> = constants.chain(shared).chain(locals).chain(procedures).chain(threads).collect();
        // In order of the source, so that the second one is the one in error.
        sort_by_key(&mut all, |(name, _)| name.span);
        for (name, global) in all {
            if let Some(&(first, span)) = globals.names.get(name.text) {
                sink.error(duplicate(name, first.describe(), span));
            } else {
                globals.names.insert(name.text, (global, name.span));
            }
        }
        globals.thread_locals.clone_from(&file.thread_locals);
        globals.observed_locals = globals.observed_locals(file);
        globals
    }

    /// The thread-local variables that properties mention.
    fn observed_locals(&self, file: &File<'a>) -> Vec<usize> {
        let mut found = BTreeSet::new();
        for property in file.properties.iter().filter(|_| !self.thread_locals.is_empty()) {
            let mut open: Vec<&Expr> = property.form.condition().into_iter().collect();
            while let Some(expression) = open.pop() {
                match &expression.kind {
                    ExprKind::Unary(_, operand) => open.push(operand),
                    ExprKind::Binary(_, left, right) => open.extend([&**left, &**right]),
                    ExprKind::Register(_, register) => {
                        if let Some(Global::ThreadLocal(at)) = self.get(register.text) {
                            found.insert(at);
                        }
                    }
                    _ => {}
                }
            }
        }
        found.into_iter().collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<Global> {
        self.names.get(name).map(|&(global, _)| global)
    }

    /// What a name refers to and where it was declared.
    pub(super) fn declared(&self, name: &str) -> Option<(Global, Span)> {
        self.names.get(name).copied()
    }

    /// All names, in alphabetical order, that stand for what `wanted` accepts.
    pub(super) fn names(&self, wanted: impl Fn(Global) -> bool) -> Vec<&'a str> {
        let mut names: Vec<&str> =
            self.names.iter().filter(|&(_, &(global, _))| wanted(global)).map(|(&name, _)| name).collect();
        names.sort_unstable();
        names
    }
}

/// What is referred to anywhere: the rest is warned about.
#[derive(Default, Debug)]
pub(super) struct Used {
    pub(super) constants: Vec<bool>,
    pub(super) shared: Vec<bool>,
    pub(super) thread_locals: Vec<bool>,
    pub(super) procedures: Vec<bool>,
    /// By where the label is declared.
    pub(super) labels: std::collections::HashSet<Span>,
    /// Whether memory is accessed by computed address, which can mean any cell.
    pub(super) memory: bool,
}
