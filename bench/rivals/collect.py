"""Scores all answers, and writes losses and CPU seconds. Called by bench/rivals/run.

    python bench/rivals/collect.py WORK [--program FILE] [--results DIRECTORY]

`labelchain score` computes every loss, of ours and of rivals. Losses are kept beside the answers, so that
only new ones are scored. Writes losses.csv, which `labelchain compare` reads, and seconds.csv. Folds that
these tables have and WORK has not stay in them: folds are the same everywhere, so the sets of a comparison
may be run on several machines, or one after the other.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import cells
from compute import SETS
from measure import ROOT, labelchain

CRITERIA = ["hamming", "zero_one", "ex_f1", "macro_f1", "micro_f1"]
RESULTS = os.path.join(ROOT, "docs", "results", "rivals")


def scored(program, work, name, method, fold):
    """The losses of one fold."""
    answers = cells.paths(work, name, method, fold)[0]
    kept = answers.replace(".csv", ".losses")
    if not os.path.exists(kept) or os.path.getmtime(kept) < os.path.getmtime(answers):
        place = os.path.join(work, name)
        command = [program, "score", os.path.join(place, "data.arff"), answers, "--rows", os.path.join(place, "folds", f"fold-{fold}.txt"), "--json"]
        losses = json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)["losses"]
        cells.write(kept, json.dumps(losses))
    with open(kept) as text:
        return json.load(text)


def others(path, computed):
    """The rows of a table that are of other folds than those computed here."""
    if not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        return [list(row.values()) for row in csv.DictReader(file) if (row["dataset"], row["method"], int(row["fold"])) not in computed]


def table(path, header, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".part", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)
    os.replace(path + ".part", path)


def main():
    arguments = argparse.ArgumentParser(description="Scores all answers, and writes losses and CPU seconds.")
    arguments.add_argument("work", metavar="WORK")
    arguments.add_argument("--program", type=os.path.abspath, help="labelchain; built if not said")
    arguments.add_argument("--results", default=RESULTS)
    given = arguments.parse_args()
    program = given.program or labelchain()
    losses, seconds = [], []
    names = [name for name in os.listdir(given.work) if os.path.isdir(os.path.join(given.work, name))]
    for name in names:
        place = os.path.join(given.work, name)
        for method in sorted(os.listdir(place)):
            if method == "folds" or not os.path.isdir(os.path.join(place, method)):
                continue
            folds = sorted({int(of[1]) for of in map(re.compile(r"fold-(\d+)\.(?:csv|json)$").match, os.listdir(os.path.join(place, method))) if of})
            for fold in folds:
                answers, told = cells.paths(given.work, name, method, fold)
                spent = {}
                if os.path.exists(told):
                    with open(told) as text:
                        spent = json.load(text)
                ending = "stopped" if "stopped" in spent else "failed" if "failed" in spent else "done"
                seconds.append([name, method, fold, spent.get("train", ""), spent.get("predict", ""), ending])
                if ending == "done" and os.path.exists(answers):
                    of = scored(program, given.work, name, method, fold)
                    losses += [[name, method, criterion, fold, f"{of[criterion]:.6g}"] for criterion in CRITERIA if of[criterion] is not None]
    computed = {(name, method, fold) for name, method, fold, *_ in seconds}
    position = lambda name: (SETS.index(name) if name in SETS else len(SETS), name)
    for name, header, rows, fold in [("losses.csv", ["dataset", "method", "criterion", "fold", "loss"], losses, 3),
                                     ("seconds.csv", ["dataset", "method", "fold", "train", "predict", "ending"], seconds, 2)]:
        path = os.path.join(given.results, name)
        rows += others(path, computed)
        # Criteria stay in their order, because sorting is stable.
        table(path, header, sorted(rows, key=lambda row: (position(row[0]), row[1], int(row[fold]))))


if __name__ == "__main__":
    main()
