//! How often each configuration is visited before the question is settled, approximately.
//!
//! The numbers solve v = s + vP over the open, expanded configurations, with s the start. They are found loop by loop
//! (strongly connected component by component) in the direction of time, inside a loop by Gauss-Seidel sweeps. After
//! each sweep all numbers of the loop are scaled so that what flows out is what flows in: that is what takes longest to
//! come about by itself when a loop is seldom left. Nothing rests on the result being exact: see
//! [`bounds`](super::bounds).

use weir_ir::sort::sort_by_key;

use crate::bounds::Bound;
use crate::session::{Progress, Session};

use super::prob01::Class;
use super::transitions::{Backward, Transitions};

/// The loops of the open part of a graph, in the direction of time.
pub(super) struct Loops {
    /// The members of each loop, in an order in which most edges lead on.
    pub(super) members: Vec<Vec<u32>>,
    /// The loop of each configuration; `u32::MAX` for those that are not open or not expanded.
    pub(super) of: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// Whether the numbers of visits of a configuration are asked for.
pub(super) fn is_inner(graph: &Transitions, classes: &[Class], number: usize) -> bool {
    classes[number] == Class::Open && graph.is_expanded(number)
}

impl Loops {
    /// Tarjan's algorithm, without recursion.
    pub(super) fn new(graph: &Transitions, classes: &[Class]) -> Self {
        let count = graph.len();
        let (mut index, mut low) = (vec![NONE; count], vec![NONE; count]);
        let (mut of, mut finish) = (vec![NONE; count], vec![0_u32; count]);
        let (mut stack, mut path): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
        let mut members: Vec<Vec<u32>> = Vec::new();
        let (mut next, mut finished) = (0, 0);
        for root in 0..count {
            if index[root] != NONE || !is_inner(graph, classes, root) {
                continue;
            }
            path.push((root as u32, 0));
            while let Some((at, position)) = path.last_mut() {
                let node = *at as usize;
                if *position == 0 {
                    (index[node], low[node]) = (next, next);
                    next += 1;
                    stack.push(*at);
                }
                let row = graph.row(node);
                if let Some(entry) = row.get(*position) {
                    *position += 1;
                    let to = entry.to as usize;
                    if index[to] == NONE && is_inner(graph, classes, to) {
                        path.push((entry.to, 0));
                    } else if index[to] != NONE && of[to] == NONE {
                        low[node] = low[node].min(index[to]);
                    }
                    continue;
                }
                path.pop();
                finish[node] = finished;
                finished += 1;
                if let Some(&(parent, _)) = path.last() {
                    low[parent as usize] = low[parent as usize].min(low[node]);
                }
                if low[node] == index[node] {
                    let at = stack.iter().rposition(|&other| other as usize == node).unwrap_or(0);
                    let mut found = stack.split_off(at);
                    found.iter().for_each(|&member| of[member as usize] = members.len() as u32);
                    sort_by_key(&mut found, |&member| std::cmp::Reverse(finish[member as usize]));
                    members.push(found);
                }
            }
        }
        // Tarjan finds the last loops first.
        members.reverse();
        let last = members.len().wrapping_sub(1) as u32;
        of.iter_mut().filter(|of| **of != NONE).for_each(|of| *of = last - *of);
        Self { members, of }
    }
}

/// A linear system over the open part of a graph.
pub(super) struct System<'g> {
    pub(super) graph: &'g Transitions,
    pub(super) loops: Loops,
    backward: Backward,
    /// For each configuration, the probability to stay where it is.
    stays: Vec<f64>,
    /// For each configuration, the probability to leave its loop.
    leaves: Vec<f64>,
}

/// Changes that are no larger than this, beside what changes, are rounding: they do not become smaller.
const ROUNDING: f64 = 1e-15;

impl<'g> System<'g> {
    pub(super) fn new(graph: &'g Transitions, classes: &[Class]) -> Self {
        let loops = Loops::new(graph, classes);
        let backward = graph.backward(|number| loops.of[number] != NONE);
        let (mut stays, mut leaves) = (vec![0.0; graph.len()], vec![0.0; graph.len()]);
        for number in (0..graph.len()).filter(|&number| loops.of[number] != NONE) {
            for entry in graph.row(number) {
                if entry.to as usize == number {
                    stays[number] += entry.p;
                } else if loops.of[entry.to as usize] != loops.of[number] {
                    leaves[number] += entry.p;
                }
            }
        }
        Self { graph, loops, backward, stays, leaves }
    }

    /// The expected numbers of visits from the start given, to about this precision where time allows. Never negative.
    pub(super) fn visits(&self, start: &[(usize, f64)], precision: f64, session: &Session) -> Vec<f64> {
        let mut inflow = vec![0.0; self.graph.len()];
        start.iter().for_each(|&(number, mass)| inflow[number] += mass);
        let mut visits = vec![0.0; self.graph.len()];
        for (number, members) in self.loops.members.iter().enumerate() {
            let total: f64 = members.iter().map(|&member| inflow[member as usize]).sum();
            if total <= 0.0 {
                continue;
            }
            self.balance(number as u32, members, (&inflow, total), &mut visits, (precision, session));
            for &member in members {
                let mass = visits[member as usize];
                for entry in self.graph.row(member as usize) {
                    if self.loops.of[entry.to as usize] != number as u32 {
                        inflow[entry.to as usize] += mass * entry.p;
                    }
                }
            }
        }
        visits
    }

    fn balance(
        &self,
        number: u32,
        members: &[u32],
        (inflow, total): (&[f64], f64),
        visits: &mut [f64],
        (precision, session): (f64, &Session),
    ) {
        for sweep in 0..session.size_bound(Bound::ProbSweeps) {
            let (mut change, mut outflow, mut sum) = (0.0, 0.0, 0.0);
            for &member in members {
                let at = member as usize;
                let from_within = self
                    .backward
                    .of(at)
                    .iter()
                    .filter(|&&(from, _)| from != member && self.loops.of[from as usize] == number);
                let mass: f64 = from_within.map(|&(from, p)| visits[from as usize] * p).sum();
                let stays = 1.0 - self.stays[at];
                let value = if stays > 0.0 { (inflow[at] + mass) / stays } else { 0.0 };
                change += (value - visits[at]).abs() * stays;
                visits[at] = value;
                outflow += value * self.leaves[at];
                sum += value;
            }
            if members.len() == 1 || change <= (precision * total).max(ROUNDING * sum) {
                return;
            }
            let scale = total / outflow;
            if scale.is_finite() && scale > 0.0 {
                members.iter().for_each(|&member| visits[member as usize] *= scale);
            }
            if sweep % 16 == 15 && self.is_over(session) {
                return;
            }
        }
    }

    /// Solves x = d + Px, where x is 0 outside of the open, expanded configurations, to about this precision where time
    /// allows.
    ///
    /// Inside a loop all values are moved by what makes the equations hold on the average, weighed by how often
    /// configurations are visited: a loop that is seldom left has nearly the same value everywhere, and finding that
    /// takes longest otherwise.
    pub(super) fn values(&self, d: &[f64], visits: &[f64], precision: f64, session: &Session) -> Vec<f64> {
        let mut values = vec![0.0; self.graph.len()];
        for members in self.loops.members.iter().rev() {
            let outflow: f64 = members.iter().map(|&at| visits[at as usize] * self.leaves[at as usize]).sum();
            for sweep in 0..session.size_bound(Bound::ProbSweeps) {
                let (mut change, mut greatest) = (0.0_f64, 0.0_f64);
                for &member in members.iter().rev() {
                    let at = member as usize;
                    let value = self.value(at, d, &values);
                    change = change.max((value - values[at]).abs());
                    greatest = greatest.max(value.abs());
                    values[at] = value;
                }
                if members.len() == 1 || change <= precision * greatest {
                    break;
                }
                if sweep % 16 == 15 && self.is_over(session) {
                    return values;
                }
                self.shift(members, (d, visits, outflow), &mut values);
            }
        }
        values
    }

    /// Whether a limit has been reached; reports progress.
    fn is_over(&self, session: &Session) -> bool {
        session.report(Progress { states: self.graph.len() as u64, unit: "configurations", ..Progress::default() });
        session.exceeded().is_some()
    }

    fn value(&self, at: usize, d: &[f64], values: &[f64]) -> f64 {
        let inner = |to: usize| self.loops.of[to] != NONE && to != at;
        let entries = self.graph.row(at).iter().filter(|entry| inner(entry.to as usize));
        let sum: f64 = entries.map(|entry| entry.p * values[entry.to as usize]).sum();
        let stays = 1.0 - self.stays[at];
        if stays > 0.0 { (d[at] + sum) / stays } else { 0.0 }
    }

    fn shift(&self, members: &[u32], (d, visits, outflow): (&[f64], &[f64], f64), values: &mut [f64]) {
        let residual = |&at: &u32| {
            let at = at as usize;
            (self.value(at, d, values) - values[at]) * (1.0 - self.stays[at]) * visits[at]
        };
        let shift = members.iter().map(residual).sum::<f64>() / outflow;
        if shift.is_finite() {
            members.iter().for_each(|&at| values[at as usize] += shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prob::chain::{Chain, Visitor, with_chain};
    use crate::prob::probability::Part;
    use crate::prob::testing::{all_settings, iterate, model};
    use crate::session::Session;

    /// Loops within loops, seldom left, and ways between them.
    const LOOPS: &str = "shared x;
        thread P { let r; while r == 0 { r = any 0..2; while r == 1 { r = any 0..1; } } x = r; }
        thread Q { let s; loop { s = x; if s == 2 { skip; break; } choose { skip; break; } or { skip; } } low: skip; }
        forbid Q at low && Q.s == 2;";

    struct Checks;

    impl Visitor for Checks {
        type Output = ();

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) {
            let session = Session::default();
            let mut part = Part::new(chain, false);
            assert!(part.begin(&session).is_none());
            let classes = part.classifier.classes(&part.graph);
            let graph = &part.graph;
            let system = System::new(graph, &classes);
            loops_are_components(graph, &classes, &system.loops);
            numbers_of_visits_balance(graph, &classes, &system.visits(&[(0, 1.0)], 1e-12, &session));
            let ones: Vec<f64> =
                (0..graph.len()).map(|at| f64::from(u8::from(is_inner(graph, &classes, at)))).collect();
            let everywhere: Vec<(usize, f64)> =
                ones.iter().copied().enumerate().filter(|&(_, one)| one > 0.0).collect();
            let visits = system.visits(&everywhere, 1e-3, &session);
            let values = system.values(&ones, &visits, 1e-13, &session);
            for (at, (value, truth)) in values.iter().zip(iterate(graph, &classes, 1.0, |_| 0.0)).enumerate() {
                assert!((value - truth).abs() <= 1e-8 * truth.max(1.0), "{at} {value} {truth}");
            }
        }
    }

    /// Who can reach each other are in one loop; every way between loops leads on.
    fn loops_are_components(graph: &Transitions, classes: &[Class], loops: &Loops) {
        let inner: Vec<usize> = (0..graph.len()).filter(|&at| is_inner(graph, classes, at)).collect();
        let backward = graph.backward(|number| is_inner(graph, classes, number));
        let reaches: Vec<Vec<bool>> =
            inner.iter().map(|&goal| graph.can_reach(&backward, |number| number == goal)).collect();
        for (left, &one) in inner.iter().enumerate() {
            for (right, &other) in inner.iter().enumerate() {
                let together = reaches[right][one] && reaches[left][other];
                assert_eq!(loops.of[one] == loops.of[other], together, "{one} {other}");
            }
            let own = &loops.members[loops.of[one] as usize];
            assert_eq!(own.iter().filter(|&&member| member as usize == one).count(), 1);
            let ways = graph.row(one).iter().map(|entry| entry.to as usize).filter(|&to| is_inner(graph, classes, to));
            ways.for_each(|to| assert!(loops.of[one] <= loops.of[to], "{one} {to}"));
        }
        assert_eq!(loops.members.iter().map(Vec::len).sum::<usize>(), inner.len());
        let outside = (0..graph.len()).filter(|at| !inner.contains(at));
        outside.for_each(|at| assert_eq!(loops.of[at], NONE));
        assert!(
            loops.members.iter().any(|members| members.len() > 3) && loops.members.len() > 3,
            "loops of every size"
        );
    }

    fn numbers_of_visits_balance(graph: &Transitions, classes: &[Class], visits: &[f64]) {
        let mut inflow = vec![0.0; graph.len()];
        inflow[0] = 1.0;
        for at in (0..graph.len()).filter(|&at| is_inner(graph, classes, at)) {
            graph.row(at).iter().for_each(|entry| inflow[entry.to as usize] += visits[at] * entry.p);
        }
        for at in 0..graph.len() {
            let wanted = if is_inner(graph, classes, at) { inflow[at] } else { 0.0 };
            assert!((visits[at] - wanted).abs() < 1e-10 * wanted.max(1.0), "{at} {} {wanted}", visits[at]);
        }
    }

    /// Loops that are seldom left, one after the other: after four thousand steps or so.
    const SELDOM: &str = "thread P {
            loop { let a = any 0..9; if a == 0 { a = any 0..9; if a == 0 { a = any 0..9; if a == 0 { break; } } } }
            loop { let a = any 0..9; if a == 0 { a = any 0..9; if a == 0 { a = any 0..9; if a == 0 { break; } } } }
            choose { skip; low: skip; } or { skip; }
        } forbid P at low;";

    struct Hurried;

    impl Visitor for Hurried {
        type Output = ();

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) {
            let session = Session::default();
            let mut part = Part::new(chain, false);
            assert!(part.begin(&session).is_none());
            let classes = part.classifier.classes(&part.graph);
            let (graph, system) = (&part.graph, System::new(&part.graph, &classes));
            let inner: Vec<usize> = (0..graph.len()).filter(|&at| is_inner(graph, &classes, at)).collect();
            let mut ones = vec![0.0; graph.len()];
            inner.iter().for_each(|&at| ones[at] = 1.0);
            let everywhere: Vec<(usize, f64)> = inner.iter().map(|&at| (at, 1.0)).collect();
            // Plain sweeps would take thousands.
            let few = Session::default().with_bound(Bound::ProbSweeps, 300);
            numbers_of_visits_balance(graph, &classes, &system.visits(&[(0, 1.0)], 1e-12, &few));
            let visits = system.visits(&everywhere, 1e-3, &few);
            let values = system.values(&ones, &visits, 1e-13, &few);
            let truth = system.values(&ones, &visits, 1e-13, &session);
            assert!(truth[0] > 4_000.0, "{}", truth[0]);
            for &at in &inner {
                let ahead: f64 = graph.row(at).iter().map(|entry| entry.p * truth[entry.to as usize]).sum();
                assert!((truth[at] - 1.0 - ahead).abs() < 1e-6, "{at} {} {ahead}", truth[at]);
                assert!((values[at] - truth[at]).abs() < 1e-6 * truth[at], "{at} {} {}", values[at], truth[at]);
            }
            // No precision is enough, so that only the limit ends it: in the loop that it is solving then.
            session.stop();
            let stopped = system.values(&ones, &visits, -1.0, &session);
            let of_first = |at: &&usize| system.loops.of[**at] == system.loops.of[0];
            assert!(inner.iter().filter(of_first).all(|&at| stopped[at] == 0.0), "the first loop is solved last");
            assert!(inner.iter().any(|&at| stopped[at] > 0.0));
        }
    }

    #[test]
    fn loops_that_are_seldom_left_take_few_sweeps_and_limits_end_them() {
        with_chain(&model(SELDOM, &Default::default()), Hurried);
    }

    #[test]
    fn systems_are_solved_loop_by_loop() {
        for settings in all_settings() {
            with_chain(&model(LOOPS, &settings), Checks);
        }
    }
}
