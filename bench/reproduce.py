"""Our losses beside the paper's, as Markdown: cell by cell, by set, by method, and as mean ranks.

    labelchain evaluate SET.arff.gz -m dynamic-nb,ga-nb,ecc-nb,oocc-nb --likelihood weka --json > SET.json   (each set)
    python3 bench/reproduce.py results_nb.csv SET.json ... > table.md

results_nb.csv, for -knn methods results_knn.csv, has the paper's printed losses: dataset_no,dataset,criterion,algorithm,loss.
"""

import csv
import json
import statistics
import sys

CRITERIA = ["hamming", "zero_one", "ex_fdr", "ex_fnr", "ex_f1", "macro_fdr", "macro_fnr", "macro_f1", "micro_fdr", "micro_fnr", "micro_f1"]
ALGORITHM = {f"{ours}-{base}": theirs for base in ["nb", "knn"]
             for ours, theirs in {"dynamic": "proposed", "ga": "ga", "ecc": "ecc", "oocc": "oocc"}.items()}


def ranks(losses):
    """1 for the least, equal losses share the mean of their places."""
    return [sum(other < loss for other in losses) + (sum(other == loss for other in losses) + 1) / 2 for loss in losses]


def summary(title, groups):
    print(f"\n| {title} | median absolute difference | cells more than 0.03 worse |")
    print("|---|---|---|")
    for name, differences in groups.items():
        worse = sum(d > 0.03 for d in differences)
        print(f"| {name} | {statistics.median(map(abs, differences)):.3f} | {worse} of {len(differences)} |")


def main(results, files):
    paper = {}
    with open(results) as rows:
        for row in csv.DictReader(rows):
            paper[row["dataset"].lower(), row["criterion"], row["algorithm"]] = float(row["loss"])
    ours, by_set, by_method = {}, {}, {}
    print("Ours / the paper's, difference; eleven losses, mean over ten folds.\n")
    print("| set | method | " + " | ".join(CRITERIA) + " |")
    print("|---|---|" + "---|" * len(CRITERIA))
    for file in files:
        with open(file) as text:
            evaluation = json.load(text)
        name = evaluation["data"]
        for result in evaluation["results"]:
            cells = []
            for criterion in CRITERIA:
                loss = result["losses"][criterion]
                theirs = paper[name, criterion, ALGORITHM[result["method"]]]
                ours[name, criterion, result["method"]] = loss
                by_set.setdefault(name, []).append(loss - theirs)
                by_method.setdefault(result["method"], []).append(loss - theirs)
                cells.append(f"{loss:.3f} / {theirs:.3f} ({loss - theirs:+.3f})")
            print(f"| {name} | {result['method']} | " + " | ".join(cells) + " |")
    summary("set", by_set | {"all": [d for all_of_set in by_set.values() for d in all_of_set]})
    summary("method", by_method)
    print(f"\nMean ranks over these {len(by_set)} sets, ours / from the printed losses; 1 is best.\n")
    print("| criterion | " + " | ".join(by_method) + " |")
    print("|---|" + "---|" * len(by_method))
    for criterion in CRITERIA:
        of_ours = [ranks([ours[name, criterion, method] for method in by_method]) for name in by_set]
        of_paper = [ranks([paper[name, criterion, ALGORITHM[method]] for method in by_method]) for name in by_set]
        cells = (f"{statistics.mean(a):.2f} / {statistics.mean(b):.2f}" for a, b in zip(zip(*of_ours), zip(*of_paper)))
        print(f"| {criterion} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
