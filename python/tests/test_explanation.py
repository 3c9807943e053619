"""Why a label was given."""

from __future__ import annotations

import json

import matplotlib
import numpy as np
import pandas as pd
import pytest

import labelchain as lc

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def clf(numbers):
    X, Y = numbers
    return lc.LabelChainClassifier("dynamic-nb", members=5).fit(X, pd.DataFrame(Y, columns=["a<b>", "fast", "loud"]))


def test_it_says_what_the_program_says(program, clf, numbers, tmp_path):
    model, rows = tmp_path / "m.labelchain", tmp_path / "rows.csv"
    clf.save(model)
    pd.DataFrame(numbers[0]).add_prefix("x").to_csv(rows, index=False)
    theirs = json.loads(program("explain", model, rows, "--row", 5, "--json", "--ask"))
    ours = clf.explain(numbers[0], row=5, ask=True).to_dict()
    assert theirs.items() <= ours.items()


def test_it_is_text_html_and_a_plot(clf, numbers):
    explanation = clf.explain(numbers[0][[5]])
    assert explanation.relevant == clf.predict_tags(numbers[0][[5]])[0]
    assert sorted(explanation.order) == sorted(clf.label_names_)
    text = str(explanation)
    assert "local F1" in text and all(name in text for name in clf.label_names_)
    page = explanation._repr_html_()
    assert "a&lt;b&gt;" in page and "a<b>" not in page
    axes = explanation.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == explanation.order
    matplotlib.pyplot.close("all")


def test_known_labels_and_aims_are_heeded(clf, numbers):
    X = numbers[0]
    known = np.full((len(X), 3), np.nan)
    known[5, 1] = 1 - clf.predict(X).to_numpy()[5, 1]
    by_table = clf.explain(X, row=5, known=known)
    assert by_table.to_dict()["known"] == {"fast": known[5, 1]}
    by_name = clf.explain(X[[5]], known={"fast": int(known[5, 1])}, aim="top=1")
    assert by_name.to_dict()["probabilities"] == by_table.to_dict()["probabilities"]
    assert "known" in str(by_name)


@pytest.mark.parametrize("method", ["br-nb", "ecc-svm", "ecc-j48", "oocc-knn", "certain-forest"])
def test_every_base_explains(numbers, method):
    X, Y = numbers
    clf = lc.LabelChainClassifier(method).fit(X, Y)
    assert str(clf.explain(X, row=3)).startswith(f"Row 3, by {method}: ")


def test_one_row_is_explained_at_a_time(clf, numbers):
    with pytest.raises(lc.RequestError, match="X has 80 rows"):
        clf.explain(numbers[0])
    with pytest.raises(lc.DataError, match="row 80"):
        clf.explain(numbers[0], row=80)


def test_a_forest_names_inputs_and_training_rows(numbers):
    X, Y = numbers
    clf = lc.LabelChainClassifier(trees=20).fit(X, Y)
    explanation = clf.explain(X, row=int(Y.sum(axis=1).argmax()))
    text = str(explanation)
    assert "What inputs add" in text and "Training rows that the answer rests on most" in text
    assert len(explanation.to_dict()["inputs"]) == 4 * 3
    np.testing.assert_allclose(clf.feature_importances_.sum(), 1)
    assert not hasattr(lc.LabelChainClassifier("ecc-nb").fit(X, Y), "feature_importances_")
    assert 0 < clf.out_of_bag_losses_["hamming"] < 0.5
