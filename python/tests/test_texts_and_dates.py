"""Texts and dates, as the program treats them."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import labelchain as lc


def tickets(n_rows=150):
    """Messages whose words tell the labels, and the days on which they came."""
    rng = np.random.default_rng(1)
    words = {"billing": ["invoice", "charged twice"], "crash": ["the app crashes", "freezes at start"]}
    Y = pd.DataFrame({name: rng.integers(0, 2, n_rows) for name in words})
    text = [
        ". ".join(["hello", *(str(rng.choice(words[name])) for name in words if Y[name][row]), "thanks"])
        for row in range(n_rows)
    ]
    created = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n_rows), unit="D")
    return pd.DataFrame({"created": created, "message": text, "minutes": rng.integers(1, 60, n_rows)}), Y


@pytest.mark.parametrize("method", ["certain-forest", "ecc-nb", "ecc-knn"])
def test_words_are_learned_from(method):
    X, Y = tickets()
    clf = lc.LabelChainClassifier(method, text="message").fit(X[:100], Y[:100])
    assert (clf.predict(X[100:]).to_numpy() == Y[100:].to_numpy()).mean() > 0.95
    assert clf.feature_names_in_.tolist() == ["created", "message", "minutes"]
    assert clone(clf).text == "message"
    new = pd.DataFrame({"created": [pd.NaT], "message": ["charged twice, and the app crashes"], "minutes": [3]})
    assert clf.predict_tags(new) == [["billing", "crash"]]


def test_importance_is_that_of_columns():
    X, Y = tickets()
    shares = lc.LabelChainClassifier(text=["message"]).fit(X, Y).feature_importances_
    assert shares.shape == (3,) and shares.argmax() == 1
    assert shares.sum() == pytest.approx(1)


def test_a_model_of_texts_is_the_programs(tmp_path, program):
    X, Y = tickets()
    X["created"] = X["created"].dt.strftime("%Y-%m-%d")
    pd.concat([X, Y], axis=1).to_csv(tmp_path / "tickets.csv", index=False)
    data, model = tmp_path / "tickets.csv", tmp_path / "shell.labelchain"
    program("train", data, "--labels", "billing,crash", "--text", "message", "-o", model)
    X["created"] = pd.to_datetime(X["created"])
    clf = lc.LabelChainClassifier(text="message").fit(X, Y)
    clf.save(tmp_path / "python.labelchain")
    assert (tmp_path / "python.labelchain").read_bytes() == (tmp_path / "shell.labelchain").read_bytes()
    loaded = lc.load(tmp_path / "shell.labelchain")
    pd.testing.assert_frame_equal(pd.DataFrame(loaded.predict_proba(X)), pd.DataFrame(clf.predict_proba(X)))


def test_a_column_that_is_no_text_is_told():
    X, Y = tickets()
    with pytest.raises(lc.DataError, match="\"minutes\" holds numbers and is no text"):
        lc.LabelChainClassifier(text="minutes").fit(X, Y)
    with pytest.raises(ValueError, match="messsage"):
        lc.LabelChainClassifier(text="messsage").fit(X, Y)


def test_files_are_read_with_texts(tmp_path):
    X, Y = tickets(40)
    path = tmp_path / "tickets.csv"
    pd.concat([X, Y], axis=1).to_csv(path, index=False)
    data = lc.read(path, labels="billing,crash", text="message", drop=["created"])
    assert data.feature_names == ["message", "minutes"]
    assert lc.LabelChainClassifier("br-nb").fit(data).n_features_in_ == 2


def test_strings_of_a_frame_are_what_the_program_finds_them_to_be(tmp_path):
    X, Y = tickets()
    X["created"] = X["created"].dt.strftime("%Y-%m-%d")
    X["message"] += [f" {row}" for row in range(len(X))]
    X["ticket"] = [f"T-{row}" for row in range(len(X))]
    with pytest.warns(lc.DataWarning) as told:
        clf = lc.LabelChainClassifier(trees=20).fit(X, Y)
    said = "\n".join(str(one.message) for one in told)
    assert '"message"; text=COLUMN learns from the words' in said
    assert '"ticket"; a column of type category is learned from' in said
    assert 'weekday and month: "created"' in said
    # What is left out is still a column of X.
    assert clf.feature_names_in_.tolist() == ["created", "message", "minutes", "ticket"]
    assert (clf.feature_importances_[[1, 3]] == 0).all() and clf.feature_importances_.sum() == pytest.approx(1)
    clf.save(tmp_path / "model")
    loaded = lc.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    for table in (pl.DataFrame(X), pa.table(X)):
        with pytest.warns(lc.DataWarning) as again:
            other = lc.LabelChainClassifier(trees=20).fit(table, Y)
        assert [str(one.message) for one in again] == [str(one.message) for one in told]
        np.testing.assert_array_equal(other.predict_proba(table), clf.predict_proba(X))
        np.testing.assert_array_equal(loaded.predict_proba(table), clf.predict_proba(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = lc.LabelChainClassifier(trees=20, text="message").fit(
            X.assign(created=pd.to_datetime(X["created"]), ticket=X["ticket"].astype("category")), Y
        )
    assert [name for name, _ in kept._model.attributes] == ["created", "message", "minutes", "ticket"]
    kept.save(tmp_path / "kept")
    assert lc.load(tmp_path / "kept").text == ["message"]
