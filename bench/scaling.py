"""How do time and memory grow with rows, labels and features? Slopes beside what theory says.

    bench/.rivals/bin/python bench/scaling.py

No rival and no data: everything is generated. A slope is that of the logarithms, fitted to the three
largest sizes, where what every run needs no longer counts: 1 is linear, 2 quadratic.
"""

import math
import os
import tempfile

from measure import few_cells, in_turn, labelchain, made, run, write

ROUNDS = 1
SETTINGS = ["--select", "none", "--max-imbalance", "none", "--likelihood", "gaussian", "--threads", "1"]


def slope(points):
    """Of the logarithms, by least squares."""
    logs = [(math.log(size), math.log(max(value, 1e-9))) for size, value in points[-3:]]
    mean = [sum(of) / len(logs) for of in zip(*logs)]
    return sum((x - mean[0]) * (y - mean[1]) for x, y in logs) / sum((x - mean[0]) ** 2 for x, _ in logs)


def scenario(method, what, theory, sizes, train, test, members=20):
    """Lines of the table: training and predicting at each size, the slopes behind the last."""
    cost = {"training": [], "predicting": []}
    lines = []
    for size in sizes:
        decay = ["--decay", "1"] if method == "dynamic-nb" else []
        fit = [program, "train", train(size), "--method", method, "--members", str(members), *SETTINGS, *decay, "--out", place("model")]
        ask = [program, "predict", place("model"), test(size), "--threads", "1", "--out", place("answers.csv")]
        costs = in_turn({"training": fit, "predicting": ask}, ROUNDS, None)
        for step in cost:
            cost[step].append((size, costs[step]["process_cpu"]))
        figures = [f"{costs[step]['process_cpu']:.2f} | {costs[step]['process_peak'] / 1e6:.0f}" for step in cost]
        lines.append(f"| {method}: {what} | {size:,} | {' | '.join(figures)} |")
    slopes = [f"slope {slope(cost[step]):.2f} ({expected})" for step, expected in zip(cost, theory)]
    return lines + [f"| | | {slopes[0]} | | {slopes[1]} | |"]


program = labelchain()
with tempfile.TemporaryDirectory() as directory:
    place = lambda name: os.path.join(directory, name)

    def dense(rows, features, labels):
        made_of = place(f"{rows}-{features}-{labels}.csv")
        run([program, "generate", "network", "--rows", str(rows), "--features", str(features), "--labels", str(labels), "--out", made_of])
        return made_of

    def words(size):
        few_cells(place("sparse.svm"), 5000, size, 10, 50)
        return place("sparse.svm")

    rows = lambda size: dense(size, 20, 5)
    labels = lambda size: dense(2000, 20, size)
    table = [
        *scenario("br-nb", "rows, of 20 features and 5 labels", ("theory 1", "theory 0: 10,000 rows to answer"),
                  [10_000, 30_000, 100_000, 300_000, 1_000_000], rows, lambda _: rows(10_000)),
        *scenario("dynamic-nb", "rows, of 20 features and 5 labels", ("theory 1", "theory 1: 1,000 rows, each with all as neighbours"),
                  [1_000, 3_000, 10_000, 30_000], rows, lambda _: rows(1_000)),
        *scenario("ecc-nb", "labels, of 2,000 rows and 20 features", ("theory 1 to 2", "theory 1 to 2"),
                  [10, 30, 100, 300, 1000], labels, labels),
        *scenario("ecc-nb", "features, 50 of them stored in each of 5,000 rows, 10 labels, 2 members", ("theory 1", "theory 0, and 1 to read the model"),
                  [1_000, 10_000, 100_000], words, lambda _: place("sparse.svm"), members=2),
    ]
    write("Scaling", [
        made(ROUNDS), "",
        "`labelchain train` and `predict`, 20 members unless said otherwise, no selection, no undersampling, plain normal densities, β = 1, one thread; whole processes, reading included. "
        "Slopes are those of the logarithms over the three largest sizes.", "",
        "| what grows | to | training, CPU s | peak MB | predicting, CPU s | peak MB |", "|---|---|---|---|---|---|", *table,
    ])
