//! Texts and dates from a file to an answer: what is learned from them, what a model keeps, what is carried along.

#![allow(clippy::unwrap_used)]

use labelchain::data::split::folds;
use labelchain::data::{ColumnRoles, Dataset, LabelChoice, ReadOptions, Tickets, parse};
use labelchain::experiment::CrossValidation;
use labelchain::loss::Criterion;
use labelchain::model::Update;
use labelchain::{LabelChain, Model, Seed};

/// Tickets as a table of text.
fn table(n_rows: usize) -> String {
    let rows = Tickets { n_rows }.rows(Seed::new(1)).unwrap();
    let quoted = |row: [String; 8]| row.map(|cell| format!("\"{cell}\"")).join(",");
    let rows: Vec<String> = rows.map(quoted).collect();
    format!("{}\n{}\n", Tickets::COLUMNS.join(","), rows.join("\n"))
}

fn read(text: &str, roles: ColumnRoles) -> Dataset {
    let labels = LabelChoice::Tags { column: "tags".into(), separator: ";".into() };
    let options = ReadOptions { labels, roles: roles.into(), ..ReadOptions::default() };
    parse("tickets.csv".as_ref(), text.as_bytes(), &options).unwrap().into_rows().unwrap()
}

fn roles() -> ColumnRoles {
    ColumnRoles {
        id: vec!["ticket".into()],
        text: vec!["message".into()],
        find: true,
        ..ColumnRoles::default()
    }
}

const METHODS: [&str; 5] = ["certain-forest", "ecc-nb", "ecc-knn", "ecc-j48", "br-svm"];

#[test]
fn every_base_learns_from_texts_and_answers_the_same_from_a_file() {
    let data = read(&table(150), roles());
    for method in METHODS {
        let mut chain = LabelChain::new(method).unwrap();
        if method == "br-svm" {
            chain = chain.set("cost", 1).unwrap().set("gamma", 0.1).unwrap();
        }
        let model = chain.fit(&data).unwrap();
        assert!(model.attributes().len() > 100, "{method}");
        let columns = model.columns();
        let columns: Vec<&str> = columns.iter().map(|of| of.name.as_str()).collect();
        assert_eq!(columns, ["created", "channel", "plan", "minutes", "message"], "{method}");
        assert_eq!(
            (model.ids(), model.left_out()),
            (&["ticket".to_string()][..], &["customer".to_string()][..])
        );
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        // As a reader without roles has them: texts and dates are named values.
        let plain = read(&table(150), ColumnRoles::default());
        let of_file = loaded.predict(&plain).unwrap();
        assert_eq!(model.predict(&data).unwrap().labels, of_file.labels, "{method}");
        assert!(of_file.notes.is_empty(), "{method}: {:?}", of_file.notes);
    }
}

#[test]
fn texts_are_worth_more_than_everything_else() {
    let text = table(400);
    let with = read(&text, roles());
    let drop = vec!["message".into()];
    let without = read(&text, ColumnRoles { drop, text: vec![], ..roles() });
    let folds = folds(400, 3, Seed::new(1)).unwrap();
    for method in ["certain-forest@micro-f1", "ecc-nb"] {
        let methods = [method.parse().unwrap()];
        let mut validation = CrossValidation::new(&methods, &folds, Seed::new(1));
        validation.probabilities = true;
        let micro = "micro_f1".parse::<Criterion>().unwrap();
        let f1 =
            |data: &Dataset| 1.0 - validation.run(data).unwrap()[0].losses().get(micro).unwrap();
        let (with, without) = (f1(&with), f1(&without));
        assert!(with > 0.7 && without < 0.6, "{method}: {with} with texts, {without} without");
    }
}

/// A word that only the tested rows of a fold have must make no difference to what the fold learns.
#[test]
fn the_words_of_tested_rows_are_not_learned_from() {
    let plain = table(90);
    let folds = folds(90, 3, Seed::new(1)).unwrap();
    let tested = folds.test_rows(0);
    let marked: String = plain
        .lines()
        .enumerate()
        .map(|(line, text)| {
            let is_tested = line.checked_sub(1).is_some_and(|row| tested.contains(&row));
            // Before the quote that ends the message, which is the last but one cell.
            let mut cells: Vec<String> = text.split("\",\"").map(String::from).collect();
            if is_tested {
                cells[6] += " zyzzyva quokka";
            }
            cells.join("\",\"") + "\n"
        })
        .collect();
    let methods = ["ecc-nb".parse().unwrap(), "certain-forest".parse().unwrap()];
    let answers = |text: &str| {
        let data = read(text, roles());
        let validation = CrossValidation::new(&methods, &folds, Seed::new(1));
        let evaluations = validation.run(&data).unwrap();
        evaluations.into_iter().map(|of| of.answers.select(&tested)).collect::<Vec<_>>()
    };
    assert!(marked.matches("zyzzyva quokka").count() == tested.len());
    assert_eq!(answers(&plain), answers(&marked));
}

#[test]
fn dates_that_are_none_and_columns_that_lack_are_told() {
    let model = LabelChain::new("br-nb").unwrap().fit(&read(&table(60), roles())).unwrap();
    let text = "created,channel,plan,minutes,message\nyesterday,mail,free,3,the bill\n";
    let labels = LabelChoice::Present(vec![]);
    let attributes = model.columns();
    let options = ReadOptions { labels, attributes, ..ReadOptions::default() };
    let rows = |text: &str| {
        parse("new.csv".as_ref(), text.as_bytes(), &options).unwrap().into_rows().unwrap()
    };
    let prediction = model.predict(&rows(text)).unwrap();
    assert!(prediction.notes[0].text.contains("\"yesterday\" in \"created\""));
    let error = model.predict(&rows("created,channel,plan,minutes\n,,,\n")).unwrap_err();
    assert!(error.to_string().contains("lacks 1 of the 5 features"), "{error}");
    // Nothing known at all is no error.
    let blank = rows("created,channel,plan,minutes,message\n,,,,\n");
    assert_eq!(model.predict(&blank).unwrap().n_rows(), 1);
}

/// Empty and foreign texts, emoji, and one of ten megabytes.
#[test]
fn any_text_is_learned_from_or_ignored() {
    let long = "word ".repeat(2 << 20);
    let texts =
        ["", "👍🏽 👍", "日本語のテキスト", "שלום עולם", "ΣΊΣΥΦΟΣ Σίσυφος", "\u{0}\u{7}", &long];
    let rows: String =
        (0..70).map(|row| format!("\"{}\",{}\n", texts[row % texts.len()], row % 2)).collect();
    let text = format!("note,odd\n{rows}");
    let roles = ColumnRoles { text: vec!["note".into()], ..ColumnRoles::default() };
    let roles = roles.into();
    let options = ReadOptions { labels: LabelChoice::Last(1), roles, ..ReadOptions::default() };
    let data = parse("n.csv".as_ref(), text.as_bytes(), &options).unwrap().into_rows().unwrap();
    let model =
        LabelChain::new("br-nb").unwrap().set("select", "none").unwrap().fit(&data).unwrap();
    let words = model.encoder().unwrap().vocabulary("note").unwrap().terms().to_vec();
    for word in ["👍", "日 本", "שלום עולם", "σίσυφοσ σίσυφοσ", "word word"]
    {
        assert!(words.iter().any(|known| known == word), "{word} of {words:?}");
    }
    assert_eq!(model.predict(&data).unwrap().n_rows(), 70);
}

/// Words are counted, so that counts of further rows are added to them; the vocabulary stays.
#[test]
fn naive_bayes_of_texts_learns_from_further_rows() {
    let data = read(&table(300), roles());
    let rows = |span: std::ops::Range<usize>| data.select(&span.collect::<Vec<_>>());
    let (first, more, tested) = (rows(0..60), rows(60..250), rows(250..300));
    let chain = LabelChain::new("br-nb").unwrap().set("updatable", true).unwrap();
    let model = chain.set("select", "none").unwrap().fit(&first).unwrap();
    let (updated, _) = model.update(&more, "more".as_ref(), Update::default()).unwrap();
    assert_eq!(updated.n_rows(), 250);
    let wrong = |model: &Model| {
        let answers = model.predict(&tested).unwrap().labels;
        let cells = (0..50).flat_map(|row| answers.ids().map(move |label| (row, label)));
        cells
            .filter(|&(row, label)| answers.get(row, label) != tested.labels().get(row, label))
            .count()
    };
    assert!(wrong(&updated) < wrong(&model), "{} and {}", wrong(&updated), wrong(&model));
    let kernels = LabelChain::new("br-nb").unwrap().set("updatable", true).unwrap();
    let error = kernels.set("likelihood", "kernel").unwrap().fit(&first).unwrap_err().to_string();
    assert!(error.contains("updatable is true, but must be false"), "{error}");
}
