"""The features of each label by correlation-based selection, WEKA's and ours. Called by bench/run.

WEKA is driven by testdata/weka/Select.java, which selects for one label to warm up and then for those
that count, and takes the CPU time of its thread: the JVM's own threads are not in it.
"""

import json
import os
import re
import statistics
import sys

from measure import RIVALS, ROOT, benches, made, run, write

ROUNDS = 3
# On these rows WEKA needs seconds for a label: of enron's 53 and medical's 45 only the first ten.
SETS = {"yeast": 14, "medical": 10, "enron": 10}
JAVA = ["java", "-cp", os.path.join(RIVALS, "weka.jar"), os.path.join(ROOT, "testdata", "weka", "Select.java")]


def ours(bench, path, n_labels):
    printed = json.loads(run([bench, path, str(n_labels)])["out"])
    return printed["shared_seconds"] + sum(printed["label_seconds"]), printed["selected"]


def weka(path, n_labels):
    ran = run([*JAVA, "select", f"{path}:1", f"{path}:{n_labels}"])
    seconds = [float(line.rsplit(",", 1)[1]) for line in ran["err"].splitlines() if re.search(r",\d+\.\d+$", line)]
    selected = [[int(at) for at in line.rsplit(",", 1)[1].split()] for line in ran["out"].splitlines()]
    return sum(seconds[1:]), selected[1:]


def main(data):
    bench = benches()["selection"]
    lines = [
        made(ROUNDS, "WEKA 3.9.7"), "",
        "`CfsSubsetEval` with `BestFirst` on all rows, one label after the other: WEKA in a warm JVM, its thread alone; ours with what all labels share. Milliseconds of CPU for a label, the mean over the labels.", "",
        "| set | labels | WEKA ms | labelchain ms | ratio | same selections |", "|---|---|---|---|---|---|",
    ]
    for name, n_labels in SETS.items():
        path = os.path.join(data, name + ".arff.gz")
        rounds = [(ours(bench, path, n_labels), weka(path, n_labels)) for _ in range(ROUNDS)]
        our, their = (statistics.median(one[who][0] for one in rounds) / n_labels * 1e3 for who in range(2))
        same = sum(a == b for a, b in zip(rounds[0][0][1], rounds[0][1][1], strict=True))
        lines.append(f"| {name} | {n_labels} | {their:.0f} | {our:.1f} | {their / our:.0f} | {same} of {n_labels} |")
        print(lines[-1], file=sys.stderr)
    write("Selecting features", lines)


if __name__ == "__main__":
    main(sys.argv[1])
