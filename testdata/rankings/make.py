"""Writes golden.json: small truths and probabilities with the measures others give them.

    pip install scikit-learn==1.9.1 numpy==2.4.6
    python testdata/rankings/make.py > testdata/rankings/golden.json

All numbers are scikit-learn's own, with null for nan and for what it refuses or only warns about,
but for two that it does not have: "one_error", from NumPy's argmax, which takes the first of
equals, and "ece", from the restatement below. Macro averages are given the labels for which they
are defined: with both classes for AUC, relevant to some row for average precision. "curve" is
calibration_curve's, with the size of each bin that holds cells. Answers are the cells above one
half.
"""

import random
import sys
import warnings
from pathlib import Path

import numpy
import sklearn
from sklearn import calibration, metrics

sys.path.insert(0, str(Path(__file__).parents[1]))
from golden import blank, drawn, write  # noqa: E402

VERSIONS = f"scikit-learn {sklearn.__version__}, numpy {numpy.__version__}"
TOLERANCE = 1e-12
N_BINS = 15


def guessed(rng, truth, levels=None):
    """Probabilities that lean towards the truth, on a grid of so many levels if given."""
    def guess(cell):
        value = 0.6 * rng.random() + 0.4 * cell * rng.random()
        return round(value * levels) / levels if levels else value

    return [[guess(cell) for cell in row] for row in truth]


def cases():
    rng = random.Random(1)
    even = drawn(rng, 20, [0.5] * 5)
    yield "no ties", even, guessed(rng, even)
    yield "shares of 20 votes", even, guessed(rng, even, 20)
    yield "three levels", even, guessed(rng, even, 2)
    yield "all equal", even, [[0.5] * 5 for _ in even]
    rare = drawn(rng, 40, [0.4, 0.15, 0.05, 0.05, 0.02, 0.02])
    yield "rare labels", rare, guessed(rng, rare, 20)
    empty = blank(even, rows=(0, 3, 4))
    yield "rows without relevant labels", empty, guessed(rng, empty, 10)
    full = blank(even, rows=(0, 3, 4), cell=1)
    yield "rows of relevant labels only", full, guessed(rng, full, 10)
    never = blank(even, labels=(1, 3))
    yield "labels that are never relevant", never, guessed(rng, never, 10)
    always = blank(even, labels=(0,), cell=1)
    yield "a label that is always relevant", always, guessed(rng, always, 10)
    yield "perfect", even, even
    yield "opposite", even, [[1 - cell for cell in row] for row in even]
    nothing = [[0] * 3 for _ in range(4)]
    yield "nothing relevant", nothing, guessed(rng, nothing, 10)
    everything = [[1] * 3 for _ in range(4)]
    yield "everything relevant", everything, guessed(rng, everything, 10)
    yield "ends of bins", even, [
        [(5 * row + label) % (N_BINS + 1) / N_BINS for label in range(5)] for row in range(20)
    ]
    yield "one row", [[1, 0, 1, 0]], [[0.7, 0.7, 0.2, 0.1]]
    yield "one row without relevant labels", [[0, 0, 0]], [[0.7, 0.7, 0.2]]
    wide = drawn(rng, 12, [0.9 ** (label + 8) for label in range(130)])
    yield "130 labels", wide, guessed(rng, wide, 50)
    yield "one label", [[1], [0], [1], [0]], [[0.9], [0.4], [0.4], [0.3]]


def number(compute):
    """A number, or null where it is nan, refused, or comes with a warning."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            value = float(compute())
    except (ValueError, UserWarning):
        return None
    return None if numpy.isnan(value) else value


def expected_calibration_error(truth, probabilities):
    """Mean over cells of |mean probability - share relevant| of their bin."""
    bins = numpy.ceil(probabilities * N_BINS - 1e-9).clip(1, N_BINS)
    gaps = [abs((probabilities - truth)[bins == at].sum()) for at in range(1, N_BINS + 1)]
    return sum(gaps) / truth.size


def of_label(truth, answers, probabilities):
    rate = lambda score: number(lambda: score(truth, answers, zero_division=0))
    return {
        "support": int(truth.sum()),
        "precision": rate(metrics.precision_score),
        "recall": rate(metrics.recall_score),
        "f1": rate(metrics.f1_score),
        "auc": number(lambda: metrics.roc_auc_score(truth, probabilities)),
        "average_precision": number(
            lambda: metrics.average_precision_score(truth, probabilities)
        ),
    }


def case(name, truth, probabilities):
    t, p = numpy.array(truth), numpy.array(probabilities, dtype=float)
    answers = (p > 0.5).astype(int)
    flat, cells = t.ravel(), p.ravel()
    share, mean = calibration.calibration_curve(flat, cells, n_bins=N_BINS)
    edges = numpy.linspace(0, 1, N_BINS + 1)[1:-1]
    sizes = numpy.bincount(numpy.searchsorted(edges, cells), minlength=N_BINS)
    average_precision = metrics.average_precision_score
    some, mixed = t.any(axis=0), t.any(axis=0) & ~t.all(axis=0)
    return {
        "name": name,
        "truth": ["".join(map(str, row)) for row in truth],
        "probabilities": p.tolist(),
        "by_label": [of_label(t[:, at], answers[:, at], p[:, at]) for at in range(t.shape[1])],
        "ranking": {
            "auc_macro": number(lambda: metrics.roc_auc_score(t[:, mixed], p[:, mixed])),
            "auc_micro": number(lambda: metrics.roc_auc_score(flat, cells)),
            "average_precision_macro": number(lambda: average_precision(t[:, some], p[:, some])),
            "average_precision_micro": number(lambda: average_precision(flat, cells)),
            "lrap": number(lambda: metrics.label_ranking_average_precision_score(t, p)),
            "ranking_loss": number(lambda: metrics.label_ranking_loss(t, p)),
            "one_error": float(1 - t[numpy.arange(len(t)), p.argmax(axis=1)].mean()),
            "coverage": number(lambda: metrics.coverage_error(t, p)),
        },
        "calibration": {
            "brier": number(lambda: metrics.brier_score_loss(flat, cells, pos_label=1)),
            "ece": float(expected_calibration_error(flat, cells)),
        },
        "curve": list(zip(sizes[sizes > 0].tolist(), mean.tolist(), share.tolist())),
    }


def main():
    recorded = (case(*parts) for parts in cases())
    write("rankings", "scikit-learn, and NumPy for one_error and ece", VERSIONS, TOLERANCE, recorded)


if __name__ == "__main__":
    main()
