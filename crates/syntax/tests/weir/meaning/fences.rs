//! A fence written at a place in the text is a fence at just the steps that stand for that place.

use weir_ir::{Edge, EdgeId, Instruction, Program, Source, ThreadId};
use weir_syntax::weir::Options;
use weir_syntax::weir::fence_places::{FencePlace, fence_places, write_fences};
use weir_testkit::{Model, Outcome, explore};

use super::tree::{self, Block, Statement};
use super::{generate, read, text};

const LIMIT: usize = 400;

/// The marked program with fences at the steps of one place.
fn fenced(program: &Program, place: &FencePlace) -> Program {
    let mut fenced = program.clone();
    for thread in program.thread_ids() {
        let is_here = |edge: &Edge| {
            let stands_for =
                |&(whose, step): &(ThreadId, EdgeId)| whose == thread && program.body(whose).edge(step) == edge;
            place.steps.iter().any(stands_for)
        };
        fenced.threads[thread.index()].body = program.body(thread).map_edges(|edge| {
            let instruction = if is_here(edge) { Instruction::Fence } else { edge.instruction.clone() };
            Edge { instruction, ..edge.clone() }
        });
    }
    fenced
}

/// Registers that were made up are not the same in both.
fn finals(program: &Program, outcome: &Outcome) -> Vec<String> {
    let names = |thread: ThreadId| program.body(thread).registers.iter().enumerate();
    let one = |state: &weir_testkit::FinalState| {
        let named = |thread: ThreadId| {
            let own = names(thread).filter(|(_, register)| !register.is_temporary);
            own.map(|(at, register)| (register.name.clone(), state.registers[&thread][&weir_ir::RegId::new(at)]))
                .collect::<Vec<_>>()
        };
        format!("{:?} {:?}", state.memory, program.thread_ids().map(named).collect::<Vec<_>>())
    };
    let mut all: Vec<String> = outcome.final_states.iter().map(one).collect();
    all.sort();
    all.dedup();
    all
}

/// Every way to write one more fence into a block: before a statement, or at the end.
fn with_a_fence(block: &Block) -> Vec<Block> {
    let mut all = Vec::new();
    for at in 0..=block.len() {
        let mut longer = block.clone();
        longer.insert(at, Statement::Fence);
        all.push(longer);
        let Some(statement) = block.get(at) else { continue };
        let put = |inner: Statement| [&block[..at], &[inner], &block[at + 1..]].concat();
        all.extend(within(statement).into_iter().map(put));
    }
    all
}

fn within(statement: &Statement) -> Vec<Statement> {
    let each = |inner: &Block, make: &dyn Fn(Block) -> Statement| with_a_fence(inner).into_iter().map(make).collect();
    match statement {
        Statement::While(test, body) => each(body, &|body| Statement::While(test.clone(), body)),
        Statement::Loop(body) => each(body, &Statement::Loop),
        Statement::ForEachOther(name, body) => each(body, &|body| Statement::ForEachOther(name.clone(), body)),
        Statement::Atomic(body) => each(body, &Statement::Atomic),
        Statement::Block(body) => each(body, &Statement::Block),
        Statement::Choose(branches) => {
            let one = |at: usize| {
                let put = move |branch: Block| [&branches[..at], &[branch], &branches[at + 1..]].concat();
                with_a_fence(&branches[at]).into_iter().map(put).map(Statement::Choose).collect::<Vec<_>>()
            };
            (0..branches.len()).flat_map(one).collect()
        }
        Statement::If(arms, otherwise) => {
            let mut all = Vec::new();
            for (at, (test, then)) in arms.iter().enumerate() {
                let put = |then: Block| [&arms[..at], &[(test.clone(), then)], &arms[at + 1..]].concat();
                all.extend(with_a_fence(then).into_iter().map(|then| Statement::If(put(then), otherwise.clone())));
            }
            let last = otherwise.iter().flat_map(with_a_fence);
            all.extend(last.map(|otherwise| Statement::If(arms.clone(), Some(otherwise))));
            all
        }
        _ => Vec::new(),
    }
}

/// The texts of the program with one fence more, without blanks.
fn texts_with_a_fence(program: &tree::Program) -> Vec<String> {
    let mut all = Vec::new();
    for at in 0..program.threads.len() {
        for body in with_a_fence(&program.threads[at].body) {
            let mut longer = program.clone();
            longer.threads[at].body = body;
            all.push(bare(&text::of(&longer)));
        }
    }
    for at in 0..program.procedures.len() {
        for body in with_a_fence(&program.procedures[at].body) {
            let mut longer = program.clone();
            longer.procedures[at].body = body;
            all.push(bare(&text::of(&longer)));
        }
    }
    all
}

fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn a_fence_written_at_a_place_is_a_fence_at_the_steps_of_that_place() {
    let (mut places, mut several) = (0, 0);
    for seed in 0..150 {
        let mut program = generate::program(seed);
        program.properties.clear();
        program.constants.iter_mut().for_each(|(_, _, given)| *given = None);
        let text = text::of(&program);
        let Some(_) = read(&program, &text) else { continue };
        let source = Source::new("random.weir", text.as_str());
        let marked = fence_places(&source, &Options::default()).expect("it was read before");
        let known = texts_with_a_fence(&program);
        for place in &marked.places {
            let written = write_fences(&text, [place.offset]);
            assert!(known.contains(&bare(&written)), "seed {seed}\n{written}");
            let again = read(&program, &written).expect("a fence changes nothing about that");
            let expected = fenced(&marked.program, place);
            let [left, right] = [&expected, &again].map(|one| explore(one, Model::Tso, LIMIT).expect("supported"));
            if left.complete && right.complete {
                assert_eq!(finals(&expected, &left), finals(&again, &right), "seed {seed}\n{written}");
                places += 1;
                several += usize::from(place.steps.len() > 1);
            }
        }
        let all = marked.places.iter().map(|place| place.offset);
        let everywhere = write_fences(&text, all.clone());
        assert_eq!(everywhere.matches("fence;").count(), text.matches("fence;").count() + marked.places.len());
        assert_eq!(write_fences(&text, all.rev().flat_map(|offset| [offset, offset])), everywhere);
    }
    assert!(places > 800 && several > 100, "{places} places, {several} of them in several threads or calls");
}

#[test]
fn a_constant_condition_hides_no_places_after_it() {
    for condition in ["1 == 1", "1 == 2"] {
        let text = format!("shared x; thread T {{ if {condition} {{ x = 1; }} else {{ x = 2; }} x = 3; x = 4; }}");
        let marked = fence_places(&Source::new("test.weir", text.as_str()), &Options::default()).expect("correct");
        let places: Vec<&str> = marked.places.iter().map(|place| &text[place.offset as usize..]).collect();
        let after = ["x = 3; x = 4; }", "x = 4; }", "}"];
        assert!(after.iter().all(|rest| places.contains(rest)), "{condition}: {places:?}");
    }
}
