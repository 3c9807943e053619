"""Losses and further measures, beside those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import metrics

import labelchain as lc


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(3)
    Y = (rng.random((50, 6)) < [0.5, 0.3, 0.2, 0.1, 0.05, 0.6]).astype(int)
    P = np.where(rng.random(Y.shape) < 0.25, 1 - Y, Y)
    P[:5], Y[:3] = 0, 0
    probabilities = np.clip(0.6 * P + 0.4 * rng.random(Y.shape), 0, 1)
    return Y, P, probabilities


@pytest.mark.parametrize(("undefined", "zero_division"), [("zero", 0.0), ("one", 1.0)])
def test_the_eleven_losses_are_those_of_scikit_learn(answers, undefined, zero_division):
    Y, P, _ = answers
    found = lc.losses(Y, P, undefined=undefined)
    expected = {"hamming": metrics.hamming_loss(Y, P), "zero_one": metrics.zero_one_loss(Y, P)}
    rates = {"fdr": metrics.precision_score, "fnr": metrics.recall_score, "f1": metrics.f1_score}
    for prefix, average in (("ex", "samples"), ("macro", "macro"), ("micro", "micro")):
        for rate, score in rates.items():
            value = score(Y, P, average=average, zero_division=zero_division)
            expected[f"{prefix}_{rate}"] = 1 - value
    assert list(found) == list(expected)
    np.testing.assert_allclose(list(found.values()), list(expected.values()), atol=1e-12)


def test_rankings_are_measured_as_by_scikit_learn(answers):
    Y, P, probabilities = answers
    found = lc.losses(Y, P, probabilities)
    # Of rows without a relevant label there is nothing to rank, and each tool has its own rule.
    ranked = Y.any(axis=1) & ~Y.all(axis=1)
    of_ranked = lc.losses(Y[ranked], P[ranked], probabilities[ranked])
    expected = metrics.label_ranking_loss(Y[ranked], probabilities[ranked])
    np.testing.assert_allclose(of_ranked["ranking_loss"], expected)
    expected = metrics.label_ranking_average_precision_score(Y[ranked], probabilities[ranked])
    np.testing.assert_allclose(of_ranked["lrap"], expected)
    for name, average in (("auc_macro", "macro"), ("auc_micro", "micro")):
        np.testing.assert_allclose(found[name], metrics.roc_auc_score(Y, probabilities, average=average))
    np.testing.assert_allclose(found["brier"], ((probabilities - Y) ** 2).mean())


def test_each_label_alone_is_measured_as_by_scikit_learn(answers):
    Y, P, probabilities = answers
    names = [f"label {at}" for at in range(6)]
    found = lc.label_measures(pd.DataFrame(Y, columns=names), P, probabilities, undefined="zero")
    precision, recall, f1, support = metrics.precision_recall_fscore_support(Y, P, zero_division=0)
    frame = pd.DataFrame(found).T
    assert frame.index.tolist() == names
    np.testing.assert_allclose(frame[["precision", "recall", "f1", "support"]].T, [precision, recall, f1, support])
    np.testing.assert_allclose(frame["auc"], metrics.roc_auc_score(Y, probabilities, average=None))


def test_containers_and_unknown_truth(answers):
    Y, P, _ = answers
    expected = lc.losses(Y, P)
    assert lc.losses(sparse.csr_matrix(Y), pd.DataFrame(P)) == expected
    unknown = Y.astype(float)
    unknown[:, 0] = np.nan
    assert lc.losses(unknown, P)["hamming"] == metrics.hamming_loss(Y[:, 1:], P[:, 1:])


def test_what_cannot_be_compared_is_refused(answers):
    Y, P, probabilities = answers
    with pytest.raises(lc.DataError, match="rows of the answer"):
        lc.losses(Y, P[1:])
    with pytest.raises(lc.RequestError, match="paper, zero, one or skip"):
        lc.losses(Y, P, undefined="never")
    with pytest.raises(lc.LabelChainError, match="a number from 0 to 1"):
        lc.losses(Y, P, probabilities + 1)
