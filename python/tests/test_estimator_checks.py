"""What scikit-learn checks of every estimator."""

from __future__ import annotations

import unittest
import warnings
from collections.abc import Callable, Iterator

import pytest
from sklearn.utils import estimator_checks

from labelchain import LabelChainClassifier

#: Checks that fail, and why. Nothing else may fail.
EXPECTED = {
    "check_classifier_multioutput": (
        "classes_ has a row for each label, as ClassifierChain has an array for each, where the check expects "
        "one array for all labels"
    ),
    "check_classifiers_train": (
        "by default members vote, and decision_function has the log-odds of calibrated probabilities: they can "
        "disagree near 0. With aim='hamming' they never do, and the check passes"
    ),
}

#: Methods of all bases, small enough for some sixty checks each.
METHODS = {
    "ecc-nb": {"members": 3},
    "ecc-knn": {"members": 3},
    "certain-forest": {"trees": 5},
    "ecc-j48": {"members": 3},
    "ecc-svm": {"members": 3},
}


def all_checks(estimator: LabelChainClassifier) -> Iterator[tuple[LabelChainClassifier, Callable[..., None]]]:
    """What ``check_estimator`` checks, one by one, so that all run though some fail."""
    if hasattr(estimator_checks, "estimator_checks_generator"):
        return estimator_checks.estimator_checks_generator(estimator)
    # Before scikit-learn 1.6.
    return estimator_checks.check_estimator(estimator, generate_only=True)


def failures(estimator: LabelChainClassifier) -> dict[str, str]:
    """The checks that fail, each with its exception."""
    failed, n_checks = {}, 0
    with warnings.catch_warnings():
        # The checks give what they warn about, such as names that are missing.
        warnings.simplefilter("ignore")
        for of, check in all_checks(estimator):
            n_checks += 1
            try:
                check(of)
            except unittest.SkipTest:
                pass
            except Exception as error:
                failed[check.func.__name__] = repr(error)
    assert n_checks > 40
    return failed


@pytest.mark.parametrize("method", METHODS)
def test_checks_of_methods_that_vote(method: str) -> None:
    failed = failures(LabelChainClassifier(method, **METHODS[method]))
    assert failed.keys() <= EXPECTED.keys(), failed


@pytest.mark.parametrize("method", METHODS)
def test_checks_of_methods_that_answer_by_probabilities(method: str) -> None:
    failed = failures(LabelChainClassifier(method, aim="hamming", **METHODS[method]))
    assert failed.keys() <= {"check_classifier_multioutput"}, failed
