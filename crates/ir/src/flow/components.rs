//! Strongly connected components (Tarjan), without recursion: the graph is as deep as the program is long.

/// A graph with nodes numbered from 0.
pub trait Graph {
    /// How many nodes there are; fewer than `u32::MAX`.
    fn size(&self) -> usize;

    /// A successor of a node, by its number; none if there are fewer.
    fn successor(&self, node: usize, number: usize) -> Option<usize>;
}

impl Graph for [Vec<usize>] {
    fn size(&self) -> usize {
        self.len()
    }

    fn successor(&self, node: usize, number: usize) -> Option<usize> {
        self[node].get(number).copied()
    }
}

/// The components of the graph, each one after all those it leads to.
pub fn strongly_connected_components(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut components = Vec::new();
    for_each_component(successors, |component| components.push(component.to_vec()));
    components
}

/// Calls `visit` with each component, its nodes in ascending order, after all those it leads to.
pub fn for_each_component(graph: &(impl Graph + ?Sized), visit: impl FnMut(&[usize])) {
    let count = graph.size();
    let mut search = Search {
        graph,
        order: vec![UNSEEN; count],
        low: vec![0; count],
        on_stack: vec![false; count],
        stack: Vec::new(),
        found: 0,
        visit,
    };
    for root in 0..count {
        if search.order[root] == UNSEEN {
            search.from(root);
        }
    }
}

const UNSEEN: u32 = u32::MAX;

struct Search<'g, G: ?Sized, V> {
    graph: &'g G,
    /// In which order nodes were first seen.
    order: Vec<u32>,
    /// The first-seen node that is known to be in the same component.
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    found: u32,
    visit: V,
}

impl<G: Graph + ?Sized, V: FnMut(&[usize])> Search<'_, G, V> {
    fn from(&mut self, root: usize) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some(&mut (node, ref mut next)) = path.last_mut() {
            let Some(successor) = self.graph.successor(node, *next) else {
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    self.low[parent] = self.low[parent].min(self.low[node]);
                }
                self.leave(node);
                continue;
            };
            *next += 1;
            match self.order[successor] {
                UNSEEN => {
                    self.enter(successor);
                    path.push((successor, 0));
                }
                order if self.on_stack[successor] => self.low[node] = self.low[node].min(order),
                _ => {}
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.order[node] = self.found;
        self.low[node] = self.found;
        self.found += 1;
        self.on_stack[node] = true;
        self.stack.push(node);
    }

    /// Closes a component if `node` is the first of it that was seen.
    fn leave(&mut self, node: usize) {
        if self.order[node] != self.low[node] {
            return;
        }
        let start = self.stack.iter().rposition(|&other| other == node).unwrap_or(0);
        let component = &mut self.stack[start..];
        component.iter().for_each(|&member| self.on_stack[member] = false);
        component.sort_unstable();
        (self.visit)(component);
        self.stack.truncate(start);
    }
}

#[cfg(test)]
mod tests {
    use super::strongly_connected_components;

    #[test]
    fn components_come_after_those_they_lead_to() {
        let graph = [vec![1], vec![2, 3], vec![1], vec![], vec![4, 0]];
        assert_eq!(strongly_connected_components(&graph), [vec![3], vec![1, 2], vec![0], vec![4]]);
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let chain: Vec<Vec<usize>> =
            (0..200_000).map(|node| if node < 199_999 { vec![node + 1] } else { vec![] }).collect();
        assert_eq!(strongly_connected_components(&chain).len(), 200_000);
    }
}
