"""Ten-fold cross-validation of ensembles of chains, and the prediction of one row. Called by bench/run.

    python bench/chains.py DIRECTORY [PART ...]

Parts: row, nb, knn; all of them if none is named.
"""

import os
import statistics
import sys
import tempfile

from measure import HERE, RIVALS, in_turn, labelchain, made, python, run, write

SETS = ["yeast", "scene"]
ROUNDS = 3
OURS = labelchain()


def script(name, *arguments):
    return [sys.executable, os.path.join(HERE, name), *arguments]


def evaluate(path, method):
    return [OURS, "evaluate", path, "--select", "none", "--decay", "1", "--neighbours", "5", "--threads", "1", "--no-probabilities", "--json", "-m", method]


def meka(*arguments):
    return ["java", "-cp", os.path.join(RIVALS, "meka") + os.pathsep + os.path.join(RIVALS, "meka", "*"), "Meka", *arguments]


def commands(path):
    return {
        "labelchain dynamic-nb": evaluate(path, "dynamic-nb"),
        "NumPy, dynamic": script("dynamic_nb.py", path),
        "labelchain ecc-nb": evaluate(path, "ecc-nb"),
        "NumPy, random orders": script("dynamic_nb.py", path, "ecc"),
        "scikit-learn ClassifierChain": script("sklearn_chains.py", path),
        "MEKA BaggingML of CC": meka(path),
    }


def neighbours(path):
    return {
        "labelchain ecc-knn": evaluate(path, "ecc-knn"),
        "labelchain dynamic-knn": evaluate(path, "dynamic-knn"),
        "scikit-learn ClassifierChain": script("sklearn_chains.py", path, "knn"),
        "MEKA BaggingML of CC": meka(path, "knn"),
    }


def losses(printed):
    return printed["results"][0]["losses"] if "results" in printed else printed


def table(name, results, *bases):
    """A line for each, with what it costs over each of the bases."""
    of = [results["labelchain " + base]["process_cpu"] for base in bases]
    for who, its in results.items():
        if its is None:
            yield f"| {name} | {who} | fails | |" + " |" * len(of) + " | | |"
            continue
        whole = its.get("cold", its["process_cpu"])
        alone = its.get("warm", its.get("cpu"))
        over = " | ".join(f"{(alone or whole) / base:.3g}" for base in of)
        yield (f"| {name} | {who} | {whole:.2f} | {f'{alone:.2f}' if alone else ''} | {over} "
               f"| {its['hamming']:.4f} | {its['macro_f1']:.4f} | {its['process_peak'] / 1e6:.0f} |")


def cross_validation(files):
    lines = [
        made(ROUNDS, python("numpy", "scikit-learn"), "MEKA 1.9.7"), "",
        "Ten folds, 20 members, no feature selection, β = 1, one thread; ours is `labelchain evaluate --select none --decay 1 --threads 1 --no-probabilities`, because no rival calibrates. CPU seconds are of the whole process, of a rival also without its start and the reading of the file. "
        "MEKA cross-validates twice in one JVM: its whole process is counted up to the end of the first, the second is the one without start. **Ratios compare a rival without start and reading with the whole of ours**, and below 1 the rival is the faster.", "",
        "The losses show that `bench/dynamic_nb.py` does what we do. The others do something near it: chains in random orders, inputs as they are, 66 % of the rows (scikit-learn) or a bootstrap sample (MEKA) for fitting where we fit on 60 % of 66 %.", "",
        "| set | who | CPU s | without start and reading | over dynamic-nb | over ecc-nb | Hamming loss | macro F1 loss | peak memory MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, path in files.items():
        lines += table(name, in_turn(commands(path), ROUNDS, losses), "dynamic-nb", "ecc-nb")
    write("Cross-validating chains", lines)


def of_neighbours(files):
    lines = [
        made(1, python("numpy", "scikit-learn"), "MEKA 1.9.7"), "",
        "Ten folds, 20 members, R = 5, no feature selection, one thread: chains of nearest neighbours. Columns as above; one process of each, because the rivals take minutes. "
        "Ours measure the inputs once for all members and positions, which moves only the labels; the rivals search again for every position of every member.", "",
        "| set | who | CPU s | without start and reading | over ecc-knn | Hamming loss | macro F1 loss | peak memory MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, path in files.items():
        lines += table(name, in_turn(neighbours(path), 1, losses), "ecc-knn")
    write("Cross-validating chains of nearest neighbours", lines)


def one_row(path, directory):
    """The first row of a file, from a model of all its rows."""
    model, row = os.path.join(directory, "model.labelchain"), os.path.join(directory, "row.arff")
    with open(path) as lines, open(row, "w") as one:
        for line in lines:
            one.write(line)
            if line.strip().lower() == "@data":
                one.write(next(lines))
                break
    run([OURS, "train", path, "-m", "dynamic-nb", "-o", model])
    runs = [run([OURS, "predict", model, row, "-o", "-"]) for _ in range(15)]
    wall, cpu = (statistics.median(one[key] for one in runs) * 1e3 for key in ["wall", "process_cpu"])
    size = os.path.getsize(model) / 1e6
    write("Predicting one row of yeast", [
        made(15), "",
        f"`labelchain predict` from a saved `dynamic-nb` of {size:.1f} MB, started anew each time: {wall:.1f} ms of wall time, {cpu:.1f} ms of CPU."])


def main(data, *parts):
    with tempfile.TemporaryDirectory() as directory:
        files = {name: os.path.join(directory, name + ".arff") for name in SETS}
        for name, path in files.items():
            run([OURS, "convert", os.path.join(data, name + ".arff.gz"), path])
        if "row" in parts or not parts:
            one_row(files["yeast"], directory)
        if "nb" in parts or not parts:
            cross_validation(files)
        if "knn" in parts or not parts:
            of_neighbours(files)


if __name__ == "__main__":
    main(*sys.argv[1:])
