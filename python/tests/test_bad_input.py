"""What is refused, and that nothing else happens to anything that can be given."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn.exceptions import NotFittedError

import labelchain as lc
from labelchain import _labelchain

X = np.arange(24.0).reshape(12, 2)
Y = np.array([[0, 1], [1, 0], [1, 1]] * 4)


@pytest.fixture(scope="module")
def clf():
    return lc.LabelChainClassifier("ecc-nb", members=2).fit(X, Y)


@pytest.mark.parametrize(
    ("bad_X", "bad_Y", "message"),
    [
        (X[:5], Y, "rows of the label table: expected 5, found 12"),
        (X[0], Y, "Expected 2D array, got 1D array"),
        (X[:, :0], Y, "0 feature"),
        (X[:0], Y[:0], "no rows.*0 samples"),
        (np.where(X == 3, np.inf, X), Y, "infinity"),
        (X.astype(complex), Y, "Complex data not supported"),
        (X.astype(str).astype(object) + "x", Y, "could not convert string"),
        (X, Y + np.arange(12)[:, None], "13 different values"),
        (X, Y[:, :0], "nothing to learn"),
        (X, Y[..., None], "a column for each label"),
        (X, [["a"], ["b", "c"]] * 6, "MultiLabelBinarizer|inhomogeneous"),
        (X, np.where(Y == 1, np.inf, 0), "infinity"),
        (X, np.full(Y.shape, np.nan), "NaN throughout"),
        (X, None, "needs the labels"),
        (X, sparse.csr_matrix(Y * 2), "other values than 0 and 1"),
        (pd.DataFrame(X, columns=["a", "a"]), Y, "a.* occurs|unique column names"),
        (pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(Y, columns=["b", "c"]), "column 'b' is in X and in Y"),
        (pd.DataFrame({"a": [[1]] * 12}), Y, "neither a number, a category, text nor a date"),
        (pd.DataFrame({"a": ["x", 1] * 6}), Y, "neither a number|mixed"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(bad_X, bad_Y, message):
    with pytest.raises((ValueError, TypeError), match=message):
        lc.LabelChainClassifier("ecc-nb", members=2).fit(bad_X, bad_Y)


def test_labels_that_were_left_among_the_inputs_are_refused():
    frame = pd.DataFrame({"x": X[:, 0], "a": Y[:, 0], "b": Y[:, 1]})
    with pytest.raises(lc.DataError, match="column 'a' is in X and in Y"):
        lc.LabelChainClassifier().fit(frame, frame[["a", "b"]])


def test_other_columns_than_in_training_are_refused(clf):
    with pytest.raises(ValueError, match="X has 3 features, but LabelChainClassifier is expecting 2"):
        clf.predict(np.hstack([X, X[:, :1]]))
    frame = pd.DataFrame(X, columns=["a", "b"])
    named = lc.LabelChainClassifier("ecc-nb", members=2).fit(frame, Y)
    for other in (frame[["b", "a"]], frame.rename(columns={"a": "c"}), frame[["a"]]):
        with pytest.raises(ValueError, match="feature names should match"):
            named.predict(other)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(named.predict(X), named.predict(frame))
    with pytest.raises(lc.DataError, match="was a number in training and has named values here"):
        named.predict(frame.assign(a="high"))


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "decision_function", "predict_tags", "explain"])
def test_nothing_is_answered_before_training(ask):
    with pytest.raises(NotFittedError):
        getattr(lc.LabelChainClassifier(), ask)(X)
    with pytest.raises(NotFittedError):
        lc.LabelChainClassifier().save("nowhere.labelchain")


def test_margins_are_no_probabilities():
    clf = lc.LabelChainClassifier("br-svm", sample=1.0, fit_share=1.0, members=1, cost=1, gamma=1).fit(X, Y)
    with pytest.raises(lc.RequestError, match="smaller sample"):
        clf.predict_proba(X)
    np.testing.assert_array_equal(clf.decision_function(X) > 0, clf.predict(X))


def test_a_failed_training_leaves_nothing_behind(clf):
    other = lc.LabelChainClassifier("ecc-nb", members=2).fit(X, Y)
    with pytest.raises(ValueError):
        other.set_params(members=0).fit(X, Y)
    with pytest.raises(NotFittedError):
        other.predict(X)


#: Whatever is given, these are the only ways out.
REFUSALS = (ValueError, TypeError, OSError, OverflowError)

#: Cells that a column may hold, one kind for each column, and missing ones among them.
CELLS = (
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 1),
    st.floats(),
    st.booleans(),
    st.text(max_size=3),
    st.datetimes(),
    st.dates(),
    st.timedeltas(min_value=datetime.timedelta(-9999), max_value=datetime.timedelta(9999)),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-9999, max_value=9999, places=2),
    st.binary(max_size=2),
    st.lists(st.integers(0, 3), max_size=2),
)


@st.composite
def columns(draw) -> dict[str, list]:
    """Columns of one length, by names that may be odd."""
    n_rows = draw(st.integers(0, 8))
    names = draw(st.lists(st.sampled_from(["x0", "y0", "a", "", "é\0", "x1"]), max_size=3, unique=True))
    cells = {name: draw(st.sampled_from(CELLS)) | st.none() for name in names}
    return {name: draw(st.lists(of, min_size=n_rows, max_size=n_rows)) for name, of in cells.items()}


@st.composite
def arrow_tables(draw) -> object:
    """Tables of Arrow, whole or in pieces that begin anywhere, perhaps of dictionaries."""
    table = pa.table(draw(columns()))
    if draw(st.booleans()):
        encoded = [of if pa.types.is_list(of.type) or pa.types.is_null(of.type) else of.dictionary_encode() for of in table.columns]
        table = pa.table(encoded, names=table.column_names) if encoded else table
    cut = draw(st.integers(0, 8))
    return draw(st.sampled_from([table, table[cut:], pa.concat_tables([table[:cut], table[cut:]])]))


@st.composite
def frames(draw) -> object:
    """Frames of pandas and polars."""
    cells = draw(columns())
    kind = draw(st.sampled_from(["pandas", "category", "nullable", "polars"]))
    if kind == "polars":
        return pl.DataFrame(cells, strict=False)
    frame = pd.DataFrame(cells)
    if kind == "nullable":
        return frame.convert_dtypes()
    hashable = [name for name, of in cells.items() if not any(isinstance(cell, list) for cell in of)]
    return frame.astype({name: "category" for name in hashable}) if kind == "category" else frame


@st.composite
def damaged_matrices(draw) -> object:
    """Matrices of SciPy whose arrays were changed after they had been checked."""
    X = sparse.csr_matrix(draw(arrays.arrays(np.float64, (4, 3), elements=st.sampled_from([0.0, 1.0, 2.5, np.nan]))))
    part = draw(st.sampled_from(["indices", "indptr", "data"]))
    array = getattr(X, part)
    if len(array):
        at = draw(st.integers(0, len(array) - 1))
        array[at] = draw(st.sampled_from([-1, 0, 1, 2, 3, 4, 100, 2**31 - 1, -(2**31)]))
    return X


anything = st.one_of(
    arrow_tables(),
    frames(),
    damaged_matrices(),
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.floats(), max_size=4),
    arrays.arrays(
        arrays.scalar_dtypes(), arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)
    ),
    arrays.arrays(
        np.dtype(object),
        arrays.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=6),
        elements=st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    ),
    arrays.arrays(np.float64, arrays.array_shapes(min_dims=2, max_dims=2, max_side=6)),
    arrays.arrays(np.int8, arrays.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(-1, 2)),
)
fuzz = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
quietly = pytest.mark.filterwarnings("ignore")
known = anything | st.dictionaries(st.text(max_size=3) | st.just("y0"), anything | st.integers(0, 1), max_size=2)
index = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-1, 6), max_size=6)


@quietly
@fuzz
@given(X=anything, Y=anything, method=st.sampled_from(["ecc-nb", "br-knn", "ecc-j48", "ecc-svm", "certain-forest"]))
def test_any_table_is_learned_from_or_refused(X, Y, method):
    size = {"trees": 2} if method == "certain-forest" else {"members": 2}
    try:
        lc.LabelChainClassifier(method, **size).fit(X, Y).predict_proba(X)
    except REFUSALS:
        pass


@quietly
@fuzz
@given(
    rows=st.just(X) | anything,
    known=st.none() | known,
    aim=st.none() | st.sampled_from(["macro-f1", "top=1", "precision=0.9"]) | st.text(max_size=6),
)
def test_any_question_is_answered_or_refused(clf, rows, known, aim):
    for ask in (clf.predict, clf.predict_tags, lambda X, aim, known: clf.explain(X, aim=aim, known=known)):
        try:
            ask(rows, aim=aim, known=known)
        except REFUSALS:
            pass


@quietly
@fuzz
@given(
    n_columns=st.integers(-1, 2**40),
    starts=index,
    columns=index,
    values=st.lists(st.floats(), max_size=6),
    names=st.lists(st.text(max_size=2), max_size=4),
)
def test_any_sparse_arrays_are_read_or_refused(n_columns, starts, columns, values, names):
    starts, columns = np.array(starts, dtype=np.int64), np.array(columns, dtype=np.int64)
    for read in (
        lambda: _labelchain.Rows.from_sparse(min(n_columns, 1000), starts, columns, np.array(values)).dense(),
        lambda: _labelchain.Labels.from_sparse(names, starts, columns).cells(),
        lambda: lc.compare([dict(zip(names, values))]),
    ):
        try:
            read()
        except REFUSALS:
            pass


@pytest.mark.parametrize("damage", ["released", "other", "none", "raises", "schema"])
def test_a_stream_that_is_none_is_refused(clf, damage):
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            if damage == "raises":
                raise OSError("the disk is gone")
            if damage in ("other", "none"):
                return {"other": 3, "none": None}[damage]
            if damage == "schema":
                return pa.schema([]).__arrow_c_schema__()
            capsule = pa.table({"a": [1.0]}).__arrow_c_stream__()
            # Read to its end by another, so that nothing is left in it.
            pa.RecordBatchReader._import_from_c_capsule(capsule).read_all()
            return capsule

    for ask in (lambda: lc.LabelChainClassifier("br-nb").fit(Stream(), Y), lambda: clf.predict(Stream()),
                lambda: clf.predict(X, known=Stream()), lambda: lc.losses(Stream(), Stream())):
        with pytest.raises(REFUSALS):
            ask()


@quietly
@fuzz
@given(value=anything, name=st.sampled_from(sorted(lc.settings())))
def test_any_value_of_a_setting_is_taken_or_refused(value, name):
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 50:
        return  # Many members take long and tell nothing.
    for method in ("ecc-nb", "certain-forest"):
        try:
            lc.LabelChainClassifier(method, **{name: value}).fit(X, Y)
        except REFUSALS:
            pass


@quietly
@fuzz
@given(data=st.binary(max_size=200), at=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_any_bytes_are_a_model_or_refused(clf, data, at, byte):
    whole = bytearray(clf._model.to_bytes())
    whole[at % len(whole)] = byte
    for content in (data, bytes(whole), bytes(whole[:at])):
        try:
            _labelchain.Model.from_bytes(content)
        except REFUSALS:
            pass


@quietly
@fuzz
@given(Y=anything, P=anything, probabilities=st.none() | anything, n_splits=anything, groups=anything)
def test_any_labels_are_measured_and_cut_or_refused(Y, P, probabilities, n_splits, groups):
    for ask in (
        lambda: lc.losses(Y, P, probabilities),
        lambda: lc.label_measures(Y, P, probabilities),
        lambda: list(lc.IterativeStratifiedKFold(n_splits, groups=groups).split(Y, Y)),
    ):
        try:
            ask()
        except REFUSALS:
            pass


def test_known_labels_of_other_rows_are_refused(clf):
    known = np.full((3, 2), np.nan)
    with pytest.raises(lc.DataError, match="known has 3 rows, and X has 12"):
        clf.explain(X, row=5, known=known)
