//! Trencher's programs in `../shared/corpus`, which are not part of the repository: their verdicts and numbers of
//! fences are known.

use weir::Session;
use weir::fences::{Aim, Fences, Options, at_locations, fences};
use weir_ir::Source;

#[test]
fn trenchers_programs_have_the_verdicts_and_fences_that_are_known() {
    let Some(folder) = weir_testkit::corpus("trencher") else { return };
    let expected = std::fs::read_to_string(folder.join("expected.tsv")).expect("the corpus says what is known");
    let mut wrong = Vec::new();
    for line in expected.lines().filter(|line| !line.starts_with('#')) {
        let [file, verdict, count, _, race_count] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let text = std::fs::read_to_string(folder.join(file)).expect("readable");
        let program = weir_syntax::trencher::parse(&Source::new(file, text)).expect("correct").program;
        let places: Vec<_> = at_locations(&program).into_iter().map(|at| at.place).collect();
        let found = |aim| {
            let options = Options { aim, ..Options::default() };
            let report = fences(&program, &places, &options, &Session::default()).expect("an answer");
            let Fences::Cheapest(sets) = &report.fences else { panic!("{file}: {:?}", report.fences) };
            sets[0].len().to_string()
        };
        assert_eq!(verdict == "robust", count == "0", "{line}");
        let counts = (found(Aim::Robust), found(Aim::RaceFree));
        if counts != (count.to_owned(), race_count.to_owned()) {
            wrong.push(format!("{file}: expected {count} and {race_count} fences, found {counts:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
