//! Endless buffers: chains without end, whose answers were worked out by hand.
//!
//! P stores 1 to x forever. With uniform updates, from n waiting stores it goes to any number from 0 to n + 1, all
//! equally likely; with geometric
//! ones of probability p, each store leaves with p as long as those before it do. So:
//!
//! - *Buffers are empty for the first time*, with uniform updates, after e = 2.718… steps on the average: the
//!   differences D(n) of the expected numbers of
//!   steps from n + 1 and from n stores satisfy D(n) = (n + 1)D(n − 1) − 1, and the only solution that does not explode
//!   begins with e − 2.
//!   With geometric ones, after p / (2p − 1): what leaves beyond the last store is as likely as at the start.
//! - *Nothing has left after n steps*, with uniform updates, with probability 1/(n + 1)!; with geometric ones, (1 −
//!   p)ⁿ. So whoever reads once,
//!   and is scheduled next with probability 1 − q at each step, reads 0 with probability (e^q − 1)(1 − q)/q, or (1 −
//!   q)/(1 − q(1 − p)).

use weir::prob::{
    Almost, Certainty, Interval, Obstacle, Question, almost, cost, curve, exact_probability, probability,
};
use weir::{Limit, Limits, Session};
use weir_ir::{Program, StateExpr};

use crate::naive::session;
use crate::odds::{BothOdds, Policy, UNIFORM};
use crate::targets::read;

/// Whether an interval is narrow and holds the value, which is known to a dozen digits.
fn fits(interval: Interval, value: f64, width: f64) -> bool {
    interval.width() <= width && interval.lower - 1e-12 <= value && value <= interval.upper + 1e-12
}

fn question(target: &StateExpr, odds: &BothOdds, repeated: bool) -> Question {
    Question { target: target.clone().into(), repeated, settings: odds.settings() }
}

pub(crate) fn check_probability(text: &str, odds: &BothOdds, repeated: bool, value: f64) {
    let (program, target) = read(text);
    let asked = question(&target, odds, repeated);
    let found = probability(&program, &asked, 1e-8, &session()).expect("it can be handled");
    assert!(found.obstacle.is_none() && fits(found.interval, value, 1e-8), "{odds:?} {found:?} {value} {text}");
    assert!(!found.is_complete, "it has no end: {text}");
}

fn check_cost(text: &str, odds: &BothOdds, value: f64) {
    let (program, target) = read(text);
    let found = cost(&program, &target, &odds.settings(), 1e-7, &session()).expect("it can be handled");
    let interval = found.cost.expect("it is reached");
    assert!(found.obstacle.is_none() && fits(interval, value, 1e-7 * value.max(1.0)), "{found:?} {value} {text}");
}

fn certainty(program: &Program, asked: &Question, which: Almost) -> Option<bool> {
    match almost(program, asked, which, &session()).expect("it can be handled").certainty {
        Certainty::Holds { .. } => Some(true),
        Certainty::Fails(_) => Some(false),
        Certainty::Unknown(_) => None,
    }
}

/// Checks almost surely and almost never.
pub(crate) fn check_almost(text: &str, odds: &BothOdds, repeated: bool, surely: bool, never: bool) {
    let (program, target) = read(text);
    let asked = question(&target, odds, repeated);
    let found = [Almost::Surely, Almost::Never].map(|which| certainty(&program, &asked, which));
    assert_eq!(found, [Some(surely), Some(never)], "repeated: {repeated} {odds:?} {text}");
}

fn geometric(above: u64, below: u64) -> BothOdds {
    BothOdds { updates: Policy::Geometric(above, below), ..UNIFORM }
}

const SINGLE: BothOdds = BothOdds { updates: Policy::Single, ..UNIFORM };

#[test]
fn buffers_are_empty_after_as_many_steps_as_was_worked_out() {
    let writer = |costs: &str| format!("{costs} shared x; thread P {{ loop {{ again: x = 1; }} }} forbid x == 1;");
    for (costs, factor) in [("cost store = 3; cost local = 7;", 3.0), ("cost store = 2; cost again = 5;", 5.0)] {
        check_cost(&writer(costs), &UNIFORM, factor * std::f64::consts::E);
    }
    check_cost(&writer(""), &geometric(4, 5), 4.0 / 3.0);
    for odds in [UNIFORM, geometric(3, 4), SINGLE] {
        check_probability(&writer(""), &odds, false, 1.0);
    }
    check_almost(&writer(""), &UNIFORM, true, true, false);
    check_almost(&writer(""), &SINGLE, false, true, false);
}

#[test]
fn endless_chains_have_no_exact_solution() {
    let (program, target) = read(&reader((1, 1), "", "Q at read && Q.r == 0"));
    let limits = Limits { states: Some(300), ..Limits::default() };
    let limited = Session::new(limits);
    let exact = exact_probability(&program, &question(&target, &UNIFORM, false), &limited);
    assert_eq!(exact.expect("it can be handled").obstacle(), Some(Obstacle::Limit(Limit::States)));
}

#[test]
fn nothing_bounds_how_long_buffers_take_if_they_drain_one_by_one() {
    let (program, target) = read("shared x; thread P { loop { x = 1; } } forbid x == 1;");
    let found = cost(&program, &target, &SINGLE.settings(), 1e-6, &session()).expect("it can be handled");
    assert_eq!(found.obstacle, Some(Obstacle::Unbounded));
    let interval = found.cost.expect("it is reached");
    assert!(interval.lower <= std::f64::consts::E && interval.upper == f64::INFINITY, "{interval:?}");
}

#[test]
fn the_first_steps_are_those_of_the_lengths_of_the_buffer() {
    // How likely each length is, step by step; what is empty has arrived.
    let (mut lengths, mut there) = (vec![1.0], 0.0);
    let (program, target) = read("shared x; thread P { loop { x = 1; } } forbid x == 1;");
    let found = curve(&program, &target, &UNIFORM.settings(), 30, &session()).expect("it can be handled");
    assert_eq!((found.points.len(), found.obstacle), (31, None));
    for point in found.points {
        assert!(fits(point, there, 1e-6), "{point:?} {there}");
        let mut next = vec![0.0; lengths.len() + 1];
        for (length, mass) in lengths.iter().enumerate() {
            next[..=length + 1].iter_mut().for_each(|next| *next += mass / (length + 2) as f64);
        }
        there += std::mem::replace(&mut next[0], 0.0);
        lengths = next;
    }
}

/// One who reads once, with what follows.
fn reader(weights: (u32, u32), then: &str, target: &str) -> String {
    let (p, q) = weights;
    format!(
        "shared x; thread P weight {p} {{ loop {{ x = 1; }} }}
        thread Q weight {q} {{ let r = x; read: skip; {then} }} forbid {target};"
    )
}

/// How likely Q reads 0, if P is scheduled with probability `first` at first and with `then` after its own steps.
fn unseen(first: f64, then: f64, stays: impl Fn(u32) -> f64) -> f64 {
    let steps = (1..60).map(|n| first * then.powi(n - 1) * (1.0 - then) * stays(n as u32));
    1.0 - first + steps.sum::<f64>()
}

fn one_over_factorial(n: u32) -> f64 {
    (1..=n + 1).fold(1.0, |product, factor| product / f64::from(factor))
}

#[test]
fn the_first_read_misses_all_stores_as_often_as_was_worked_out() {
    let unread = |weights| reader(weights, "", "Q at read && Q.r == 0");
    let closed = |share: f64| (share.exp() - 1.0) * (1.0 - share) / share;
    check_probability(&unread((1, 1)), &UNIFORM, false, closed(0.5));
    check_probability(&unread((2, 1)), &UNIFORM, false, closed(2.0 / 3.0));
    check_probability(&unread((1, 3)), &SINGLE, false, closed(0.25));
    check_probability(&reader((1, 3), "", "Q at read && Q.r == 1"), &UNIFORM, false, 1.0 - closed(0.25));
    check_probability(&unread((2, 1)), &geometric(9, 10), false, (1.0 / 3.0) / (1.0 - 0.2 / 3.0));
    check_probability(&unread((1, 1)), &geometric(3, 4), false, 0.5 / (1.0 - 0.125));
}

#[test]
fn a_thread_that_tends_to_go_on_is_overtaken_less_often() {
    for ((p, q), (above, below)) in [((1, 1), (9, 1)), ((2, 1), (1, 3)), ((1, 3), (5, 2))] {
        let share = f64::from(p) / f64::from(p + q);
        let weight = f64::from(p) * f64::from(above) / f64::from(below);
        let value = unseen(share, weight / (weight + f64::from(q)), one_over_factorial);
        let odds = BothOdds { stickiness: Some((above as u64, below as u64)), ..UNIFORM };
        check_probability(&reader((p, q), "", "Q at read && Q.r == 0"), &odds, false, value);
    }
}

#[test]
fn a_thread_that_has_read_a_zero_is_distinguished_forever() {
    let then = "if r == 0 { loop { low: skip; } } high: skip;";
    let low = std::f64::consts::E.sqrt() - 1.0;
    for (target, once, again, odds) in [
        ("Q at low", low, low, UNIFORM),
        ("Q at high", 1.0 - low, 0.0, SINGLE),
        ("Q at high && Q.r == 0", 0.0, 0.0, UNIFORM),
        // A condition of a cell that settles for good.
        ("x == 1 && Q at low", low, low, UNIFORM),
    ] {
        let text = reader((1, 1), then, target);
        check_probability(&text, &odds, false, once);
        check_probability(&text, &odds, true, again);
        check_almost(&text, &odds, false, false, once == 0.0);
        check_almost(&text, &odds, true, false, again == 0.0);
    }
}

#[test]
fn expected_costs_of_endless_chains_are_those_worked_out() {
    // Q is scheduled after as many steps of P as its odds say; its own costs come on top.
    let read = |weights| reader(weights, "", "Q at read");
    check_cost(&read((1, 1)), &UNIFORM, 2.0);
    check_cost(&format!("cost load = 10; cost store = 4; {}", read((3, 1))), &UNIFORM, 22.0);
    check_cost(&format!("cost load = 10; cost store = 4; {}", read((1, 2))), &geometric(4, 5), 12.0);
    check_cost(&format!("cost store = 0; cost read = 6; {}", reader((1, 1), "", "Q at end")), &UNIFORM, 7.0);
    // Over the runs that read 0 alone: they are shorter.
    let chance = std::f64::consts::E.sqrt() - 1.0;
    let stores: f64 = (1..60).map(|n| f64::from(n) * 0.5_f64.powi(n + 1) * one_over_factorial(n as u32)).sum();
    check_cost(&reader((1, 1), "", "Q at read && Q.r == 0"), &UNIFORM, 1.0 + stores / chance);
}

#[test]
fn two_buffers_never_drain_together_if_they_drain_one_by_one() {
    // Whoever is at its end here got there before R could see its store; so when R looks, both stores still wait, and R
    // or L move on before
    // the second of them has left. Only a policy that flushes from both buffers at once can get to this target.
    let text = "shared x, y, z, w;
        thread L { loop { w = 1; choose { skip; break; } or { skip; } } let l = z; k: skip; }
        thread P { x = 1; let p = z; }
        thread Q { y = 1; let q = z; }
        thread R { let a, b; z = 1; fence; a, b = x, y; m: skip; }
        forbid L at k && L.l == 0 && P at end && P.p == 0 && Q at end && Q.q == 0
            && R at m && R.a == 0 && R.b == 0 && x == 1 && y == 1;";
    let (program, target) = read(text);
    let ask = |odds: &BothOdds, which| certainty(&program, &question(&target, odds, false), which);
    assert_eq!(ask(&UNIFORM, Almost::Never), Some(false));
    assert_ne!(ask(&SINGLE, Almost::Never), Some(false));
}
