//! Methods: a strategy and a base by name, such as `dynamic-nb`, perhaps with an aim, such as
//! `dynamic-nb@macro-f1`, and everything that can be set about them.
//!
#![doc = include_str!("settings.md")]

mod fingerprint;
mod fit;
mod parts;

pub(crate) use fit::{Fitted, Fitting, fit};
pub(crate) use parts::fit_parts;

use std::fmt;
use std::str::FromStr;

use crate::base::{BASES, Base};
use crate::decide::Aim;
use crate::ensemble::{
    FIT_SHARE, MEMBERS, MemberRows, SAMPLE, SEARCH_ROWS, STRATEGIES, Sampling, SearchRows,
    Strategy, VOTE_TIES,
};
use crate::error::{Error, Result, nearest};
use crate::prepare::{Preparation, TextSettings};
use crate::settings::{AnySetting, Settings, in_words};

/// A strategy and a base that go together, and what their answers aim at.
///
/// ```
/// use labelchain::Method;
/// use labelchain::decide::Aim;
///
/// let method: Method = "ecc-nb@macro-f1".parse()?;
/// assert_eq!((method.strategy().name, method.base().name), ("ecc", "nb"));
/// assert_eq!(method.aim(), Aim::MacroF1);
/// assert!("dynamic-j48".parse::<Method>().is_err(), "trees are bound to the order of their training");
/// # Ok::<(), labelchain::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Method {
    strategy: &'static Strategy,
    base: &'static Base,
    /// None where none was named, so that a method is called as it was typed.
    aim: Option<Aim>,
}

impl Method {
    /// The method to start with (docs/forest.md).
    pub const DEFAULT: &str = "certain-forest";

    /// A method of these two that aims at votes; refused where orders are chosen for each row and models
    /// must be trained for one, and where members are searched for and all share one model.
    pub fn new(strategy: &'static Strategy, base: &'static Base) -> Result<Method> {
        let refused = |accepted| {
            let value = format!("{:?}", format!("{}-{}", strategy.name, base.name));
            Err(Error::Value { name: "method".into(), value, accepted })
        };
        if searches_one_model(strategy, base) {
            let searched = STRATEGIES.iter().filter(|it| it.is_searched).map(|it| it.name);
            let others = STRATEGIES.iter().filter(|it| !it.is_searched).map(|it| it.name);
            return refused(format!(
                "a search among members that learn from different rows, which those of {} do not: {} go with other bases; {} takes {}",
                base.name,
                in_words(&searched.collect::<Vec<_>>(), "and"),
                base.name,
                in_words(&others.collect::<Vec<_>>(), "or"),
            ));
        }
        if !is_bound_to_an_order(strategy, base) {
            return Ok(Method { strategy, base, aim: None });
        }
        let names = |is_wanted: &dyn Fn(&Base) -> bool| {
            let names = BASES.iter().filter(|base| is_wanted(base)).map(|base| base.name);
            in_words(&names.collect::<Vec<_>>(), "or")
        };
        let per_row = STRATEGIES.iter().filter(|it| it.chooses_per_row()).map(|it| it.name);
        let others = STRATEGIES.iter().filter(|it| !it.chooses_per_row()).map(|it| it.name);
        refused(format!(
            "a model that can be walked in any order: {} take {}; {} go with {}",
            in_words(&per_row.collect::<Vec<_>>(), "and"),
            names(&|base| base.is_free_of_order()),
            names(&|base| !base.is_free_of_order()).replace(" or ", " and "),
            in_words(&others.collect::<Vec<_>>(), "or"),
        ))
    }

    /// The same with another aim.
    pub fn with_aim(self, aim: Aim) -> Method {
        Method { aim: Some(aim), ..self }
    }

    /// The same without an aim of its own: what is trained.
    pub fn without_aim(self) -> Method {
        Method { aim: None, ..self }
    }

    /// What its answers aim at; votes where nothing else was named.
    pub fn aim(self) -> Aim {
        self.aim.unwrap_or(Aim::Votes)
    }

    /// Whether an aim was named.
    pub fn has_aim(self) -> bool {
        self.aim.is_some()
    }

    /// All methods, strategy by strategy, without an aim of their own.
    pub fn all() -> impl Iterator<Item = Method> {
        // A refusal takes long to word.
        let is_refused = |strategy, base| {
            searches_one_model(strategy, base) || is_bound_to_an_order(strategy, base)
        };
        STRATEGIES.iter().flat_map(move |&strategy| {
            let bases = BASES.iter().filter(move |&&base| !is_refused(strategy, base));
            bases.map(move |&base| Method { strategy, base, aim: None })
        })
    }

    /// Who chooses the orders, and which members vote.
    pub fn strategy(self) -> &'static Strategy {
        self.strategy
    }

    /// What is trained.
    pub fn base(self) -> &'static Base {
        self.base
    }

    /// A few digits that change when the method answers otherwise on a fixed data set of numbers, with
    /// its default settings, or when a loss of those answers changes. Studies keep them beside results,
    /// so that results of two programs do not mix.
    pub fn fingerprint(self) -> String {
        fingerprint::fingerprint(self)
    }

    /// The settings that can change what this method does.
    pub fn settings(self) -> impl Iterator<Item = &'static dyn AnySetting> {
        let is_drawn = self.base.member_rows == MemberRows::Drawn;
        let votes = is_drawn || self.strategy.differs_by_order();
        let is_chained = self.strategy.is_chained();
        let some = |is_used, settings: &'static [&'static dyn AnySetting]| {
            settings.iter().copied().filter(move |_| is_used)
        };
        some(true, TextSettings::SETTINGS)
            .chain(some(votes, VOTING))
            .chain(some(is_drawn, Sampling::SETTINGS))
            .chain(some(is_drawn, Preparation::SETTINGS))
            .chain(some(true, self.strategy.settings))
            .chain(some(true, self.base.settings))
            .chain(some(is_chained, self.base.chain_settings))
    }

    /// Whether a setting, by its name, can change what this method does.
    pub fn uses(self, setting: &str) -> bool {
        self.settings().any(|known| known.name() == setting)
    }

    /// Refuses settings that contradict the method.
    pub fn check(self, settings: &Settings) -> Result<()> {
        let search_rows = settings.get(&SEARCH_ROWS);
        if self.strategy.is_searched
            && search_rows == SearchRows::OutOfBag
            && settings.get(&SAMPLE) == 1.0
        {
            return Err(Error::Value {
                name: SAMPLE.name.into(),
                value: "1".into(),
                accepted: "below 1 where search-rows is out-of-bag, because candidates vote on the rows that they did not draw".into(),
            });
        }
        let holds_out_rows = if self.base.member_rows == MemberRows::Shared {
            false
        } else if self.strategy.is_searched {
            search_rows == SearchRows::HeldOut
        } else {
            self.strategy.needs_validation()
        };
        if !holds_out_rows || settings.get(&FIT_SHARE) < 1.0 {
            return Ok(());
        }
        let needing = STRATEGIES.iter().filter(|it| it.needs_validation()).map(|it| it.name);
        let others = STRATEGIES.iter().filter(|it| !it.needs_validation()).map(|it| it.name);
        let way_out = if self.strategy.is_searched {
            format!(", nor does {} where search-rows is out-of-bag or training", self.strategy.name)
        } else {
            String::new()
        };
        Err(Error::Value {
            name: FIT_SHARE.name.into(),
            value: "1".into(),
            accepted: format!(
                "below 1 for {}, which choose orders or members on validation rows; {} need none{way_out}",
                in_words(&needing.collect::<Vec<_>>(), "and"),
                in_words(&others.collect::<Vec<_>>(), "and"),
            ),
        })
    }

    /// Whether each input is learned without a look at the others, so that not all need be in memory
    /// at a time. Where labels select their features, or something is chosen on validation rows, all
    /// inputs are looked at together.
    pub fn learns_by_column(self, settings: &Settings) -> bool {
        let selects = Preparation::of(settings).is_ok_and(|it| it.selection.is_some());
        self.base.learns_by_column && !self.strategy.needs_validation() && !selects
    }
}

/// The settings of methods whose members differ.
const VOTING: &[&dyn AnySetting] = &[&MEMBERS, &VOTE_TIES];

/// Whether members would be searched for among candidates that all share one model.
fn searches_one_model(strategy: &Strategy, base: &Base) -> bool {
    strategy.is_searched && base.member_rows == MemberRows::Shared
}

/// Whether orders would be chosen for each row for models that are trained for one.
fn is_bound_to_an_order(strategy: &Strategy, base: &Base) -> bool {
    strategy.chooses_per_row() && !base.is_free_of_order()
}

/// Every setting there is, once each.
fn all_settings() -> Vec<&'static dyn AnySetting> {
    let of_bases = BASES.iter().flat_map(|base| [base.settings, base.chain_settings]);
    let of_strategies = STRATEGIES.iter().map(|strategy| strategy.settings);
    let of_members =
        [VOTING, Sampling::SETTINGS, Preparation::SETTINGS, TextSettings::SETTINGS].into_iter();
    let mut all: Vec<&'static dyn AnySetting> = Vec::new();
    for &setting in of_members.chain(of_bases).chain(of_strategies).flatten() {
        if all.iter().all(|known| known.name() != setting.name()) {
            all.push(setting);
        }
    }
    all
}

/// Every setting there is, once each, with the methods that use it.
pub fn registry() -> Vec<Registered> {
    let methods: Vec<Method> = Method::all().collect();
    let registered = |setting: &'static dyn AnySetting| {
        let users = methods.iter().copied().filter(|method| method.uses(setting.name()));
        Registered { setting, users: users.collect() }
    };
    all_settings().into_iter().map(registered).collect()
}

/// A setting, and what uses it.
pub struct Registered {
    /// The setting.
    pub setting: &'static dyn AnySetting,
    /// The methods that use it.
    pub users: Vec<Method>,
}

impl Registered {
    /// Which methods use the setting, in a few words: those with some bases, those of some strategies, and
    /// others by name.
    pub fn applies_to(&self) -> String {
        let is_whole = |belongs: &dyn Fn(&Method) -> bool| {
            Method::all().filter(belongs).all(|method| self.users.contains(&method))
        };
        let bases = BASES.iter().filter(|base| is_whole(&|it| it.base.name == base.name));
        let bases: Vec<String> = bases.map(|base| format!("-{}", base.name)).collect();
        let is_of_base = |method: &Method| bases.iter().any(|it| it[1..] == *method.base.name);
        let others: Vec<Method> = self.users.iter().copied().filter(|it| !is_of_base(it)).collect();
        let strategies = STRATEGIES.iter().filter(|strategy| {
            let is_of = |it: &Method| it.strategy.name == strategy.name;
            others.iter().any(is_of) && is_whole(&is_of)
        });
        let mut names: Vec<String> = strategies.map(|strategy| strategy.name.into()).collect();
        let alone = others.iter().filter(|it| !names.iter().any(|name| name == it.strategy.name));
        let alone: Vec<String> = alone.map(Method::to_string).collect();
        names.extend(alone);
        let words = |names: &[String]| {
            in_words(&names.iter().map(String::as_str).collect::<Vec<_>>(), "and")
        };
        match (bases.len(), names.len()) {
            (n_bases, _) if n_bases == BASES.len() => "all methods".into(),
            (0, 1) => format!("method {}", names[0]),
            (0, _) => format!("methods {}", words(&names)),
            (_, 0) => format!("methods with {}", words(&bases)),
            _ => format!("methods with {}, and {}", words(&bases), words(&names)),
        }
    }
}

/// The setting of a name; an unknown name is refused with the most similar one there is.
pub fn setting(name: &str) -> Result<&'static dyn AnySetting> {
    let all = all_settings();
    match all.iter().find(|known| known.name() == name) {
        Some(known) => Ok(*known),
        None => {
            let names: Vec<String> = all.iter().map(|known| known.name().into()).collect();
            let nearest = nearest(name, &names).cloned();
            Err(Error::UnknownName { what: "setting", name: name.into(), nearest })
        }
    }
}

impl PartialEq for Method {
    fn eq(&self, other: &Method) -> bool {
        let names = |of: &Method| (of.strategy.name, of.base.name, of.aim);
        names(self) == names(other)
    }
}

impl Eq for Method {}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.strategy.name, self.base.name)?;
        self.aim.map_or(Ok(()), |aim| write!(f, "@{aim}"))
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Method> {
        if let Some((method, aim)) = text.split_once('@') {
            return Ok(method.parse::<Method>()?.with_aim(aim.parse()?));
        }
        let named = text.rsplit_once('-').and_then(|(strategy, base)| {
            let strategy = STRATEGIES.iter().find(|known| known.name == strategy)?;
            Some((*strategy, *BASES.iter().find(|known| known.name == base)?))
        });
        if let Some((strategy, base)) = named {
            return Method::new(strategy, base);
        }
        let known: Vec<String> = Method::all().map(|method| method.to_string()).collect();
        let strategies: Vec<&str> = STRATEGIES.iter().map(|known| known.name).collect();
        let bases: Vec<&str> = BASES.iter().map(|known| known.name).collect();
        Err(Error::UnknownMethod {
            name: text.into(),
            strategies: strategies.join(", "),
            bases: bases.join(", "),
            nearest: nearest(text, &known).cloned(),
        })
    }
}
