use weir_ir::Value;

use super::*;
use crate::semantics::goals::all_goals;

/// The thread that moves, the others, and a condition over places of theirs.
fn program(condition: &str) -> Program {
    let thread = |name: &str| format!("thread {name} {{ skip; a: skip; b: skip; }}");
    let text = format!("shared x; {} {} forbid {condition};", thread("P"), thread("Q"));
    let program = crate::program::Program::parse(&text, crate::Language::Weir).expect("it is right");
    (*program).clone()
}

/// All ways of two threads to be somewhere.
fn states(program: &Program) -> impl Iterator<Item = [LocId; 2]> {
    let locations: Vec<LocId> = program.body(ThreadId(0)).location_ids().collect();
    locations.clone().into_iter().flat_map(move |one| locations.clone().into_iter().map(move |other| [one, other]))
}

fn holds(program: &Program, state: [LocId; 2]) -> bool {
    let condition = program.properties[0].kind.condition().expect("it has one");
    let value = condition.eval(&mut |atom| match atom {
        StateAtom::At { thread, locations } => Value::from(locations.contains(&state[thread.index()])),
        StateAtom::Register { .. } | StateAtom::Cell(_) => panic!("the condition mentions places only"),
    });
    value != 0
}

/// By definition: in no state of the other thread does the move make the condition false.
fn lets_pass(program: &Program, from: LocId, to: LocId) -> bool {
    states(program).all(|[_, other]| !holds(program, [from, other]) || holds(program, [to, other]))
}

#[test]
fn moves_that_pass_never_make_a_goal_false() {
    for (condition, precise) in [
        ("P at a && Q at a", true),
        ("P at a || Q at b", true),
        ("!(P at a) && Q at a", true),
        ("!(P at a || Q at b)", true),
        ("P at a + Q at a >= 2", true),
        ("P at a + Q at a + P at b > 1", false),
        ("1 > P at a + Q at a", true),
        ("P at a + Q at a < 2 && !(Q at b)", true),
        ("P at a <= Q at a", true),
        ("P at a + Q at a == 1", false),
        ("P at a + Q at a != 1", false),
        ("P at a - Q at a", false),
        ("-(P at a) + 1", false),
        ("P at a * (0 - 1) + Q at a", false),
        ("~(P at a) + 2", false),
    ] {
        let program = program(condition);
        let observed = ObservedPlaces::new(&program, ThreadId(0), &all_goals(&program));
        let moves = states(&program);
        for [from, to] in moves {
            let (found, right) = (observed.let_pass(from, to), lets_pass(&program, from, to));
            assert!(!found || right, "{condition}: {from:?} to {to:?}");
            assert!(!precise || found == right, "{condition}: {from:?} to {to:?} is held back");
        }
    }
}
