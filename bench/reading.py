"""Rivals and ours on the same files, in one run. Called by bench/run; writes bench/RESULTS.md.

Every measurement is a process of its own: CPU seconds are the process's user and system time
around the call that reads, peak memory its own.
"""

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
REPEATS = 5

RIVALS = {
    "SciPy loadarff": "from scipy.io import arff\ndef read(path):\n    return arff.loadarff(path)",
    "liac-arff load": "import arff\ndef read(path):\n    return arff.load(open(path), return_type={kind})",
}

MEASURE = """
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


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if result.returncode != 0:
        return None
    return json.loads(result.stdout.strip().splitlines()[-1])


def median(command, repeats=REPEATS):
    runs = [run(command) for _ in range(repeats)]
    if None in runs:
        return None
    return {key: statistics.median(r[key] for r in runs) for key in runs[0] if isinstance(runs[0][key], (int, float))}


def rival(name, path, kind):
    reader = RIVALS[name].replace("{kind}", kind)
    return median([sys.executable, "-c", MEASURE.format(reader=reader), path], 3)


def executables():
    """Our benches, built: run as they are, as the rivals are, and not through cargo."""
    command = ["cargo", "bench", "--package", "labelchain", "--no-run", "--message-format=json"]
    lines = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout.splitlines()
    built = [json.loads(line) for line in lines]
    return {item["target"]["name"]: item["executable"] for item in built if item.get("executable")}


EXECUTABLES = executables()


def ours(bench, *arguments):
    return median([EXECUTABLES[bench], *arguments], 9)


def unpack(data, name, directory):
    import gzip
    import shutil
    path = os.path.join(directory, name + ".arff")
    with gzip.open(os.path.join(data, name + ".arff.gz")) as packed, open(path, "wb") as plain:
        shutil.copyfileobj(packed, plain)
    shutil.copy(os.path.join(data, name + ".xml"), directory)
    return path


def versions():
    from importlib.metadata import version
    names = ["scipy", "numpy", "liac-arff", "iterative-stratification"]
    rust = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.split(" (")[0]
    return f"{rust}; Python {platform.python_version()}; " + ", ".join(f"{n} {version(n)}" for n in names)


def main(data):
    out = [
        "# Results", "",
        f"Made by `bench/run` on {time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({platform.machine()}), load average {os.getloadavg()[0]:.1f} at the start.",
        f"{versions()}.", "",
        "Medians: nine processes of ours, three of a rival's. CPU seconds. The ratio is the rival's CPU time over ours.", "",
        "## Reading ARFF", "",
        "| file | who | CPU s | MB/s of text | peak memory MB | ratio |",
        "|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as directory:
        for name, kind in [("scene", "arff.DENSE"), ("yeast", "arff.DENSE"), ("imdb", "arff.LOD")]:
            path = unpack(data, name, directory)
            size = os.path.getsize(path) / 1e6
            our = ours("reading", path)
            memory = f"{our['peak_bytes'] / 1e6:.0f} ({our['peak_bytes'] / our['data_bytes']:.2f} x the data set)"
            out.append(f"| {name}, {size:.1f} MB | labelchain | {our['cpu_seconds']:.4f} | {our['mb_per_second']:.0f} | {memory} | 1 |")
            packed = ours("reading", os.path.join(data, name + ".arff.gz"))
            out.append(f"| {name}, gzip | labelchain | {packed['cpu_seconds']:.4f} | {packed['mb_per_second']:.0f} | {packed['peak_bytes'] / 1e6:.0f} | |")
            for rival_name in RIVALS:
                their = rival(rival_name, path, kind)
                if their is None:
                    out.append(f"| {name} | {rival_name} | fails | | | |")
                    continue
                ratio = their["cpu_seconds"] / our["cpu_seconds"]
                out.append(f"| {name} | {rival_name} | {their['cpu_seconds']:.3f} | {size / their['cpu_seconds']:.1f} | {their['peak_bytes'] / 1e6:.0f} | {ratio:.0f} |")
            print(out[-3:], file=sys.stderr)
    out += ["", "## Starting the program and describing emotions", ""]
    subprocess.run(["cargo", "build", "--quiet", "--release"], cwd=ROOT, check=True)
    walls, cpus = [], []
    for _ in range(15):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(["target/release/labelchain", "describe", os.path.join(data, "emotions.arff.gz")], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        walls.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    out.append(f"{statistics.median(walls) * 1e3:.1f} ms of wall time, {statistics.median(cpus) * 1e3:.1f} ms of CPU (median of 15).")
    out += ["", "## Stratifying", "",
            "Ten folds, labels relevant to 5 % of the rows each.", "",
            "| rows x labels | who | CPU s | ratio |", "|---|---|---|---|"]
    for rows, labels in [(10_000, 100), (100_000, 100)]:
        our = ours("splitting", str(rows), str(labels))
        out.append(f"| {rows} x {labels} | labelchain, first order | {our['first_order_seconds']:.3f} | 1 |")
        out.append(f"| {rows} x {labels} | labelchain, second order | {our['second_order_seconds']:.3f} | |")
        their = median([sys.executable, "-c", STRATIFY.format(rows=rows, labels=labels)], 1)
        if their:
            ratio = their["cpu_seconds"] / our["first_order_seconds"]
            out.append(f"| {rows} x {labels} | iterative-stratification, first order | {their['cpu_seconds']:.2f} | {ratio:.0f} |")
    with open(os.path.join(HERE, "RESULTS.md"), "w") as results:
        results.write("\n".join(out) + "\n")
    print("\n".join(out))


if __name__ == "__main__":
    main(sys.argv[1])
