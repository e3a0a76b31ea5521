//! Runs to JSON and back. What is read back is only a claim: `weir-witness` replays it, and everything the file
//! says about its steps is compared with what they really do.

use std::collections::HashMap;
use std::path::Path;

use weir_ir::{EdgeId, Program, PropertyId, ThreadId, Value};
use weir_witness::render::step_texts;
use weir_witness::{
    Action, Checked, Cycle, Effect, Event, Goal, HappensBefore, Loaded, Model, NodeId, NodeKind, Relation, Replay, Run,
    Step,
};

use crate::evidence::Evidence;
use crate::input::{WITNESS_LIMIT, display_name, read_text};
use crate::json::{
    ActionName, CERTIFICATE_FORMAT, CycleRecord, LoadRecord, ModelRecord, RelationName, SavedCertificate, SavedGoal,
    SavedWitness, StepRecord, VERSION, WITNESS_FORMAT, Witness,
};
use crate::render::clean::clean;
use crate::trouble::Trouble;

/// Why a saved run does not fit the program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// The step, from 1, if it is one step that does not fit.
    pub(crate) step: Option<u64>,
    /// Why.
    pub(crate) reason: String,
}

/// A replayed run in JSON.
pub(crate) fn to_json(program: &Program, evidence: &Evidence) -> Witness {
    let checked = &evidence.checked;
    let cycle = evidence.cycle.as_ref().map_or_else(Vec::new, |cycle| cycle_records(program, checked, cycle));
    Witness { model: model_record(checked.run().model), steps: step_records(program, checked.replay()), cycle }
}

/// A replayed run with all that is needed to check it again.
pub(crate) fn to_saved(
    program: &Program,
    evidence: &Evidence,
    file: &Path,
    defines: &[(String, Value)],
) -> SavedWitness {
    let Witness { model, steps, cycle } = to_json(program, evidence);
    SavedWitness {
        format: WITNESS_FORMAT,
        weir: VERSION.to_owned(),
        file: file.display().to_string(),
        defines: defines.iter().cloned().collect(),
        goal: to_saved_goal(program, evidence.checked.goal()),
        model,
        steps,
        cycle,
    }
}

pub(crate) fn to_saved_goal(program: &Program, goal: Goal) -> SavedGoal {
    match goal {
        Goal::Property(id) => SavedGoal::Property { number: id.0.saturating_add(1), text: canonical_text(program, id) },
        Goal::Assertion(thread) => SavedGoal::Assertion { thread: program.thread(thread).name.clone() },
        Goal::NotRobust => SavedGoal::NotRobust,
    }
}

/// A property in a form that does not depend on how it is laid out in the source.
fn canonical_text(program: &Program, id: PropertyId) -> String {
    program.properties.get(id.index()).map_or_else(String::new, |property| program.property_text(property))
}

/// What `weir replay` can check.
pub(crate) enum Saved {
    /// A run.
    Run(SavedWitness),
    /// A proof.
    Proof(SavedCertificate),
}

/// Reads a saved witness or certificate.
pub(crate) fn read(path: &Path) -> Result<Saved, Trouble> {
    let name = display_name(path);
    let bad = |reason: String| Trouble::input(format!("the witness {name}: {reason}"));
    let text = read_text(path, WITNESS_LIMIT).map_err(|trouble| bad(trouble.reason()))?;
    let other_format = |format: u32| {
        bad(format!("it has format {format}, but this version of Weir ({VERSION}) reads format {WITNESS_FORMAT}"))
    };
    if serde_json::from_str::<KindOnly>(&text).is_ok() {
        return match serde_json::from_str::<SavedCertificate>(&text) {
            Ok(saved) if saved.format == CERTIFICATE_FORMAT => Ok(Saved::Proof(saved)),
            Ok(saved) => Err(other_format(saved.format)),
            Err(error) => Err(bad(format!("malformed certificate: {}", clean(&error.to_string())))),
        };
    }
    match serde_json::from_str::<SavedWitness>(&text) {
        Ok(saved) if saved.format == WITNESS_FORMAT => Ok(Saved::Run(saved)),
        Ok(saved) => Err(other_format(saved.format)),
        Err(error) => match serde_json::from_str::<FormatOnly>(&text) {
            Ok(found) if found.format != WITNESS_FORMAT => Err(other_format(found.format)),
            _ => Err(bad(format!("malformed: {}", clean(&error.to_string())))),
        },
    }
}

/// Enough to tell a certificate from a run: only certificates say which kind they are.
#[derive(serde::Deserialize)]
struct KindOnly {
    #[allow(dead_code, reason = "it only has to be there")]
    kind: String,
}

/// Enough of a witness to tell which version of the format it has.
#[derive(serde::Deserialize)]
struct FormatOnly {
    format: u32,
}

/// The run and the goal that a file claims, in terms of the program.
pub(crate) fn to_run(program: &Program, saved: &SavedWitness) -> Result<(Run, Goal), Misfit> {
    let goal = to_goal(program, &saved.goal)?;
    let threads: HashMap<&str, ThreadId> =
        program.thread_ids().map(|thread| (program.thread(thread).name.as_str(), thread)).collect();
    let mut steps = Vec::with_capacity(saved.steps.len());
    for (index, record) in saved.steps.iter().enumerate() {
        let step = to_step(program, &threads, record);
        steps.push(step.map_err(|reason| Misfit { step: Some(index as u64 + 1), reason })?);
    }
    let model = match saved.model {
        ModelRecord::Sc => Model::Sc,
        ModelRecord::Tso => Model::Tso,
    };
    Ok((Run { model, steps }, goal))
}

pub(crate) fn to_goal(program: &Program, saved: &SavedGoal) -> Result<Goal, Misfit> {
    let misfit = |reason: String| Misfit { step: None, reason };
    match saved {
        SavedGoal::Property { number, text } => {
            let index = number.checked_sub(1).filter(|&index| (index as usize) < program.properties.len());
            let index = index.ok_or_else(|| misfit(format!("the program has no property number {number}")))?;
            let now = canonical_text(program, PropertyId(index));
            if now == *text {
                Ok(Goal::Property(PropertyId(index)))
            } else {
                let text = clean(text);
                Err(misfit(format!("the file is for `{text}`, but property {number} of the program is `{now}`")))
            }
        }
        SavedGoal::NotRobust => Ok(Goal::NotRobust),
        SavedGoal::Assertion { thread } => {
            let found = program.thread_ids().find(|&id| program.thread(id).name == *thread);
            found.map(Goal::Assertion).ok_or_else(|| misfit(format!("the program has no thread `{}`", clean(thread))))
        }
    }
}

fn to_step(program: &Program, threads: &HashMap<&str, ThreadId>, record: &StepRecord) -> Result<Step, String> {
    let thread = threads.get(record.thread.as_str());
    let &thread = thread.ok_or_else(|| format!("the program has no thread `{}`", clean(&record.thread)))?;
    let action = match (record.action, record.edge) {
        (ActionName::Flush, None) => Action::Flush,
        (ActionName::Flush, Some(_)) => return Err("a flush has no edge, but the file gives one".into()),
        (_, None) => return Err("the edge is missing".into()),
        (_, Some(edge)) => {
            let count = program.body(thread).edges().len();
            if edge as usize >= count {
                return Err(format!("thread {} has no edge {edge}: it has {count}", clean(&record.thread)));
            }
            Action::Execute { edge: EdgeId(edge), choice: record.choice.unwrap_or(0) }
        }
    };
    Ok(Step { thread, action })
}

/// Whether the steps did what the file says they do.
pub(crate) fn compare(program: &Program, saved: &SavedWitness, replay: &Replay) -> Result<(), Misfit> {
    for (index, (claim, fact)) in saved.steps.iter().zip(step_records(program, replay)).enumerate() {
        if let Some(reason) = contradiction(claim, &fact) {
            return Err(Misfit { step: Some(index as u64 + 1), reason });
        }
    }
    if saved.cycle.is_empty() {
        return Ok(());
    }
    let trace = HappensBefore::new(replay);
    let misfit = |reason: &str| Err(Misfit { step: None, reason: reason.to_owned() });
    if !trace.is_cyclic() {
        return misfit("the file claims a happens-before cycle, but the run has none");
    }
    if !is_cycle(program, replay, &trace, &saved.cycle) {
        return misfit("the file shows a happens-before cycle that the run does not have");
    }
    Ok(())
}

/// Whether each event is one of the run, and comes before the next as the file says.
fn is_cycle(program: &Program, replay: &Replay, trace: &HappensBefore, cycle: &[CycleRecord]) -> bool {
    let find = |record: &CycleRecord| {
        let is_this = |id: &NodeId| cycle_record(program, replay, trace, *id, record.relation) == *record;
        (0..trace.nodes().len()).map(NodeId::new).find(is_this)
    };
    let Some(nodes) = cycle.iter().map(find).collect::<Option<Vec<NodeId>>>() else { return false };
    let next = nodes.iter().cycle().skip(1);
    nodes.iter().zip(next).zip(cycle).all(|((&from, &to), record)| match record.relation {
        RelationName::ProgramOrder => trace.later_in_thread(from).contains(&to),
        RelationName::StoreOrder => trace.later_stores(from).contains(&to),
        RelationName::Source => trace.source(to) == Some(from),
        RelationName::Conflict => trace.conflict(from) == Some(to),
        RelationName::Section => {
            trace.node(from).section.is_some() && trace.node(from).section == trace.node(to).section
        }
    })
}

/// What a file says of a step that is not so.
fn contradiction(claim: &StepRecord, fact: &StepRecord) -> Option<String> {
    let text = |text: &Option<String>| {
        text.as_deref().map_or_else(|| "nothing".to_owned(), |text| format!("`{}`", clean(text)))
    };
    let number = |value: Option<Value>| value.map_or_else(|| "none".to_owned(), |value| value.to_string());
    if claim.text.is_some() && claim.text != fact.text {
        return Some(format!("the file says {}, but the program says {}", text(&claim.text), text(&fact.text)));
    }
    if claim.line.is_some() && claim.line != fact.line {
        let line = |line: Option<u32>| number(line.map(Value::from));
        return Some(format!(
            "the file says it is on line {}, but it is on line {}",
            line(claim.line),
            line(fact.line)
        ));
    }
    if claim.action != fact.action {
        return Some(format!("the file says it is a {:?}, but it is a {:?}", claim.action, fact.action).to_lowercase());
    }
    if claim.label.is_some() && claim.label != fact.label {
        return Some(format!("the file says it is at {}, but it is at {}", text(&claim.label), text(&fact.label)));
    }
    if claim.cell.is_some() && claim.cell != fact.cell {
        return Some(format!("the file says the cell is {}, but it is {}", text(&claim.cell), text(&fact.cell)));
    }
    if claim.value.is_some() && claim.value != fact.value {
        return Some(format!("the file says the value is {}, but it is {}", number(claim.value), number(fact.value)));
    }
    if !claim.loads.is_empty() && claim.loads != fact.loads {
        let loads = |loads: &[LoadRecord]| {
            let each = loads.iter().map(|load| format!("{} = {}", clean(&load.cell), load.value));
            each.collect::<Vec<_>>().join(", ")
        };
        return Some(format!("the file says it loads {}, but it loads {}", loads(&claim.loads), loads(&fact.loads)));
    }
    if claim.read.is_some() && claim.read != fact.read {
        return Some(format!("the file says it reads {}, but it reads {}", number(claim.read), number(fact.read)));
    }
    None
}

pub(crate) fn step_records(program: &Program, replay: &Replay) -> Vec<StepRecord> {
    let texts = step_texts(program, replay);
    replay.events().iter().zip(texts).map(|(event, text)| step_record(program, event, text.to_string())).collect()
}

fn step_record(program: &Program, event: &Event, text: String) -> StepRecord {
    let effect = &event.effect;
    let is_rmw = matches!(effect, Effect::ReadModifyWrite { .. });
    let is_snapshot = matches!(effect, Effect::Snapshot(_));
    let assigned = effect.registers().map(|(_, value)| value).next().filter(|_| !is_rmw && !is_snapshot);
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
        label: event.label(program).map(str::to_owned),
        line: Some(event.line(program)),
        text: Some(text),
    }
}

fn action_name(effect: &Effect) -> ActionName {
    match effect {
        Effect::Load(_) => ActionName::Load,
        Effect::Snapshot(_) => ActionName::Snapshot,
        Effect::Store { .. } => ActionName::Store,
        Effect::Flush { .. } => ActionName::Flush,
        Effect::Fence => ActionName::Fence,
        Effect::ReadModifyWrite { .. } => ActionName::Rmw,
        Effect::Lock => ActionName::Lock,
        Effect::Unlock => ActionName::Unlock,
        Effect::Skip
        | Effect::Assign { .. }
        | Effect::Assume
        | Effect::Assert { .. }
        | Effect::Havoc { .. }
        | Effect::Terminate => ActionName::Local,
    }
}

fn cycle_records(program: &Program, checked: &Checked, cycle: &Cycle) -> Vec<CycleRecord> {
    let record = |&(id, relation): &(NodeId, Relation)| {
        let relation = match relation {
            Relation::ProgramOrder => RelationName::ProgramOrder,
            Relation::StoreOrder => RelationName::StoreOrder,
            Relation::Source => RelationName::Source,
            Relation::Conflict => RelationName::Conflict,
            Relation::Section => RelationName::Section,
        };
        cycle_record(program, checked.replay(), checked.happens_before(), id, relation)
    };
    cycle.links().iter().map(record).collect()
}

fn cycle_record(
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
            NodeKind::Lock => ActionName::Lock,
            NodeKind::Unlock => ActionName::Unlock,
        },
        cell: node.address.map(|address| program.cell_name(address)),
        line: replay.events().get(node.step.index()).map_or(0, |event| event.line(program)),
        relation,
    }
}

/// The model as JSON names it.
pub(crate) fn model_record(model: Model) -> ModelRecord {
    match model {
        Model::Sc => ModelRecord::Sc,
        Model::Tso => ModelRecord::Tso,
    }
}
