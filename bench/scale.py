"""How far does one machine go? Time and memory of training and predicting as rows, labels and columns grow.

    python3 bench/scale.py OUT.csv [--program FILE] [--only WHAT ...] [--limit GB] [--seconds S]

Everything is generated. Each job is a process of its own under a limit on its memory that the system enforces
(RLIMIT_DATA), with all cores; a job that does not fit, or takes longer than it may, says so, and no larger one of its
kind is tried. docs/scale.md shows such a run, whose figures are docs/results/scale.csv, drawn by
bench/scale_picture.py. Nothing but Python's standard
library is needed.
"""

import argparse
import csv
import os
import resource
import signal
import subprocess
import tempfile
import threading
import time

from measure import ROOT, few_cells, labelchain

GB = 1 << 30


def cost(command, limit, seconds):
    """CPU seconds, seconds on the wall and peak megabytes of a process, or why it failed."""
    started = time.perf_counter()
    bounded = lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, cwd=ROOT, preexec_fn=bounded)
        stop = threading.Timer(seconds, child.kill)
        stop.start()
        _, status, usage = os.wait4(child.pid, 0)
        stop.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().strip().splitlines()
    if child.returncode == -signal.SIGKILL:
        return f"not done after {seconds:.0f} s"
    if child.returncode != 0:
        errors_first = sorted(said, key=lambda line: not line.startswith("error"))
        return errors_first[0] if said else f"status {child.returncode}"
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1024


class Scale:
    def __init__(self, program, directory, limit, seconds, only, out):
        self.program, self.directory, self.only = program, directory, only
        self.limit, self.seconds = limit, seconds
        self.out = csv.writer(out)
        self.file = out
        self.out.writerow(["grows", "method", "step", "size", "cpu_s", "wall_s", "peak_mb", "note"])

    def place(self, name):
        return os.path.join(self.directory, name)

    def network(self, rows, features, labels):
        """A table of so many rows, inputs and labels, made once."""
        path = self.place(f"{rows}-{features}-{labels}.csv")
        if not os.path.exists(path):
            size = ["--rows", str(rows), "--features", str(features), "--labels", str(labels)]
            subprocess.run([self.program, "generate", "network", *size, "-o", path], check=True)
        return path

    def words(self, rows, features, labels):
        path = self.place(f"{rows}-{features}-{labels}.svm")
        if not os.path.exists(path):
            few_cells(path, rows, features, labels, 50)
        return path

    def job(self, grows, method, step, size, command):
        """Whether it went well."""
        did = cost([self.program, *command, "--force"], self.limit, self.seconds)
        figures, note = (["", "", ""], did) if isinstance(did, str) else ([f"{did[0]:.2f}", f"{did[1]:.2f}", f"{did[2]:.0f}"], "")
        self.out.writerow([grows, method, step, size, *figures, note])
        self.file.flush()
        print(grows, method, step, f"{size:,}", *figures, note, flush=True)
        return not note

    def train(self, grows, methods, sizes, table, *settings):
        """Trains each method at growing sizes, until one does not fit."""
        if self.only and grows not in self.only:
            return
        for method in methods:
            for size in sizes:
                if not self.job(grows, method, "train", size, ["train", table(size), "-m", method, "-o", self.place("model"), *settings]):
                    break

    def predict(self, grows, methods, train, sizes, table, *settings):
        """Answers more and more rows by one model each."""
        if self.only and grows not in self.only:
            return
        for method in methods:
            subprocess.run([self.program, "train", train, "-m", method, "-o", self.place("model"), "--force", *settings], check=True, capture_output=True)
            for size in sizes:
                if not self.job(grows, method, "predict", size, ["predict", self.place("model"), table(size), "-o", self.place("answers.csv")]):
                    break


def main():
    arguments = argparse.ArgumentParser(description="Measures time and memory as rows, labels and columns grow.")
    arguments.add_argument("out", metavar="OUT.csv")
    arguments.add_argument("--program", metavar="FILE", type=os.path.abspath, help="the program [default: built]")
    arguments.add_argument("--only", metavar="WHAT", nargs="*", help="what grows: 'rows predicted', 'rows', 'rows of 300 labels', 'labels', 'columns', 'columns, CFS', 'columns, all used'")
    arguments.add_argument("--limit", metavar="GB", type=float, default=4, help="memory of a process [default: 4]")
    arguments.add_argument("--seconds", metavar="S", type=float, default=300, help="most seconds of a process [default: 300]")
    arguments.add_argument("--largest", metavar="ROWS", type=float, default=1e7, help="most rows to predict [default: 1e7]")
    given = arguments.parse_args()
    program = given.program or labelchain()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as directory, open(given.out, "w", newline="") as out:
        scale = Scale(program, directory, int(given.limit * GB), given.seconds, given.only, out)
        rows = lambda size: scale.network(size, 20, 5)
        powers = lambda first, last: [10**n for n in range(first, last + 1)]
        sizes = [size for size in powers(4, 7) if size <= given.largest]
        scale.predict("rows predicted", ["certain-forest", "ecc-nb"], rows(10_000), sizes, rows)
        scale.train("rows", ["certain-forest", "ecc-nb", "dynamic-nb", "dynamic-knn"], [1_000, 3_000, 10_000, 30_000, 100_000], rows, "--max-memory", f"{int(given.limit * 1000)}M")
        # The kernel is set: a search of C and γ trains a machine for each point of its grid.
        scale.train("rows", ["br-svm"], [1_000, 3_000, 10_000, 30_000], rows, "--cost", "1", "--gamma", "0.1", "--select", "none", "--max-memory", f"{int(given.limit * 1000)}M")
        scale.train("rows of 300 labels", ["dynamic-knn"], [1_000, 10_000, 100_000], lambda size: scale.network(size, 20, 300), "--decay", "1", "--neighbours", "5", "--select", "none", "--max-memory", f"{int(given.limit * 1000)}M")
        scale.train("labels", ["certain-forest", "ecc-nb", "br-nb"], [10, 100, 1_000, 10_000], lambda size: scale.network(2_000, 20, size), "--max-memory", f"{int(given.limit * 1000)}M")
        words = lambda size: scale.words(10_000, size, 20)
        scale.train("columns", ["certain-forest"], powers(3, 6), words, "--max-memory", f"{int(given.limit * 1000)}M")
        scale.train("columns, CFS", ["br-nb"], powers(3, 6), words, "--max-memory", f"{int(given.limit * 1000)}M")
        # Without selection all columns are used, and kept in the model.
        scale.train("columns, all used", ["br-nb"], powers(3, 6), words, "--select", "none", "--members", "5", "--max-memory", f"{int(given.limit * 1000)}M")


if __name__ == "__main__":
    main()
