"""Where does the time of cross-validation go, and how near is each phase to what the machine can do? Called by bench/run.

    python bench/phases.py DIRECTORY

The program is sampled by `perf` while it cross-validates yeast and scene with one thread. A sample belongs to the first
phase of the list below that a function on its stack belongs to. The floor of a phase is the arithmetic that no
implementation can leave out, at the speed at which NumPy multiplies matrices of the same shapes and takes exponentials in
the same run. Without `perf` (Debian: linux-perf), or where it is not allowed to sample, nothing is written.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from measure import labelchain, made, python, run, write

SETS = {"yeast": (2417, 103, 14), "scene": (2407, 294, 6)}
FOLDS, MEMBERS = 10, 20
# What a member draws of the training rows, and what it is fitted on of these.
SAMPLE, FITTED = 0.66, 0.6

# A phase and the functions that belong to it.
PHASES = {
    "reading, folds, standardizing": r"data::read|arff|inflate|stratify|Standardizer|describe|findings",
    "scoring": r"Scoring>?::score|score_dense|score_sparse|Quadratics",
    "fitting": r"NaiveBayes::|NearestNeighbours::|fit_labels|MomentSums|PairCounts|Prepared::",
    "memberships": r"distance::memberships|Memberships",
    "distances and rankings": r"labelchain::distance|Neighbourhood|Rankings",
    "local F1 and orders": r"order::local_f1|LocalF1",
    "walks and votes": r"chain::walk|decide_rows|knn::|ensemble::votes|Member::walk",
}

SPEED = """
import json, sys, time
import numpy as np
n, m, d = map(int, sys.argv[1:])
a, b = np.random.default_rng(1).normal(size=(n, d)), np.random.default_rng(2).normal(size=(m, d))
x = -np.abs(np.random.default_rng(3).normal(size=1 << 18))
def fastest(work):
    seconds = []
    for _ in range(30):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)
print(json.dumps({"product": 2 * n * m * d / fastest(lambda: a @ b.T), "exponentials": len(x) / fastest(lambda: np.exp(x))}))
"""


def floors(name, method):
    """Seconds that the arithmetic of each phase takes at NumPy's speed."""
    n, d, n_labels = SETS[name]
    train, test = n * (FOLDS - 1) / FOLDS, n / FOLDS
    fitted, validated = train * SAMPLE * FITTED, train * SAMPLE * (1 - FITTED)
    speed = json.loads(run([sys.executable, "-c", SPEED, str(round(test)), str(round(train)), str(d)])["out"])
    product = lambda rows, columns, width: FOLDS * 2 * rows * columns * width / speed["product"]
    # Of each tested row to each training row.
    common = {"memberships": FOLDS * test * train / speed["exponentials"]}
    if method == "dynamic-nb":
        # Cells and their squares, summed for each label and for all rows, then times two coefficients for each label.
        return common | {
            "fitting": product(MEMBERS * fitted, n_labels + 1, 2 * d),
            "scoring": product(MEMBERS * (validated + test), n_labels, 2 * d),
            "distances and rankings": product(test, train, d),
        }
    # Validation rows of each member look for neighbours among the training rows, too, but it is the same for all members.
    return common | {"distances and rankings": product(train + test, train, d)}


def sampled(command, directory):
    """The share of the samples of each phase."""
    data = os.path.join(directory, "perf.data")
    record = ["perf", "record", "--output", data, "--call-graph", "dwarf,16384", "--freq", "999", *command]
    if subprocess.run(record, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        sys.exit("perf could not sample the program")
    stacks = subprocess.run(["perf", "script", "--input", data, "--fields", "ip,sym"], capture_output=True, text=True).stdout.split("\n\n")
    counts = collections.Counter()
    for stack in filter(str.strip, stacks):
        counts[next((phase for phase, functions in PHASES.items() if re.search(functions, stack)), "anything else")] += 1
    return {phase: n / counts.total() for phase, n in counts.most_common()}


def main():
    if shutil.which("perf") is None:
        print("phases: skipped, because there is no perf (Debian: linux-perf)", file=sys.stderr)
        return
    program, directory = labelchain(), os.path.abspath(sys.argv[1])
    table = ["| set | phase | CPU s | share | floor, s | of which it is |", "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as place:
        for method in ["dynamic-nb", "dynamic-knn"]:
            for name in SETS:
                command = [program, "evaluate", os.path.join(directory, name + ".arff.gz"), "--select", "none", "--decay", "1", "--neighbours", "5", "--threads", "1", "--no-probabilities", "-m", method]
                seconds = min(run(command)["process_cpu"] for _ in range(3))
                floor = floors(name, method)
                for phase, share in sampled(command, place).items():
                    least = floor.get(phase)
                    of_it = ["", ""] if least is None else [f"{least:.3f}", f"{100 * least / (share * seconds):.0f} %"]
                    table.append(f"| {name}, `{method}` | {phase} | {share * seconds:.3f} | {100 * share:.0f} % | " + " | ".join(of_it) + " |")
                total = sum(floor.values())
                table.append(f"| {name}, `{method}` | **all** | {seconds:.3f} | | {total:.3f} | {100 * total / seconds:.0f} % |")
    write("Where the time goes", [
        made(1, python("numpy")), "",
        f"Ten folds, {MEMBERS} members, no feature selection, β = 1, R = 5, one thread. The floor of a phase is its unavoidable arithmetic at the speed of NumPy's products and exponentials in this run; a phase without one is bookkeeping, or its arithmetic depends on the data.", "",
        *table,
    ])


if __name__ == "__main__":
    main()
