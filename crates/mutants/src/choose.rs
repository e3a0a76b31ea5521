//! Which mutants are tried: chosen by a seed, not by hand, and enough of each module.

use std::collections::BTreeMap;

use crate::mutant::Mutant;

/// The modules that are reported on: a name, and the beginnings of the paths of their files.
pub(crate) const MODULES: [(&str, &[&str]); 15] = [
    ("semantics", &["crates/weir/src/semantics/"]),
    ("search", &["crates/weir/src/search/", "crates/weir/src/explicit.rs"]),
    ("robust", &["crates/weir/src/robust/"]),
    ("fences", &["crates/weir/src/fences/"]),
    ("reach: dual", &["crates/weir/src/reach/dual/"]),
    ("reach: lazy", &["crates/weir/src/reach/lazy/", "crates/weir/src/translate/delay"]),
    ("reach: abstraction", &["crates/weir/src/reach/abstraction/"]),
    ("reach: others", &["crates/weir/src/reach/", "crates/weir/src/check/", "crates/weir/src/outcomes/"]),
    (
        "dynamic",
        &[
            "crates/weir/src/dynamic/",
            "crates/weir/src/summaries/",
            "crates/weir/src/translate/unroll",
            "crates/ir/src/link.rs",
        ],
    ),
    ("parameterized", &["crates/weir/src/parameterized/", "crates/weir/src/petri/", "crates/weir/src/wsts/"]),
    ("translate", &["crates/weir/src/translate/"]),
    ("prob", &["crates/weir/src/prob/"]),
    ("witness", &["crates/witness/src/"]),
    ("report", &["crates/report/src/"]),
    (
        "lowering",
        &[
            "crates/syntax/src/weir/lower/",
            "crates/syntax/src/rmm/lower/",
            "crates/syntax/src/litmus/lower/",
            "crates/syntax/src/trencher/",
        ],
    ),
];

/// The module of a file, if it belongs to one.
pub(crate) fn module(file: &str) -> Option<&'static str> {
    let holds = |beginnings: &[&str]| beginnings.iter().any(|beginning| file.starts_with(beginning));
    MODULES.iter().find(|(_, beginnings)| holds(beginnings)).map(|(name, _)| *name)
}

/// SplitMix64 (Steele, Lea, Flood, 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }
}

/// About `count` of the mutants, in proportion to the sizes of the modules but at least `least` of each, none of which
/// overlap.
pub(crate) fn choose(all: Vec<Mutant>, count: usize, least: usize, seed: u64) -> Vec<Mutant> {
    let total = all.len().max(1);
    let mut modules: BTreeMap<&str, Vec<Mutant>> = BTreeMap::new();
    for mutant in all {
        modules.entry(module(&mutant.file).unwrap_or("others")).or_default().push(mutant);
    }
    let mut random = Random(seed);
    let mut chosen: Vec<Mutant> = Vec::new();
    for (_, mut mutants) in modules {
        let wanted = (count * mutants.len()).div_ceil(total).max(least);
        let before = chosen.len();
        while chosen.len() - before < wanted && !mutants.is_empty() {
            let mutant = mutants.swap_remove(random.below(mutants.len()));
            if !chosen.iter().any(|other| other.overlaps(&mutant)) {
                chosen.push(mutant);
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::mutants;

    #[test]
    fn the_seed_decides_and_nothing_overlaps() {
        let text = "fn f(a: u32, b: u32) -> bool { (a + 1 < b) && (b - 1 < a) && !(a == b + 2) }";
        let all = || mutants("crates/weir/src/prob/x.rs", text).expect("Rust");
        let names = |seed| choose(all(), 3, 1, seed).iter().map(Mutant::name).collect::<Vec<_>>();
        assert_eq!(names(1), names(1));
        assert!((2..20).any(|seed| names(seed) != names(1)));
        let chosen = choose(all(), 100, 1, 3);
        for (at, one) in chosen.iter().enumerate() {
            assert!(chosen[at + 1..].iter().all(|other| !one.overlaps(other)));
        }
    }
}
