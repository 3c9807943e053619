"""Naive Bayes on words: few cells in many columns. Called by bench/run.

Two sets of rows are generated. On the first, one member of br-nb against scikit-learn's BernoulliNB, one for each
label, which looks at whether a word is there, as ours does. Of theirs, fitting alone counts, and fitting with
load_svmlight_file; of ours, the whole process, with start, reading, calibration and writing the model. Then training of
ecc-nb on the second, which has few words and many rare labels, and the answer for one row from either model: CPU time of
the whole process, and its peak memory. Our own old builds are compared with by old_and_new.py, which has these jobs too.
"""

import json
import os
import statistics
import sys
import tempfile

from measure import few_cells, labelchain, made, python, run, write

ROUNDS = 5
# Rows, columns, labels, cells of a row, and how rare labels are.
WORDS = {"100,000 words": (10_000, 100_000, 20, 50, 1), "500 words": (6_000, 500, 103, 50, 10)}
THEM, RIVALLED = "BernoulliNB", "100,000 words"
METHODS = {"100,000 words": ["-m", "br-nb", "--members", "1"], "500 words": ["-m", "ecc-nb"]}

THEIRS = """
import json, sys, time
from sklearn.datasets import load_svmlight_file
from sklearn.naive_bayes import BernoulliNB
from sklearn.preprocessing import MultiLabelBinarizer

started = time.process_time()
features, labels = load_svmlight_file(sys.argv[1], n_features=int(sys.argv[2]) + 1, multilabel=True)
labels = MultiLabelBinarizer().fit_transform(labels)
read = time.process_time()
models = [BernoulliNB().fit(features, labels[:, at]) for at in range(labels.shape[1])]
fitted = time.process_time()
print(json.dumps({"reading": read - started, "fitting": fitted - read}))
"""


def medians(commands):
    """What each command costs, in turn; theirs says itself what it took."""
    runs = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            ran = run(command)
            runs[name].append(ran | (json.loads(ran["out"]) if name == THEM else {}))
    number = lambda of, key: statistics.median(one[key] for one in of)
    return {name: {key: number(of, key) for key in of[0] if isinstance(of[0][key], (int, float))} for name, of in runs.items()}


def main():
    program = labelchain()
    table = ["| | CPU s | peak, MB | model, MB |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as directory:
        for name, size in WORDS.items():
            path, one, model = (os.path.join(directory, file) for file in ("words.svm", "one.svm", "model"))
            few_cells(path, *size)
            with open(path) as rows, open(one, "w") as out:
                out.write(rows.readline())
            train = [program, "train", path, "--select", "none", *METHODS[name], "--threads", "1", "-o", model]
            predict = [program, "predict", model, one, "--threads", "1", "-o", "-"]
            theirs = {THEM: [sys.executable, "-c", THEIRS, path, str(size[1])]} if name == RIVALLED else {}
            # The first training makes the model that the first prediction needs.
            costs = medians({"train": train, **theirs, "predict": predict})
            of = f"{size[0]:,} rows, {name}, {size[2]} labels"
            line = lambda what, cost, *more: "| " + " | ".join([what, cost, *more]) + " |"
            peak = lambda which: f"{costs[which]['process_peak'] / 1e6:.0f}"
            mb = f"{os.path.getsize(model) / 1e6:.1f}"
            table.append(line(f"{of}: `{' '.join(METHODS[name])}`, the whole process", f"{costs['train']['process_cpu']:.2f}", peak("train"), mb))
            if theirs:
                both = costs[THEM]["reading"] + costs[THEM]["fitting"]
                table.append(line(f"the same rows: {THEM} for each label, fitting alone", f"{costs[THEM]['fitting']:.2f}", peak(THEM), ""))
                table.append(line("with reading", f"{both:.2f}", peak(THEM), ""))
            table.append(line("one row from our model, the whole process", f"{costs['predict']['process_cpu']:.3f}", peak("predict"), ""))
    write("Words", [made(ROUNDS, python("scikit-learn")), "", *table])


if __name__ == "__main__":
    main()
