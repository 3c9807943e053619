"""Writes made.arff and made.xml, and what scikit-learn's machines say: decisions.csv and chains.csv.

    pip install scikit-learn==1.9.1 numpy==2.4.6 liac-arff==2.5.0
    cd testdata/svm && python make.py DIRECTORY

DIRECTORY holds the paper's data sets. Of every set the first two thirds of the rows are for fitting;
the others are decided.

decisions.csv: for label 0 under each kernel, C and gamma, what `SVC(tol=1e-3).decision_function` says of
eight rows, spread evenly over those to be decided. The paper's sets are standardized (deviation with
divisor n - 1, nominal inputs not); made.arff is not.

chains.csv: what `ClassifierChain(SVC)` decides, row by row, all labels in label order.

Ours may differ from a decision value by 2e-3, twice the tolerance of both. Missing cells and nominal
inputs are treated here as WEKA's LIBSVM wrapper does, written anew from its rules.
"""

import gzip
import os
import random
import sys
import xml.etree.ElementTree as xml

import arff
import numpy
import sklearn
from sklearn.multioutput import ClassifierChain
from sklearn.svm import SVC

COSTS = [0.001, *range(1, 11)]
GAMMAS = [0.001, *range(1, 6)]


def make():
    draw = random.Random(1)
    attributes = [(name, "NUMERIC") for name in ("near", "far", "constant", "gone", "noise")]
    attributes += [("colour", ["r", "g", "b", "unused"]), ("answer", ["no", "yes"])]
    labels = ("even", "uneven", "rare", "either")
    rows = []
    for _ in range(120):
        a, b, c = (draw.random() < p for p in (0.5, 0.3, 0.1))
        inputs = [
            round(draw.gauss(1.5 if a else 0, 1), 3), round(draw.gauss(20 if b else 18, 2), 1), 7.5, None,
            round(draw.gauss(0, 1), 2), draw.choice("rg" if a else "gbb"), "yes" if (draw.random() < 0.8) == b else "no",
        ]
        share = [0.1, 0, 0.05, 0, 0.1, 0.15, 0.1]
        inputs = [None if draw.random() < p else cell for cell, p in zip(inputs, share)]
        rows.append(inputs + [str(int(x)) for x in (a, b, c, a or b)])
    # The same inputs with the opposite labels.
    rows[5][:7], rows[6][:7] = rows[4][:7], rows[4][:7]
    rows[5][7:], rows[6][7:] = list("0101"), list("1010")
    attributes += [(label, ["0", "1"]) for label in labels]
    with open("made.arff", "w") as file:
        arff.dump({"relation": "made", "attributes": attributes, "data": rows, "description": "Made by make.py."}, file)
    with open("made.xml", "w") as file:
        names = "".join(f'  <label name="{label}"/>\n' for label in labels)
        file.write(f'<labels xmlns="http://mulan.sourceforge.net/labels">\n{names}</labels>\n')


def read(path):
    """Inputs as numbers with nothing missing, and labels."""
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as file:
        table = arff.load(file)
    names = [name for name, _ in table["attributes"]]
    labels = [label.get("name") for label in xml.parse(path.split(".arff")[0] + ".xml").getroot()]
    fitting = len(table["data"]) * 2 // 3
    columns, numeric = [], []
    for at, (name, kind) in enumerate(table["attributes"]):
        cells = [row[at] for row in table["data"]]
        if name in labels:
            continue
        known = [cell for cell in cells[:fitting] if cell is not None]
        if isinstance(kind, list):
            usual = max(kind, key=lambda value: (known.count(value), -kind.index(value)))
            cells = [usual if cell is None else cell for cell in cells]
            indicators = kind if len(kind) > 2 else kind[1:] or kind
            columns += [[float(cell == value) for cell in cells] for value in indicators]
            numeric += [False for _ in indicators]
        else:
            usual = sum(known) / max(len(known), 1)
            columns.append([usual if cell is None else cell for cell in cells])
            numeric.append(True)
    inputs = numpy.array(columns, float).T
    truth = numpy.array([[int(float(row[names.index(label)])) for label in labels] for row in table["data"]])
    return inputs, numpy.array(numeric), truth, fitting


def standardize(inputs, numeric, fitting):
    known = inputs[:fitting]
    deviation = known.std(axis=0, ddof=1)
    scale = numpy.where(numeric & (known.min(axis=0) < known.max(axis=0)), deviation, 1)
    return (inputs - numpy.where(numeric, known.mean(axis=0), 0)) / scale


def decisions(name, inputs, truth, fitting):
    fit, rest = inputs[:fitting], inputs[fitting:]
    chosen = [at * len(rest) // 8 for at in range(8)]
    points = [("rbf", cost, gamma) for cost in COSTS for gamma in GAMMAS] + [("linear", cost, "auto") for cost in (0.001, 0.01)]
    for kernel, cost, gamma in points:
        machine = SVC(kernel=kernel, C=cost, gamma=gamma, tol=1e-3).fit(fit, truth[:fitting, 0])
        said = " ".join(f"{value:.6f}" for value in machine.decision_function(rest[chosen]))
        yield f"{name},{kernel},{cost},{gamma},{said}"


def chains(name, inputs, truth, fitting):
    n_labels = truth.shape[1]
    orders = [list(range(n_labels)), sorted(range(n_labels), key=lambda label: (label * 5 + 3) % 7)]
    for order in orders:
        for cost, gamma in [(1, "auto"), (10, 0.05)]:
            chain = ClassifierChain(SVC(C=cost, gamma=gamma, tol=1e-3), order=order)
            said = chain.fit(inputs[:fitting], truth[:fitting]).predict(inputs[fitting:])
            rows = " ".join("".join(str(int(label)) for label in row) for row in said)
            yield f"{name},{' '.join(map(str, order))},{cost},{gamma},{rows}"


def main(directory):
    make()
    by = f"# make.py, scikit-learn {sklearn.__version__}, numpy {numpy.__version__}"
    decided, chained = [f"{by}; tolerance 2e-3\nset,kernel,C,gamma,decisions\n"], [f"{by}\nset,order,C,gamma,answers\n"]
    for name in ["made", "emotions", "flags", "yeast"]:
        made = name == "made"
        inputs, numeric, truth, fitting = read("made.arff" if made else os.path.join(directory, name + ".arff.gz"))
        inputs = inputs if made else standardize(inputs, numeric, fitting)
        decided += [line + "\n" for line in decisions(name, inputs, truth, fitting)]
        if name != "yeast":
            chained += [line + "\n" for line in chains(name, inputs, truth, fitting)]
    for path, lines in {"decisions.csv": decided, "chains.csv": chained}.items():
        with open(path, "w") as file:
            file.writelines(lines)


if __name__ == "__main__":
    main(sys.argv[1])
