//! `labelchain score`: the eleven losses of two files, each label alone, and where there are
//! probabilities, what their ranking and their size are worth.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use labelchain::data::{
    CsvNames, Dataset, Format, LabelChoice, LabelId, LabelMatrix, MissingLabels, ReadOptions,
    Table, read,
};
use labelchain::error::{ContentError, Error, Result};
use labelchain::loss::{Calibration, Criterion, LabelMeasures, Losses, Ranking, Undefined};
use serde_json::{Map, Value, json};

use crate::args::{ReadingArgs, RowArgs};
use crate::measures;
use crate::messages::{Failure, print, print_data, remark};

#[derive(Args)]
#[command(after_help = "\
Examples:
  labelchain score truth.arff predicted.csv
  labelchain score yeast.arff.gz predicted.csv --rows test.txt")]
pub(crate) struct Score {
    /// The data with the true labels
    truth: PathBuf,

    /// The answers: the same rows, with a column for each label of TRUTH, found by name, and maybe
    /// columns called label:probability. What is said about reading goes for both files, but for
    /// --format, which is that of TRUTH where the name of PREDICTED tells its own
    predicted: PathBuf,

    #[command(flatten)]
    rows: RowArgs,

    /// Where a label is in one file only, compare those that are in both
    #[arg(long)]
    common: bool,

    #[command(flatten)]
    reading: ReadingArgs,

    /// What zero over zero counts as: as in the paper, a metric of zero or one, or left out
    #[arg(long, value_enum, default_value_t = UndefinedArg::Paper)]
    undefined: UndefinedArg,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum UndefinedArg {
    Paper,
    Zero,
    One,
    Skip,
}

/// What is compared: the same rows and the same labels of both files.
struct Compared {
    label_names: Vec<String>,
    truth: LabelMatrix,
    answers: LabelMatrix,
    /// Row by row, by label; none where the file of answers has none.
    probabilities: Option<Vec<f64>>,
}

/// What the comparison says.
struct Scores {
    losses: Losses,
    by_label: Vec<LabelMeasures>,
    of_probabilities: Option<(Ranking, Calibration)>,
}

impl Score {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let compared = self.compared()?;
        let scores = self.scores(&compared)?;
        if self.json {
            return print_data(&self.json(&compared, &scores));
        }
        print(&self.text(&compared, &scores))
    }

    fn compared(&self) -> Result<Compared> {
        self.reading.keep_every_row()?;
        let selection = self.rows.read(self.reading.max_memory())?;
        if [&self.truth, &self.predicted].iter().all(|path| *path == Path::new("-")) {
            return Err(Error::Setting {
                name: "PREDICTED",
                value: "- as TRUTH is".into(),
                accepted: "a file of its own, for standard input is read once",
            });
        }
        let options = self.reading.options();
        let truth = read(&self.truth, &options)?.into_rows()?;
        let (n_truth, is_tags) =
            (truth.n_rows(), matches!(options.labels, LabelChoice::Tags { .. }));
        let predicted = Predicted::read(&self.predicted, truth.label_names(), options)?;
        let truth = selection.of(Table::Rows(truth), &self.truth)?.into_rows()?;
        // The answers are those to all rows, or to the rows of the list alone.
        let data = if selection.n_listed() == Some(predicted.data.n_rows()) {
            predicted.data
        } else {
            same_rows(
                &predicted.data,
                n_truth,
                selection.n_listed(),
                &self.predicted,
                &self.truth,
            )?;
            selection.of(Table::Rows(predicted.data), &self.predicted)?.into_rows()?
        };
        let predicted = Predicted { data, ..predicted };
        predicted.check_rows(&truth, &self.truth)?;
        let label_names = self.label_names(&truth, &predicted, is_tags)?;
        Ok(Compared {
            truth: bits(&truth, &label_names, &HashMap::new()),
            answers: bits(&predicted.data, &label_names, &predicted.spelt),
            probabilities: predicted.probabilities(&label_names)?,
            label_names,
        })
    }

    /// The labels that are compared, in the order of the truth.
    fn label_names(
        &self,
        truth: &Dataset,
        predicted: &Predicted,
        is_tags: bool,
    ) -> Result<Vec<String>> {
        let (in_truth, in_predicted): (Vec<&String>, Vec<&String>) =
            truth.label_names().iter().partition(|name| !predicted.has_label(name));
        let only_predicted = predicted.other_labels(truth, is_tags);
        let n_common = in_predicted.len();
        if is_tags && !self.common {
            // A list of tags names every tag that a row has. So one that only the answers know is
            // irrelevant to all rows, and one that the answers do not know was never predicted.
            let note = |names: &[&String], path: &Path, meaning: &str| {
                if let Some(first) = names.first() {
                    let (n, path) = (names.len(), path.display());
                    remark(&format!(
                        "note: tags that only {path} has, {meaning}: {n} (first: {first:?})"
                    ));
                }
            };
            note(&in_truth, &self.truth, "counted as never predicted");
            note(&only_predicted, &self.predicted, "counted as irrelevant to every row");
            let all = truth.label_names().iter().chain(only_predicted);
            return Ok(all.cloned().collect());
        }
        for (names, has, lacks) in [
            (&in_truth, &self.truth, &self.predicted),
            (&only_predicted, &self.predicted, &self.truth),
        ] {
            let Some(first) = names.first() else { continue };
            let problem = format!(
                "lacks {} of the labels of {} (first: {first:?})",
                names.len(),
                has.display()
            );
            if n_common > 0 && self.common {
                remark(&format!("note: {} {problem}; they are not compared", lacks.display()));
                continue;
            }
            let remedy = match n_common {
                0 => "they have no label in common: are these the right files, and the right \
                      columns of TRUTH?"
                    .into(),
                n => format!("--common compares the {n} labels that both files have").into(),
            };
            return Err(Error::Columns { path: lacks.clone(), problem, remedy });
        }
        predicted.note_unscored(truth, &self.truth, &only_predicted);
        Ok(in_predicted.into_iter().cloned().collect())
    }

    fn scores(&self, compared: &Compared) -> Result<Scores> {
        let Compared { truth, answers, probabilities, .. } = compared;
        let probabilities = probabilities.as_deref();
        let of_probabilities = |cells| {
            Ok::<_, Error>((Ranking::between(truth, cells)?, Calibration::between(truth, cells)?))
        };
        Ok(Scores {
            losses: Losses::between(truth, answers, self.rule())?,
            by_label: LabelMeasures::between(truth, answers, probabilities, self.rule())?,
            of_probabilities: probabilities.map(of_probabilities).transpose()?,
        })
    }

    fn rule(&self) -> Undefined {
        match self.undefined {
            UndefinedArg::Paper => Undefined::Paper,
            UndefinedArg::Zero => Undefined::Zero,
            UndefinedArg::One => Undefined::One,
            UndefinedArg::Skip => Undefined::Skip,
        }
    }

    fn text(&self, compared: &Compared, scores: &Scores) -> String {
        let (n_rows, n_labels) = (compared.truth.n_rows(), compared.label_names.len());
        let mut page = format!("{n_rows} rows, {n_labels} labels; a smaller loss is better\n\n");
        let rule = match self.undefined {
            UndefinedArg::Paper => "0 where both sides are empty, else 1",
            UndefinedArg::Zero => "a metric of 0, so a loss of 1",
            UndefinedArg::One => "a metric of 1, so a loss of 0",
            UndefinedArg::Skip => "nothing: left out of the mean",
        };
        let mut any = false;
        for (criterion, loss) in scores.losses.iter() {
            let value = loss.map_or_else(|| "    –  ".into(), |loss| format!("{loss:.5}"));
            let _ = write!(page, "  {:<15} {value}", criterion.loss_title());
            let n = scores.losses.n_vacuous(criterion);
            if n > 0 {
                any = true;
                let _ = write!(page, "   {n} undefined");
            }
            page.push('\n');
        }
        if any {
            let _ = writeln!(
                page,
                "\nAn undefined cell (zero over zero) counts as {rule}; --undefined chooses."
            );
        }
        if let Some((ranking, calibration)) = &scores.of_probabilities {
            page.push('\n');
            page += &measures::text(&ranking.measures());
            page += &measures::text(&calibration.measures());
        }
        page += "\nEach label alone; here greater is better:\n\n";
        page + &measures::by_label_text(&compared.label_names, &scores.by_label)
    }

    fn json(&self, compared: &Compared, scores: &Scores) -> String {
        let by_key = |value: &dyn Fn(Criterion) -> Value| -> Map<String, Value> {
            Criterion::ALL.iter().map(|&of| (of.key().to_string(), value(of))).collect()
        };
        let of_probabilities = scores.of_probabilities.as_ref();
        let json = json!({
            "rows": compared.truth.n_rows(),
            "labels": compared.label_names.len(),
            "rule": self.rule().key(),
            "losses": by_key(&|of| scores.losses.get(of).map_or(Value::Null, Value::from)),
            "undefined": by_key(&|of| scores.losses.n_vacuous(of).into()),
            "by_label": measures::by_label_json(&compared.label_names, &scores.by_label),
            "ranking": of_probabilities.map(|(ranking, _)| measures::json(&ranking.measures())),
            "calibration": of_probabilities.map(|(_, of)| measures::json(&of.measures())),
        });
        json.to_string() + "\n"
    }
}

/// A file of answers.
struct Predicted {
    path: PathBuf,
    /// The labels of the truth that it has are its labels, all other columns are inputs.
    data: Dataset,
    /// The names of those labels, as it spells them.
    labels: HashSet<String>,
    /// How it spells the names that it does not have as they are.
    spelt: HashMap<String, String>,
}

impl Predicted {
    /// Labels are found by name: the columns may be in another order, or have inputs among them. A
    /// table of answers spells names so that a spreadsheet runs none, unless it is raw.
    fn read(path: &Path, label_names: &[String], options: ReadOptions) -> Result<Predicted> {
        // What --format says is about the truth, unless the answers have no name that tells theirs.
        let format = Format::of(path).ok().or(options.format);
        let is_text = matches!(format, Some(Format::Csv | Format::Tsv));
        let spelt: HashMap<String, String> = label_names
            .iter()
            .filter(|_| is_text)
            .map(|name| (name.clone(), CsvNames::Escaped.cell(name).into_owned()))
            .filter(|(name, escaped)| name != escaped)
            .collect();
        let names = label_names.iter().chain(spelt.values()).cloned().collect();
        // Truth may be unknown, but what was not answered cannot be scored.
        let missing_labels = match options.missing_labels {
            MissingLabels::Learn => MissingLabels::Refuse,
            other => other,
        };
        let labels = LabelChoice::Present(names);
        let options = ReadOptions { format, labels, missing_labels, ..options };
        let data = read(path, &options)?.into_rows()?;
        let labels: HashSet<String> = data.label_names().iter().cloned().collect();
        let spelt = spelt.into_iter().filter(|(name, _)| !labels.contains(name)).collect();
        Ok(Predicted { path: path.into(), data, labels, spelt })
    }

    /// Refuses answers to other rows: names and whole numbers that both files have must be the same in each row.
    fn check_rows(&self, truth: &Dataset, truth_path: &Path) -> Result<()> {
        let places: HashMap<&str, usize> =
            (0..).zip(truth.attributes()).map(|(at, of)| (of.name.as_str(), at)).collect();
        for (at, attribute) in self.data.attributes().iter().enumerate() {
            let Some(&place) = places.get(attribute.name.as_str()) else { continue };
            let cell = |data: &Dataset, row: usize, at: usize| {
                let cell = data.features().get(row, at);
                // Numbers with a fraction may have been rounded on the way.
                if data.attributes()[at].values().is_none() && cell.fract() != 0.0 {
                    return None;
                }
                data.attributes()[at].text(cell).map(|text| text.into_owned())
            };
            for row in 0..self.data.n_rows().min(truth.n_rows()) {
                let (here, there) = (cell(&self.data, row, at), cell(truth, row, place));
                if let (Some(here), Some(there)) = (here, there)
                    && here != there
                {
                    return Err(Error::Columns {
                        path: self.path.clone(),
                        problem: format!(
                            "answers other rows than {}: {:?} is {here:?} here and {there:?} there (first: row \
                             {row} counting from 0)",
                            truth_path.display(),
                            attribute.name
                        ),
                        remedy: "bring the rows of both files into the same order".into(),
                    });
                }
            }
        }
        Ok(())
    }

    fn has_label(&self, name: &String) -> bool {
        self.labels.contains(self.spelt.get(name).unwrap_or(name))
    }

    /// The names of all columns that are no labels of the truth.
    fn others(&self) -> impl Iterator<Item = &String> {
        self.data.attributes().iter().map(|column| &column.name)
    }

    /// The columns that are labels although the truth does not have them, neither as labels nor as
    /// inputs: those with shares or probabilities beside them and, where the labels of the truth are
    /// tags, all columns of nothing but 0 and 1.
    fn other_labels(&self, truth: &Dataset, is_tags: bool) -> Vec<&String> {
        let names: HashSet<&String> = self.others().collect();
        let inputs: HashSet<&String> = truth.attributes().iter().map(|input| &input.name).collect();
        let is_answered =
            |name: &String| BESIDE.iter().any(|what| names.contains(&format!("{name}:{what}")));
        let is_binary = |column: usize| {
            let mut cells =
                (0..self.data.n_rows()).map(|row| self.data.features().get(row, column));
            self.data.attributes()[column].values().is_none()
                && cells.all(|cell| cell == 0.0 || cell == 1.0)
        };
        let is_label = |(column, name): &(usize, &String)| {
            !inputs.contains(name)
                && !is_beside(name)
                && (is_answered(name) || is_tags)
                && is_binary(*column)
        };
        self.others().enumerate().filter(is_label).map(|(_, name)| name).collect()
    }

    /// Says which columns were left alone.
    fn note_unscored(&self, truth: &Dataset, truth_path: &Path, labels: &[&String]) {
        let known = truth.attributes().iter().map(|input| &input.name);
        let known: HashSet<&String> = known.chain(labels.iter().copied()).collect();
        let is_unscored = |name: &&String| !known.contains(name) && !is_beside(name);
        let unscored: Vec<&String> = self.others().filter(is_unscored).collect();
        if let Some(first) = unscored.first() {
            remark(&format!(
                "note: columns not scored, for {} does not have them: {} (first: {first:?})",
                truth_path.display(),
                unscored.len()
            ));
        }
    }

    /// The cells of the columns `label:probability`, row by row, by label; none where there is no such
    /// column. A label that the answers do not know has probability 0.
    fn probabilities(&self, label_names: &[String]) -> Result<Option<Vec<f64>>> {
        let columns: HashMap<&String, usize> =
            self.others().enumerate().map(|(column, name)| (name, column)).collect();
        let column = |label: &String| {
            let name = format!("{label}:probability");
            let escaped = CsvNames::Escaped.cell(&name).into_owned();
            columns.get(&name).or_else(|| columns.get(&escaped)).copied()
        };
        let found: Vec<Option<usize>> = label_names.iter().map(column).collect();
        if found.iter().all(Option::is_none) {
            return Ok(None);
        }
        let (data, features) = (&self.data, self.data.features());
        let mut cells = vec![0.0; data.n_rows() * label_names.len()];
        for (label, (name, column)) in label_names.iter().zip(found).enumerate() {
            let refused = |problem| Error::Columns {
                path: self.path.clone(),
                problem,
                remedy: "write a number from 0 to 1 into each cell, or leave all of these columns \
                         out"
                .into(),
            };
            let Some(column) = column else {
                if !self.has_label(name) && !columns.contains_key(name) {
                    continue;
                }
                let problem = format!(
                    "has probabilities of some labels, but no column \"{name}:probability\""
                );
                return Err(refused(problem));
            };
            if data.attributes()[column].values().is_some() {
                return Err(refused(format!("column \"{name}:probability\" holds no numbers")));
            }
            for row in 0..data.n_rows() {
                let cell = features.get(row, column);
                if !(0.0..=1.0).contains(&cell) {
                    return Err(Error::Cell {
                        name: self.path.display().to_string(),
                        row,
                        column: format!("{name}:probability"),
                        found: cell,
                        expected: "a probability from 0 to 1",
                        remedy: "write a number from 0 to 1 into each cell",
                    });
                }
                cells[row * label_names.len() + label] = cell;
            }
        }
        Ok(Some(cells))
    }
}

/// What stands in columns called `label:share` and `label:probability`, beside the answers.
const BESIDE: [&str; 2] = ["share", "probability"];

fn is_beside(name: &str) -> bool {
    name.rsplit_once(':').is_some_and(|(_, what)| BESIDE.contains(&what))
}

/// Refuses answers to another number of rows.
fn same_rows(
    predicted: &Dataset,
    n_truth: usize,
    n_listed: Option<usize>,
    path: &Path,
    truth: &Path,
) -> Result<()> {
    if predicted.n_rows() == n_truth {
        return Ok(());
    }
    let listed = n_listed.map(|n| format!(" or {n} rows, as in the list")).unwrap_or_default();
    Err(Error::Content(Box::new(ContentError {
        path: path.into(),
        line: 0,
        column: 0,
        expected: format!("{n_truth} rows, as in {}{listed}", truth.display()),
        found: predicted.n_rows().to_string(),
        help: Some("both files must hold the same rows in the same order".into()),
        excerpt: None,
    })))
}

/// Some labels of a table, in that order, each by the name that it is spelt with. One that the table
/// has as a column of 0 and 1 is read from there, and one that it does not have is irrelevant.
fn bits(data: &Dataset, label_names: &[String], spelt: &HashMap<String, String>) -> LabelMatrix {
    let labels: HashMap<&String, LabelId> =
        data.label_names().iter().zip(data.labels().ids()).collect();
    let columns = data.attributes().iter().map(|column| &column.name);
    let columns: HashMap<&String, usize> = columns.zip(0..).collect();
    let mut chosen = LabelMatrix::empty(data.n_rows(), label_names.len());
    for (name, at) in label_names.iter().zip(chosen.ids()) {
        let name = spelt.get(name).unwrap_or(name);
        let place = (labels.get(name), columns.get(name));
        for row in 0..data.n_rows() {
            let is_relevant = match place {
                (Some(&label), _) => data.labels().get(row, label),
                (None, Some(&column)) => data.features().get(row, column) == 1.0,
                (None, None) => false,
            };
            chosen.set(row, at, is_relevant);
            if place.0.is_some_and(|&label| !data.labels().is_known(row, label)) {
                chosen.forget(row, at);
            }
        }
    }
    chosen
}
