//! Nets of `../shared/corpus`, which are not part of the repository: the answers are those of the tools that the corpus
//! names, and take no longer.

use std::time::{Duration, Instant};

use weir::ir::Source;
use weir::petri::{Engine, cover};
use weir::{Limits, Session, Verdict};
use weir_syntax::nets::{NetFormat, ThreadQuestion};

/// With `WEIR_TIMES=1`, in a release build: none takes longer than the faster one of the other tools and 50 ms.
#[test]
fn nets_of_the_corpus_have_the_answers_that_are_known() {
    let Some(folder) = weir_testkit::corpus("nets") else { return };
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the corpus says what is known");
    let mut answered = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, expected, seconds @ ..] = &fields[..] else { panic!("{line}") };
        let text = std::fs::read_to_string(folder.join(name)).expect("it can be read");
        let limits = Limits { time: Some(Duration::from_secs(60)), memory: Some(2 << 30), ..Limits::default() };
        let (session, began) = (Session::new(limits), Instant::now());
        let source = Source::new(*name, text);
        let net = NetFormat::Spec.parse_until(&source, &ThreadQuestion::default(), &session).expect("it parses").net;
        let report = cover(&net, Engine::Auto, &session).expect("it is a question");
        let took = began.elapsed();
        let found = match report.verdict {
            Verdict::Holds => "safe",
            Verdict::Violated(_) => "unsafe",
            Verdict::Unknown(limit) => panic!("{name}: {limit}"),
        };
        assert_eq!(found, *expected, "{name}");
        if std::env::var_os("WEIR_TIMES").is_some() {
            let fastest = seconds.iter().filter_map(|text| text.parse::<f64>().ok()).fold(f64::INFINITY, f64::min);
            assert!(took.as_secs_f64() <= fastest + 0.05, "{name}: {took:?}, another tool needs {fastest} s");
        }
        answered += 1;
    }
    assert!(answered >= 20, "only {answered} nets");
}

/// Whatever a single method says within small limits is right.
#[test]
fn methods_agree_on_the_nets_of_the_corpus() {
    let Some(folder) = weir_testkit::corpus("nets") else { return };
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the corpus says what is known");
    let mut by = [0; 4];
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (name, expected) = (fields[0], fields[1]);
        let text = std::fs::read_to_string(folder.join(name)).expect("it can be read");
        let source = Source::new(name, text);
        let read = NetFormat::Spec.parse_until(&source, &ThreadQuestion::default(), &Session::default());
        let net = read.expect("it parses").net;
        for (engine, answered) in
            [Engine::Facts, Engine::Backward, Engine::Forward, Engine::Enlarge].iter().zip(&mut by)
        {
            let limits = Limits { states: Some(500), time: Some(Duration::from_secs(1)), ..Limits::default() };
            match cover(&net, *engine, &Session::new(limits)).expect("it is a question").verdict {
                Verdict::Holds => assert_eq!(expected, "safe", "{name}, {}", engine.name()),
                Verdict::Violated(_) => assert_eq!(expected, "unsafe", "{name}, {}", engine.name()),
                Verdict::Unknown(_) => continue,
            }
            *answered += 1;
        }
    }
    assert!(by.iter().all(|&answered| answered > 0), "{by:?}");
}
