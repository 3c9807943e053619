"""What the benchmarks share: processes run in turn, medians of them, sections of RESULTS.md.

Nothing large may be imported here: the kernel counts the memory of the process that starts another
towards the peak of that other.
"""

import gzip
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
RIVALS = os.path.join(HERE, ".rivals")
RESULTS = os.path.join(HERE, "RESULTS.md")
WEKA = ["java", "-cp", os.path.join(RIVALS, "weka.jar")]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

HEAD = """# Results

Written by `bench/run`, a section at a time: each says when, and with what. CPU seconds are user and system time of a process of its own; figures are medians; rivals and ours run in turn. A ratio is the rival's CPU time over ours.
"""


def run(command):
    """One process: what it printed, and what it cost as a whole. The files that it is to write are removed first, because
    programs do not write over files, or not all of them without being told to."""
    for option, path in zip(command, command[1:]):
        if option in ("-o", "--out", "--explain", "--results") and os.path.exists(path):
            os.remove(path)
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT, env=os.environ | ONE_THREAD)
        out = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        err = errors.read()
    if child.returncode != 0:
        print(" ".join(command)[:200], err[-500:], sep="\n", file=sys.stderr)
        return None
    return {"out": out, "err": err, "process_cpu": usage.ru_utime + usage.ru_stime, "process_peak": usage.ru_maxrss * 1024, "wall": wall}


def numbers(command, of):
    """One process: its own numbers, and those in the line of JSON it ends with, if that is of use."""
    ran = run(command)
    if ran is None:
        return None
    printed = of(json.loads(ran["out"].strip().splitlines()[-1])) if of else {}
    return {key: value for key, value in (ran | printed).items() if isinstance(value, (int, float))}


def median(runs):
    if None in runs:
        return None
    return {key: statistics.median(one[key] for one in runs) for key in runs[0]}


def in_turn(commands, rounds, of=lambda printed: printed):
    """Each command once a round, so that a noisy neighbour meets all of them."""
    runs = {name: [] for name in commands}
    for at in range(rounds):
        for name, command in commands.items():
            if None not in runs[name]:
                runs[name].append(numbers(command, of))
                print(f"round {at + 1} of {rounds}: {name}", file=sys.stderr)
    return {name: median(of) for name, of in runs.items()}


def built(*arguments):
    """Our executables by name, built: run as they are, as the rivals are, and not through cargo."""
    command = ["cargo", *arguments, "--message-format=json"]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True).stdout.splitlines()
    items = [json.loads(line) for line in lines]
    return {item["target"]["name"]: item["executable"] for item in items if item.get("executable")}


def benches():
    return built("bench", "--quiet", "--package", "labelchain", "--no-run")


def labelchain():
    return built("build", "--quiet", "--release", "--package", "labelchain-cli")["labelchain"]


def unpack(data, name, directory):
    """A data set as plain ARFF, its label file beside it."""
    path = os.path.join(directory, name + ".arff")
    with gzip.open(os.path.join(data, name + ".arff.gz")) as packed, open(path, "wb") as plain:
        shutil.copyfileobj(packed, plain)
    shutil.copy(os.path.join(data, name + ".xml"), directory)
    return path


def few_cells(path, rows, features, labels, stored, rare=1):
    """Writes rows of few cells in many columns, as words are: the values are 1, some columns are frequent and
    most are rare, and a label is relevant where one of the first cells that were drawn is of a column of its
    own; `rare` to one of them is ignored."""
    draw = random.Random(1)
    with open(path, "w") as out:
        for _ in range(rows):
            # Squared, so that a column is the rarer the greater it is.
            columns = [int(features * draw.random() ** 2) + 1 for _ in range(stored)]
            relevant = sorted({column % labels for column in columns[:3] if draw.random() * rare < 1})
            out.write(",".join(map(str, relevant)) + " " + " ".join(f"{column}:1" for column in sorted(set(columns))) + "\n")


def dense(path):
    """The same rows with every cell written: WEKA finds a cell faster in them."""
    directory = os.path.join(os.path.dirname(path), "dense")
    os.makedirs(directory, exist_ok=True)
    unpacked = os.path.join(directory, os.path.basename(path))
    run([*WEKA, "weka.filters.unsupervised.instance.SparseToNonSparse", "-i", path, "-o", unpacked])
    shutil.copy(path.replace(".arff", ".xml"), directory)
    return unpacked


def made(rounds, *others):
    """When, on what, with what."""
    rust = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.split(" (")[0]
    return (f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({platform.machine()}), load average {os.getloadavg()[0]:.1f} at the start; "
            f"{rounds} processes of each; " + ", ".join([rust, *others]) + ".")


def python(*packages):
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)])


def write(title, lines):
    """Puts one section in its place, or at the end."""
    sections = {}
    if os.path.exists(RESULTS):
        with open(RESULTS) as results:
            for section in results.read().split("\n## ")[1:]:
                sections[section.split("\n", 1)[0]] = section.strip()
    sections[title] = "\n".join([title, "", *lines]).strip()
    with open(RESULTS, "w") as results:
        results.write("\n## ".join([HEAD, *(section + "\n" for section in sections.values())]))
    print("\n".join(["## " + title, "", *lines, ""]))
