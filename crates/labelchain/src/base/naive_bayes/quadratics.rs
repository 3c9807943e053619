//! The log-odds of dense rows, as a product.
//!
//! Those of two normal densities are a x² + b x + c in a cell x. Summed over all inputs, they are the product of
//! the cells and their squares with the coefficients, for all rows and labels at once.

use super::add_to_labels;
use super::counted::LogOddsTables;
use super::factors::{Factors, InputFactors};
use crate::chain::{Block, CellsAndSquares};
use crate::data::Dense;
use crate::product::times_transposed;

/// The coefficients of all labels, and the factors that have none.
#[derive(Clone, Debug)]
pub(super) struct Quadratics {
    n_labels: usize,
    /// The inputs that have coefficients.
    columns: Vec<usize>,
    /// By label: b of each of these inputs, then a of each.
    coefficients: Vec<f64>,
    /// By label: the log prior odds and c of each of its inputs.
    constants: Vec<f64>,
    others: Vec<CellByCell>,
}

impl Quadratics {
    /// Of all inputs but those in whose column a cell is missing.
    pub(super) fn new(factors: &Factors, prior: &[f64], incomplete: &[bool]) -> Quadratics {
        let (n_inputs, n_labels) = (factors.n_inputs(), prior.len());
        let mut columns = Vec::with_capacity(n_inputs);
        // By input, then by label, as the factors are.
        let mut terms = Vec::with_capacity(n_inputs * n_labels);
        let mut others = Vec::new();
        for (column, input) in factors.inputs().enumerate() {
            if !matches!(input, InputFactors::Others(_)) {
                others.push(CellByCell { column, labels: vec![] });
                continue;
            }
            let is_complete = !incomplete.get(column).is_some_and(|&it| it);
            let n_before = terms.len();
            let mut by_cell = CellByCell { column, labels: vec![] };
            for (at, quadratic) in input.quadratics().enumerate() {
                match quadratic.filter(|_| is_complete) {
                    Some((label, quadratic)) => terms.push((columns.len(), label, quadratic)),
                    None => by_cell.labels.push(at),
                }
            }
            if !by_cell.labels.is_empty() {
                others.push(by_cell);
            }
            if terms.len() > n_before {
                columns.push(column);
            }
        }
        let width = 2 * columns.len();
        let mut coefficients = vec![0.0; n_labels * width];
        let mut constants = prior.to_vec();
        for (at, label, [a, b, c]) in terms {
            coefficients[label.0 * width + at] = b;
            coefficients[label.0 * width + columns.len() + at] = a;
            constants[label.0] += c;
        }
        Quadratics { n_labels, columns, coefficients, constants, others }
    }

    /// The log-odds of the rows of a block, row by row, by label. `shared` has their cells and squares where members
    /// share them.
    pub(super) fn score(
        &self,
        factors: &Factors,
        block: &Block,
        dense: &Dense,
        shared: Option<&CellsAndSquares>,
    ) -> Vec<f64> {
        let mut by_row = match shared.filter(|_| self.columns.len() == block.features.n_columns()) {
            Some(shared) => self.product(&shared.by_row, block.n_rows()),
            None => self.gathered_product(block, dense),
        };
        for row in by_row.chunks_mut(self.n_labels.max(1)) {
            row.iter_mut().zip(&self.constants).for_each(|(sum, constant)| *sum += constant);
        }
        let mut tables = factors.tables();
        for others in &self.others {
            others.add(factors, &mut tables, block, dense, &mut by_row);
        }
        by_row
    }

    fn product(&self, cells: &[f64], n_rows: usize) -> Vec<f64> {
        let width = 2 * self.columns.len();
        times_transposed(cells, &self.coefficients, n_rows, self.n_labels, width)
    }

    /// The product with the cells of those inputs that have coefficients.
    fn gathered_product(&self, block: &Block, dense: &Dense) -> Vec<f64> {
        let mut by_row = Vec::with_capacity(block.n_rows() * self.n_labels);
        let mut cells = Vec::new();
        // Few enough rows at a time that their cells stay in the cache.
        for rows in block.rows.chunks(128) {
            cells.clear();
            for row in rows.iter().map(|&row| dense.row(row)) {
                let start = cells.len();
                if self.columns.len() == row.len() {
                    cells.extend_from_slice(row);
                } else {
                    cells.extend(self.columns.iter().map(|&column| row[column]));
                }
                cells.extend_from_within(start..);
                cells[start + self.columns.len()..].iter_mut().for_each(|cell| *cell *= *cell);
            }
            by_row.extend(self.product(&cells, rows.len()));
        }
        by_row
    }
}

/// Factors of a column that are added cell by cell.
#[derive(Clone, Debug)]
struct CellByCell {
    column: usize,
    /// Which of them, by their place in the list; of an input of two values it is all of them, and the list is empty.
    labels: Vec<usize>,
}

impl CellByCell {
    /// Adds what the cells of the column say to the sums, which are by row, then by label.
    fn add(
        &self,
        factors: &Factors,
        tables: &mut LogOddsTables,
        block: &Block,
        dense: &Dense,
        by_row: &mut [f64],
    ) {
        let input = factors.input(self.column);
        let n_labels = by_row.len() / block.n_rows().max(1);
        let mut log_odds = Vec::new();
        for (sums, &row) in by_row.chunks_mut(n_labels.max(1)).zip(block.rows) {
            let cell = dense.row(row)[self.column];
            if cell.is_nan() {
                continue;
            }
            if let InputFactors::Others(factors) = input {
                for (label, factor) in self.labels.iter().map(|&at| &factors[at]) {
                    sums[label.0] += factor.log_odds(cell);
                }
            } else {
                factors.log_odds(self.column, cell, tables, &mut log_odds);
                add_to_labels(sums, input, &log_odds);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use crate::base::naive_bayes::NaiveBayes;
    use crate::chain::{Block, ChainLearner, Scoring};
    use crate::data::LabelNetwork;
    use crate::prepare::Prepared;
    use crate::seed::Seed;

    #[test]
    fn squares_that_members_share_change_nothing() {
        let network = LabelNetwork { n_rows: 90, ..LabelNetwork::default() };
        let data = network.generate("network", Seed::new(2)).unwrap();
        let rows: Vec<usize> = (0..data.n_rows()).collect();
        let train = Prepared::as_is(&data);
        let model = NaiveBayes::default().fit(&train, &rows, Seed::new(1)).unwrap();
        let (alone, squares) = (Block::of(data.features(), &rows[3..80]), OnceLock::new());
        let shared = Block { squares: Some(&squares), ..Block::of(data.features(), &rows[3..80]) };
        assert_eq!(model.score(&shared).by_row, model.score(&alone).by_row);
        assert!(squares.get().is_some(), "others find them there");
    }
}
