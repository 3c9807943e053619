//! `docs/settings.md`, and the page of the module `method`, say of every setting what its declaration
//! says.
//!
//! After a change, `LABELCHAIN_WRITE=1 cargo test -p labelchain --test settings_reference` writes the
//! page anew.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use labelchain::Method;
use labelchain::base::BASES;
use labelchain::ensemble::STRATEGIES;
use labelchain::method::{Registered, registry};

fn page() -> String {
    let mut page = String::from(
        "# Methods and settings\n\n\
         This page is written from the declarations in the code; a test holds it to them. A setting is \
         `--name VALUE` on the command line, `name = value` in a protocol, a parameter with \
         underscores in Python, and `set(\"name\", value)` in Rust. What a method does not use is refused. Formulas are in `docs/methods.md`.\n\n\
         ## Methods\n\nA method is a strategy and a base, such as `dynamic-nb`.\n\n\
         | strategy | what it does | bases |\n|---|---|---|\n",
    );
    for strategy in STRATEGIES {
        let bases = BASES.iter().filter(|base| Method::new(strategy, base).is_ok());
        let bases: Vec<String> = bases.map(|base| format!("`{}`", base.name)).collect();
        let _ =
            writeln!(page, "| `{}` | {} | {} |", strategy.name, strategy.about, bases.join(", "));
    }
    page.push_str("\n| base | what it is | order |\n|---|---|---|\n");
    for base in BASES {
        let order =
            if base.is_free_of_order() { "any, without retraining" } else { "trained for one" };
        let _ = writeln!(page, "| `{}` | {} | {order} |", base.name, base.about);
    }
    page.push_str("\n## Settings\n");
    let mut heading = String::new();
    let mut settings = registry();
    // Those of one heading stand together, in the order of the first of them.
    let headings: Vec<String> = settings.iter().map(Registered::applies_to).collect();
    let place = |of: &Registered| headings.iter().position(|known| *known == of.applies_to());
    settings.sort_by_key(place);
    for known in settings {
        let setting = known.setting;
        if known.applies_to() != heading {
            heading = known.applies_to();
            let _ = writeln!(
                page,
                "\n### For {heading}\n\n| setting | accepts | default | meaning |\n|---|---|---|---|"
            );
        }
        let _ = writeln!(
            page,
            "| `{}` | {} | `{}` | {} |",
            setting.name(),
            setting.accepted(),
            setting.default_text(),
            setting.help()
        );
    }
    page
}

#[test]
fn the_page_says_what_the_declarations_say() {
    // One for readers of the repository, one for rustdoc, which a published crate has to contain.
    for path in ["../../docs/settings.md", "src/method/settings.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        if std::env::var_os("LABELCHAIN_WRITE").is_some() {
            fs::write(&path, page()).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), page());
    }
}

#[test]
fn every_default_is_accepted_and_every_sentence_is_there() {
    for known in registry() {
        let setting = known.setting;
        assert_eq!(setting.check(&setting.default_text()).unwrap(), setting.default_text());
        assert!(setting.help().len() > 10, "{}", setting.name());
        for text in ["", "-1", "nan", "inf"] {
            assert!(setting.check(text).is_err(), "{} {text:?}", setting.name());
        }
    }
}

/// Settings are looked up by name, so a name stands for one declaration, whoever lists it.
#[test]
fn one_name_is_one_declaration() {
    let of_bases = BASES.iter().flat_map(|base| base.settings);
    let of_strategies = STRATEGIES.iter().flat_map(|strategy| strategy.settings);
    for setting in of_bases.chain(of_strategies) {
        let known = labelchain::method::setting(setting.name()).unwrap();
        assert!(std::ptr::addr_eq(*setting, known), "{}", setting.name());
    }
}
