//! The paper's thirty data sets: how large they are, where to get them, what to do with them.

use std::path::{Path, PathBuf};

use crate::data::{Dataset, Description, ReadOptions, Shapes, Table, Threshold, read};
use crate::error::{Error, Result, nearest};
use crate::prepare::{BagReduction, MedoidStart, Recipe};
use crate::seed::Seed;

/// One of the paper's data sets.
#[derive(Clone, Copy, Debug)]
pub struct PaperSet {
    /// Its number in the paper.
    pub number: usize,
    /// Its name in the paper.
    pub name: &'static str,
    /// The stem of its file: the name in lower case.
    pub stem: &'static str,
    /// The paper's figures.
    pub figures: Figures,
    /// Where it comes from.
    pub source: Source,
    /// What is done to it.
    pub recipe: Recipe,
    /// Whether its labels are numbers, relevant above 0.
    pub binarize: bool,
}

/// A row of the paper's table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// N.
    pub n_rows: usize,
    /// d.
    pub n_features: usize,
    /// L.
    pub n_labels: usize,
    /// LC.
    pub cardinality: f64,
    /// LD.
    pub density: f64,
    /// avIR.
    pub mean_imbalance: f64,
}

/// Where a set comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A collection on the web.
    Page {
        /// Its address.
        page: &'static str,
        /// What to look for there.
        file: &'static str,
        /// The set's number and name in OpenML, where it is there in the paper's form.
        openml: Option<(u32, &'static str)>,
    },
    /// Made by this library.
    Made {
        /// Settings and seed.
        shapes: fn() -> (Shapes, u64),
    },
}

const MULAN: &str = "https://mulan.sourceforge.net/datasets-mlc.html";
const MULAN_TARGETS: &str = "https://mulan.sourceforge.net/datasets-mtr.html";
const KDIS: &str = "https://www.uco.es/kdis/mllresources/";
const MEKA: &str = "https://waikato.github.io/meka/datasets/";
const MIML: &str = "https://www.lamda.nju.edu.cn/data_MIMLprotein.ashx";
const MIML_IMAGE: &str = "https://www.lamda.nju.edu.cn/data_MIMLimage.ashx";

const ONE_HOT: Recipe = Recipe { one_hot: true, ..Recipe::NOTHING };
const CONCAT: Recipe = Recipe { bags: Some(BagReduction::Concat), ..Recipe::NOTHING };

/// The protein sets: distances to 20 medoids, and the labels that are left.
const fn medoids(n_labels: usize) -> Recipe {
    let bags = BagReduction::Medoids { n: 20, start: MedoidStart::Random, swap: false };
    Recipe { bags: Some(bags), top_labels: Some(n_labels), ..Recipe::NOTHING }
}

const fn sample(n: usize) -> Recipe {
    Recipe { sample_rows: Some(n), ..Recipe::NOTHING }
}

const fn figures(
    n_rows: usize,
    n_features: usize,
    n_labels: usize,
    cardinality: f64,
    density: f64,
    mean_imbalance: f64,
) -> Figures {
    Figures { n_rows, n_features, n_labels, cardinality, density, mean_imbalance }
}

const fn set(
    number: usize,
    name: &'static str,
    stem: &'static str,
    figures: Figures,
    page: &'static str,
    file: &'static str,
) -> PaperSet {
    let source = Source::Page { page, file, openml: None };
    PaperSet { number, name, stem, figures, source, recipe: Recipe::NOTHING, binarize: false }
}

impl PaperSet {
    const fn then(self, recipe: Recipe) -> PaperSet {
        PaperSet { recipe, ..self }
    }

    const fn openml(self, id: u32, name: &'static str) -> PaperSet {
        match self.source {
            Source::Page { page, file, .. } => {
                PaperSet { source: Source::Page { page, file, openml: Some((id, name)) }, ..self }
            }
            Source::Made { .. } => self,
        }
    }

    const fn binarized(self) -> PaperSet {
        PaperSet { binarize: true, ..self }
    }

    const fn made(self, shapes: fn() -> (Shapes, u64)) -> PaperSet {
        PaperSet { source: Source::Made { shapes }, ..self }
    }

    /// All thirty, as the paper numbers them. Which rows the paper drew of IMDB and Tmc2007-500 is
    /// not known, nor its medoids, nor the settings of the synthetic sets: reconstructions.
    #[rustfmt::skip]
    pub const ALL: [PaperSet; 30] = [
        set(1, "Arts1", "arts1", figures(7484, 1733, 26, 1.654, 0.064, 94.74), KDIS, "Yahoo Arts")
            .then(Recipe { min_document_frequency: Some(100), ..Recipe::NOTHING }),
        set(2, "Azotobacter", "azotobacter", figures(407, 20, 13, 1.469, 0.113, 2.225), MIML, "Azotobacter vinelandii").then(medoids(13)),
        set(3, "Birds", "birds", figures(645, 260, 19, 1.014, 0.053, 5.407), MULAN, "birds").openml(40588, "birds"),
        set(4, "Caenorhabditis", "caenorhabditis", figures(2512, 20, 21, 2.419, 0.115, 2.347), MIML, "Caenorhabditis elegans").then(medoids(21)),
        set(5, "Drosophila", "drosophila", figures(2605, 20, 22, 2.656, 0.121, 1.744), MIML, "Drosophila melanogaster").then(medoids(22)),
        set(6, "Emotions", "emotions", figures(593, 72, 6, 1.868, 0.311, 1.478), MULAN, "emotions").openml(40589, "emotions"),
        set(7, "Enron", "enron", figures(1702, 1001, 53, 3.378, 0.064, 73.95), MULAN, "enron").openml(40590, "enron"),
        set(8, "Flags", "flags", figures(194, 43, 7, 3.392, 0.485, 2.255), MULAN, "flags").then(ONE_HOT),
        set(9, "Flare2", "flare2", figures(1066, 27, 3, 0.209, 0.070, 14.15), MULAN_TARGETS, "sf2").then(ONE_HOT).binarized(),
        set(10, "Genbase", "genbase", figures(662, 1186, 27, 1.252, 0.046, 37.32), MULAN, "genbase").openml(40591, "genbase"),
        set(11, "Geobacter", "geobacter", figures(379, 20, 11, 1.264, 0.115, 2.750), MIML, "Geobacter sulfurreducens").then(medoids(11)),
        set(12, "Haloarcula", "haloarcula", figures(304, 20, 13, 1.602, 0.123, 2.419), MIML, "Haloarcula marismortui").then(medoids(13)),
        set(13, "Human", "human", figures(3106, 440, 14, 1.185, 0.085, 15.29), KDIS, "HumanPseAAC"),
        set(14, "Image", "image", figures(2000, 294, 5, 1.236, 0.247, 1.193), KDIS, "Image").openml(40592, "image"),
        set(15, "IMDB", "imdb", figures(3042, 1001, 28, 1.987, 0.071, 24.61), MEKA, "IMDB-F").then(sample(3042)),
        set(16, "LLOG", "llog", figures(1460, 1004, 75, 1.180, 0.016, 39.27), MEKA, "LLOG-F").openml(40593, "langLog"),
        set(17, "Medical", "medical", figures(978, 1449, 45, 1.245, 0.028, 89.50), MULAN, "medical"),
        set(18, "MimlImg", "mimlimg", figures(2000, 135, 5, 1.236, 0.247, 1.193), MIML_IMAGE, "miml data").then(CONCAT),
        set(19, "Ohsumed", "ohsumed", figures(13929, 1002, 23, 1.663, 0.072, 7.869), MEKA, "OHSUMED-F"),
        set(20, "Plant", "plant", figures(978, 440, 12, 1.079, 0.090, 6.690), KDIS, "PlantPseAAC"),
        set(21, "Pyrococcus", "pyrococcus", figures(425, 20, 18, 2.136, 0.119, 2.421), MIML, "Pyrococcus furiosus").then(medoids(18)),
        set(22, "Saccharomyces", "saccharomyces", figures(3509, 20, 27, 2.275, 0.084, 2.077), MIML, "Saccharomyces cerevisiae").then(medoids(27)),
        set(23, "Scene", "scene", figures(2407, 294, 6, 1.074, 0.179, 1.254), MULAN, "scene").openml(40595, "scene"),
        set(24, "SimpleHC", "simplehc", figures(3000, 30, 10, 1.900, 0.190, 1.138), "", "")
            .made(Shapes::simple_hc),
        set(25, "SimpleHS", "simplehs", figures(3000, 30, 10, 2.307, 0.231, 2.622), "", "")
            .made(Shapes::simple_hs),
        set(26, "SLASHDOT", "slashdot", figures(3782, 1079, 22, 1.181, 0.054, 17.69), MEKA, "SLASHDOT-F").openml(40596, "slashdot"),
        set(27, "Stackex_chess", "stackex_chess", figures(1675, 585, 15, 1.137, 0.076, 4.744), KDIS, "Stackex_chess")
            .then(Recipe { top_labels: Some(15), ..Recipe::NOTHING }),
        set(28, "Tmc2007-500", "tmc2007-500", figures(2857, 500, 22, 2.222, 0.101, 17.15), MULAN, "tmc2007-500").then(sample(2857)),
        set(29, "water-quality", "water-quality", figures(1060, 16, 14, 5.073, 0.362, 1.767), MULAN_TARGETS, "wq").binarized(),
        set(30, "yeast", "yeast", figures(2417, 103, 14, 4.237, 0.303, 7.197), MULAN, "yeast").openml(40597, "yeast"),
    ];

    /// The set of this name, in any case.
    pub fn find(name: &str) -> Result<&'static PaperSet> {
        let same = |set: &&PaperSet| {
            name.eq_ignore_ascii_case(set.name) || name.eq_ignore_ascii_case(set.stem)
        };
        PaperSet::ALL.iter().find(same).ok_or_else(|| {
            let names: Vec<String> = PaperSet::ALL.iter().map(|set| set.name.into()).collect();
            Error::UnknownDataset { name: name.into(), nearest: nearest(name, &names).cloned() }
        })
    }

    /// The set's file in a directory, in the paper's form or as its source has it: `arts1.arff.gz`,
    /// else `arts1-full.arff.gz`, in any format; either also in a directory `miml`.
    pub fn file(&self, directory: &Path) -> Option<PathBuf> {
        const ENDINGS: [&str; 7] =
            ["arff.gz", "arff", "arff.bz2", "parquet", "csv.gz", "csv", "svm"];
        let stems = [self.stem.to_string(), format!("{}-full", self.stem)];
        let places = [directory.to_path_buf(), directory.join("miml")];
        stems
            .iter()
            .flat_map(|stem| places.iter().map(move |place| (stem, place)))
            .flat_map(|(stem, place)| {
                ENDINGS.iter().map(move |ending| place.join(format!("{stem}.{ending}")))
            })
            .find(|path| path.is_file())
    }

    /// Whether this library makes it, so that no file is needed.
    pub fn is_made(&self) -> bool {
        matches!(self.source, Source::Made { .. })
    }

    /// Whether something was drawn that the paper does not tell: rows, medoids, all of it.
    pub fn is_reconstruction(&self) -> bool {
        let has_medoids = matches!(self.recipe.bags, Some(BagReduction::Medoids { .. }));
        self.is_made() || has_medoids || self.recipe.sample_rows.is_some()
    }

    /// The set in the paper's form, made of what is in a directory or by ourselves; none where the
    /// directory lacks it.
    pub fn open(&self, directory: &Path, max_memory: u64) -> Result<Option<Dataset>> {
        let Some(path) = self.file(directory) else {
            return match self.source {
                Source::Made { shapes } => {
                    let (shapes, seed) = shapes();
                    shapes.generate(self.stem, Seed::new(seed)).map(Some)
                }
                Source::Page { .. } => Ok(None),
            };
        };
        let binarize = self.binarize.then_some(Threshold::ABOVE_ZERO);
        let options = ReadOptions { binarize, max_memory, ..ReadOptions::default() };
        self.recipe.apply(read(&path, &options)?.table)?.into_rows().map(Some)
    }
}

impl Figures {
    /// Those of a data set.
    pub fn of(data: Dataset) -> Figures {
        let description = Description::of(&Table::Rows(data), &[]);
        Figures {
            n_rows: description.n_rows,
            n_features: description.n_features,
            n_labels: description.n_labels,
            cardinality: description.cardinality,
            density: description.density,
            mean_imbalance: description.mean_imbalance,
        }
    }

    /// Each figure by its symbol, to the digits that the paper prints: three decimals, and four
    /// digits of avIR.
    pub fn printed(&self) -> [(&'static str, String); 6] {
        let imbalance = match self.mean_imbalance < 9.9995 {
            true => format!("{:.3}", self.mean_imbalance),
            false => format!("{:.2}", self.mean_imbalance),
        };
        [
            ("N", self.n_rows.to_string()),
            ("d", self.n_features.to_string()),
            ("L", self.n_labels.to_string()),
            ("LC", format!("{:.3}", self.cardinality)),
            ("LD", format!("{:.3}", self.density)),
            ("avIR", imbalance),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_consistent() {
        for (at, set) in PaperSet::ALL.iter().enumerate() {
            assert_eq!(set.number, at + 1);
            assert_eq!(set.name.to_lowercase(), set.stem);
            assert_eq!(PaperSet::find(set.stem).unwrap().number, set.number);
            // The printed density is the printed cardinality over the labels, both rounded.
            let figures = set.figures;
            let density = figures.cardinality / figures.n_labels as f64;
            assert!((density - figures.density).abs() < 0.00055, "{}", set.name);
        }
    }

    #[test]
    fn a_name_that_is_almost_one_is_suggested() {
        assert_eq!(
            PaperSet::find("yeasts").unwrap_err().to_string(),
            "no data set of the paper is called \"yeasts\". Did you mean \"yeast\"?"
        );
    }

    #[test]
    fn synthetic_sets_need_no_file_and_others_do() {
        let nowhere = tempfile::tempdir().unwrap();
        let hc = PaperSet::find("simplehc").unwrap().open(nowhere.path(), u64::MAX).unwrap();
        let printed = Figures::of(hc.unwrap()).printed().map(|(_, text)| text);
        assert_eq!(printed, ["3000", "30", "10", "1.900", "0.190", "1.135"]);
        let yeast = PaperSet::find("yeast").unwrap();
        assert!(!yeast.is_reconstruction());
        assert!(yeast.open(nowhere.path(), u64::MAX).unwrap().is_none());
    }

    #[test]
    fn a_set_is_brought_into_the_papers_form() {
        let place = tempfile::tempdir().unwrap();
        let text = "@relation 't: -C -1'\n@attribute c {r,g,b}\n@attribute y numeric\n@data\nr,0\ng,2\nb,0\n";
        std::fs::write(place.path().join("flare2.arff"), text).unwrap();
        let set = PaperSet::find("flare2").unwrap();
        let data = set.open(place.path(), u64::MAX).unwrap().unwrap();
        assert_eq!((data.n_features(), data.labels().counts()), (3, vec![1]));
    }
}
