"""Texts: ours against scikit-learn's TF-IDF with chains of logistic regressions, on the same rows.

    bench/.rivals/bin/python bench/texts.py DIRECTORY [--program FILE] [--repeats 3] [--words 1000000]

DIRECTORY has the paper's data sets. Three tables: generated tickets, and two of the paper's sets of words, whose rows
are written as texts again: each word as often as its cell says. Ours is certain-forest@micro-f1 with its defaults, and
ecc-nb beside it; theirs TfidfVectorizer(ngram_range=(1, 2), min_df=2) and ten ClassifierChains in random orders over
LogisticRegression, threshold 1/2, fixed beforehand. Both learn from the text alone, from the same rows of one hold-out
of 30 %. CPU seconds are of one thread, with reading and start, the median of the repeats. Then the bag of words alone, of
the messages of so many tickets: vocabulary and weights, against TfidfVectorizer, without reading and start.
"""

import argparse
import csv
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from measure import ONE_THREAD, benches, in_turn, labelchain

SETS = ["medical", "enron"]


def tickets(program, path):
    subprocess.run([program, "generate", "tickets", "--rows", "2000", "-o", path], check=True)


def as_texts(program, data, name, path):
    """A set of words as a table with a column of texts and one of tags."""
    source = next(os.path.join(data, name + ending) for ending in [".arff.gz", ".arff"] if os.path.exists(os.path.join(data, name + ending)))
    plain = path + ".plain.csv"
    subprocess.run([program, "convert", source, plain], check=True)
    with open(plain[: -len(".csv")] + ".xml", encoding="utf-8") as labels:
        labels = set(re.findall(r'label name="([^"]*)"', labels.read()))
    csv.field_size_limit(1 << 30)
    with open(plain, encoding="utf-8", newline="") as rows, open(path, "w", encoding="utf-8", newline="") as out:
        rows = csv.reader(rows)
        header = next(rows)
        # A word for each column, so that no two columns become one.
        words = [re.sub(r"[^0-9a-zA-Z]", "", name) + f"_{at}" for at, name in enumerate(header)]
        out = csv.writer(out)
        out.writerow(["message", "tags"])
        for number, row in enumerate(rows):
            shuffled = [word for word, name, cell in zip(words, header, row) if name not in labels and cell not in ("0", "") for _ in range(max(1, round(float(cell))))]
            # The order of the words is not known; one that is the same for all would make pairs of neighbours.
            random.Random(number).shuffle(shuffled)
            out.writerow([" ".join(shuffled), ";".join(name for name, cell in zip(header, row) if name in labels and cell == "1")])


def cpu(command, **options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **ONE_THREAD}, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def ours(program, table, method):
    options = ["--tags", "tags", "--tag-separator", ";", "--text", "message"]
    with open(table, encoding="utf-8") as header:
        columns = next(csv.reader(header))
    options += [word for column in columns if column not in ("message", "tags") for word in ("--drop", column)]
    command = [program, "evaluate", table, "-m", method, "--holdout", "0.3", "--json", "--threads", "1", *options]
    seconds, text = cpu(command)
    losses = json.loads(text)["results"][0]["losses"]
    return seconds, {key: 1 - losses[key] for key in ("micro_f1", "macro_f1")}


THEIRS = """
import csv, json, sys
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multioutput import ClassifierChain
from sklearn.preprocessing import MultiLabelBinarizer

table, train, test = sys.argv[1:]
csv.field_size_limit(1 << 30)
rows = list(csv.DictReader(open(table, encoding="utf-8", newline="")))
texts = [row["message"] for row in rows]
Y = MultiLabelBinarizer().fit_transform([[tag.strip() for tag in row["tags"].split(";") if tag.strip()] for row in rows])
numbers = lambda path: [int(line) for line in open(path) if line.strip() and not line.startswith("#")]
train, test = numbers(train), numbers(test)
vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2)
X, Z = vectorizer.fit_transform([texts[at] for at in train]), vectorizer.transform([texts[at] for at in test])
both = [label for label in range(Y.shape[1]) if 0 < Y[train, label].sum() < len(train)]
P = np.zeros((len(test), Y.shape[1]))
for seed in range(10):
    chain = ClassifierChain(LogisticRegression(max_iter=1000), order="random", random_state=seed).fit(X, Y[np.ix_(train, both)])
    P[:, both] += chain.predict_proba(Z) / 10
for label in set(range(Y.shape[1])) - set(both):
    P[:, label] = Y[train, label].mean()
answer = (P > 0.5).astype(int)
f1 = lambda how: f1_score(Y[test], answer, average=how, zero_division=0)
print(json.dumps({"micro_f1": f1("micro"), "macro_f1": f1("macro")}))
"""


def theirs(program, table, folder):
    cut = os.path.join(folder, "cut-" + os.path.basename(table))
    subprocess.run([program, "split", table, "--tags", "tags", "--holdout", "0.7", "-o", cut], check=True, capture_output=True)
    seconds, text = cpu([sys.executable, "-c", THEIRS, table, os.path.join(cut, "train.txt"), os.path.join(cut, "test.txt")])
    return seconds, json.loads(text)


WORDS = """
import json, sys, time
from sklearn.feature_extraction.text import TfidfVectorizer

lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
start = time.process_time()
weights = TfidfVectorizer(ngram_range=(1, 2), min_df=2, max_features=20_000).fit_transform(lines)
print(json.dumps({"cpu": time.process_time() - start, "cells": weights.nnz}))
"""


def bag_of_words(program, folder, rows, repeats):
    """Prints how fast texts become weights of words, here and there."""
    table, lines = os.path.join(folder, "many.csv"), os.path.join(folder, "lines.txt")
    subprocess.run([program, "generate", "tickets", "--rows", str(rows), "-o", table], check=True)
    with open(table, encoding="utf-8", newline="") as rows, open(lines, "w", encoding="utf-8") as out:
        out.writelines(row["message"].replace("\n", " ") + "\n" for row in csv.DictReader(rows))
    megabytes = os.path.getsize(lines) / 1e6
    done = in_turn({"labelchain": [benches()["words"], "--bench", lines], "TfidfVectorizer": [sys.executable, "-c", WORDS, lines]}, repeats)
    print(f"\n{megabytes:.0f} MB of texts\n\n| who | CPU s | MB/s | cells |\n|---|---|---|---|")
    for who, of in done.items():
        print(f"| {who} | {of['cpu']:.2f} | {megabytes / of['cpu']:.1f} | {of['cells']:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--program")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--words", type=int, default=1_000_000)
    given = parser.parse_args()
    program = os.path.abspath(given.program) if given.program else labelchain()
    print("| table | method | micro F1 | macro F1 | CPU s |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in ["tickets", *SETS]:
            table = os.path.join(folder, name + ".csv")
            tickets(program, table) if name == "tickets" else as_texts(program, given.data, name, table)
            for method, run in [("certain-forest@micro-f1", ours), ("ecc-nb", ours), ("TF-IDF, logistic chains", None)]:
                done = [run(program, table, method) if run else theirs(program, table, folder) for _ in range(given.repeats)]
                f1 = done[0][1]
                print(f"| {name} | {method} | {f1['micro_f1']:.3f} | {f1['macro_f1']:.3f} | {statistics.median(seconds for seconds, _ in done):.2f} |", flush=True)
        bag_of_words(program, folder, given.words, given.repeats)


if __name__ == "__main__":
    main()
