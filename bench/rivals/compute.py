"""Runs methods on the same folds of many data sets. Called by bench/rivals/run.

    python bench/rivals/compute.py DIRECTORY WORK [--sets a,b] [--methods a,b] [--folds 0,1] [--program FILE]

DIRECTORY has the paper's data sets, as `labelchain datasets` names them; WORK keeps what cells.py says.
What is there is not computed again, so a run that was killed goes on, and two may run side by side. Without
--folds all sets have their first three folds before any has its fourth: whenever it is stopped, there is
something to compare.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import cells
from measure import ONE_THREAD, RIVALS, labelchain

# Smallest first, by rows x features x labels, roughly.
SETS = ["flags", "haloarcula", "flare2", "emotions", "water-quality", "birds", "genbase", "plant", "medical", "simplehc", "simplehs", "mimlimg", "image",
        "scene", "yeast", "stackex_chess", "llog", "human", "enron", "tmc2007-500", "slashdot", "imdb", "arts1", "ohsumed"]
FOLDS = 10
# Sets of more rows than this have three folds.
MANY_ROWS = 5000
FOLDS_OF_MANY = 3
FIRST = 3

FOREST = "certain-forest"
AIMS = ["hamming", "zero-one", "example-f1", "macro-f1", "micro-f1"]
# What is trained, and the methods that answer from it: an aim needs no training of its own.
OURS = {FOREST: [FOREST, *(f"{FOREST}@{aim}" for aim in AIMS)], "dynamic-nb": ["dynamic-nb"], "dynamic-knn": ["dynamic-knn"], "ecc-j48": ["ecc-j48"]}
PYTHON = ["sklearn-forest-per-label", "sklearn-forest", "sklearn-chains-logistic", "sklearn-chains-forest", "xgboost-chains"]
BOOMER = ["boomer", "boomer-subset"]
# A forest of a link has 10 trees, as those of scikit-learn's chains (learners.py says why).
MEKA = {"meka-ecc-j48": ["weka.classifiers.trees.J48"], "meka-ecc-forest": ["weka.classifiers.trees.RandomForest", "-I", "10"]}


def prepare(program, data, work, name):
    """A data set in the paper's form, its folds, and what the rivals in Python read; once."""
    place = os.path.join(work, name)
    if os.path.exists(os.path.join(place, "folds")):
        return True
    os.makedirs(place, exist_ok=True)
    path, numbers = os.path.join(place, "data.arff"), os.path.join(place, "inputs.svm")
    known = {one["name"].lower(): one["convert"] for one in json.loads(output([program, "datasets", "--json"]))["sets"]}
    words = (known.get(name) or "").split()
    if words[1:2] == ["generate"]:
        output([program, *words[1:-1], path])
    else:
        found = [os.path.join(data, folder, name + ending) for folder in ["", "miml"] for ending in [".arff.gz", ".arff"]]
        found = [file for file in found if os.path.exists(file)]
        if not found:
            print(f"not in {data}: {name}", file=sys.stderr)
            return False
        output([program, "convert", found[0], path, *(word.strip("'") for word in words[4:])])
    output([program, "convert", path, numbers, "--one-hot"])
    labels = [node.get("name") for node in xml.parse(os.path.join(place, "data.xml")).iter() if node.tag.endswith("label")]
    cells.write(os.path.join(place, "labels.txt"), "".join(label + "\n" for label in labels))
    n_rows = json.loads(output([program, "describe", path, "--json"]))["rows"]
    folds = FOLDS_OF_MANY if n_rows > MANY_ROWS else FOLDS
    # Each fold has its share of each label.
    output([program, "split", path, "--folds", str(folds), "--stratify", "iterative", "--seed", "1", "-o", os.path.join(place, "folds")])
    return True


def output(command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def limited(command):
    """A process that is stopped when its time is up: what it printed and spent, or what is to be recorded instead."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, env=os.environ | ONE_THREAD, preexec_fn=cells.limit)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if status != 0:
            return None, cells.outcome(status, usage, err.read())
        return out.read(), usage.ru_utime + usage.ru_stime


def ours(program, work, name, trained, fold, n_folds):
    """Trains once and answers for each aim. CPU seconds are of whole processes, with start and reading."""
    methods = [method for method in OURS[trained] if not cells.done(work, name, method, fold)]
    place = os.path.join(work, name)
    with cells.Claim(work, name, trained, fold) as free:
        if not free or not methods:
            return
        with tempfile.TemporaryDirectory() as scratch:
            model, rows, part = (os.path.join(scratch, file) for file in ["model", "train.txt", "answers.csv"])
            with open(rows, "w") as train:
                for other in set(range(n_folds)) - {fold}:
                    with open(os.path.join(place, "folds", f"fold-{other}.txt")) as lines:
                        train.write(lines.read())
            path, test = os.path.join(place, "data.arff"), os.path.join(place, "folds", f"fold-{fold}.txt")
            printed, training = limited([program, "train", path, "--rows", rows, "-m", trained, "--threads", "1", "-o", model])
            for method in methods:
                answers = cells.paths(work, name, method, fold)[0]
                os.makedirs(os.path.dirname(answers), exist_ok=True)
                if printed is not None:
                    aim = ["--aim", method.split("@")[1]] if "@" in method else []
                    said, predicting = limited([program, "predict", model, path, "--rows", test, *aim, "--probabilities", "--threads", "1", "-o", part, "--force"])
                if printed is None or said is None:
                    cells.record(work, name, method, fold, training if printed is None else predicting)
                    continue
                with open(part) as text:
                    cells.write(answers, text.read())
                cells.record(work, name, method, fold, {"train": round(training, 3), "predict": round(predicting, 3)})


def meka(work, name, method, fold):
    place = os.path.join(work, name)
    with cells.Claim(work, name, method, fold) as free:
        if not free or cells.done(work, name, method, fold):
            return
        answers = cells.paths(work, name, method, fold)[0]
        jars = os.path.join(RIVALS, "meka")
        command = ["java", "-XX:+UseSerialGC", "-cp", jars + os.pathsep + os.path.join(jars, "*"), "MekaFold",
                   os.path.join(place, "data.arff"), os.path.join(place, "folds", f"fold-{fold}.txt"), answers + ".part", *MEKA[method]]
        printed, spent = limited(command)
        if printed is None:
            cells.record(work, name, method, fold, spent)
            return
        os.replace(answers + ".part", answers)
        cells.record(work, name, method, fold, json.loads(printed.strip().splitlines()[-1]))


def python(interpreter, work, name, methods, folds):
    left = [method for method in methods if not all(cells.done(work, name, method, fold) for fold in folds)]
    if left:
        numbers = ",".join(map(str, folds))
        subprocess.run([interpreter, os.path.join(HERE, "learners.py"), work, name, ",".join(left), numbers], env=os.environ | ONE_THREAD, check=True)


def main():
    arguments = argparse.ArgumentParser(description="Runs methods on the same folds of many data sets.")
    arguments.add_argument("data", metavar="DIRECTORY")
    arguments.add_argument("work", metavar="WORK")
    arguments.add_argument("--sets", default=",".join(SETS))
    arguments.add_argument("--methods", help="all of them if not said")
    arguments.add_argument("--folds", help="all of them if not said")
    arguments.add_argument("--program", type=os.path.abspath, help="labelchain; built if not said")
    given = arguments.parse_args()
    program = given.program or labelchain()
    work = os.path.abspath(given.work)
    wanted = lambda method: given.methods is None or method in given.methods.split(",")
    sets = [name for name in given.sets.split(",") if prepare(program, given.data, work, name)]
    passes = [[int(fold) for fold in given.folds.split(",")]] if given.folds else [list(range(FIRST)), list(range(FIRST, FOLDS))]
    for numbers in passes:
        for name in sets:
            n_folds = len(os.listdir(os.path.join(work, name, "folds")))
            folds = [fold for fold in numbers if fold < n_folds]
            if not folds:
                continue
            for trained in filter(wanted, OURS):
                for fold in folds:
                    ours(program, work, name, trained, fold, n_folds)
            python(sys.executable, work, name, list(filter(wanted, PYTHON)), folds)
            python(os.path.join(RIVALS, "boomer", "bin", "python"), work, name, list(filter(wanted, BOOMER)), folds)
            for method in filter(wanted, MEKA):
                for fold in folds:
                    meka(work, name, method, fold)
            print(f"{name}: folds {', '.join(map(str, folds))}", file=sys.stderr)


if __name__ == "__main__":
    main()
