//! Which values a setting accepts, how they are read and spelt.

use std::ops::RangeInclusive;

use serde_json::Value;

/// A set of values of one type, with a spelling for each.
pub trait Accepts<T>: Sync {
    /// Reads a value; none if the text is not accepted.
    fn parse(&self, text: &str) -> Option<T>;

    /// The one spelling of a value, which [`Accepts::parse`] reads back.
    fn text(&self, value: &T) -> String;

    /// A value as JSON; its spelling unless it is a number or the like.
    fn json(&self, value: &T) -> Value {
        self.text(value).into()
    }

    /// What is accepted, as the end of the sentence "must be …".
    fn phrase(&self) -> String;

    /// What stands for a value in a synopsis.
    fn placeholder(&self) -> String;

    /// The words accepted, where nothing but words is.
    fn words(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Whether the values are on and off.
    fn is_flag(&self) -> bool {
        false
    }

    /// The word that says that there is no value, where one does: what JSON has as null.
    fn absent(&self) -> Option<&'static str> {
        None
    }
}

/// Whole numbers in a range.
pub struct Whole(pub RangeInclusive<usize>);

impl Accepts<usize> for Whole {
    fn parse(&self, text: &str) -> Option<usize> {
        text.parse().ok().filter(|number| self.0.contains(number))
    }

    fn text(&self, value: &usize) -> String {
        value.to_string()
    }

    fn json(&self, value: &usize) -> Value {
        (*value).into()
    }

    fn phrase(&self) -> String {
        format!("a whole number from {} to {}", self.0.start(), self.0.end())
    }

    fn placeholder(&self) -> String {
        "N".into()
    }
}

/// Finite numbers above a bound.
pub struct Above(pub f64);

impl Accepts<f64> for Above {
    fn parse(&self, text: &str) -> Option<f64> {
        finite(text).filter(|&number| number > self.0)
    }

    fn text(&self, value: &f64) -> String {
        value.to_string()
    }

    fn json(&self, value: &f64) -> Value {
        (*value).into()
    }

    fn phrase(&self) -> String {
        format!("a number above {}", self.0)
    }

    fn placeholder(&self) -> String {
        "NUMBER".into()
    }
}

/// Finite numbers from one bound to another, both included.
pub struct Between(pub f64, pub f64);

impl Accepts<f64> for Between {
    fn parse(&self, text: &str) -> Option<f64> {
        finite(text).filter(|number| (self.0..=self.1).contains(number))
    }

    fn text(&self, value: &f64) -> String {
        value.to_string()
    }

    fn json(&self, value: &f64) -> Value {
        (*value).into()
    }

    fn phrase(&self) -> String {
        if self.1 == f64::MAX {
            format!("a number from {}", self.0)
        } else {
            format!("a number from {} to {}", self.0, self.1)
        }
    }

    fn placeholder(&self) -> String {
        "NUMBER".into()
    }
}

/// Shares: numbers above 0 and up to a bound, which is included.
pub struct UpTo(pub f64);

impl Accepts<f64> for UpTo {
    fn parse(&self, text: &str) -> Option<f64> {
        finite(text).filter(|&share| share > 0.0 && share <= self.0)
    }

    fn text(&self, value: &f64) -> String {
        value.to_string()
    }

    fn json(&self, value: &f64) -> Value {
        (*value).into()
    }

    fn phrase(&self) -> String {
        format!("a share above 0 and up to {}", self.0)
    }

    fn placeholder(&self) -> String {
        "SHARE".into()
    }
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// On or off.
pub struct Flag;

impl Accepts<bool> for Flag {
    fn parse(&self, text: &str) -> Option<bool> {
        text.parse().ok()
    }

    fn text(&self, value: &bool) -> String {
        value.to_string()
    }

    fn json(&self, value: &bool) -> Value {
        (*value).into()
    }

    fn phrase(&self) -> String {
        "true or false".into()
    }

    fn placeholder(&self) -> String {
        "true|false".into()
    }

    fn is_flag(&self) -> bool {
        true
    }
}

/// One of a few words, each with what it stands for.
pub struct OneOf<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Clone + PartialEq + Sync> Accepts<T> for OneOf<T> {
    fn parse(&self, text: &str) -> Option<T> {
        self.0.iter().find(|(word, _)| *word == text).map(|(_, value)| value.clone())
    }

    fn text(&self, value: &T) -> String {
        let word = self.0.iter().find(|(_, known)| known == value);
        word.map_or(String::new(), |(word, _)| (*word).into())
    }

    fn phrase(&self) -> String {
        in_words(&self.words(), "or")
    }

    fn placeholder(&self) -> String {
        self.words().join("|")
    }

    fn words(&self) -> Vec<&'static str> {
        self.0.iter().map(|(word, _)| *word).collect()
    }
}

/// A word that stands for the absence of a value, or a value: `auto` or `none`, or a number.
pub struct Or<A>(pub &'static str, pub A);

impl<T, A: Accepts<T>> Accepts<Option<T>> for Or<A> {
    fn parse(&self, text: &str) -> Option<Option<T>> {
        if text == self.0 { Some(None) } else { self.1.parse(text).map(Some) }
    }

    fn text(&self, value: &Option<T>) -> String {
        value.as_ref().map_or_else(|| self.0.into(), |value| self.1.text(value))
    }

    /// `auto` leaves the value to the data; any other word says that there is none.
    fn json(&self, value: &Option<T>) -> Value {
        match value {
            Some(value) => self.1.json(value),
            None if self.absent().is_none() => self.0.into(),
            None => Value::Null,
        }
    }

    fn phrase(&self) -> String {
        if self.words().is_empty() {
            format!("{} or {}", self.0, self.1.phrase())
        } else {
            in_words(&self.words(), "or")
        }
    }

    fn placeholder(&self) -> String {
        format!("{}|{}", self.0, self.1.placeholder())
    }

    fn words(&self) -> Vec<&'static str> {
        let mut words = self.1.words();
        if !words.is_empty() {
            words.push(self.0);
        }
        words
    }

    fn absent(&self) -> Option<&'static str> {
        (self.0 != "auto").then_some(self.0)
    }
}

/// `a, b or c`, with another conjunction if need be.
pub(crate) fn in_words(words: &[&str], conjunction: &str) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).into(),
        [first @ .., last] => format!("{} {conjunction} {last}", first.join(", ")),
    }
}
