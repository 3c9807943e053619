"""Our losses beside the paper's, as Markdown.

    labelchain evaluate SET.arff.gz -m dynamic-nb,ecc-nb --likelihood weka --json > SET.json   (each set)
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


def main(results, files):
    paper = {}
    with open(results) as rows:
        for row in csv.DictReader(rows):
            paper[row["dataset"].lower(), row["criterion"], row["algorithm"]] = float(row["loss"])
    differences = {}
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
                ours = result["losses"][criterion]
                theirs = paper[name, criterion, ALGORITHM[result["method"]]]
                differences.setdefault(name, []).append(ours - theirs)
                cells.append(f"{ours:.3f} / {theirs:.3f} ({ours - theirs:+.3f})")
            print(f"| {name} | {result['method']} | " + " | ".join(cells) + " |")
    print("\n| set | median absolute difference | cells more than 0.03 worse |")
    print("|---|---|---|")
    for name, all_of_set in differences.items():
        worse = sum(d > 0.03 for d in all_of_set)
        print(f"| {name} | {statistics.median(map(abs, all_of_set)):.3f} | {worse} of {len(all_of_set)} |")
    every = [d for all_of_set in differences.values() for d in all_of_set]
    print(f"| all | {statistics.median(map(abs, every)):.3f} | {sum(d > 0.03 for d in every)} of {len(every)} |")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
