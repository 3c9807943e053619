//! Rows as vectors of numbers for kernels: missing cells are imputed and nominal inputs encoded.

use serde::{Deserialize, Serialize};

use crate::data::{Dataset, Matrix};
use crate::error::{Error, Result};

/// Cells beyond this are refused: their squares could overflow when they are summed.
const LARGEST: f64 = 1e100;

/// How rows become numbers, by the rules of WEKA's LIBSVM wrapper and learned from training rows: a
/// missing cell is the mean of its column or its most common value, a nominal input of two values
/// is 0 or 1, and one of more values an indicator for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Inputs {
    columns: Vec<Column>,
    width: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Column {
    /// Where its numbers start in the vector of a row.
    start: usize,
    /// How many numbers it becomes: an indicator for each value, 1 number, or 0 where it is not
    /// used.
    width: usize,
    /// The value that replaces a missing cell.
    imputed: f64,
    /// What is subtracted from a number: the mean. Distances stay the same, and the products that
    /// they are computed from lose fewer digits.
    center: f64,
}

impl Inputs {
    /// Learns from all rows of `train`.
    pub(super) fn of(train: &Dataset) -> Result<Inputs> {
        check(train)?;
        let statistics = ColumnStatistics::of(train);
        let (mut columns, mut start) = (Vec::with_capacity(train.n_features()), 0);
        for (at, attribute) in train.attributes().iter().enumerate() {
            let column = match attribute.values() {
                Some(values) => {
                    let width = if values.len() > 2 { values.len() } else { 1 };
                    Column { start, width, imputed: statistics.mode(at), center: 0.0 }
                }
                None => {
                    let mean = statistics.sums[at] / statistics.present[at].max(1.0);
                    Column { start, width: 1, imputed: mean, center: mean }
                }
            };
            start += column.width;
            columns.push(column);
        }
        Ok(Inputs { columns, width: start })
    }

    /// The same restricted to these columns, ascending; and which numbers of a vector are left.
    pub(super) fn only(&self, features: &[usize]) -> (Inputs, Vec<usize>) {
        let mut only = Inputs { columns: Vec::with_capacity(self.columns.len()), width: 0 };
        let mut kept = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            let width = if features.binary_search(&at).is_ok() { column.width } else { 0 };
            kept.extend(column.start..column.start + width);
            only.columns.push(Column { start: only.width, width, ..*column });
            only.width += width;
        }
        (only, kept)
    }

    /// How many columns a row has.
    pub(super) fn n_features(&self) -> usize {
        self.columns.len()
    }

    /// How many numbers a row has.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The vectors of some rows, row by row.
    pub(super) fn numbers(&self, features: &Matrix, rows: &[usize]) -> Vec<f64> {
        let mut zeros = vec![0.0; self.width];
        self.columns.iter().for_each(|column| column.write(0.0, &mut zeros));
        let mut numbers = Vec::with_capacity(rows.len() * self.width);
        for &row in rows {
            let start = numbers.len();
            numbers.extend_from_slice(&zeros);
            for (at, cell) in features.entries(row) {
                if let Some(column) = self.columns.get(at) {
                    column.write(cell, &mut numbers[start..]);
                }
            }
        }
        numbers
    }

    /// Whether it fits so many inputs, as it does unless it comes from a file.
    pub(super) fn is_sound(&self, n_features: usize) -> bool {
        let mut start = 0;
        let follows = |column: &Column| {
            let fits = column.start == start;
            start += column.width.min(usize::MAX - start);
            let has_indicators = column.width > 1;
            let is_value = (0.0..column.width as f64).contains(&column.imputed);
            let known = !has_indicators || is_value;
            fits && known && column.imputed.is_finite() && column.center.is_finite()
        };
        self.columns.len() == n_features && self.columns.iter().all(follows) && start == self.width
    }
}

impl Column {
    /// Writes the numbers of a cell. A nominal value that was not declared counts as missing.
    fn write(&self, cell: f64, row: &mut [f64]) {
        let known = !cell.is_nan() && (self.width == 1 || cell < self.width as f64);
        let cell = if known { cell } else { self.imputed };
        let row = &mut row[self.start..self.start + self.width];
        match row {
            [] => {}
            [number] => *number = cell - self.center,
            indicators => {
                indicators.fill(0.0);
                indicators[cell as usize] = 1.0;
            }
        }
    }
}

fn check(train: &Dataset) -> Result<()> {
    for row in 0..train.n_rows() {
        let beyond = |&(_, cell): &(usize, f64)| cell.abs() > LARGEST;
        if let Some((column, found)) = train.features().entries(row).find(beyond) {
            let (name, column) = (train.name().into(), train.attributes()[column].name.clone());
            let expected = "a number between -1e100 and 1e100";
            let remedy = "measure the column in another unit, or leave the cell empty";
            return Err(Error::Cell { name, row, column, found, expected, remedy });
        }
    }
    Ok(())
}

/// Sums of cells and counts of values, by column.
struct ColumnStatistics {
    /// How many cells are not missing.
    present: Vec<f64>,
    sums: Vec<f64>,
    /// How often each value of a nominal input occurs.
    counts: Vec<Vec<usize>>,
}

impl ColumnStatistics {
    fn of(train: &Dataset) -> ColumnStatistics {
        let n_features = train.n_features();
        let n_values = |column: usize| train.attributes()[column].values().map_or(0, <[_]>::len);
        let mut statistics = ColumnStatistics {
            present: vec![train.n_rows() as f64; n_features],
            sums: vec![0.0; n_features],
            counts: (0..n_features).map(|column| vec![0; n_values(column)]).collect(),
        };
        // A cell that a sparse row does not store is 0, or the first value of a nominal input.
        let mut stored = vec![0; n_features];
        for row in 0..train.n_rows() {
            for (column, cell) in train.features().entries(row) {
                stored[column] += 1;
                if cell.is_nan() {
                    statistics.present[column] -= 1.0;
                } else {
                    statistics.sums[column] += cell;
                    let count = statistics.counts[column].get_mut(cell as usize);
                    count.into_iter().for_each(|count| *count += 1);
                }
            }
        }
        for (counts, stored) in statistics.counts.iter_mut().zip(stored) {
            counts.first_mut().into_iter().for_each(|first| *first += train.n_rows() - stored);
        }
        statistics
    }

    /// The most common value of a nominal input, of equals the first.
    fn mode(&self, column: usize) -> f64 {
        let counts = &self.counts[column];
        let most = counts.iter().max().copied().unwrap_or(0);
        counts.iter().position(|&count| count == most).unwrap_or(0) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ReadOptions, parse};

    fn read(rows: &str) -> Dataset {
        let text = format!(
            "@relation 't: -C -1'\n@attribute c {{r,g,b}}\n@attribute y {{no,yes}}\n\
             @attribute x numeric\n@attribute gone numeric\n@attribute a {{0,1}}\n@data\n{rows}"
        );
        parse("t.arff".as_ref(), text.as_bytes(), &ReadOptions::default())
            .unwrap()
            .into_rows()
            .unwrap()
    }

    #[test]
    fn missing_cells_are_imputed_and_nominal_values_are_indicators() {
        // x has mean (5 + 0 + 1) / 3 = 2, which is subtracted; g and yes are the most common.
        let dense = read("r,no,5,?,1\ng,yes,0,?,0\ng,yes,1,?,0\n?,?,?,?,0\n");
        let sparse =
            read("{2 5,3 ?,4 1}\n{0 g,1 yes,3 ?}\n{0 g,1 yes,2 1,3 ?}\n{0 ?,1 ?,2 ?,3 ?}\n");
        for data in [dense, sparse] {
            let inputs = Inputs::of(&data).unwrap();
            let numbers = inputs.numbers(data.features(), &[0, 3, 1]);
            let rows: Vec<&[f64]> = numbers.chunks(inputs.width()).collect();
            assert_eq!(rows[0], [1.0, 0.0, 0.0, 0.0, 3.0, 0.0]);
            assert_eq!(rows[1], [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
            assert_eq!(rows[2], [0.0, 1.0, 0.0, 1.0, -2.0, 0.0]);
            assert!(inputs.is_sound(4) && !inputs.is_sound(5));
        }
    }
}
