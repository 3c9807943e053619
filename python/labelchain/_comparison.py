"""Methods compared over many data sets: ranks, tests, figures, a report."""

from __future__ import annotations

import csv
import html
import io
import os
import pathlib
from collections.abc import Sequence
from typing import Any

from . import _labelchain
from ._inputs import frame_kind


class Comparison:
    """Which methods differ, and by how much. `compare` makes one; a notebook shows it."""

    def __init__(self, comparison: _labelchain.Comparison) -> None:
        self._comparison = comparison

    @property
    def verdict(self) -> str:
        """The outcome in one sentence."""
        return self._comparison.verdict

    @property
    def cautions(self) -> list[str]:
        """What limits the tests."""
        return self._comparison.cautions

    @property
    def methods(self) -> list[str]:
        """The methods."""
        return self._comparison.methods

    @property
    def datasets(self) -> list[str]:
        """The data sets."""
        return self._comparison.datasets

    @property
    def criteria(self) -> list[str]:
        """The criteria."""
        return self._comparison.criteria

    @property
    def mean_ranks(self) -> Any:
        """The mean rank of each method by each criterion; 1 is best."""
        ranks = self._comparison.mean_ranks
        return _frame(self.methods, [(name, of) for name, of in zip(self.criteria, ranks)], "criterion")

    @property
    def friedman(self) -> Any:
        """By each criterion, the p-value of Friedman's test, adjusted by Holm, and the critical difference
        of mean ranks."""
        rows = [(name, list(of)) for name, of in zip(self.criteria, self._comparison.friedman)]
        return _frame(["p", "critical difference"], rows, "criterion")

    @property
    def pairs(self) -> Any:
        """Wilcoxon's p-value of each pair of methods by each criterion, adjusted by Holm."""
        rows = [(of, [a, b, p]) for of, a, b, p in self._comparison.pairs]
        return _frame(["a", "b", "p"], rows, "criterion")

    @property
    def tables(self) -> dict[str, Any]:
        """All tables of the report as frames, by name; numbers where cells are numbers."""
        tables = {}
        for name, _, (head, *columns), rows in self._comparison.tables:
            cells_of = [(of, [text if value is None else value for text, value in cells]) for of, cells in rows]
            # A cell that spans all columns stands in the first.
            padded = [(of, cells + [None] * (len(columns) - len(cells))) for of, cells in cells_of]
            tables[name] = _frame(columns, padded, head)
        return tables

    @property
    def figures(self) -> dict[str, str]:
        """All figures of the report as SVG, by name."""
        return dict(self._comparison.figures)

    def critical_difference(self, criterion: str | None = None) -> str:
        """The critical-difference diagram of a criterion, the first unless one is named, as SVG.

        A notebook shows it by ``IPython.display.SVG(comparison.critical_difference())``; ``comparison`` itself
        shows the mean ranks.
        """
        name = self.criteria[0] if criterion is None else criterion
        if name not in self.criteria:
            raise _labelchain.RequestError(f"criterion is {name!r}, but must be one of {self.criteria}")
        diagrams = [svg for name, svg in self._comparison.figures if name.startswith("cd-")]
        return diagrams[self.criteria.index(name)]

    def to_html(self) -> str:
        """The report as a page that needs nothing else."""
        return self._comparison.text("html")

    def to_markdown(self) -> str:
        """The report as Markdown."""
        return self._comparison.text("md")

    def to_latex(self) -> str:
        """The report as a LaTeX document."""
        return self._comparison.text("tex")

    def to_csv(self) -> str:
        """All numbers, a row for each."""
        return self._comparison.text("csv")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the report in the format of the file's ending: .html, .md, .tex or .csv."""
        path = pathlib.Path(path)
        path.write_text(self._comparison.text(path.suffix.lstrip(".")), encoding="utf-8")

    def __repr__(self) -> str:
        return f"<Comparison: {self.verdict}>"

    def _repr_html_(self) -> str:
        cautions = "".join(f"<li>{html.escape(text)}</li>" for text in self.cautions)
        figure = next(iter(self.figures.values()), "")
        return f"<p><strong>{html.escape(self.verdict)}</strong></p><ul>{cautions}</ul>{figure}"


def compare(
    frame: Any,
    *,
    alpha: float = 0.1,
    control: str | None = None,
    higher_is_better: Sequence[str] = (),
    gaps: str = "refuse",
    title: str = "Comparison",
) -> Comparison:
    """Are methods different over many data sets, and which?

    Parameters
    ----------
    frame : DataFrame, Arrow table, list of dicts, or path of a CSV file
        With the columns dataset, method, criterion, loss and perhaps fold and seconds, as `evaluate` gives it;
        or with the column dataset and one for each method.
    alpha : float, default=0.1
        The level of significance; 0.1 is the paper's.
    control : str, default=None
        The method that the others are compared with; without one, all pairs are tested.
    higher_is_better : list of str
        Criteria that are no losses.
    gaps : {"refuse", "drop-sets", "worst-rank"}
        What to do where a method has no loss on a data set.
    title : str
        What the report is called.

    Examples
    --------
    >>> rows = [{"dataset": f"set {n}", "ecc": 0.2 + n / 100, "br": 0.3 + n / 50} for n in range(8)]
    >>> comparison = compare(rows)
    >>> comparison.methods, comparison.criteria
    (['ecc', 'br'], ['results'])
    """
    if isinstance(frame, str | os.PathLike):
        text = pathlib.Path(frame).read_bytes()
    else:
        text = _csv(frame).encode()
    return Comparison(
        _labelchain.Comparison(text, title, float(alpha), control, list(higher_is_better), gaps)
    )


def _csv(frame: Any) -> str:
    kind = frame_kind(frame)
    if kind == "pandas":
        names, rows = list(frame.columns), frame.itertuples(index=False)
    elif kind == "polars":
        names, rows = frame.columns, frame.iter_rows()
    else:
        records = frame.to_pylist() if kind == "pyarrow" else list(frame)
        names = list(records[0]) if records else []
        rows = [[record.get(name) for name in names] for record in records]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    # A missing cell is an empty one.
    writer.writerows(["" if cell is None or cell != cell else cell for cell in row] for row in rows)
    return text.getvalue()


def _frame(columns: list[str], rows: list[tuple[str, list[Any]]], name: str) -> Any:
    """A frame of pandas with a head for each row, or a list of dicts where pandas is not installed."""
    try:
        import pandas as pd
    except ImportError:
        return [{name: head, **dict(zip(columns, cells))} for head, cells in rows]
    index = pd.Index([head for head, _ in rows], name=name or None)
    return pd.DataFrame([cells for _, cells in rows], columns=columns, index=index)
