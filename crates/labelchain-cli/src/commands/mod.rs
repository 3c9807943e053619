//! One file per command; each is a thin reading of one library call.

mod convert;
mod demo;
mod describe;
mod evaluate;
mod score;
mod split;

pub(crate) use convert::Convert;
pub(crate) use demo::Demo;
pub(crate) use describe::Describe;
pub(crate) use evaluate::Evaluate;
pub(crate) use score::Score;
pub(crate) use split::Split;
