"""The estimator."""

from __future__ import annotations

import numbers
import os
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _labelchain
from ._dataset import Dataset
from ._explanation import Explanation
from ._inputs import index_of, to_rows
from ._labels import PLAIN, Container, read_known, read_labels
from ._progress import progress_bar
from ._registry import documented_settings, settings, signature
from ._warnings import warn


class LabelChainClassifier(ClassifierMixin, BaseEstimator):
    """Multi-label classifier: an ensemble of chains that are walked in an order for each row.

    Parameters
    ----------
    method : str, default={method!r}
        What is trained, a strategy and a base; `labelchain.methods` lists them.
    aim : str, default=None
        Which loss the answers are made for, such as ``"macro-f1"`` or ``"precision=0.9"``;
        `labelchain.aims` lists them. By default the members vote. `predict` takes another one, for
        which nothing is trained again.
    random_state : int, RandomState instance, default=None
        What everything random is drawn by. None is 1, as in the program, so that a model can be made
        again.
    n_jobs : int, default=None
        Threads, as joblib counts them; None is one for each core. No result depends on it.
    verbose : bool, default=False
        Shows how far a genetic search is, by tqdm where it is installed. Other methods report nothing.
    text : str or list of str, default=None
        Columns of a frame that hold texts, whose words and pairs of words are learned from. Other columns of
        strings are categories.
{settings}

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2)
        The two values of each label; of shape (2,) where y had one dimension.
    label_names_ : list of str
        The columns of Y; ``y0``, ``y1``, … where they had no names.
    n_features_in_ : int
        The number of inputs.
    feature_names_in_ : ndarray of str
        Their names, where X had names.
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much each input matters, as shares that sum to 1; forests only.
    out_of_bag_losses_ : dict or None
        An estimate of the eleven losses: those of training rows, each by the members that have not seen it.

    Examples
    --------
    >>> import numpy as np
    >>> from labelchain import LabelChainClassifier
    >>> X = np.array([[72, 3], [80, 4], [75, 9], [90, 8], [128, 2], [140, 3], [130, 9], [150, 8]])
    >>> Y = np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1],
    ...               [0, 1, 0], [0, 1, 0], [0, 1, 1], [0, 1, 1]])
    >>> clf = LabelChainClassifier("ecc-nb", members=10).fit(X, Y)
    >>> clf.predict([[135, 9]])
    array([[0, 1, 1]])
    >>> clf.predict_tags([[135, 9]], aim="top=1")
    [['y1']]
    """

    def __init__(
        self,
        method: str = _labelchain.DEFAULT_METHOD,
        aim: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        **settings: Any,
    ) -> None:
        given = {"method": method, "aim": aim, "random_state": random_state, "n_jobs": n_jobs, **settings}
        for name in given:
            _check_name(name)
        for name, parameter in SIGNATURE.parameters.items():
            if name != "self":
                setattr(self, name, given.get(name, parameter.default))

    def fit(self, X: Any, Y: Any = None) -> LabelChainClassifier:
        """Trains on rows and their labels.

        Parameters
        ----------
        X : array, CSR matrix, DataFrame of pandas or polars, Arrow table or `labelchain.Dataset`
            Inputs; NaN is a missing cell. Columns of a frame may be numbers, categories, strings or dates; of a date
            its day, weekday and month are learned from. Strings are named values, unless ``text`` names their
            column or all of them are dates; strings that hardly any two rows share are left out with a warning,
            unless their column is of type category.
        Y : array, CSR matrix, DataFrame of pandas or polars, or Arrow table
            A column for each label, of 0 and 1 or of another pair of values, the same for all labels, of which the
            greater is relevant. What has one dimension is a single label. NaN is an unknown label, from whose row
            the other labels are learned. May be left out where X is a `labelchain.Dataset`.

        Returns
        -------
        self
        """
        # What was learned before must not be mixed with what is learned now.
        self.__dict__.pop("_model", None)
        rows, container = self._training_rows(X, Y)
        if not isinstance(X, Dataset):
            warn(rows.notes)
        with progress_bar(self.verbose) as progress:
            model = _labelchain.Model.fit(rows, self._training(), n_threads(self.n_jobs), progress)
        self._set_model(model, container)
        return self

    def update(
        self,
        X: Any,
        Y: Any = None,
        *,
        new_labels: str = "refuse",
        new_values: str = "refuse",
        max_trees: int | None = None,
    ) -> LabelChainClassifier:
        """Learns from further rows, without the rows before.

        Forests can do it, and naive Bayes with ``updatable=True``, in strategies that choose nothing on validation
        rows (``br``, ``ecc``, ``certain``).

        Parameters
        ----------
        X, Y : as in `fit`
            Columns and labels are found by name.
        new_labels : {"refuse", "ignore", "add"}, default="refuse"
            What to do about labels that were not there in training. One that is added is irrelevant to all rows
            before.
        new_values : {"refuse", "ignore", "add"}, default="refuse"
            What to do about values of a category that were not there; ignored, they are missing.
        max_trees : int, default=None
            Trees that a forest has at most from now on; as many as it was trained with if None.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if Y is None and not isinstance(X, Dataset):
            raise ValueError("update(X, Y) needs the labels of the rows")
        if Y is None:
            rows = X._rows
        else:
            labels, _ = read_labels(Y, classes=self._container.classes)
            rows = to_rows(self, X._inputs() if isinstance(X, Dataset) else X, labels, reset=False)
        model, notes = self._model.update(rows, new_labels, new_values, max_trees, n_threads(self.n_jobs))
        warn(notes)
        self._set_model(model, self._container)
        return self

    def predict(self, X: Any, aim: str | None = None, known: Any = None) -> Any:
        """The labels of rows, in the container and with the values that Y had in training.

        Parameters
        ----------
        X : as in `fit`
        aim : str, default=None
            Which loss the answers are made for, if another than that of the constructor.
        known : dict, array or DataFrame, default=None
            Labels that are known already: ``{"rock": 1}`` of all rows, or a table with NaN where they are
            not known. They are kept, and the others are answered in the light of them.

        Returns
        -------
        Y : of shape (n_rows, n_labels)
        """
        cells = self._answer(_labelchain.Model.predict, X, aim, known)
        return self._container.filled(cells, self.label_names_, index_of(X))

    def predict_proba(self, X: Any, known: Any = None) -> np.ndarray:
        """The probability that each label is relevant, of shape (n_rows, n_labels).

        Where y had one dimension, as of a binary classifier, it has a column for each of the two values.
        They are calibrated by training rows that members have not seen.
        """
        probabilities = self._answer(_labelchain.Model.probabilities, X, None, known)
        if probabilities is None:
            raise _labelchain.RequestError(
                "there are no probabilities: scores are margins, and every member has seen all training "
                "rows, so that there was none to learn from how they become probabilities\n"
                "  help: train again with a smaller sample, or use decision_function"
            )
        if self._container.is_single:
            return np.hstack([1 - probabilities, probabilities])
        return probabilities

    def decision_function(self, X: Any, known: Any = None) -> np.ndarray:
        """How strongly the model speaks for each label, of shape (n_rows, n_labels).

        The logarithm of the odds of `predict_proba` or, where there are no probabilities, the mean margin.
        """
        values = self._answer(_labelchain.Model.decision_values, X, None, known)
        return values[:, 0] if self._container.is_single else values

    def predict_tags(self, X: Any, aim: str | None = None, known: Any = None) -> list[list[str]]:
        """The names of the labels of each row."""
        return self._answer(_labelchain.Model.tags, X, aim, known)

    def explain(
        self, X: Any, row: int | None = None, *, aim: str | None = None, known: Any = None, ask: bool = False
    ) -> Explanation:
        """How the answer about one row came about.

        Parameters
        ----------
        X : as in `fit`
        row : int, default=None
            Which row of X; may be left out if it has only one.
        aim, known : as in `predict`
        ask : bool, default=False
            Also says which label to ask for next: whose answer lowers the expected number of wrong labels
            most.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        if row is None and rows.n_rows != 1:
            raise _labelchain.RequestError(
                f"X has {rows.n_rows} rows, and one is explained at a time\n  help: say which: row=0"
            )
        request = self._request(rows, aim, known, index_of(X))
        if row is not None:
            if row < 0:
                raise _labelchain.RequestError(f"row is {row}, but rows are counted from 0")
            labels = request["known"]
            if labels is not None and labels.n_rows != rows.n_rows:
                raise _labelchain.DataError(
                    f"known has {labels.n_rows} rows, and X has {rows.n_rows}: it needs one for each"
                )
            rows = rows.select([row])
            if labels is not None:
                request["known"] = _labelchain.Labels.from_dense(labels.names, labels.cells()[[row]])
        text, notes = self._model.explain(rows, request, ask)
        warn(notes)
        return Explanation(text, row or 0)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which `labelchain.load` and the program ``labelchain`` read."""
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    def set_params(self, **params: Any) -> LabelChainClassifier:
        """Sets parameters; one that is misspelt gets the most similar name."""
        for name in params:
            _check_name(name)
        return super().set_params(**params)

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much each input matters, as shares that sum to 1; forests only."""
        check_is_fitted(self)
        shares = self._model.importance()
        if shares is None:
            raise AttributeError(f"{self.method} does not say how much inputs matter; forests do")
        by_name = dict(zip((name for name, _ in self._model.attributes), shares))
        names = getattr(self, "feature_names_in_", [f"x{at}" for at in range(self.n_features_in_)])
        # A column that was left out does not matter.
        return np.array([by_name.get(name, 0.0) for name in names])

    @property
    def out_of_bag_losses_(self) -> dict[str, float] | None:
        """An estimate of the eleven losses; none where every member has seen every row."""
        check_is_fitted(self)
        found = self._model.out_of_bag
        return None if found is None else {name: float("nan") if loss is None else loss for name, loss in found}

    def _training_rows(self, X: Any, Y: Any) -> tuple[_labelchain.Rows, Container]:
        """Rows and labels to learn from, and what the labels came in; the names of inputs are learned."""
        if isinstance(X, Dataset) and Y is None:
            self._learn_names(X._rows.attributes)
            return X._rows, PLAIN
        if Y is None:
            raise ValueError(
                "requires y to be passed, but the target y is None: fit(X, Y) needs the labels of the rows"
            )
        labels, container = read_labels(Y)
        if labels.n_rows == 0:
            raise _labelchain.DataError("there are no rows to learn from (0 samples)")
        if not labels.is_known:
            raise _labelchain.DataError("Input Y contains NaN throughout, and there is nothing to learn")
        X = X._inputs() if isinstance(X, Dataset) else X
        names = getattr(X, "column_names", getattr(X, "columns", []))
        if both := [name for name in labels.names if name in list(names)]:
            raise _labelchain.DataError(
                f"column {both[0]!r} is in X and in Y\n  help: leave the labels out of X"
            )
        return to_rows(self, X, labels, reset=True), container

    def _training(self) -> dict[str, Any]:
        """What is to be trained."""
        return {
            "method": _text("method", self.method),
            "aim": None if self.aim is None else _text("aim", self.aim),
            "settings": self._settings(),
            "seed": _seed(self.random_state),
        }

    def _set_model(self, model: _labelchain.Model, container: Container) -> None:
        self._model, self._container = model, container
        self.label_names_ = model.label_names
        # An array, because scikit-learn's cross_val_predict asks for its shape.
        classes = np.tile(container.classes, (len(self.label_names_), 1))
        self.classes_ = classes[0] if container.is_single else classes

    def _settings(self) -> list[tuple[str, Any]]:
        """Settings other than their defaults: to look up all of them takes as long as a small training."""
        values = ((setting, getattr(self, setting.name)) for setting in settings().values())
        return [
            (setting.name, value)
            for setting, value in values
            if type(value) is not type(setting.default) or value != setting.default
        ]

    def _learn_names(self, attributes: list[tuple[str, list[str] | None]]) -> None:
        names = [name for name, _ in attributes]
        self.__dict__.pop("feature_names_in_", None)
        self.n_features_in_ = len(names)
        if names != [f"x{at}" for at in range(len(names))]:
            self.feature_names_in_ = np.asarray(names, dtype=object)

    def _rows(self, X: Any) -> _labelchain.Rows:
        return X._rows.unlabelled() if isinstance(X, Dataset) else to_rows(self, X, None, reset=False)

    def _request(self, rows: _labelchain.Rows, aim: str | None, known: Any, index: Any) -> dict[str, Any]:
        labels = None
        if known is not None:
            labels = read_known(known, self.label_names_, rows.n_rows, self._container.classes, index)
        aim = None if aim is None else _text("aim", aim)
        return {"aim": aim, "known": labels, "n_threads": n_threads(self.n_jobs)}

    def _answer(self, ask: Any, X: Any, aim: str | None, known: Any) -> Any:
        check_is_fitted(self)
        rows = self._rows(X)
        answer, notes = ask(self._model, rows, self._request(rows, aim, known, index_of(X)))
        warn(notes, stacklevel=3)
        return answer

    def __sklearn_is_fitted__(self) -> bool:
        """Other attributes are there before training has ended."""
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The tags as scikit-learn 1.5 asks for them."""
        return {"allow_nan": True, "binary_only": True, "multioutput": True, "multilabel": True, "X_types": ["2darray", "sparse"]}


SIGNATURE = signature()
LabelChainClassifier.__init__.__signature__ = SIGNATURE  # type: ignore[attr-defined]
LabelChainClassifier.__doc__ = (LabelChainClassifier.__doc__ or "").replace(
    "{settings}", "\n".join("    " + line for line in documented_settings().splitlines())
).replace("{method!r}", repr(_labelchain.DEFAULT_METHOD))


def load(path: str | os.PathLike[str], *, max_memory: int | None = None) -> LabelChainClassifier:
    """A fitted classifier from a model file of `LabelChainClassifier.save` or the program ``labelchain``.

    Nothing in the file is run, and what it holds is checked, so that a file of a stranger can at worst be
    refused. ``max_memory`` is how many bytes it may take; by default three quarters of the memory.

    The classifier has the parameters that the model was trained with, and answers as it did. What labels came in is
    not in the file: answers are arrays of 0 and 1, also where training had a frame or other values. A pickle keeps it.
    """
    return of_model(_labelchain.Model.load(os.fspath(path), max_memory), PLAIN)


def of_model(model: _labelchain.Model, container: Container) -> LabelChainClassifier:
    """A fitted classifier of a trained model, whose answers come in a container."""
    texts = [name for name, kind in model.attributes if kind == "text"]
    classifier = LabelChainClassifier(
        model.method, aim=model.aim, random_state=model.seed, text=texts or None, **model.settings
    )
    classifier._learn_names(model.attributes)
    classifier._set_model(model, container)
    return classifier


def _check_name(name: str) -> None:
    if name not in SIGNATURE.parameters or name == "self":
        _labelchain.check_name(name)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _labelchain.RequestError(f"{name} is {value!r}, but must be text")
    return value


def _seed(random_state: Any) -> int:
    if random_state is None:
        return 1
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if 0 <= random_state < 2**64:
            return int(random_state)
        raise _labelchain.RequestError(f"random_state is {random_state}, but must be from 0 to 2**64 - 1")
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def n_threads(n_jobs: int | None) -> int:
    """Threads as the extension counts them: 0 is one for each core."""
    return 0 if n_jobs is None else joblib.effective_n_jobs(n_jobs)


