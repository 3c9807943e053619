//! What can be set about a method, by the names and in the words of the command line.

use std::str::FromStr;

use crate::base::{Kernel, Likelihood, Svm, Ties};
use crate::distance::Metric;
use crate::experiment::Settings;

/// Settings as far as they are known before the data is: a method's own go over the study's.
#[derive(Clone)]
pub(super) struct Draft {
    settings: Settings,
    selects: bool,
    max_features: usize,
    pub(super) has_natural_order: bool,
}

impl Default for Draft {
    fn default() -> Draft {
        let settings = Settings::default();
        let max_features = settings.max_features.unwrap_or(usize::MAX);
        Draft { settings, selects: true, max_features, has_natural_order: false }
    }
}

/// Name, what is accepted, and how it is set: none where the text is not accepted.
type Setting = (&'static str, &'static str, fn(&mut Draft, &str) -> Option<()>);

pub(super) const SETTINGS: [Setting; 27] = [
    ("members", "a whole number from 1", |draft, text| {
        from_1(text).map(|n| draft.settings.sampling.n_members = n)
    }),
    ("sample", "a share above 0 and up to 1", |draft, text| {
        share(text).map(|share| draft.settings.sampling.sample = share)
    }),
    ("fit-share", "a share above 0 and up to 1", |draft, text| {
        share(text).map(|share| draft.settings.sampling.fit_share = share)
    }),
    ("decay", "\"auto\" or a number above 0", |draft, text| {
        or(text, "auto", above_0).map(|decay| draft.settings.decay = decay)
    }),
    ("neighbours", "\"auto\" or a whole number from 1", |draft, text| {
        or(text, "auto", from_1).map(|n| draft.settings.neighbours = n)
    }),
    ("max-imbalance", "\"none\" or a number from 1", |draft, text| {
        let from_1 = |text: &str| above_0(text).filter(|&ratio| ratio >= 1.0);
        or(text, "none", from_1).map(|ratio| draft.settings.max_imbalance = ratio)
    }),
    ("select", "\"cfs\" or \"none\"", |draft, text| {
        one_of(text, [("cfs", true), ("none", false)]).map(|selects| draft.selects = selects)
    }),
    ("max-features", "a whole number from 1", |draft, text| {
        from_1(text).map(|n| draft.max_features = n)
    }),
    (
        "likelihood",
        "\"auto\", \"gaussian\", \"weka\", \"discretized\" or \"kernel\"",
        |draft, text| {
            let names = [
                ("auto", Likelihood::Auto),
                ("gaussian", Likelihood::Gaussian),
                ("weka", Likelihood::Weka),
                ("discretized", Likelihood::Discretized),
                ("kernel", Likelihood::Kernel),
            ];
            one_of(text, names).map(|likelihood| draft.settings.likelihood = likelihood)
        },
    ),
    ("order", "\"random\" or \"natural\"", |draft, text| {
        one_of(text, [("random", false), ("natural", true)])
            .map(|natural| draft.has_natural_order = natural)
    }),
    ("metric", "\"euclidean\" or \"weka\"", |draft, text| {
        one_of(text, [("euclidean", Metric::Euclidean), ("weka", Metric::Weka)])
            .map(|metric| draft.settings.metric = metric)
    }),
    ("ties", "\"lower-row\" or \"weka\"", |draft, text| {
        one_of(text, [("lower-row", Ties::LowerRow), ("weka", Ties::Weka)])
            .map(|ties| draft.settings.ties = ties)
    }),
    ("kernel", "\"rbf\" or \"linear\"", |draft, text| {
        let kernels = [("rbf", Kernel::Rbf { gamma: None }), ("linear", Kernel::Linear)];
        one_of(text, kernels).map(|kernel| draft.machine().kernel = kernel)
    }),
    ("cost", "a number above 0", |draft, text| {
        above_0(text).map(|cost| draft.machine().cost = cost)
    }),
    ("gamma", "a number above 0", |draft, text| {
        above_0(text).map(|gamma| draft.machine().kernel = Kernel::Rbf { gamma: Some(gamma) })
    }),
    ("confidence", "a share above 0 and up to 1", |draft, text| {
        share(text).map(|share| draft.settings.tree.confidence = share)
    }),
    ("min-leaf", "a whole number from 1", |draft, text| {
        from_1(text).map(|n| draft.settings.tree.min_leaf = n)
    }),
    ("unpruned", "true or false", |draft, text| {
        parsed(text).map(|unpruned: bool| draft.settings.tree.pruned = !unpruned)
    }),
    ("binary-splits", "true or false", |draft, text| {
        parsed(text).map(|are_binary| draft.settings.tree.binary_splits = are_binary)
    }),
    ("orders", "a whole number from 1", |draft, text| {
        from_1(text).map(|n| draft.settings.n_orders = n)
    }),
    ("lenders", "a whole number from 1", |draft, text| {
        from_1(text).map(|n| draft.settings.n_lenders = n)
    }),
    ("candidates", "a whole number from 1", |draft, text| {
        from_1(text).map(|n| draft.settings.genetic.n_candidates = Some(n))
    }),
    ("population", "a whole number from 1", |draft, text| {
        from_1(text).map(|n| draft.settings.genetic.search.population = n)
    }),
    ("generations", "a whole number from 1", |draft, text| {
        from_1(text).map(|n| draft.settings.genetic.search.generations = n)
    }),
    ("crossover", "a share above 0 and up to 1", |draft, text| {
        share(text).map(|share| draft.settings.genetic.search.crossover = share)
    }),
    ("mutation", "a share above 0 and up to 1", |draft, text| {
        share(text).map(|share| draft.settings.genetic.search.mutation = Some(share))
    }),
    ("diversity", "the name of a distance of orders, or \"none\"", |draft, text| {
        or(text, "none", parsed).map(|distance| draft.settings.genetic.diversity = distance)
    }),
];

impl Draft {
    /// Settings of machines that are no longer searched for.
    fn machine(&mut self) -> &mut Svm {
        self.settings.machine.get_or_insert_default()
    }

    /// All but the order, which depends on the labels of the data.
    pub(super) fn settings(&self) -> Settings {
        let max_features = self.selects.then_some(self.max_features);
        Settings { max_features, ..self.settings.clone() }
    }
}

fn one_of<T: Copy, const N: usize>(text: &str, names: [(&str, T); N]) -> Option<T> {
    names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value)
}

/// A word that means none, or a value.
fn or<T>(text: &str, none: &str, value: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if text == none { Some(None) } else { value(text).map(Some) }
}

fn parsed<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

pub(super) fn from_1(text: &str) -> Option<usize> {
    parsed(text).filter(|&n| n >= 1)
}

fn above_0(text: &str) -> Option<f64> {
    parsed(text).filter(|number: &f64| *number > 0.0 && number.is_finite())
}

fn share(text: &str) -> Option<f64> {
    above_0(text).filter(|&share| share <= 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_word_settings_are_the_papers() {
        assert_eq!(Draft::default().settings(), Settings::default());
    }

    #[test]
    fn a_method_that_selects_again_keeps_the_studys_number_of_features() {
        let mut draft = Draft::default();
        let mut set = |name: &str, text: &str| {
            let (_, _, set) = SETTINGS.iter().find(|(known, ..)| *known == name).unwrap();
            set(&mut draft, text).unwrap();
        };
        set("max-features", "40");
        set("select", "none");
        set("select", "cfs");
        assert_eq!(draft.settings().max_features, Some(40));
    }

    #[test]
    fn every_setting_refuses_what_it_does_not_accept() {
        for (name, _, set) in SETTINGS {
            for text in ["", "0", "-1", "nan", "inf", "yes"] {
                assert_eq!(set(&mut Draft::default(), text), None, "{name} {text:?}");
            }
        }
    }
}
