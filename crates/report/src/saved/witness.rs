//! Saved runs in terms of the program. What is read back is only a claim: `weir-witness` replays it, and everything
//! the file says about its steps is compared with what they do.

use std::collections::HashMap;

use weir_ir::{EdgeId, Program, ThreadId, Value};
use weir_witness::{Action, Checked, HappensBefore, NodeId, Replay, Run, Step};

use super::metadata::Question;
use super::mismatch::Mismatch;
use super::witness_format::SavedWitness;
use crate::run::{
    ActionName, ContinuationsRecord, CycleRecord, Evidence, LoadRecord, RelationName, StepRecord, cycle_record,
    step_records,
};
use crate::wording::clean::clean;

impl SavedWitness {
    /// Whether the run answers the question: replays it, and compares what it does with what the file says.
    ///
    /// # Errors
    /// If it does not, or if the file is about another question.
    pub fn replay(&self, question: &Question<'_>) -> Result<Evidence, Mismatch> {
        self.metadata.compare(question)?;
        let goal = self.metadata.violated(question)?;
        let program = question.program;
        let run = to_run(program, self)?;
        let checked = Checked::new(program, run, goal)?;
        compare(program, self, checked.replay())?;
        let left = checked.continuations().map(|found| ContinuationsRecord::new(program, found));
        if self.continuations.is_some() && self.continuations != left {
            return Err(Mismatch::whole("the file misstates what can follow the run"));
        }
        Ok(Evidence::new(Box::new(checked)))
    }
}

/// The run that a file claims, in terms of the program.
fn to_run(program: &Program, saved: &SavedWitness) -> Result<Run, Mismatch> {
    let threads: HashMap<&str, ThreadId> =
        program.thread_ids().map(|thread| (program.thread(thread).name.as_str(), thread)).collect();
    let mut steps = Vec::with_capacity(saved.steps.len());
    for (index, record) in saved.steps.iter().enumerate() {
        let step = to_step(program, &threads, record);
        steps.push(step.map_err(|reason| Mismatch::at(index, reason))?);
    }
    Ok(Run { model: saved.metadata.model.into(), steps })
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
fn compare(program: &Program, saved: &SavedWitness, replay: &Replay) -> Result<(), Mismatch> {
    for (index, (claim, fact)) in saved.steps.iter().zip(step_records(program, replay)).enumerate() {
        if let Some(reason) = contradiction(claim, &fact) {
            return Err(Mismatch::at(index, reason));
        }
    }
    if saved.cycle.is_empty() {
        return Ok(());
    }
    let trace = HappensBefore::new(replay);
    let mismatch = |reason: &str| Err(Mismatch::whole(reason));
    if !trace.is_cyclic() {
        return mismatch("the file claims a happens-before cycle, but the run has none");
    }
    if !is_cycle(program, replay, &trace, &saved.cycle) {
        return mismatch("the file shows a happens-before cycle that the run does not have");
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
        RelationName::Start => trace.started(from) == Some(to),
    })
}

/// What a file claims about a step that is not true.
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
    if claim.starts.is_some() && claim.starts != fact.starts {
        let (claimed, fact) = (text(&claim.starts), text(&fact.starts));
        return Some(format!("the file says it starts {claimed}, but it starts {fact}"));
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
