//! Linear programs in floating point: maximise `c · y` subject to `A y ≤ b` and `y ≥ 0`, where `b ≥ 0`.
//!
//! A dense tableau and the simplex method. Nothing relies on the result: whoever asks rounds the solution and checks it
//! in exact numbers, and a wrong or missing solution only costs precision. The constraints here are nearly all
//! homogeneous (`b = 0`), so that every basis is degenerate; small different numbers in place of the zeros decide which
//! constraint is met first, and a second column of right-hand sides carries the true values along.

/// What counts as zero.
const EPSILON: f64 = 1e-9;

/// A linear program.
pub(super) struct Program {
    /// The constraints, one row of coefficients each.
    pub(super) rows: Vec<Vec<f64>>,
    /// Their right-hand sides, which are not negative.
    pub(super) bounds: Vec<f64>,
    /// The coefficients of what is maximised.
    pub(super) gains: Vec<f64>,
}

/// A solution.
pub(super) struct Solution {
    /// The maximum.
    pub(super) value: f64,
    /// The values of the variables.
    pub(super) values: Vec<f64>,
    /// The prices of the constraints: a solution of the dual program.
    pub(super) prices: Vec<f64>,
}

/// Solves a linear program; `None` if it is unbounded or takes more than so many pivots.
pub(super) fn solve(program: &Program, most: usize) -> Option<Solution> {
    let mut tableau = Tableau::new(program);
    let mut pivots = 0;
    while let Some(column) = tableau.entering() {
        let row = tableau.leaving(column)?;
        pivots += 1;
        if pivots > most {
            return None;
        }
        tableau.pivot(row, column);
    }
    Some(tableau.solution())
}

/// A tableau without the columns of basic variables. Variables come first in the numbering, then the slacks of rows.
struct Tableau {
    /// The coefficients of the rows, one after the other; the last row is what is maximised, negated.
    cells: Vec<f64>,
    width: usize,
    /// The right-hand sides, as they are perturbed and as they are; the last one is the value.
    perturbed: Vec<f64>,
    exact: Vec<f64>,
    /// The variable of each row and of each column.
    basic: Vec<usize>,
    free: Vec<usize>,
}

impl Tableau {
    fn new(program: &Program) -> Self {
        let (height, width) = (program.rows.len(), program.gains.len());
        let mut cells = Vec::with_capacity((height + 1) * width);
        program.rows.iter().for_each(|row| cells.extend_from_slice(row));
        cells.extend(program.gains.iter().map(|gain| -gain));
        let mut exact = program.bounds.clone();
        exact.push(0.0);
        // A fixed irregular sequence: multiples of the golden ratio, modulo 1.
        let noise = |row: usize| 1e-6 * (0.1 + (row as f64 * 0.618_033_988_75).fract());
        let mut perturbed: Vec<f64> =
            program.bounds.iter().enumerate().map(|(row, bound)| bound + noise(row)).collect();
        perturbed.push(0.0);
        Self { cells, width, perturbed, exact, basic: (width..width + height).collect(), free: (0..width).collect() }
    }

    fn gains(&self) -> &[f64] {
        &self.cells[self.basic.len() * self.width..]
    }

    /// The column that gains most; the first one of several.
    fn entering(&self) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for (column, &gain) in self.gains().iter().enumerate() {
            if gain < -EPSILON && best.is_none_or(|(_, least)| gain < least) {
                best = Some((column, gain));
            }
        }
        best.map(|(column, _)| column)
    }

    /// The row that bounds a column first.
    fn leaving(&self, column: usize) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for row in 0..self.basic.len() {
            let cell = self.cells[row * self.width + column];
            if cell > EPSILON {
                let ratio = self.perturbed[row] / cell;
                if best.is_none_or(|(_, least)| ratio < least) {
                    best = Some((row, ratio));
                }
            }
        }
        best.map(|(row, _)| row)
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let width = self.width;
        let inverse = 1.0 / self.cells[row * width + column];
        for cell in &mut self.cells[row * width..(row + 1) * width] {
            *cell *= inverse;
        }
        self.cells[row * width + column] = inverse;
        self.perturbed[row] *= inverse;
        self.exact[row] *= inverse;
        let pivot_row = self.cells[row * width..(row + 1) * width].to_vec();
        for other in (0..=self.basic.len()).filter(|&other| other != row) {
            let factor = self.cells[other * width + column];
            if factor.abs() <= 1e-13 {
                self.cells[other * width + column] = 0.0;
                continue;
            }
            self.cells[other * width + column] = 0.0;
            for (cell, pivot) in self.cells[other * width..(other + 1) * width].iter_mut().zip(&pivot_row) {
                *cell -= factor * pivot;
            }
            self.perturbed[other] -= factor * self.perturbed[row];
            self.exact[other] -= factor * self.exact[row];
        }
        std::mem::swap(&mut self.basic[row], &mut self.free[column]);
    }

    fn solution(&self) -> Solution {
        let height = self.basic.len();
        let mut values = vec![0.0; self.width];
        for (row, &variable) in self.basic.iter().enumerate() {
            if variable < self.width {
                values[variable] = self.exact[row].max(0.0);
            }
        }
        let mut prices = vec![0.0; height];
        for (column, &variable) in self.free.iter().enumerate() {
            if variable >= self.width {
                prices[variable - self.width] = self.gains()[column].max(0.0);
            }
        }
        Solution { value: self.exact[height], values, prices }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_program_is_solved_with_its_dual() {
        let rows = vec![vec![1.0, 0.0], vec![0.0, 2.0], vec![3.0, 2.0]];
        let program = Program { rows, bounds: vec![4.0, 12.0, 18.0], gains: vec![3.0, 5.0] };
        let solution = solve(&program, 100).expect("bounded");
        let near = |found: &[f64], wanted: &[f64]| found.iter().zip(wanted).all(|(one, two)| (one - two).abs() < 1e-6);
        assert!((solution.value - 36.0).abs() < 1e-6, "{}", solution.value);
        assert!(near(&solution.values, &[2.0, 6.0]), "{:?}", solution.values);
        assert!(near(&solution.prices, &[0.0, 1.5, 1.0]), "{:?}", solution.prices);
    }

    #[test]
    fn an_unbounded_program_and_one_that_takes_too_long_have_no_solution() {
        let unbounded = Program { rows: vec![vec![-1.0]], bounds: vec![0.0], gains: vec![1.0] };
        assert!(solve(&unbounded, 100).is_none());
        let bounded = Program { rows: vec![vec![1.0]], bounds: vec![1.0], gains: vec![1.0] };
        assert!(solve(&bounded, 0).is_none());
        assert!(solve(&bounded, 1).is_some());
    }
}
