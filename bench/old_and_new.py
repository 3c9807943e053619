"""Is a new build of the program as fast as an old one? CPU time of both on the same jobs.

    python3 bench/old_and_new.py OLD NEW [--data DIR] [--rounds N]

OLD and NEW are two executables, which run in turn, so that a noisy neighbour meets both. The time is user
and system time of a whole process with one thread, and the figures are medians. The jobs are those of
the other benchmarks, without their rivals. A job whose data set is not in the directory is skipped. Nothing
but Python's standard library is needed.
"""

import argparse
import os
import tempfile

from measure import ROOT, in_turn, run

# What the sections of RESULTS.md about speed are measured with.
CHAINS = ["--select", "none", "--decay", "1", "--neighbours", "5"]
PLAIN = ["--select", "none", "--max-imbalance", "none", "--likelihood", "gaussian"]
# The generated data sets: rows, features, labels.
GENERATED = {"100k rows": (100_000, 20, 5), "10k rows": (10_000, 20, 5), "100 labels": (2_000, 20, 100)}

# A job: its name, the data set it needs, and its arguments. In them DATA stands for the data set, ONE and
# THOUSAND for so many of its rows, MODEL for the model that the same program trained in a job above, and OUT
# for a file that nobody reads.
JOBS = [
    *[(f"ten folds of {method}", "yeast", ["evaluate", "DATA", *CHAINS, "-m", method]) for method in ["dynamic-nb", "ecc-nb", "dynamic-knn", "ecc-knn"]],
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
    for name, wanted, rows in [("yeast", "ONE", "1"), ("10k rows", "THOUSAND", "1000")]:
        if name in paths:
            paths[wanted] = os.path.join(directory, wanted + ".csv")
            run([program, "convert", paths[name], paths[wanted], "--sample-rows", rows])
    return paths


def command(program, who, arguments, name, paths, directory):
    """The job as a command of one of the two programs, each of which has model files of its own."""
    inside = lambda file: os.path.join(directory, f"{who}-{file}")
    stands_for = {"DATA": paths[name], "MODEL": inside("model"), "ONE": paths.get("ONE"), "THOUSAND": paths.get("THOUSAND")}
    threads = ["--threads", "1"] if arguments[0] in ("evaluate", "train", "predict") else []
    filled = [inside(each) if each.startswith("OUT.") else stands_for.get(each, each) for each in arguments]
    return [program, *filled, *threads]


def main():
    usual = os.environ.get("LABELCHAIN_DATA") or os.path.join(ROOT, os.pardir, "shared", "data")
    arguments = argparse.ArgumentParser(description="Measures the CPU time of two builds of the program on the same jobs.")
    arguments.add_argument("old", metavar="OLD", type=os.path.abspath, help="the program as it was")
    arguments.add_argument("new", metavar="NEW", type=os.path.abspath, help="the program as it is")
    arguments.add_argument("--data", metavar="DIR", default=usual, help="the data sets [default: $LABELCHAIN_DATA, else ../shared/data beside the checkout]")
    arguments.add_argument("--rounds", metavar="N", type=int, default=5, help="how often each runs [default: 5]")
    given = arguments.parse_args()
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
            if None in results.values():
                failing = " and ".join(who.upper() for who, its in results.items() if its is None)
                print(f"{job:52} {name:10} {failing} failed")
                continue
            old, new = (results[who]["process_cpu"] for who in programs)
            print(f"{job:52} {name:10} {old:11.3f} {new:11.3f} {new / old:10.2f}", flush=True)


if __name__ == "__main__":
    main()
