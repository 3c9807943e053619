//! Settings: each is declared once, beside the code that uses it.
//!
//! A declaration is a [`Setting`]: its name, what it accepts, its default and one sentence. The
//! command line, protocols of studies, `labelchain show`, the reference page `docs/settings.md` and
//! suggestions for misspelt names are all derived from it. Which methods a setting applies to is
//! not written down either: a base or a strategy lists the settings that it uses, and is handed no
//! others.
//!
//! ```
//! use labelchain::settings::{Above, Or, Setting, Settings};
//!
//! static DECAY: Setting<Option<f64>> = Setting {
//!     name: "decay",
//!     accepts: &Or("auto", Above(0.0)),
//!     default: None,
//!     help: "β: how fast memberships fall with distance; auto tunes it",
//! };
//!
//! let settings = Settings::default();
//! assert_eq!(settings.get(&DECAY), None);
//! let settings = settings.with(&DECAY, Some(2.0))?;
//! assert_eq!(settings.get(&DECAY), Some(2.0));
//! assert!(settings.with(&DECAY, Some(-1.0)).is_err());
//! # Ok::<(), labelchain::error::Error>(())
//! ```

mod accepts;

pub(crate) use accepts::in_words;

pub use accepts::{Above, Accepts, Between, Flag, OneOf, Or, UpTo, Whole};

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// What can be set: declared once, as a `static`, beside the code that reads it.
pub struct Setting<T: 'static> {
    /// Its name: `--name` on the command line, a key in protocols, a parameter in Python.
    pub name: &'static str,
    /// Which values it accepts.
    pub accepts: &'static dyn Accepts<T>,
    /// Its value unless it is set.
    pub default: T,
    /// One sentence for help and reference pages.
    pub help: &'static str,
}

/// A setting of any type, for tables: values are text.
pub trait AnySetting: Sync {
    /// Its name: `--name` on the command line, a key in protocols, a parameter in Python.
    fn name(&self) -> &'static str;

    /// One sentence for help and reference pages.
    fn help(&self) -> &'static str;

    /// Its value unless it is set.
    fn default_text(&self) -> String;

    /// What it accepts, as the end of the sentence "must be …".
    fn accepted(&self) -> String;

    /// What stands for a value in a synopsis: `N`, `SHARE`, `auto|NUMBER`.
    fn placeholder(&self) -> String;

    /// The words it accepts, where it accepts nothing but words.
    fn words(&self) -> Vec<&'static str>;

    /// Whether it is either on or off.
    fn is_flag(&self) -> bool;

    /// The word that says that there is no value, where one does: what [`AnySetting::json`] has as null.
    fn absent(&self) -> Option<&'static str>;

    /// The value in its one spelling; refused if it is not accepted.
    fn check(&self, text: &str) -> Result<String>;

    /// A value in its one spelling as JSON: a number where it is a number, null where it is absent and
    /// not left to the data.
    fn json(&self, text: &str) -> serde_json::Value;
}

impl<T: Clone + Sync> Setting<T> {
    fn refused(&self, text: &str) -> Error {
        Error::Value { name: self.name.into(), value: text.into(), accepted: self.accepts.phrase() }
    }
}

impl<T: Clone + Sync> AnySetting for Setting<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn help(&self) -> &'static str {
        self.help
    }

    fn default_text(&self) -> String {
        self.accepts.text(&self.default)
    }

    fn accepted(&self) -> String {
        self.accepts.phrase()
    }

    fn placeholder(&self) -> String {
        self.accepts.placeholder()
    }

    fn words(&self) -> Vec<&'static str> {
        self.accepts.words()
    }

    fn is_flag(&self) -> bool {
        self.accepts.is_flag()
    }

    fn absent(&self) -> Option<&'static str> {
        self.accepts.absent()
    }

    fn check(&self, text: &str) -> Result<String> {
        let value = self.accepts.parse(text).ok_or_else(|| self.refused(text))?;
        Ok(self.accepts.text(&value))
    }

    fn json(&self, text: &str) -> serde_json::Value {
        self.accepts.parse(text).map_or(text.into(), |value| self.accepts.json(&value))
    }
}

/// Values of settings. Only accepted values get in; what is not set has its default.
///
/// Values are kept in their one spelling, so that two `Settings` are equal exactly if they mean the
/// same, and so that they can be stored and compared without knowing their types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    values: BTreeMap<&'static str, String>,
}

impl Settings {
    /// The value of a setting.
    pub fn get<T: Clone>(&self, setting: &Setting<T>) -> T {
        let value = self.values.get(setting.name).and_then(|text| setting.accepts.parse(text));
        value.unwrap_or_else(|| setting.default.clone())
    }

    /// The same with another value of a setting; refused if it is not accepted.
    pub fn with<T: Clone + PartialEq + Sync>(
        mut self,
        setting: &Setting<T>,
        value: T,
    ) -> Result<Settings> {
        let text = setting.accepts.text(&value);
        // A value whose spelling means another one, such as a label called "natural" in an order.
        if setting.accepts.parse(&text) != Some(value) {
            return Err(setting.refused(&text));
        }
        self.set(setting, &text)?;
        Ok(self)
    }

    /// Sets a value that is given as text; refused if it is not accepted.
    pub fn set(&mut self, setting: &dyn AnySetting, text: &str) -> Result<()> {
        let text = setting.check(text)?;
        if text == setting.default_text() {
            self.values.remove(setting.name());
        } else {
            self.values.insert(setting.name(), text);
        }
        Ok(())
    }

    /// The value of a setting in its one spelling.
    pub fn text(&self, setting: &dyn AnySetting) -> String {
        self.values.get(setting.name()).cloned().unwrap_or_else(|| setting.default_text())
    }

    /// The value of a setting as JSON.
    pub fn json(&self, setting: &dyn AnySetting) -> serde_json::Value {
        setting.json(&self.text(setting))
    }

    /// The values of these settings alone; whoever reads another one sees its default. A base and a
    /// strategy are handed only what they list, so that a list cannot be shorter than the truth.
    pub fn only(&self, listed: &[&dyn AnySetting]) -> Settings {
        let is_listed = |name: &str| listed.iter().any(|setting| setting.name() == name);
        let mut values = self.values.clone();
        values.retain(|name, _| is_listed(name));
        Settings { values }
    }

    /// Names and values that differ from their defaults, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.values.iter().map(|(name, text)| (*name, text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static MEMBERS: Setting<usize> =
        Setting { name: "members", accepts: &Whole(1..=100), default: 20, help: "Members" };
    static SAMPLE: Setting<f64> =
        Setting { name: "sample", accepts: &UpTo(1.0), default: 0.66, help: "Share" };
    static PRUNED: Setting<bool> =
        Setting { name: "pruned", accepts: &Flag, default: true, help: "Pruned" };

    #[test]
    fn a_value_that_is_not_accepted_does_not_get_in() {
        let mut settings = Settings::default();
        for text in ["0", "101", "-1", "1.5", "", "many", "99999999999999999999"] {
            let message = settings.set(&MEMBERS, text).unwrap_err().to_string();
            assert!(message.starts_with("members is "), "{message}");
            assert!(message.ends_with("a whole number from 1 to 100"), "{message}");
        }
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn one_meaning_has_one_spelling() {
        let mut settings = Settings::default();
        settings.set(&SAMPLE, "0.50").unwrap();
        assert_eq!(settings, Settings::default().with(&SAMPLE, 0.5).unwrap());
        settings.set(&SAMPLE, "0.66").unwrap();
        assert_eq!(settings, Settings::default(), "a default that is spelt out is the default");
    }

    #[test]
    fn what_is_not_listed_is_not_seen() {
        let settings = Settings::default().with(&MEMBERS, 3).unwrap().with(&PRUNED, false).unwrap();
        let restricted = settings.only(&[&PRUNED]);
        assert_eq!((restricted.get(&MEMBERS), restricted.get(&PRUNED)), (20, false));
    }

    #[test]
    fn json_has_numbers_where_there_are_numbers() {
        let settings = Settings::default().with(&MEMBERS, 3).unwrap();
        assert_eq!(settings.json(&MEMBERS), 3);
        assert_eq!(settings.json(&SAMPLE), 0.66);
        assert_eq!(settings.json(&PRUNED), true);
    }
}
