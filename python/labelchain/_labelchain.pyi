import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__version__: str
DEFAULT_METHOD: str

class LabelChainError(ValueError): ...
class RequestError(LabelChainError): ...
class DataError(LabelChainError): ...
class ContentError(LabelChainError): ...
class LimitError(LabelChainError): ...
class InternalError(RuntimeError): ...

class Labels:
    names: list[str]
    is_known: bool
    n_rows: int
    @staticmethod
    def from_dense(names: Sequence[str], cells: np.ndarray) -> Labels: ...
    @staticmethod
    def from_sparse(names: Sequence[str], starts: np.ndarray, columns: np.ndarray) -> Labels: ...
    def cells(self) -> np.ndarray: ...

class ArrowTable:
    names: list[str]
    strings: list[str]
    n_rows: int
    def __init__(self, of: Any) -> None: ...
    def without(self, names: Sequence[str]) -> ArrowTable: ...
    def cells(self) -> tuple[np.ndarray, list[tuple[str, list[str] | str | None]]]: ...

class Rows:
    notes: list[str]
    name: str
    n_rows: int
    is_sparse: bool
    attributes: list[tuple[str, list[str] | str | None]]
    texts: dict[str, list[str]]
    labels: Labels
    label_names: list[str]
    @staticmethod
    def from_dense(
        cells: np.ndarray, names: Sequence[str] | None = None, labels: Labels | None = None
    ) -> Rows: ...
    @staticmethod
    def from_sparse(
        n_columns: int,
        starts: np.ndarray,
        columns: np.ndarray,
        values: np.ndarray,
        names: Sequence[str] | None = None,
        labels: Labels | None = None,
    ) -> Rows: ...
    @staticmethod
    def from_columns(
        columns: Sequence[tuple[str, np.ndarray, list[str] | str | None]], labels: Labels | None = None
    ) -> Rows: ...
    @staticmethod
    def from_arrow(
        table: ArrowTable, names: Sequence[str] | None = None, labels: Labels | None = None
    ) -> Rows: ...
    @staticmethod
    def read(path: str | os.PathLike[str], **options: Any) -> Rows: ...
    def unlabelled(self) -> Rows: ...
    def with_roles(self, text: Sequence[str], strings: Sequence[str]) -> Rows: ...
    def select(self, rows: Sequence[int]) -> Rows: ...
    def arrow_stream(self) -> Any: ...
    def dense(self) -> np.ndarray: ...
    def sparse(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...

class Model:
    method: str
    aim: str | None
    seed: int
    n_rows: int
    version: str
    n_members: int
    settings: dict[str, Any]
    tuned: list[tuple[str, list[float | None]]]
    attributes: list[tuple[str, list[str] | str | None]]
    left_out: list[str]
    label_names: list[str]
    out_of_bag: list[tuple[str, float | None]] | None
    def importance(self) -> list[float] | None: ...
    def update(
        self, rows: Rows, new_labels: str, new_values: str, max_trees: int | None, n_threads: int
    ) -> tuple[Model, list[str]]: ...
    @staticmethod
    def fit(
        rows: Rows,
        training: dict[str, Any],
        n_threads: int,
        progress: Callable[[int, int], None] | None = None,
        parts: Sequence[bytes] | None = None,
    ) -> Model: ...
    @staticmethod
    def fit_parts(rows: Rows, training: dict[str, Any], n_threads: int, first: int, end: int) -> bytes: ...
    @staticmethod
    def n_parts(training: dict[str, Any]) -> int | None: ...
    @staticmethod
    def load(path: str | os.PathLike[str], max_memory: int | None = None) -> Model: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    def predict(self, rows: Rows, request: dict[str, Any]) -> tuple[np.ndarray, list[str]]: ...
    def tags(self, rows: Rows, request: dict[str, Any]) -> tuple[list[list[str]], list[str]]: ...
    def probabilities(self, rows: Rows, request: dict[str, Any]) -> tuple[np.ndarray | None, list[str]]: ...
    def decision_values(self, rows: Rows, request: dict[str, Any]) -> tuple[np.ndarray | None, list[str]]: ...
    def explain(self, rows: Rows, request: dict[str, Any], asks: bool) -> tuple[str, list[str]]: ...

class Comparison:
    verdict: str
    cautions: list[str]
    methods: list[str]
    datasets: list[str]
    criteria: list[str]
    mean_ranks: list[list[float]]
    friedman: list[tuple[float, float]]
    pairs: list[tuple[str, str, str, float]]
    tables: list[tuple[str, str, list[str], list[tuple[str, list[tuple[str, float | None]]]]]]
    figures: list[tuple[str, str]]
    def __init__(
        self,
        csv: bytes,
        title: str,
        alpha: float,
        control: str | None,
        higher_is_better: Sequence[str],
        gaps: str,
    ) -> None: ...
    def text(self, ending: str) -> str: ...

#: Set, checksum of its data, fold, and the methods with their fingerprints.
Task = tuple[str, str, int, list[tuple[str, str]]]
#: Set, method, fold, losses or an error, seconds of processors, bytes of memory.
Cell = tuple[str, str, int, list[float | None] | None, str | None, float, int | None]
#: Its path, its text, and where the data files are.
Protocol = tuple[pathlib.Path, str, pathlib.Path | None]

class StudyRun:
    protocol: Protocol
    results: pathlib.Path
    tasks: list[Task]
    summary: dict[str, Any]
    def __init__(
        self,
        protocol: str | os.PathLike[str],
        results: str | os.PathLike[str] | None = None,
        data: str | os.PathLike[str] | None = None,
        only: str | None = None,
    ) -> None: ...
    def start(self, tasks: Sequence[Task]) -> None: ...
    def record(self, cells: Sequence[Cell]) -> None: ...
    def fail(self, task: Task, error: str) -> None: ...
    def end(self) -> None: ...

class FoldWorker:
    def __init__(self, protocol: Protocol, n_threads: int, max_memory: int | None = None) -> None: ...
    def compute(self, task: Task) -> list[Cell]: ...

def settings() -> list[dict[str, Any]]: ...
def methods() -> list[str]: ...
def aims() -> list[tuple[str, str]]: ...
def check_name(name: str) -> None: ...
def losses(
    truth: Labels, answers: Labels, probabilities: np.ndarray | None, undefined: str
) -> list[tuple[str, float | None]]: ...
def label_measures(
    truth: Labels, answers: Labels, probabilities: np.ndarray | None, undefined: str
) -> list[tuple[Any, ...]]: ...
def stratified_folds(
    labels: Labels, n_folds: int, pairs: bool, groups: Sequence[int] | None, seed: int
) -> np.ndarray: ...
