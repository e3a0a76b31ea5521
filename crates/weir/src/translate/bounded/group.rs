//! Threads that call procedures. A procedure does not know which thread has called it, so all such threads have the
//! same copies, as thread-local variables, and common code is in procedures of its own.
//!
//! | procedure | what it does |
//! |---|---|
//! | `begin_round` | the start of a round (`begin.rs`), up to the view |
//! | `look` | sets the view anew |
//! | `find(address)` | returns what the thread reads there |
//! | `put(address, value)` | a store, now or in a later round |
//!
//! So the translation stays linear: a body grows with what it does, and common code with the number of cells. In place
//! of a number that tells where common code goes on, `resume` only tells that a step is not complete. Of a thread of
//! which there are several instances no property can read a register: there the cell that counts threads with stores
//! that wait (`pending`) is greater than 0 until common code has returned, so that nobody takes the thread to have left
//! its place.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{
    Address, BinaryRmw, Body, BodyBuilder, Expr, Instruction, LocId, Location, ProcId, Procedure, Program, RegExpr,
    RegId,
};

use super::access::{cell_name, count};
use super::cells::Cells;
use super::thread::{MIDDLE, Traced, Writer, plain, set};
use super::{Context, Origin};

/// Common code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Common {
    BeginRound,
    Look,
    Find,
    Put,
}

impl Common {
    const ALL: [Self; 4] = [Self::BeginRound, Self::Look, Self::Find, Self::Put];

    fn name(self) -> &'static str {
        match self {
            Self::BeginRound => "begin_round",
            Self::Look => "look",
            Self::Find => "find",
            Self::Put => "put",
        }
    }
}

/// What threads that call procedures have in common.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The cells of all their code, and of the procedures.
    pub(super) cells: Cells,
    pub(super) takes_lock: bool,
    /// Whether there may be several instances of one of them.
    pub(super) several: bool,
    /// What names of thread-local variables and of procedures end in, so that they are new.
    suffix: String,
    cell_names: BTreeMap<Address, String>,
    /// The common code that is needed.
    common: Vec<Common>,
    /// The first procedure that is added.
    first: ProcId,
}

impl Group {
    pub(super) fn new(program: &Program, cells: Cells, several: bool) -> Self {
        let mut used = BTreeSet::new();
        let mut cell_names = BTreeMap::new();
        for cell in cells.accessed() {
            let mut name = cell_name(program, cell);
            while !used.insert(name.clone()) {
                name.push('_');
            }
            cell_names.insert(cell, name);
        }
        let bodies = bodies(program);
        let takes_lock = bodies.iter().any(|body| body.takes_lock());
        let first = ProcId::new(program.procedures.len());
        let is_needed = |common: &Common| match common {
            Common::BeginRound | Common::Look => true,
            Common::Find => cells.computes.loads,
            Common::Put => cells.computes.stores,
        };
        let common = Common::ALL.into_iter().filter(is_needed).collect();
        Self { common, cells, takes_lock, several, suffix: suffix(program, &bodies), cell_names, first }
    }

    /// The name of a cell as part of a variable's.
    pub(super) fn cell_name(&self, cell: Address) -> &str {
        self.cell_names.get(&cell).map_or("", String::as_str)
    }

    /// A name that nothing in the program has.
    pub(super) fn name(&self, name: &str) -> String {
        format!("{name}{}", self.suffix)
    }

    fn procedure(&self, common: Common) -> ProcId {
        let position = self.common.iter().position(|&one| one == common);
        ProcId::new(self.first.index() + position.unwrap_or(0))
    }
}

fn bodies(program: &Program) -> Vec<&Body> {
    let threads = program.threads.iter().map(|thread| &thread.body);
    threads.chain(program.procedures.iter().map(|procedure| &procedure.body)).collect()
}

/// So many underscores that no name of the program ends in them and begins as one of the new names does.
fn suffix(program: &Program, bodies: &[&Body]) -> String {
    const BEGINNINGS: [&str; 10] =
        ["view_", "mask", "queue", "resume", "round", "ahead", "held", "begin_round", "look", "find"];
    let registers = bodies.iter().flat_map(|body| &body.registers).map(|register| register.name.as_str());
    let shared = program.shared.iter().map(|shared| shared.name.as_str());
    let constants = program.constants.iter().map(|(name, _)| name.as_str());
    let threads = program.threads.iter().map(|thread| thread.name.as_str());
    let procedures = program.procedures.iter().map(|procedure| procedure.name.as_str());
    let all = registers.chain(shared).chain(constants).chain(threads).chain(procedures);
    let is_like_one = |name: &&str| name.starts_with("put") || BEGINNINGS.iter().any(|first| name.starts_with(first));
    let underscores = |name: &str| name.len() - name.trim_end_matches('_').len() + 1;
    "_".repeat(all.filter(is_like_one).map(underscores).max().unwrap_or(0))
}

/// Instructions between two that say that a step is not complete; the last one does what `origin` says.
pub(super) fn in_the_middle(resume: RegId, steps: impl IntoIterator<Item = Traced>, origin: Origin) -> Vec<Traced> {
    let back = (Instruction::Assign { register: resume, value: Expr::Const(0) }, origin);
    [set(resume, MIDDLE)].into_iter().chain(steps).chain([back]).collect()
}

impl Writer<'_> {
    /// A call of common code.
    pub(super) fn call_common(&self, common: Common, arguments: Vec<RegExpr>, register: Option<RegId>) -> Vec<Traced> {
        let Some(group) = self.context.group else { return Vec::new() };
        let call = plain(Instruction::Call { procedure: group.procedure(common), arguments, register });
        match self.context.pending.filter(|_| group.several) {
            Some(pending) => vec![count(pending, BinaryRmw::Add), call, count(pending, BinaryRmw::Subtract)],
            None => vec![call],
        }
    }
}

/// The procedures with common code.
pub(super) fn procedures(context: &Context<'_>) -> Vec<Procedure> {
    let common = context.group.into_iter().flat_map(|group| group.common.iter().map(move |&common| (group, common)));
    common.map(|(group, common)| procedure(group, context, common)).collect()
}

fn procedure(group: &Group, context: &Context<'_>, common: Common) -> Procedure {
    let mut writer = Writer::new(context);
    let span = context.span;
    let name = group.name(common.name());
    let entry = writer.common(common.name(), span);
    let parameters = match common {
        Common::BeginRound => {
            (writer.begin, writer.look) = (entry, writer.middle(span));
            writer.begin_round();
            let end = writer.middle(span);
            let look =
                Instruction::Call { procedure: group.procedure(Common::Look), arguments: Vec::new(), register: None };
            writer.link(writer.look, end, span, [plain(look)]);
            Vec::new()
        }
        Common::Look => {
            (writer.look, writer.go_on) = (entry, writer.middle(span));
            writer.look_anew();
            Vec::new()
        }
        Common::Find => {
            let (address, value) = writer.address_and_value();
            let [found, end] = [(); 2].map(|()| writer.middle(span));
            writer.find_anywhere((entry, found), (address, value));
            writer.link(found, end, span, [plain(Instruction::Return(Expr::Leaf(value)))]);
            vec![address]
        }
        Common::Put => {
            let (address, value) = writer.address_and_value();
            let end = writer.middle(span);
            writer.put_anywhere((entry, end), (address, value));
            vec![address, value]
        }
    };
    let body = writer.finish(entry).body;
    Procedure { name, parameters, body, span }
}

impl Writer<'_> {
    fn address_and_value(&mut self) -> (RegId, RegId) {
        let address = self.copies.address.unwrap_or_else(|| self.builder.register("address"));
        (address, self.copies.value.unwrap_or_else(|| self.builder.register("value")))
    }
}

/// A body without code, for common code.
pub(super) fn nothing() -> Body {
    Body::new(Vec::new(), vec![Location::default()], LocId(0), None, Vec::new())
}

/// A register of a body: a thread-local variable, if procedures share it.
pub(super) fn register(group: Option<&Group>, builder: &mut BodyBuilder<Origin>, name: &str) -> RegId {
    match group {
        Some(group) => builder.thread_local(&group.name(name)),
        None => builder.register(name),
    }
}
