"""Do two builds of the program answer the same, bit for bit?

    python3 bench/same_answers.py OLD NEW [--data DIR] [--cache DIR] [--quick]

OLD and NEW are two executables. Both evaluate, train, show, predict and explain the same data with all
methods and many settings, and every number, word and message that they write is compared as text.
Three things may differ: measured seconds; in `show`, the version of the program and of the model
format; and the names of settings in `show`, which are compared where both have them. The exit status is
1 if anything else differs, or if nothing could be compared.

Data sets that are not in the directory are skipped, and the table says so. Nothing but Python's
standard library is needed.
"""

import argparse
import collections
import concurrent.futures
import csv
import gzip
import hashlib
import io
import itertools
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
METHODS = [f"{strategy}-{base}" for base in ["nb", "knn"] for strategy in ["dynamic", "oocc", "ecc", "br", "ga", "ga-br"]]
METHODS += [f"{strategy}-{base}" for base in ["j48", "svm"] for strategy in ["ecc", "br", "ga", "ga-br"]]
SETS = ["flags", "emotions", "birds", "medical"]
# The row that `explain` is asked about. Every set has it.
ROW = "3"

# Settings that are tried on flags, each with the methods that they apply to.
SETTINGS = [
    *[(f"--likelihood {name}", "dynamic-nb oocc-nb ecc-nb br-nb ga-nb") for name in ["gaussian", "weka", "discretized", "kernel"]],
    ("--metric weka --ties weka", "dynamic-knn oocc-knn ecc-knn br-knn ga-knn"),
    ("--metric weka", "dynamic-knn ecc-knn"),
    ("--ties weka", "dynamic-knn ecc-knn"),
    ("--neighbours 3", "dynamic-knn oocc-knn ecc-knn br-knn ga-knn"),
    ("--decay 2", "dynamic-nb dynamic-knn"),
    ("--max-imbalance none", "dynamic-nb dynamic-knn ecc-j48 ecc-svm"),
    ("--max-imbalance 1", "dynamic-nb dynamic-knn ecc-j48 ecc-svm"),
    ("--select none", " ".join(METHODS)),
    ("--max-features 2", "dynamic-nb dynamic-knn ecc-j48 ecc-svm"),
    ("--sample 0.5 --fit-share 0.7", "dynamic-nb oocc-knn ga-j48 ecc-svm"),
    ("--seed 7", "dynamic-nb oocc-knn ga-j48 ecc-svm"),
    ("--order natural", "ecc-nb ecc-knn ecc-j48 ecc-svm"),
    ("--unpruned", "ecc-j48 br-j48 ga-j48"),
    ("--binary-splits", "ecc-j48 br-j48 ga-j48"),
    ("--confidence 0.1 --min-leaf 5", "ecc-j48 br-j48"),
    ("--kernel linear", "ecc-svm br-svm ga-svm"),
    ("--cost 10 --gamma 0.1", "ecc-svm br-svm ga-svm"),
    ("--cost 2", "ecc-svm"),
    ("--orders 5 --lenders 3", "oocc-nb oocc-knn"),
    *[(f"--diversity {name}", "ga-nb") for name in ["none", "adjacency", "positional", "hamming", "cayley", "ulam"]],
    ("--candidates 8 --population 10 --crossover 0.5 --mutation 0.3", "ga-nb ga-knn ga-br-j48 ga-br-svm"),
]
# How bags of instances become rows, each on a set that allows it: only bags of one size can be laid end to end.
BAGS = [
    ("haloarcula", "--bags medoids"),
    ("haloarcula", "--bags medoids --medoids 7 --medoid-start spread --medoid-swap"),
    ("haloarcula", "--bags medoids --medoid-start build"),
    ("mimlimg", "--bags concat"),
]

# What both programs are asked in one empty directory, command after command, and the line of the table
# that counts it. None stands for one line for each command.
Job = collections.namedtuple("Job", "data name commands line")


class Number(str):
    """A number as it is spelt, so that two spellings of it differ."""


def evaluation(data, name, methods, options, line=None):
    command = ["evaluate", data, "-m", methods, *options, "--threads", "1", "--json", "--predictions", "predictions.csv"]
    return Job(data, name, [command], line)


def model(data, name, method, options, line=None):
    commands = [
        ["train", data, "-m", method, *options, "-o", "model"],
        ["show", "model", "--json"],
        ["predict", "model", data, "--proba", "-o", "shares.csv"],
        ["predict", "model", data, "-o", "answers.csv", "--explain", "reasons.jsonl"],
        ["explain", "model", data, "--row", ROW, "--json"],
        ["explain", "model", data, "--row", ROW],
    ]
    return Job(data, name, commands, line)


def size(method, members, generations):
    """How large an ensemble is, in options: `--generations` is refused where there is no search."""
    return ["--members", str(members), *(["--generations", str(generations)] if method.startswith("ga-") else [])]


def jobs(directory, quick):
    """What is compared, and which data sets are missing."""
    missing = []

    def found(name):
        path = os.path.join(directory, name + ".arff.gz")
        if not os.path.exists(path):
            missing.append(name)
        return os.path.exists(path)

    path = lambda name: os.path.join(directory, name + ".arff.gz")
    asked = []
    for name in filter(found, SETS[:2] if quick else SETS):
        members, folds, generations = (3, 2, 5) if quick else (5, 2, 20) if name == "medical" else (10, 3, 30)
        small = name in ("flags", "emotions")
        for method in METHODS:
            options = size(method, members, generations)
            asked.append(evaluation(path(name), f"{name}, {method}", method, [*options, "--folds", str(folds)]))
            if small or method in ("dynamic-nb", "dynamic-knn", "oocc-knn", "ga-nb", "ga-j48", "ecc-svm"):
                asked.append(model(path(name), f"{name}, {method}", method, size(method, 3, 5)))
        # Methods that are evaluated together share their members.
        if small:
            together = ",".join(METHODS)
            asked.append(evaluation(path(name), f"{name}, all methods together", together, [*size("ga-nb", 3, 5), "--folds", "2"]))
        asked.append(Job(path(name), name, [["describe", path(name), "--json"]], None))
    if found("flags"):
        for settings, methods in SETTINGS:
            for method in methods.split():
                options, name, line = [*size(method, 3, 5), *settings.split()], f"{settings}, {method}", f"flags {settings}"
                asked.append(evaluation(path("flags"), name, method, [*options, "--folds", "2"], line))
                asked.append(model(path("flags"), name, method, options, line))
        for how, method in itertools.product(["iterative", "pairs"], ["dynamic-nb", "ecc-knn", "ecc-j48", "ecc-svm"]):
            options = [*size(method, 3, 5), "--folds", "3", "--stratify", how]
            asked.append(evaluation(path("flags"), f"--stratify {how}, {method}", method, options, f"flags --stratify {how}"))
        grown = model(path("flags"), "--tree", "ecc-j48", size("ecc-j48", 3, 5))
        trees = [["show", "model", "--tree", label] for label in ["red", "green", "black"]]
        asked.append(Job(grown.data, grown.name, [grown.commands[0], *trees], "flags show --tree"))
    for name, settings in BAGS[:1] if quick else BAGS:
        data = os.path.join("miml", name)
        for method in ["dynamic-nb", "dynamic-knn", "ecc-j48", "ecc-svm"] if found(data) else []:
            options, detail, line = [*size(method, 3, 5), *settings.split()], f"{settings}, {method}", f"{name} {settings}"
            asked.append(evaluation(path(data), detail, method, [*options, "--folds", "2"], line))
            asked.append(model(path(data), detail, method, options, line))
    if not quick:
        asked.append(Job(None, "demo", [["demo"]], None))
    return asked, sorted(set(missing))


def ask(program, job):
    """What a program answers: for each command its exit status and all that it wrote, up to a failure."""
    answers = []
    with tempfile.TemporaryDirectory() as directory:
        for command in job.commands:
            before = set(os.listdir(directory))
            ran = subprocess.run([program, *command], cwd=directory, capture_output=True, text=True)
            answer = {"status": str(ran.returncode), "messages": ran.stderr, "output": ran.stdout}
            # A model file may change its format: `show`, `predict` and `explain` say what is in it.
            for name in sorted(set(os.listdir(directory)) - before - {"model"}):
                with open(os.path.join(directory, name)) as written:
                    answer[name] = written.read()
            answers.append(answer)
            if ran.returncode != 0:
                break
    return answers


def digest(path):
    with open(path, "rb") as contents:
        return hashlib.sha256(contents.read()).hexdigest()


def ask_once(program, job, cache, digests):
    """The same from the cache, which knows a job by program, data and commands."""
    if cache is None:
        return ask(program, job)
    key = json.dumps([digests[program], digests.get(job.data), job.commands])
    path = os.path.join(cache, hashlib.sha256(key.encode()).hexdigest() + ".json.gz")
    if os.path.exists(path):
        with gzip.open(path, "rt") as kept:
            return json.load(kept)
    answers = ask(program, job)
    # The file appears under its name only when it is whole.
    with gzip.open(f"{path}.{os.getpid()}.part", "wt", compresslevel=1) as kept:
        json.dump(answers, kept)
    os.replace(f"{path}.{os.getpid()}.part", path)
    return answers


def leaves(value, place=""):
    """Each number, word or empty list of a JSON value, with its place."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{place}.{key}" if place else key)
    elif isinstance(value, list) and value:
        for at, inner in enumerate(value):
            yield from leaves(inner, f"{place}[{at}]")
    else:
        yield place, value if isinstance(value, Number) else json.dumps(value)


def parsed(text):
    return json.loads(text, parse_float=Number, parse_int=Number, parse_constant=Number)


def content(command, part, text):
    """What is compared in one output, as pairs of place and text."""
    if part.endswith(".csv"):
        return {f"line {line}, column {column}": cell
                for line, row in enumerate(csv.reader(io.StringIO(text)), 1) for column, cell in enumerate(row, 1)}
    if part.endswith(".jsonl"):
        return {f"line {line}, {place}": leaf
                for line, row in enumerate(text.splitlines(), 1) for place, leaf in leaves(parsed(row))}
    if part == "output" and "--json" in command:
        value = parsed(text)
        if command[0] == "evaluate":
            for result in value.get("results", []):
                result.pop("seconds", None)
        if command[0] == "show":
            for name in ["version", "format"]:
                value.pop(name, None)
        return dict(leaves(value))
    is_time = lambda row: command[0] == "train" and row.startswith("  seconds ")
    return {f"line {line}": row for line, row in enumerate(text.splitlines(), 1) if not is_time(row)}


class Line:
    """One line of the table."""

    def __init__(self):
        self.compared, self.differing, self.first = 0, 0, ""

    def count(self, place, old, new):
        self.compared += 1
        if old != new:
            self.differing += 1
            self.first = self.first or f"{place}: {shortened(old)}, now {shortened(new)}"


def shortened(text):
    return "nothing" if text is None else text if len(text) <= 60 else text[:57] + "..."


def compare(job, old, new, table, renamed):
    """Counts what differs; settings that only one of the two has go to `renamed`."""
    for at, command in enumerate(job.commands):
        line = table[job.line or f"{job.name.split(',')[0]}: {command[0]}"]
        where = f"{job.name}: {command[0]}"
        if at >= len(new):
            # An earlier command has failed, which was counted there.
            return
        if new[at]["status"] != old[at]["status"]:
            line.count(f"{where}, exit status", old[at]["status"], f"{new[at]['status']} {new[at]['messages'].strip()}")
            return
        for part in sorted(old[at].keys() | new[at].keys()):
            one, other = (content(command, part, its[at].get(part, "")) for its in (old, new))
            for place in itertools.chain(one, (place for place in other if place not in one)):
                if command[0] == "show" and place.startswith("settings.") and (place in one) != (place in other):
                    renamed["old" if place in one else "new"].add(place.removeprefix("settings."))
                else:
                    line.count(f"{where}, {part}, {place}", one.get(place), other.get(place))


def write(table):
    width = max(map(len, table))
    print(f"{'what':{width}}  compared   differ  first difference")
    for name, line in table.items():
        print(f"{name:{width}} {line.compared:9} {line.differing:8}  {line.first}".rstrip())
    compared, differing = (sum(getattr(line, of) for line in table.values()) for of in ("compared", "differing"))
    print(f"{'all':{width}} {compared:9} {differing:8}")
    return compared > 0 and differing == 0


def main():
    usual = os.environ.get("LABELCHAIN_DATA") or os.path.join(ROOT, os.pardir, "shared", "data")
    arguments = argparse.ArgumentParser(description="Shows that two builds of the program answer the same, bit for bit.")
    arguments.add_argument("old", metavar="OLD", type=os.path.abspath, help="the program as it was")
    arguments.add_argument("new", metavar="NEW", type=os.path.abspath, help="the program as it is")
    arguments.add_argument("--data", metavar="DIR", default=usual, help="the data sets [default: $LABELCHAIN_DATA, else ../shared/data beside the checkout]")
    arguments.add_argument("--cache", metavar="DIR", help="keep the answers of OLD here, so that it is asked only once")
    arguments.add_argument("--quick", action="store_true", help="flags and emotions only, and smaller ensembles")
    given = arguments.parse_args()
    asked, missing = jobs(os.path.abspath(given.data), given.quick)
    if given.cache:
        os.makedirs(given.cache, exist_ok=True)
    digests = {path: digest(path) for path in {given.old, *(job.data for job in asked)} if path}

    def both(job):
        old = ask_once(given.old, job, given.cache, digests)
        if old[-1]["status"] != "0":
            raise SystemExit(f"OLD fails at {job.name}: {' '.join(job.commands[len(old) - 1])}\n{old[-1]['messages']}")
        return old, ask(given.new, job)

    table, renamed = collections.defaultdict(Line), {"old": set(), "new": set()}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for at, (job, answers) in enumerate(zip(asked, pool.map(both, asked)), 1):
            print(f"{at} of {len(asked)}: {job.name}", file=sys.stderr)
            compare(job, *answers, table, renamed)
    for name in missing:
        print(f"skipped, not in {given.data}: {name}")
    same = bool(table) and write(table)
    for who, names in renamed.items():
        if names:
            print(f"settings that only {who.upper()} shows, not compared: {', '.join(sorted(names))}")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
