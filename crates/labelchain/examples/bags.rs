//! Rows that are bags of instances: read them, and make single rows of them.
//!
//! ```sh
//! cargo run --release -p labelchain --example bags
//! ```
#![allow(clippy::print_stdout)]

use labelchain::data::{Matrix, ReadOptions, Table, parse};
use labelchain::error::Result;
use labelchain::prepare::{BagReduction, MedoidStart};
use labelchain::seed::Seed;

/// Pictures, each a bag of regions with a colour and a size; `parse` reads what `read` would find
/// in a file.
const PICTURES: &str = r#"
@relation 'pictures: -C -2'
@attribute id {beach,harbour,meadow,forest}
@attribute regions relational
  @attribute blue numeric
  @attribute size numeric
@end regions
@attribute sea {0,1}
@attribute trees {0,1}
@data
beach,   "0.9,5\n0.2,3",        1,0
harbour, "0.8,4\n0.7,1\n0.1,1", 1,0
meadow,  "0.3,6",               0,0
forest,  "0.1,7\n0.2,2",        0,1
"#;

fn main() -> Result<()> {
    let read = parse("pictures.arff".as_ref(), PICTURES.as_bytes(), &ReadOptions::default())?;
    let Table::Bags(bags) = read.table else { return Ok(()) };
    for bag in 0..bags.n_bags() {
        println!("regions in picture {bag}: {}", bags.instances_of(bag).len());
    }

    // As the paper does: how far each bag is from a few that stand in the middle of others.
    let medoids = BagReduction::Medoids { n: 2, start: MedoidStart::Build, swap: true };
    let rows = medoids.fit(&bags, Seed::new(1))?.apply(&bags)?;
    let names: Vec<&str> = rows.attributes().iter().map(|column| column.name.as_str()).collect();
    println!("\nas single rows: {}", names.join(", "));
    let Matrix::Dense(cells) = rows.features() else { return Ok(()) };
    for row in 0..rows.n_rows() {
        let distances: Vec<String> = cells.row(row).iter().map(|d| format!("{d:.2}")).collect();
        println!("picture {row}: {}", distances.join(", "));
    }
    Ok(())
}
