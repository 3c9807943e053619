"""Data sets from files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ._labelchain import Rows
from ._warnings import warn


class Dataset:
    """What a file held: inputs, labels and their names. `read` makes one.

    It can be given to ``LabelChainClassifier.fit(dataset)`` and ``predict(dataset)`` as it is, and then
    nothing is converted on the way; to what takes tables of Arrow, such as ``polars.DataFrame(dataset)``, too.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    @property
    def name(self) -> str:
        """The file's name without directory and endings."""
        return self._rows.name

    @property
    def feature_names(self) -> list[str]:
        """The names of the inputs."""
        return [name for name, _ in self._rows.attributes]

    @property
    def categories(self) -> dict[str, list[str]]:
        """The named values of inputs that are no numbers; cells of X are positions in these lists."""
        return {name: kind for name, kind in self._rows.attributes if isinstance(kind, list)}

    @property
    def label_names(self) -> list[str]:
        """The names of the labels."""
        return self._rows.label_names

    @property
    def X(self) -> Any:
        """The inputs: an array, or a CSR matrix where the file was sparse. A missing cell is NaN."""
        if not self._rows.is_sparse:
            return self._rows.dense()
        starts, columns, values = self._rows.sparse()
        return sparse.csr_matrix((values, columns, starts), shape=self.shape)

    @property
    def Y(self) -> np.ndarray:
        """The labels as 0 and 1; where some are unknown, as floats with NaN."""
        cells = self._rows.labels.cells()
        if (cells < 0).any():
            return np.where(cells < 0, np.nan, cells)
        return cells.astype(np.int64)

    @property
    def notes(self) -> list[str]:
        """What the reader had to decide; `read` gives each as a warning, too."""
        return self._rows.notes

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of inputs."""
        return self._rows.n_rows, len(self._rows.attributes)

    def __len__(self) -> int:
        return self._rows.n_rows

    def __repr__(self) -> str:
        n_rows, n_features = self.shape
        return f"<Dataset {self.name}: {n_rows} rows, {n_features} features, {len(self.label_names)} labels>"

    def _inputs(self) -> Any:
        """The inputs as an estimator learns from them: a frame where some are no numbers, which X has not."""
        return self.X if all(kind is None for _, kind in self._rows.attributes) else self.to_pandas()[0]

    def _select(self, rows: np.ndarray) -> Dataset:
        """Some of the rows, with their labels."""
        return Dataset(self._rows.select(rows.tolist()))

    def to_pandas(self) -> Any:
        """Inputs and labels as two frames of pandas; named values are categories, dates are moments."""
        import pandas as pd

        X, texts, columns = self._rows.dense(), self._rows.texts, {}
        for at, (name, kind) in enumerate(self._rows.attributes):
            cells = X[:, at]
            if isinstance(kind, list):
                cells = pd.Categorical.from_codes(np.nan_to_num(cells, nan=-1).astype(int), kind)
            elif kind == "text":
                values = np.array([*texts[name], None], dtype=object)
                cells = values[np.nan_to_num(cells, nan=-1).astype(int)]
            elif kind == "date":
                milliseconds = np.nan_to_num(cells * 86_400_000).round().astype("datetime64[ms]")
                cells = np.where(np.isnan(cells), np.datetime64("NaT", "ms"), milliseconds)
            columns[name] = cells
        inputs = pd.DataFrame(columns, index=pd.RangeIndex(len(self)))
        return inputs, pd.DataFrame(self.Y, columns=self.label_names, index=inputs.index)

    def to_arrow(self) -> Any:
        """Inputs and labels as one Arrow table; named values are dictionaries, labels are truth values."""
        import pyarrow as pa

        return pa.table(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The same for any library that takes tables by Arrow's C data interface: ``polars.DataFrame(dataset)``."""
        return self._rows.arrow_stream()


def read(
    path: str | os.PathLike[str],
    labels: str | Sequence[str] | None = None,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    labels_first: int | None = None,
    labels_last: int | None = None,
    labels_xml: str | os.PathLike[str] | None = None,
    tags: str | None = None,
    tag_separator: str = ";",
    binarize: str | None = None,
    missing_labels: str = "refuse",
    encoding: str = "utf8",
    dedupe: bool = False,
    n_features: int | None = None,
    max_memory: int | None = None,
    text: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
) -> Dataset:
    """Reads ARFF, CSV, TSV, JSON lines, Parquet or SVMLight, each also compressed by gzip or bzip2.

    Which columns are labels is said by one of the following, or found by what Mulan (an XML file of the same
    name) and MEKA (``-C 6`` in the relation name) do.

    Parameters
    ----------
    path : str or path
        The file; its ending says which format it has.
    labels : str or list of str
        Names of labels, or patterns such as ``"tag_*"``.
    format : {"arff", "csv", "tsv", "svmlight", "jsonl", "parquet"}
        The format, where the file's name does not say it.
    delimiter : str
        CSV and TSV: what separates fields; by default tabs in TSV, commas in CSV, and semicolons or tabs where the
        header of CSV has more of them.
    labels_first, labels_last : int
        How many columns at the start or the end are labels.
    labels_xml : str or path
        Mulan's label file.
    tags, tag_separator : str
        A column of tags such as ``rock;live``, of which each is a label.
    binarize : str
        Makes labels of numbers by a comparison, such as ``">0"``.
    missing_labels : {"refuse", "irrelevant", "drop", "learn"}
        What a missing label means; ``"learn"`` keeps it unknown.
    encoding : {"utf8", "latin1"}
        How names are spelt.
    dedupe : bool
        Numbers repeated column names instead of refusing them.
    n_features : int
        SVMLight: how many features there are, where the largest index does not say.
    max_memory : int
        Bytes after which reading is refused; by default three quarters of the memory.
    text : str or list of str
        Columns of texts, whose words are learned from.
    drop : str or list of str
        Columns that are left out.
    keep : str or list of str
        Columns that are inputs as they are, whatever they look like. Of others, dates are found, and those that
        only name rows, because nearly every row has a value of its own, are left out with a warning.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "songs.csv"
    >>> _ = path.write_text("tempo,calm,sad\\n72,1,1\\n128,0,0\\n")
    >>> songs = read(path, labels=["calm", "sad"])
    >>> songs
    <Dataset songs: 2 rows, 1 features, 2 labels>
    >>> songs.Y
    array([[1, 1],
           [0, 0]])
    """
    names = labels.split(",") if isinstance(labels, str) else labels
    rows = Rows.read(
        os.fspath(path),
        format=format,
        delimiter=delimiter,
        labels=None if names is None else [str(name).strip() for name in names],
        labels_first=labels_first,
        labels_last=labels_last,
        labels_xml=None if labels_xml is None else os.fspath(labels_xml),
        tags=tags,
        tag_separator=tag_separator,
        binarize=binarize,
        missing_labels=missing_labels,
        encoding=encoding,
        dedupe=dedupe,
        n_features=n_features,
        max_memory=max_memory,
        text=[text] if isinstance(text, str) else list(text),
        drop=[drop] if isinstance(drop, str) else list(drop),
        keep=[keep] if isinstance(keep, str) else list(keep),
    )
    warn(rows.notes, stacklevel=2)
    return Dataset(rows)
