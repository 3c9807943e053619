"""Is a new build of the program as fast as an old one? CPU time of both on the same jobs.

    python3 bench/old_and_new.py OLD NEW [--data DIR] [--rounds N] [--at-most RATIO]

OLD and NEW are two executables, which run in turn, so that a noisy neighbour meets both. The time is user
and system time of a whole process with one thread, and the figures are medians. The jobs are those of
the other benchmarks, without their rivals. A job whose data set is not in the directory is skipped. Nothing
but Python's standard library is needed. With `--at-most 1.05` the status is 1 if NEW takes more than 1.05 times
as long as OLD in some job, twice in a row: bench/check is the gate that calls it so.
"""

import argparse
import os
import sys
import tempfile

from measure import ROOT, few_cells, in_turn, run

# What the sections of RESULTS.md about speed are measured with.
CHAINS = ["--select", "none", "--decay", "1", "--neighbours", "5"]
PLAIN = ["--select", "none", "--max-imbalance", "none", "--likelihood", "gaussian"]
# The generated data sets: rows, features, labels.
GENERATED = {"100k rows": (100_000, 20, 5), "30k rows": (30_000, 20, 5), "10k rows": (10_000, 20, 5), "100 labels": (2_000, 20, 100)}
# The generated data sets of few cells in many columns: rows, features, labels, cells of a row, and how rare labels are.
WORDS = {"100k words": (10_000, 100_000, 20, 50, 1), "500 words": (6_000, 500, 103, 50, 10)}

# A job: its name, the data set it needs, and its arguments. In them DATA stands for the data set, ONE, WORD and
# THOUSAND for so many rows of one, MODEL for the model that the same program trained in a job above, and OUT
# for a file that nobody reads.
JOBS = [
    *[(f"ten folds of {method}", name, ["evaluate", "DATA", *CHAINS, "-m", method]) for method in ["dynamic-nb", "ecc-nb", "dynamic-knn", "ecc-knn"] for name in ["yeast", "scene"]],
    ("two folds of dynamic-nb, features selected, β tuned", "yeast", ["evaluate", "DATA", "--folds", "2", "-m", "dynamic-nb"]),
    ("two folds of dynamic-nb, features selected, β tuned", "medical", ["evaluate", "DATA", "--folds", "2", "-m", "dynamic-nb"]),
    ("two folds of oocc-knn, features selected, R tuned", "emotions", ["evaluate", "DATA", "--folds", "2", "-m", "oocc-knn"]),
    ("two folds of ga-nb", "emotions", ["evaluate", "DATA", "--folds", "2", "-m", "ga-nb"]),
    ("training dynamic-nb", "yeast", ["train", "DATA", "-m", "dynamic-nb", "-o", "MODEL"]),
    ("predicting one row", "yeast", ["predict", "MODEL", "ONE", "-o", "OUT.csv"]),
    ("training ecc-j48", "yeast", ["train", "DATA", "-m", "ecc-j48", "-o", "MODEL"]),
    ("predicting by ecc-j48", "yeast", ["predict", "MODEL", "DATA", "-o", "OUT.csv"]),
    ("training ecc-svm, C and γ searched", "emotions", ["train", "DATA", "-m", "ecc-svm", "-o", "MODEL"]),
    ("two folds of br-svm, C and γ set", "yeast", ["evaluate", "DATA", "--folds", "2", "--members", "2", "--select", "none", "--cost", "1", "--gamma", "0.01", "-m", "br-svm"]),
    ("training br-nb", "100k rows", ["train", "DATA", *PLAIN, "-m", "br-nb", "-o", "MODEL"]),
    ("predicting by br-nb", "100k rows", ["predict", "MODEL", "DATA", "-o", "OUT.csv"]),
    ("training dynamic-nb", "10k rows", ["train", "DATA", *PLAIN, "--decay", "1", "-m", "dynamic-nb", "-o", "MODEL"]),
    ("predicting 1,000 rows by dynamic-nb", "10k rows", ["predict", "MODEL", "THOUSAND", "-o", "OUT.csv"]),
    ("the same, with explanations", "10k rows", ["predict", "MODEL", "THOUSAND", "-o", "OUT.csv", "--explain", "OUT.jsonl"]),
    ("training ecc-nb", "100 labels", ["train", "DATA", *PLAIN, "-m", "ecc-nb", "-o", "MODEL"]),
    ("predicting by ecc-nb", "100 labels", ["predict", "MODEL", "DATA", "-o", "OUT.csv"]),
    ("training dynamic-knn", "30k rows", ["train", "DATA", "--select", "none", "--decay", "1", "--neighbours", "5", "-m", "dynamic-knn", "-o", "MODEL"]),
    ("training one member of br-nb", "100k words", ["train", "DATA", "--select", "none", "--members", "1", "-m", "br-nb", "-o", "MODEL"]),
    ("training ecc-nb", "500 words", ["train", "DATA", "--select", "none", "-m", "ecc-nb", "-o", "MODEL"]),
    ("training ecc-nb, all features", "enron", ["train", "DATA", "--select", "none", "-m", "ecc-nb", "-o", "MODEL"]),
    ("predicting one row", "enron", ["predict", "MODEL", "WORD", "-o", "OUT.csv"]),
    ("training certain-forest", "yeast", ["train", "DATA", "-o", "MODEL"]),
    ("predicting by certain-forest", "yeast", ["predict", "MODEL", "DATA", "-o", "OUT.csv"]),
    ("describing", "emotions", ["describe", "DATA"]),
    ("describing", "imdb", ["describe", "DATA"]),
    ("writing as CSV", "scene", ["convert", "DATA", "OUT.csv"]),
    ("writing as Parquet", "scene", ["convert", "DATA", "OUT.parquet"]),
]


def prepare(program, data, directory, needed):
    """Paths of the data sets that are there, and of samples of them. Those of the generated are made."""
    paths = {name: os.path.join(data, name + ".arff.gz") for name in needed - GENERATED.keys()}
    paths = {name: path for name, path in paths.items() if os.path.exists(path)}
    for name, (rows, features, labels) in GENERATED.items():
        paths[name] = os.path.join(directory, name + ".csv")
        size = ["--rows", str(rows), "--features", str(features), "--labels", str(labels)]
        run([program, "generate", "network", *size, "--out", paths[name]])
    for name, size in WORDS.items():
        paths[name] = os.path.join(directory, name + ".svm")
        few_cells(paths[name], *size)
    for name, wanted, rows in [("yeast", "ONE.csv", "1"), ("enron", "WORD.arff", "1"), ("10k rows", "THOUSAND.csv", "1000")]:
        if name in paths:
            wanted, file = os.path.splitext(wanted)[0], wanted
            paths[wanted] = os.path.join(directory, file)
            run([program, "convert", paths[name], paths[wanted], "--sample-rows", rows])
    return paths


def command(program, who, arguments, name, paths, directory):
    """The job as a command of one of the two programs, each of which has model files of its own."""
    inside = lambda file: os.path.join(directory, f"{who}-{file}")
    stands_for = {"DATA": paths[name], "MODEL": inside("model"), **{rows: paths.get(rows) for rows in ("ONE", "WORD", "THOUSAND")}}
    threads = ["--threads", "1"] if arguments[0] in ("evaluate", "train", "predict") else []
    filled = [inside(each) if each.startswith("OUT.") else stands_for.get(each, each) for each in arguments]
    # What a round wrote is there in the next: `run` removes what -o names, and convert may write over it.
    return [program, *filled, *threads, *(["--force"] if arguments[0] == "convert" else [])]


def main():
    usual = os.environ.get("LABELCHAIN_DATA") or os.path.join(ROOT, os.pardir, "shared", "data")
    arguments = argparse.ArgumentParser(description="Measures the CPU time of two builds of the program on the same jobs.")
    arguments.add_argument("old", metavar="OLD", type=os.path.abspath, help="the program as it was")
    arguments.add_argument("new", metavar="NEW", type=os.path.abspath, help="the program as it is")
    arguments.add_argument("--data", metavar="DIR", default=usual, help="the data sets [default: $LABELCHAIN_DATA, else ../shared/data beside the checkout]")
    arguments.add_argument("--rounds", metavar="N", type=int, default=5, help="how often each runs [default: 5]")
    arguments.add_argument("--at-most", metavar="RATIO", type=float, help="fail where NEW takes more than so many times as long as OLD, measured twice")
    given = arguments.parse_args()
    slower = []
    programs = {"old": given.old, "new": given.new}
    print(f"{'job':52} {'data':10} {'OLD, CPU s':>11} {'NEW, CPU s':>11} {'NEW / OLD':>10}")
    with tempfile.TemporaryDirectory() as directory:
        paths = prepare(given.old, os.path.abspath(given.data), directory, {name for _, name, _ in JOBS})
        for job, name, arguments in JOBS:
            if name not in paths:
                print(f"{job:52} {name:10} skipped: the data set is not in {given.data}")
                continue
            commands = {who: command(program, who, arguments, name, paths, directory) for who, program in programs.items()}
            results = in_turn(commands, given.rounds, None)
            ratio = lambda: results["new"]["process_cpu"] / results["old"]["process_cpu"]
            if given.at_most and None not in results.values() and ratio() > given.at_most:
                # Noise does not strike twice, or so one hopes; what is slower is slower again.
                results = in_turn(commands, 2 * given.rounds, None)
                slower += [f"{job}, {name}"] if None in results.values() or ratio() > given.at_most else []
            elif given.at_most and results["new"] is None:
                slower.append(f"{job}, {name}")
            if None in results.values():
                failing = " and ".join(who.upper() for who, its in results.items() if its is None)
                print(f"{job:52} {name:10} {failing} failed")
                continue
            old, new = (results[who]["process_cpu"] for who in programs)
            print(f"{job:52} {name:10} {old:11.3f} {new:11.3f} {new / old:10.2f}", flush=True)
    if slower:
        sys.exit(f"slower than {given.at_most} times OLD, or failed: " + "; ".join(slower))


if __name__ == "__main__":
    main()
