//! Random questions about final states, in every form.

use weir_testkit::Rng;

use super::generate::EDGES;
use super::text::SYMBOLIC;
use super::tree::{Condition, Place, Quantifier, Register, Test};

pub(super) fn add(test: &mut Test, rng: &mut Rng) {
    test.quantifier = *rng.pick(&[Quantifier::Exists, Quantifier::NotExists, Quantifier::Forall]);
    // Whatever happens to the values is to be seen.
    test.locations = (0..rng.between(3, 8)).map(|_| place(test, rng)).collect();
    let whole: Vec<Place> = test.cells.iter().map(|cell| Place::Cell(cell.name.clone(), None)).collect();
    if rng.chance(70) {
        test.locations.extend(whole);
    }
    test.condition = condition(test, rng, 2);
    test.filter = rng.chance(25).then(|| condition(test, rng, 1));
}

fn place(test: &Test, rng: &mut Rng) -> Place {
    let thread = rng.pick(&test.threads).number;
    match rng.below(10) {
        0..=5 => {
            let numbers: &[usize] = if test.is_wide { &[0, 1, 2, 3, 4, 7, 9] } else { &[0, 1, 2, 3, SYMBOLIC] };
            let number = *rng.pick(numbers);
            let size = *rng.pick(if test.is_wide { &[8, 8, 8, 4, 2, 1] } else { &[4, 4, 4, 4, 2, 1] });
            // A register without a name of the processor has no parts, and an address is shown as a whole.
            let whole = if test.is_wide { 8 } else { 4 };
            let size = if number == 4 || !test.is_wide && number == SYMBOLIC { whole } else { size };
            let is_high = size == 1 && number < 4 && rng.chance(50);
            Place::Register(thread, Register { number, size, is_high })
        }
        6 | 7 => Place::Flag(thread, rng.below(4)),
        _ => {
            let cell = rng.pick(&test.cells);
            Place::Cell(cell.name.clone(), cell.length.map(|length| rng.below(length)))
        }
    }
}

fn condition(test: &Test, rng: &mut Rng, depth: usize) -> Condition {
    let part = |rng: &mut Rng| condition(test, rng, depth - 1);
    match rng.below(if depth == 0 { 10 } else { 18 }) {
        0..=4 => Condition::Equal(place(test, rng), *rng.pick(&EDGES)),
        5 => Condition::Differs(place(test, rng), *rng.pick(&EDGES)),
        6 => {
            // An element on the right is shown without brackets, which reads as its address.
            let right = match place(test, rng) {
                Place::Cell(_, Some(_)) => Place::Cell("y".into(), None),
                other => other,
            };
            Condition::SamePlace(place(test, rng), right)
        }
        7 => Condition::Elements("t".into(), vec![*rng.pick(&[0, 1]), *rng.pick(&[0, -1])]),
        8 => match test.cells.iter().find(|cell| cell.name == "p") {
            Some(_) => Condition::IsAddress(Place::Cell("p".into(), None), rng.pick(&["x", "y"]).to_string()),
            None => Condition::True,
        },
        9 => rng.pick(&[Condition::True, Condition::False]).clone(),
        10 | 11 => Condition::Not(Box::new(part(rng))),
        12..=14 => Condition::And((0..rng.between(2, 3)).map(|_| part(rng)).collect()),
        15 | 16 => Condition::Or((0..rng.between(2, 3)).map(|_| part(rng)).collect()),
        _ => Condition::Implies(Box::new(part(rng)), Box::new(part(rng))),
    }
}
