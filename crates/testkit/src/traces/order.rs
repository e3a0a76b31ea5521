//! Happens-before between the instructions of a run: program order, store order, source and conflict.

use weir_ir::{Instruction, Program};

use super::machine::{Name, Run};

/// Whether one instruction of a thread happens before another of it, through others. A locked section of theirs is one
/// step, so what happens after any of it happens after all of it.
pub(super) fn happens_before(program: &Program, run: &Run, from: Name, to: Name) -> bool {
    let mut seen = Vec::new();
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        for next in successors(run, at) {
            if next == to {
                return true;
            }
            if !seen.contains(&next) {
                let whole = if next.0 == from.0 { vec![next] } else { section(program, run, next) };
                seen.extend(&whole);
                work.extend(whole);
            }
        }
    }
    false
}

/// The instructions of the locked section that this one belongs to, or just this one.
fn section(program: &Program, run: &Run, (thread, place): Name) -> Vec<Name> {
    let mut sections: Vec<Vec<Name>> = Vec::new();
    let mut is_locked = false;
    for (at, traced) in run.threads[thread].executed.iter().enumerate() {
        let instruction = &program.threads[thread].body.edge(traced.edge).instruction;
        match sections.last_mut() {
            Some(section) if is_locked => section.push((thread, at)),
            _ => sections.push(vec![(thread, at)]),
        }
        match instruction {
            Instruction::Lock => is_locked = true,
            Instruction::Unlock => is_locked = false,
            _ => {}
        }
    }
    sections.into_iter().find(|section| section.contains(&(thread, place))).unwrap_or_default()
}

fn successors(run: &Run, (thread, place): Name) -> Vec<Name> {
    let at = (thread, place);
    let mut next = Vec::new();
    if place + 1 < run.threads[thread].executed.len() {
        next.push((thread, place + 1));
    }
    for access in &run.threads[thread].executed[place].accesses {
        let stores = run.landed.get(&access.address).map_or(&[][..], Vec::as_slice);
        let position = |name: Name| stores.iter().position(|&store| store == name);
        let overwritten_by = |source: Option<Name>| match source {
            Some(source) => stores.get(position(source)? + 1),
            None => stores.first(),
        };
        if access.written.is_some() {
            next.extend(position(at).and_then(|own| stores.get(own + 1)));
            next.extend(readers(run, at));
        }
        next.extend(access.source.and_then(overwritten_by).filter(|&&store| store != at));
    }
    next
}

/// The instructions that read from a store.
fn readers(run: &Run, store: Name) -> Vec<Name> {
    let executed = run.threads.iter().enumerate().flat_map(|(thread, local)| {
        local.executed.iter().enumerate().map(move |(place, traced)| ((thread, place), traced))
    });
    let reads = |traced: &super::machine::TracedInstruction| {
        traced.accesses.iter().any(|access| access.source == Some(Some(store)))
    };
    executed.filter(|(_, traced)| reads(traced)).map(|(name, _)| name).collect()
}
