//! What the printed text looks like, and that it holds up for large and odd bodies.

use weir_ir::{
    BinaryOp, Body, CostRule, CostSubject, Edge, Expr, Instruction, LocId, Location, ProcId, Procedure, Program,
    PropertyKind, RegExpr, Register, Shared, Span,
};
use weir_syntax::weir::print::print;
use weir_testkit::Rng;
use weir_testkit::sketch::{ThreadSketch, at, cell, load, program, register, store, straight};

use crate::{check, read};

/// Text that is printed as it is written here.
fn stays(text: &str) {
    let program = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(print(&program), text);
    check("as written", &program);
}

#[test]
fn structured_code_comes_out_as_it_went_in() {
    stays(
        "\
shared flag[2], turn;

thread P0 {
    let r, s;
    loop {
        flag[0] = 1;
        turn = 1;
        r = flag[1];
        while r == 1 {
            s = turn;
            if s != 1 {
                break;
            }
            r = flag[1];
        }
    critical:
        skip;
        flag[0] = 0;
    }
}

forbid P0 at critical && turn == 2;
",
    );
}

#[test]
fn branches_choices_and_jumps_come_out_as_they_went_in() {
    stays(
        "\
shared x: 0..7 = 1, a[3] @ 10 = {1, 2, 3}, b[2] = 7;

thread P weight 2 {
    let r, s;
again:
    loop {
        r = any 0..3;
        if r == 0 {
            x = 1;
        } else if r == 1 {
            x = 2;
        } else {
            x = 3;
        }
        choose {
            s = cas(a[1], r, -1);
            break;
        } or {
            xchg(a[r], 5);
        } or {
            assume r < 2;
            jump out;
        }
    }
    fence;
out:
    assert s == 0;
    s = mem[7];
    b[r & 1] = s;
    terminate;
}

exists P at end && x != 2;
forbid deadlock;

cost fence = 20;
cost again = 3;
",
    );
}

#[test]
fn what_a_test_leaves_a_loop_for_comes_right_behind_it() {
    stays(
        "\
shared x;

thread P {
    let r;
    while r == 0 {
        r = x;
        if r == 2 {
            jump out;
        }
    }
    x = 1;
    terminate;
out:
    x = 2;
}
",
    );
}

#[test]
fn several_ends_stay_apart() {
    stays(
        "\
shared x;

thread P {
    let r;
    r = x;
    if r == 0 {
        end;
    }
    choose {
        x = 1;
    missed:
        end;
    } or {
        r = x;
        if r == 2 {
            terminate;
        }
        x = 2;
    }
}

forbid P at missed && x == 0;
exists P at end && x == 1;
",
    );
}

#[test]
fn a_recursive_procedure_stays_a_procedure() {
    stays(
        "\
shared x;

proc down(n) {
    let r;
    if n > 0 {
        r = down(n - 1);
        return r + 1;
    }
    x = n;
}

thread P {
    let r;
    r = down(3);
    x = r;
}
",
    );
}

#[test]
fn threads_that_do_not_run_from_the_start_keep_their_kind() {
    stays(
        "\
shared x;

thread Main {
    spawn Late;
    x = 1;
}

thread Late[0] {
here:
    x = 2;
}

thread Crowd[*] weight 3 {
    fence;
}

forbid count(Late at here) > 1 && count(Crowd at end) == 2;
",
    );
}

#[test]
fn names_become_valid_and_different_from_each_other() {
    let mut odd = straight("Worker[0]", [load(0, 1), store(1, 1)]);
    odd.body.registers =
        vec![Register { name: "x".to_string(), is_temporary: false, is_thread_local: false, span: Span::default() }];
    odd.body.locations[0].labels = vec!["f.a".to_string()];
    odd.body.locations[1].labels = vec!["f.a".to_string(), "f_a".to_string(), "load".to_string()];
    let twin = straight("Worker_0", [store(1, 2)]);
    let mut program = program(vec![cell("x", 1), cell("end", 2)], vec![odd, twin], Vec::new());
    program.costs = vec![CostRule { subject: CostSubject::Label("f.a".to_string()), cost: 4, span: Span::default() }];
    let expected = "\
shared x, end_2;

thread Worker_0_2 {
    let x_2;
f_a_2:
    x_2 = x;
f_a_3:
f_a:
load_2:
    x = 1;
l2:
}

thread Worker_0 {
l0:
    x = 2;
l1:
}

cost f_a_2 = 4;
cost f_a_3 = 4;
";
    assert_eq!(print(&program), expected);
    check("odd names", &program);
}

#[test]
fn a_thread_that_is_done_at_once_can_be_read() {
    let mut program = program(vec![], vec![straight("P", []), straight("Q", [Instruction::Skip])], Vec::new());
    program.threads[0].body.locations[0].labels.clear();
    let start = "thread P {\n    end;\n}\n";
    assert!(print(&program).starts_with(start), "{}", print(&program));
    check("done at once", &program);
}

#[test]
fn a_label_in_dead_code_is_gone_and_nobody_is_ever_there() {
    let mut sketch = ThreadSketch::new("P");
    let (start, end, dead) = (sketch.entry(), sketch.location(), sketch.location());
    sketch.edge(start, end, Instruction::Skip);
    sketch.edge(dead, end, Instruction::Skip);
    let condition = Expr::binary(BinaryOp::Or, at(0, dead), at(0, end));
    let program = program(vec![], vec![sketch.finish()], vec![PropertyKind::Forbid(condition)]);
    assert!(print(&program).ends_with("forbid 0 || P at l1;\n"), "{}", print(&program));
    check("dead code", &program);
}

fn test(condition: RegExpr) -> (Instruction, Instruction) {
    let opposite = condition.negated();
    (Instruction::Assume(condition), Instruction::Assume(opposite))
}

/// `if` within `if`, so deep that no parser would take it as it is.
fn nested_branches(depth: usize) -> Program {
    let mut sketch = ThreadSketch::new("P");
    let mut here = sketch.entry();
    let mut joins = Vec::new();
    for level in 0..depth {
        let (then, otherwise, join) = (sketch.location(), sketch.location(), sketch.location());
        let (yes, no) = test(register(0));
        sketch.edge(here, then, yes);
        sketch.edge(here, otherwise, no);
        sketch.edge(otherwise, join, store(1, level as i64));
        joins.push(join);
        here = then;
    }
    for join in joins.into_iter().rev() {
        sketch.edge(here, join, Instruction::Fence);
        here = join;
    }
    program(vec![cell("x", 1)], vec![sketch.finish()], Vec::new())
}

/// Loops within loops; each can be left for the next one out, and all at once from the innermost.
fn nested_loops(depth: usize) -> Program {
    let mut sketch = ThreadSketch::new("P");
    let mut here = sketch.entry();
    let end = sketch.location();
    let mut heads = Vec::new();
    for _ in 0..depth {
        let head = sketch.location();
        sketch.edge(here, head, Instruction::Skip);
        heads.push(head);
        here = sketch.location();
        let (yes, _) = test(register(0));
        sketch.edge(head, here, yes);
    }
    sketch.edge(here, end, Instruction::Fence);
    sketch.edge(here, heads[depth - 1], store(1, 1));
    for pair in heads.windows(2).rev() {
        let (_, no) = test(register(0));
        sketch.edge(pair[1], pair[0], no);
    }
    let (_, no) = test(register(0));
    sketch.edge(heads[0], end, no);
    program(vec![cell("x", 1)], vec![sketch.finish()], Vec::new())
}

/// One `if` after the other.
fn diamonds(count: usize) -> Program {
    let mut sketch = ThreadSketch::new("P");
    let mut here = sketch.entry();
    for _ in 0..count {
        let (then, otherwise, join) = (sketch.location(), sketch.location(), sketch.location());
        let (yes, no) = test(register(0));
        sketch.edge(here, then, yes);
        sketch.edge(here, otherwise, no);
        sketch.edge(then, join, Instruction::Fence);
        sketch.edge(otherwise, join, store(1, 1));
        here = join;
    }
    program(vec![cell("x", 1)], vec![sketch.finish()], Vec::new())
}

/// Any edges between many locations.
fn tangle(count: usize, seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let mut sketch = ThreadSketch::new("P");
    let places: Vec<LocId> = (0..count).map(|_| sketch.location()).collect();
    sketch.edge(sketch.entry(), places[0], Instruction::Skip);
    for (nth, &place) in places.iter().enumerate().skip(1) {
        sketch.edge(places[rng.below(nth)], place, store(1, nth as i64));
        sketch.edge(place, *rng.pick(&places), load(0, 1));
    }
    program(vec![cell("x", 1)], vec![sketch.finish()], Vec::new())
}

fn without_labels(mut program: Program) -> Program {
    let locations = program.threads.iter_mut().flat_map(|thread| &mut thread.body.locations);
    locations.for_each(|location| location.labels.clear());
    program
}

#[test]
fn large_and_deep_bodies_read_back_as_they_were() {
    check(
        "a long line",
        &without_labels(program(vec![], vec![straight("P", vec![Instruction::Fence; 20_000])], vec![])),
    );
    check("diamonds", &without_labels(diamonds(3_000)));
    check("nested branches", &without_labels(nested_branches(1_000)));
    check("nested loops", &without_labels(nested_loops(300)));
    for seed in 0..5 {
        check("a tangle", &without_labels(tangle(1_500, seed)));
    }
}

#[test]
fn an_edge_to_the_place_of_failed_assertions_fails_there() {
    let mut sketch = ThreadSketch::new("P");
    let (start, end) = (sketch.entry(), sketch.location());
    sketch.edge(start, end, Instruction::Assert(register(0)));
    let mut thread = sketch.finish();
    let failed = thread.body.failed.unwrap();
    let mut edges = thread.body.edges().to_vec();
    edges.push(Edge { from: start, to: failed, instruction: Instruction::Fence, span: Span::default() });
    let body = &thread.body;
    thread.body = Body::new(body.registers.clone(), body.locations.clone(), body.entry, body.failed, edges);
    let text = print(&program(vec![], vec![thread], vec![]));
    assert!(text.contains("        fence;\n        assert false;\n"), "{text}");
    read(&text).unwrap();
}

#[test]
fn a_declaration_without_cells_is_left_out() {
    let none = Shared { initial: Vec::new(), is_array: true, ..cell("none", 5) };
    let text = print(&program(vec![none, cell("x", 1)], vec![straight("P", [store(1, 1)])], vec![]));
    assert!(text.starts_with("shared x;\n"), "{text}");
}

#[test]
fn a_procedure_and_a_thread_of_one_name_are_distinguished() {
    let location = |label: &str| Location { labels: vec![label.to_string()], span: Span::default() };
    let call = Instruction::Call { procedure: ProcId(0), arguments: vec![], register: None };
    let edge = Edge { from: LocId(0), to: LocId(1), instruction: call.clone(), span: Span::default() };
    let body = Body::new(vec![], vec![location("here"), location("there")], LocId(0), None, vec![edge]);
    let procedure = Procedure { name: "P".to_string(), parameters: vec![], body, span: Span::default() };
    let mut program = program(vec![], vec![straight("P", [call])], vec![]);
    program.procedures = vec![procedure];
    check("of one name", &program);
}
