//! Strongly connected components (Tarjan), without recursion: the graph is as deep as the program is long.

/// The components of the graph, each one after all those it leads to.
pub fn strongly_connected_components(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search {
        successors,
        order: vec![None; successors.len()],
        low: vec![0; successors.len()],
        on_stack: vec![false; successors.len()],
        stack: Vec::new(),
        found: 0,
        components: Vec::new(),
    };
    for root in 0..successors.len() {
        if search.order[root].is_none() {
            search.from(root);
        }
    }
    search.components
}

struct Search<'g> {
    successors: &'g [Vec<usize>],
    /// In which order nodes were first seen.
    order: Vec<Option<usize>>,
    /// The first-seen node that is known to be in the same component.
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    found: usize,
    components: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn from(&mut self, root: usize) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some(&mut (node, ref mut next)) = path.last_mut() {
            let Some(&successor) = self.successors[node].get(*next) else {
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    self.low[parent] = self.low[parent].min(self.low[node]);
                }
                self.leave(node);
                continue;
            };
            *next += 1;
            match self.order[successor] {
                None => {
                    self.enter(successor);
                    path.push((successor, 0));
                }
                Some(order) if self.on_stack[successor] => self.low[node] = self.low[node].min(order),
                Some(_) => {}
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.order[node] = Some(self.found);
        self.low[node] = self.found;
        self.found += 1;
        self.on_stack[node] = true;
        self.stack.push(node);
    }

    /// Closes a component if `node` is the first of it that was seen.
    fn leave(&mut self, node: usize) {
        if self.order[node] != Some(self.low[node]) {
            return;
        }
        let start = self.stack.iter().rposition(|&other| other == node).unwrap_or(0);
        let mut component = self.stack.split_off(start);
        component.iter().for_each(|&member| self.on_stack[member] = false);
        component.sort_unstable();
        self.components.push(component);
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
