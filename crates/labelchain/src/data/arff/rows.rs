//! The part of an ARFF file behind `@data`.

use super::cells::{Column, Role};
use super::scan::Scan;
use crate::data::lines::{Budget, Line};
use crate::data::number;
use crate::data::{Dense, LabelId, LabelMatrix, Matrix, MissingLabels, Note, ReadOptions, Sparse};
use crate::error::{Error, Remedy, Result};

/// Gathers rows.
pub(super) struct Rows {
    targets: Vec<Target>,
    n_features: usize,
    /// Dense or sparse as the first row is.
    features: Option<Matrix>,
    labels: LabelMatrix,
    weights: Vec<f64>,
    is_weighted: bool,
    bags: Option<BagRows>,
    /// Labels that a sparse row means when it leaves them out: the first value of `{1,0}`.
    omitted: Option<Vec<LabelId>>,
    missing_labels: MissingLabels,
    n_without_label: usize,
    suspicion: Option<Remedy>,
    /// An attribute that is a label and missing in the row being read.
    missing_label: Option<usize>,
    /// The row being read, kept to be filled again.
    cells: Vec<f64>,
    entries: Vec<Entry>,
    inputs: Vec<(u32, f64)>,
}

/// Where the cells of an attribute go.
#[derive(Clone, Copy)]
enum Target {
    Feature(usize),
    Label(LabelId),
    Bag,
}

/// A stored cell of a sparse row and where it stands in the line, which is short enough for both.
struct Entry {
    attribute: u32,
    at: u32,
    value: f64,
}

/// The instances of all bags.
pub(super) struct BagRows {
    pub(super) name: String,
    pub(super) instances: Matrix,
    pub(super) starts: Vec<usize>,
    /// Of the row being read.
    pending: Vec<Vec<f64>>,
    cells: Vec<f64>,
}

/// What the rows amount to.
pub(super) struct ReadRows {
    pub(super) features: Matrix,
    pub(super) labels: LabelMatrix,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) bags: Option<BagRows>,
    pub(super) notes: Vec<Note>,
}

impl Rows {
    pub(super) fn new(
        columns: &[Column],
        n_labels: usize,
        suspicion: Option<Remedy>,
        options: &ReadOptions,
    ) -> Rows {
        let mut n_features = 0;
        let mut bags = None;
        let targets = columns.iter().map(|column| match &column.role {
            Role::Feature => {
                n_features += 1;
                Target::Feature(n_features - 1)
            }
            Role::Label(label) => Target::Label(*label),
            Role::Bag(inner) => {
                bags = Some(BagRows {
                    name: column.name.clone(),
                    instances: Matrix::Dense(Dense::new(inner.len())),
                    starts: vec![0],
                    pending: vec![],
                    cells: vec![],
                });
                Target::Bag
            }
        });
        Rows {
            targets: targets.collect(),
            n_features,
            features: None,
            labels: LabelMatrix::new(n_labels),
            weights: vec![],
            is_weighted: false,
            bags,
            omitted: None,
            missing_labels: options.missing_labels,
            n_without_label: 0,
            suspicion,
            missing_label: None,
            cells: vec![0.0; columns.len()],
            entries: vec![],
            inputs: vec![],
        }
    }

    pub(super) fn read(
        &mut self,
        line: &Line,
        columns: &mut [Column],
        budget: &mut Budget,
    ) -> Result<()> {
        let mut scan = Scan::new(line);
        if scan.at_end() {
            return Ok(());
        }
        self.missing_label = None;
        let is_sparse = scan.take(b'{');
        let read = if is_sparse {
            self.read_sparse(&mut scan, columns)
        } else {
            self.read_dense(&mut scan, columns)
        };
        read.map_err(|error| self.suspect(error))?;
        let weight = self.weight(&mut scan)?;
        scan.end("the last field")?;

        let Some(missing) = self.missing_label else {
            return self.keep(line, is_sparse, weight, budget);
        };
        match self.missing_labels {
            MissingLabels::Irrelevant | MissingLabels::Learn => {
                self.n_without_label += 1;
                self.keep(line, is_sparse, weight, budget)
            }
            MissingLabels::Drop => {
                self.n_without_label += 1;
                Ok(())
            }
            MissingLabels::Refuse => Err(line
                .fault(0..line.bytes.len(), format!("0 or 1 for label {:?}", columns[missing].name))
                .found("?, a missing value")
                .help(MissingLabels::remedy())
                .into()),
        }
    }

    fn read_dense(&mut self, scan: &mut Scan, columns: &mut [Column]) -> Result<()> {
        let n = columns.len();
        // Whether the comma before the cell was passed with the cell before it.
        let mut is_open = true;
        for (at, column) in columns.iter_mut().enumerate() {
            if !is_open {
                scan.skip_blanks();
                scan.take(b',');
            }
            let rest = scan.rest();
            match column.quick(rest) {
                Some((value, length)) => {
                    self.cells[at] = value;
                    is_open = rest.get(length) == Some(&b',');
                    scan.at += length + usize::from(is_open);
                }
                None if at > 0 && scan.at_end() => return Err(field_count(scan, at, n)),
                None => {
                    self.cells[at] = self.read_long_cell(scan, at, column)?;
                    is_open = false;
                }
            }
        }
        scan.skip_blanks();
        let comma = is_open || scan.take(b',');
        scan.skip_blanks();
        if comma && scan.peek() != Some(b'{') || !scan.at_end() && scan.peek() != Some(b'{') {
            let mut found = n;
            while !scan.at_end() && scan.peek() != Some(b'{') {
                scan.word("a value")?;
                found += 1;
                scan.skip_blanks();
                scan.take(b',');
            }
            return Err(field_count(scan, found.max(n + 1), n));
        }
        Ok(())
    }

    fn read_sparse(&mut self, scan: &mut Scan, columns: &mut [Column]) -> Result<()> {
        if self.omitted.is_none() {
            columns.iter_mut().for_each(Column::expect_omissions);
            let mut omitted = Vec::new();
            for column in &*columns {
                if let Role::Label(label) = column.role
                    && column.omitted(scan)?
                {
                    omitted.push(label);
                }
            }
            self.omitted = Some(omitted);
        }
        self.entries.clear();
        let mut ascending = true;
        loop {
            scan.skip_blanks();
            if scan.take(b'}') {
                break;
            }
            let at = scan.at;
            let attribute = index(scan)?;
            let n = columns.len();
            let Some(column) = columns.get_mut(attribute) else {
                return Err(scan
                    .line
                    .fault(at..scan.at, format!("an attribute index from 0 to {}", n - 1))
                    .help("attributes are counted from 0, in the order of their declarations")
                    .into());
            };
            if !scan.peek().is_some_and(super::scan::is_blank) {
                let expected = "a blank between index and value";
                return Err(scan.fault_here(expected, SPARSE).into());
            }
            scan.at += 1;
            let value = self.read_cell(scan, attribute, column)?;
            let entry = Entry { attribute: attribute as u32, at: at as u32, value };
            ascending &= self.entries.last().is_none_or(|last| last.attribute < entry.attribute);
            self.entries.push(entry);
            scan.skip_blanks();
            if !scan.take(b',') && scan.peek() != Some(b'}') {
                return Err(scan.fault_here(", or }", SPARSE).into());
            }
        }
        if !ascending {
            self.entries.sort_by_key(|entry| entry.attribute);
            let mut pairs = self.entries.iter().zip(&self.entries[1..]);
            if let Some((_, again)) = pairs.find(|(a, b)| a.attribute == b.attribute) {
                let name = &columns[again.attribute as usize].name;
                let at = again.at as usize;
                return Err(scan
                    .line
                    .fault(at..at, "each attribute index at most once in a row")
                    .found(format!("{} ({name:?}) again", again.attribute))
                    .help("delete one of the two, or correct its index")
                    .into());
            }
        }
        Ok(())
    }

    /// Inlined, so that the usual cell costs no result to be passed on.
    #[inline(always)]
    fn read_cell(&mut self, scan: &mut Scan, attribute: usize, column: &mut Column) -> Result<f64> {
        match column.quick(scan.rest()) {
            Some((value, length)) => {
                scan.at += length;
                Ok(value)
            }
            None => self.read_long_cell(scan, attribute, column),
        }
    }

    fn read_long_cell(
        &mut self,
        scan: &mut Scan,
        attribute: usize,
        column: &mut Column,
    ) -> Result<f64> {
        match column.role {
            Role::Bag(_) => self.read_bag(scan, column),
            Role::Feature => column.read(scan),
            Role::Label(_) => {
                let value = column.read(scan)?;
                if value.is_nan() {
                    self.missing_label = Some(attribute);
                }
                Ok(value)
            }
        }
    }

    /// A quoted table of instances, one a line. They are kept aside until the row is complete.
    fn read_bag(&mut self, scan: &mut Scan, column: &mut Column) -> Result<f64> {
        let Role::Bag(inner) = &mut column.role else { return Ok(f64::NAN) };
        let Some(bags) = &mut self.bags else { return Ok(f64::NAN) };
        bags.pending.clear();
        let word = scan.word("a quoted bag of instances")?;
        if word.is_missing() {
            return Ok(f64::NAN);
        }
        for row in word.bytes.split(|&byte| byte == b'\n') {
            let line = Line { bytes: row, ..scan.line };
            let mut inside = Scan::new(&line);
            if inside.at_end() {
                continue;
            }
            bags.cells.clear();
            bags.cells.resize(inner.len(), 0.0);
            if inside.take(b'{') {
                loop {
                    inside.skip_blanks();
                    if inside.take(b'}') {
                        break;
                    }
                    let at = inside.at;
                    let attribute = index(&mut inside)?;
                    let Some(column) = inner.get_mut(attribute) else {
                        let expected = format!("an index from 0 to {}", inner.len() - 1);
                        let help = "a bag's attributes are counted from 0";
                        return Err(line.fault(at..inside.at, expected).help(help).into());
                    };
                    bags.cells[attribute] = column.read(&mut inside)?;
                    inside.skip_blanks();
                    if !inside.take(b',') && inside.peek() != Some(b'}') {
                        return Err(inside.fault_here(", or }", SPARSE).into());
                    }
                }
            } else {
                let n = inner.len();
                for (at, column) in inner.iter_mut().enumerate() {
                    if at > 0 {
                        inside.skip_blanks();
                        inside.take(b',');
                        if inside.at_end() {
                            return Err(field_count(&inside, at, n));
                        }
                    }
                    bags.cells[at] = column.read(&mut inside)?;
                }
            }
            inside.end("the instance's last field")?;
            bags.pending.push(bags.cells.clone());
        }
        Ok(0.0)
    }

    /// `{5}` behind the last field.
    fn weight(&mut self, scan: &mut Scan) -> Result<f64> {
        scan.skip_blanks();
        scan.take(b',');
        scan.skip_blanks();
        if !scan.take(b'{') {
            return Ok(1.0);
        }
        let word = scan.word("a row weight")?;
        scan.skip_blanks();
        let weight = number::parse(&word.bytes).filter(|weight| weight.is_finite());
        match weight {
            Some(weight) if scan.take(b'}') => {
                self.is_weighted = true;
                Ok(weight)
            }
            _ => Err(scan
                .line
                .fault(word.at, "a row weight such as {2.5}")
                .help("braces behind the last field hold one finite number")
                .into()),
        }
    }

    /// Moves the row just read to where it stays.
    fn keep(
        &mut self,
        line: &Line,
        is_sparse: bool,
        weight: f64,
        budget: &mut Budget,
    ) -> Result<()> {
        let stored = if is_sparse { self.entries.len() * 12 + 8 } else { self.n_features * 8 };
        let instances = self.bags.iter().flat_map(|bags| &bags.pending).map(|row| row.len() * 8);
        // Where some cells are unknown, there is a second bit for each.
        let stays_unknown = self.missing_labels == MissingLabels::Learn;
        let label_bytes =
            (1 + usize::from(stays_unknown)) * self.labels.n_labels().div_ceil(64) * 8;
        let n_bytes = stored + instances.sum::<usize>() + label_bytes + 8;
        budget.charge(n_bytes, line)?;

        self.labels.try_reserve(1).map_err(|_| Error::out_of_memory(line.path))?;
        let row = self.labels.push_row();
        let n_features = self.n_features;
        let features = self.features.get_or_insert_with(|| {
            if is_sparse {
                Matrix::Sparse(Sparse::new(n_features))
            } else {
                Matrix::Dense(Dense::new(n_features))
            }
        });
        let n_cells = if is_sparse { self.entries.len() } else { n_features };
        features.try_reserve_row(n_cells).map_err(|_| Error::out_of_memory(line.path))?;
        let targets = &self.targets;
        if is_sparse {
            for &label in self.omitted.iter().flatten() {
                self.labels.set(row, label, true);
            }
            self.inputs.clear();
            for entry in &self.entries {
                match targets[entry.attribute as usize] {
                    Target::Feature(column) => self.inputs.push((column as u32, entry.value)),
                    Target::Label(label) if stays_unknown && entry.value.is_nan() => {
                        self.labels.forget(row, label);
                    }
                    Target::Label(label) => self.labels.set(row, label, entry.value == 1.0),
                    Target::Bag => {}
                }
            }
            match features {
                Matrix::Sparse(sparse) => sparse.push_row(self.inputs.iter().copied()),
                Matrix::Dense(dense) => {
                    self.cells.fill(0.0);
                    self.inputs.iter().for_each(|&(at, value)| self.cells[at as usize] = value);
                    dense.push_row(&self.cells[..n_features]);
                }
            }
        } else {
            // Features are compacted to the front of the row: a feature never stands behind its
            // attribute's position.
            for (attribute, target) in targets.iter().enumerate() {
                match *target {
                    Target::Feature(column) => self.cells[column] = self.cells[attribute],
                    Target::Label(label) => {
                        if stays_unknown && self.cells[attribute].is_nan() {
                            self.labels.forget(row, label);
                        } else if self.cells[attribute] == 1.0 {
                            self.labels.set(row, label, true);
                        }
                    }
                    Target::Bag => {}
                }
            }
            let inputs = &self.cells[..n_features];
            match features {
                Matrix::Dense(dense) => dense.push_row(inputs),
                Matrix::Sparse(sparse) => {
                    sparse
                        .push_row(inputs.iter().enumerate().map(|(at, &value)| (at as u32, value)));
                }
            }
        }
        if let Some(bags) = &mut self.bags {
            if let Matrix::Dense(instances) = &mut bags.instances {
                bags.pending.iter().for_each(|instance| instances.push_row(instance));
            }
            bags.pending.clear();
            bags.starts.push(bags.instances.n_rows());
        }
        self.weights.push(weight);
        Ok(())
    }

    /// A label that is none may mean that the labels stand elsewhere.
    fn suspect(&self, error: Error) -> Error {
        match (error, &self.suspicion) {
            (Error::Content(mut content), Some(suspicion))
                if content.expected.starts_with("0 or 1 for label") =>
            {
                content.help = Some(match content.help {
                    Some(help) => suspicion.clone().otherwise(help),
                    None => suspicion.clone(),
                });
                Error::Content(content)
            }
            (error, _) => error,
        }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.labels.n_rows()
    }

    pub(super) fn finish(mut self) -> ReadRows {
        let mut notes = Vec::new();
        if self.is_weighted {
            notes.push(Note {
                code: "row-weights-ignored",
                text: "rows carry weights; they are kept, but nothing uses them".into(),
            });
        }
        notes.extend(self.missing_labels.note(self.n_without_label));
        let n_features = self.n_features;
        let mut features = self.features.unwrap_or_else(|| Matrix::Dense(Dense::new(n_features)));
        features.shrink();
        self.labels.shrink();
        if let Some(bags) = &mut self.bags {
            bags.instances.shrink();
        }
        ReadRows {
            features,
            labels: self.labels,
            weights: self.is_weighted.then_some(self.weights),
            bags: self.bags,
            notes,
        }
    }
}

/// What a sparse row looks like.
const SPARSE: &str = "a sparse row lists indices from 0, each with its value: {0 1.5, 3 red}";

/// A sparse row's attribute index.
#[inline]
fn index(scan: &mut Scan) -> Result<usize> {
    let rest = scan.rest();
    let (mut index, mut length) = (0, 0);
    // Nine digits are more attributes than any file declares, and cannot overflow.
    while let Some(digit) = rest.get(length).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
        && length < 10
    {
        index = index * 10 + usize::from(digit);
        length += 1;
    }
    if length == 0 || length > 9 {
        return Err(scan.fault_here("an attribute index", SPARSE).into());
    }
    scan.at += length;
    Ok(index)
}

fn field_count(scan: &Scan, found: usize, declared: usize) -> Error {
    let help = if found > declared {
        "a value that holds a comma or a blank must be quoted"
    } else {
        "? stands for a missing value"
    };
    scan.line
        .fault(0..scan.line.bytes.len(), format!("{declared} fields, as declared"))
        .found(format!("{found}"))
        .help(help)
        .into()
}
