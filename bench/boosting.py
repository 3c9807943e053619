"""Training and predicting, against boosting, forests and chains of logistic regressions. Called by bench/run.

    python bench/boosting.py DIRECTORY

The methods of bench/rivals, whose losses docs/results/rivals has, on one fold of ten of three sets: CPU seconds of one
thread to train and to predict. Ours have their start, reading and calibration in it, rivals in Python have not.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

from measure import HERE, labelchain, made, python, write

ROUNDS = 3
SETS = ["yeast", "scene", "enron"]
METHODS = ["certain-forest", "dynamic-nb", "sklearn-forest", "sklearn-chains-logistic", "xgboost-chains", "boomer"]


def seconds(data, program):
    """CPU seconds of each set and method, to train and to predict; none where a method failed or was stopped."""
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, os.path.join(HERE, "rivals", "compute.py"), data, work, "--program", program, "--folds", "0"]
        subprocess.run([*command, "--sets", ",".join(SETS), "--methods", ",".join(METHODS)], check=True)
        for name in SETS:
            for method in METHODS:
                with open(os.path.join(work, name, method, "fold-0.json")) as text:
                    took = json.load(text)
                yield (name, method), (took["train"], took["predict"]) if "train" in took else None


def main():
    data, program = os.path.abspath(sys.argv[1]), labelchain()
    rounds = [dict(seconds(data, program)) for _ in range(ROUNDS)]
    middle = lambda name, method, at: statistics.median(one[name, method][at] for one in rounds)
    lines = []
    for name in SETS:
        ours = sum(middle(name, METHODS[0], at) for at in (0, 1))
        for method in METHODS:
            if any(one[name, method] is None for one in rounds):
                lines.append(f"| {name} | `{method}` | fails | | |")
                continue
            train, predict = (middle(name, method, at) for at in (0, 1))
            lines.append(f"| {name} | `{method}` | {train:.2f} | {predict:.2f} | {(train + predict) / ours:.1f} |")
    write("Boosting, forests, logistic regression", [
        made(ROUNDS, python("scikit-learn", "xgboost"), "BOOMER (mlrl-boomer)"), "",
        "One fold of ten, one thread, what each method does by default; [bench/rivals](rivals/README.md) says what that is, and [the comparison](../docs/results/rivals/README.md) how wrong each is. The ratio is of training and predicting together, over `certain-forest`.", "",
        "| set | method | train, CPU s | predict, CPU s | ratio |", "|---|---|---|---|---|", *lines,
    ])


if __name__ == "__main__":
    main()
