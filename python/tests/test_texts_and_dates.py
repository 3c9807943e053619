"""Texts and dates, as the program treats them."""

import numpy as np
import pandas as pd
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
