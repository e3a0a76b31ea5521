//! What is reported after several attempts is that of the last one.

use weir_witness::Buffering;

use crate::reach::{Engine, Options, reach};
use crate::session::Session;
use crate::verdict::Verdict;

/// A store that happened once is seen twice if waiting stores are not counted; then T2 gets to a store that the range
/// of `w` blocks. With counters it does not.
#[test]
fn what_only_a_coarser_attempt_has_blocked_is_not_reported() {
    let text = "shared x, w: 0..1;
        thread T1 { x = 1; x = 3; }
        thread T2 {
            let a, b;
            a = x; x = 2; fence; b = x;
            if a == 1 && b == 1 { choose { w = 5; } or { skip; skip; bad: skip; } }
        }
        forbid T2 at bad;";
    let source = weir_ir::Source::new("test.weir", text);
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
    let ask = |engine| {
        let options = Options { engine, ..Options::default() };
        reach(&program, &options, &Session::default()).expect("it can be handled")
    };
    let set = ask(Engine::Set);
    assert!(matches!(set.verdict, Verdict::Unknown(_)) && set.coverage.out_of_range.len() == 1, "{:?}", set.coverage);
    for engine in [Engine::Multiset, Engine::Coherence] {
        let report = ask(engine);
        assert!(matches!(report.verdict, Verdict::Holds));
        assert_eq!(report.buffering, Some(Buffering::Multiset(1)), "{engine:?}");
        assert_eq!(report.coverage.out_of_range, [], "{engine:?}");
    }
}
