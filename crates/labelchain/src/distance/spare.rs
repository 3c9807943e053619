//! Memory of tables that nobody needs any more.

use std::sync::Mutex;

/// Tables of numbers to be written over. A block of rows needs tables of megabytes, and new ones for each
/// block would be zeroed by the system page by page, which takes as long as computing what stands in them.
#[derive(Debug, Default)]
pub(super) struct SpareTables(Mutex<Vec<Vec<f64>>>);

/// A block has a table of distances and one of memberships.
const MOST_TABLES: usize = 2;

impl SpareTables {
    /// A table of so many numbers, which may be anything.
    pub(super) fn take(&self, len: usize) -> Vec<f64> {
        let spare = self.0.lock().ok().and_then(|mut tables| tables.pop());
        match spare {
            Some(mut table) => {
                table.resize(len, 0.0);
                table
            }
            // Zeros come from the system as they are.
            None => vec![0.0; len],
        }
    }

    /// Keeps a table for whoever takes the next.
    pub(super) fn give(&self, table: Vec<f64>) {
        if let Ok(mut tables) = self.0.lock()
            && tables.len() < MOST_TABLES
        {
            tables.push(table);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_taken_again_in_any_length() {
        let spare = SpareTables::default();
        let table = spare.take(100);
        let place = table.as_ptr();
        spare.give(table);
        let shorter = spare.take(40);
        assert_eq!((shorter.as_ptr(), shorter.len()), (place, 40));
        let other = spare.take(40);
        assert_ne!(other.as_ptr(), place, "the first is still in use");
        spare.give(shorter);
        let longer = spare.take(100);
        assert_eq!((longer.as_ptr(), longer.len()), (place, 100));
    }
}
