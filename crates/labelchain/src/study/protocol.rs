//! What is to be compared with what: the file that a study follows.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::document::{Document, EXAMPLE, scalar};
use super::part::Only;
use super::source::SetSource;
use crate::catalog::PaperSet;
use crate::data::split::{Folds, folds};
use crate::data::stratify::{Balance, equal_shares, stratify};
use crate::data::{
    ColumnRoles, Dataset, Encoding, LabelChoice, MissingLabels, ReadOptions, Threshold, stem,
};
use crate::error::{ContentError, Error, Result, directory_of, nearest};
use crate::method::{Method, registry};
use crate::seed::Seed;
use crate::settings::Settings;

/// Data sets, methods, folds and a seed.
///
/// ```
/// use labelchain::study::Protocol;
///
/// let text = r#"
///     folds = 5
///     sets = ["emotions.arff.gz", { file = "wq.arff.gz", binarize = ">0" }]
///     methods = ["dynamic-nb", { method = "ecc-nb", name = "small", members = 5 }]
///
///     [settings]
///     likelihood = "weka"
/// "#;
/// let protocol = Protocol::parse("p.toml".as_ref(), text, None)?;
/// assert_eq!(protocol.sets[1].name, "wq");
/// assert_eq!(protocol.methods[1].settings.iter().next(), Some(("likelihood", "weka")));
/// # Ok::<(), labelchain::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Protocol {
    /// As it was written.
    pub text: String,
    /// Of folds and of everything drawn in them.
    pub seed: u64,
    /// How many folds.
    pub n_folds: usize,
    /// Whether labels are spread evenly over the folds, and how.
    pub stratify: Option<Balance>,
    /// The level of significance at which a report compares the methods, if it says one. Results do not
    /// depend on it.
    pub alpha: Option<f64>,
    /// The data sets.
    pub sets: Vec<SetSpec>,
    /// The methods.
    pub methods: Vec<MethodSpec>,
}

/// A data set, and where to find it.
#[derive(Clone, Debug)]
pub struct SetSpec {
    /// Its name in results.
    pub name: String,
    /// Where it comes from.
    pub source: SetSource,
    /// What the protocol says about reading, in one form.
    pub(super) reading: String,
}

/// A method and what is set about it.
#[derive(Clone, Debug)]
pub struct MethodSpec {
    /// Its name in results.
    pub name: String,
    /// The method.
    pub method: Method,
    /// What is set.
    pub settings: Settings,
}

/// The most sets and the most methods; their names are compared with each other.
const MAX_ITEMS: usize = 10_000;

/// The most cells. The paper's study, with all variants, has some ten thousand.
const MAX_CELLS: usize = 1_000_000;

const KEYS: [&str; 8] =
    ["seed", "folds", "stratify", "alpha", "data", "sets", "methods", "settings"];

impl Protocol {
    /// Reads a protocol. Data files are looked for in `data`; else where the protocol says, seen
    /// from its own directory.
    pub fn read(path: &Path, data: Option<&Path>) -> Result<Protocol> {
        // A study of every set and method there is takes some kilobytes.
        const MAX_BYTES: u64 = 16 << 20;
        let refused = |error| Error::io(path, error);
        let refuse = |found: &str| {
            Err(Error::Content(Box::new(ContentError {
                path: path.into(),
                line: 0,
                column: 0,
                found: found.into(),
                expected: "a file in TOML of at most 16 MiB".into(),
                help: Some(EXAMPLE.into()),
                excerpt: None,
            })))
        };
        // Opening a pipe would wait for whoever writes to it.
        let metadata = fs::metadata(path).map_err(refused)?;
        if !metadata.is_file() {
            return refuse(if metadata.is_dir() { "a directory" } else { "no regular file" });
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(refused)?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(refused)?;
        if bytes.len() as u64 > MAX_BYTES {
            return refuse("a larger one");
        }
        match String::from_utf8(bytes) {
            Ok(text) => Protocol::parse(path, &text, data),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let found = format!("byte 0x{:02X}", error.as_bytes()[at]);
                let text = &String::from_utf8_lossy(error.as_bytes());
                let document = Document { path, text };
                Err(document.fault(at..at, "UTF-8 text", found, "save the file as UTF-8"))
            }
        }
    }

    /// Reads text that stands in memory as if it were the file `path`.
    pub fn parse(path: &Path, text: &str, data: Option<&Path>) -> Result<Protocol> {
        let document = Document { path, text };
        let table = document.table()?;
        let reader = Reader { document, table: &table };
        reader.only(&KEYS, "a key of a protocol")?;
        let beside = path.parent().unwrap_or(Path::new(""));
        let directory = match data {
            Some(data) => data.to_path_buf(),
            None => beside.join(reader.text("data")?.unwrap_or_default()),
        };
        let seed = reader.parsed("seed", "a whole number from 0", |text| text.parse().ok())?;
        let n_folds = reader.parsed("folds", "a whole number from 2 to 100000", |text| {
            text.parse().ok().filter(|n| (2..=Folds::MAX).contains(n))
        })?;
        let stratify = reader.parsed(
            "stratify",
            "\"none\", \"iterative\" or \"pairs\"",
            |text| match text {
                "none" => Some(None),
                "iterative" => Some(Some(Balance::Labels)),
                "pairs" => Some(Some(Balance::Pairs)),
                _ => None,
            },
        )?;
        let alpha = reader.parsed("alpha", "a number between 0 and 1", |text| {
            text.parse().ok().filter(|alpha| (f64::MIN_POSITIVE..1.0).contains(alpha))
        })?;
        let mut settings_of_all = Settings::default();
        if let Some(settings) = table.get("settings") {
            let of_all = reader.inner(settings, "a table of settings")?;
            of_all.only(&setting_names(), "a setting")?;
            of_all.settings(&mut settings_of_all)?;
        }
        let sets = reader.list("sets", "a data set", |value| {
            reader.set(value, &directory).map(|set| (set.name.clone(), set))
        })?;
        let methods = reader.list("methods", "a method", |value| {
            reader
                .method(value, settings_of_all.clone())
                .map(|method| (method.name.clone(), method))
        })?;
        let n_folds = n_folds.unwrap_or(10);
        let n_cells = sets.len() * methods.len() * n_folds;
        if n_cells > MAX_CELLS {
            let expected = "sets, methods and folds that make at most 1000000 cells";
            let help = "cut the protocol into several";
            return Err(document.fault(0..0, expected, n_cells.to_string(), help));
        }
        reader.mistyped(&sets)?;
        Ok(Protocol {
            text: text.into(),
            seed: seed.unwrap_or(1),
            n_folds,
            stratify: stratify.unwrap_or(None),
            alpha,
            sets,
            methods,
        })
    }

    /// The sets and methods named, as if there were no others.
    pub fn only(mut self, only: &Only) -> Result<Protocol> {
        only.check(&self)?;
        if only.has_folds() {
            let (name, value) = ("only", "fold=…".into());
            let accepted = "set=NAMES or method=NAMES, unless the study is run";
            return Err(Error::Setting { name, value, accepted });
        }
        self.sets.retain(|set| only.has(&set.name, 0));
        self.methods.retain(|method| only.has_method(&method.name));
        Ok(self)
    }

    pub(super) fn seed(&self) -> Seed {
        Seed::new(self.seed)
    }

    /// Cuts a data set as `evaluate` does.
    pub(super) fn folds(&self, data: &Dataset) -> Result<Folds> {
        match self.stratify {
            None => folds(data.n_rows(), self.n_folds, self.seed()),
            Some(balance) => {
                let shares = equal_shares(self.n_folds)?;
                stratify(data.labels(), &shares, balance, None, self.seed())
            }
        }
    }
}

/// A table of the document.
#[derive(Clone, Copy)]
struct Reader<'d> {
    document: Document<'d>,
    table: &'d DeTable<'d>,
}

impl<'d> Reader<'d> {
    fn inner(&self, value: &'d Spanned<DeValue<'d>>, expected: &str) -> Result<Reader<'d>> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(Reader { table, ..*self }),
            _ => {
                let help = "write [settings], and below it lines such as members = 20";
                Err(self.document.not(expected, value, help))
            }
        }
    }

    /// Refuses keys that nobody would read.
    fn only(&self, known: &[&str], expected: &str) -> Result<()> {
        let known: Vec<String> = known.iter().map(|&name| name.into()).collect();
        match self.table.keys().find(|key| !known.iter().any(|name| name == key.get_ref())) {
            Some(key) => Err(self.document.unknown(key.span(), expected, key.get_ref(), &known)),
            None => Ok(()),
        }
    }

    /// A value that `parse` accepts, if there is one under this key.
    fn parsed<T>(
        &self,
        key: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        match scalar(value).and_then(|text| parse(&text)) {
            Some(parsed) => Ok(Some(parsed)),
            None => {
                let help = format!("correct it, or leave {key} out");
                Err(self.document.not(expected, value, help))
            }
        }
    }

    fn text(&self, key: &str) -> Result<Option<String>> {
        match self.table.get(key).map(|value| (value, value.get_ref().as_str())) {
            None => Ok(None),
            Some((_, Some(text))) if !text.is_empty() => Ok(Some(text.into())),
            Some((value, _)) => {
                let help = format!("write {key} = \"…\"");
                Err(self.document.not("text in quotes", value, help))
            }
        }
    }

    /// At least one item, no two of one name.
    fn list<T>(
        &self,
        key: &str,
        what: &str,
        read: impl Fn(&'d Spanned<DeValue<'d>>) -> Result<(String, T)>,
    ) -> Result<Vec<T>> {
        let document = &self.document;
        let Some(value) = self.table.get(key) else {
            let found = "the end of the file";
            let end = document.text.len();
            return Err(document.fault(end..end, format!("a list {key} = […]"), found, EXAMPLE));
        };
        let items = match value.get_ref() {
            DeValue::Array(items) if items.len() > MAX_ITEMS => {
                let (expected, help) = ("at most 10000 items", "cut the protocol into several");
                return Err(document.fault(value.span(), expected, items.len().to_string(), help));
            }
            DeValue::Array(items) if !items.is_empty() => items,
            _ => return Err(document.not(&format!("a list with at least {what}"), value, EXAMPLE)),
        };
        let mut first: HashMap<String, usize> = HashMap::new();
        let read = |item: &'d Spanned<DeValue<'d>>| {
            let (name, read) = read(item)?;
            if let Some(first) = first.insert(name.clone(), item.span().start) {
                let first = document.line(first);
                return Err(document.fault(
                    item.span(),
                    format!("{what} with a name of its own"),
                    format!("{name:?}, which is also in line {first}"),
                    "name = \"…\" gives it another",
                ));
            }
            Ok(read)
        };
        items.iter().map(read).collect()
    }

    /// Sets what stands under the names of settings.
    fn settings(&self, settings: &mut Settings) -> Result<()> {
        for known in registry() {
            let setting = known.setting;
            self.parsed(setting.name(), &setting.accepted(), |text| {
                settings.set(setting, text).ok()
            })?;
        }
        Ok(())
    }

    /// A method's name, or a table with the key `method`.
    fn method(
        &self,
        value: &'d Spanned<DeValue<'d>>,
        mut settings: Settings,
    ) -> Result<MethodSpec> {
        const EXPECTED: &str = "a method";
        const TABLE: &str = "write { method = \"ecc-nb\" }, with a name and settings if need be";
        let document = &self.document;
        let known = || Method::all().map(|it| it.to_string()).collect::<Vec<String>>();
        let parse = |value: &Spanned<DeValue>| {
            let text = value.get_ref().as_str();
            let text = text.ok_or_else(|| document.not(EXPECTED, value, TABLE))?;
            text.parse::<Method>().map_err(|error| match error {
                // Both halves are known, and the error says why they do not go together.
                Error::Value { accepted, .. } => {
                    let help = format!("there are: {}", known().join(", "));
                    document.fault(value.span(), accepted, format!("{text:?}"), help)
                }
                _ => document.unknown(value.span(), EXPECTED, text, &known()),
            })
        };
        let DeValue::Table(table) = value.get_ref() else {
            let method = parse(value)?;
            return self.spec(value, method.to_string(), method, settings);
        };
        let reader = Reader { table, ..*self };
        let known: Vec<&str> = ["method", "name"].into_iter().chain(setting_names()).collect();
        reader.only(&known, "a setting")?;
        let Some(named) = table.get("method") else {
            let expected = "method = \"…\" in the table";
            return Err(document.fault(value.span(), expected, "none", TABLE));
        };
        let method = parse(named)?;
        let is_unused = |key: &str| !["method", "name"].contains(&key) && !method.uses(key);
        if let Some((key, _)) = table.iter().find(|(key, _)| is_unused(key.get_ref())) {
            let expected = format!("a setting that {method} uses");
            let found = format!("{:?}", key.get_ref());
            let help = "leave it out; each setting says which methods it is for";
            return Err(document.fault(key.span(), expected, found, help));
        }
        reader.settings(&mut settings)?;
        let name = reader.text("name")?.unwrap_or_else(|| method.to_string());
        self.spec(value, name, method, settings)
    }

    fn spec(
        &self,
        value: &Spanned<DeValue>,
        name: String,
        method: Method,
        settings: Settings,
    ) -> Result<MethodSpec> {
        if let Err(error) = method.check(&settings) {
            let Error::Value { name, value: found, accepted } = error else { return Err(error) };
            let help = format!("leave {name} out, or change it");
            return Err(self.document.fault(
                value.span(),
                format!("{name} {accepted}"),
                format!("{name} = {found}"),
                help,
            ));
        }
        Ok(MethodSpec { name, method, settings })
    }

    /// A data file's name, or a table with the key `file` or `paper`.
    fn set(&self, value: &'d Spanned<DeValue<'d>>, directory: &Path) -> Result<SetSpec> {
        let document = &self.document;
        let DeValue::Table(table) = value.get_ref() else {
            let Some(file) = value.get_ref().as_str() else {
                return Err(document.not("the name of a data file", value, A_SET));
            };
            return Ok(SetSpec {
                name: stem(Path::new(file)),
                source: SetSource::File {
                    path: directory.join(file),
                    options: ReadOptions::default(),
                },
                reading: String::new(),
            });
        };
        let reader = Reader { table, ..*self };
        if let Some(named) = table.get("paper") {
            return reader.paper_set(named, directory);
        }
        reader.only(&SET_KEYS, "a key of a data set")?;
        let Some(file) = reader.text("file")? else {
            let expected = "file = \"…\" or paper = \"…\" in the table";
            return Err(document.fault(value.span(), expected, "none", A_SET));
        };
        let options = reader.reading(directory)?;
        // In one order and one spelling, so that results can tell whether it was read differently.
        let mut reading: Vec<String> = table
            .iter()
            .filter(|(key, _)| !["file", "name"].contains(&key.get_ref().as_ref()))
            .map(|(key, value)| format!("{} = {}", key.get_ref(), written(value)))
            .collect();
        reading.sort();
        Ok(SetSpec {
            name: reader.text("name")?.unwrap_or_else(|| stem(Path::new(&file))),
            source: SetSource::File { path: directory.join(file), options },
            reading: reading.join(", "),
        })
    }

    /// A set of the paper's table, which knows how it is read.
    fn paper_set(&self, named: &Spanned<DeValue>, directory: &Path) -> Result<SetSpec> {
        const EXPECTED: &str = "a data set of the paper";
        self.only(&["paper", "name"], "a key of a data set of the paper")?;
        let Some(name) = named.get_ref().as_str() else {
            return Err(self.document.not(EXPECTED, named, A_SET));
        };
        let set = PaperSet::find(name).map_err(|_| {
            let known = PaperSet::ALL.map(|set| set.stem.to_string());
            self.document.unknown(named.span(), EXPECTED, name, &known)
        })?;
        Ok(SetSpec {
            name: self.text("name")?.unwrap_or_else(|| set.stem.into()),
            source: SetSource::Paper { set, directory: directory.to_path_buf() },
            reading: format!("paper = {}", set.stem),
        })
    }

    fn reading(&self, directory: &Path) -> Result<ReadOptions> {
        let defaults = ReadOptions::default();
        let threshold = |text: &str| text.parse::<Threshold>().ok();
        Ok(ReadOptions {
            labels: self.labels(directory)?,
            binarize: self.parsed("binarize", "a comparison such as \">0\"", threshold)?,
            missing_labels: self
                .parsed("missing-labels", "\"refuse\", \"irrelevant\" or \"learn\"", |text| {
                    match text {
                        "refuse" => Some(MissingLabels::Refuse),
                        "irrelevant" => Some(MissingLabels::Irrelevant),
                        "learn" => Some(MissingLabels::Learn),
                        _ => None,
                    }
                })?
                .unwrap_or(defaults.missing_labels),
            encoding: self
                .parsed("encoding", "\"utf8\" or \"latin1\"", |text| match text {
                    "utf8" => Some(Encoding::Utf8),
                    "latin1" => Some(Encoding::Latin1),
                    _ => None,
                })?
                .unwrap_or(defaults.encoding),
            dedupe: self
                .parsed("dedupe", "true or false", |text| text.parse().ok())?
                .unwrap_or(defaults.dedupe),
            n_features: self.parsed("features", "a whole number from 1", from_1)?,
            delimiter: self
                .parsed("delimiter", "one ASCII character, or tab", |text| text.parse().ok())?,
            roles: Arc::new(ColumnRoles {
                drop: self.names("drop")?,
                id: self.names("id")?,
                text: self.names("text")?,
                keep: self.names("keep")?,
                find: self
                    .parsed("find", "true or false", |text| text.parse().ok())?
                    .unwrap_or_default(),
            }),
            ..defaults
        })
    }

    /// The columns that a key names, as a list; none without it.
    fn names(&self, key: &str) -> Result<Vec<String>> {
        let Some(value) = self.table.get(key) else { return Ok(vec![]) };
        let help = format!("write {key} = [\"a\", \"b\"]");
        let DeValue::Array(names) = value.get_ref() else {
            return Err(self.document.not("a list of names of columns", value, help.clone()));
        };
        let name = |name: &Spanned<DeValue>| match name.get_ref().as_str() {
            Some(text) => Ok(text.to_string()),
            None => Err(self.document.not("the name of a column", name, help.clone())),
        };
        names.iter().map(name).collect()
    }

    fn labels(&self, directory: &Path) -> Result<LabelChoice> {
        let ways: Vec<_> = WAYS.iter().filter_map(|&way| self.table.get_key_value(way)).collect();
        let [(way, _)] = ways[..] else {
            return match ways.get(1) {
                None => Ok(LabelChoice::Detect),
                Some((second, _)) => Err(self.document.fault(
                    second.span(),
                    "one way of saying which columns are labels",
                    "another",
                    "keep one of them",
                )),
            };
        };
        let count = || self.parsed(way.get_ref(), "a whole number from 1", from_1);
        Ok(match way.get_ref().as_ref() {
            "labels-first" => LabelChoice::First(count()?.unwrap_or_default()),
            "labels-last" => LabelChoice::Last(count()?.unwrap_or_default()),
            "labels-xml" => {
                LabelChoice::Xml(directory.join(self.text("labels-xml")?.unwrap_or_default()))
            }
            "tags" => LabelChoice::Tags {
                column: self.text("tags")?.unwrap_or_default(),
                separator: self.text("tag-separator")?.unwrap_or_else(|| ";".into()),
            },
            _ => LabelChoice::Named(self.names("labels")?),
        })
    }

    /// A file that is not there may come later. One whose name is nearly that of a file there,
    /// which no other set uses, is a slip of the pen.
    fn mistyped(&self, sets: &[SetSpec]) -> Result<()> {
        let Some(DeValue::Array(items)) = self.table.get("sets").map(Spanned::get_ref) else {
            return Ok(());
        };
        let used: HashSet<PathBuf> = sets.iter().filter_map(|set| set.source.file()).collect();
        for (set, item) in sets.iter().zip(items) {
            let SetSource::File { path: missing, .. } = &set.source else { continue };
            if missing.exists() {
                continue;
            }
            let files = directory_of(missing).read_dir().into_iter().flatten().flatten();
            let unused = files
                .map(|file| file.path())
                .filter(|path| !used.contains(path))
                .filter(|path| path.extension() == missing.extension());
            let stems: Vec<String> = unused.map(|path| stem(&path)).collect();
            if let Some(near) = nearest(&stem(missing), &stems) {
                let found = format!("{:?}, which is not there", missing.display().to_string());
                let help = format!("did you mean {near:?}?");
                return Err(self.document.fault(item.span(), "a data file", found, help));
            }
        }
        Ok(())
    }
}

/// The ways of saying which columns are labels.
const WAYS: [&str; 5] = ["labels", "labels-first", "labels-last", "labels-xml", "tags"];

const SET_KEYS: [&str; 19] = [
    "file",
    "name",
    "labels",
    "labels-first",
    "labels-last",
    "labels-xml",
    "tags",
    "tag-separator",
    "binarize",
    "missing-labels",
    "encoding",
    "dedupe",
    "features",
    "delimiter",
    "drop",
    "id",
    "text",
    "keep",
    "find",
];

/// What a data set looks like in a list.
const A_SET: &str =
    "write \"a.arff\", { file = \"a.csv\", labels-last = 3 } or { paper = \"yeast\" }";

/// A value in one spelling.
fn written(value: &Spanned<DeValue>) -> String {
    match value.get_ref() {
        DeValue::Array(items) => items.iter().map(written).collect::<Vec<_>>().join(","),
        _ => scalar(value).unwrap_or_default().into_owned(),
    }
}

fn from_1(text: &str) -> Option<usize> {
    text.parse().ok().filter(|&n| n >= 1)
}

/// The names of all settings.
fn setting_names() -> Vec<&'static str> {
    registry().iter().map(|known| known.setting.name()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{DECAY, GivenOrder, MEMBERS, ORDER};
    use crate::error::ErrorKind;
    use crate::prepare::MAX_IMBALANCE;

    fn parsed(text: &str) -> Result<Protocol> {
        Protocol::parse("p.toml".as_ref(), text, None)
    }

    const LISTS: &str = "sets = [\"a.csv\"]\nmethods = [\"ecc-nb\"]\n";

    #[test]
    fn what_is_not_said_is_the_papers() {
        let protocol = parsed(LISTS).unwrap();
        assert_eq!((protocol.seed, protocol.n_folds, protocol.stratify), (1, 10, None));
        assert_eq!(protocol.alpha, None);
        assert_eq!(protocol.sets[0].name, "a");
        assert_eq!(protocol.methods[0].settings, Settings::default());
    }

    #[test]
    fn a_methods_own_settings_go_over_the_studys() {
        let protocol = parsed(
            "sets = [\"a.csv\"]\n\
             methods = [\"br-nb\", { method = \"ecc-nb\", members = 7, order = \"natural\" }]\n\
             settings = { members = 3, decay = 2.5, max-imbalance = \"none\" }\n",
        );
        let methods = protocol.unwrap().methods;
        let [of_all, own] = [&methods[0].settings, &methods[1].settings];
        assert_eq!((of_all.get(&MEMBERS), own.get(&MEMBERS)), (3, 7));
        assert_eq!((own.get(&DECAY), own.get(&MAX_IMBALANCE)), (Some(2.5), None));
        assert_eq!(
            (of_all.get(&ORDER), own.get(&ORDER)),
            (GivenOrder::Random, GivenOrder::Natural)
        );
    }

    #[test]
    fn data_is_looked_for_beside_the_protocol_unless_told_otherwise() {
        let text = format!("data = \"sets\"\n{LISTS}");
        let of = |data: Option<&Path>| {
            let protocol = Protocol::parse("here/p.toml".as_ref(), &text, data).unwrap();
            match &protocol.sets[0].source {
                SetSource::File { path, .. } => path.clone(),
                SetSource::Paper { .. } => unreachable!("no set of the paper"),
            }
        };
        assert_eq!(of(None), Path::new("here/sets/a.csv"));
        assert_eq!(of(Some("/there".as_ref())), Path::new("/there/a.csv"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place_and_the_nearest_name() {
        for (text, message, help) in [
            (
                "sets = [\"a.csv\"]\nmethods = [\"ecc-nb\",\n  \"dynamc-nb\"]\n".into(),
                "line 3, column 3: expected a method, found \"dynamc-nb\"",
                "did you mean \"dynamic-nb\"?",
            ),
            (
                "sets = [\"a.csv\"]\nmethods = [\"oocc-j48\"]\n".into(),
                "line 2, column 12: expected a model that can be walked in any order: dynamic, oocc \
                 and certain take nb, knn or forest; j48 and svm go with ga, ecc, br or ga-br, found \"oocc-j48\"",
                "there are: dynamic-nb, dynamic-knn, ",
            ),
            (
                "sets = [\"a.csv\"]\nmethods = [{ method = \"ecc-nb\", cost = 1 }]\n".into(),
                "line 2, column 33: expected a setting that ecc-nb uses, found \"cost\"",
                "leave it out",
            ),
            (
                format!("{LISTS}fold = 3\n"),
                "line 3, column 1: expected a key of a protocol, found \"fold\"",
                "did you mean \"folds\"?",
            ),
            (
                format!("{LISTS}[settings]\nmember = 3\n"),
                "line 4, column 1: expected a setting, found \"member\"",
                "did you mean \"members\"?",
            ),
            (
                format!("{LISTS}[settings]\nsample = 1.5\n"),
                "line 4, column 10: expected a share above 0 and up to 1, found 1.5",
                "correct it, or leave sample out",
            ),
            (
                format!("{LISTS}folds = 1\n"),
                "line 3, column 9: expected a whole number from 2 to 100000, found 1",
                "correct it, or leave folds out",
            ),
            (
                format!("{LISTS}alpha = 5\n"),
                "line 3, column 9: expected a number between 0 and 1, found 5",
                "correct it, or leave alpha out",
            ),
            (
                "sets = [{ file = \"é.csv\", binarise = \">0\" }]\nmethods = [\"ecc-nb\"]\n".into(),
                "line 1, column 27: expected a key of a data set, found \"binarise\"",
                "did you mean \"binarize\"?",
            ),
            (
                "sets = [\"a.csv\",\n\"b/a.arff\"]\nmethods = [\"ecc-nb\"]\n".into(),
                "line 2, column 1: expected a data set with a name of its own, found \"a\", which \
                 is also in line 1",
                "name = \"…\" gives it another",
            ),
            (
                "sets = [\"a.csv\"]\nmethods = [\"ecc-nb\", { method = \"ecc-nb\", members = 3 }]\n"
                    .into(),
                "line 2, column 22: expected a method with a name of its own, found \"ecc-nb\", \
                 which is also in line 2",
                "name = \"…\" gives it another",
            ),
            (
                "sets = [{ file = \"a.csv\", labels-last = 2, tags = \"t\" }]\nmethods = [\"ecc-nb\"]"
                    .into(),
                "line 1, column 44: expected one way of saying which columns are labels, found \
                 another",
                "keep one of them",
            ),
            (
                "methods = [\"ecc-nb\"]\nsets = []\n".into(),
                "line 2, column 8: expected a list with at least a data set, found a list",
                EXAMPLE,
            ),
            (
                "methods = [\"ecc-nb\"]\n".into(),
                "line 2, column 1: expected a list sets = […], found the end of the file",
                EXAMPLE,
            ),
            (
                "sets = [\"a.csv\"]\nmethods = [{ members = 3 }]\n".into(),
                "line 2, column 12: expected method = \"…\" in the table, found none",
                "write { method = \"ecc-nb\" }",
            ),
            (
                "sets = [\"a.csv\"]\nmethods = [{ method = \"dynamic-nb\", fit-share = 1 }]\n".into(),
                "line 2, column 12: expected fit-share below 1 for dynamic, ga, oocc and ga-br, which \
                 choose orders or members on validation rows; ecc, certain and br need none, found \
                 fit-share = 1",
                "leave fit-share out",
            ),
            (
                "sets = [\"a.csv\"]\nmethods = [\"ga-nb\"]\n[settings]\nsample = 1\n\
                 search-rows = \"out-of-bag\"\n"
                    .into(),
                "line 2, column 12: expected sample below 1 where search-rows is out-of-bag, because \
                 candidates vote on the rows that they did not draw, found sample = 1",
                "leave sample out, or change it",
            ),
            (
                "sets = [{ paper = \"yaest\" }]\nmethods = [\"ecc-nb\"]\n".into(),
                "line 1, column 19: expected a data set of the paper, found \"yaest\"",
                "did you mean \"yeast\"?",
            ),
            (
                "sets = [{ paper = \"yeast\", labels-last = 14 }]\nmethods = [\"ecc-nb\"]\n".into(),
                "line 1, column 28: expected a key of a data set of the paper, found \"labels-last\"",
                "there are: paper, name",
            ),
            (
                format!("{LISTS}folds = = 3\n"),
                "line 3, column 9: expected a file in TOML, found extra `=`, expected nothing",
                EXAMPLE,
            ),
            (
                format!("{LISTS}settings = 3\n"),
                "line 3, column 12: expected a table of settings, found 3",
                "write [settings]",
            ),
            (
                format!("{LISTS}data = 3\n"),
                "line 3, column 8: expected text in quotes, found 3",
                "write data = \"…\"",
            ),
            (
                "sets = [\"a.csv\"]\nmethods = [3]\n".into(),
                "line 2, column 12: expected a method, found 3",
                "write { method = \"ecc-nb\" }",
            ),
            (
                "sets = [3]\nmethods = [\"ecc-nb\"]\n".into(),
                "line 1, column 9: expected the name of a data file, found 3",
                A_SET,
            ),
            (
                "sets = [{ name = \"a\" }]\nmethods = [\"ecc-nb\"]\n".into(),
                "line 1, column 9: expected file = \"…\" or paper = \"…\" in the table, found none",
                A_SET,
            ),
            (
                "sets = [{ paper = 3 }]\nmethods = [\"ecc-nb\"]\n".into(),
                "line 1, column 19: expected a data set of the paper, found 3",
                A_SET,
            ),
            (
                "sets = [{ file = \"a.csv\", labels = 3 }]\nmethods = [\"ecc-nb\"]\n".into(),
                "line 1, column 36: expected a list of names of columns, found 3",
                "write labels = [",
            ),
            (
                "sets = [{ file = \"a.csv\", labels = [3] }]\nmethods = [\"ecc-nb\"]\n".into(),
                "line 1, column 37: expected the name of a column, found 3",
                "write labels = [",
            ),
        ] {
            let error = parsed(&text).unwrap_err();
            assert_eq!(error.to_string(), format!("p.toml, {message}"));
            let remedy = error.remedy().unwrap_or_default().to_string();
            assert!(remedy.starts_with(help), "{message}: {remedy}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_but_nearly_is_a_slip() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("yeast.csv"), "").unwrap();
        let parse = |sets: &str| {
            let text = format!("sets = [{sets}]\nmethods = [\"ecc-nb\"]\n");
            Protocol::parse("p.toml".as_ref(), &text, Some(directory.path()))
        };
        let error = parse("\"yaest.csv\"").unwrap_err();
        assert_eq!(error.remedy(), Some("did you mean \"yeast\"?".into()));
        // Another set is that file; and nothing is near the other.
        parse("\"yaest.csv\", \"yeast.csv\"").unwrap();
        parse("\"flags.csv\"").unwrap();
    }
    /// Every refusal of a protocol has a place and a remedy, whatever the text is.
    fn refused(path: &Path, text: &[u8]) -> String {
        fs::write(path, text).unwrap();
        let error = Protocol::read(path, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Content, "{error}");
        assert!(error.remedy().is_some(), "{error}");
        let Error::Content(content) = error else { unreachable!("content") };
        assert!(content.line > 0 && content.column > 0, "{content}");
        assert!(content.excerpt.is_some_and(|(line, _)| line.len() < 200));
        format!("expected {}, found {}", content.expected, content.found)
    }

    #[test]
    fn what_is_no_text_too_deep_or_too_long_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("p.toml");
        let is = |text: &[u8], expected: &str| {
            let found = refused(&path, text);
            assert!(found.ends_with(expected), "{found}");
        };
        is(b"data = \"caf\xE9\"\n", "expected UTF-8 text, found byte 0xE9");
        const N: usize = 100_000;
        let nested = "found too many levels of nesting";
        is(format!("a={}{}", "[".repeat(N), "]".repeat(N)).as_bytes(), nested);
        is(format!("a={}1{}", "{b=".repeat(N), "}".repeat(N)).as_bytes(), nested);
        is(format!("a={}", "[{b.c=".repeat(N)).as_bytes(), nested);
        is(format!("a{}=1", ".a".repeat(N)).as_bytes(), nested);
        is(format!("[a{}]", ".a".repeat(N)).as_bytes(), nested);
        is(format!("[[a{}]]", ".a".repeat(N)).as_bytes(), nested);
        is(format!("seed = {:?}", "x".repeat(N)).as_bytes(), "…");
        let whole = |expected: &str| {
            let error = Protocol::read(&path, None).unwrap_err();
            assert!(error.to_string().ends_with(expected), "{error}");
            assert_eq!((error.kind(), error.remedy().is_some()), (ErrorKind::Content, true));
        };
        fs::write(&path, vec![b'#'; 17 << 20]).unwrap();
        whole("expected a file in TOML of at most 16 MiB, found a larger one");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        whole("found a directory");
    }

    #[test]
    fn a_study_that_would_never_end_is_refused() {
        let names =
            |n: usize, of: &dyn Fn(usize) -> String| (0..n).map(of).collect::<Vec<_>>().join(", ");
        let study = |n_sets: usize, n_methods: usize| {
            let sets = names(n_sets, &|at| format!("\"a{at}.csv\""));
            let methods =
                names(n_methods, &|at| format!("{{ method = \"br-nb\", name = \"m{at}\" }}"));
            format!("sets = [{sets}]\nmethods = [{methods}]\nfolds = 100000\n")
        };
        let refusal = |text: &str| parsed(text).unwrap_err().to_string();
        assert!(refusal(&study(11, 1)).ends_with("at most 1000000 cells, found 1100000"));
        assert!(refusal(&study(1, 10_001)).ends_with("at most 10000 items, found 10001"));
        assert_eq!(parsed(&study(5, 2)).unwrap().sets.len(), 5);
    }

    #[test]
    fn numbers_that_no_study_needs_are_refused() {
        for number in ["9223372036854775807", "18446744073709551615", "1000000000"] {
            for text in [
                format!("{LISTS}folds = {number}\n"),
                format!("{LISTS}[settings]\nmembers = {number}\n"),
                format!("{LISTS}[settings]\ngenerations = {number}\n"),
                format!("{LISTS}[settings]\nneighbours = {number}\n"),
                format!("{LISTS}[settings]\nmax-features = {number}\n"),
            ] {
                let message = parsed(&text).unwrap_err().to_string();
                assert!(message.contains("a whole number from "), "{message}");
                assert!(message.contains(" to 1"), "the largest is said: {message}");
            }
        }
    }
}
