//! Parts of a study: shards for several machines, and selected sets, methods or folds.

use std::str::FromStr;

use super::protocol::Protocol;
use crate::error::{Error, Result, nearest};

/// One part of several of a study: `3/10` is the third of ten. Folds are numbered over all sets, and
/// each of ten shards has every tenth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    at: usize,
    n_shards: usize,
}

impl Shard {
    /// The only part.
    pub const WHOLE: Shard = Shard { at: 0, n_shards: 1 };

    pub(super) fn has(&self, unit: usize) -> bool {
        unit % self.n_shards == self.at
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Shard> {
        let parts = text.split_once('/').and_then(|(at, of)| {
            Some((at.trim().parse::<usize>().ok()?, of.trim().parse::<usize>().ok()?))
        });
        match parts {
            Some((at, n_shards)) if at >= 1 && at <= n_shards => Ok(Shard { at: at - 1, n_shards }),
            _ => Err(Error::Setting {
                name: "shard",
                value: format!("{text:?}"),
                accepted: "one of how many: of ten parts, the first is 1/10 and the last 10/10",
            }),
        }
    }
}

/// A selection of sets, methods and folds. Where none is named, all are selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only {
    sets: Vec<String>,
    methods: Vec<String>,
    folds: Vec<usize>,
}

/// Reads `set=yeast,flags,method=ecc-nb,fold=0`: a name belongs to the last keyword before it.
impl FromStr for Only {
    type Err = Error;

    fn from_str(text: &str) -> Result<Only> {
        let mut only = Only::default();
        let mut keyword = "";
        for piece in text.split(',') {
            let mut name = piece.trim();
            if let Some((before, after)) = name.split_once('=') {
                (keyword, name) = (before.trim(), after.trim());
            }
            match (keyword, name.parse()) {
                ("set", _) if !name.is_empty() => only.sets.push(name.into()),
                ("method", _) if !name.is_empty() => only.methods.push(name.into()),
                ("fold", Ok(fold)) => only.folds.push(fold),
                _ => {
                    return Err(Error::Setting {
                        name: "only",
                        value: format!("{text:?}"),
                        accepted: "set=NAMES, method=NAMES or fold=NUMBERS, or several of them",
                    });
                }
            }
        }
        Ok(only)
    }
}

impl Only {
    /// Refuses names that the protocol does not have.
    pub(super) fn check(&self, protocol: &Protocol) -> Result<()> {
        let sets: Vec<String> = protocol.sets.iter().map(|set| set.name.clone()).collect();
        let methods: Vec<String> =
            protocol.methods.iter().map(|method| method.name.clone()).collect();
        let folds: Vec<String> = (0..protocol.n_folds).map(|fold| fold.to_string()).collect();
        let selected_folds: Vec<String> = self.folds.iter().map(usize::to_string).collect();
        for (role, selected, known) in [
            ("set", &self.sets, &sets),
            ("method", &self.methods, &methods),
            ("fold", &selected_folds, &folds),
        ] {
            if let Some(name) = selected.iter().find(|name| !known.contains(name)) {
                let nearest = nearest(name, known).cloned();
                return Err(Error::NotInProtocol { role, name: name.clone(), nearest });
            }
        }
        Ok(())
    }

    pub(super) fn has(&self, set: &str, fold: usize) -> bool {
        (self.sets.is_empty() || self.sets.iter().any(|name| name == set))
            && (self.folds.is_empty() || self.folds.contains(&fold))
    }

    pub(super) fn has_folds(&self) -> bool {
        !self.folds.is_empty()
    }

    pub(super) fn has_method(&self, method: &str) -> bool {
        self.methods.is_empty() || self.methods.iter().any(|name| name == method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fold_is_in_one_shard() {
        let shards: Vec<Shard> =
            ["1/3", "2/3", " 3 / 3"].map(|text| text.parse().unwrap()).to_vec();
        for unit in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.has(unit)).count(), 1, "{unit}");
        }
        for text in ["", "3", "0/3", "4/3", "1/0", "-1/2", "1/2/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn names_belong_to_the_keyword_before_them() {
        let only: Only = "set=yeast, flags,method=ecc-nb,fold=0,2".parse().unwrap();
        assert_eq!(only.sets, ["yeast", "flags"]);
        assert_eq!(only.methods, ["ecc-nb"]);
        assert_eq!(only.folds, [0, 2]);
        for text in ["", "yeast", "sets=yeast", "set=", "fold=x", "set=a,"] {
            assert!(text.parse::<Only>().is_err(), "{text:?}");
        }
    }
}
