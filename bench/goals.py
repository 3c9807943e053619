"""The jobs whose speed has a goal: a build from before, a build of today, and rivals where there are some, in turn.

    python bench/goals.py BEFORE [--data DIR] [--rounds N]

BEFORE is an executable of an older revision, built by `git worktree add` and `cargo build --release`; the build of today is
made here. Figures are medians: CPU time of whole processes with one thread, or seconds on the wall where two cores are
compared with one. The goals were set on a processor with AVX-512; on another, compare with what BEFORE takes there.
"""

import argparse
import os
import statistics
import sys
import tempfile

from measure import ROOT, few_cells, labelchain, made, python, run, write

CHAINS = ["--select", "none", "--decay", "1", "--neighbours", "5"]
# Thirty folds of each method; `--jobs` is cores.
STUDY = """
seed = 1
folds = 10
data = "{data}"
sets = [{{ file = "emotions.arff.gz" }}, {{ file = "yeast.arff.gz" }}, {{ file = "scene.arff.gz" }}]
methods = ["dynamic-nb", "ecc-nb", "dynamic-knn"]

[settings]
select = "none"
decay = 1
neighbours = 5
"""
# scikit-learn's naive Bayes on words, without reading them: the rival of the job of the same rows.
BERNOULLI = """
import sys, time
from sklearn.datasets import load_svmlight_file
from sklearn.naive_bayes import BernoulliNB
from sklearn.preprocessing import MultiLabelBinarizer

features, labels = load_svmlight_file(sys.argv[1], n_features=int(sys.argv[2]) + 1, multilabel=True)
labels = MultiLabelBinarizer().fit_transform(labels)
started = time.process_time()
for at in range(labels.shape[1]):
    BernoulliNB().fit(features, labels[:, at])
print(time.process_time() - started)
"""


class Jobs:
    """The data sets, and what is run on them by each program."""

    def __init__(self, programs, data, directory, rounds):
        self.programs, self.data, self.directory, self.rounds = programs, data, directory, rounds
        # A program from before probabilities were shown has no option to leave them out.
        helps = {who: run([program, "evaluate", "--help"])["out"] for who, program in programs.items()}
        self.losses_alone = {who: ["--no-probabilities"] if "--no-probabilities" in text else [] for who, text in helps.items()}

    def path(self, name):
        return os.path.join(self.directory, name)

    def table(self, rows, features, labels):
        path = self.path(f"{rows}-{features}-{labels}.csv")
        if not os.path.exists(path):
            size = ["--rows", str(rows), "--features", str(features), "--labels", str(labels)]
            run([self.programs["before"], "generate", "network", *size, "--out", path])
        return path

    def words(self, *size):
        path = self.path("-".join(map(str, size)) + ".svm")
        if not os.path.exists(path):
            few_cells(path, *size)
        return path

    def model(self, who, rows, *arguments):
        """A model that each program trains for itself, because their model files differ."""
        path = self.path(who + "-" + "-".join([os.path.basename(rows), *arguments]).replace("/", "-"))
        if not os.path.exists(path):
            run([self.programs[who], "train", rows, *arguments, "-o", path])
        return path

    def medians(self, command, **more):
        """What a command of each program takes; the programs run in turn."""
        commands = {who: command(who) for who in self.programs} | more
        runs = {who: [] for who in commands}
        for _ in range(self.rounds):
            for who, line in commands.items():
                ran = run(line)
                if ran is not None:
                    runs[who].append(ran | ({"said": float(ran["out"])} if who in more else {}))
        print(commands["today"], file=sys.stderr)
        number = lambda of, key: statistics.median(one[key] for one in of) if of else None
        return {who: {key: number(of, key) for key in ("process_cpu", "process_peak", "wall", "said") if of and key in of[0]} for who, of in runs.items()}

    def train(self, rows, *arguments):
        return lambda who: [self.programs[who], "train", rows, *arguments, "--threads", "1", "-o", self.path(who + "-trained")]

    def evaluate(self, name, method):
        path = os.path.join(self.data, name + ".arff.gz")
        return lambda who: [self.programs[who], "evaluate", path, *CHAINS, "-m", method, "--threads", "1", *self.losses_alone[who]]

    def predict(self, model, rows, threads):
        return lambda who: [self.programs[who], "predict", model(who), rows, "--threads", str(threads), "-o", self.path(who + "-out.csv")]

    def study(self, cores):
        protocol = self.path("study.toml")
        with open(protocol, "w") as out:
            out.write(STUDY.format(data=self.data))
        return lambda who: [self.programs[who], "study", "run", protocol, "--jobs", str(cores), "--results", self.path(who + ".db")]


def lines(jobs):
    """The rows of the table: job, before, today, today over before, goal."""
    cpu = lambda costs, who: costs[who]["process_cpu"]
    line = lambda job, before, today, ratio, goal: f"| {job} | {before} | {today} | {ratio} | {goal} |"

    def seconds(job, costs, goal, digits=2):
        before, today = cpu(costs, "before"), cpu(costs, "today")
        return line(job, f"{before:.{digits}f}", f"{today:.{digits}f}", f"{today / before:.2f}", goal)

    for method, goals in {"dynamic-nb": ["0.20 of 0.52", "0.30 of 0.71"], "dynamic-knn": ["1.0 of 2.5", "2.0 of 6.0"]}.items():
        for name, goal in zip(["yeast", "scene"], goals):
            yield seconds(f"ten folds of `{method}`, 20 members, no selection, {name}", jobs.medians(jobs.evaluate(name, method)), goal)
    size = (10_000, 100_000, 20, 50, 1)
    rows = jobs.words(*size)
    costs = jobs.medians(jobs.train(rows, "--select", "none", "--members", "1", "-m", "br-nb"), BernoulliNB=[sys.executable, "-c", BERNOULLI, rows, str(size[1])])
    yield seconds("training `br-nb`, 10,000 x 100,000 words, 20 labels, one member, reading and calibration included", costs, "0.25 of 12.0")
    yield line("the same rows, scikit-learn's `BernoulliNB` for each label, fitting alone", "", f"{costs['BernoulliNB']['said']:.2f}", "", "")
    rows = jobs.words(6_000, 500, 103, 50, 10)
    yield seconds("training `ecc-nb`, 6,000 x 500 words, 103 labels", jobs.medians(jobs.train(rows, "--select", "none", "-m", "ecc-nb")), "0.8 of 8.3")
    enron, one = os.path.join(jobs.data, "enron.arff.gz"), jobs.path("one.arff")
    run([jobs.programs["before"], "convert", enron, one, "--sample-rows", "1"])
    costs = jobs.medians(jobs.predict(lambda who: jobs.model(who, enron, "--select", "none", "-m", "ecc-nb"), one, 1))
    yield seconds("one row from a model of enron, `ecc-nb`, a new process", costs, "0.030 of 0.228", 3)
    peak = {who: costs[who]["process_peak"] / 1e6 for who in jobs.programs}
    yield line("its peak memory, MB", f"{peak['before']:.0f}", f"{peak['today']:.0f}", f"{peak['today'] / peak['before']:.2f}", "40 of 202")
    yield seconds("training `dynamic-knn`, 30,000 x 20, 5 labels", jobs.medians(jobs.train(jobs.table(30_000, 20, 5), *CHAINS, "-m", "dynamic-knn")), "4 of 20.8")
    rows = jobs.table(24_000, 20, 5)
    model = lambda who: jobs.model(who, rows, "--select", "none", "--decay", "1", "-m", "dynamic-nb")
    one, two = (jobs.medians(jobs.predict(model, rows, threads)) for threads in (1, 2))
    gain = {who: one[who]["wall"] / two[who]["wall"] for who in jobs.programs}
    yield seconds("labelling 24,000 rows by `dynamic-nb` of as many", one, "")
    yield line("two cores against one, on the wall", f"{gain['before']:.2f}", f"{gain['today']:.2f}", "", "1.8 of 1.17")
    one, two = (jobs.medians(jobs.study(cores)) for cores in (1, 2))
    gain = {who: one[who]["wall"] / two[who]["wall"] for who in jobs.programs}
    yield line("a study of three sets and three methods, `--jobs 2` against `--jobs 1`, on the wall", f"{gain['before']:.2f}", f"{gain['today']:.2f}", "", "2 of 1.31")
    million = jobs.table(1_000_000, 20, 5)
    model = lambda who: jobs.model(who, jobs.table(30_000, 20, 5), "--select", "none", "-m", "ecc-nb")
    two = jobs.medians(jobs.predict(model, million, 2))
    rate = {who: 1e6 / two[who]["wall"] for who in jobs.programs}
    yield line("labelling CSV by `ecc-nb`, two cores, rows a second", f"{rate['before']:,.0f}", f"{rate['today']:,.0f}", f"{rate['before'] / rate['today']:.2f}", "600,000 of 194,000")


def main():
    usual = os.environ.get("LABELCHAIN_DATA") or os.path.join(ROOT, os.pardir, "shared", "data")
    arguments = argparse.ArgumentParser(description="Measures the jobs whose speed has a goal.")
    arguments.add_argument("before", metavar="BEFORE", type=os.path.abspath, help="the program as it was")
    arguments.add_argument("--data", metavar="DIR", default=usual, help="the data sets [default: $LABELCHAIN_DATA, else ../shared/data beside the checkout]")
    arguments.add_argument("--rounds", metavar="N", type=int, default=5, help="how often each runs [default: 5]")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        jobs = Jobs({"before": given.before, "today": labelchain()}, os.path.abspath(given.data), directory, given.rounds)
        table = ["| job | before | today | today over before | goal, of what it was when the goal was set |", "|---|---|---|---|---|", *lines(jobs)]
    write("Goals", [made(given.rounds, python("scikit-learn")), "", "CPU seconds of whole processes with one thread, unless the job says otherwise.", "", *table])


if __name__ == "__main__":
    main()
