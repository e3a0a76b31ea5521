use weir_ir::{BinaryOp, Expr, Instruction, Range, RegId, Rmw};

use super::*;
use crate::testing::*;
use weir_witness::Model;

mod columns;

fn show(program: &Program, model: Model, script: &str) -> String {
    lanes(program, &accept(program, model, script), &LaneOptions::default())
}

fn assert_lines(text: &str, expected: &[&str]) {
    assert_eq!(text.lines().collect::<Vec<_>>(), expected, "\n{text}");
}

#[test]
fn store_buffering_looks_as_one_would_draw_it() {
    let program = program(vec![sequence(vec![store(X, 1), load(0, Y)]), sequence(vec![store(Y, 1), load(1, X)])]);
    assert_lines(
        &show(&program, Model::Tso, "0 0 1 1f 1 0f"),
        &[
            "        P0                P1                buffer P0    buffer P1    memory",
            "   1    x = 1                               [x=1]        []           x=0 y=0",
            "   2    r = y  reads 0                      [x=1]        []           x=0 y=0",
            "   3                      y = 1             [x=1]        [y=1]        x=0 y=0",
            "   4                      flush y=1         [x=1]        []           x=0 y=1",
            "   5                      s = x  reads 0    [x=1]        []           x=0 y=1",
            "   6    flush x=1                           []           []           x=1 y=1",
            "        (done)            (done)",
        ],
    );
}

#[test]
fn without_buffers_there_is_no_column_for_them() {
    let program = program(vec![sequence(vec![store(X, 1)]), sequence(vec![exchange(0, X, 2), Instruction::Skip])]);
    assert_lines(
        &show(&program, Model::Sc, "0 1"),
        &[
            "        P0          P1                                   memory",
            "   1    x = 1                                            x=1",
            "   2                r = xchg(x, 2)  reads 1, writes 2    x=2",
            "        (at one)    (at one)",
        ],
    );
}

#[test]
fn every_instruction_has_its_words() {
    let temporary = Instruction::Load { register: RegId(2), address: number(Y) };
    let test = Instruction::Assume(equal(reg(2), number(0)));
    let swap = |expected, new| Rmw::CompareExchange { expected: number(expected), new: number(new) };
    let sum = Expr::binary(BinaryOp::Add, reg(0), number(1));
    let instructions = vec![
        store(X, 1),
        load(0, X),
        Instruction::Fence,
        temporary,
        test,
        assign(0, sum.clone()),
        assign(1, number(4)),
        compare_and_swap(1, X, 1, 5),
        compare_and_swap(2, X, 1, 6),
        Instruction::Assume(equal(reg(2), number(0))),
        rmw(2, X, swap(5, 6)),
        havoc(1, -1, 3),
        havoc(2, 2, 3),
        Instruction::Assume(equal(reg(2), number(2))),
        Instruction::Lock,
        Instruction::Store { address: sum, value: reg(0) },
        Instruction::Unlock,
        Instruction::Skip,
        Instruction::Assert(equal(reg(1), number(-1))),
        Instruction::Assert(reg(3 - 1)),
        Instruction::Terminate,
    ];
    let program = program(vec![sequence(instructions)]);
    let script = "0 0 0f 0 0 0 0 0 0 0 0 0 0=-1 0=2 0 0 0 0f 0 0 0 0 0";
    let text = show(&program, Model::Tso, script);
    let lane: Vec<_> = text.lines().skip(1).map(|line| line.chars().skip(8).take(38).collect::<String>()).collect();
    let steps: Vec<_> = lane.iter().map(|step| step.trim_end()).collect();
    assert_eq!(
        steps,
        [
            "x = 1",
            "r = x  reads 1 from its buffer",
            "flush x=1",
            "fence",
            "y  reads 0",
            "y == 0  holds",
            "r = r + 1  is 2",
            "s = 4",
            "s = cas(x, 1, 5)  reads 1, writes 5",
            "cas(x, 1, 6)  reads 5, fails",
            "cas(x, 1, 6) == 0  holds",
            "cmpxchg(x, 5, 6)  reads 5, writes 6",
            "s = any -1..3  takes -1",
            "any 2..3  takes 2",
            "2 == 2  holds",
            "lock",
            "z = 2",
            "flush z=2",
            "unlock",
            "skip",
            "assert s == -1  holds",
            "assert 2  holds",
            "terminate",
            "(done)",
        ]
    );
}

#[test]
fn a_made_up_register_is_called_what_it_holds() {
    let made_up = |instruction| vec![instruction, Instruction::Assume(equal(reg(2), number(0)))];
    let both = Instruction::Snapshot(vec![(RegId(2), number(X)), (RegId(0), number(Y))]);
    let long = "a_name_that_is_longer_than_forty_characters_by_far";
    let cases = [
        (both, ["x, r = y  reads 0, 0", "x == 0  holds"]),
        (
            Instruction::Load { register: RegId(2), address: number(Z) },
            [&format!("{long}  reads 0")[..], "0 == 0  holds"],
        ),
        (exchange(2, X, 1), ["xchg(x, 1)  reads 0, writes 1", "xchg(x, 1) == 0  holds"]),
        (assign(2, number(0)), ["0", "0 == 0  holds"]),
    ];
    for (instruction, expected) in cases {
        let mut program = program(vec![sequence(made_up(instruction))]);
        program.shared[2].name = long.into();
        let replay = accept(&program, Model::Tso, "0 0");
        let texts = weir::run_text::step_texts(&program, &replay);
        assert_eq!(texts.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_made_up_register_that_is_set_where_nothing_is_shown_is_called_the_same() {
    let load = Instruction::Load { register: RegId(2), address: number(X) };
    let test = Instruction::Assume(equal(reg(2), number(0)));
    let program = program(vec![sequence(vec![Instruction::Skip, load, Instruction::Skip, test])]);
    let options = LaneOptions { max_steps: 2, ..LaneOptions::default() };
    let text = lanes(&program, &accept(&program, Model::Tso, "0 0 0 0"), &options);
    assert_lines(
        &text,
        &[
            "        P0               memory",
            "   1    skip             x=0",
            "        … 2 steps …",
            "   4    x == 0  holds    x=0",
            "        (done)",
        ],
    );
}

#[test]
fn a_run_takes_as_much_room_as_it_is_said_to_take() {
    let LaneOptions { max_steps, lane_width, least_lane_width, buffer_width, memory_width, line_width } =
        LaneOptions::default();
    assert_eq!((max_steps, lane_width, least_lane_width), (60, 36, 16));
    assert_eq!((buffer_width, memory_width, line_width), (24, 40, 140));
}

#[test]
fn what_just_fits_is_shown_in_full() {
    let named = |length: usize| {
        let temporary = Instruction::Load { register: RegId(2), address: number(X) };
        let mut program = program(vec![sequence(vec![temporary, Instruction::Assume(equal(reg(2), number(0)))])]);
        program.shared[0].name = "x".repeat(length);
        let replay = accept(&program, Model::Tso, "0 0");
        let text = weir::run_text::step_texts(&program, &replay)[1].to_string();
        let memory = LaneOptions { memory_width: 42, ..LaneOptions::default() };
        (text, lanes(&program, &replay, &memory).contains("unchanged in memory: x"))
    };
    assert_eq!(named(40), (format!("{} == 0  holds", "x".repeat(40)), false));
    assert_eq!(named(41), ("0 == 0  holds".to_owned(), true));
    let program = program(vec![sequence(vec![store(X, 1), store(Y, 2)])]);
    let replay = accept(&program, Model::Tso, "0 0");
    let waiting = |buffer_width| lanes(&program, &replay, &LaneOptions { buffer_width, ..LaneOptions::default() });
    assert!(waiting(9).contains("[x=1 y=2]"));
    assert!(waiting(8).contains("2: [x=1…"));
}

#[test]
fn a_failed_assertion_shows_where_it_ends() {
    let program = program(vec![sequence(vec![Instruction::Assert(reg(0)), Instruction::Skip])]);
    assert_lines(
        &show(&program, Model::Tso, "0"),
        &["        P0", "   1    assert r  fails", "        (at a failed assertion)"],
    );
}

#[test]
fn a_run_without_steps_says_so() {
    assert_eq!(show(&program(vec![sequence(vec![Instruction::Skip])]), Model::Tso, ""), "        (no steps)\n");
}

/// A thread that counts in `x` forever, and one that looks on.
fn counter() -> Program {
    let next = Expr::binary(BinaryOp::Add, reg(0), number(1));
    let count = vec![
        (0, 1, Instruction::Assign { register: RegId(0), value: next }),
        (1, 0, Instruction::Store { address: number(X), value: reg(0) }),
    ];
    program(vec![count, vec![(0, 0, Instruction::Load { register: RegId(2), address: number(X) })]])
}

#[test]
fn of_a_long_run_the_beginning_and_the_end_are_shown_with_the_right_states() {
    let program = counter();
    let replay = accept(&program, Model::Tso, &"0 0 0f 1 ".repeat(500));
    let options = LaneOptions { max_steps: 5, ..LaneOptions::default() };
    assert_lines(
        &lanes(&program, &replay, &options),
        &[
            "        P0                 P1              buffer P0    memory",
            "   1    r = r + 1  is 1                    []           x=0",
            "   2    x = 1                              [x=1]        x=0",
            "   3    flush x=1                          []           x=1",
            "        … 1,995 steps …",
            "1999    flush x=500                        []           x=500",
            "2000                       x  reads 500    []           x=500",
            "        (at line 1)        (at line 3)",
        ],
    );
    let all = LaneOptions { max_steps: 1999, ..options };
    assert_eq!(lanes(&program, &replay, &all).lines().count(), 2002, "a single step is not left out");
}

#[test]
fn a_long_buffer_shows_its_ends_and_its_length() {
    let program = counter();
    let text = show(&program, Model::Tso, &"0 0 ".repeat(12));
    let buffer = |step: usize| text.lines().nth(step).map(|line| line[27..].trim_end_matches("x=0").trim());
    assert_eq!(buffer(8), Some("[x=1 x=2 x=3 x=4]"));
    assert_eq!(buffer(24), Some("12: [x=1 … x=12]"));
}

#[test]
fn too_many_cells_for_a_line_show_only_what_changes() {
    let mut program = program(vec![sequence((0..20).map(|at| store(10 + at, 7)).collect())]);
    let cells = scalar("table", 10, 0);
    program.shared.push(weir_ir::Shared { is_array: true, initial: vec![0; 20], ..cells });
    let replay = accept(&program, Model::Sc, &"0 ".repeat(20));
    let options = LaneOptions { max_steps: 4, ..LaneOptions::default() };
    assert_lines(
        &lanes(&program, &replay, &options),
        &[
            "        P0               memory (changes)",
            "   1    table[0] = 7     table[0]=7",
            "   2    table[1] = 7     table[1]=7",
            "        … 16 steps …",
            "  19    table[18] = 7    table[2]=7 table[3]=7 table[4]=7 table[…",
            "  20    table[19] = 7    table[19]=7",
            "        (done)",
        ],
    );
}

#[test]
fn lanes_get_narrower_before_the_steps_are_listed() {
    let mut program = program(vec![sequence(vec![load(0, X), store(X, 1)]), sequence(vec![load(0, X)])]);
    program.shared[0].name = "a_rather_long_name".into();
    let replay = accept(&program, Model::Tso, "0 0 1");
    let narrow = LaneOptions { line_width: 110, ..LaneOptions::default() };
    assert_lines(
        &lanes(&program, &replay, &narrow),
        &[
            "        P0                          P1                          buffer P0                 memory",
            "   1    r = a_rather_l…  reads 0                                []                        a_rather_long_name=0",
            "   2    a_rather_long_name = 1                                  [a_rather_long_name=1]    a_rather_long_name=0",
            "   3                                r = a_rather_l…  reads 0    [a_rather_long_name=1]    a_rather_long_name=0",
            "        (done)                      (at one)",
        ],
    );
    let tiny = LaneOptions { line_width: 60, ..LaneOptions::default() };
    assert_lines(
        &lanes(&program, &replay, &tiny),
        &[
            "        thread    step",
            "   1    P0        r = a_rather_long_name  reads 0",
            "   2    P0        a_rather_long_name = 1",
            "   3    P1        r = a_rather_long_name  reads 0",
            "        P0        (done)",
            "        P1        (at one)",
        ],
    );
}

#[test]
fn cells_that_never_change_and_the_buffers_of_others_go_first() {
    let store_and_load = |cell, other| sequence(vec![store(cell, 1), load(0, other), load(1, Z)]);
    let mut program = program(vec![store_and_load(X, Y), store_and_load(Y, X)]);
    program.shared[2].name = "constant".into();
    let replay = accept(&program, Model::Tso, "0 0 0 1 1 0f 1f");
    let within = |line_width| lanes(&program, &replay, &LaneOptions { line_width, ..LaneOptions::default() });
    assert!(within(100).contains("buffer P1") && within(100).contains("x=0 y=0 constant=0"));
    assert_lines(
        &within(80),
        &[
            "        P0                   P1                buffer P0    buffer P1    memory",
            "   1    x = 1                                  [x=1]        []           x=0 y=0",
            "   2    r = y  reads 0                         [x=1]        []           x=0 y=0",
            "   3    s = con…  reads 0                      [x=1]        []           x=0 y=0",
            "   4                         y = 1             [x=1]        [y=1]        x=0 y=0",
            "   5                         r = x  reads 0    [x=1]        [y=1]        x=0 y=0",
            "   6    flush x=1                              []           [y=1]        x=1 y=0",
            "   7                         flush y=1         []           []           x=1 y=1",
            "        (done)               (at line 6)",
            "        unchanged in memory: constant=0",
        ],
    );
    let narrow = within(70);
    assert!(narrow.contains("its buffer    memory") && !narrow.contains("thread"), "{narrow}");
    let narrower = within(64);
    assert!(narrower.contains("thread    step") && narrower.contains("its buffer    memory"), "{narrower}");
    let squeezed = within(60);
    assert!(
        squeezed.contains("its buffer  memory (changes)") && squeezed.contains("\n              reads 0"),
        "{squeezed}"
    );
    let narrowest = within(30);
    assert!(!narrowest.contains("buffer") && narrowest.lines().all(|line| line.chars().count() <= 30), "{narrowest}");
}

#[test]
fn a_step_that_is_too_long_keeps_what_came_of_it() {
    let step = |what: &str, outcome: &str| StepText { what: what.into(), outcome: outcome.into() };
    assert_eq!(shorten_step(&step("r = flag[1]", "reads 0"), 40), "r = flag[1]  reads 0");
    assert_eq!(shorten_step(&step("r = flag[1]", "reads 0"), 16), "r = fl…  reads 0");
    assert_eq!(shorten_step(&step("r = flag[1]", "reads 0"), 10), "r = flag[…");
    assert_eq!(shorten_step(&step("r = flag[1]", ""), 8), "r = fla…");
    // What just fits is not cut, and what does not has just the room there is.
    let long = step("r = flag[1]", "reads 0");
    for width in 3..30 {
        let text = shorten_step(&long, width);
        assert_eq!(text.chars().count(), width.min(20), "{text}");
        assert_eq!(text == "r = flag[1]  reads 0", width >= 20, "{text}");
        assert_eq!(text.ends_with("…  reads 0"), (12..20).contains(&width), "{text}");
    }
}

#[test]
fn ranges_and_lanes_of_absurd_sizes_do_no_harm() {
    let mut program = counter();
    program.shared[0].range = Some(Range::FULL);
    let replay = accept(&program, Model::Tso, &"0 0 ".repeat(30));
    let least = LaneOptions {
        max_steps: 0,
        lane_width: 0,
        least_lane_width: 0,
        buffer_width: 0,
        memory_width: 0,
        line_width: 0,
    };
    let most = LaneOptions { max_steps: usize::MAX, lane_width: usize::MAX, least_lane_width: usize::MAX, ..least };
    assert!(lanes(&program, &replay, &least).lines().count() >= 4);
    assert!(lanes(&program, &replay, &most).lines().count() >= 60);
}
