//! Nominal inputs as indicators.

use crate::data::{Attribute, AttributeKind, Dataset, Dense, Matrix, Sparse};
use crate::error::Result;

/// Replaces every nominal input of more than two values by one 0/1 input per declared value,
/// called `name=value`, and one of two values by the indicator of the second, under its own name.
/// Numeric inputs stay. A missing cell makes all its indicators missing.
///
/// Names and columns follow from the declaration alone, never from the rows at hand, so two files
/// of one declaration get the same columns.
pub fn one_hot(data: &Dataset) -> Result<Dataset> {
    let mut attributes = Vec::new();
    // For each old column: where its new ones start and how many they are.
    let mut spans = Vec::with_capacity(data.n_features());
    for attribute in data.attributes() {
        let start = attributes.len();
        match &attribute.kind {
            AttributeKind::Nominal(values) if values.len() > 2 => {
                let name = |value: &String| format!("{}={value}", attribute.name);
                attributes.extend(values.iter().map(|value| Attribute::numeric(name(value))));
            }
            _ => attributes.push(Attribute::numeric(&attribute.name)),
        }
        spans.push((start, attributes.len() - start));
    }
    let expand = |row: usize| {
        data.features().entries(row).flat_map(|(column, value)| {
            let (start, width) = spans[column];
            let is_category = width > 1;
            let cells = match (is_category, value.is_nan()) {
                (true, true) => start..start + width,
                (true, false) => start + value as usize..start + value as usize + 1,
                (false, _) => start..start + 1,
            };
            let cell = if is_category && !value.is_nan() { 1.0 } else { value };
            cells.map(move |at| (at, cell))
        })
    };
    let features = match data.features() {
        Matrix::Dense(_) => {
            let mut dense = Dense::with_room(attributes.len(), data.n_rows());
            let mut cells = vec![0.0; attributes.len()];
            for row in 0..data.n_rows() {
                cells.fill(0.0);
                expand(row).for_each(|(at, value)| cells[at] = value);
                dense.push_row(&cells);
            }
            Matrix::Dense(dense)
        }
        Matrix::Sparse(_) => {
            let mut sparse = Sparse::new(attributes.len());
            let categories: Vec<usize> = (0..spans.len()).filter(|&at| spans[at].1 > 1).collect();
            for row in 0..data.n_rows() {
                let mut entries: Vec<(u32, f64)> =
                    expand(row).map(|(at, value)| (at as u32, value)).collect();
                // A category left out of a sparse row is its first value, which is an indicator too.
                let stored: Vec<usize> = data.features().entries(row).map(|(at, _)| at).collect();
                let omitted = categories.iter().filter(|at| stored.binary_search(at).is_err());
                entries.extend(omitted.map(|&at| (spans[at].0 as u32, 1.0)));
                entries.sort_unstable_by_key(|&(at, _)| at);
                sparse.push_row(entries);
            }
            Matrix::Sparse(sparse)
        }
    };
    data.with_features(attributes, features)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ReadOptions, parse};
    use std::path::Path;

    #[test]
    fn names_come_from_the_declaration_and_storage_does_not_matter() {
        let header = "@relation 't: -C -1'\n@attribute c {r,g,b}\n@attribute y {no,yes}\n\
                      @attribute x numeric\n@attribute a {0,1}\n@data\n";
        let read = |rows: &str| {
            let text = format!("{header}{rows}");
            let data = parse(Path::new("t.arff"), text.as_bytes(), &ReadOptions::default());
            one_hot(&data.unwrap().into_rows().unwrap()).unwrap()
        };
        let dense = read("r,no,5,1\ng,yes,0,0\n?,?,?,0\n");
        let sparse = read("{2 5,3 1}\n{0 g,1 yes}\n{0 ?,1 ?,2 ?}\n");
        let names: Vec<&str> = dense.attributes().iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["c=r", "c=g", "c=b", "y", "x"]);
        for data in [dense, sparse] {
            let row = |row| (0..5).map(|at| data.features().get(row, at)).collect::<Vec<_>>();
            assert_eq!(row(0), [1.0, 0.0, 0.0, 0.0, 5.0]);
            assert_eq!(row(1), [0.0, 1.0, 0.0, 1.0, 0.0]);
            assert!(row(2).iter().all(|cell| cell.is_nan()));
        }
    }
}
