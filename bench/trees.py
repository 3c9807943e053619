"""The tree of one label, WEKA's J48 and ours. Called by bench/run.

WEKA is driven by testdata/weka/Trees.java: it fits the same label several times, and the CPU time of its
thread counts from the third on, where the JVM is warm. The JVM's own threads are not in it.
"""

import json
import math
import os
import re
import statistics
import struct
import sys
import tempfile

from measure import ROOT, WEKA, benches, dense, made, run, unpack, write

ROUNDS = 3
FITS = 6
COLD = 2
# The tree of enron's label 6 is pruned to its root; that of label 1 is not.
LABELS = [("yeast", 0), ("enron", 6), ("enron", 1)]
BENCH = benches()["trees"]
TREES = os.path.join(ROOT, "testdata", "weka", "Trees.java")


def described(nodes, at=0):
    """A tree as Trees.java writes it."""
    node = nodes[at]
    if node["split"] is None:
        return "[{} {}]".format(*(math.floor(weight * 1000 + 0.51) for weight in node["counts"]))
    split = node["split"]
    (test, value), = split["test"].items()
    says = {"AtMost": lambda: "<=" + struct.pack(">d", value).hex(), "Which": lambda: "=", "Is": lambda: f"={value}"}[test]()
    return f"({split['column']} {says}" + "".join(" " + described(nodes, child) for child in split["children"]) + ")"


def shortened(text):
    if len(text) <= 400:
        return text
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"{len(text)}#{value:016x}"


def ours(path, label):
    printed = json.loads(run([BENCH, path, str(label), str(FITS)])["out"])
    nodes = printed["nodes"]
    n_leaves = sum(node["split"] is None for node in nodes)
    return statistics.median(printed["seconds"]), (n_leaves, len(nodes), shortened(described(nodes)))


def weka(path, label):
    ran = run([*WEKA, TREES, *[f"{path}:all:label={label}"] * FITS])
    seconds = [float(line.rsplit(",", 1)[1]) for line in ran["err"].splitlines() if re.search(r",\d+\.\d+$", line)]
    cells = ran["out"].splitlines()[-1].split(",")
    return statistics.median(seconds[COLD:]), (int(cells[3]), int(cells[4]), cells[5])


def table(name, path, label):
    who = {"labelchain": (ours, path), "WEKA": (weka, path)}
    if name == "enron":
        who["WEKA, dense rows"] = (weka, dense(path))
    rounds = [{one: fit(file, label) for one, (fit, file) in who.items()} for _ in range(ROUNDS)]
    cost = {one: statistics.median(each[one][0] for each in rounds) * 1e3 for one in who}
    tree = rounds[0]["labelchain"][1]
    for one in who:
        n_leaves, n_nodes, _ = found = rounds[0][one][1]
        same = "yes" if found == tree else "no"
        yield f"| {name}, label {label} | {one} | {n_leaves} | {n_nodes} | {same} | {cost[one]:.1f} | {cost[one] / cost['labelchain']:.1f} |"


def main(data):
    lines = [
        made(ROUNDS, "WEKA 3.9.7"), "",
        f"J48 with its default settings on all rows. Milliseconds of CPU for a fit: the median of {FITS} in one process, of WEKA without the first {COLD}, in which the JVM warms up, and its thread alone. The same tree has the same splits, thresholds and weights at the leaves.", "",
        "| set | who | leaves | nodes | our tree | CPU ms | ratio |", "|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as directory:
        for name, label in LABELS:
            lines += table(name, unpack(data, name, directory), label)
            print(lines[-1], file=sys.stderr)
    write("Growing trees", lines)


if __name__ == "__main__":
    main(sys.argv[1])
