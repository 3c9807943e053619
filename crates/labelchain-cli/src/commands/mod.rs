//! One file per command; each is a thin reading of one library call.

mod compare;
mod completions;
mod convert;
mod datasets;
mod demo;
mod describe;
mod evaluate;
mod explain;
mod generate;
mod man;
mod predict;
mod score;
mod serve;
mod show;
mod split;
mod study;
mod train;
mod update;

pub(crate) use compare::Compare;
pub(crate) use completions::Completions;
pub(crate) use convert::{Convert, convert_line};
pub(crate) use datasets::Datasets;
pub(crate) use demo::Demo;
pub(crate) use describe::Describe;
pub(crate) use evaluate::Evaluate;
pub(crate) use explain::Explain;
pub(crate) use generate::Generate;
pub(crate) use man::Man;
pub(crate) use predict::Predict;
pub(crate) use score::Score;
pub(crate) use serve::Serve;
pub(crate) use show::Show;
pub(crate) use split::Split;
pub(crate) use study::Study;
pub(crate) use train::Train;
pub(crate) use update::Update;
