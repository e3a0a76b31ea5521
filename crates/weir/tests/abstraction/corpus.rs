//! Answers on programs from elsewhere are those that are known, where the corpus beside the repository is there.

use weir::reach::{Engine, all_goals};
use weir_ir::Source;

use crate::support::{ask, options, word};

/// What an engine may visit; the families that grow are cut off here.
const STATES: u64 = 60_000;

#[test]
fn answers_on_memorax_programs_are_the_known_ones() {
    let Some(folder) = weir_testkit::corpus("memorax") else { return };
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the corpus says what is known");
    let (mut proved, mut found) = (0, 0);
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (Some(name), Some(expected)) = (fields.next(), fields.next()) else { continue };
        let text = std::fs::read_to_string(folder.join(name)).expect("readable");
        let Ok(parsed) = weir_syntax::rmm::parse(&Source::new(name, text)) else { continue };
        let goals = all_goals(&parsed.program);
        for (engine, bound) in [(Engine::Set, None), (Engine::Multiset, None), (Engine::Coherence, Some(1))] {
            let answer = word(&ask(&parsed.program, &options(engine, bound, &goals), STATES));
            let is_right = expected == "-" || answer == "unknown" || answer == expected;
            assert!(is_right, "{name}: {expected} is known, and {} says {answer}", engine.name());
            proved += u64::from(answer == "unreachable");
            found += u64::from(answer == "reachable");
        }
    }
    assert!(proved >= 20 && found >= 20, "{proved} proved, {found} found");
}
