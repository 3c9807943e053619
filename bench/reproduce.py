"""Our losses beside the paper's, as Markdown: cell by cell, by set, by method, and as mean ranks.

    labelchain study run protocols/paper.toml --data DIR --only method=dynamic-nb,ga-nb,ecc-nb,oocc-nb
    labelchain study export protocols/paper.toml -o losses.csv
    python3 bench/reproduce.py results_nb.csv losses.csv > table.md

The first table has the paper's printed losses: dataset_no,dataset,criterion,algorithm,loss. Methods that
lack a fold of a set are left out of it, and sets that lack a method out of the ranks.
"""

import csv
import os
import statistics
import sys

CRITERIA = ["hamming", "zero_one", "ex_fdr", "ex_fnr", "ex_f1", "macro_fdr", "macro_fnr", "macro_f1", "micro_fdr", "micro_fnr", "micro_f1"]


def algorithms(table):
    """What our methods are called in a table of the paper."""
    of = os.path.basename(table).removesuffix(".csv").rsplit("_", 1)[-1]
    if of == "base":
        return {f"base-{ours}-{base}": f"{theirs}_{base}" for base in ["j48", "svm", "nb", "knn"] for ours, theirs in [("ga-br", "br"), ("ga", "cc")]}
    return {f"{ours}-{of}": theirs for ours, theirs in [("dynamic", "proposed"), ("ga", "ga"), ("ecc", "ecc"), ("oocc", "oocc")]}


def means(table, methods):
    """Sets, methods, and mean losses by set, method and criterion where every fold is there."""
    folds = {}
    with open(table) as rows:
        for row in csv.DictReader(rows):
            if row["method"] in methods:
                folds.setdefault((row["dataset"], row["method"], row["criterion"]), []).append(float(row["loss"]))
    most = max(map(len, folds.values()))
    whole = {key: statistics.mean(losses) for key, losses in folds.items() if len(losses) == most}
    used = [method for method in methods if any(key[1] == method for key in whole)]
    return list(dict.fromkeys(key[0] for key in whole)), used, whole


def ranks(losses):
    """1 for the least, equal losses share the mean of their places."""
    return [sum(other < loss for other in losses) + (sum(other == loss for other in losses) + 1) / 2 for loss in losses]


def summary(title, groups):
    print(f"\n| {title} | median absolute difference | cells more than 0.03 worse |")
    print("|---|---|---|")
    for name, differences in groups.items():
        worse = sum(d > 0.03 for d in differences)
        print(f"| {name} | {statistics.median(map(abs, differences)):.3f} | {worse} of {len(differences)} |")


def main(printed, table):
    paper = {}
    with open(printed) as rows:
        for row in csv.DictReader(rows):
            paper[row["dataset"].lower(), row["criterion"], row["algorithm"]] = float(row["loss"])
    name_there = algorithms(printed)
    sets, methods, ours = means(table, name_there)
    theirs = lambda name, criterion, method: paper[name.lower(), criterion, name_there[method]]
    by_set, by_method = {}, {}
    print("Ours / the paper's, difference; eleven losses, mean over ten folds.\n")
    print("| set | method | " + " | ".join(CRITERIA) + " |")
    print("|---|---|" + "---|" * len(CRITERIA))
    for name in sets:
        for method in methods:
            if (name, method, CRITERIA[0]) not in ours:
                continue
            cells = []
            for criterion in CRITERIA:
                loss, there = ours[name, method, criterion], theirs(name, criterion, method)
                by_set.setdefault(name, []).append(loss - there)
                by_method.setdefault(method, []).append(loss - there)
                cells.append(f"{loss:.3f} / {there:.3f} ({loss - there:+.3f})")
            print(f"| {name} | {method} | " + " | ".join(cells) + " |")
    summary("set", by_set | {"all": [d for all_of_set in by_set.values() for d in all_of_set]})
    summary("method", by_method)
    sets = [name for name in sets if all((name, method, CRITERIA[0]) in ours for method in methods)]
    print(f"\nMean ranks over the {len(sets)} sets with all methods, ours / from the printed losses; 1 is best.\n")
    print("| criterion | " + " | ".join(methods) + " |")
    print("|---|" + "---|" * len(methods))
    for criterion in CRITERIA:
        of_ours = [ranks([ours[name, method, criterion] for method in methods]) for name in sets]
        of_paper = [ranks([theirs(name, criterion, method) for method in methods]) for name in sets]
        cells = (f"{statistics.mean(a):.2f} / {statistics.mean(b):.2f}" for a, b in zip(zip(*of_ours), zip(*of_paper)))
        print(f"| {criterion} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(*sys.argv[1:])
