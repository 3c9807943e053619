"""Compares ours with the rivals: ranks, tests, losses and CPU time. Called by bench/rivals/run.

    python bench/rivals/report.py [--program FILE] [--results DIRECTORY]

Reads losses.csv and seconds.csv, writes the tables of README.md below its line `<!-- tables -->`, and
mean-ranks.svg. `labelchain compare` does the statistics.

One rule, fixed before anything was run: by each criterion, ours is the forest with the aim of that
criterion, and never the best of several. The forest's other aims are not in the comparison. A set counts
with the folds that every method has.
"""

import argparse
import collections
import csv
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from collect import CRITERIA, RESULTS, table
from compute import AIMS, BOOMER, FOLDS, FOREST, MEKA, OURS, PYTHON, SETS
from measure import labelchain

CONTROL = f"{FOREST}@matching"
NAMES = {"hamming": "Hamming", "zero_one": "zero-one", "ex_f1": "example F1", "macro_f1": "macro F1", "micro_f1": "micro F1"}
MATCHING = dict(zip(CRITERIA, (f"{FOREST}@{aim}" for aim in AIMS)))
PAPER = [method for method in OURS if method != FOREST]
MARK = "<!-- tables -->\n"


def read(path):
    with open(path, newline="") as rows:
        return list(csv.DictReader(rows))


def shared_folds(seconds, methods):
    """The folds of each set that every method has come to an end with, and the sets that lack a method."""
    folds = collections.defaultdict(lambda: collections.defaultdict(set))
    for row in seconds:
        folds[row["dataset"]][row["method"]].add(int(row["fold"]))
    shared = {name: set.intersection(*(of[method] for method in methods)) for name, of in folds.items()}
    return {name: of for name, of in shared.items() if of}, sorted(name for name, of in shared.items() if not of)


def line(*cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def short(number):
    return f"{number:.3f}".removeprefix("0") if number is not None else "–"


def p(number):
    return "<.001" if number < 0.001 else short(number)


def seconds_of(number):
    return f"{number:.2g}" if number < 10 else f"{number:.0f}"


def main():
    arguments = argparse.ArgumentParser(description="Compares ours with the rivals.")
    arguments.add_argument("--program", type=os.path.abspath, help="labelchain; built if not said")
    arguments.add_argument("--results", default=RESULTS)
    given = arguments.parse_args()
    program = given.program or labelchain()
    losses, seconds = (read(os.path.join(given.results, name)) for name in ["losses.csv", "seconds.csv"])
    known = [FOREST, *MATCHING.values(), *PAPER, *PYTHON, *BOOMER, *MEKA]
    # A rival that somebody has added stands at the end.
    rivals = [*PYTHON, *BOOMER, *MEKA, *sorted({row["method"] for row in seconds} - set(known))]
    methods = [*MATCHING.values(), *PAPER, *rivals]
    folds, incomplete = shared_folds(seconds, methods)
    sets = [name for name in SETS if name in folds] + sorted(set(folds) - set(SETS))

    values = collections.defaultdict(list)
    for row in losses:
        if int(row["fold"]) in folds.get(row["dataset"], ()):
            values[row["dataset"], row["method"], row["criterion"]].append(float(row["loss"]))
    # A fold that was stopped or failed leaves its method without a loss on the set.
    mean = {key: statistics.fmean(of) for key, of in values.items() if len(of) == len(folds[key[0]])}
    whole = [name for name in sets if all((name, method, "hamming") in mean for method in methods)]
    ours = lambda name, criterion: mean[name, MATCHING[criterion], criterion]
    compared = lambda method, criterion: MATCHING[criterion] if method == CONTROL else method

    rows = [[name, method, criterion, mean[name, compared(method, criterion), criterion]]
            for name in whole for method in [CONTROL, *PAPER, *rivals] for criterion in CRITERIA]
    with tempfile.TemporaryDirectory() as scratch:
        path, out = os.path.join(scratch, "losses.csv"), os.path.join(scratch, "report")
        table(path, ["dataset", "method", "criterion", "loss"], rows)
        command = [program, "compare", path, "--control", CONTROL, "--alpha", "0.05"]
        said = json.loads(subprocess.run([*command, "--json"], stdout=subprocess.PIPE, check=True).stdout)
        subprocess.run([*command, "-o", out], stdout=subprocess.DEVNULL, check=True)
        shutil.copy(os.path.join(out, "figures", "mean-ranks.svg"), given.results)
    by = {of["criterion"]: of for of in said["criteria"]}

    lines = [said["verdict"], "", "## Mean ranks, and p against ours", "",
             f"{len(whole)} sets; 1 is best of {1 + len(PAPER + rivals)}; p is Wilcoxon's, adjusted by Holm over the {len(PAPER + rivals)} comparisons of a criterion; "
             "**bold** where ours is significantly better at .05, *italic* where it is significantly worse; then on how many sets ours is better : worse.", "",
             line("method", *NAMES.values()), line("---", *["---"] * len(CRITERIA)),
             line(f"`{CONTROL}`", *(f"{by[criterion]['mean_ranks'][CONTROL]:.2f}" for criterion in CRITERIA))]
    for method in [*PAPER, *rivals]:
        row = []
        for criterion in CRITERIA:
            pair = next(pair for pair in by[criterion]["wilcoxon"] if pair["b"] == method)
            shown = p(pair["p_holm"])
            if pair["p_holm"] <= 0.05:
                shown = f"**{shown}**" if pair["rank_biserial"] > 0 else f"*{shown}*"
            row.append(f"{by[criterion]['mean_ranks'][method]:.2f}, {shown}, {pair['wins']}:{pair['losses']}")
        lines.append(line(f"`{method}`", *row))

    def lead(criterion):
        """By how much ours is worse than the best of the others, on each set."""
        return [ours(name, criterion) - min(mean[name, method, criterion] for method in PAPER + rivals) for name in whole]

    lines += ["", "## Mean losses", "", f"Over the same {len(whole)} sets. The forest's aims are in rows of their own; what counts above is the diagonal, in **bold**.", "",
              line("method", *NAMES.values()), line("---", *["---"] * len(CRITERIA))]
    for method in [*MATCHING.values(), FOREST, *PAPER, *rivals]:
        row = []
        for criterion in CRITERIA:
            shown = short(statistics.fmean(mean[name, method, criterion] for name in whole))
            row.append(f"**{shown}**" if MATCHING[criterion] == method else shown)
        lines.append(line(f"`{method}`", *row))

    first = [f"{NAMES[criterion]} {sum(by_set <= 0 for by_set in lead(criterion))} of {len(whole)}" for criterion in CRITERIA]
    lines += ["", "## Set by set", "", "Ours with the matching aim, and the best of the others with its loss; **bold** is the smaller. "
              "This is ours against the best of all others, another one on each set. Ours is at least as good as all of them by " + ", ".join(first) + ".", "",
              line("set", "folds", *NAMES.values()), line("---", "---", *["---"] * len(CRITERIA))]
    for name in sets:
        row = []
        for criterion in CRITERIA:
            others = {method: mean[name, method, criterion] for method in PAPER + rivals if (name, method, criterion) in mean}
            best = min(others, key=others.get)
            a, b = short(ours(name, criterion)), f"{short(others[best])} `{best}`"
            row.append(f"{a}, {b}" if a == short(others[best]) else f"**{a}**, {b}" if ours(name, criterion) < others[best] else f"{a}, **{b}**")
        lines.append(line(name, len(folds[name]), *row))

    spent = collections.defaultdict(list)
    for row in seconds:
        if row["train"] and int(row["fold"]) in folds.get(row["dataset"], ()):
            spent[row["dataset"], row["method"]].append(float(row["train"]) + float(row["predict"]))
    cost = {key: statistics.fmean(of) for key, of in spent.items() if len(of) == len(folds[key[0]])}
    timed = [FOREST, *PAPER, *rivals]
    lines += ["", "## CPU time", "", "Seconds of a fold, training and predicting, one thread. Of ours they are of whole processes, with start and reading; of the others without, but MEKA's in a JVM that has just started. The machine was busy: ratios tell more than seconds. "
              f"An aim costs no training of its own: `{FOREST}` stands for all of them. The last column is the geometric mean of the ratios to `{FOREST}` over the sets compared.", "",
              line("method", *sets, "ratio"), line("---", *["---"] * (len(sets) + 1))]
    for method in timed:
        ratios = [math.log(max(cost[name, method], 0.001) / cost[name, FOREST]) for name in whole if (name, method) in cost]
        lines.append(line(f"`{method}`", *(seconds_of(cost[name, method]) if (name, method) in cost else "–" for name in sets),
                          seconds_of(math.exp(statistics.fmean(ratios))) if ratios else "–"))

    ended = [f"`{row['method']}` on {row['dataset']}, fold {row['fold']}: {row['ending']}" for row in seconds if row["ending"] != "done"]
    few = [f"{name} ({len(folds[name])})" for name in sets if len(folds[name]) < FOLDS]
    absent = [name for name in SETS if name not in folds]
    lines += ["", "## What is not here", "",
              "- Stopped at 15 minutes of CPU time for a fold, or failed: " + ("; ".join(ended) or "none") + ".",
              "- Sets that therefore do not count in ranks and tests: " + (", ".join(name for name in sets if name not in whole) or "none") + ".",
              f"- Sets with fewer than {FOLDS} folds: " + (", ".join(few) or "none") + ".",
              "- Not run, or not by all methods: " + (", ".join(absent) or "none") + "."]
    path = os.path.join(given.results, "README.md")
    head = ""
    if os.path.exists(path):
        with open(path) as text:
            head = text.read().split(MARK)[0]
    with open(path, "w") as page:
        page.write(head + MARK + "\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
