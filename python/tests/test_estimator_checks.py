"""What scikit-learn checks of every estimator."""

from __future__ import annotations

import inspect
import warnings

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


def failures(estimator: LabelChainClassifier) -> dict[str, str]:
    if "on_fail" not in inspect.signature(estimator_checks.check_estimator).parameters:
        pytest.skip("this scikit-learn stops at the first failed check")
    with warnings.catch_warnings():
        # The checks give what they warn about, such as names that are missing.
        warnings.simplefilter("ignore")
        checks = estimator_checks.check_estimator(estimator, on_fail=None, on_skip=None)
    assert len(checks) > 50
    return {of["check_name"]: repr(of["exception"]) for of in checks if of["status"] == "failed"}


@pytest.mark.parametrize("method", METHODS)
def test_checks_of_methods_that_vote(method: str) -> None:
    failed = failures(LabelChainClassifier(method, **METHODS[method]))
    assert failed.keys() <= EXPECTED.keys(), failed


@pytest.mark.parametrize("method", METHODS)
def test_checks_of_methods_that_answer_by_probabilities(method: str) -> None:
    failed = failures(LabelChainClassifier(method, aim="hamming", **METHODS[method]))
    assert failed.keys() <= {"check_classifier_multioutput"}, failed
