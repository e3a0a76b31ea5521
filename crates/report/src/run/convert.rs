//! From replayed runs to serializable ones.

use weir_ir::Program;
use weir_witness::{Checked, Cycle, Effect, Event, HappensBefore, Loaded, NodeId, NodeKind, Relation, Replay};

use super::continuations::ContinuationsRecord;
use super::evidence::Evidence;
use super::record::{ActionName, CycleRecord, LoadRecord, RelationName, StepRecord, Witness};
use weir::run_text::step_texts;

impl Witness {
    /// A replayed run.
    pub fn new(program: &Program, evidence: &Evidence) -> Self {
        let checked = &evidence.checked;
        let cycle = evidence.cycle.as_ref().map_or_else(Vec::new, |cycle| cycle_records(program, checked, cycle));
        let continuations = checked.continuations().map(|found| ContinuationsRecord::new(program, found));
        let steps = step_records(program, checked.replay());
        Self { model: checked.run().model.into(), steps, cycle, continuations }
    }
}

/// The steps of a replayed run.
pub(crate) fn step_records(program: &Program, replay: &Replay) -> Vec<StepRecord> {
    let texts = step_texts(program, replay);
    replay.events().iter().zip(texts).map(|(event, text)| step_record(program, event, text.to_string())).collect()
}

fn step_record(program: &Program, event: &Event, text: String) -> StepRecord {
    let effect = &event.effect;
    let is_rmw = matches!(effect, Effect::ReadModifyWrite { .. });
    let is_snapshot = matches!(effect, Effect::Snapshot(_) | Effect::Await(_));
    let is_call = matches!(effect, Effect::Call { .. });
    let assigned = match effect {
        Effect::Return { value, .. } => Some(*value),
        _ => effect.registers().map(|(_, value)| value).next().filter(|_| !is_rmw && !is_snapshot && !is_call),
    };
    let load = |loaded: &Loaded| LoadRecord { cell: program.cell_name(loaded.address), value: loaded.value };
    StepRecord {
        thread: program.thread(event.thread).name.clone(),
        action: action_name(effect),
        edge: event.edge.map(|edge| edge.0),
        choice: if let Effect::Havoc { value, .. } = effect { Some(*value) } else { None },
        cell: effect.address().map(|address| program.cell_name(address)),
        value: effect.written().or(assigned),
        loads: effect.loads().iter().filter(|_| is_snapshot).map(load).collect(),
        read: effect.read().filter(|_| is_rmw),
        starts: if let Effect::Spawn(thread) = effect { Some(program.thread(*thread).name.clone()) } else { None },
        label: event.label(program).map(str::to_owned),
        line: Some(event.line(program)),
        text: Some(text),
    }
}

fn action_name(effect: &Effect) -> ActionName {
    match effect {
        Effect::Load(_) => ActionName::Load,
        Effect::Snapshot(_) => ActionName::Snapshot,
        Effect::Await(_) => ActionName::Await,
        Effect::Store { .. } => ActionName::Store,
        Effect::Flush { .. } => ActionName::Flush,
        Effect::Fence => ActionName::Fence,
        Effect::Membarrier => ActionName::Membarrier,
        Effect::ReadModifyWrite { .. } => ActionName::Rmw,
        Effect::Lock => ActionName::Lock,
        Effect::Unlock => ActionName::Unlock,
        Effect::Skip
        | Effect::Assign { .. }
        | Effect::Assume
        | Effect::Assert { .. }
        | Effect::Havoc { .. }
        | Effect::Terminate => ActionName::Local,
        Effect::Call { .. } => ActionName::Call,
        Effect::Return { .. } => ActionName::Return,
        Effect::Spawn(_) => ActionName::Spawn,
    }
}

/// The events of a cycle.
fn cycle_records(program: &Program, checked: &Checked, cycle: &Cycle) -> Vec<CycleRecord> {
    let record = |&(id, relation): &(NodeId, Relation)| {
        cycle_record(program, checked.replay(), checked.happens_before(), id, relation.into())
    };
    cycle.links().iter().map(record).collect()
}

/// One event of a cycle.
pub(crate) fn cycle_record(
    program: &Program,
    replay: &Replay,
    trace: &HappensBefore,
    id: NodeId,
    relation: RelationName,
) -> CycleRecord {
    let node = trace.node(id);
    CycleRecord {
        step: node.step.0.saturating_add(1),
        thread: program.thread(node.thread).name.clone(),
        action: match node.kind {
            NodeKind::Load => ActionName::Load,
            NodeKind::Store => ActionName::Store,
            NodeKind::ReadModifyWrite => ActionName::Rmw,
            NodeKind::Fence => ActionName::Fence,
            NodeKind::Membarrier => ActionName::Membarrier,
            NodeKind::Lock => ActionName::Lock,
            NodeKind::Unlock => ActionName::Unlock,
            NodeKind::Spawn => ActionName::Spawn,
        },
        cell: node.address.map(|address| program.cell_name(address)),
        line: replay.events().get(node.step.index()).map_or(0, |event| event.line(program)),
        relation,
    }
}
