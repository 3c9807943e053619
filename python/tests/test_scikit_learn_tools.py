"""Tools of scikit-learn around the estimator."""

from __future__ import annotations

import multiprocessing
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import labelchain as lc


def test_a_clone_has_the_same_parameters_and_knows_nothing(numbers):
    X, Y = numbers
    clf = lc.LabelChainClassifier("ecc-nb", members=7, max_imbalance=None, random_state=3).fit(X, Y)
    copy = clone(clf)
    assert copy.get_params() == clf.get_params()
    assert not hasattr(copy, "classes_")


def test_pipelines_scale_and_encode(numbers):
    X, Y = numbers
    frame = pd.DataFrame(X, columns=list("abcd")).assign(key=np.where(X[:, 0] > 0, "major", "minor"))
    encode = ColumnTransformer(
        [("numbers", StandardScaler(), list("abcd")), ("names", OneHotEncoder(), ["key"])]
    )
    pipeline = make_pipeline(encode, lc.LabelChainClassifier("ecc-nb", members=3))
    pipeline.fit(frame, Y)
    assert pipeline.score(frame, Y) > 0.4
    assert pipeline.predict_proba(frame).shape == Y.shape


def test_a_grid_is_searched_over_methods_and_settings(numbers):
    X, Y = numbers
    search = GridSearchCV(
        lc.LabelChainClassifier("ecc-nb"), {"members": [1, 5], "method": ["ecc-nb", "br-nb"]}, cv=2
    )
    search.fit(X, Y)
    assert search.best_params_["members"] in (1, 5)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_scores_and_probabilities_are_cross_validated(numbers):
    X, Y = numbers
    clf = lc.LabelChainClassifier("ecc-nb", members=3)
    assert cross_val_score(clf, X, Y, cv=3, scoring="f1_macro").min() > 0.5
    assert cross_val_predict(clf, X, Y, cv=3, method="predict_proba").shape == Y.shape


def test_processes_of_joblib_answer_as_this_one_does(numbers):
    X, Y = numbers
    clf = lc.LabelChainClassifier("ecc-nb", members=3).fit(X, Y)
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(clf.predict)(part) for part in (X[:40], X[40:]))
    assert np.array_equal(np.vstack(parts), clf.predict(X))


@pytest.mark.skipif(sys.platform != "linux", reason="fork is what Linux does")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(numbers):
    X, Y = numbers
    clf = lc.LabelChainClassifier("ecc-nb", members=3).fit(X, Y)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        answer = pool.apply_async(clf.predict, (X,)).get(timeout=60)
    assert np.array_equal(answer, clf.predict(X))


def test_thresholds_of_a_single_label_are_tuned(numbers):
    model_selection = pytest.importorskip("sklearn.model_selection")
    X, Y = numbers
    tuned = model_selection.TunedThresholdClassifierCV(
        lc.LabelChainClassifier("ecc-nb", members=3), scoring="f1", cv=3
    )
    assert tuned.fit(X, Y[:, 0]).score(X, Y[:, 0]) > 0.7


def test_known_labels_are_routed_through_a_pipeline(numbers):
    X, Y = numbers
    with sklearn.config_context(enable_metadata_routing=True):
        clf = lc.LabelChainClassifier("ecc-nb", members=3).set_predict_request(known=True)
        pipeline = make_pipeline(StandardScaler(), clf).fit(X, Y)
        answers = pipeline.predict(X, known={"y0": 1})
    assert (answers[:, 0] == 1).all()
    assert not np.array_equal(answers, pipeline.predict(X))


def test_known_labels_are_routed_to_whoever_asks_for_them(numbers):
    X, Y = numbers
    with sklearn.config_context(enable_metadata_routing=True):
        clf = lc.LabelChainClassifier("ecc-nb", members=3).set_predict_request(known=True)
        clf.set_predict_proba_request(known=True)
        search = GridSearchCV(clf, {"members": [2, 3]}, cv=2).fit(X, Y)
        assert (search.best_estimator_.predict(X, known={"y1": 0})[:, 1] == 0).all()
        pipeline = make_pipeline(StandardScaler(), clf).fit(X, Y)
        assert (pipeline.predict_proba(X, known={"y1": 0})[:, 1] == 0).all()


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_frames_of_transformers_are_learned_from(numbers, container):
    X, Y = numbers
    scaler = StandardScaler().set_output(transform=container)
    pipeline = make_pipeline(scaler, lc.LabelChainClassifier("ecc-nb", members=3)).fit(X, Y)
    assert pipeline[-1].feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]
    plain = make_pipeline(StandardScaler(), lc.LabelChainClassifier("ecc-nb", members=3)).fit(X, Y)
    np.testing.assert_array_equal(pipeline.predict(X), plain.predict(X))


def test_several_searches_run_in_processes(numbers):
    X, Y = numbers
    frame, labels = pd.DataFrame(X, columns=list("abcd")), pd.DataFrame(Y, columns=["p", "q", "r"])
    grid = {"members": [1, 3]}
    searches = [GridSearchCV(lc.LabelChainClassifier("ecc-nb"), grid, cv=2, n_jobs=jobs).fit(frame, labels) for jobs in (1, 2)]
    scores = [search.cv_results_["mean_test_score"].tolist() for search in searches]
    assert scores[0] == scores[1]
    pd.testing.assert_frame_equal(searches[0].predict(frame), searches[1].predict(frame))


def test_parameters_of_a_pipeline_are_set(numbers):
    pipeline = make_pipeline(StandardScaler(), lc.LabelChainClassifier())
    pipeline.set_params(labelchainclassifier__trees=7)
    assert pipeline[-1].trees == 7
