//! Measured losses as a table with one row per measurement: the interface between learning and
//! statistics.
//!
//! Statistics and reports can be computed from a file of such rows alone, without data or models, and
//! for the results of other programs, too.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::data::{Cell, CsvNames, Record, check_length, open, open_table, stem};
use crate::error::{ContentError, Error, Result, nearest};
use crate::loss::Criterion;

/// The greatest magnitude of a loss: sums of losses, differences and their squares stay finite.
const MAX_LOSS: f64 = 1e100;

/// The greatest number of seconds, about three centuries: all folds together are still a duration.
pub(crate) const MAX_SECONDS: f64 = 1e10;

/// The most numbers that a comparison may have to hold: by every criterion a loss for each method on
/// each data set, and tests for each pair of methods. A short file of names that are all different
/// would otherwise ask for more memory than there is.
const MAX_NUMBERS: usize = 1 << 22;

/// The loss of a method on a data set, by one criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement<'a> {
    /// The data set.
    pub dataset: &'a str,
    /// The method.
    pub method: &'a str,
    /// The criterion's key, such as `macro_f1`.
    pub criterion: &'a str,
    /// The fold; `None` if the loss is already a mean over folds.
    pub fold: Option<usize>,
    /// The loss.
    pub loss: f64,
    /// How long the method took on that fold or data set; the same for every criterion.
    pub seconds: Option<f64>,
}

/// Measurements of several methods on several data sets.
///
/// ```
/// use labelchain::experiment::Results;
///
/// let text = "dataset,method,criterion,fold,loss\n\
///             yeast,ecc,hamming,0,0.25\n\
///             yeast,ecc,hamming,1,0.75\n\
///             yeast,br,hamming,0,1\n";
/// let results = Results::parse("results.csv".as_ref(), text.as_bytes())?;
/// assert_eq!(results.methods(), ["ecc", "br"]);
/// // `br` was not measured in fold 1, so there is nothing to compare.
/// assert_eq!(results.losses(0), [[Some(0.5), None]]);
/// # Ok::<(), labelchain::error::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Results {
    datasets: Names,
    methods: Names,
    criteria: Names,
    rows: Vec<Row>,
    index_of: HashMap<Key, usize>,
}

/// A measurement with indices in place of names.
#[derive(Clone, Copy, Debug)]
struct Row {
    key: Key,
    loss: f64,
    seconds: Option<f64>,
}

/// What identifies a measurement: no two have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    dataset: usize,
    criterion: usize,
    method: usize,
    fold: Option<usize>,
}

/// Names in order of appearance.
#[derive(Clone, Debug, Default)]
struct Names {
    all: Vec<String>,
    /// The index of each name, and of each other spelling of it that a later file had.
    index_of: HashMap<String, usize>,
    /// How many of the names are from files before the one that is being read.
    n_from_earlier_files: usize,
}

impl Names {
    /// The index of a name, which is added if it is new. One that differs from a name of an earlier
    /// file only in its capitals is that name: people who measure apart spell apart.
    fn index(&mut self, name: &str) -> usize {
        if let Some(&index) = self.index_of.get(name) {
            return index;
        }
        let earlier = self.all[..self.n_from_earlier_files].iter();
        let is_same = |known: &String| known.to_lowercase() == name.to_lowercase();
        let index = earlier.clone().position(is_same).unwrap_or(self.all.len());
        if index == self.all.len() {
            self.all.push(name.into());
        }
        self.index_of.insert(name.into(), index);
        index
    }

    /// The index of a name as somebody typed it: exactly, or else the only one that is the same apart
    /// from capitals and punctuation.
    fn find(&self, what: &str, name: &str) -> Result<usize> {
        let mut similar = (0..self.all.len()).filter(|&at| is_same_name(&self.all[at], name));
        let exact = self.all.iter().position(|known| known == name);
        match (exact, similar.next(), similar.next()) {
            (Some(index), ..) | (None, Some(index), None) => Ok(index),
            _ => Err(Error::Comparison {
                problem: format!("no {what} of these results is called {name:?}"),
                remedy: match nearest(name, &self.all) {
                    Some(nearest) => format!("did you mean {nearest:?}?").into(),
                    None => format!("there are: {}", self.all.join(", ")).into(),
                },
            }),
        }
    }
}

/// Whether two names are the same apart from capitals and punctuation.
pub(crate) fn is_same_name(a: &str, b: &str) -> bool {
    let letters = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    letters(a) == letters(b)
}

impl Results {
    /// The data sets, in order of appearance.
    pub fn datasets(&self) -> &[String] {
        &self.datasets.all
    }

    /// The methods, in order of appearance.
    pub fn methods(&self) -> &[String] {
        &self.methods.all
    }

    /// The criteria, in order of appearance.
    pub fn criteria(&self) -> &[String] {
        &self.criteria.all
    }

    /// The index of a method by its name, whatever its capitals and punctuation. A name that none has, or
    /// several, is an error with the most similar one.
    pub fn method(&self, name: &str) -> Result<usize> {
        self.methods.find("method", name)
    }

    /// The index of a criterion by its name: `macro-f1` and `Macro F1` are `macro_f1`. A loss of ours is
    /// found by its title, too, as which aims are named: `example-f1` is `ex_f1`.
    pub fn criterion(&self, name: &str) -> Result<usize> {
        let found = self.criteria.find("criterion", name);
        let titled = Criterion::ALL.iter().find(|of| is_same_name(of.title(), name));
        found.or_else(|error| match titled {
            Some(criterion) => self.criteria.find("criterion", criterion.key()).map_err(|_| error),
            None => Err(error),
        })
    }

    /// The measurements by some of the criteria, which then have the order of `names`. Data sets and
    /// methods stay, so that gaps are still noticed.
    ///
    /// ```
    /// use labelchain::experiment::Results;
    ///
    /// let text = "dataset,method,criterion,loss\ny,br,hamming,0.1\ny,br,macro_f1,0.2\n";
    /// let results = Results::parse("r.csv".as_ref(), text.as_bytes())?;
    /// assert_eq!(results.only(&["Macro-F1".into()])?.criteria(), ["macro_f1"]);
    /// # Ok::<(), labelchain::error::Error>(())
    /// ```
    pub fn only(&self, names: &[String]) -> Result<Results> {
        let mut kept = Results {
            datasets: self.datasets.clone(),
            methods: self.methods.clone(),
            ..Results::default()
        };
        for name in names {
            let criterion = self.criterion(name)?;
            kept.criteria.index(&self.criteria.all[criterion]);
        }
        for row in &self.rows {
            let name = &self.criteria.all[row.key.criterion];
            if let Some(&criterion) = kept.criteria.index_of.get(name) {
                let key = Key { criterion, ..row.key };
                kept.index_of.insert(key, kept.rows.len());
                kept.rows.push(Row { key, ..*row });
            }
        }
        Ok(kept)
    }

    /// Adds a measurement. One that is there already, or beyond ±1e100, is an error.
    pub fn push(&mut self, measurement: Measurement) -> Result<()> {
        let Measurement { dataset, method, criterion, fold, loss, seconds } = measurement;
        let of = || {
            let fold = fold.map(|fold| format!(", fold {fold}")).unwrap_or_default();
            format!("{method} on {dataset} by {criterion}{fold}")
        };
        if !is_loss(loss) {
            let problem = format!("is {loss:?}, not a number within ±{MAX_LOSS:e}");
            return Err(Error::Measurement { of: of(), problem });
        }
        if let Some(seconds) = seconds.filter(|&seconds| !is_duration(seconds)) {
            let problem = format!("took {seconds:?} seconds, not 0 to {MAX_SECONDS:e}");
            return Err(Error::Measurement { of: of(), problem });
        }
        let key = self.key(dataset, method, criterion, fold);
        if let Some(size) = self.too_large() {
            let problem = format!("is one too many to be compared: {size}");
            return Err(Error::Measurement { of: of(), problem });
        }
        self.insert(Row { key, loss, seconds }).map_err(|earlier| Error::Measurement {
            of: of(),
            problem: format!("is given twice: {} and {loss}", self.rows[earlier].loss),
        })
    }

    fn key(&mut self, dataset: &str, method: &str, criterion: &str, fold: Option<usize>) -> Key {
        Key {
            dataset: self.datasets.index(dataset),
            criterion: self.criteria.index(criterion),
            method: self.methods.index(method),
            fold,
        }
    }

    /// How many names there are, if a comparison would have to hold too many numbers.
    fn too_large(&self) -> Option<String> {
        let [sets, methods, criteria] =
            [&self.datasets, &self.methods, &self.criteria].map(|names| names.all.len());
        let n_numbers = (sets + methods).saturating_mul(methods).saturating_mul(criteria);
        (n_numbers > MAX_NUMBERS)
            .then(|| format!("{sets} data sets, {methods} methods, {criteria} criteria"))
    }

    /// Adds a row, or returns the index of the earlier row with the same key.
    fn insert(&mut self, row: Row) -> Result<(), usize> {
        if let Some(&earlier) = self.index_of.get(&row.key) {
            return Err(earlier);
        }
        self.index_of.insert(row.key, self.rows.len());
        self.rows.push(row);
        Ok(())
    }

    /// The measurements, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = Measurement<'_>> {
        self.rows.iter().map(|row| Measurement {
            dataset: &self.datasets.all[row.key.dataset],
            method: &self.methods.all[row.key.method],
            criterion: &self.criteria.all[row.key.criterion],
            fold: row.key.fold,
            loss: row.loss,
            seconds: row.seconds,
        })
    }

    /// By one criterion, the loss of each method (column) on each data set (row): the unweighted
    /// mean over folds. It is `None` where a fold is missing in which another method was measured,
    /// since means over different rows cannot be compared.
    pub fn losses(&self, criterion: usize) -> Vec<Vec<Option<f64>>> {
        let n_methods = self.methods.all.len();
        let cells = self.by_cell(criterion);
        let rows = cells.chunks(n_methods.max(1)).map(|cells| {
            let folds: BTreeSet<Option<usize>> =
                cells.iter().flatten().map(|&(fold, _)| fold).collect();
            let n_folds = folds.len();
            let mean = |folds: &Vec<(Option<usize>, f64)>| {
                let is_whole = n_folds > 0 && folds.len() == n_folds;
                is_whole.then(|| folds.iter().map(|(_, loss)| loss).sum::<f64>() / n_folds as f64)
            };
            cells.iter().map(mean).collect()
        });
        rows.collect()
    }

    /// By one criterion, the losses of all folds of each method (column) on each data set (row).
    pub fn folds(&self, criterion: usize) -> Vec<Vec<Vec<f64>>> {
        let losses =
            |folds: &Vec<(Option<usize>, f64)>| folds.iter().map(|&(_, loss)| loss).collect();
        let cells = self.by_cell(criterion);
        let rows = cells.chunks(self.methods.all.len().max(1));
        rows.map(|cells| cells.iter().map(losses).collect()).collect()
    }

    /// The seconds of a method on each data set, all folds together, where they are known.
    pub fn seconds(&self, method: usize) -> Vec<Option<f64>> {
        // The seconds of a fold are repeated in the row of every criterion, and must be counted once.
        let mut by_fold: BTreeMap<(usize, Option<usize>), f64> = BTreeMap::new();
        for Row { key, seconds, .. } in self.rows.iter().filter(|row| row.key.method == method) {
            if let Some(seconds) = seconds {
                by_fold.insert((key.dataset, key.fold), *seconds);
            }
        }
        let mut by_set = vec![None; self.datasets.all.len()];
        for ((dataset, _), seconds) in by_fold {
            *by_set[dataset].get_or_insert(0.0) += seconds;
        }
        by_set
    }

    /// By one criterion, the folds and losses of each data set and method, method after method within
    /// each data set. Folds are sorted, so that the rounding of a mean does not depend on the order in
    /// which they were added.
    fn by_cell(&self, criterion: usize) -> Vec<Vec<(Option<usize>, f64)>> {
        let n_methods = self.methods.all.len();
        let mut cells = vec![Vec::new(); self.datasets.all.len() * n_methods];
        for Row { key, loss, .. } in self.rows.iter().filter(|row| row.key.criterion == criterion) {
            cells[key.dataset * n_methods + key.method].push((key.fold, *loss));
        }
        cells.iter_mut().for_each(|folds| folds.sort_by_key(|&(fold, _)| fold));
        cells
    }

    /// Writes the columns `dataset,method,criterion,fold,loss,seconds`, without `fold` or `seconds` if
    /// no measurement has one.
    pub fn write(&self, names: CsvNames, out: &mut dyn Write) -> io::Result<()> {
        let mut csv = csv::Writer::from_writer(out);
        let has_folds = self.rows.iter().any(|row| row.key.fold.is_some());
        let has_seconds = self.rows.iter().any(|row| row.seconds.is_some());
        let mut fields = vec!["dataset", "method", "criterion", "fold", "loss", "seconds"];
        fields.retain(|&name| match name {
            "fold" => has_folds,
            "seconds" => has_seconds,
            _ => true,
        });
        csv.write_record(&fields)?;
        for of in self.iter() {
            for name in [of.dataset, of.method, of.criterion] {
                csv.write_field(names.cell(name).as_ref())?;
            }
            if has_folds {
                csv.write_field(of.fold.map(|fold| fold.to_string()).unwrap_or_default())?;
            }
            csv.write_field(of.loss.to_string())?;
            if has_seconds {
                csv.write_field(of.seconds.map(|seconds| seconds.to_string()).unwrap_or_default())?;
            }
            csv.write_record(None::<&[u8]>)?;
        }
        csv.flush()
    }

    /// Reads a CSV or TSV file.
    ///
    /// A long table has the columns `dataset`, `method` (or `algorithm`) and `loss` (or `value`) in
    /// any order, and may have `criterion`, `fold` and `seconds`; other columns are ignored. A wide
    /// table has neither a method nor a loss column: every column other than `dataset`, `criterion`
    /// and `fold` holds the losses of a method. Without a criterion column, the criterion has the name
    /// of the file. An empty cell is no measurement. Names may be [escaped](CsvNames::Escaped).
    pub fn read(path: &Path) -> Result<Results> {
        Results::read_all(&[path])
    }

    /// Reads several files as one table. A name that differs from one of an earlier file only in its
    /// capitals is the same. A loss may be in several files if it is the same number in all of them; two
    /// numbers are an error that names both places.
    pub fn read_all(paths: &[impl AsRef<Path>]) -> Result<Results> {
        let mut joined = Joined::default();
        for path in paths.iter().map(AsRef::as_ref) {
            if path.is_dir() {
                return Err(Error::io(path, io::ErrorKind::IsADirectory.into()));
            }
            joined.add(path, open(path)?)?;
        }
        Ok(joined.results)
    }

    /// Reads text in memory as if it were the file `path`, which need not exist.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Results> {
        let mut joined = Joined::default();
        joined.add(path, Box::new(text))?;
        Ok(joined.results)
    }
}

/// The tables that were read so far.
#[derive(Default)]
struct Joined {
    results: Results,
    /// The files, in the order in which they were read.
    files: Vec<PathBuf>,
    /// Where each row of the results was found: the index of its file, and the line.
    places: Vec<(usize, u64)>,
    /// Whether losses are of folds, once that is known.
    has_folds: Option<bool>,
}

impl Joined {
    fn add<'p>(&mut self, path: &'p Path, text: Box<dyn Read + 'p>) -> Result<()> {
        let Joined { results, files, places, has_folds } = self;
        let this_file = files.len();
        files.push(path.into());
        for names in [&mut results.datasets, &mut results.methods, &mut results.criteria] {
            names.n_from_earlier_files = names.all.len();
        }
        let (names, mut records) = open_table(path, text)?;
        let columns = Columns::of(path, &names)?;
        let file = stem(path);
        while let Some(record) = records.next()? {
            check_length(record, names.len())?;
            let dataset = name(record, columns.dataset)?;
            let criterion = match columns.criterion {
                Some(column) => name(record, column)?,
                None => Cow::Borrowed(file.as_str()),
            };
            let fold = columns.fold.map(|column| fold(record, column)).transpose()?.flatten();
            if *has_folds.get_or_insert(fold.is_some()) != fold.is_some() {
                // A file without a column for folds may come after one that has it.
                let column = columns.fold.unwrap_or(columns.dataset);
                let expected = if fold.is_some() { "no fold" } else { "the number of a fold" };
                return Err(record
                    .fault_in(column, format!("{expected}, as in the rows before"))
                    .help("means over folds and folds do not mix: keep the rows of one kind")
                    .into());
            }
            let seconds =
                columns.seconds.map(|column| seconds(record, column)).transpose()?.flatten();
            for (of, column) in &columns.methods {
                let method = match of {
                    MethodName::In(column) => name(record, *column)?,
                    MethodName::Above(name) => Cow::Borrowed(name.as_str()),
                };
                // A method is registered even where its loss is missing, so that the gap is noticed.
                let key = results.key(&dataset, &method, &criterion, fold);
                if let Some(size) = results.too_large() {
                    return Err(record
                        .fault_in(*column, "few enough names for a comparison")
                        .found(size)
                        .help("does a column of names hold numbers of rows or runs? Else compare parts of the table")
                        .into());
                }
                let Some(loss) = loss(record, *column, of)? else { continue };
                let Err(earlier) = results.insert(Row { key, loss, seconds }) else {
                    places.push((this_file, record.first_line().number));
                    continue;
                };
                let (first_file, line) = places[earlier];
                let is_repeated = first_file == this_file;
                let first_loss = results.rows[earlier].loss;
                if is_repeated || first_loss != loss {
                    let fold = fold.map(|fold| format!(", fold {fold}")).unwrap_or_default();
                    return Err(record
                        .fault_in(
                            *column,
                            format!("one loss of {method} on {dataset} by {criterion}{fold}"),
                        )
                        .found(if is_repeated {
                            format!("a second one; the first is in line {line}")
                        } else {
                            let first_file = files[first_file].display();
                            format!("{loss}; in {first_file}, line {line}, it is {first_loss}")
                        })
                        .help(if is_repeated {
                            "a column that tells them apart may be called fold; else delete one"
                        } else {
                            "delete the wrong one; or, if the methods are different, give one another name"
                        })
                        .into());
                }
            }
        }
        Ok(())
    }
}

/// Which column holds what.
struct Columns {
    dataset: usize,
    criterion: Option<usize>,
    fold: Option<usize>,
    seconds: Option<usize>,
    /// Methods, each with the column of its losses.
    methods: Vec<(MethodName, usize)>,
}

/// Where the name of a method is found.
enum MethodName {
    /// In the cells of a column of a long table.
    In(usize),
    /// In the header of a column of a wide table.
    Above(String),
}

const SHAPES: &str = "a long table has columns dataset, method, criterion and loss, and perhaps \
                      fold; a wide one has dataset, then one column for each method";

impl Columns {
    fn of(path: &Path, names: &[String]) -> Result<Columns> {
        let refused = |expected: String| {
            Error::Content(Box::new(ContentError {
                path: path.into(),
                line: 1,
                column: 0,
                found: names.join(", "),
                expected,
                help: Some(SHAPES.into()),
                excerpt: None,
            }))
        };
        let find = |known: &[&str]| {
            let mut found = (0..names.len())
                .filter(|&at| known.iter().any(|name| names[at].eq_ignore_ascii_case(name)));
            match (found.next(), found.next()) {
                (Some(_), Some(_)) => Err(refused(format!("one column {}", known.join(" or ")))),
                (place, _) => Ok(place),
            }
        };
        let Some(dataset) = find(&["dataset"])? else {
            return Err(refused("a column dataset".into()));
        };
        let [criterion, fold] = [find(&["criterion"])?, find(&["fold"])?];
        let columns = Columns { dataset, criterion, fold, seconds: None, methods: Vec::new() };
        match (find(&["method", "algorithm"])?, find(&["loss", "value"])?) {
            (Some(method), Some(loss)) => {
                let methods = vec![(MethodName::In(method), loss)];
                Ok(Columns { seconds: find(&["seconds"])?, methods, ..columns })
            }
            (Some(_), None) => Err(refused("a column loss beside the column method".into())),
            (None, Some(_)) => Err(refused("a column method beside the column loss".into())),
            (None, None) => {
                let taken = [Some(dataset), criterion, fold];
                // A column without a name holds row numbers: some programs, such as pandas, write it so.
                let is_method = |at: &usize| !taken.contains(&Some(*at)) && !names[*at].is_empty();
                let name = |at: usize| CsvNames::unescaped(&names[at]).to_string();
                let method = |at: usize| (MethodName::Above(name(at)), at);
                let methods: Vec<_> = (0..names.len()).filter(is_method).map(method).collect();
                if methods.is_empty() {
                    return Err(refused("at least one column of losses".into()));
                }
                Ok(Columns { methods, ..columns })
            }
        }
    }
}

fn name<'r>(record: &'r Record, column: usize) -> Result<Cow<'r, str>> {
    let name = match record.text(column)? {
        Cow::Borrowed(text) => Cow::Borrowed(CsvNames::unescaped(text.trim())),
        Cow::Owned(text) => Cow::Owned(CsvNames::unescaped(text.trim()).into()),
    };
    if name.is_empty() {
        return Err(record.fault_in(column, "a name").found("none").into());
    }
    Ok(name)
}

fn fold(record: &Record, column: usize) -> Result<Option<usize>> {
    match Cell::of(record.bytes(column)) {
        Cell::Missing => Ok(None),
        Cell::Number(fold) if fold >= 0.0 && fold.fract() == 0.0 => Ok(Some(fold as usize)),
        _ => Err(record.fault_in(column, "the number of a fold: 0, 1, 2, …").into()),
    }
}

fn is_loss(loss: f64) -> bool {
    loss.abs() <= MAX_LOSS
}

fn is_duration(seconds: f64) -> bool {
    (0.0..=MAX_SECONDS).contains(&seconds)
}

fn seconds(record: &Record, column: usize) -> Result<Option<f64>> {
    match Cell::of(record.bytes(column)) {
        Cell::Missing => Ok(None),
        Cell::Number(seconds) if is_duration(seconds) => Ok(Some(seconds)),
        _ => Err(record.fault_in(column, "seconds, 0 to 1e10, or nothing").into()),
    }
}

/// The loss in a cell.
fn loss(record: &Record, column: usize, method: &MethodName) -> Result<Option<f64>> {
    match Cell::of(record.bytes(column)) {
        Cell::Missing => Ok(None),
        Cell::Number(loss) if is_loss(loss) => Ok(Some(loss)),
        Cell::Number(loss) if loss.is_finite() => Err(record
            .fault_in(column, "a number within ±1e100")
            .help(
                "means and differences of greater numbers would overflow: measure in a larger unit",
            )
            .into()),
        _ => Err(match method {
            MethodName::In(_) => {
                record.fault_in(column, "a number").help("leave the cell empty if there is no loss")
            }
            MethodName::Above(name) => {
                record.fault_in(column, format!("a number, the loss of {name}")).help(SHAPES)
            }
        }
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Results> {
        Results::parse("r.csv".as_ref(), text.as_bytes())
    }

    fn refusal(text: &str) -> String {
        parsed(text).unwrap_err().to_string()
    }

    #[test]
    fn columns_come_in_any_order_among_others() {
        let results = parsed(
            "loss,note,criterion,dataset_no,Method,dataset\n\
             0.5,x,hamming,1,br,yeast\n\
             0.25,,hamming,1,ecc,yeast\n",
        );
        let results = results.unwrap();
        assert_eq!(results.methods(), ["br", "ecc"]);
        assert_eq!(results.losses(0), [[Some(0.5), Some(0.25)]]);
    }

    #[test]
    fn a_wide_table_says_the_same_as_a_long_one() {
        let wide = parsed("dataset,br,ecc\nyeast,0.5,0.25\nflags,NA,1\n").unwrap();
        let long =
            "dataset,algorithm,value\nyeast,br,0.5\nyeast,ecc,0.25\nflags,br,\nflags,ecc,1\n";
        let long = parsed(long).unwrap();
        assert_eq!(wide.criteria(), ["r"]);
        assert_eq!(wide.losses(0), [[Some(0.5), Some(0.25)], [None, Some(1.0)]]);
        assert!(wide.iter().eq(long.iter()));
    }

    #[test]
    fn folds_are_averaged_whatever_their_order() {
        let rows = ["y,br,h,0,0.1", "y,br,h,1,0.2", "y,br,h,2,0.7"];
        let mean = |order: [usize; 3]| {
            let rows: Vec<&str> = order.iter().map(|&at| rows[at]).collect();
            let text = format!("dataset,method,criterion,fold,loss\n{}\n", rows.join("\n"));
            parsed(&text).unwrap().losses(0)[0][0]
        };
        assert_eq!(mean([0, 1, 2]), Some((0.1 + 0.2 + 0.7) / 3.0));
        assert_eq!(mean([2, 0, 1]), mean([0, 1, 2]));
    }

    #[test]
    fn seconds_are_counted_once_for_all_criteria() {
        let results = parsed(
            "dataset,method,criterion,fold,loss,seconds\n\
             y,br,h,0,0.1,1\ny,br,z,0,0.2,1\ny,br,h,1,0.1,2\ny,ecc,h,0,0.1,\n",
        );
        let results = results.unwrap();
        assert_eq!(results.seconds(0), [Some(3.0)]);
        assert_eq!(results.seconds(1), [None]);
        assert_eq!(results.folds(0), [[vec![0.1, 0.1], vec![0.1]]]);
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let mut results = Results::default();
        for (fold, loss) in [(0, 0.1), (1, 1.0 / 3.0)] {
            results
                .push(Measurement {
                    dataset: "a, b",
                    method: "=br",
                    criterion: "hamming",
                    fold: Some(fold),
                    loss,
                    seconds: Some(0.25),
                })
                .unwrap();
        }
        let mut text = Vec::new();
        results.write(CsvNames::Escaped, &mut text).unwrap();
        assert!(String::from_utf8_lossy(&text).contains(",'=br,"));
        let again = Results::parse("x.csv".as_ref(), &text).unwrap();
        assert!(again.iter().eq(results.iter()));
        let wide = parsed("dataset,'=br\ny,1\n").unwrap();
        assert_eq!(wide.methods(), ["=br"]);
        let twice = results.push(results.clone().iter().next().unwrap()).unwrap_err();
        assert_eq!(
            twice.to_string(),
            "the loss of =br on a, b by hamming, fold 0 is given twice: 0.1 and 0.1"
        );
    }

    #[test]
    fn a_file_of_names_that_are_all_different_is_refused_before_memory_is_full() {
        let rows: String = (0..100_000).map(|at| format!("d{at},m{at},0.5\n")).collect();
        // (n + n) n numbers: 1448 names are 4,193,408 and 1449 are more than 2²².
        assert_eq!(
            refusal(&format!("dataset,method,loss\n{rows}")),
            "r.csv, line 1450, column 13: expected few enough names for a comparison, \
             found 1449 data sets, 1449 methods, 1 criteria"
        );
    }

    #[test]
    fn a_measurement_beyond_all_bounds_is_refused() {
        let of = |loss, seconds| {
            let (dataset, method, criterion) = ("y", "br", "h");
            let measurement = Measurement { dataset, method, criterion, fold: None, loss, seconds };
            Results::default().push(measurement).unwrap_err().to_string()
        };
        assert_eq!(
            of(1e308, None),
            "the loss of br on y by h is 1e308, not a number within ±1e100"
        );
        let error = of(f64::NAN, None);
        assert_eq!(error, "the loss of br on y by h is NaN, not a number within ±1e100");
        let error = of(0.5, Some(-1.0));
        assert_eq!(error, "the loss of br on y by h took -1.0 seconds, not 0 to 1e10");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let long = "dataset,method,criterion,loss\n";
        for (text, message) in [
            (
                format!("{long}y,br,h,0.1\ny,br,h,0.2\n"),
                "r.csv, line 3, column 8: expected one loss of br on y by h, \
                 found a second one; the first is in line 2",
            ),
            (
                format!("{long}y,br,h,0.1x\n"),
                "r.csv, line 2, column 8: expected a number, found \"0.1x\"",
            ),
            (
                format!("{long}y,br,h,inf\n"),
                "r.csv, line 2, column 8: expected a number, found \"inf\"",
            ),
            (
                format!("{long}y,br,h,1e308\n"),
                "r.csv, line 2, column 8: expected a number within ±1e100, found \"1e308\"",
            ),
            (
                "dataset,method,loss,seconds\ny,br,1,1e308\n".into(),
                "r.csv, line 2, column 8: expected seconds, 0 to 1e10, or nothing, found \"1e308\"",
            ),
            (format!("{long},br,h,1\n"), "r.csv, line 2, column 1: expected a name, found none"),
            (
                format!("{long}y,br,h\n"),
                "r.csv, line 2, column 1: expected 4 fields, as in the header, found 3",
            ),
            (
                "dataset,classifier,criterion,loss\n".into(),
                "r.csv, line 1: expected a column method beside the column loss, \
                 found dataset, classifier, criterion, loss",
            ),
            ("set,br\ny,1\n".into(), "r.csv, line 1: expected a column dataset, found set, br"),
            (
                "dataset,algo,score\ny,br,1\n".into(),
                "r.csv, line 2, column 3: expected a number, the loss of algo, found \"br\"",
            ),
            (
                "dataset,br,fold\ny,1,0\ny,1,\n".into(),
                "r.csv, line 3, column 5: expected the number of a fold, as in the rows before, \
                 found the end of the line",
            ),
            (
                "dataset,br,fold\ny,1,0.5\n".into(),
                "r.csv, line 2, column 5: expected the number of a fold: 0, 1, 2, …, found \"0.5\"",
            ),
            (String::new(), "r.csv, line 1: expected a header line, found the end of the file"),
        ] {
            assert_eq!(refusal(&text), message);
        }
    }
}
