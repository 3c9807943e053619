"""Writes golden.json: small truths and answers with the losses others give them.

    pip install scikit-learn==1.9.1 numpy==2.4.6
    python testdata/losses/make.py > testdata/losses/golden.json

"zero", "one" and "skip" hold scikit-learn's own numbers: metrics, not losses, with null for nan
and for what it refuses. "paper" holds losses, computed here in fractions and from nothing but the
table in docs/conventions.md, and "vacuous" counts the cells whose own denominator is zero.
"""

import random
import sys
from fractions import Fraction
from pathlib import Path

import numpy
import sklearn
from sklearn import metrics

sys.path.insert(0, str(Path(__file__).parents[1]))
from golden import blank, drawn, write  # noqa: E402

VERSIONS = f"scikit-learn {sklearn.__version__}, numpy {numpy.__version__}"
TOLERANCE = 1e-12
RATES = ("fdr", "fnr", "f1")
SCORES = {
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1": metrics.f1_score,
}


def digits(row):
    return "".join(map(str, row))


def flipped(rng, table, share):
    return [[cell ^ int(rng.random() < share) for cell in row] for row in table]


def cases():
    rng = random.Random(1)
    even = drawn(rng, 12, [0.5] * 5)
    yield "random", even, drawn(rng, 12, [0.5] * 5)
    rare = drawn(rng, 15, [0.4, 0.15, 0.05, 0.05, 0.02, 0.02])
    yield "rare labels", rare, flipped(rng, rare, 0.08)
    truth = blank(drawn(rng, 10, [0.5] * 4), rows=(0, 1, 2))
    yield "empty rows", truth, blank(drawn(rng, 10, [0.5] * 4), rows=(0, 3))
    truth = blank(drawn(rng, 10, [0.5] * 5), labels=(0, 1))
    yield "empty labels", truth, blank(drawn(rng, 10, [0.5] * 5), labels=(0, 2))
    truth = blank(drawn(rng, 10, [0.5] * 4), rows=(4,), labels=(3,))
    yield "perfect", truth, truth
    yield "opposite", even, [[1 - cell for cell in row] for row in even]
    nothing = [[0] * 3 for _ in range(4)]
    some = drawn(rng, 4, [0.5] * 3)
    yield "nothing relevant, nothing said", nothing, nothing
    yield "nothing relevant", nothing, some
    yield "nothing said", some, nothing
    yield "everything said", some, [[1] * 3 for _ in range(4)]
    yield "one row", [[1, 0, 1, 0]], [[1, 1, 0, 0]]
    shares = [0.9 ** (label + 8) for label in range(130)]
    wide = drawn(rng, 12, shares)
    yield "130 labels", wide, flipped(rng, wide, 0.02)
    yield "one label", [[1], [1], [1], [0], [0], [0]], [[1], [0], [0], [0], [0], [0]]
    yield "one label, never relevant, never said", [[0], [0]], [[0], [0]]


def situation(tp, fp, fn):
    """FDR, FNR and F1 loss of one cell: the four rows of the table."""
    if tp + fp + fn == 0:
        return 0, 0, 0
    if tp + fp == 0 or tp + fn == 0:
        return 1, 1, 1
    precision, recall = Fraction(tp, tp + fp), Fraction(tp, tp + fn)
    return 1 - precision, 1 - recall, 1 - Fraction(2 * tp, 2 * tp + fp + fn)


def plain(truth, answer):
    """The eleven losses under the paper's rule, and the vacuous cells of the last nine."""
    pairs = [list(zip(*rows)) for rows in zip(truth, answer)]
    cells = sum(pairs, [])
    groups = {"ex": pairs, "macro": list(zip(*pairs)), "micro": [cells]}
    losses = {
        "hamming": Fraction(sum(t != a for t, a in cells), len(cells)),
        "zero_one": Fraction(sum(t != a for t, a in zip(truth, answer)), len(truth)),
    }
    vacuous = {}
    for averaging, members in groups.items():
        counts = [[member.count(cell) for cell in ((1, 1), (0, 1), (1, 0))] for member in members]
        each = [situation(*count) for count in counts]
        empty = [(tp + fp == 0, tp + fn == 0, tp + fp + fn == 0) for tp, fp, fn in counts]
        for at, rate in enumerate(RATES):
            losses[f"{averaging}_{rate}"] = Fraction(sum(loss[at] for loss in each), len(each))
            vacuous[f"{averaging}_{rate}"] = sum(flags[at] for flags in empty)
    return {name: float(loss) for name, loss in losses.items()}, vacuous


def number(compute):
    """A metric, or null where it is nan or refused."""
    try:
        value = float(compute())
    except ValueError:
        return None
    return None if numpy.isnan(value) else value


def scored(truth, answer, zero_division):
    return {
        f"{average}_{name}": number(
            lambda: score(truth, answer, average=average, zero_division=zero_division)
        )
        for average in ("samples", "macro", "micro")
        for name, score in SCORES.items()
    }


def case(name, truth, answer):
    t, a = numpy.array(truth), numpy.array(answer)
    losses, vacuous = plain(truth, answer)
    return {
        "name": name,
        "truth": [digits(row) for row in truth],
        "answer": [digits(row) for row in answer],
        "hamming": number(lambda: metrics.hamming_loss(t, a)),
        "zero_one": number(lambda: metrics.zero_one_loss(t, a)),
        "zero": scored(t, a, 0),
        "one": scored(t, a, 1),
        "skip": scored(t, a, numpy.nan),
        "paper": losses,
        "vacuous": vacuous,
    }


def main():
    # A table without rows or without labels is refused, so there is no number to record.
    for shape in ((0, 3), (3, 0)):
        table = numpy.zeros(shape, dtype=int)
        assert number(lambda: metrics.hamming_loss(table, table)) is None, shape

    recorded = (case(*parts) for parts in cases())
    write("losses", "scikit-learn, and fractions for the paper's rule", VERSIONS, TOLERANCE, recorded)


if __name__ == "__main__":
    main()
