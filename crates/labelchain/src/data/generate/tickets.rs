//! A table as people keep them: support tickets with texts, dates, identifiers, blanks, categories and tags.

use super::{check_size, setting};
use crate::data::date;
use crate::error::Result;
use crate::seed::{Rng, Seed};

/// Support tickets of an imagined shop.
///
/// What a ticket says depends on its tags, and a few tags on others: who asks for a refund mostly speaks of a
/// bill, and a crash is mostly a bug. The table has what real tables have: an identifier that rises, customers
/// who hardly ever come back, dates, missing cells, and a tag that some people write with a capital.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tickets {
    /// How many rows.
    pub n_rows: usize,
}

impl Default for Tickets {
    fn default() -> Tickets {
        Tickets { n_rows: 1000 }
    }
}

/// A tag: how common it is, the tag that calls for it, and what people write.
struct Tag {
    name: &'static str,
    share: f64,
    /// Another tag, and the probability of this one where that is given.
    follows: Option<(&'static str, f64)>,
    phrases: &'static [&'static str],
}

/// In an order in which each tag comes after the one that it follows.
const TAGS: [Tag; 8] = [
    Tag {
        name: "billing",
        share: 0.28,
        follows: None,
        phrases: &[
            "the invoice shows the wrong amount",
            "I was charged twice this month",
            "my credit card was declined",
            "please correct the bill",
            "the payment does not appear in my account",
            "why is there a fee on my invoice",
        ],
    },
    Tag {
        name: "refund",
        share: 0.04,
        follows: Some(("billing", 0.45)),
        phrases: &[
            "I want my money back",
            "please refund the order",
            "when do I get the refund",
            "I return the item and ask for a refund",
            "cancel the subscription and pay me back",
        ],
    },
    Tag {
        name: "bug",
        share: 0.25,
        follows: None,
        phrases: &[
            "the page shows an error message",
            "the button does nothing",
            "the report is empty since the update",
            "search finds nothing although the item exists",
            "the export writes the wrong dates",
        ],
    },
    Tag {
        name: "crash",
        share: 0.02,
        follows: Some(("bug", 0.35)),
        phrases: &[
            "the app crashes at start",
            "it freezes and closes by itself",
            "the program stopped working after the update",
            "a crash every time I open the report",
        ],
    },
    Tag {
        name: "mobile",
        share: 0.12,
        follows: Some(("crash", 0.6)),
        phrases: &[
            "on my phone",
            "with the Android app",
            "on the iPhone only",
            "since the last version in the app store",
        ],
    },
    Tag {
        name: "login",
        share: 0.2,
        follows: None,
        phrases: &[
            "I cannot log in",
            "the password reset mail never arrives",
            "my account is locked",
            "two factor code is not accepted",
            "please change the email of my account",
        ],
    },
    Tag {
        name: "shipping",
        share: 0.18,
        follows: None,
        phrases: &[
            "the parcel has not arrived",
            "tracking shows no movement for days",
            "the delivery went to the wrong address",
            "when will my order ship",
            "the box was damaged",
        ],
    },
    Tag {
        name: "feedback",
        share: 0.1,
        follows: None,
        phrases: &[
            "thank you for the great service",
            "it would be nice to have a dark mode",
            "I love the new design",
            "please add an export to my calendar",
        ],
    },
];

/// What people write whatever it is about.
const FILLERS: [&str; 14] = [
    "hello",
    "dear team",
    "good morning",
    "please help",
    "this is urgent",
    "thanks in advance",
    "best regards",
    "I tried several times",
    "as I said on the phone",
    "nothing has changed",
    "can somebody look at this",
    "I am a customer for years",
    "see the attached picture",
    "kind regards",
];

const FIRST_NAMES: [&str; 24] = [
    "Ada", "Bruno", "Carla", "Deniz", "Elif", "Farid", "Grace", "Hugo", "Ines", "Jonas", "Kaya",
    "Lena", "Mira", "Noah", "Olga", "Pavel", "Quentin", "Rosa", "Sven", "Tara", "Umar", "Vera",
    "Wim", "Zoë",
];
const LAST_NAMES: [&str; 30] = [
    "Abe",
    "Bauer",
    "Costa",
    "Diaz",
    "Evans",
    "Fischer",
    "García",
    "Haas",
    "Ito",
    "Jansen",
    "Kovač",
    "Lopez",
    "Müller",
    "Nowak",
    "Okafor",
    "Petrov",
    "Quinn",
    "Rossi",
    "Silva",
    "Tanaka",
    "Ueda",
    "Vogel",
    "Weber",
    "Xu",
    "Yilmaz",
    "Zhang",
    "Ødegård",
    "Łukasik",
    "Smith",
    "Brown",
];
const CHANNELS: [&str; 4] = ["mail", "chat", "phone", "form"];
const PLANS: [&str; 3] = ["free", "basic", "business"];

impl Tickets {
    /// The names of the columns; the last holds tags with semicolons between them.
    pub const COLUMNS: [&'static str; 8] =
        ["ticket", "created", "customer", "channel", "plan", "minutes", "message", "tags"];

    /// The rows, one after the other: the first rows of a longer table are the same rows.
    pub fn rows(&self, seed: Seed) -> Result<impl Iterator<Item = [String; 8]> + use<>> {
        check_size(self.n_rows, TAGS.len(), &[])?;
        if self.n_rows > 10_000_000 {
            return setting("rows", self.n_rows, "a whole number from 1 to 10000000");
        }
        Ok((0..self.n_rows).map(move |row| ticket(row, &mut seed.child("ticket", row).rng())))
    }
}

fn any<'a>(rng: &mut Rng, of: &[&'a str]) -> &'a str {
    of[rng.below(of.len())]
}

fn ticket(row: usize, rng: &mut Rng) -> [String; 8] {
    let mut given: Vec<&Tag> = Vec::new();
    for tag in &TAGS {
        let calls = |&(other, share): &(&str, f64)| {
            given.iter().any(|of| of.name == other).then_some(share)
        };
        let share = tag.follows.as_ref().and_then(calls).unwrap_or(tag.share);
        if rng.chance(share) {
            given.push(tag);
        }
    }
    let mut sentences: Vec<String> = vec![any(rng, &FILLERS).into()];
    for tag in &given {
        // Not everybody says what it is about.
        for _ in 0..usize::from(rng.chance(0.88)) + usize::from(rng.chance(0.3)) {
            sentences.push(any(rng, tag.phrases).into());
        }
    }
    // Some mention what it is not about.
    if rng.chance(0.15) {
        let other = &TAGS[rng.below(TAGS.len())];
        sentences.push(any(rng, other.phrases).into());
    }
    sentences.push(any(rng, &FILLERS).into());
    let is_given = |name: &str| given.iter().any(|tag| tag.name == name);
    // A ticket every forty minutes; bills are asked about at the beginning of a month.
    let moment = 19_723.0 + row as f64 / 36.0 + rng.unit() / 36.0;
    let slow = 20.0 + 60.0 * f64::from(u8::from(is_given("bug"))) + 30.0 * rng.normal().abs();
    let cell = |is_there: bool, text: String| if is_there { text } else { String::new() };
    let tags = given.iter().map(|tag| match tag.name {
        "login" if rng.chance(0.06) => "Login",
        name => name,
    });
    let tags: Vec<&str> = tags.collect();
    let plan = PLANS[if is_given("billing") { 1 + rng.below(2) } else { rng.below(3) }];
    [
        format!("T-{}", 100_001 + row),
        date::spelt((moment * 1440.0).floor() / 1440.0),
        format!("{} {}", any(rng, &FIRST_NAMES), any(rng, &LAST_NAMES)),
        cell(rng.chance(0.95), any(rng, &CHANNELS).into()),
        cell(rng.chance(0.9), plan.into()),
        cell(rng.chance(0.93), format!("{:.0}", slow)),
        sentences.join(". "),
        tags.join("; "),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rows_of_a_longer_table_are_the_same() {
        let rows = |n_rows| Tickets { n_rows }.rows(Seed::new(1)).unwrap().collect::<Vec<_>>();
        assert_eq!(rows(20)[..], rows(50)[..20]);
        assert!(Tickets { n_rows: 0 }.rows(Seed::new(1)).is_err());
    }

    #[test]
    fn tags_follow_others() {
        let rows: Vec<[String; 8]> = Tickets { n_rows: 4000 }.rows(Seed::new(1)).unwrap().collect();
        let has = |row: &[String; 8], tag: &str| row[7].split("; ").any(|it| it == tag);
        let share = |tag: &str, among: &dyn Fn(&[String; 8]) -> bool| {
            let among: Vec<_> = rows.iter().filter(|row| among(row)).collect();
            among.iter().filter(|row| has(row, tag)).count() as f64 / among.len() as f64
        };
        assert!((share("refund", &|row| has(row, "billing")) - 0.45).abs() < 0.05);
        assert!((share("refund", &|row| !has(row, "billing")) - 0.04).abs() < 0.02);
    }
}
