//! From a graph with silent moves to an automaton in which every edge is one step.
//!
//! A node whose only way out is one silent move is the same place as its target. A node with several
//! ways out, some of them silent (a `choose`), gets copies of the steps that its targets offer; it is
//! not merged with them, since a branch may begin with a loop head or label that is entered again from
//! elsewhere, where the other branches are not on offer.
//!
//! Nodes on a cycle of silent moves are all the same place. A way round a `loop` that takes no step
//! changes nothing and disappears; if nothing else is left (`loop { }`), the loop steps on the spot. A
//! cycle of `jump`s alone is an error. A branch that ends the body without a step takes a `skip`:
//! otherwise the place would be both done and not done.

use std::collections::HashSet;

use weir_ir::flow::strongly_connected_components;
use weir_ir::{Body, Diagnostic, Edge, Instruction, LocId, Location, Register, Span};

use super::graph::{Graph, Node, NodeData, Way};

/// Why a graph is no automaton.
pub(super) enum Problem {
    /// A cycle of jumps without a step.
    EmptyCycle(Span),
    /// More steps than this many were left.
    TooManySteps,
}

impl Problem {
    pub(super) fn empty_cycle(span: Span) -> Diagnostic {
        Diagnostic::error("jump-cycle", "these jumps loop forever without taking a step", span)
            .help("use `goto`, which is a step, or add a `skip;` in between")
    }
}

/// A finished body, and how many steps it has.
pub(super) fn automaton(
    graph: Graph,
    registers: Vec<Register>,
    entry: Node,
    max_steps: usize,
) -> Result<(Body, usize), Problem> {
    let mut places = Places::new(graph)?;
    places.spread_steps(max_steps)?;
    Ok(places.number(registers, entry))
}

/// Nodes gathered into places: one for each strongly connected component of silent moves, in such an
/// order that silent moves lead to earlier places.
struct Places {
    places: Vec<NodeData>,
    /// The place of each node.
    place_of: Vec<usize>,
    /// The place that stands for each place once single silent moves are followed.
    merged: Vec<usize>,
}

impl Places {
    fn new(mut graph: Graph) -> Result<Self, Problem> {
        let silent_targets = |data: &NodeData| {
            let target = |way: &Way| if let Way::Silent { to, .. } = way { Some(to.0) } else { None };
            data.ways.iter().filter_map(target).collect::<Vec<_>>()
        };
        let successors: Vec<Vec<usize>> = graph.nodes.iter().map(silent_targets).collect();
        let groups = strongly_connected_components(&successors);
        let mut place_of = vec![0; graph.nodes.len()];
        for (place, group) in groups.iter().enumerate() {
            group.iter().for_each(|&node| place_of[node] = place);
        }
        let mut places = Vec::with_capacity(groups.len());
        for (place, group) in groups.iter().enumerate() {
            let is_cycle = group.len() > 1 || successors[group[0]].contains(&group[0]);
            let members = group.iter().map(|&node| std::mem::take(&mut graph.nodes[node]));
            let mut data = gather(members);
            if is_cycle {
                open_cycle(&mut data, group[0], |node: Node| place_of[node.0] == place)?;
            }
            places.push(data);
        }
        let merged = (0..places.len()).collect();
        Ok(Self { places, place_of, merged })
    }

    fn place(&self, node: Node) -> usize {
        self.merged[self.place_of[node.0]]
    }

    /// Replaces silent moves by the steps of their targets. Silent moves lead to earlier places, so those
    /// are done already.
    fn spread_steps(&mut self, max_steps: usize) -> Result<(), Problem> {
        let mut steps = 0;
        let mut copied_by = vec![None; self.places.len()];
        for place in 0..self.places.len() {
            let ways = std::mem::take(&mut self.places[place].ways);
            if let [Way::Silent { to, .. }] = ways[..] {
                self.merge(place, self.place(to));
                continue;
            }
            let spread = self.spread(ways, max_steps - steps, &mut copied_by, place)?;
            steps += spread.len();
            self.places[place].ways = spread;
        }
        Ok(())
    }

    /// The steps behind some ways out of `place`; two ways to the same target are one.
    fn spread(
        &self,
        ways: Vec<Way>,
        max_steps: usize,
        copied_by: &mut [Option<usize>],
        place: usize,
    ) -> Result<Vec<Way>, Problem> {
        let mut spread = Vec::with_capacity(ways.len());
        for way in ways {
            let Way::Silent { to, span, .. } = way else {
                spread.push(way);
                continue;
            };
            let target = self.place(to);
            if copied_by[target].replace(place) == Some(place) {
                continue;
            }
            let offered = &self.places[target].ways;
            if offered.is_empty() {
                spread.push(Way::Step { instruction: Instruction::Skip, to, span });
            }
            if spread.len() + offered.len() > max_steps {
                return Err(Problem::TooManySteps);
            }
            spread.extend(offered.iter().cloned());
        }
        if spread.len() > max_steps { Err(Problem::TooManySteps) } else { Ok(spread) }
    }

    /// Makes `place` the same as `target`. What begins there is what begins at the target.
    fn merge(&mut self, place: usize, target: usize) {
        let data = std::mem::take(&mut self.places[place]);
        let into = &mut self.places[target];
        into.labels.extend(data.labels);
        into.span = into.span.or(data.span);
        into.keep |= data.keep;
        self.merged[place] = target;
    }

    /// Numbers the places: those control can reach first, in the order of a walk that follows the first
    /// way out first, then those that stay because the source has text for them.
    fn number(mut self, registers: Vec<Register>, entry: Node) -> (Body, usize) {
        let entry = self.place(entry);
        let mut numbers: Vec<Option<LocId>> = vec![None; self.places.len()];
        let mut order = Vec::new();
        self.walk(entry, &mut numbers, &mut order);
        // Places are in reverse order of the source, more or less.
        for place in (0..self.places.len()).rev() {
            let data = &self.places[place];
            if self.merged[place] == place && (data.keep || !data.labels.is_empty()) {
                self.walk(place, &mut numbers, &mut order);
            }
        }
        let at = |numbers: &[Option<LocId>], place: usize| numbers[place].unwrap_or(LocId(0));
        let mut edges = Vec::new();
        for &place in &order {
            for way in std::mem::take(&mut self.places[place].ways) {
                if let Way::Step { instruction, to, span } = way {
                    let (from, to) = (at(&numbers, place), at(&numbers, self.place(to)));
                    edges.push(Edge { from, to, instruction, span });
                }
            }
        }
        let mut locations = self.locations(&order, &edges);
        let failed = failed_location(&mut locations, &edges);
        let steps = edges.len();
        (Body::new(registers, locations, at(&numbers, entry), failed, edges), steps)
    }

    fn walk(&self, root: usize, numbers: &mut [Option<LocId>], order: &mut Vec<usize>) {
        let mut open = vec![root];
        while let Some(place) = open.pop() {
            if numbers[place].is_some() {
                continue;
            }
            numbers[place] = Some(LocId::new(order.len()));
            order.push(place);
            for way in self.places[place].ways.iter().rev() {
                if let Way::Step { to, .. } = way {
                    open.push(self.place(*to));
                }
            }
        }
    }

    /// The locations; one without a statement of its own is inside one, and is named by its first step.
    fn locations(&mut self, order: &[usize], edges: &[Edge]) -> Vec<Location> {
        let mut first_step: Vec<Option<Span>> = vec![None; order.len()];
        for edge in edges {
            first_step[edge.from.index()].get_or_insert(edge.span);
        }
        let location = |(&place, first): (&usize, &Option<Span>)| {
            let data = &mut self.places[place];
            let labels = in_source_order(std::mem::take(&mut data.labels));
            Location { labels, span: data.span.or(*first).unwrap_or_default() }
        };
        order.iter().zip(&first_step).map(location).collect()
    }
}

/// The labels of one location, each once (copies of one procedure may meet).
fn in_source_order(mut labels: Vec<(Node, String)>) -> Vec<String> {
    labels.sort_unstable();
    let mut seen = HashSet::new();
    labels.into_iter().map(|(_, label)| label).filter(|label| seen.insert(label.clone())).collect()
}

/// Joins the nodes of a component.
fn gather(members: impl Iterator<Item = NodeData>) -> NodeData {
    let mut all = NodeData::default();
    for member in members {
        all.ways.extend(member.ways);
        all.labels.extend(member.labels);
        all.span = all.span.or(member.span);
        all.loop_head = all.loop_head.or(member.loop_head);
        all.keep |= member.keep;
    }
    all
}

/// Removes the silent moves within a cycle; if no way out is left, a loop steps on the spot.
fn open_cycle(data: &mut NodeData, member: usize, inside: impl Fn(Node) -> bool) -> Result<(), Problem> {
    let mut jump = None;
    data.ways.retain(|way| match way {
        Way::Silent { to, span, is_jump } if inside(*to) => {
            jump = jump.or(is_jump.then_some(*span));
            false
        }
        _ => true,
    });
    let Some(head) = data.loop_head else {
        return Err(Problem::EmptyCycle(jump.unwrap_or_default()));
    };
    if data.ways.is_empty() {
        data.ways.push(Way::Step { instruction: Instruction::Skip, to: Node(member), span: head });
    }
    Ok(())
}

/// Adds the place where failed assertions end, if there are assertions.
fn failed_location(locations: &mut Vec<Location>, edges: &[Edge]) -> Option<LocId> {
    let assertion = edges.iter().find(|edge| matches!(edge.instruction, Instruction::Assert(_)))?;
    locations.push(Location { labels: Vec::new(), span: assertion.span });
    Some(LocId::new(locations.len() - 1))
}
