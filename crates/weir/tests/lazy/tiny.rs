//! Every two-thread program with up to two instructions a thread over two cells: always answered, always rightly.

use weir::reach::Form;
use weir_ir::Program;
use weir_testkit::tiny::{Alphabet, programs};

use crate::compare::{compare, explored};

fn every_tiny_program_is_decided(form: Form, alphabet: Alphabet) {
    let mut only_tso = 0;
    for (name, program) in programs(alphabet) {
        // Each program comes with its mirror image.
        let (left, right) = name.split_once(" | ").expect("two threads");
        if left > right || name.contains("r,s=x,y") {
            continue;
        }
        // What the final states are says all there is to say.
        let program = Program { properties: Vec::new(), ..program };
        let found = explored(&program, 10_000).and_then(|found| compare(&program, &found, form, 100_000));
        let tally = found.unwrap_or_else(|what| panic!("{name}: {what}"));
        assert_eq!(tally.asked, tally.answered, "{name}: {form:?} does not know");
        only_tso += tally.only_tso;
    }
    assert!(only_tso > 10, "final states that only TSO reaches: {only_tso}");
}

#[test]
fn every_tiny_program_is_decided_by_the_practical_form() {
    every_tiny_program_is_decided(Form::Keep, Alphabet::Core);
}

#[test]
fn every_tiny_program_is_decided_by_the_first_form() {
    every_tiny_program_is_decided(Form::First, Alphabet::Core);
}

#[test]
fn every_tiny_program_with_membarriers_is_decided() {
    every_tiny_program_is_decided(Form::Keep, Alphabet::Membarriers);
    every_tiny_program_is_decided(Form::First, Alphabet::Membarriers);
}

/// An await of both cells is refused where a store would have to wait past it.
#[test]
fn every_tiny_program_with_awaits_of_one_cell_is_decided() {
    for form in [Form::Keep, Form::First] {
        every_tiny_program_is_decided(form, Alphabet::Awaits);
    }
}
