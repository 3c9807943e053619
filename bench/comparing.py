"""What does comparing methods cost, against SciPy and statsmodels? On losses drawn at random.

    bench/.rivals/bin/python bench/comparing.py

Both read the same table and find, for each criterion: mean ranks, Friedman's test, and Wilcoxon's for
every pair with Holm's correction. Ours also finds effect sizes, a Bayesian test and who cannot be
told apart, and writes all of it down.
"""

import csv
import itertools
import json
import os
import random
import sys
import tempfile
import time

CRITERIA = ["hamming", "zero_one", "ex_fdr", "ex_fnr", "ex_f1", "macro_fdr", "macro_fnr", "macro_f1", "micro_fdr", "micro_fnr", "micro_f1"]


def draw(path, methods, sets):
    random_loss = random.Random(1)
    with open(path, "w") as out:
        out.write("dataset,method,criterion,loss\n")
        for at, method, criterion in itertools.product(range(sets), range(methods), CRITERIA):
            out.write(f"set{at},method{method},{criterion},{random_loss.random():.6f}\n")


def rival(path):
    import numpy as np
    from scipy.stats import friedmanchisquare, rankdata, wilcoxon
    from statsmodels.stats.multitest import multipletests

    started = time.process_time()
    by_criterion = {}
    with open(path) as table:
        for row in csv.DictReader(table):
            by_criterion.setdefault(row["criterion"], {}).setdefault(row["method"], []).append(float(row["loss"]))
    smallest = []
    for losses in by_criterion.values():
        columns = np.array(list(losses.values()))
        rankdata(columns, axis=0).mean(axis=1)
        friedmanchisquare(*columns)
        p = [wilcoxon(columns[a], columns[b]).pvalue for a, b in itertools.combinations(range(len(columns)), 2)]
        smallest.append(multipletests(p, method="holm")[1].min())
    print(json.dumps({"cpu": time.process_time() - started, "least": min(smallest)}))


def main():
    from measure import in_turn, labelchain, made, python, write

    program = labelchain()
    lines = []
    for methods, sets, rounds in [(8, 30, 5), (30, 200, 3)]:
        with tempfile.TemporaryDirectory() as directory:
            table = os.path.join(directory, "losses.csv")
            draw(table, methods, sets)
            ours = in_turn({"labelchain": [program, "compare", table, "--json"]}, rounds, None)["labelchain"]
            theirs = in_turn({"SciPy": [sys.executable, __file__, "--rival", table]}, rounds)["SciPy"]
        size = f"{methods} methods, {sets} sets"
        lines.append(f"| {size} | labelchain compare | {ours['process_cpu']:.3f} | | 1 |")
        lines.append(f"| {size} | SciPy, statsmodels | {theirs['process_cpu']:.2f} | {theirs['cpu']:.2f} | {theirs['cpu'] / ours['process_cpu']:.1f} |")
    write("Comparing methods", [
        made("3 to 5", python("scipy", "statsmodels")), "",
        "Mean ranks, Friedman's test, and Wilcoxon's with Holm's correction for every pair, by eleven criteria; ours does more (effect sizes, a Bayesian test, cliques). "
        "The ratio compares the rival without start and imports with the whole of ours.", "",
        "| table | who | CPU s | without start | ratio |", "|---|---|---|---|---|", *lines,
    ])


if sys.argv[1:2] == ["--rival"]:
    rival(sys.argv[2])
else:
    main()
