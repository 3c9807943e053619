"""Folds, evaluation and comparison."""

from __future__ import annotations

import html
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.model_selection import KFold, cross_val_score
from sklearn.multioutput import ClassifierChain
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import labelchain as lc


def test_folds_hold_each_row_once_and_spread_labels(numbers):
    X, Y = numbers
    folds = list(lc.IterativeStratifiedKFold(n_splits=4).split(X, Y))
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(X)))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(len(X)))
        assert (abs(Y[test].sum(axis=0) - Y.sum(axis=0) / 4) <= 2).all()


def test_folds_are_those_of_the_program(program, numbers, tmp_path):
    X, Y = numbers
    path = tmp_path / "d.csv"
    pd.concat([pd.DataFrame(X).add_prefix("x"), pd.DataFrame(Y).add_prefix("y")], axis=1).to_csv(path, index=False)
    for order, name in ((1, "iterative"), (2, "pairs")):
        out = tmp_path / name
        program("split", path, "--labels-last", 3, "--stratify", name, "--folds", 5, "--seed", 9, "-o", out)
        ours = lc.IterativeStratifiedKFold(5, order=order, random_state=9).split(X, Y)
        theirs = sorted(out.glob("fold-*.txt"))
        assert len(theirs) == 5
        for (_, test), file in zip(ours, theirs):
            assert test.tolist() == [int(line) for line in file.read_text().split() if line.isdigit()]


def test_groups_stay_together(numbers):
    X, Y = numbers
    groups = np.repeat([f"album {n}" for n in range(20)], 4)
    for cv, given in (
        (lc.IterativeStratifiedKFold(4, groups=groups), None),
        (lc.IterativeStratifiedKFold(4), groups),
    ):
        for train, test in cv.split(X, Y, given):
            assert not set(groups[train]) & set(groups[test])


def test_a_splitter_serves_scikit_learn(numbers):
    X, Y = numbers
    cv = lc.IterativeStratifiedKFold(3, order=2)
    assert cv.get_n_splits() == 3 and "n_splits=3" in repr(cv)
    assert len(cross_val_score(lc.LabelChainClassifier("ecc-nb"), X, Y, cv=cv)) == 3


@pytest.mark.parametrize("settings", [{"n_splits": 1}, {"n_splits": 2.5}, {"order": 3}, {"n_splits": 10**9}])
def test_folds_that_cannot_be_are_refused(numbers, settings):
    X, Y = numbers
    with pytest.raises(ValueError):
        list(lc.IterativeStratifiedKFold(**settings).split(X, Y))


@pytest.fixture(scope="module")
def frame():
    from sklearn.datasets import make_multilabel_classification

    parts = []
    for seed in range(6):
        X, Y = make_multilabel_classification(n_samples=60, n_features=6, n_classes=3, random_state=seed)
        estimators = {
            "ours": "ecc-nb",
            "chain": ClassifierChain(GaussianNB()),
            "regression": ClassifierChain(LogisticRegression()),
        }
        parts.append(lc.evaluate(estimators, X, Y, cv=2, dataset=f"set {seed}"))
    return pd.concat(parts)


def test_estimators_are_measured_on_the_same_folds(numbers):
    X, Y = numbers
    cv = KFold(3)
    clf = lc.LabelChainClassifier("ecc-nb", members=3)
    found = lc.evaluate([clf, "br-nb@macro-f1"], X, Y, cv=cv)
    assert found.columns.tolist() == ["dataset", "method", "criterion", "fold", "loss", "seconds"]
    assert found["method"].unique().tolist() == ["ecc-nb", "br-nb@macro-f1"]
    ours = found[(found.method == "ecc-nb") & (found.criterion == "zero_one")]
    np.testing.assert_allclose(1 - ours.loss, cross_val_score(clf, X, Y, cv=cv))


def test_ranks_and_tests_are_those_of_scipy(frame):
    comparison = lc.compare(frame)
    assert comparison.methods == ["ours", "chain", "regression"] and len(comparison.criteria) == 11
    means = frame.groupby(["criterion", "dataset", "method"]).loss.mean().unstack()[comparison.methods]
    for criterion, of in means.groupby(level=0):
        ranks = stats.rankdata(of.to_numpy().round(12), axis=1).mean(axis=0)
        np.testing.assert_allclose(comparison.mean_ranks.loc[criterion], ranks)
    # Without ties, so that SciPy's test is exact, too.
    losses = np.random.default_rng(0).random((12, 3)) + [0, 0.1, 0.5]
    rows = [{"dataset": str(at), **dict(zip("abc", row))} for at, row in enumerate(losses)]
    comparison = lc.compare(rows)
    expected = np.array([stats.wilcoxon(losses[:, i], losses[:, j]).pvalue for i, j in ((0, 1), (0, 2), (1, 2))])
    assert comparison.pairs[["a", "b"]].to_numpy().tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
    # Holm: the least p-value counts threefold, the next twice, and none less than the one before.
    order = np.argsort(expected)
    holm = np.empty(3)
    holm[order] = np.minimum(np.maximum.accumulate(expected[order] * [3, 2, 1]), 1)
    np.testing.assert_allclose(comparison.pairs["p"], holm)


def test_frames_of_all_libraries_and_files_are_the_same_results(frame, tmp_path):
    expected = lc.compare(frame).to_csv()
    path = tmp_path / "results.csv"
    frame.to_csv(path, index=False)
    for same in (pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.to_dict("records"), path):
        assert lc.compare(same).to_csv() == expected


def test_a_comparison_is_tables_figures_and_a_report(frame, tmp_path):
    comparison = lc.compare(frame, control="ours", title="Three chains")
    assert comparison.critical_difference("macro_f1").startswith("<svg")
    assert all(svg.startswith("<svg") for svg in comparison.figures.values())
    assert all(isinstance(table, pd.DataFrame) and len(table) for table in comparison.tables.values())
    assert comparison.verdict in html.unescape(comparison._repr_html_())
    assert comparison.verdict in repr(comparison)
    assert "\\begin{tabular}" in comparison.to_latex()
    assert comparison.to_markdown().startswith("# Three chains")
    for ending in ("html", "md", "tex", "csv"):
        comparison.save(tmp_path / f"report.{ending}")
        assert (tmp_path / f"report.{ending}").stat().st_size > 500
    with pytest.raises(lc.RequestError, match="html, md, tex or csv"):
        comparison.save(tmp_path / "report.docx")


def test_results_that_cannot_be_compared_are_refused(frame):
    with pytest.raises(ValueError, match="did you mean|Did you mean"):
        lc.compare(frame, control="our")
    with pytest.raises(lc.DataError, match='gaps="drop-sets"'):
        lc.compare(frame[(frame.method != "ours") | (frame.dataset != "set 0")])
    with pytest.raises(lc.LabelChainError):
        lc.compare([])


def test_the_program_compares_alike(program, frame, tmp_path):
    path = tmp_path / "results.csv"
    frame.to_csv(path, index=False)
    theirs = json.loads(program("compare", path, "--alpha", "0.1", "--json"))
    assert lc.compare(frame).verdict == theirs["verdict"]
