"""Containers in, containers out."""

from __future__ import annotations

import datetime
import decimal
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import labelchain as lc
from labelchain._inputs import arrow_table, pandas_columns


def nb(**settings) -> lc.LabelChainClassifier:
    return lc.LabelChainClassifier("ecc-nb", members=3, **settings)


def model_bytes(clf: lc.LabelChainClassifier) -> bytes:
    return clf._model.to_bytes()


def column(table) -> tuple[np.ndarray, object]:
    """The cells of a frame's only column as the library takes them, and what they are."""
    if isinstance(table, pd.DataFrame):
        ((_, cells, kind),) = pandas_columns(table)
        return cells, kind
    cells, ((_, kind),) = arrow_table(table).cells()
    return cells[:, 0], kind


class Stream:
    """A table of a library that nobody here has heard of."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Piece:
    """A table in one piece, of such a library."""

    def __init__(self, table: pa.Table) -> None:
        (self.batch,) = table.combine_chunks().to_batches()

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


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
    kinds = [name for name, values in expected._model.attributes if isinstance(values, list)]
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
    days = [datetime.datetime(2020, 1, 1), None, datetime.datetime(1969, 12, 31)]
    expected = [18262.0, np.nan, -1.0]
    frame = pd.DataFrame({"day": pd.to_datetime(pd.Series(days))})
    zoned = pd.DataFrame({"day": frame["day"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")})
    for table in (frame, zoned, pl.DataFrame({"day": days}), pa.table({"day": days})):
        cells, values = column(table)
        assert values == "date"
        np.testing.assert_array_equal(cells, expected)


def test_text_values_stand_in_byte_order():
    words = ["b", "a", None, "é", "B", "a"]
    for table in [
        pd.DataFrame({"t": words}),
        pd.DataFrame({"t": pd.array(words, dtype="string")}),
        pl.DataFrame({"t": words}),
        pl.DataFrame({"t": pl.Series(words, dtype=pl.Categorical)}),
        pa.table({"t": words}),
        pa.table({"t": pa.array(words, pa.large_string())}),
    ]:
        cells, values = column(table)
        assert values == ["B", "a", "b", "é"]
        np.testing.assert_array_equal(cells, [2, 1, np.nan, 3, 0, 1])


def test_any_library_hands_out_its_tables(mixed):
    frame, labels = mixed
    table = pa.Table.from_pandas(frame, preserve_index=False)
    expected = nb().fit(table, labels)
    in_pieces = pa.concat_tables([table[:7], table[7:7], table[7:50], table[50:]])
    for X in (Stream(table), Piece(table), Stream(in_pieces), table.combine_chunks().to_batches()[0], in_pieces):
        clf = nb().fit(X, labels)
        assert model_bytes(clf) == model_bytes(expected)
        assert clf.feature_names_in_.tolist() == frame.columns.tolist()
        np.testing.assert_array_equal(clf.predict_proba(X), expected.predict_proba(table))
    with pytest.raises(ValueError, match="feature names should match.*\n.*unseen.*\n- A\n.*missing:\n- a\n"):
        expected.predict(Stream(table.rename_columns(["A", *table.column_names[1:]])))
    with pytest.raises(ValueError, match="same order"):
        expected.predict(Stream(table.select(table.column_names[::-1])))


def test_labels_of_any_library_are_read_and_answered_as_an_array(numbers):
    X, Y = numbers
    table = pa.table({name: Y[:, at] for at, name in enumerate(["calm", "fast", "loud"])})
    clf = nb().fit(X, Stream(table))
    assert clf.label_names_ == ["calm", "fast", "loud"]
    np.testing.assert_array_equal(clf.predict(X), nb().fit(X, Y).predict(X))


def test_polars_needs_no_pyarrow(mixed, monkeypatch):
    frame, labels = mixed
    X, Y = pl.from_pandas(frame), pl.from_pandas(labels)
    expected = nb().fit(X, Y)
    # As where it is not installed.
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    clf = nb().fit(X, Y)
    assert model_bytes(clf) == model_bytes(expected) and clf.predict(X).equals(expected.predict(X))


def test_every_type_of_arrow_is_a_number_a_name_or_a_date():
    nan = np.nan
    numbers = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(),
               pa.float32(), pa.float64(), pa.decimal128(25, 1), pa.decimal256(25, 1), pa.duration("ms")]
    for of in numbers:
        cells, kind = column(pa.table({"x": pa.array([3, None, 7]).cast(of)}))
        assert kind is None
        np.testing.assert_array_equal(cells, [3, nan, 7], err_msg=str(of))
    halves = pa.array([np.float16(1.5), None], pa.float16())
    for array, expected in [
        (halves, [1.5, nan]),
        (pa.array([True, None, False]), [1, nan, 0]),
        (pa.nulls(2), [nan, nan]),
        # 0.1 is the number nearest to it, whatever the scale.
        (pa.array([decimal.Decimal("0.1"), decimal.Decimal("-12345678901234567.89")]), [0.1, -12345678901234567.89]),
        (pa.array([-1, 1_500_000, None], pa.duration("ns")), [-1, 1, nan]),
        (pa.array([2], pa.duration("s")), [2000]),
        (pa.array([1], pa.time32("s")), [1e9]),
        (pa.array([1], pa.time64("us")), [1e3]),
        # A part of a column, whose first cell is not that of the memory behind it.
        (pa.array([1.0, None, 3.0, 4.0]).slice(1, 2), [nan, 3]),
        (pa.array([True, False, None, True]).slice(1, 2), [0, nan]),
    ]:
        cells, kind = column(pa.table({"x": array}))
        assert kind is None
        np.testing.assert_array_equal(cells, expected, err_msg=str(array.type))
    for array, days in [
        (pa.array([0, None, 1], pa.date32()), [0, nan, 1]),
        (pa.array([86_400_000], pa.date64()), [1]),
        (pa.array([43_200], pa.timestamp("s")), [0.5]),
        (pa.array([-1], pa.timestamp("us", "Asia/Tokyo")), [-1 / 86_400_000]),
        (pa.array([86_400_000_000_000], pa.timestamp("ns")), [1]),
    ]:
        cells, kind = column(pa.table({"x": array}))
        assert kind == "date"
        np.testing.assert_array_equal(cells, days, err_msg=str(array.type))
    for array, values, codes in [
        (pa.array(["b", None, "a"]), ["a", "b"], [1, nan, 0]),
        (pa.array(["b", None, "a"]).dictionary_encode(), ["b", "a"], [0, nan, 1]),
        (pa.array([7, 5, 7]).dictionary_encode(), ["7", "5"], [0, 1, 0]),
        (pa.array(["x", "b", None, "a"]).slice(1), ["a", "b"], [1, nan, 0]),
        (pa.array([None, None], pa.string()).dictionary_encode(), [], [nan, nan]),
    ]:
        cells, kind = column(pa.table({"x": array}))
        assert kind == values
        np.testing.assert_array_equal(cells, codes, err_msg=str(array.type))
    for array in (pa.array([[1]]), pa.array([b"x"]), pa.array([{"a": 1}]), pa.array([1.5]).dictionary_encode()):
        with pytest.raises(lc.DataError, match="column \"x\" is of type .* neither a number"):
            column(pa.table({"x": array}))


def test_pieces_may_name_values_in_orders_of_their_own():
    pieces = [pa.array(["q", "p"]).dictionary_encode(), pa.array(["p", "r", None]).dictionary_encode()]
    cells, values = column(pa.table({"x": pa.chunked_array(pieces)}))
    assert values == ["q", "p", "r"]
    np.testing.assert_array_equal(cells, [0, 1, 1, 2, np.nan])


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


def test_a_table_of_known_labels_holds_what_labels_of_training_held(numbers):
    X, Y = numbers
    words = np.array(["no", "yes"], dtype=object)[Y]
    clf = nb().fit(X, words)
    by_name = clf.predict(X, known={"y2": 1})
    table = np.full(Y.shape, None, dtype=object)
    # One of the two values alone says which it is.
    table[:, 2] = "yes"
    assert np.array_equal(clf.predict(X, known=table), by_name)
    with pytest.raises(lc.DataError, match="known holds 1, but labels are 'no' or 'yes'"):
        clf.predict(X, known=np.ones(Y.shape, dtype=int))
    with pytest.raises(lc.DataError, match="sparse, and so holds 0 and 1, but labels are 'no' or 'yes'"):
        clf.predict(X, known=sparse.csr_matrix(Y))


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


@pytest.mark.parametrize("pair", [(-1, 1), (1, 2), ("no", "yes")], ids=str)
def test_answers_may_hold_one_of_two_values(pair):
    Y = np.array([[0, 1], [1, 0], [1, 1]])
    values, never = np.array(pair)[Y], np.full(Y.shape, pair[0])
    assert lc.losses(values, never) == lc.losses(Y, np.zeros_like(Y))
    assert lc.losses(never, values) == lc.losses(np.zeros_like(Y), Y)
    with pytest.raises(ValueError, match="P holds|holds 1 different|holds 3 different"):
        lc.losses(values, np.array([[9, 9]] * 3))


def test_a_fold_may_hold_one_of_two_values():
    # Nothing can be learned from one constant input, and the most frequent answer is given.
    Y = np.array(["no", "no", "no", "yes"] * 6)[:, None].repeat(2, axis=1)
    frame = lc.evaluate("br-nb", np.zeros((24, 1)) + np.arange(24)[:, None] % 2 * 0, Y, cv=3)
    assert frame.query("criterion == 'hamming'").loss.mean() == pytest.approx(0.25)
