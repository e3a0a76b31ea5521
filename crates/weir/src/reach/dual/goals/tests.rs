//! Conditions of which only some leaves are known.

use weir_testkit::Rng;

use super::*;

fn drawn(rng: &mut Rng, depth: usize) -> StateExpr {
    if depth == 0 || rng.chance(20) {
        return if rng.chance(20) {
            Expr::Const(rng.below(3) as Value)
        } else {
            Expr::Leaf(StateAtom::Cell(rng.below(3) as Value))
        };
    }
    if rng.chance(15) {
        return Expr::unary(UnaryOp::Not, drawn(rng, depth - 1));
    }
    let operators = [BinaryOp::And, BinaryOp::Or, BinaryOp::Equal, BinaryOp::Less, BinaryOp::Add];
    Expr::binary(*rng.pick(&operators), drawn(rng, depth - 1), drawn(rng, depth - 1))
}

/// What is decided early is what it is whatever the rest holds; and with all leaves known everything is decided.
#[test]
fn what_is_decided_early_stays_so() {
    let (mut rng, mut early) = (Rng::new(7), 0);
    for _ in 0..3000 {
        let expr = drawn(&mut rng, 3);
        let known: Vec<Option<Value>> = (0..3).map(|_| rng.chance(50).then(|| rng.below(3) as Value)).collect();
        let cell = |atom: &StateAtom| if let StateAtom::Cell(cell) = atom { *cell as usize } else { 0 };
        let found = partial(&expr, &mut |atom| known[cell(atom)]);
        let mut all = true;
        for code in 0..27i64 {
            let cells = [code % 3, code / 3 % 3, code / 9];
            if known.iter().zip(cells).any(|(known, value)| known.is_some_and(|known| known != value)) {
                continue;
            }
            let value = expr.eval(&mut |atom| cells[cell(atom)]);
            assert_eq!(partial(&expr, &mut |atom| Some(cells[cell(atom)])), Some(value));
            all &= found.is_none_or(|found| found == value);
        }
        assert!(all, "{expr:?} with {known:?} is said to be {found:?}");
        early += u64::from(found.is_some() && known.iter().any(Option::is_none));
    }
    assert!(early > 300, "{early} decided early");
}

#[test]
fn one_side_of_and_and_or_can_decide() {
    let x = || Expr::Leaf(StateAtom::Cell(0));
    let y = || Expr::Leaf(StateAtom::Cell(1));
    let with = |x_is: Option<Value>, y_is: Option<Value>, expr: &StateExpr| {
        partial(expr, &mut |atom| if *atom == StateAtom::Cell(0) { x_is } else { y_is })
    };
    let (and, or) = (Expr::binary(BinaryOp::And, x(), y()), Expr::binary(BinaryOp::Or, x(), y()));
    for (one, other) in [(Some(0), None), (None, Some(0))] {
        assert_eq!((with(one, other, &and), with(one, other, &or)), (Some(0), None));
    }
    for (one, other) in [(Some(5), None), (None, Some(5))] {
        assert_eq!((with(one, other, &and), with(one, other, &or)), (None, Some(1)));
    }
}

/// Four cells of eight values each, and a sum that is known only once all of them are.
#[test]
fn a_limit_ends_the_listing_of_a_goal() {
    let stores = |cell: &str| (1..8).map(|value| format!("{cell} = {value}; ")).collect::<String>();
    let text = format!(
        "shared a, b, c, d; thread P {{ {} }} forbid a + b + c + d == 28;",
        ["a", "b", "c", "d"].map(stores).concat()
    );
    let source = weir_ir::Source::new("test.weir", text);
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
    let session = Session::default();
    let graphs = super::super::local_graph::build(&program, super::super::local_graph::Symmetry::Ignore, &session);
    let Ok(graphs) = graphs else { panic!("it can be handled") };
    let goal = Goal::Property(weir_ir::PropertyId(0));
    let targets = targets(&program, &graphs, &[goal]).expect("it can be handled");
    let covers = |session: &Session| goal_covers(&graphs, &targets[0], &[&[]], session);
    assert_eq!(covers(&session).map(|found| found.map(|list| list.len())), Ok(Some(1)));
    session.stop();
    assert_eq!(covers(&session), Err(Limit::Interrupted));
}
