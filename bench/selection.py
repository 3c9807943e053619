"""The features of each label by correlation-based selection, WEKA's and ours. Called by bench/run.

WEKA is driven by testdata/weka/Select.java: it selects for one label to warm up and then for those that
count, and takes the CPU time of its thread. The JVM's own threads are not in it.
"""

import json
import os
import re
import statistics
import sys
import tempfile

from measure import ROOT, WEKA, benches, dense, made, run, unpack, write

ROUNDS = 3
# WEKA needs seconds for a label of the last two: of their 45 and 53 only the first ten.
SETS = {"yeast": 14, "medical": 10, "enron": 10}
SPARSE = ["medical", "enron"]
BENCH = benches()["selection"]


def ours(path, n_labels):
    printed = json.loads(run([BENCH, path, str(n_labels)])["out"])
    return printed["shared_seconds"] + sum(printed["label_seconds"]), printed["selected"]


def weka(path, n_labels):
    select = os.path.join(ROOT, "testdata", "weka", "Select.java")
    ran = run([*WEKA, select, "select", f"{path}:1", f"{path}:{n_labels}"])
    seconds = [float(line.rsplit(",", 1)[1]) for line in ran["err"].splitlines() if re.search(r",\d+\.\d+$", line)]
    selected = [[int(at) for at in line.rsplit(",", 1)[1].split()] for line in ran["out"].splitlines()]
    return sum(seconds[1:]), selected[1:]


def table(name, path, n_labels):
    who = {"labelchain": (ours, path), "WEKA": (weka, path)}
    if name in SPARSE:
        who["WEKA, dense rows"] = (weka, dense(path))
    rounds = [{one: select(file, n_labels) for one, (select, file) in who.items()} for _ in range(ROUNDS)]
    cost = {one: statistics.median(each[one][0] for each in rounds) / n_labels * 1e3 for one in who}
    chosen = rounds[0]["labelchain"][1]
    for one in who:
        same = sum(a == b for a, b in zip(rounds[0][one][1], chosen, strict=True))
        yield f"| {name}, {n_labels} labels | {one} | {cost[one]:.1f} | {cost[one] / cost['labelchain']:.0f} | {same} |"


def main(data):
    lines = [
        made(ROUNDS, "WEKA 3.9.7"), "",
        "Correlation-based selection with best-first search (`CfsSubsetEval`, `BestFirst`) on all rows, one label after the other: ours with what all labels share, WEKA in a warm JVM and its thread alone. Milliseconds of CPU for a label are the mean over the labels, which are the first ten where there are more than fourteen.", "",
        "| set | who | CPU ms for a label | ratio | labels with our selection |", "|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as directory:
        for name, n_labels in SETS.items():
            lines += table(name, unpack(data, name, directory), n_labels)
            print(lines[-1], file=sys.stderr)
    write("Selecting features", lines)


if __name__ == "__main__":
    main(sys.argv[1])
