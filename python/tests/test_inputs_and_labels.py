"""Containers in, containers out."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import labelchain as lc


def nb(**settings) -> lc.LabelChainClassifier:
    return lc.LabelChainClassifier("ecc-nb", members=3, **settings)


def model_bytes(clf: lc.LabelChainClassifier) -> bytes:
    return clf._model.to_bytes()


@pytest.fixture
def mixed(numbers):
    """A frame with a column of every kind, with missing cells in all of them."""
    X, Y = numbers
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["text"] = np.where(X[:, 0] > 0, "major", "minor")
    frame["category"] = pd.Categorical(np.where(X[:, 1] > 0, "p", "q"), categories=["q", "p", "never"])
    frame["flag"] = pd.array(X[:, 2] > 0, dtype="boolean")
    frame["count"] = pd.array(range(len(X)), dtype="Int64")
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(X)), "D")
    frame.loc[3, ["a", "text", "category", "flag", "count", "day"]] = None
    return frame, pd.DataFrame(Y, columns=["calm", "fast", "loud"])


def test_float32_fortran_and_lists_are_the_same_numbers(numbers):
    X, Y = numbers
    X = X.astype(np.float32)
    expected = model_bytes(nb().fit(X, Y))
    for same in (np.asfortranarray(X), X.astype(float), X.tolist(), np.repeat(X, 2, axis=0)[::2]):
        assert model_bytes(nb().fit(same, Y)) == expected


def test_an_array_from_another_process_may_begin_anywhere(numbers):
    X, Y = numbers
    expected = model_bytes(nb().fit(X, Y))
    bytes_ = np.frombuffer(b"0" + X.tobytes(), dtype=np.uint8)
    odd = np.ndarray(X.shape, X.dtype, bytes_.data, offset=1)
    assert not odd.flags.aligned
    assert model_bytes(nb().fit(odd, Y)) == expected
    frame = pd.DataFrame({name: np.ndarray(len(X), X.dtype, X[:, at].tobytes() + b"0") for at, name in enumerate("abcd")})
    frame["text"] = "always"
    column = np.ndarray(len(X), X.dtype, b"0" + X[:, 0].tobytes(), offset=1)
    moved = frame.assign(a=pd.Series(column, copy=False))
    assert model_bytes(nb().fit(moved, Y)) == model_bytes(nb().fit(frame, Y))


def test_an_array_is_not_changed(numbers):
    X, Y = numbers
    copies = X.copy(), Y.copy()
    nb().fit(X, Y).predict(X)
    assert np.array_equal(X, copies[0]) and np.array_equal(Y, copies[1])


def test_frames_of_all_libraries_are_the_same_data(mixed):
    frame, labels = mixed
    expected = nb().fit(frame, labels)
    kinds = [name for name, values in expected._model.attributes if values is not None]
    assert kinds == ["text", "category"]
    for X, Y in [
        (pl.from_pandas(frame).with_columns(pl.col("category").cast(pl.Enum(["q", "p", "never"]))),
         pl.from_pandas(labels)),
        (pa.Table.from_pandas(frame, preserve_index=False), pa.Table.from_pandas(labels)),
    ]:
        clf = nb().fit(X, Y)
        assert model_bytes(clf) == model_bytes(expected)
        answers = clf.predict(X)
        assert type(answers) is type(Y)
        assert np.array_equal(np.array(answers.to_pandas()), expected.predict(frame).to_numpy())


def test_the_index_of_the_rows_and_the_names_of_the_labels_are_kept(mixed):
    frame, labels = mixed
    frame, labels = frame.set_axis(range(100, 180)), labels.set_axis(range(100, 180)).astype(bool)
    answers = nb().fit(frame, labels).predict(frame.iloc[[5, 2]])
    assert answers.index.tolist() == [105, 102]
    assert answers.columns.tolist() == ["calm", "fast", "loud"]
    assert (answers.dtypes == bool).all()


def test_dates_are_days_since_1970():
    from labelchain._inputs import COLUMNS

    days = [datetime.datetime(2020, 1, 1), None, datetime.datetime(1969, 12, 31)]
    expected = [18262.0, np.nan, -1.0]
    frame = pd.DataFrame({"day": pd.to_datetime(pd.Series(days))})
    zoned = pd.DataFrame({"day": frame["day"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")})
    for kind, table in [
        ("pandas", frame),
        ("pandas", zoned),
        ("polars", pl.DataFrame({"day": days})),
        ("pyarrow", pa.table({"day": days})),
    ]:
        ((_, cells, values),) = COLUMNS[kind](table)
        assert values == "date"
        np.testing.assert_array_equal(cells, expected)


def test_text_values_stand_in_byte_order():
    from labelchain._inputs import COLUMNS

    words = ["b", "a", None, "é", "B", "a"]
    for kind, table in [
        ("pandas", pd.DataFrame({"t": words})),
        ("pandas", pd.DataFrame({"t": pd.array(words, dtype="string")})),
        ("polars", pl.DataFrame({"t": words})),
        ("pyarrow", pa.table({"t": words})),
    ]:
        ((_, cells, values),) = COLUMNS[kind](table)
        assert values == ["B", "a", "b", "é"]
        np.testing.assert_array_equal(cells, [2, 1, np.nan, 3, 0, 1])


def test_sparse_inputs_stay_sparse_and_sparse_labels_come_back(numbers):
    X, Y = numbers
    X = sparse.csr_matrix(np.where(X > 0, X, 0))
    clf = nb().fit(X, sparse.csr_matrix(Y))
    answers = clf.predict(X)
    assert sparse.issparse(answers) and answers.format == "csr" and answers.dtype == Y.dtype
    assert np.array_equal(answers.toarray(), nb().fit(X.tocsc(), Y).predict(X))
    assert nb().fit(X.tocoo(), Y)._model.to_bytes() == clf._model.to_bytes()


@pytest.mark.parametrize(
    "pair", [(0, 1), (False, True), (0.0, 1.0), (-1, 1), (1, 2), ("no", "yes")], ids=str
)
def test_answers_have_the_values_of_the_labels(numbers, pair):
    X, Y = numbers
    values = np.array(pair)[Y]
    answers = nb().fit(X, values).predict(X)
    assert answers.dtype == values.dtype
    assert np.array_equal(answers == pair[1], nb().fit(X, Y).predict(X) == 1)


def test_a_single_label_is_a_binary_classifier(numbers):
    X, Y = numbers
    clf = nb().fit(X, np.array(["no", "yes"])[Y[:, 0]])
    assert clf.classes_.tolist() == ["no", "yes"]
    assert set(clf.predict(X)) == {"no", "yes"}
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)
    assert clf.decision_function(X).shape == (len(X),)


def test_an_unknown_label_is_learned_around(numbers):
    X, Y = numbers
    unknown = Y.astype(float)
    unknown[::3, 1] = np.nan
    clf = nb().fit(X, unknown)
    assert set(np.unique(clf.predict(X))) <= {0.0, 1.0}
    frame = pd.DataFrame(unknown, columns=["y0", "y1", "y2"]).convert_dtypes()
    assert model_bytes(nb().fit(X, frame)) == model_bytes(clf)
    with pytest.raises(lc.RequestError, match="unknown"):
        lc.LabelChainClassifier("ecc-svm").fit(X, unknown)


def test_missing_inputs_are_allowed(numbers):
    X, Y = numbers
    X = X.copy()
    X[::5, 0] = np.nan
    for method in ("ecc-nb", "ecc-knn", "ecc-j48", "ecc-svm", "certain-forest"):
        assert lc.LabelChainClassifier(method).fit(X, Y).predict(X).shape == Y.shape


def test_a_value_never_seen_is_missing_and_said(mixed):
    frame, labels = mixed
    clf = nb().fit(frame, labels)
    other = frame.assign(text="atonal")
    with pytest.warns(lc.DataWarning, match="never seen in training.*atonal"):
        clf.predict(other)


def test_known_labels_are_kept_and_looked_at(numbers):
    X, Y = numbers
    clf = nb().fit(X, Y)
    by_name = clf.predict(X, known={"y2": 0})
    assert (by_name[:, 2] == 0).all()
    table = np.full(Y.shape, np.nan)
    table[:, 2] = 0
    assert np.array_equal(clf.predict(X, known=table), by_name)
    assert np.array_equal(clf.predict(X, known=pd.DataFrame({"y2": [0] * len(X)})), by_name)
    assert not np.array_equal(by_name[:, :2], clf.predict(X)[:, :2])
    assert (clf.predict_proba(X, known={"y0": 1})[:, 0] == 1).all()
    named = nb().fit(X, pd.DataFrame(Y, columns=["calm", "fast", "loud"]))
    with pytest.raises(lc.RequestError, match='no label of the model is called "clam". Did you mean "calm"'):
        named.predict(X, known={"clam": 1})


def test_an_aim_is_chosen_at_prediction(numbers):
    X, Y = numbers
    clf = nb().fit(X, Y)
    assert (clf.predict(X, aim="top=1").sum(axis=1) == 1).all()
    np.testing.assert_array_equal(clf.predict(X, aim="hamming"), clf.predict_proba(X) > 0.5)
    np.testing.assert_array_equal(clf.decision_function(X) > 0, clf.predict_proba(X) > 0.5)
    fitted = nb(aim="hamming").fit(X, Y)
    np.testing.assert_array_equal(fitted.predict(X), clf.predict(X, aim="hamming"))


def test_tags_are_the_names_of_the_answers(numbers):
    X, Y = numbers
    clf = nb().fit(X, pd.DataFrame(Y, columns=["calm", "fast", "loud"]))
    answers = clf.predict(X)
    assert clf.predict_tags(X) == [answers.columns[row == 1].tolist() for row in answers.to_numpy()]
