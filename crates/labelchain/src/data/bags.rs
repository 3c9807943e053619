//! Multi-instance data: each row is a bag of instances.

use std::ops::Range;

use super::{Attribute, Dataset, Matrix};
use crate::error::{Error, Result};

/// Labelled bags of instances.
#[derive(Clone, Debug, PartialEq)]
pub struct Bags {
    pub(super) rows: Dataset,
    name: String,
    attributes: Vec<Attribute>,
    instances: Matrix,
    /// Bag b owns instances `starts[b]..starts[b + 1]`.
    starts: Vec<usize>,
}

impl Bags {
    /// Puts the parts together; they must fit.
    pub fn new(
        rows: Dataset,
        name: String,
        attributes: Vec<Attribute>,
        instances: Matrix,
        starts: Vec<usize>,
    ) -> Result<Bags> {
        Error::unless_same(
            "columns of the instance table",
            attributes.len(),
            instances.n_columns(),
        )?;
        Error::unless_same("bag borders", rows.n_rows() + 1, starts.len())?;
        Error::unless_same(
            "instances in bags",
            instances.n_rows(),
            starts.last().copied().unwrap_or(0),
        )?;
        Ok(Bags { rows, name, attributes, instances, starts })
    }

    /// One row for each bag, of what describes it as a whole: its labels and its identifier.
    pub fn rows(&self) -> &Dataset {
        &self.rows
    }

    /// The name of the relational attribute.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns of an instance.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// All instances, bag after bag.
    pub fn instances(&self) -> &Matrix {
        &self.instances
    }

    /// The bags named, in that order.
    pub fn select(&self, bags: &[usize]) -> Bags {
        let instances: Vec<usize> = bags.iter().flat_map(|&bag| self.instances_of(bag)).collect();
        let mut starts = vec![0];
        for &bag in bags {
            starts.push(starts[starts.len() - 1] + self.instances_of(bag).len());
        }
        Bags {
            rows: self.rows.select(bags),
            name: self.name.clone(),
            attributes: self.attributes.clone(),
            instances: self.instances.select(&instances),
            starts,
        }
    }

    /// The same bags with other rows to describe each as a whole; there must be one for each bag.
    pub fn with_rows(&self, rows: Dataset) -> Result<Bags> {
        Error::unless_same("bags", self.rows.n_rows(), rows.n_rows())?;
        Ok(Bags { rows, ..self.clone() })
    }

    /// How many bags.
    pub fn n_bags(&self) -> usize {
        self.rows.n_rows()
    }

    /// The instances of one bag.
    pub fn instances_of(&self, bag: usize) -> Range<usize> {
        self.starts[bag]..self.starts[bag + 1]
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{ReadOptions, Table, parse};

    #[test]
    fn selected_bags_keep_their_instances() {
        let text = "@relation 'b: -C -1'\n@attribute bag relational\n@attribute x numeric\n@end bag\n\
                    @attribute a {0,1}\n@data\n'1\\n2',1\n'3',0\n'4\\n5\\n6',1\n";
        let reading = parse("b.arff".as_ref(), text.as_bytes(), &ReadOptions::default()).unwrap();
        let Table::Bags(bags) = reading.table else { panic!("bags") };
        let chosen = bags.select(&[2, 0]);
        let cells = |bag: usize| -> Vec<f64> {
            chosen.instances_of(bag).map(|at| chosen.instances().get(at, 0)).collect()
        };
        assert_eq!((cells(0), cells(1)), (vec![4.0, 5.0, 6.0], vec![1.0, 2.0]));
        assert_eq!(chosen.rows().labels().counts(), [2]);
        assert_eq!(bags.select(&[0, 1, 2]), bags);
    }
}
