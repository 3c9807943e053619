"""Support vector machines: a grid of C and gamma by cross-validation, and a single fit, scikit-learn's and
ours. Called by bench/run.

scikit-learn is told the same rows, standardized alike, the same folds and the same points. All labels would
take it a quarter of an hour, so it searches for a few, and the time for all is in proportion.
"""

import json
import os
import sys
import tempfile

from measure import benches, made, python, run, unpack, write

ROUNDS = 3
ROWS, COLUMNS = 2000, 100
OTHERS = [5, 10]

GRID = """
import json, sys, time
import arff, numpy
import xml.etree.ElementTree as xml
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.svm import SVC
path, label = sys.argv[1], int(sys.argv[2])
with open(path) as file:
    loaded = arff.load(file)
table = numpy.array(loaded["data"], float)
# Labels count in the order of their list, which is not that of the columns.
labels = [one.get("name") for one in xml.parse(path.replace(".arff", ".xml")).getroot()]
column = [name for name, _ in loaded["attributes"]].index(labels[label])
x, y = table[:, :-len(labels)], table[:, column].astype(int)
x = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
fold = numpy.arange(len(x)) % 3
grid = {"C": [0.001, *range(1, 11)], "gamma": [0.001, *range(1, 6)]}
start = time.process_time()
search = GridSearchCV(SVC(tol=1e-3), grid, cv=PredefinedSplit(fold)).fit(x, y)
seconds = time.process_time() - start
wrong = sum((1 - search.cv_results_[f"split{at}_test_score"]) * (fold == at).sum() for at in range(3))
point = [float(search.best_params_[name]) for name in ("C", "gamma")]
print(json.dumps({"seconds": seconds, "point": point, "errors": [round(n) for n in wrong]}))
"""

FIT = """
import json, sys, time
import numpy
from sklearn.svm import SVC
rows, columns = map(int, sys.argv[1:])
x = numpy.arange(1.0, rows + 1)[:, None] * numpy.arange(1.0, columns + 1) ** 2 * numpy.sqrt(2.0) % 1
y = 2 * x[:, 0] > x[:, 1] + x[:, 2]
seconds = []
for _ in range(5):
    start = time.process_time()
    machine = SVC(gamma="auto", tol=1e-3).fit(x, y)
    seconds.append(time.process_time() - start)
print(json.dumps({"seconds": sorted(seconds)[2], "sum": machine.decision_function(x).sum()}))
"""


def printed(command):
    return json.loads(run(command)["out"].strip().splitlines()[-1])


def median(runs):
    return sorted(one["seconds"] for one in runs)[len(runs) // 2]


def main(data):
    os.environ["RAYON_NUM_THREADS"] = "1"
    bench = benches()["svm"]
    python_with = lambda program, *arguments: [sys.executable, "-c", program, *map(str, arguments)]
    head = made(ROUNDS, python("numpy", "scikit-learn"))
    with tempfile.TemporaryDirectory() as directory:
        path = unpack(data, "yeast", directory)
        ours, all_ours, theirs, fits, rival_fits = [], [], [], [], []
        for at in range(ROUNDS):
            ours.append(printed([bench, path, "1"]))
            all_ours.append(printed([bench, path]))
            theirs.append(printed(python_with(GRID, path, 0)))
            fits.append(printed([bench, str(ROWS), str(COLUMNS)]))
            rival_fits.append(printed(python_with(FIT, ROWS, COLUMNS)))
            print(f"round {at + 1} of {ROUNDS}", file=sys.stderr)
        others = [printed(python_with(GRID, path, label)) for label in OTHERS]
    n_labels = len(all_ours[0]["points"])
    searched = dict(zip([0, *OTHERS], [theirs[0], *others]))
    same = sum(one["point"] == all_ours[0]["points"][label] for label, one in searched.items())
    pairs = [pair for label, one in searched.items() for pair in zip(one["errors"], all_ours[0]["errors"][label])]
    differing = [abs(a - b) for a, b in pairs if a != b]
    one, every, fit = median(ours), median(all_ours), median(fits)
    rival_one, rival_fit = median(theirs), median(rival_fits)
    rival_every = (rival_one + sum(other["seconds"] for other in others)) / len(searched) * n_labels
    named = ", ".join(map(str, searched))
    write("Support vector machines", [
        head, "",
        f"The grid of the paper, 11 values of C by 6 of γ, by three folds, and a fit on all rows at the point of fewest errors: `GridSearchCV(SVC)` label by label, and ours from one table of distances. Standardized rows, one thread; CPU without start and reading. scikit-learn's time for all labels is in proportion to its mean over {len(searched)} of them ({named}). The fit is of {ROWS} x {COLUMNS} rows in [0, 1), C = 1, γ = 1/{COLUMNS}; ours has the distances in its time.", "",
        "| what | who | CPU s | ratio |", "|---|---|---|---|",
        f"| grid, one label of yeast | labelchain | {one:.2f} | 1 |",
        f"| grid, one label of yeast | scikit-learn | {rival_one:.1f} | {rival_one / one:.0f} |",
        f"| grid, all {n_labels} labels of yeast | labelchain | {every:.2f} | 1 |",
        f"| grid, all {n_labels} labels of yeast | scikit-learn | {rival_every:.0f}, in proportion | {rival_every / every:.0f} |",
        f"| a fit, {ROWS} x {COLUMNS} | labelchain | {fit:.3f} | 1 |",
        f"| a fit, {ROWS} x {COLUMNS} | scikit-learn | {rival_fit:.3f} | {rival_fit / fit:.1f} |", "",
        f"The same point is chosen for {same} of the {len(searched)} searched by both. Of the {len(pairs)} counts of errors behind the choices {len(differing)} differ, by {max(differing, default=0)} rows at most: machines that start from the one before end elsewhere within the tolerance. The decision values of the fit add up to {fits[0]['sum']:.2f}, scikit-learn's to {rival_fits[0]['sum']:.2f}.",
    ])


if __name__ == "__main__":
    main(sys.argv[1])
