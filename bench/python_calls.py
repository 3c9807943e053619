"""What does Python add to a call of the library?

    python3 -m venv ENV && ENV/bin/pip install ./python && ENV/bin/python bench/python_calls.py

`fit` and `predict` from arrays are called from Python and, in turn, from Rust (`python/benches/calls.rs`, which this
builds), in processes that stay; then an import is timed, and the prediction of one row by a model that was loaded.
No rivals. Prints a table in Markdown: medians, of the seconds that pass and of those of processors.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[1]

#: Method, rows, inputs and labels: what takes milliseconds, and what takes a second.
JOBS = [
    ("ecc-nb", 500, 20, 6),
    ("certain-forest", 500, 20, 6),
    ("ecc-knn", 500, 20, 6),
    ("ecc-nb", 5000, 50, 10),
    ("certain-forest", 5000, 50, 10),
]

#: What scikit-learn takes to import is not ours.
IMPORT = """
import time, joblib, scipy.sparse, sklearn.base, sklearn.model_selection, sklearn.utils.multiclass
start = time.process_time(); import labelchain; print(time.process_time() - start)
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--repeats", type=int, default=15)
    arguments.add_argument("--calls", type=pathlib.Path, help="the calls from Rust, where they are built already")
    given = arguments.parse_args()
    repeats, calls = given.repeats, given.calls or rust_calls()
    print("| call | Rust, ms | Python, ms | ratio | ratio of CPU time |\n|---|---|---|---|---|")
    for method, n_rows, n_inputs, n_labels in JOBS:
        for call, in_rust, in_python in compared(calls, method, n_rows, n_inputs, n_labels, repeats):
            wall, cpu = (statistics.median(of[at] for of in in_python) / statistics.median(of[at] for of in in_rust) for at in (0, 1))
            ours, theirs = (1e3 * statistics.median(of[0] for of in times) for times in (in_rust, in_python))
            print(f"| `{call}`, {method}, {n_rows} × {n_inputs} × {n_labels} | {ours:.1f} | {theirs:.1f} | {wall:.3f} | {cpu:.3f} |")
    imports = [float(subprocess.check_output([sys.executable, "-c", IMPORT])) for _ in range(repeats)]
    print(f"\n`import labelchain`, after scikit-learn: {1e3 * statistics.median(imports):.0f} ms of a processor\n")
    print("| `predict` of one row after `load` | µs, median | the quickest tenth |\n|---|---|---|")
    for method in ("certain-forest", "ecc-nb", "dynamic-nb", "br-nb", "ecc-knn", "ecc-j48"):
        times = sorted(one_row(method, 200 * repeats))
        print(f"| {method} | {1e6 * statistics.median(times):.0f} | {1e6 * times[len(times) // 10]:.0f} |")


def rust_calls() -> pathlib.Path:
    """Builds the calls from Rust, and says where they are."""
    command = ["cargo", "build", "--release", "-p", "labelchain-python", "--bench", "calls", "--message-format=json"]
    # The extension's own crates are compiled as for a wheel, so that both call the same library.
    lines = subprocess.check_output(command, cwd=ROOT, env={**os.environ, "PYO3_BUILD_EXTENSION_MODULE": "1"})
    built = (json.loads(line) for line in lines.splitlines())
    return next(pathlib.Path(of["executable"]) for of in built if of.get("executable") and of["target"]["name"] == "calls")


def table(n_rows: int, n_inputs: int, n_labels: int):
    import numpy as np

    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, n_inputs))
    Y = (X[:, :n_labels] + rng.normal(size=(n_rows, n_labels)) > 0).astype(np.int64)
    return X, Y


def compared(calls: pathlib.Path, method: str, n_rows: int, n_inputs: int, n_labels: int, repeats: int):
    """Each call, with its seconds and seconds of processors in Rust and in Python."""
    import labelchain as lc

    X, Y = table(n_rows, n_inputs, n_labels)
    with tempfile.TemporaryDirectory() as directory:
        inputs, labels = pathlib.Path(directory, "inputs"), pathlib.Path(directory, "labels")
        inputs.write_bytes(X.tobytes())
        labels.write_bytes(Y.astype("int8").tobytes())
        arguments = [calls, method, inputs, labels, n_inputs, n_labels]
        rust = subprocess.Popen(list(map(str, arguments)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        clf = lc.LabelChainClassifier(method).fit(X, Y)
        for call, line, ask in (("fit", "fit", lambda: clf.fit(X, Y)), ("predict", f"predict {n_rows}", lambda: clf.predict(X))):
            in_rust, in_python = [], []
            for _ in range(repeats):
                rust.stdin.write(line + "\n")
                in_rust.append(tuple(map(float, rust.stdout.readline().split())))
                wall, cpu = time.perf_counter(), time.process_time()
                ask()
                in_python.append((time.perf_counter() - wall, time.process_time() - cpu))
            yield call, in_rust, in_python
        rust.stdin.close()
        rust.wait()


def one_row(method: str, repeats: int) -> list[float]:
    """The seconds that the labels of one row take, by a model that was loaded."""
    import labelchain as lc

    X, Y = table(500, 20, 6)
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "m.labelchain")
        lc.LabelChainClassifier(method).fit(X, Y).save(path)
        clf = lc.load(path)
    row, times = X[:1].copy(), []
    for _ in range(repeats):
        start = time.perf_counter()
        clf.predict(row)
        times.append(time.perf_counter() - start)
    return times


if __name__ == "__main__":
    main()
