"""A classifier learns from further rows, with labels and values that it did not have, or says why not."""

import numpy as np
import pandas as pd
import pytest

import labelchain as lc

ALL_ROWS = {"sample": 1, "fit_share": 1, "select": "none", "max_imbalance": None, "members": 2, "updatable": True}


@pytest.fixture
def tickets():
    rng = np.random.default_rng(3)
    n = 200
    urgent = np.arange(n) >= 120
    kind = np.where(urgent & (rng.random(n) < 0.5), "chat", rng.choice(["mail", "phone"], n))
    frame = pd.DataFrame({"minutes": rng.normal(size=n) + 2 * (kind == "chat"), "kind": kind})
    labels = pd.DataFrame(
        {
            "bill": (frame["minutes"] > 0).astype(int),
            "login": (rng.random(n) < 0.3).astype(int),
            "urgent": (kind == "chat").astype(int),
        }
    )
    return frame, labels


def test_new_labels_and_values_make_the_model_of_all_rows(tickets):
    frame, labels = tickets
    first, rest = slice(0, 120), slice(120, None)
    clf = lc.LabelChainClassifier("certain-nb", **ALL_ROWS).fit(frame[first], labels[first][["bill", "login"]])
    with pytest.raises(lc.LabelChainError, match='new_labels="add"'):
        clf.update(frame[rest], labels[rest])
    with pytest.warns(lc.DataWarning) as told:
        clf.update(frame[rest], labels[rest], new_labels="add", new_values="add")
    assert [word for word in ("urgent", "chat") if any(word in str(note.message) for note in told)] == ["urgent", "chat"]
    assert clf.label_names_ == ["bill", "login", "urgent"]
    at_once = lc.LabelChainClassifier("certain-nb", **ALL_ROWS).fit(frame, labels)
    assert clf.predict(frame).equals(at_once.predict(frame))


def test_a_forest_learns_a_new_label(tickets):
    frame, labels = tickets
    clf = lc.LabelChainClassifier("certain-forest", trees=20).fit(frame[:120], labels[:120][["bill", "login"]])
    with pytest.warns(lc.DataWarning):
        clf.update(frame[120:], labels[120:], new_labels="add", new_values="add", max_trees=30)
    urgent = clf.predict_proba(frame[120:])[:, 2]
    is_urgent = labels["urgent"][120:] == 1
    assert urgent[is_urgent].mean() > 2 * urgent[~is_urgent].mean()


def test_values_of_labels_mean_what_they_meant_in_training(tickets):
    frame, labels = tickets
    labels = labels[["bill", "login"]]
    updated = []
    for shift in (0, 1):
        clf = lc.LabelChainClassifier("certain-nb", **ALL_ROWS).fit(frame[:120], labels[:120] + shift)
        # Rows to which no label is relevant hold only one of the two values.
        clf.update(frame[:20], labels[:20] * 0 + shift)
        updated.append(clf.predict(frame[:120]) - shift)
    assert updated[0].equals(updated[1])


def test_what_cannot_be_updated_says_so(tickets):
    frame, labels = tickets
    clf = lc.LabelChainClassifier("ecc-knn", members=2).fit(frame, labels)
    with pytest.raises(lc.LabelChainError, match="cannot be updated"):
        clf.update(frame, labels)
    with pytest.raises(ValueError, match="needs the labels"):
        clf.update(frame)
    with pytest.raises(lc.LabelChainError, match="refuse, ignore or add"):
        clf.update(frame, labels, new_labels="addd")
