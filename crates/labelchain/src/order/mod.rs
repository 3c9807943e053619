//! Orders chosen for each row: by the quality of each label near the row, or as a row near by has it;
//! and how far two orders are apart.

mod distance;
mod local_f1;
mod oocc;

pub use distance::OrderDistance;
pub use local_f1::LocalF1;
pub use oocc::Oocc;
