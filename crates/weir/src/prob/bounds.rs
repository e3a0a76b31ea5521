//! A certified interval for a probability.
//!
//! Let p(c) be the probability of a yes from configuration c; so p = Pp on configurations that are not settled. For any numbers v on
//! expanded open configurations and the start s, let r = s + vP − v: what is there too much or too little. Then
//!
//! p(start) = s·p = (v − vP + r)·p = v·(p − Pp) + r·p = r·p, where vP also reaches settled and unexpanded configurations.
//!
//! There p is 1, 0 or unknown in between. So p(start) is at least what v carries to the yeses less what is missing elsewhere, and at most
//! that plus what is left over elsewhere. This holds for all v, however they were found and however infinite the chain is; only sums and
//! products have to be rounded to the safe side.

use super::graph::Graph;
use super::judge::Role;
use super::rounding::{add_down, add_up, weighted_down, weighted_up};
use super::visits::is_inner;

/// What given numbers of visits certify.
pub(super) struct Certificate {
    /// The probability of a yes is at least this.
    pub(super) lower: f64,
    /// The probability of a yes is at most this.
    pub(super) upper: f64,
    /// For each configuration what is left over there, at most; 0 for settled ones.
    pub(super) surplus: Vec<f64>,
    /// For each configuration what is missing there, at most; 0 for settled ones.
    pub(super) deficit: Vec<f64>,
}

/// What the numbers of visits certify from a start.
pub(super) fn certify<const N: usize>(
    graph: &Graph<'_, '_, N>,
    roles: &[Role],
    start: &[(usize, f64)],
    visits: &[f64],
) -> Certificate {
    let count = graph.len();
    let (mut low, mut high) = (vec![0.0_f64; count], vec![0.0_f64; count]);
    for &(number, mass) in start {
        low[number] = add_down(low[number], mass);
        high[number] = add_up(high[number], mass);
    }
    for number in (0..count).filter(|&number| is_inner(graph, roles, number) && visits[number] > 0.0) {
        for entry in graph.row(number) {
            let to = entry.to as usize;
            low[to] = add_down(low[to], weighted_down(visits[number], entry.p));
            high[to] = add_up(high[to], weighted_up(visits[number], entry.p));
        }
    }
    let (mut yes_low, mut yes_high) = (0.0, 0.0);
    let (mut left, mut missing) = (0.0, 0.0);
    let (mut surplus, mut deficit) = (vec![0.0; count], vec![0.0; count]);
    for number in 0..count {
        match roles[number] {
            Role::No => {}
            Role::Yes => {
                yes_low = add_down(yes_low, low[number]);
                yes_high = add_up(yes_high, high[number]);
            }
            Role::Open => {
                let visits = if is_inner(graph, roles, number) { visits[number] } else { 0.0 };
                surplus[number] = add_up(high[number], -visits).max(0.0);
                deficit[number] = add_up(visits, -low[number]).max(0.0);
                left = add_up(left, surplus[number]);
                missing = add_up(missing, deficit[number]);
            }
        }
    }
    let lower = add_down(yes_low, -missing).clamp(0.0, 1.0);
    let upper = add_up(yes_high, left).clamp(0.0, 1.0);
    Certificate { lower, upper, surplus, deficit }
}
