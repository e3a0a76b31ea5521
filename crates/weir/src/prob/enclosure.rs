//! Bounds for every expanded configuration at once, and for what comes after the last of them.
//!
//! Let A be the chain restricted to open, expanded configurations. Numbers h with h − Ah ≥ η > 0 everywhere bound the
//! expected number of steps inside by h/η, and any approximate solution x of x = d + Ax is off by at most the greatest
//! residual times h/η. So one vector h, found approximately and checked with safe rounding, certifies everything else.

use crate::session::Session;

use super::obstacle::Obstacle;
use super::prob01::Class;
use super::probability::Part;
use super::rounding::{add_down, add_up, divide_up, times_up, weighted_down, weighted_up};
use super::transitions::Transitions;
use super::visits::{System, is_inner};

/// What is certain of each configuration.
pub(super) struct Enclosure {
    /// The probability to reach the target is at least this,
    pub(super) lower: Vec<f64>,
    /// and at most this.
    pub(super) upper: Vec<f64>,
    /// The expected number of steps until the question is settled or an unexpanded configuration is met is at most
    /// this.
    pub(super) steps: Vec<f64>,
    /// Whether no open configuration is unexpanded.
    pub(super) is_closed: bool,
}

/// How many steps an unexpanded configuration may still be away from where the question is settled.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Tail {
    /// On the average at most this many.
    Bounded { steps: f64 },
    /// Not known yet: large buffers are too likely from these drained configurations on.
    Loose(Vec<usize>),
    /// Nothing bounds it.
    Unknown(Obstacle),
}

impl Tail {
    pub(super) fn steps(&self) -> f64 {
        if let Self::Bounded { steps } = self { *steps } else { f64::INFINITY }
    }
}

/// Approximate solutions, for every configuration.
struct Solution {
    /// The expected number of steps inside.
    h: Vec<f64>,
    /// The probability to reach the target if unexpanded configurations never do,
    pessimist: Vec<f64>,
    /// and if they always do.
    optimist: Vec<f64>,
}

/// The probability to reach the target from a configuration whose class is known, or from any other as given.
fn value_outside(classes: &[Class], open: f64) -> impl Fn(usize) -> f64 {
    move |number: usize| match classes[number] {
        Class::Prob1 => 1.0,
        Class::Prob0 => 0.0,
        Class::Open => open,
    }
}

fn is_closed(graph: &Transitions, classes: &[Class]) -> bool {
    (0..graph.len()).all(|number| classes[number] != Class::Open || graph.is_expanded(number))
}

impl Enclosure {
    pub(super) fn new(graph: &Transitions, classes: &[Class], session: &Session) -> Self {
        let count = graph.len();
        let inner: Vec<usize> = (0..count).filter(|&number| is_inner(graph, classes, number)).collect();
        let is_closed = is_closed(graph, classes);
        let system = System::new(graph, classes);
        let everywhere: Vec<(usize, f64)> = inner.iter().map(|&number| (number, 1.0)).collect();
        let visits = system.visits(&everywhere, 1e-3, session);
        // Rounding can leave a value a little below 0, where it makes no sense; and what is no number would be lost in
        // comparisons.
        let sensible = |value: f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
        let solve =
            |d: &[f64]| -> Vec<f64> { system.values(d, &visits, 1e-13, session).into_iter().map(sensible).collect() };
        let ones: Vec<f64> =
            (0..count).map(|number| if is_inner(graph, classes, number) { 1.0 } else { 0.0 }).collect();
        let h = solve(&ones);
        let weight = |unexpanded: f64| value_outside(classes, unexpanded);
        let pessimist = solve(&outward(graph, &inner, weight(0.0), classes));
        let optimist = if is_closed { pessimist.clone() } else { solve(&outward(graph, &inner, weight(1.0), classes)) };
        Self::certified(graph, classes, &Solution { h, pessimist, optimist })
    }

    /// What is certain given a solution, whatever it is: its error is bounded here, or it is not used.
    fn certified(graph: &Transitions, classes: &[Class], solution: &Solution) -> Self {
        let count = graph.len();
        let inner: Vec<usize> = (0..count).filter(|&number| is_inner(graph, classes, number)).collect();
        let Solution { h, pessimist, optimist } = solution;
        let slack = inner.iter().map(|&at| slack(graph, classes, at, h)).fold(f64::INFINITY, f64::min);
        let error = |x: &[f64], unexpanded: f64| {
            let weight = value_outside(classes, unexpanded);
            let residuals = inner.iter().map(|&at| residual(graph, classes, at, x, &weight));
            divide_up(residuals.fold(0.0, f64::max), slack)
        };
        let (below, above) = (error(pessimist, 0.0), error(optimist, 1.0));
        let mut all = Self {
            lower: (0..count).map(value_outside(classes, 0.0)).collect(),
            upper: (0..count).map(value_outside(classes, 1.0)).collect(),
            steps: vec![0.0; count],
            is_closed: is_closed(graph, classes),
        };
        for &at in &inner {
            all.steps[at] = divide_up(h[at], slack);
            // An error without a bound would vanish where h is 0.
            if slack > 0.0 {
                all.lower[at] = add_down(pessimist[at], -times_up(below, h[at])).clamp(0.0, 1.0);
                all.upper[at] = add_up(optimist[at], times_up(above, h[at])).clamp(0.0, 1.0);
            }
        }
        all
    }

    /// How far away the end is behind the last expanded configurations.
    ///
    /// From anywhere, buffers are empty after R steps on the average, and every drained configuration that can turn up
    /// was expanded. From the worst of these, let it take h steps to settle the question or to meet an unexpanded
    /// configuration, the latter with probability q. Then settling it takes at most D = (h + qR) / (1 − q) steps from
    /// there, and R + D from anywhere.
    pub(super) fn tail<const N: usize>(&self, part: &Part<'_, '_, N>, classes: &[Class]) -> Tail {
        if self.is_closed {
            return Tail::Bounded { steps: 0.0 };
        }
        let graph = &part.graph;
        let Some(drained) = part.drained_roots() else { return Tail::Unknown(Obstacle::Unbounded) };
        let open = (0..graph.len()).filter(|&at| classes[at] == Class::Open && !graph.is_expanded(at));
        let largest = open.map(|at| graph.chain.model.size(&graph.config(at).state)).max().unwrap_or(0);
        let Some(drains) = graph.chain.model.steps_to_drain(largest) else { return Tail::Unknown(Obstacle::Unbounded) };
        let roots: Vec<usize> = drained.into_iter().filter(|&root| classes[root] == Class::Open).collect();
        let (mut longest, mut worst) = (0.0_f64, 0.0_f64);
        for &root in &roots {
            if !graph.is_expanded(root) {
                return Tail::Loose(roots);
            }
            longest = longest.max(self.steps[root]);
            worst = worst.max(add_up(self.upper[root], -self.lower[root]));
        }
        if worst > 0.5 || !longest.is_finite() {
            return Tail::Loose(roots);
        }
        let from_drained = divide_up(add_up(longest, times_up(worst, drains)), add_down(1.0, -worst));
        Tail::Bounded { steps: add_up(drains, from_drained) }
    }
}

/// For each expanded open configuration, what the next step yields outside of them.
fn outward(graph: &Transitions, inner: &[usize], weight: impl Fn(usize) -> f64, classes: &[Class]) -> Vec<f64> {
    let mut d = vec![0.0; graph.len()];
    for &at in inner {
        let outside = graph.row(at).iter().filter(|entry| !is_inner(graph, classes, entry.to as usize));
        d[at] = outside.map(|entry| entry.p * weight(entry.to as usize)).sum();
    }
    d
}

/// At most h − Ah at one configuration.
fn slack(graph: &Transitions, classes: &[Class], at: usize, h: &[f64]) -> f64 {
    if h[at] < 0.0 || !h[at].is_finite() {
        return f64::NEG_INFINITY;
    }
    let inside = graph.row(at).iter().filter(|entry| is_inner(graph, classes, entry.to as usize));
    let ahead = inside.fold(0.0, |sum, entry| add_up(sum, weighted_up(h[entry.to as usize].max(0.0), entry.p)));
    add_down(h[at], -ahead)
}

/// At least |x − d − Ax| at one configuration.
fn residual(graph: &Transitions, classes: &[Class], at: usize, x: &[f64], weight: &impl Fn(usize) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 0.0);
    for entry in graph.row(at) {
        let to = entry.to as usize;
        let value = if is_inner(graph, classes, to) { x[to] } else { weight(to) };
        low = add_down(low, weighted_down(value, entry.p));
        high = add_up(high, weighted_up(value, entry.p));
    }
    add_up(high, -x[at]).max(add_up(x[at], -low)).max(0.0)
}

#[cfg(test)]
mod tests {
    use weir_testkit::Rng;

    use super::*;
    use crate::prob::chain::{Chain, Config, Visitor, with_chain};
    use crate::prob::testing::{all_settings, iterate, model};
    use crate::session::Session;

    /// Encloses what is known with buffers of at most this size, and compares it with plain iteration.
    struct Comparison {
        size: usize,
    }

    impl Visitor for Comparison {
        type Output = ();

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) {
            let session = Session::default();
            let mut part = Part::new(chain, false);
            assert!(part.expand_up_to(self.size, &session).is_none());
            let classes = part.classifier.classes(&part.graph);
            let found = Enclosure::new(&part.graph, &classes, &session);
            let graph = &part.graph;
            let yes = |unexpanded: f64| {
                let classes = &classes;
                move |at: usize| match classes[at] {
                    Class::Prob1 => 1.0,
                    Class::Prob0 => 0.0,
                    Class::Open => unexpanded,
                }
            };
            let (lower, upper) = (iterate(graph, &classes, 0.0, yes(0.0)), iterate(graph, &classes, 0.0, yes(1.0)));
            let steps = iterate(graph, &classes, 1.0, |_| 0.0);
            let near = |left: f64, right: f64| (left - right).abs() < 1e-6;
            for at in 0..graph.len() {
                assert!(found.lower[at] <= lower[at] + 1e-9 && near(found.lower[at], lower[at]), "{at}");
                assert!(found.upper[at] >= upper[at] - 1e-9 && near(found.upper[at], upper[at]), "{at}");
                let least = steps[at] - 1e-9;
                assert!(found.steps[at] >= least && found.steps[at] <= 1.01 * steps[at] + 1e-6, "{at} {steps:?}");
            }
            let open = |at: usize| classes[at] == Class::Open && !graph.is_expanded(at);
            assert_eq!(found.is_closed, !(0..graph.len()).any(open));
            if found.is_closed {
                assert_eq!(found.tail(&part, &classes), Tail::Bounded { steps: 0.0 });
            }
        }
    }

    #[test]
    fn every_configuration_is_enclosed() {
        let endless = "shared x; thread P { loop { x = 1; } } thread Q { let r = x; if r == 0 { skip; low: skip; } } forbid Q at low;";
        let finite = "shared x, y; thread P { x = 1; let r = y; } thread Q { y = 1; let s = x; }
            forbid P at end && P.r == 0 && Q at end && Q.s == 0;";
        for settings in all_settings() {
            for size in [1, 2, 3] {
                with_chain(&model(endless, &settings), Comparison { size });
            }
            with_chain(&model(finite, &settings), Comparison { size: 9 });
        }
    }

    /// Takes made-up numbers for solutions, good ones and bad ones. What is certified by them is true, and how much
    /// that is grows with how good they are.
    struct MadeUp {
        size: usize,
    }

    impl Visitor for MadeUp {
        /// How often something was certified, and how often not.
        type Output = [usize; 2];

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output {
            let session = Session::default();
            let mut part = Part::new(chain, false);
            assert!(part.expand_up_to(self.size, &session).is_none());
            let classes = part.classifier.classes(&part.graph);
            let graph = &part.graph;
            let lower = iterate(graph, &classes, 0.0, value_outside(&classes, 0.0));
            let upper = iterate(graph, &classes, 0.0, value_outside(&classes, 1.0));
            let steps = iterate(graph, &classes, 1.0, |_| 0.0);
            let (mut rng, mut counts) = (Rng::new(7), [0; 2]);
            for round in 0..60 {
                // One number in three is wrong, by a little or altogether; or none is.
                let mut wrong = |truth: &[f64], by: f64| -> Vec<f64> {
                    let off = |value: f64, way: usize| match way {
                        0 => (value - by).max(0.0),
                        1 => value + by,
                        2 => 0.0,
                        _ => value,
                    };
                    truth.iter().map(|&value| off(value, rng.below(if round % 3 == 0 { 3 } else { 9 }))).collect()
                };
                let solution = Solution {
                    h: match round % 4 {
                        0 => steps.clone(),
                        1 => vec![0.0; steps.len()],
                        _ => wrong(&steps, 0.3),
                    },
                    pessimist: wrong(&lower, 0.1),
                    optimist: wrong(&upper, 0.1),
                };
                let found = Enclosure::certified(graph, &classes, &solution);
                for at in (0..graph.len()).filter(|&at| is_inner(graph, &classes, at)) {
                    assert!(found.lower[at] <= lower[at] + 1e-9, "{at} {} {}", found.lower[at], lower[at]);
                    assert!(found.upper[at] >= upper[at] - 1e-9, "{at} {} {}", found.upper[at], upper[at]);
                    assert!(found.steps[at] >= steps[at] - 1e-6, "{at} {} {}", found.steps[at], steps[at]);
                    counts[usize::from(found.steps[at].is_finite())] += 1;
                    if round % 4 == 0 {
                        assert!(found.steps[at] <= steps[at] + 1e-6, "{at} {} {}", found.steps[at], steps[at]);
                    }
                }
            }
            counts
        }
    }

    #[test]
    fn nothing_is_certified_by_made_up_numbers_that_is_not_true() {
        let text = "shared x; thread P { loop { x = 1; } } thread Q { let r = x; if r == 0 { skip; low: skip; } } forbid Q at low;";
        for size in [1, 2, 3] {
            let counts = with_chain(&model(text, &Default::default()), MadeUp { size });
            assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
        }
    }

    /// Encloses with a solver that is stopped at once.
    struct Hurried;

    impl Visitor for Hurried {
        type Output = ();

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) {
            let session = Session::default();
            let mut part = Part::new(chain, false);
            assert!(part.expand_up_to(9, &session).is_none());
            let classes = part.classifier.classes(&part.graph);
            session.stop();
            let found = Enclosure::new(&part.graph, &classes, &session);
            let steps = iterate(&part.graph, &classes, 1.0, |_| 0.0);
            for (found, known) in found.steps.iter().zip(&steps) {
                assert!(*found >= known - 1e-6, "{found} for {known}");
            }
            assert!(found.lower.iter().zip(&found.upper).all(|(lower, upper)| lower <= upper));
        }
    }

    /// A solver that is stopped early encloses less closely, not wrongly.
    #[test]
    fn what_was_not_solved_to_the_end_is_enclosed_all_the_same() {
        let text =
            "shared x; thread P { loop { let r = any 0..999; if r == 0 { break; } x = 1; fence; x = 2; fence; } skip; }
            forbid P at end;";
        with_chain(&model(text, &Default::default()), Hurried);
    }

    /// What is said of an endless chain of which all drained configurations are known, and those around them.
    struct Far;

    impl Visitor for Far {
        type Output = (Tail, f64);

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output {
            let session = Session::default();
            let mut part = Part::new(chain, false);
            assert!(part.begin_with(2, &session).is_none());
            assert!(part.expand_drained(3, &session).is_none());
            let classes = part.classifier.classes(&part.graph);
            let found = Enclosure::new(&part.graph, &classes, &session);
            let roots: Vec<usize> = part.drained_roots().expect("they are known");
            let open: Vec<usize> = roots.into_iter().filter(|&root| classes[root] == Class::Open).collect();
            let worst = |of: &dyn Fn(usize) -> f64| open.iter().map(|&root| of(root)).fold(0.0, f64::max);
            let (longest, leaks) = (worst(&|at| found.steps[at]), worst(&|at| found.upper[at] - found.lower[at]));
            let drains = chain.model.steps_to_drain(4).expect("it is known");
            (found.tail(&part, &classes), drains + (longest + leaks * drains) / (1.0 - leaks))
        }
    }

    /// Whether the tail is bounded exactly if unexpanded configurations are not too likely; with buffers of this size
    /// expanded, and with bounds that are made up.
    struct Bounded {
        size: usize,
    }

    impl Visitor for Bounded {
        type Output = bool;

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> bool {
            let session = Session::default();
            let mut part = Part::new(chain, false);
            assert!(part.begin_with(2, &session).is_none());
            let states: Vec<_> = part.classifier.abstraction.iter().flat_map(|all| all.drained(chain)).collect();
            for (_, state) in states {
                for last in chain.lasts() {
                    part.graph.add(Config { state, last });
                }
            }
            let open = |part: &mut Part<'_, '_, N>| {
                let classes = part.classifier.classes(&part.graph);
                let roots: Vec<usize> = part.drained_roots().expect("they are known");
                let open = roots.into_iter().filter(|&root| classes[root] == Class::Open).collect::<Vec<usize>>();
                (classes, open)
            };
            let (classes, roots) = open(&mut part);
            assert!(roots.iter().any(|&root| !part.graph.is_expanded(root)));
            let found = Enclosure::new(&part.graph, &classes, &session);
            assert_eq!(found.tail(&part, &classes), Tail::Loose(roots), "not all are expanded");
            assert!(part.expand_drained(self.size, &session).is_none());
            let (classes, roots) = open(&mut part);
            let mut found = Enclosure::new(&part.graph, &classes, &session);
            let worst = roots.iter().map(|&root| found.upper[root] - found.lower[root]).fold(0.0, f64::max);
            let is_bounded = matches!(found.tail(&part, &classes), Tail::Bounded { .. });
            assert_eq!(is_bounded, worst <= 0.5, "{worst}");
            let count = part.graph.len();
            for (width, steps, is_bounded) in
                [(0.5, 1.0, true), (0.51, 1.0, false), (0.1, f64::INFINITY, false), (0.1, 1e9, true), (1.0, 1.0, false)]
            {
                found = Enclosure {
                    lower: vec![0.0; count],
                    upper: vec![width; count],
                    steps: vec![steps; count],
                    ..found
                };
                let tail = found.tail(&part, &classes);
                let expected =
                    if is_bounded { matches!(tail, Tail::Bounded { .. }) } else { tail == Tail::Loose(roots.clone()) };
                assert!(expected, "{width} {steps} {tail:?}");
            }
            is_bounded
        }
    }

    #[test]
    fn the_way_is_bounded_only_where_most_of_it_is_known() {
        let mut counts = [0; 2];
        for weight in [1, 3, 9] {
            let text = format!(
                "shared x; thread P weight {weight} {{ loop {{ x = 1; }} }} thread Q {{ let r = x; low: skip; }}
                forbid Q at low && Q.r == 1;"
            );
            for size in 0..4 {
                counts[usize::from(with_chain(&model(&text, &Default::default()), Bounded { size }))] += 1;
            }
        }
        assert!(counts.iter().all(|&count| count > 1), "{counts:?}");
    }

    #[test]
    fn the_way_behind_the_last_expanded_configurations_is_bounded() {
        let text =
            "shared x; thread P { loop { x = 1; } } thread Q { let r = x; low: skip; } forbid Q at low && Q.r == 1;";
        let (found, proved) = with_chain(&model(text, &Default::default()), Far);
        let Tail::Bounded { steps } = found else { panic!("{found:?}") };
        assert!(proved * (1.0 - 1e-9) <= steps && steps <= proved * (1.0 + 1e-9), "{steps} {proved}");
    }
}
