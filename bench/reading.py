"""Reading ARFF, starting the program, stratifying: rivals and ours. Called by bench/run.

Readers and splitters print the CPU time around the call that reads or splits, without their start.
"""

import os
import statistics
import sys
import tempfile

from measure import benches, in_turn, labelchain, made, python, run, unpack, write

ROUNDS = 7
OURS = benches()

READERS = {
    "SciPy loadarff": "from scipy.io import arff\ndef read(path):\n    return arff.loadarff(path)",
    "liac-arff load": "import arff\ndef read(path):\n    return arff.load(open(path), return_type={kind})",
}

READ = """
import json, resource, sys, time
{reader}
before = time.process_time()
data = read(sys.argv[1])
seconds = time.process_time() - before
print(json.dumps({{"cpu_seconds": seconds, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}}))
"""

STRATIFY = """
import json, time
import numpy as np
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold
labels = (np.random.default_rng(1).random(({rows}, {labels})) < 0.05).astype(int)
before = time.process_time()
folds = list(MultilabelStratifiedKFold(n_splits=10, shuffle=True, random_state=1).split(labels, labels))
print(json.dumps({{"cpu_seconds": time.process_time() - before}}))
"""


def reader(name, kind):
    return READ.format(reader=READERS[name].replace("{kind}", kind))


def read_one(name, kind, path, packed):
    size = os.path.getsize(path) / 1e6
    commands = {"labelchain": [OURS["reading"], path], "labelchain, gzip": [OURS["reading"], packed]}
    commands |= {rival: [sys.executable, "-c", reader(rival, kind), path] for rival in READERS}
    results = in_turn(commands, ROUNDS)
    our = results["labelchain"]
    for who, its in results.items():
        if its is None:
            yield f"| {name} | {who} | fails | | | |"
            continue
        memory = f"{its['peak_bytes'] / 1e6:.0f}"
        if who == "labelchain":
            memory += f" ({its['peak_bytes'] / its['data_bytes']:.2f} x the data set)"
        ratio = f"{its['cpu_seconds'] / our['cpu_seconds']:.1f}"
        yield f"| {name}, {size:.1f} MB | {who} | {its['cpu_seconds']:.4f} | {size / its['cpu_seconds']:.0f} | {memory} | {ratio} |"


def reading(data):
    lines = [made(ROUNDS, python("scipy", "liac-arff")), "",
             "| file | who | CPU s | MB/s of text | peak memory MB | ratio |", "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as directory:
        for name, kind in [("scene", "arff.DENSE"), ("yeast", "arff.DENSE"), ("imdb", "arff.LOD")]:
            lines += read_one(name, kind, unpack(data, name, directory), os.path.join(data, name + ".arff.gz"))
    write("Reading ARFF", lines)


def starting(data):
    command = [labelchain(), "describe", os.path.join(data, "emotions.arff.gz")]
    runs = [run(command) for _ in range(15)]
    wall, cpu = (statistics.median(one[key] for one in runs) * 1e3 for key in ["wall", "process_cpu"])
    write("Starting the program and describing emotions", [made(15), "", f"{wall:.1f} ms of wall time, {cpu:.1f} ms of CPU."])


def stratifying():
    lines = [made(ROUNDS, python("iterative-stratification")), "",
             "Ten folds, labels relevant to 5 % of the rows each.", "",
             "| rows x labels | who | CPU s | ratio |", "|---|---|---|---|"]
    for rows, labels in [(10_000, 100), (100_000, 100)]:
        rival = [sys.executable, "-c", STRATIFY.format(rows=rows, labels=labels)]
        results = in_turn({"ours": [OURS["splitting"], str(rows), str(labels)], "theirs": rival}, ROUNDS)
        our, their = results["ours"], results["theirs"]["cpu_seconds"]
        first = our["first_order_seconds"]
        lines += [f"| {rows} x {labels} | labelchain, first order | {first:.3f} | 1 |",
                  f"| {rows} x {labels} | labelchain, second order | {our['second_order_seconds']:.3f} | |",
                  f"| {rows} x {labels} | iterative-stratification, first order | {their:.2f} | {their / first:.0f} |"]
    write("Stratifying", lines)


def main(data):
    reading(data)
    starting(data)
    stratifying()


if __name__ == "__main__":
    main(sys.argv[1])
