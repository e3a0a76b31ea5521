use super::{Config, program};
use crate::traces::{Bounds, is_robust};

const CONFIG: Config = Config { helpers: 2, noise: 1, loops: 0, locks: 30, data: 20 };

#[test]
fn a_seed_names_a_program() {
    assert_eq!(format!("{:?}", program(7, &CONFIG)), format!("{:?}", program(7, &CONFIG)));
    assert_ne!(format!("{:?}", program(7, &CONFIG)), format!("{:?}", program(8, &CONFIG)));
}

#[test]
fn a_good_part_of_the_programs_is_not_robust() {
    let answers: Vec<_> = (0..100)
        .filter_map(|seed| is_robust(&program(seed, &CONFIG), Bounds { instructions: 20, ways: 20_000 }))
        .collect();
    let not_robust = answers.iter().filter(|&&robust| !robust).count();
    assert!(answers.len() > 80 && not_robust > 20 && not_robust < 70, "{not_robust} of {}", answers.len());
}
