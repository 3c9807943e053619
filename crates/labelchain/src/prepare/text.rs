//! Texts as weights of words: a bag of words and of pairs of neighbouring words, weighed by tf-idf.
//!
//! The weight of a term t in a text is tf(t) · idf(t): how often it occurs there, times
//! idf(t) = ln((1 + n) / (1 + df(t))) + 1, where df(t) of the n training texts have it. The weights of a text
//! are then divided by their Euclidean length, so that long texts are not far from everything. These are the
//! definitions of scikit-learn's `TfidfVectorizer`, to which a test holds them.
//!
//! A word is a run of letters, digits and underscores of at least two characters, in lower case. Scripts that
//! put no blanks between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) have a word for each character,
//! and pairs of them come close to words; an emoji is a word, too.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::settings::{AnySetting, Setting, Settings, Whole};

/// In how many texts a word must occur.
pub static MIN_DOCUMENTS: Setting<usize> = Setting {
    name: "min-documents",
    accepts: &Whole(1..=1_000_000),
    default: 2,
    help: "Of texts, words and pairs of words that occur in fewer training rows are left out",
};

/// How many words are kept.
pub static MAX_WORDS: Setting<usize> = Setting {
    name: "max-words",
    accepts: &Whole(1..=1_000_000),
    default: 20_000,
    help: "Of texts, so many words and pairs of words are kept, those of most training rows",
};

/// Which terms are learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextSettings {
    /// In how many texts a term must occur.
    pub min_documents: usize,
    /// How many terms are kept, of each column.
    pub max_words: usize,
}

impl Default for TextSettings {
    fn default() -> TextSettings {
        TextSettings::of(&Settings::default())
    }
}

impl TextSettings {
    /// What they are called, where a data set has texts.
    pub const SETTINGS: &'static [&'static dyn AnySetting] = &[&MIN_DOCUMENTS, &MAX_WORDS];

    /// As they are set.
    pub fn of(settings: &Settings) -> TextSettings {
        TextSettings {
            min_documents: settings.get(&MIN_DOCUMENTS),
            max_words: settings.get(&MAX_WORDS),
        }
    }
}

/// The terms of a column of texts, which are words and pairs of words, and how rare each is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Terms", into = "Terms")]
pub struct Vocabulary {
    terms: Terms,
    index: Index,
}

impl PartialEq for Vocabulary {
    /// The index follows from the terms.
    fn eq(&self, other: &Vocabulary) -> bool {
        self.terms == other.terms
    }
}

/// What is stored of a vocabulary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Terms {
    /// In alphabetical order; the words of a pair with a blank between them.
    names: Vec<String>,
    /// The inverse document frequency of each.
    idf: Vec<f64>,
}

/// Finds terms by their words.
#[derive(Clone, Debug, Default)]
struct Index {
    words: Words,
    /// The term that each word is by itself; none for words that occur in pairs alone.
    term_of_word: Vec<Option<u32>>,
    /// The term of each pair of words.
    term_of_pair: HashMap<[u32; 2], u32, RandomState>,
}

/// Words by number. No result depends on the hash function; that of the standard library would take most of the
/// time, for texts are full of short words.
type Words = HashMap<String, u32, RandomState>;

impl TryFrom<Terms> for Vocabulary {
    type Error = Error;

    fn try_from(terms: Terms) -> Result<Vocabulary> {
        Error::unless_same("weights of words", terms.names.len(), terms.idf.len())?;
        if !terms.names.is_sorted_by(|a, b| a < b)
            || !terms.idf.iter().all(|idf| idf.is_finite() && *idf > 0.0)
        {
            let (name, accepted) =
                ("words", "different, in alphabetical order, with weights above 0");
            return Err(Error::Setting { name, value: "others".into(), accepted });
        }
        let mut index = Index::default();
        for (at, name) in (0..).zip(&terms.names) {
            match name.split_once(' ') {
                None => {
                    let word = index.word(name);
                    index.term_of_word[word as usize] = Some(at);
                }
                Some((first, second)) => {
                    let pair = [index.word(first), index.word(second)];
                    index.term_of_pair.insert(pair, at);
                }
            }
        }
        Ok(Vocabulary { terms, index })
    }
}

impl From<Vocabulary> for Terms {
    fn from(vocabulary: Vocabulary) -> Terms {
        vocabulary.terms
    }
}

impl Index {
    /// The number of a word, which is new or known.
    fn word(&mut self, word: &str) -> u32 {
        if let Some(&known) = self.words.get(word) {
            return known;
        }
        let new = self.words.len() as u32;
        self.words.insert(word.into(), new);
        self.term_of_word.push(None);
        new
    }
}

impl Vocabulary {
    /// The terms that occur in enough texts. A pair occurs in no more texts than either of its words, so that
    /// rare words are forgotten before any pair is counted.
    pub fn fit<'t>(
        texts: impl IntoIterator<Item = Option<&'t str>>,
        settings: TextSettings,
    ) -> Result<Vocabulary> {
        Vocabulary::fit_within(texts, settings, "texts", &Memory::new(u64::MAX))
    }

    /// The same, refused where words and pairs, or the weights of the terms in these texts, take more memory than
    /// there is; `name` is that of the data, for messages. What is reserved is given back.
    pub(super) fn fit_within<'t>(
        texts: impl IntoIterator<Item = Option<&'t str>>,
        settings: TextSettings,
        name: &str,
        memory: &Memory,
    ) -> Result<Vocabulary> {
        let mut room = Room { memory: memory.fork(), name, n_reserved: 0 };
        let mut words = Words::default();
        // A word is kept as text, beside its number and its counts, in a table that is half empty.
        let mut word_bytes = 0;
        let mut counts: Vec<Count> = Vec::new();
        let mut numbers: Vec<u32> = Vec::new();
        let mut ends: Vec<usize> = Vec::new();
        let mut lower = String::new();
        for text in texts {
            let document = ends.len() as u32;
            for_each_word(text.unwrap_or_default(), &mut lower, |word| {
                let number = match words.get(word) {
                    Some(&known) => known,
                    None => {
                        words.insert(word.into(), counts.len() as u32);
                        word_bytes += word.len() + 100;
                        counts.push(Count::default());
                        counts.len() as u32 - 1
                    }
                };
                counts[number as usize].add(document);
                numbers.push(number);
            });
            ends.push(numbers.len());
            room.for_all(word_bytes + size_of::<u32>() * numbers.capacity())?;
        }
        let is_common = |count: &Count| count.n_documents as usize >= settings.min_documents;
        let mut pairs: HashMap<[u32; 2], Count, RandomState> = HashMap::default();
        let mut start = 0;
        for (document, &end) in (0..).zip(&ends) {
            for pair in numbers[start..end].windows(2) {
                if pair.iter().all(|&word| is_common(&counts[word as usize])) {
                    pairs.entry([pair[0], pair[1]]).or_default().add(document);
                }
            }
            start = end;
            room.for_all(
                word_bytes
                    + size_of::<u32>() * numbers.capacity()
                    + 2 * size_of::<([u32; 2], Count)>() * pairs.len(),
            )?;
        }
        let mut names = vec![""; counts.len()];
        words.iter().for_each(|(word, &number)| names[number as usize] = word);
        let single = counts.iter().zip(&names).map(|(count, name)| (*count, name.to_string()));
        let pair = |(&[a, b], count): (&[u32; 2], &Count)| {
            (*count, format!("{} {}", names[a as usize], names[b as usize]))
        };
        let all = single.chain(pairs.iter().map(pair));
        let mut kept: Vec<(Count, String)> = all.filter(|(count, _)| is_common(count)).collect();
        // Of equally common terms the first by name, so that nothing depends on the order of a hash map.
        kept.sort_unstable_by(|(a, a_name), (b, b_name)| {
            b.n_documents.cmp(&a.n_documents).then_with(|| a_name.cmp(b_name))
        });
        kept.truncate(settings.max_words);
        kept.sort_unstable_by(|(_, a), (_, b)| a.cmp(b));
        // A text that has a term has a weight of it, first in a list of its own and then in the table of all rows.
        let n_weights: usize = kept.iter().map(|(count, _)| count.n_documents as usize).sum();
        room.for_all(n_weights * 2 * size_of::<(u32, f64)>())?;
        let n = ends.len() as f64;
        let idf = |(count, _): &(Count, String)| {
            ((1.0 + n) / (1.0 + f64::from(count.n_documents))).ln() + 1.0
        };
        let idf = kept.iter().map(idf).collect();
        Vocabulary::try_from(Terms { names: kept.into_iter().map(|(_, name)| name).collect(), idf })
    }

    /// The terms, in alphabetical order.
    pub fn terms(&self) -> &[String] {
        &self.terms.names
    }

    /// The terms of a text and their weights, ascending.
    pub fn weights(&self, text: &str) -> Vec<(u32, f64)> {
        let Index { words, term_of_word, term_of_pair } = &self.index;
        let mut found: Vec<u32> = Vec::new();
        let mut before = None;
        let mut lower = String::new();
        for_each_word(text, &mut lower, |word| {
            let word = words.get(word).copied();
            found.extend(word.and_then(|word| term_of_word[word as usize]));
            let pair = before.zip(word).map(|(before, word)| [before, word]);
            found.extend(pair.and_then(|pair| term_of_pair.get(&pair)));
            before = word;
        });
        found.sort_unstable();
        let of_term =
            |group: &[u32]| (group[0], group.len() as f64 * self.terms.idf[group[0] as usize]);
        let mut weights: Vec<(u32, f64)> = found.chunk_by(|a, b| a == b).map(of_term).collect();
        let length = weights.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        weights.iter_mut().for_each(|(_, weight)| *weight /= length);
        weights
    }

    /// The weights of many texts; a text that is missing has none.
    pub(super) fn all_weights(&self, texts: &[Option<&str>]) -> Vec<Vec<(u32, f64)>> {
        texts.par_iter().map(|text| self.weights(text.unwrap_or_default())).collect()
    }
}

/// Reserves memory for what grows.
struct Room<'n> {
    memory: Memory,
    name: &'n str,
    n_reserved: usize,
}

impl Room<'_> {
    /// For so many bytes in all. More than are needed are reserved at a time.
    fn for_all(&mut self, n_bytes: usize) -> Result<()> {
        const STEP: usize = 1 << 16;
        if n_bytes > self.n_reserved {
            let more = n_bytes + STEP - self.n_reserved;
            self.memory.reserve(self.name, more as u64, || "the words of its texts".into())?;
            self.n_reserved += more;
        }
        Ok(())
    }
}

/// In how many documents something occurred, and in which at last.
#[derive(Clone, Copy, Default)]
struct Count {
    n_documents: u32,
    /// One more than the number of the document; 0 is none.
    last: u32,
}

impl Count {
    fn add(&mut self, document: u32) {
        self.n_documents += u32::from(self.last != document + 1);
        self.last = document + 1;
    }
}

/// Calls a function with every word of a text, in lower case; `lower` is room for it.
fn for_each_word(text: &str, lower: &mut String, mut take: impl FnMut(&str)) {
    lower.clear();
    let mut n_letters = 0;
    for letter in text.chars() {
        let stands_alone = !letter.is_ascii() && stands_alone(letter);
        let is_in_word = letter.is_alphanumeric() || letter == '_';
        if stands_alone || !is_in_word {
            if n_letters >= 2 {
                take(lower);
            }
            lower.clear();
            n_letters = 0;
        }
        if stands_alone {
            lower.push(letter);
            take(lower);
            lower.clear();
        } else if is_in_word {
            n_letters += 1;
            if letter.is_ascii() {
                lower.push(letter.to_ascii_lowercase());
            } else {
                // A sigma at the end of a word has a form of its own, in lower case only.
                let folded = |letter| if letter == 'ς' { 'σ' } else { letter };
                lower.extend(letter.to_lowercase().map(folded));
            }
        }
    }
    if n_letters >= 2 {
        take(lower);
    }
}

/// Characters that are words by themselves: those of scripts without blanks between words, and emoji.
fn stands_alone(letter: char) -> bool {
    matches!(u32::from(letter),
        0x0E01..=0x0E4E | 0x0E81..=0x0ECD | 0x1000..=0x109F | 0x1780..=0x17D3 // Thai, Lao, Burmese, Khmer
        | 0x3041..=0x30FF | 0x31F0..=0x31FF // Hiragana and Katakana
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF // Han
        | 0x2600..=0x27BF | 0x1F300..=0x1FAFF) // symbols and emoji
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for_each_word(text, &mut String::new(), |word| found.push(word.to_string()));
        found
    }

    #[test]
    fn words_are_runs_of_letters_in_any_script() {
        assert_eq!(words("Don't PANIC, it's v2_beta!"), ["don", "panic", "it", "v2_beta"]);
        assert_eq!(words("Straße ÉCOLE İstanbul"), ["straße", "école", "i\u{307}stanbul"]);
        assert_eq!(words("Привет, мир"), ["привет", "мир"]);
        assert_eq!(words("東京 tower 👍ok"), ["東", "京", "tower", "👍", "ok"]);
        assert!(words("").is_empty() && words(" \n\t.,;! a b c").is_empty());
    }

    #[test]
    fn rare_terms_are_left_out_and_weights_have_length_one() {
        let texts = ["red apple pie", "red apple tart", "green tea", ""];
        let texts = texts.map(Some).into_iter().chain([None]);
        let settings = TextSettings { min_documents: 2, max_words: 100 };
        let vocabulary = Vocabulary::fit(texts.clone(), settings).unwrap();
        assert_eq!(vocabulary.terms(), ["apple", "red", "red apple"]);
        let weights = vocabulary.weights("A RED apple: red, red!");
        assert_eq!(weights.iter().map(|(term, _)| *term).collect::<Vec<_>>(), [0, 1, 2]);
        // Equally rare, so that they are as 1 : 3 : 1.
        let unit = 1.0 / 11f64.sqrt();
        for ((_, weight), expected) in weights.iter().zip([unit, 3.0 * unit, unit]) {
            assert!((weight - expected).abs() < 1e-15);
        }
        assert!(vocabulary.weights("blue").is_empty());
        let two = Vocabulary::fit(texts, TextSettings { max_words: 2, ..settings }).unwrap();
        assert_eq!(two.terms(), ["apple", "red"]);
        // A pair is found although one of its words is no term by itself.
        let pair = Terms { names: vec!["red apple".into()], idf: vec![1.0] };
        assert_eq!(Vocabulary::try_from(pair).unwrap().weights("red apple"), [(0, 1.0)]);
    }

    #[test]
    fn terms_that_were_made_by_hand_are_checked() {
        let terms = |names: &[&str], idf: &[f64]| Terms {
            names: names.iter().map(|name| name.to_string()).collect(),
            idf: idf.to_vec(),
        };
        assert!(Vocabulary::try_from(terms(&["a", "b"], &[1.0, 2.0])).is_ok());
        assert!(Vocabulary::try_from(terms(&["a", "b"], &[1.0])).is_err());
        assert!(Vocabulary::try_from(terms(&["b", "a"], &[1.0, 2.0])).is_err());
        assert!(Vocabulary::try_from(terms(&["a", "a"], &[1.0, 2.0])).is_err());
        assert!(Vocabulary::try_from(terms(&["a"], &[f64::NAN])).is_err());
    }
}
