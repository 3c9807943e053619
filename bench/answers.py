"""The tables of docs/answers.md: does each aim win its own loss, and who should choose the order?

    python3 bench/answers.py LABELCHAIN docs/answers.md [--aims EXPORT.csv] [--orders EXPORT.csv]

LABELCHAIN is the program, whose `compare --json` computes ranks and tests. Losses are in aims.csv and
orders.csv of the directory `results` beside the page: means over folds of what `study export` writes for
protocols/aims.toml and protocols/orders.toml. Further sets are taken in from exports.
"""

import argparse
import json
import os
import subprocess
import tempfile

from page import table, write_tables
from reproduce import means, write_means

LOSSES = {"hamming": "Hamming", "zero_one": "zero-one", "ex_f1": "example F1", "macro_f1": "macro F1", "micro_f1": "micro F1"}
# The aim that is made for each loss.
OWN = {"hamming": "hamming", "zero_one": "zero-one", "ex_f1": "example-f1", "macro_f1": "macro-f1", "micro_f1": "micro-f1"}
N_FOLDS = 5
ORDERS = ["certain", "dynamic", "ecc", "oocc", "br"]


def short(number, digits):
    """A number below 1 without its zero."""
    return f"{number:.{digits}f}".removeprefix("0") if number < 1 else f"{number:.{digits}g}"


def compared(program, losses, methods, control):
    """Ranks of these methods and tests against one of them, by criterion; mean losses; the number of sets that have all methods."""
    names = {name for name, _, _ in losses}
    whole = {name for name in names if all((name, method, "hamming") in losses for method in methods)}
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "losses.csv")
        write_means(path, {key: loss for key, loss in losses.items() if key[0] in whole and key[1] in methods})
        command = [program, "compare", path, "--control", control, "--json"]
        said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    mean = lambda method, criterion: sum(losses[name, method, criterion] for name in whole) / len(whole)
    return {of["criterion"]: of for of in said["criteria"]}, mean, len(whole)


def cell(of, mean, method, criterion):
    return f"{short(mean(method, criterion), 3)} ({of[criterion]['mean_ranks'][method]:.1f})"


def tested(of, criterion, method, p):
    """The p of a method against the control, as reports write it."""
    value = next(pair[p] for pair in of[criterion]["wilcoxon"] if method in (pair["a"], pair["b"]))
    return "<.001" if value < 0.0005 else short(value, 3)


def aims(program, losses, method):
    """Aims across, losses down; the aim of the loss is bold."""
    names = {aim: f"{method}@{aim}" for aim in ["votes", *OWN.values()]}
    of, mean, n_sets = compared(program, losses, list(names.values()), names["votes"])
    rows = []
    for criterion, title in LOSSES.items():
        cells = {aim: cell(of, mean, name, criterion) for aim, name in names.items()}
        own = OWN[criterion]
        cells[own] = f"**{cells[own]}**"
        rows.append([title, *cells.values(), tested(of, criterion, names[own], "p")])
    return table([f"`{method}`, {n_sets} sets", *(f"`{aim}`" for aim in names), "p"], rows)


def orders(program, losses):
    """Losses across, strategies down, for each base; p against `certain`."""
    rows = []
    for base in ["nb", "knn"]:
        names = [f"{strategy}-{base}" for strategy in ORDERS]
        of, mean, _ = compared(program, losses, names, names[0])
        for name in names:
            p = lambda criterion: "" if name == names[0] else f" p {tested(of, criterion, name, 'p_holm')}"
            rows.append([f"`{name}`", *(cell(of, mean, name, criterion) + p(criterion) for criterion in LOSSES)])
    return table(["method", *LOSSES.values()], rows)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("page")
    arguments.add_argument("--aims", nargs="+", default=[])
    arguments.add_argument("--orders", nargs="+", default=[])
    given = arguments.parse_args()

    def kept(name, exports):
        path = os.path.join(os.path.dirname(given.page), "results", name)
        losses = means(path, *exports, n_folds=N_FOLDS)
        write_means(path, losses)
        return losses

    of_aims = kept("aims.csv", given.aims)
    tables = {f"aims, {method}": aims(given.program, of_aims, method) for method in ["ecc-nb", "ecc-knn"]}
    tables["orders"] = orders(given.program, kept("orders.csv", given.orders))
    write_tables(given.page, tables)


if __name__ == "__main__":
    main()
