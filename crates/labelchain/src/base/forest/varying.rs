//! Which inputs can tell the rows of a node apart.
//!
//! Of a hundred thousand words, the texts of a small node contain few. All others have the same bin in all of
//! its rows, and looking at one of them is wasted. So each row lists the inputs, of those that are kept by
//! their uncommon cells, in which it differs from most rows; an input that no row of a node lists is constant
//! there. Trees are the same: what is skipped would not have been split by.

use super::bins::Column;

/// For each row, the sparse columns of which it has another bin than the common one.
pub(super) struct UncommonInputs {
    /// Those of row r are `inputs[starts[r]..starts[r + 1]]`.
    starts: Vec<usize>,
    inputs: Vec<u32>,
    /// By input, whether it is a sparse column.
    is_listed: Vec<bool>,
}

impl UncommonInputs {
    /// Lists the inputs of each of `n_rows` rows.
    pub(super) fn of(columns: &[Column], n_rows: usize) -> UncommonInputs {
        let mut starts = vec![0; n_rows + 1];
        let listed = || (0..).zip(columns).filter_map(|(at, of)| Some((at, of.uncommon_rows()?)));
        for row in listed().flat_map(|(_, rows)| rows) {
            starts[*row as usize + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let (mut inputs, mut ends) = (vec![0; sum], starts.clone());
        for (input, rows) in listed() {
            for row in rows.iter().map(|&row| row as usize) {
                inputs[ends[row]] = input;
                ends[row] += 1;
            }
        }
        let is_listed = columns.iter().map(|column| column.uncommon_rows().is_some()).collect();
        UncommonInputs { starts, inputs, is_listed }
    }
}

/// The inputs that may vary in the node that was entered last.
pub(super) struct Varying<'a> {
    of_rows: &'a UncommonInputs,
    /// How many cells a node may have for reading its lists to cost less than looking at inputs in vain.
    max_cells: usize,
    /// How many nodes' lists have been read.
    n_read: u32,
    /// The number of this node, from 1 on; 0 if its lists were not read.
    node: u32,
    /// By input, the last node in which a row listed it; the greatest number for inputs that rows do not list.
    last: Vec<u32>,
}

impl<'a> Varying<'a> {
    /// No node yet, of a tree whose nodes look at `n_tried` inputs each.
    pub(super) fn new(of_rows: &'a UncommonInputs, n_tried: usize) -> Varying<'a> {
        /// What looking at an input costs beside its cells, in cells.
        const LOOK: usize = 16;
        let n_listed = of_rows.is_listed.iter().filter(|&&is_listed| is_listed).count();
        let cells_each = of_rows.inputs.len() / n_listed.max(1);
        let last = |&is_listed: &bool| if is_listed { 0 } else { u32::MAX };
        Varying {
            of_rows,
            max_cells: n_tried * (cells_each + LOOK),
            n_read: 0,
            node: 0,
            last: of_rows.is_listed.iter().map(last).collect(),
        }
    }

    /// Turns to a node of these rows.
    pub(super) fn enter(&mut self, rows: &[u32]) {
        self.node = 0;
        let UncommonInputs { starts, inputs, .. } = self.of_rows;
        let listed = |&row: &u32| starts[row as usize]..starts[row as usize + 1];
        let mut n_cells = 0;
        for row in rows {
            n_cells += listed(row).len();
            if n_cells > self.max_cells {
                return;
            }
        }
        self.n_read += 1;
        self.node = self.n_read;
        for &input in rows.iter().flat_map(|row| &inputs[listed(row)]) {
            self.last[input as usize] = self.node;
        }
    }

    /// Whether not all rows of the node are known to have the same bin.
    pub(super) fn may_vary(&self, input: u32) -> bool {
        self.last[input as usize] >= self.node
    }
}

#[cfg(test)]
mod tests {
    use super::super::grow::Soil;
    use super::super::labels::TrainingLabels;
    use super::*;
    use crate::data::{Attribute, Dataset, LabelMatrix, Matrix, Sparse};
    use crate::progress::Cancel;
    use crate::seed::Seed;

    const N_ROWS: usize = 400;

    /// Every other column is so rare that it is kept by its uncommon rows; a few cells are missing.
    fn rare_and_frequent() -> (Vec<Column>, TrainingLabels) {
        let mut rng = Seed::new(8).rng();
        let mut cells = Sparse::new(40);
        let mut labels = LabelMatrix::empty(N_ROWS, 3);
        for row in 0..N_ROWS {
            let stored: Vec<u32> =
                (0..40).filter(|at| rng.chance([0.01, 0.4][*at as usize % 2])).collect();
            let value = |rng: &mut crate::seed::Rng| if rng.chance(0.1) { f64::NAN } else { 1.0 };
            cells.push_row(stored.into_iter().map(|at| (at, value(&mut rng))));
            labels.ids().for_each(|label| labels.set(row, label, rng.chance(0.3)));
        }
        let attributes = (0..40).map(|at| Attribute::numeric(format!("x{at}"))).collect();
        let names = (0..3).map(|at| format!("y{at}")).collect();
        let data = Dataset::new("words", attributes, Matrix::Sparse(cells), names, labels).unwrap();
        let rows: Vec<usize> = (0..N_ROWS).collect();
        let columns = Column::all(&data, &rows, &Cancel::default()).unwrap();
        (columns, TrainingLabels::new(data.labels(), &rows))
    }

    #[test]
    fn what_does_not_vary_is_constant_and_what_is_listed_varies() {
        let (columns, _) = rare_and_frequent();
        assert_eq!(columns.iter().filter(|it| it.uncommon_rows().is_some()).count(), 20);
        let uncommon = UncommonInputs::of(&columns, N_ROWS);
        let mut varying = Varying::new(&uncommon, 1);
        let mut n_skipped = 0;
        for n in [3, 30, 7] {
            let node: Vec<u32> = (0..n).map(|at| at * 400 / n).collect();
            varying.enter(&node);
            for (input, column) in (0..).zip(&columns) {
                let is_listed = column
                    .uncommon_rows()
                    .is_none_or(|rows| node.iter().any(|row| rows.contains(row)));
                assert_eq!(varying.may_vary(input), is_listed);
                if !is_listed {
                    assert!(node.iter().all(|&row| column.bin(row) == column.bin(node[0])));
                    n_skipped += 1;
                }
            }
        }
        assert!(n_skipped > 20, "{n_skipped}");
        // A node with more cells than are worth reading: everything may vary.
        varying.enter(&(0..400).collect::<Vec<_>>());
        assert!((0..40).all(|input| varying.may_vary(input)));
    }

    #[test]
    fn trees_are_those_that_look_at_every_input() {
        let (columns, labels) = rare_and_frequent();
        let lists = UncommonInputs::of(&columns, N_ROWS);
        let no_lists = UncommonInputs {
            starts: vec![0; N_ROWS + 1],
            inputs: vec![],
            is_listed: vec![false; columns.len()],
        };
        for (is_extremely_random, n_tried) in [(false, 3), (true, 3), (false, 12)] {
            let [skipping, plain] = [&lists, &no_lists].map(|uncommon| {
                let (columns, labels, cancel) = (&columns[..], &labels, &Cancel::default());
                let soil = Soil {
                    columns,
                    uncommon,
                    labels,
                    n_tried,
                    min_leaf: 1,
                    is_extremely_random,
                    cancel,
                };
                soil.grow(Seed::new(3)).unwrap()
            });
            assert_eq!(skipping, plain);
        }
    }
}
