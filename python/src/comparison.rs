//! Methods compared over many data sets.

use std::path::Path;

use labelchain::Error;
use labelchain::experiment::Results;
use labelchain::report::{Report, ReportFormat, SheetCell, compare};
use labelchain::stats::{self, Gaps, TestPlan};
use pyo3::prelude::*;

use crate::errors::exception;
use crate::work::work;

/// Ranks, tests and figures of results.
#[pyclass(frozen, module = "labelchain._labelchain")]
pub(crate) struct Comparison {
    comparison: stats::Comparison,
    report: Report,
}

/// A table: its name, its caption, its columns, and the head and the cells of each row. A cell has its text
/// and its value, if it is a number.
type Table = (String, String, Vec<String>, Vec<(String, Vec<(String, Option<f64>)>)>);

#[pymethods]
impl Comparison {
    /// Compares the methods of a table in CSV.
    #[new]
    fn new(
        py: Python<'_>,
        csv: &[u8],
        title: &str,
        alpha: f64,
        control: Option<&str>,
        higher_is_better: Vec<String>,
        gaps: &str,
    ) -> PyResult<Comparison> {
        let gaps = match gaps {
            "refuse" => Gaps::Refuse,
            "drop-sets" => Gaps::DropSets,
            "worst-rank" => Gaps::WorstRank,
            _ => {
                let accepted = "\"refuse\", \"drop-sets\" or \"worst-rank\"";
                let value = format!("{gaps:?}");
                return Err(exception(Error::Setting { name: "gaps", value, accepted }));
            }
        };
        work(py, 0, None, |_, _| {
            let results = Results::parse(Path::new("results"), csv)?;
            let control = control.map(|name| results.method(name)).transpose()?;
            let plan = TestPlan { alpha, control, gaps, ..TestPlan::default() };
            let comparison = compare(&results, &higher_is_better, plan)?;
            let report = Report::of(title, &results, &comparison, None, vec![])?;
            Ok(Comparison { comparison, report })
        })
    }

    #[getter]
    fn verdict(&self) -> &str {
        &self.report.verdict
    }

    #[getter]
    fn cautions(&self) -> Vec<String> {
        self.report.cautions.clone()
    }

    #[getter]
    fn methods(&self) -> Vec<String> {
        self.comparison.methods.clone()
    }

    #[getter]
    fn datasets(&self) -> Vec<String> {
        self.comparison.datasets.clone()
    }

    #[getter]
    fn criteria(&self) -> Vec<String> {
        self.comparison.criteria.iter().map(|of| of.table.criterion.clone()).collect()
    }

    /// The mean rank of each method by each criterion.
    #[getter]
    fn mean_ranks(&self) -> Vec<Vec<f64>> {
        self.comparison.criteria.iter().map(|of| of.mean_ranks.clone()).collect()
    }

    /// Friedman's p-value with Holm, and the critical difference of mean ranks, by each criterion.
    #[getter]
    fn friedman(&self) -> Vec<(f64, f64)> {
        let criteria = self.comparison.criteria.iter();
        criteria.map(|of| (of.friedman_p_holm, of.critical_difference)).collect()
    }

    /// Criterion, two methods and Wilcoxon's p-value with Holm, of all pairs that are tested.
    #[getter]
    fn pairs(&self) -> Vec<(String, String, String, f64)> {
        let name = |method: usize| self.comparison.methods[method].clone();
        let of = |of: &stats::CriterionComparison| {
            let pair = |pair: &stats::Pair| {
                (of.table.criterion.clone(), name(pair.a), name(pair.b), pair.p_holm)
            };
            of.pairs.iter().map(pair).collect::<Vec<_>>()
        };
        self.comparison.criteria.iter().flat_map(of).collect()
    }

    /// All tables of the report.
    #[getter]
    fn tables(&self) -> Vec<Table> {
        let cell = |cell: &SheetCell| (cell.text.clone(), cell.value);
        let sheets = self.report.sections.iter().flat_map(|section| &section.sheets);
        let table = |sheet: &labelchain::report::Sheet| {
            let rows = sheet.rows.iter();
            let rows = rows.map(|row| (row.head.clone(), row.cells.iter().map(cell).collect()));
            (sheet.id.clone(), sheet.caption.clone(), sheet.columns.clone(), rows.collect())
        };
        sheets.map(table).collect()
    }

    /// All figures of the report: name and drawing in SVG.
    #[getter]
    fn figures(&self) -> Vec<(String, String)> {
        self.report.figures().map(|figure| (figure.id.clone(), figure.svg())).collect()
    }

    /// The report in the format of a file's ending: html, md, tex or csv.
    fn text(&self, ending: &str) -> PyResult<String> {
        let format = ReportFormat::of(Path::new(&format!("report.{ending}")));
        let format = format.ok_or_else(|| {
            let accepted = "html, md, tex or csv";
            exception(Error::Setting { name: "format", value: format!("{ending:?}"), accepted })
        })?;
        Ok(self.report.text(format, false))
    }
}
