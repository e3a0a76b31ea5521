//! Into which steps statements of Memorax are turned.

use weir_ir::{Source, body_instruction_text};

/// The steps of the first process, in the order of their places: `from: step -> to`.
fn steps(text: &str) -> Vec<String> {
    let source = Source::new("test", text);
    let parsed = weir_syntax::rmm::parse(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let body = &parsed.program.threads[0].body;
    let step = |edge: &weir_ir::Edge| {
        let text = body_instruction_text(&parsed.program, body, &edge.instruction);
        format!("{}: {text} -> {}", edge.from.0, edge.to.0)
    };
    body.edges().iter().map(step).collect()
}

fn of(statements: &str) -> Vec<String> {
    steps(&format!("forbidden * data x = 0 : [0:1] y = 0 process registers $r = 0 $s = 0 : [0:1] text {statements}"))
}

#[test]
fn plain_statements_are_one_step() {
    assert_eq!(
        of("write: x := 1; fence; nop; $r := $s + 1; read: $r := x; read: $s := x; assume: $r = 0"),
        [
            "0: x = 1 -> 2",
            "2: fence -> 3",
            "3: skip -> 4",
            "4: $r = $s + 1 -> 5",
            "5: $r = x -> 6",
            "6: $s = x -> 7",
            "7: assume $r == 0 -> 1",
        ]
    );
}

#[test]
fn a_locked_write_is_an_exchange_and_cas_tries_again() {
    assert_eq!(
        of("locked write: x := 1; cas(x, 1, 0)"),
        ["0: xchg(x, 1) -> 2", "2: $seen = cas(x, 1, 0) -> 3", "3: assume $seen -> 1", "3: assume !$seen -> 2",]
    );
    assert_eq!(of("locked{ read: x = 1; write: x := 0 }"), of("cas(x, 1, 0)"));
}

#[test]
fn branches_that_wait_for_values_of_one_location_share_the_read() {
    assert_eq!(
        of("either{ read: y = 0 or read: y = 1 }"),
        [
            "0: $seen = y -> 2",
            "2: assume $seen == 0 -> 1",
            "2: assume $seen != 0 && $seen != 1 -> 0",
            "2: assume $seen == 1 -> 1",
        ]
    );
    // One of the two is there in any case.
    assert_eq!(
        of("either{ read: x = 0 or read: x = 1 }"),
        ["0: $seen = x -> 2", "2: assume $seen == 0 -> 1", "2: assume $seen == 1 -> 1"]
    );
    // But not if what a register holds is one of the two.
    assert_eq!(of("either{ read: x = 0 or read: x = $r }").len(), 4);
    // A value that is waited for twice is waited for once.
    assert_eq!(
        of("either{ read: x = 0 or read: x = 0 }"),
        ["0: $seen = x -> 2", "2: assume $seen == 0 -> 1", "2: assume $seen != 0 -> 0", "2: assume $seen == 0 -> 1",]
    );
}

#[test]
fn a_test_before_anything_is_read_has_nothing_to_go_back_from() {
    assert_eq!(
        of("locked{ assume: $r = 0; read: $s := x }"),
        ["0: assume $r == 0 -> 2", "2: $seen = x -> 3", "3: $s = $seen -> 1"]
    );
}

#[test]
fn registers_that_are_made_up_have_names_of_their_own() {
    let text =
        "forbidden * data y = 0 process registers $seen = 0 $seen2 = 0 text read: y = 1; cas(y, 0, 1); $seen := $seen2";
    assert_eq!(steps(text)[0], "0: $seen_ = y -> 3");
    let text = "forbidden * data x = 0 y = 0 process registers $seen2 = 0 text locked{ read: x = 1; read: y = 1 }";
    assert_eq!(steps(text)[0], "0: $seen, $seen2_ = x, y -> 2");
}

#[test]
fn places_that_nothing_leads_to_or_from_are_left_out() {
    let places = |text: &str| {
        let source = Source::new("test", format!("forbidden * process registers $r = 0 text {text}"));
        weir_syntax::rmm::parse(&source).expect("correct").program.threads[0].body.locations.len()
    };
    assert_eq!(places("A: goto A"), 1);
    assert_eq!(places("nop; nop"), 3);
    assert_eq!(places("A: nop; goto A"), 2);
    assert_eq!(places("nop; while true do nop"), 4);
}

#[test]
fn others_are_counted_without_the_process_itself() {
    let text = "forbidden * * * process(3) data v = 0 text write: v[my] := 1; write: v[0] := 2; write: v[1] := 3";
    let source = Source::new("test", text);
    let program = weir_syntax::rmm::parse(&source).unwrap_or_else(|errors| panic!("{errors:#?}")).program;
    let stores = |process: usize| {
        let body = &program.threads[process].body;
        let texts = body.edges().iter().map(|edge| body_instruction_text(&program, body, &edge.instruction));
        texts.collect::<Vec<_>>()
    };
    assert_eq!(stores(0), ["v_P0 = 1", "v_P1 = 2", "v_P2 = 3"]);
    assert_eq!(stores(1), ["v_P1 = 1", "v_P0 = 2", "v_P2 = 3"]);
    assert_eq!(stores(2), ["v_P2 = 1", "v_P0 = 2", "v_P1 = 3"]);
}

#[test]
fn memory_that_may_start_with_any_value_is_set_up_before_it_is_used() {
    let text =
        "forbidden * * data x = * : [0:1] ready = 0 process registers $p = 0 text read: [$p] = 1 process text nop";
    let source = Source::new("test", text);
    let program = weir_syntax::rmm::parse(&source).unwrap_or_else(|errors| panic!("{errors:#?}")).program;
    let names: Vec<&str> = program.shared.iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(names, ["x", "ready", "ready_"]);
    assert_eq!(program.shared[2].span, program.shared[0].span);
    let lines = |at: usize| {
        let body = &program.threads[at].body;
        body.edges().iter().map(|edge| body_instruction_text(&program, body, &edge.instruction)).collect::<Vec<_>>()
    };
    assert!(lines(0).contains(&"$seen = ready_".to_string()), "{:?}", lines(0));
    // Who uses none of it does not wait.
    assert_eq!(lines(1), ["skip"]);
    assert_eq!(lines(2), ["$value = any 0..1", "xchg(x, $value)", "xchg(ready_, 1)"]);
}

#[test]
fn a_value_that_may_not_fit_is_tested_first() {
    assert_eq!(of("$s := $s + 1"), ["0: assume $s + 1 <= 1 -> 2", "2: $s = $s + 1 -> 1"]);
    assert_eq!(
        of("read: $s := y"),
        [
            "0: $seen = y -> 2",
            "2: assume $seen >= 0 && $seen <= 1 -> 3",
            "2: assume !($seen >= 0 && $seen <= 1) -> 0",
            "3: $s = $seen -> 1",
        ]
    );
}

#[test]
fn a_locked_block_tests_all_before_it_writes() {
    assert_eq!(
        of("locked{ read: x = 0; write: y := $r; read: $s := y; write: x := 1 }"),
        [
            "0: lock -> 2",
            "2: $seen = x -> 4",
            "3: unlock -> 0",
            "4: assume $seen == 0 -> 5",
            "4: assume $seen != 0 -> 3",
            "5: $seen2 = $r -> 6",
            "6: assume $seen2 >= 0 && $seen2 <= 1 -> 7",
            "6: assume !($seen2 >= 0 && $seen2 <= 1) -> 3",
            "7: y = $seen2 -> 8",
            "8: x = 1 -> 9",
            "9: $s = $seen2 -> 10",
            "10: unlock -> 1",
        ]
    );
}

/// One of the alternatives only reads, and yet both take the lock.
#[test]
fn alternatives_of_a_locked_block_begin_with_the_lock() {
    assert_eq!(
        of("locked{ read: x = 0 or write: x := 1 }"),
        [
            "0: lock -> 2",
            "2: $seen = x -> 4",
            "2: x = 1 -> 6",
            "3: unlock -> 0",
            "4: assume $seen == 0 -> 5",
            "4: assume $seen != 0 -> 3",
            "5: unlock -> 1",
            "6: unlock -> 1",
        ]
    );
}

#[test]
fn a_locked_block_that_only_reads_reads_all_in_one_step_and_takes_no_lock() {
    assert_eq!(
        of("locked{ read: x = 0; read: $s := y; read: x = $s }"),
        [
            "0: $seen, $seen2 = x, y -> 2",
            "2: assume $seen == 0 -> 3",
            "2: assume $seen != 0 -> 0",
            "3: assume $seen2 >= 0 && $seen2 <= 1 -> 4",
            "3: assume !($seen2 >= 0 && $seen2 <= 1) -> 0",
            "4: assume $seen == $seen2 -> 5",
            "4: assume $seen != $seen2 -> 0",
            "5: $s = $seen2 -> 1",
        ]
    );
}

#[test]
fn registers_get_a_first_value_only_if_it_is_read() {
    let text = |statements: &str| {
        steps(&format!("forbidden * process registers $r = * : [0:1] $s = 2 $t = * : Z text {statements}"))
    };
    assert_eq!(text("$r := 0; $s := $r"), ["0: $r = 0 -> 2", "2: $s = $r -> 1"]);
    assert_eq!(
        text("$r := $r + $s - $s"),
        [
            "0: assume $r + $s - $s >= 0 && $r + $s - $s <= 1 -> 2",
            "2: $r = $r + $s - $s -> 1",
            "3: $s = 2 -> 0",
            "4: $r = any 0..1 -> 3",
        ]
    );
}
