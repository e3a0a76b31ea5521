//! Petri nets and thread transition systems: what texts mean, and texts that are large, broken or hostile.

use weir_ir::net::{Count, Move, Net, NetTransition};
use weir_ir::{ControlId, PlaceId, Source, Uninterrupted};
use weir_syntax::ParseError;
use weir_syntax::nets::{NetFormat, ParsedNet, ThreadQuestion, read_initial, read_target};
use weir_testkit::Rng;

fn read(format: NetFormat, text: &str) -> Result<ParsedNet, ParseError> {
    format.parse_until(&Source::new("test", text), &ThreadQuestion::default(), &Uninterrupted)
}

fn spec(text: &str) -> Net {
    read(NetFormat::Spec, text).unwrap_or_else(|error| panic!("{error}")).net
}

fn tts(text: &str) -> Net {
    read(NetFormat::Tts, text).unwrap_or_else(|error| panic!("{error}")).net
}

const X: PlaceId = PlaceId(0);
const Y: PlaceId = PlaceId(1);

/// What a rule over `x` and `y` needs, takes, moves and gives.
fn rule(text: &str) -> NetTransition {
    let net = spec(&format!("vars x y rules {text} init x = 0 target x >= 1"));
    assert_eq!(net.fault(), None);
    NetTransition { span: weir_ir::Span::default(), ..net.transitions[0].clone() }
}

#[test]
fn rules_take_move_and_give() {
    let plain = rule("x >= 2, x >= 1 -> x' = x - 1, y' = y + 3;");
    assert_eq!((plain.needs, plain.takes, plain.gives), (vec![(X, 2)], vec![(X, 1)], vec![(Y, 3)]));
    assert!(plain.moves.is_empty());
    let implied = rule("true -> x' = x - 4;");
    assert_eq!((implied.needs, implied.takes), (vec![(X, 4)], vec![(X, 4)]), "no count is negative");
    let transfer = rule("x >= 1 -> y' = y + x - 1 + 3, x' = 0;");
    assert_eq!((transfer.needs, transfer.takes, transfer.gives), (vec![(X, 1)], vec![], vec![(Y, 2)]));
    assert_eq!(transfer.moves, [Move { from: X, to: vec![Y] }]);
    let less = rule("x >= 1, y >= 1 -> y' = y + x - 2, x' = 0;");
    assert_eq!((less.takes, less.gives), (vec![(X, 1), (Y, 1)], vec![]));
    let swap = rule("true -> x' = y, y' = x;");
    assert_eq!(swap.moves, [Move { from: X, to: vec![Y] }, Move { from: Y, to: vec![X] }]);
    let reset = rule("true -> x' = 2;");
    assert_eq!((reset.moves, reset.gives), (vec![Move { from: X, to: vec![] }], vec![(X, 2)]));
    assert_eq!(rule("true -> ;"), NetTransition::default());
}

#[test]
fn questions_of_nets_are_read() {
    let net = spec("vars x y z rules init x = 2, y in [1, 4] target x >= 1, y = 2 z = 0 invariants x = 1");
    let count = |low, high| Count { low, high };
    assert_eq!(net.initial.counts, [count(2, Some(2)), count(1, Some(4)), count(0, None)]);
    assert_eq!(net.targets.len(), 2);
    assert_eq!((&net.targets[0].at_least, &net.targets[0].at_most), (&vec![(X, 1), (Y, 2)], &vec![(Y, 2)]));
    assert_eq!((&net.targets[1].at_least, &net.targets[1].at_most), (&vec![], &vec![(PlaceId(2), 0)]));
    assert!(!net.is_cover_question());
}

#[test]
fn thread_transitions_become_transitions_of_a_net() {
    let net =
        tts("# a comment\n2 3\n\n0 0 -> 1 1 # another\n1 1 +> 0 0\n0 0 -> 1 1 2 ~> 0 2 ~> 1 0 ~> 0\n1 2 ~> 0 1\n");
    assert_eq!((net.controls.len(), net.places.len(), net.fault()), (2, 3, None));
    let [step, spawn, moving, broadcast] = net.transitions.as_slice() else { panic!("{net:?}") };
    assert_eq!((step.from, step.to), (ControlId(0), ControlId(1)));
    assert_eq!((&step.needs, &step.takes, &step.gives), (&vec![(X, 1)], &vec![(X, 1)], &vec![(Y, 1)]));
    assert_eq!((&spawn.needs, &spawn.takes, &spawn.gives), (&vec![(Y, 1)], &vec![], &vec![(X, 1)]));
    assert_eq!(moving.moves, [Move { from: PlaceId(2), to: vec![X, Y] }]);
    assert_eq!((&moving.takes, &moving.gives), (&vec![(X, 1)], &vec![(Y, 1)]));
    assert_eq!((&broadcast.needs, &broadcast.gives), (&vec![], &vec![]));
    assert_eq!(broadcast.moves, [Move { from: PlaceId(2), to: vec![Y] }]);
    let unknown = Count { low: 0, high: None };
    let none = Count { low: 0, high: Some(0) };
    assert_eq!(net.initial.counts, [unknown, none, none]);
}

#[test]
fn questions_about_threads_are_read() {
    let target = read_target("3|0,2,0").expect("a target");
    assert_eq!((target.control, target.at_least), (Some(ControlId(3)), vec![(X, 2), (PlaceId(2), 1)]));
    assert!(read_target("3|").expect("a target").at_least.is_empty());
    for wrong in ["", "3", "x|0", "3|0,", "3|-1", "3|0 1", "99999999999|0"] {
        assert!(read_target(wrong).is_err(), "{wrong}");
    }
    let initial = Some(read_initial("1|1,1/0").expect("a start"));
    let question = ThreadQuestion { initial, targets: Vec::new() };
    let net = NetFormat::Tts.parse_until(&Source::new("test", "2 2\n"), &question, &Uninterrupted).expect("a net").net;
    assert_eq!(net.initial.control, ControlId(1));
    assert_eq!(net.initial.counts, [Count { low: 0, high: None }, Count { low: 2, high: Some(2) }]);
    assert!(NetFormat::Tts.parse_until(&Source::new("test", "1 2\n"), &question, &Uninterrupted).is_err());
}

/// Hundreds of thousands of tokens, names, rules and constraints are read or refused in linear time.
#[test]
fn large_texts_are_read_or_refused() {
    let names: String = (0..50_000).map(|number| format!("v{number} ")).collect();
    let constraints: Vec<String> = (0..50_000).map(|number| format!("v{number} = 0")).collect();
    let rules: String = (0..15_000).map(|number| format!("v{number} >= 1 -> v{number}' = v{number} - 1;\n")).collect();
    let large = format!("vars {names}\nrules {rules}\ninit {}\ntarget v7 >= 1", constraints.join(", "));
    assert_eq!(spec(&large).transitions.len(), 15_000);
    let unknown = format!("vars {names}\nrules {}\ninit v0 = 0\ntarget v7 >= 1", "u >= 1 -> u' = u;\n".repeat(12_000));
    assert!(read(NetFormat::Spec, &unknown).is_err());
    let sum =
        format!("vars {names} rules true -> v0' = {}1; init v0 = 0 target v0 >= 1", "1000000000 + ".repeat(70_000));
    assert!(read(NetFormat::Spec, &sum).is_err());
    assert!(read(NetFormat::Spec, &"[".repeat(1_000_000)).is_err());
    assert!(read(NetFormat::Spec, &format!("vars {}", "x ".repeat(700_000))).is_err());
    assert_eq!(tts(&format!("1000 1000\n{}", "0 0 -> 999 999\n".repeat(70_000))).transitions.len(), 70_000);
    assert!(read(NetFormat::Tts, &format!("2 2\n0 0 -> 1 1 {}", "0 ~> 1 ".repeat(100_000))).is_ok());
    assert!(read(NetFormat::Tts, &"x\n".repeat(700_000)).is_err());
}

/// Whatever is read is well-formed, and nothing panics.
#[test]
fn mutated_texts_are_read_or_refused() {
    let texts = [
        (
            NetFormat::Spec,
            "vars x y z\nrules x >= 1 -> y' = y + x - 1, x' = 0, z' = 3;\n true -> x' = x + 1;\n\
             init x >= 1, y in [0, 2]\ntarget x >= 1, y = 2\n z >= 3\ninvariants x = 1, y = 2\n",
        ),
        (NetFormat::Tts, "3 4\n0 0 -> 1 1\n1 1 +> 1 2 # new\n1 2 -> 2 3 0 ~> 1 0 ~> 2\n2 1 ~> 0 0\n"),
    ];
    let pieces = [
        "x",
        "y",
        "0",
        "1",
        "99999999999",
        "'",
        "=",
        ">=",
        "->",
        "~>",
        "+>",
        ",",
        ";",
        "\n",
        "[",
        "]",
        "in",
        "true",
        "é",
    ];
    let mut read_well = 0;
    for seed in 0..4_000 {
        let mut rng = Rng::new(seed);
        let (format, text) = *rng.pick(&texts);
        let mut words: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
        for _ in 0..rng.between(1, 3) {
            let at = rng.below(words.len());
            match rng.below(3) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, pieces[rng.below(pieces.len())]),
                _ => words[at] = pieces[rng.below(pieces.len())],
            }
        }
        if let Ok(found) = read(format, &words.concat()) {
            assert_eq!(found.net.fault(), None, "seed {seed}: {}", words.concat());
            read_well += 1;
        }
    }
    assert!(read_well > 100, "{read_well}");
}
