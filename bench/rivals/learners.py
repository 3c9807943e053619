"""The rivals in Python, as they come: settings are the defaults of each, unless a comment says otherwise.

    python learners.py WORK SET METHOD,... FOLD,...

Each fold of each method runs in a process of its own, forked when the data is read, so that it can be
stopped when its time is up. All of them use one thread.
"""

import os
import sys
import tempfile
import time
import warnings

for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"]:
    os.environ[name] = "1"

import csv
import io

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from cells import Claim, done, limit, outcome, paths, record, write

CHAINS = 10
# A link of a chain of forests has this many trees, so that ten chains have as many for a label as one
# forest has by default, 100, and cost about as much as a forest for each label.
TREES_OF_A_LINK = 10


class TwoClasses(ClassifierMixin, BaseEstimator):
    """A classifier of 0 and 1 that also learns from rows which are all 0 or all 1: it answers that."""

    def __init__(self, base):
        self.base = base

    def fit(self, inputs, label):
        self.classes_ = np.array([0, 1])
        self.always_ = label[0] if len(np.unique(label)) == 1 else None
        if self.always_ is None:
            self.model_ = clone(self.base).fit(inputs, label)
        return self

    def predict_proba(self, inputs):
        if self.always_ is not None:
            return np.tile([1.0 - self.always_, self.always_], (inputs.shape[0], 1))
        return self.model_.predict_proba(inputs)

    def predict(self, inputs):
        return (self.predict_proba(inputs)[:, 1] > 0.5).astype(int)


class Chains:
    """Ten chains in random orders; the mean of their probabilities above one half is relevant."""

    def __init__(self, base, scaled=False):
        self.base, self.scaled = base, scaled

    def fit(self, inputs, labels):
        # Linear models want inputs of one scale. What scikit-learn's manual says is done: inputs that are
        # mostly 0 are divided by their greatest value, others standardized.
        sparse = np.mean(inputs != 0) < 0.2
        self.scaler = (MaxAbsScaler() if sparse else StandardScaler()).fit(inputs) if self.scaled else None
        if self.scaler:
            inputs = self.scaler.transform(inputs)
        self.chains = [ClassifierChain(TwoClasses(self.base(seed)), order="random", random_state=seed).fit(inputs, labels)
                       for seed in range(CHAINS)]
        return self

    def predict(self, inputs):
        if self.scaler:
            inputs = self.scaler.transform(inputs)
        mean = np.mean([chain.predict_proba(inputs) for chain in self.chains], 0)
        return mean > 0.5, mean


class OneByOne:
    """scikit-learn's random forest for each label."""

    def fit(self, inputs, labels):
        self.model = MultiOutputClassifier(RandomForestClassifier(random_state=1)).fit(inputs, labels)
        return self

    def predict(self, inputs):
        return self.model.predict(inputs), None


class AllTogether:
    """scikit-learn's random forest for all labels together."""

    def fit(self, inputs, labels):
        self.model = RandomForestClassifier(random_state=1).fit(inputs, labels)
        return self

    def predict(self, inputs):
        return self.model.predict(inputs), None


class Boomer:
    """BOOMER's gradient boosted rules. Those for the subset loss are its authors': the logistic loss that
    does not decompose by label, rules about all labels, and the most probable known label set."""

    def __init__(self, **settings):
        self.settings = settings

    def fit(self, inputs, labels):
        from mlrl.boosting import BoomerClassifier
        # Its own switches for threads stay as they are: with all three off, version 0.12.3 corrupts its memory.
        # OMP_NUM_THREADS keeps it to one thread.
        self.model = BoomerClassifier(random_state=1, **self.settings).fit(inputs.astype(np.float32), labels.astype(np.uint8))
        return self

    def predict(self, inputs):
        said = self.model.predict(inputs.astype(np.float32))
        return (said.toarray() if hasattr(said, "toarray") else said), None


def boosted(seed):
    from xgboost import XGBClassifier
    return XGBClassifier(n_jobs=1, random_state=seed)


METHODS = {
    "sklearn-forest-per-label": OneByOne,
    "sklearn-forest": AllTogether,
    "sklearn-chains-logistic": lambda: Chains(lambda seed: LogisticRegression(max_iter=1000), scaled=True),
    "sklearn-chains-forest": lambda: Chains(lambda seed: RandomForestClassifier(TREES_OF_A_LINK, random_state=seed)),
    "xgboost-chains": lambda: Chains(boosted),
    "boomer": Boomer,
    "boomer-subset": lambda: Boomer(loss="logistic-non-decomposable", head_type="complete", binary_predictor="example-wise"),
}


def answers(names, said, probabilities):
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    if probabilities is None:
        table.writerow(names)
        table.writerows(np.asarray(said).astype(int).tolist())
    else:
        table.writerow(names + [name + ":probability" for name in names])
        table.writerows(one + [f"{p:.6g}" for p in of] for one, of in zip(np.asarray(said).astype(int).tolist(), probabilities))
    return text.getvalue()


def run(work, name, method, fold, inputs, labels, names, tested):
    """One fold in this process."""
    limit()
    train = np.setdiff1d(np.arange(len(inputs)), tested)
    learner = METHODS[method]()
    start = time.process_time()
    learner.fit(inputs[train], labels[train])
    trained = time.process_time()
    said, probabilities = learner.predict(inputs[tested])
    predicted = time.process_time()
    write(paths(work, name, method, fold)[0], answers(names, said, probabilities))
    record(work, name, method, fold, {"train": round(trained - start, 3), "predict": round(predicted - trained, 3)})


def forked(work, name, method, fold, *rest):
    """The same in a process of its own, and what became of it."""
    with tempfile.TemporaryFile("w+") as errors:
        child = os.fork()
        if child == 0:
            os.dup2(errors.fileno(), 2)
            status = 1
            try:
                run(work, name, method, fold, *rest)
                status = 0
            except BaseException as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            finally:
                os._exit(status)
        _, status, usage = os.wait4(child, 0)
        errors.seek(0)
        if status != 0:
            record(work, name, method, fold, outcome(status, usage, errors.read()))


def main(work, name, methods, folds):
    # Warnings of convergence are for who tunes a model, and nothing is tuned here.
    warnings.filterwarnings("ignore")
    place = os.path.join(work, name)
    with open(os.path.join(place, "labels.txt")) as lines:
        names = lines.read().split("\n")[:-1]
    sparse, sets = load_svmlight_file(os.path.join(place, "inputs.svm"), multilabel=True, zero_based=False)
    inputs = sparse.toarray()
    labels = np.zeros((len(inputs), len(names)), int)
    for row, relevant in enumerate(sets):
        labels[row, [int(label) for label in relevant]] = 1
    for fold in map(int, folds.split(",")):
        tested = np.sort(np.loadtxt(os.path.join(place, "folds", f"fold-{fold}.txt"), dtype=int))
        for method in methods.split(","):
            with Claim(work, name, method, fold) as free:
                if free and not done(work, name, method, fold):
                    forked(work, name, method, fold, inputs, labels, names, tested)


if __name__ == "__main__":
    main(*sys.argv[1:])
