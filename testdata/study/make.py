"""Three small data sets for protocols/smoke.toml: labels that depend on each other and on inputs.

    python3 testdata/study/make.py        (Python 3.8 or later; writes beside itself)

A label is relevant with a probability that follows the label before it; an input is normal around
a mean that its label sets. Names say how much: in `loose` labels are independent, in `tight` a label
is its predecessor four times out of five, `mixed` has a nominal input and missing cells.
"""

import pathlib
import random

HERE = pathlib.Path(__file__).parent


def rows(rng, n_rows, n_labels, follow):
    for _ in range(n_rows):
        labels = []
        for at in range(n_labels):
            before = labels[-1] if labels else None
            follows = before is not None and rng.random() < follow
            labels.append(before if follows else int(rng.random() < 0.3 + 0.1 * (at % 3)))
        inputs = [rng.gauss(1.2 * label, 1.0) for label in labels for _ in range(2)]
        yield inputs, labels


def write(name, seed, n_rows, n_labels, follow, is_mixed=False):
    rng = random.Random(seed)
    inputs = [f"x{at}" for at in range(2 * n_labels)]
    header = inputs + (["kind"] if is_mixed else []) + [f"label_{at}" for at in range(n_labels)]
    lines = [",".join(header)]
    for cells, labels in rows(rng, n_rows, n_labels, follow):
        texts = [f"{cell:.3f}" for cell in cells]
        if is_mixed:
            texts[0] = "" if rng.random() < 0.1 else texts[0]
            texts.append(rng.choice("ab") if labels[0] else rng.choice("bc"))
        lines.append(",".join(texts + [str(label) for label in labels]))
    (HERE / f"{name}.csv").write_text("\n".join(lines) + "\n")


write("loose", 1, 150, 4, 0.0)
write("tight", 2, 150, 5, 0.8)
write("mixed", 3, 120, 3, 0.5, is_mixed=True)
