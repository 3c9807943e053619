"""A model on other machines: bytes that are sent once to each process, and loaded there once.

`labelchain.dask` and `labelchain.spark` share it. What is sent is a model file, with what labels came in when it
was trained, so that a worker needs this package and nothing of the program that trained the model.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import threading
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _labelchain
from ._classifier import LabelChainClassifier, of_model
from ._labels import PLAIN, Container


@dataclasses.dataclass(frozen=True)
class PackedModel:
    """A model file, and what its answers come in."""

    file: bytes
    container: Container
    #: Of both, so that a process knows whether it has loaded them already.
    checksum: str

    @staticmethod
    def of(model: Any, kind: str) -> PackedModel:
        """Packs a fitted classifier or the model file of a path; answers are to come in a container of a kind."""
        if isinstance(model, LabelChainClassifier):
            check_is_fitted(model)
            file, container = model._model.to_bytes(), model._container
        elif isinstance(model, str | os.PathLike):
            file, container = pathlib.Path(model).read_bytes(), PLAIN
        else:
            raise TypeError(
                f"model is a {type(model).__name__}, but must be a fitted LabelChainClassifier or the path of a "
                "model file"
            )
        container = container.in_kind(kind)
        values = repr((container.kind, str(container.dtype), container.classes.tolist(), container.is_single))
        return PackedModel(file, container, hashlib.blake2b(file + values.encode(), digest_size=16).hexdigest())

    def __dask_tokenize__(self) -> str:
        """What Dask tells models apart by."""
        return self.checksum

    def load(self) -> LabelChainClassifier:
        """The classifier; the same object as long as a process is asked for the same model."""
        with _LOADING:
            classifier = _LOADED.get(self.checksum)
            if classifier is None:
                classifier = of_model(_labelchain.Model.from_bytes(self.file), self.container)
                # A model may take much memory, and a process is rarely asked for two in turn.
                _LOADED.clear()
                _LOADED[self.checksum] = classifier
            return classifier


_LOADING = threading.Lock()
_LOADED: dict[str, LabelChainClassifier] = {}


@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked about rows: their labels, for an aim, or their probabilities."""

    proba: bool
    aim: str | None

    def __post_init__(self) -> None:
        if self.proba and self.aim is not None:
            raise _labelchain.RequestError(
                f"aim is {self.aim!r}, but probabilities are the same for every aim\n  help: leave out aim or proba"
            )

    def columns(self, classifier: LabelChainClassifier) -> list[str]:
        """The names of the columns of an answer."""
        if self.proba and classifier._container.is_single:
            return [str(value) for value in classifier.classes_]
        return classifier.label_names_

    def answer(self, classifier: LabelChainClassifier, rows: Any, known: Any = None) -> Any:
        """The answer about rows, of which some labels may be known, as `predict` or `predict_proba` has it, also where
        there are none."""
        if len(rows) if not hasattr(rows, "shape") else rows.shape[0]:
            if self.proba:
                return classifier.predict_proba(rows, known=known)
            return classifier.predict(rows, aim=self.aim, known=known)
        n_columns = len(self.columns(classifier))
        if self.proba:
            return np.empty((0, n_columns))
        index = getattr(rows, "index", None)
        return classifier._container.filled(np.empty((0, n_columns), dtype=np.int8), classifier.label_names_, index)


def named(place: str, error: ValueError) -> ValueError:
    """The same refusal, with the place where it happened before the message."""
    kind = type(error) if isinstance(error, _labelchain.LabelChainError) else _labelchain.DataError
    return kind(f"{place}: {error}")
