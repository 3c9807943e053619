"""Are probabilities true? Ours beside scikit-learn's calibrated logistic regression, in the same folds.

    python3 bench/calibration.py LABELCHAIN DIRECTORY SET …

LABELCHAIN is the program, DIRECTORY has the paper's data sets. Needs the package `labelchain` and scikit-learn.
For each set a line of docs/answers.md: Brier score and expected calibration error of all cells, ten folds. Labels
of at least 50 relevant training rows are calibrated by isotonic regression, others by Platt's sigmoid, in three
inner folds; a label with fewer relevant or irrelevant rows than folds gets its frequency.
"""

import argparse
import csv
import json
import os
import subprocess
import tempfile
import warnings

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import labelchain as lc

OURS = {"ecc-nb": [], "ecc-knn": ["--neighbours", "5"], "certain-forest": []}
N_FOLDS, N_INNER, ENOUGH = 10, 3, 50


def evaluated(program, path, method, settings):
    """Brier score and calibration error of a method, and the fold of each row."""
    with tempfile.TemporaryDirectory() as scratch:
        answers = os.path.join(scratch, "answers.csv")
        command = [program, "evaluate", path, "-m", method, *settings, "--folds", str(N_FOLDS), "--predictions", answers, "--json"]
        said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        with open(answers, newline="") as lines:
            folds = {int(row["row"]): int(row["fold"]) for row in csv.DictReader(lines)}
    return said["results"][0]["calibration"], np.array([folds[row] for row in sorted(folds)])


def by_logistic_regression(X, Y, folds):
    """Its probability of each cell, by a model of the other folds."""
    probabilities = np.empty(Y.shape)
    named = [column for column in X.columns if X[column].dtype.name == "category"]
    for fold in range(N_FOLDS):
        train, test = folds != fold, folds == fold
        scaled = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), named), remainder=StandardScaler())
        inputs = scaled.fit_transform(X[train]), scaled.transform(X[test])
        for label in range(Y.shape[1]):
            truth = Y[train, label]
            n = truth.sum()
            if min(n, len(truth) - n) < N_INNER:
                probabilities[test, label] = truth.mean()
                continue
            how = "isotonic" if n >= ENOUGH else "sigmoid"
            model = CalibratedClassifierCV(LogisticRegression(max_iter=1000), method=how, cv=N_INNER)
            probabilities[test, label] = model.fit(inputs[0], truth).predict_proba(inputs[1])[:, 1]
    return probabilities


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("directory")
    arguments.add_argument("sets", nargs="+")
    given = arguments.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("| set | " + " | ".join([*OURS, "logistic regression"]) + " |\n" + "|---" * (len(OURS) + 2) + "|")
    shown = lambda of: f"{of['brier']:.4f} {of['ece']:.3f}"
    for name in given.sets:
        path = os.path.join(given.directory, name + ".arff.gz")
        X, Y = lc.read(path).to_pandas()
        Y = Y.to_numpy()
        cells = []
        for method, settings in OURS.items():
            measures, folds = evaluated(given.program, path, method, settings)
            cells.append(shown(measures))
        probabilities = by_logistic_regression(X, Y, folds)
        cells.append(shown(lc.losses(Y, (probabilities > 0.5).astype(int), probabilities)))
        print("| " + " | ".join([name, *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
