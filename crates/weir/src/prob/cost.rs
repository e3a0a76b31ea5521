//! What it costs to reach a target, on the average over the runs that do: a certified interval.
//!
//! Every step of a thread has a cost; c(s) is the expected cost from s up to the target, with runs that never get there
//! counted as 0. As for probabilities ([`bounds`](super::bounds)), c(start) = v·g + r·c for any numbers of visits v
//! with residual r, where g(s) is the expected cost of the next step on runs that reach the target. So three things
//! must be enclosed: the probability to reach the target from every expanded configuration, which gives g
//! ([`Enclosure`]); the cost from configurations that were not expanded ([`Tail`]); and, dividing, the probability from
//! the start. Costs of single edges are kept apart, which gives numbers of visits as well.

use weir_ir::Program;

use crate::session::Session;
use crate::verdict::{Failure, Limit};

use super::chain::{Chain, Visitor, with_chain};
use super::enclosure::{Enclosure, Tail};
use super::model::{Model, NO_EDGE};
use super::obstacle::Obstacle;
use super::prob01::Class;
use super::probability::{Growth, Interval, Part, Solved};
use super::rounding::{add_down, add_up, divide_down, divide_up, times_down, times_up, weighted_down, weighted_up};
use super::settings::Settings;
use super::target::Target;
use super::transitions::Transitions;
use super::visits::{System, is_inner};

/// An expected cost.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Cost {
    /// The probability of reaching the target at all.
    pub probability: Interval,
    /// The expected cost up to the target, over the runs that reach it. `None` if no run does.
    pub cost: Option<Interval>,
    /// For each label, how often it is left on the way to the target, on average over the runs that reach it.
    pub visits: Vec<(String, Interval)>,
    /// Why the interval is wider than requested, if it is.
    pub obstacle: Option<Obstacle>,
    /// Number of configurations explored.
    pub configurations: usize,
    /// Whether these are all configurations.
    pub is_complete: bool,
}

/// Computes the expected cost to within `epsilon`, or to within `epsilon` times the cost if that is above 1.
///
/// # Errors
/// If the program is not supported, the settings are invalid, or an invariant of Weir is broken.
pub fn cost(
    program: &Program,
    target: impl Into<Target>,
    settings: &Settings,
    epsilon: f64,
    session: &Session,
) -> Result<Cost, Failure> {
    let session = &session.doing("prob: enclosing the expected cost");
    let model = Model::new(program, target, settings, session)?;
    let answer = with_chain(&model, Task { epsilon, session });
    model.fault()?;
    Ok(answer)
}

struct Task<'w> {
    epsilon: f64,
    session: &'w Session,
}

impl Visitor for Task<'_> {
    type Output = Cost;

    fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Cost {
        let mut part = Part::new(chain, false);
        let mut limit = part.begin(self.session);
        let has_tail = !part.graph.is_complete(false);
        if has_tail && limit.is_none() {
            limit = part.expand_drained(2, self.session).or_else(|| self.secure(&mut part));
        }
        let mut best: Option<Cost> = None;
        loop {
            let solved = part.solve(&[(0, 1.0)], 1e-12, self.session);
            let enclosure = Enclosure::new(&part.graph, &solved.classes, self.session);
            let tail = enclosure.tail(&part, &solved.classes);
            let found = sums(part.graph.chain.model.costs.len(), &part.graph, &solved, &enclosure, &tail);
            let answer = found.answer(part.graph.chain.model, &part.graph, &solved).within(best.take());
            if let Some(cost) = answer.cost {
                self.session.enclose(cost.lower, cost.upper);
            }
            if answer.cost.is_none_or(|cost| self.is_narrow(cost)) && answer.probability.width() < 1.0 {
                return answer;
            }
            if let Some(limit) = limit.or_else(|| self.session.exceeded_with(part.graph.bytes(), 0)) {
                return Cost { obstacle: Some(Obstacle::Limit(limit)), ..answer };
            }
            let wanted = self.epsilon * answer.cost.map_or(1.0, |cost| cost.lower.max(1.0));
            match self.grow(&mut part, &solved, &tail, wanted) {
                Growth::Grew(hit) => limit = hit,
                Growth::Stuck(obstacle) => return Cost { obstacle: Some(obstacle), ..answer },
            }
            best = Some(answer);
        }
    }
}

impl Cost {
    /// All intervals are certified, so the true value is in the intersection with earlier ones.
    fn within(mut self, earlier: Option<Self>) -> Self {
        let Some(earlier) = earlier else { return self };
        self.probability = self.probability.meet(earlier.probability);
        if let (Some(cost), Some(known)) = (&mut self.cost, earlier.cost) {
            *cost = cost.meet(known);
        }
        for ((_, visits), (_, known)) in self.visits.iter_mut().zip(earlier.visits) {
            *visits = visits.meet(known);
        }
        self
    }
}

impl Task<'_> {
    /// Whether it is as narrow as was requested: costs above 1 in proportion.
    fn is_narrow(&self, cost: Interval) -> bool {
        cost.width() <= self.epsilon * cost.lower.max(1.0)
    }

    /// Expands around drained configurations until large buffers are unlikely from each of them on. That can take
    /// several turns, so it is found out roughly here; what comes out is certified later.
    fn secure<const N: usize>(&self, part: &mut Part<'_, '_, N>) -> Option<Limit> {
        let roots = part.drained_roots()?;
        loop {
            if let Some(limit) = self.session.exceeded_with(part.graph.bytes(), 0) {
                return Some(limit);
            }
            let classes = part.classifier.classes(&part.graph);
            let leaks = leaks(&part.graph, &classes, self.session);
            let is_loose = |&&root: &&usize| {
                classes[root] == Class::Open && (!part.graph.is_expanded(root) || leaks[root] > MOST_LEAKING)
            };
            let start: Vec<(usize, f64)> = roots.iter().filter(is_loose).map(|&root| (root, 1.0)).collect();
            if start.is_empty() {
                return None;
            }
            let around = part.solve(&start, 1e-3, self.session);
            match part.grow(&around.certificate.surplus, MOST_LEAKING, self.session) {
                Growth::Grew(None) => {}
                Growth::Grew(limit) => return limit,
                Growth::Stuck(_) => return None,
            }
        }
    }

    /// Expands where it helps most: around drained configurations as long as nothing bounds the tail, else where
    /// probability waits.
    fn grow<const N: usize>(&self, part: &mut Part<'_, '_, N>, solved: &Solved, tail: &Tail, wanted: f64) -> Growth {
        let most_cost = part.graph.chain.model.costs.iter().copied().max().unwrap_or(0).max(1) as f64;
        match tail {
            // Where no bound is known, the whole chain can be explored, if it is finite.
            Tail::Unknown(_) if part.graph.chain.model.is_bounded && part.has_more() => {
                Growth::Grew(part.expand_up_to(usize::MAX, self.session))
            }
            Tail::Unknown(obstacle) => Growth::Stuck(*obstacle),
            Tail::Loose(roots) => {
                let start: Vec<(usize, f64)> = roots.iter().map(|&root| (root, 1.0)).collect();
                let around = part.solve(&start, 1e-6, self.session);
                part.grow(&around.certificate.surplus, 0.25, self.session)
            }
            Tail::Bounded { steps } => {
                let chance = solved.certificate.lower.max(1e-12);
                let rest = wanted * chance / (8.0 * most_cost * (steps + 8.0));
                part.grow(&solved.certificate.surplus, rest, self.session)
            }
        }
    }
}

/// From a drained configuration, an unexpanded one may be met with this probability. Certainty needs one half.
const MOST_LEAKING: f64 = 0.3;

/// For each configuration roughly how likely an unexpanded one is met.
fn leaks(graph: &Transitions, classes: &[Class], session: &Session) -> Vec<f64> {
    let is_open = |number: usize| classes[number] == Class::Open && !graph.is_expanded(number);
    let inner: Vec<usize> = (0..graph.len()).filter(|&number| is_inner(graph, classes, number)).collect();
    let mut at_once = vec![0.0; graph.len()];
    for &number in &inner {
        let outside = graph.row(number).iter().filter(|entry| is_open(entry.to as usize));
        at_once[number] = outside.map(|entry| entry.p).sum();
    }
    let system = System::new(graph, classes);
    let everywhere: Vec<(usize, f64)> = inner.into_iter().map(|number| (number, 1.0)).collect();
    system.values(&at_once, &system.visits(&everywhere, 1e-2, session), 1e-3, session)
}

/// Expected numbers of times that edges are taken on runs that reach the target, other runs counted as 0.
struct Sums {
    low: Vec<f64>,
    high: Vec<f64>,
    /// To be taken off the lower ends and added to the upper ends, for each unit of cost.
    missing: f64,
    left: f64,
}

fn sums(edges: usize, graph: &Transitions, solved: &Solved, enclosure: &Enclosure, tail: &Tail) -> Sums {
    let (mut low, mut high) = (vec![0.0; edges], vec![0.0; edges]);
    let Solved { classes, visits, certificate } = solved;
    for number in (0..graph.len()).filter(|&number| is_inner(graph, classes, number) && visits[number] > 0.0) {
        for entry in graph.row(number).iter().filter(|entry| entry.edge != NO_EDGE) {
            let (edge, to) = (entry.edge as usize, entry.to as usize);
            let (least, most) = (enclosure.lower[to], enclosure.upper[to]);
            low[edge] = add_down(low[edge], times_down(weighted_down(visits[number], entry.p), least)).max(0.0);
            high[edge] = add_up(high[edge], times_up(weighted_up(visits[number], entry.p), most));
        }
    }
    let steps = tail.steps();
    let (mut missing, mut left) = (0.0, 0.0);
    for number in 0..graph.len() {
        let (more, less) = (certificate.surplus[number], certificate.deficit[number]);
        if more > 0.0 || less > 0.0 {
            let further = add_up(enclosure.steps[number], if enclosure.is_closed { 0.0 } else { steps });
            left = add_up(left, times_up(more, further));
            missing = add_up(missing, times_up(less, further));
        }
    }
    Sums { low, high, missing, left }
}

impl Sums {
    /// The expected cost over runs that reach the target, when edges cost this much.
    fn average(&self, cost: impl Fn(usize) -> u64, chance: Interval) -> Interval {
        let (mut low, mut high, mut most) = (0.0, 0.0, 0);
        for edge in 0..self.low.len() {
            let cost = cost(edge);
            most = most.max(cost);
            low = add_down(low, times_down(self.low[edge], cost as f64));
            high = add_up(high, times_up(self.high[edge], cost as f64));
        }
        if most == 0 {
            return Interval { lower: 0.0, upper: 0.0 };
        }
        let low = add_down(low, -times_up(self.missing, most as f64)).max(0.0);
        let high = add_up(high, times_up(self.left, most as f64));
        Interval { lower: divide_down(low, chance.upper), upper: divide_up(high, chance.lower) }
    }

    fn answer(&self, model: &Model, graph: &Transitions, solved: &Solved) -> Cost {
        let probability = Interval { lower: solved.certificate.lower, upper: solved.certificate.upper };
        let cost = (probability.upper > 0.0).then(|| self.average(|edge| model.costs[edge], probability));
        let of_label = |label: usize| {
            let counts = |edge: usize| u64::from(model.labels[edge] == Some(label as u32));
            let visits = self.average(counts, probability);
            model.label_names[label].iter().map(move |name| (name.clone(), visits))
        };
        let labels = if cost.is_some() { 0..model.label_names.len() } else { 0..0 };
        Cost {
            probability,
            cost,
            visits: labels.flat_map(of_label).collect(),
            obstacle: None,
            configurations: graph.len(),
            is_complete: graph.is_complete(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prob::testing::{all_settings, iterate, model};

    /// Compares how likely an unexpanded configuration is met with plain iteration.
    struct Leaking {
        size: usize,
    }

    impl Visitor for Leaking {
        /// How many may meet one, and how many cannot.
        type Output = [usize; 2];

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> [usize; 2] {
            let session = Session::default();
            let mut part = Part::new(chain, false);
            assert!(part.begin_with(2, &session).is_none());
            assert!(part.expand_drained(self.size, &session).is_none());
            let classes = part.classifier.classes(&part.graph);
            let found = leaks(&part.graph, &classes, &session);
            let met = |at: usize| f64::from(u8::from(classes[at] == Class::Open));
            let known = iterate(&part.graph, &classes, 0.0, met);
            let mut counts = [0; 2];
            for at in (0..part.graph.len()).filter(|&at| is_inner(&part.graph, &classes, at)) {
                assert!((found[at] - known[at]).abs() < 0.01, "{at} {} {}", found[at], known[at]);
                counts[usize::from(known[at] < 0.99)] += 1;
            }
            counts
        }
    }

    #[test]
    fn what_leaks_is_what_meets_an_unexpanded_configuration() {
        let text = "shared x; thread P { loop { x = 1; } }
            thread Q { let r = x; if r == 0 { skip; low: skip; } } forbid Q at low;";
        for settings in all_settings() {
            for size in 0..4 {
                let [_, unsure] = with_chain(&model(text, &settings), Leaking { size });
                assert!(unsure > 0, "{settings:?}");
            }
        }
    }
}
