"""Which of the paper's claims hold, as printed and under our two readings? Ranks, tests and effect sizes.

    python3 bench/claims.py LABELCHAIN PRINTED docs/reproduce.md

LABELCHAIN is the program, whose `compare --json` does the statistics; PRINTED holds the printed ones,
statistics_nb.csv, statistics_knn.csv and statistics_base.csv; bench/reproduce.py wrote losses.csv into
the directory `results` beside the page. The printed statistics of naive Bayes and of the first comparison rest on 32 sets, two of
which the paper does not show, those of nearest neighbours on 30; the printed losses are therefore also
tested on the sets for which we have settled ones. Writes ranks.csv beside losses.csv, and the page's tables:
for each pair in question p by Wilcoxon with Holm over all pairs of the table and, for what we tested
ourselves, the rank-biserial correlation (1: the first is always better). Claims of the first comparison
that are not about the SVM are tested without it, on more sets.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

from page import table, write_tables
from reproduce import TITLES

LEVEL = 0.1
# Columns of losses.csv. The printed losses are tested on the sets that have settled ones.
READINGS = ["printed", "settled", "literal"]
PRINTED = {"dynamic": "proposed"}
# Claims by table: what the paper says, whether it says that the two methods differ, the criterion, and the
# two methods, the better one first.
CLAIMS = {
    "nb": [
        ("`dynamic` beats `ecc` by macro FDR", True, "macro_fdr", "dynamic-nb", "ecc-nb"),
        ("`dynamic` beats `ecc` by macro F1", True, "macro_f1", "dynamic-nb", "ecc-nb"),
        ("`dynamic` and `ecc` are alike by macro FNR", False, "macro_fnr", "dynamic-nb", "ecc-nb"),
        ("`dynamic` beats `ecc` by micro FDR", True, "micro_fdr", "dynamic-nb", "ecc-nb"),
        ("`dynamic` beats `ecc` by Hamming loss", True, "hamming", "dynamic-nb", "ecc-nb"),
        ("`oocc` beats `dynamic` by example FDR", True, "ex_fdr", "oocc-nb", "dynamic-nb"),
        ("`oocc` beats `dynamic` by Hamming loss", True, "hamming", "oocc-nb", "dynamic-nb"),
        ("`oocc` is conservative: worse than `dynamic` by macro FNR", True, "macro_fnr", "dynamic-nb", "oocc-nb"),
        ("`ga` beats `dynamic` by macro F1", True, "macro_f1", "ga-nb", "dynamic-nb"),
        ("`ga` beats `dynamic` by micro F1", True, "micro_f1", "ga-nb", "dynamic-nb"),
    ],
    "knn": [
        ("`dynamic` has less micro FDR than `ecc`", True, "micro_fdr", "dynamic-knn", "ecc-knn"),
        ("`dynamic` has less Hamming loss than `ecc`", True, "hamming", "dynamic-knn", "ecc-knn"),
        ("`dynamic` and `oocc` are alike by zero-one loss", False, "zero_one", "dynamic-knn", "oocc-knn"),
        ("`ga` beats `dynamic` by macro F1", True, "macro_f1", "ga-knn", "dynamic-knn"),
        ("`ga` beats `dynamic` by micro FNR", True, "micro_fnr", "ga-knn", "dynamic-knn"),
    ],
    "base": [
        ("trees gain from chains by zero-one loss", True, "zero_one", "ga-j48", "ga-br-j48"),
        ("the SVM gains from chains by zero-one loss", True, "zero_one", "ga-svm", "ga-br-svm"),
        ("naive Bayes gains from chains by zero-one loss", True, "zero_one", "ga-nb", "ga-br-nb"),
        ("neighbours are alike with and without chains by zero-one loss", False, "zero_one", "ga-knn", "ga-br-knn"),
    ],
}


def printed_name(table, method):
    strategy, base = method.rsplit("-", 1)
    if table == "base":
        return {"ga-br": "br", "ga": "cc"}[strategy] + "_" + base
    return PRINTED.get(strategy, strategy)


def printed(directory, table):
    with open(os.path.join(directory, f"statistics_{table}.csv"), newline="") as rows:
        return {(row["criterion"], row["statistic"], row["algorithm_a"], row["algorithm_b"]): float(row["value"]) for row in csv.DictReader(rows)}


def compared(program, rows):
    """What the program says of these losses, by criterion."""
    if not rows:
        return {}
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "losses.csv")
        with open(path, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["dataset", "method", "criterion", "loss"])
            table.writerows(rows)
        out = subprocess.run([program, "compare", path, "--json", "--gaps", "drop-sets"], capture_output=True, text=True, check=True).stdout
    return {of["criterion"]: of for of in json.loads(out)["criteria"]}


def verdict(is_difference, p, is_better):
    """What a test says of a claim that there is a difference, or that there is none, which no test shows."""
    if not is_difference:
        found = "not told apart" if p > LEVEL else "**differ**"
    else:
        found = "not shown" if p > LEVEL else "yes" if is_better else "**the other way**"
    return f"{found} (p {p:.3f})"


def tested(is_difference, comparison, criterion, a, b):
    of = comparison.get(criterion)
    pair = next((pair for pair in of["wilcoxon"] if {pair["a"], pair["b"]} == {a, b}), None) if of else None
    if pair is None:
        return "–"
    effect = pair["rank_biserial"] if pair["a"] == a else -pair["rank_biserial"]
    # The least p that n differences can give, by the exact test, after Holm's first factor.
    least = min(1.0, len(of["wilcoxon"]) * 2.0 ** (1 - pair["n"]))
    if least > LEVEL:
        return f"cannot be shown with {pair['n']} differences, r {effect:+.2f}"
    return f"{verdict(is_difference, pair['p_holm'], effect > 0)}, r {effect:+.2f}"


def main(program, directory, page):
    results = os.path.join(os.path.dirname(page), "results")
    with open(os.path.join(results, "losses.csv"), newline="") as file:
        losses = list(csv.DictReader(file))
    tables = {}
    ranks_of = []
    for of, claims in CLAIMS.items():
        of_table = [row for row in losses if row["table"] == of]

        def compare(reading, is_wanted):
            has = "literal" if reading == "literal" else "settled"
            return compared(program, [(row["dataset"], row["method"], row["criterion"], row[reading])
                                      for row in of_table if row[has] and is_wanted(row["method"])])

        families = {}
        there = printed(directory, of)
        lines = []
        for words, is_difference, criterion, a, b in claims:
            has_svm = of != "base" or "svm" in a
            if has_svm not in families:
                families[has_svm] = {reading: compare(reading, lambda method: has_svm or "svm" not in method) for reading in READINGS}
            names = [printed_name(of, method) for method in (a, b)]
            p = there.get((criterion, "wilcoxon_holm_p", *names), there.get((criterion, "wilcoxon_holm_p", *reversed(names))))
            ranks = [there[criterion, "mean_rank", name, ""] for name in names]
            cells = [verdict(is_difference, p, ranks[0] < ranks[1])] + [tested(is_difference, found, criterion, a, b) for found in families[has_svm].values()]
            lines.append([words, *cells])
        n = {reading: "/".join(str(next(iter(family[reading].values()))["n"]) for family in families.values() if family[reading]) for reading in READINGS}
        tables[f"claims, {TITLES[of]}"] = table([f"{TITLES[of]}: the paper says", "printed p", f"printed losses, {n['printed']} sets",
                                                 f"settled, {n['settled']} sets", f"literal, {n['literal']} sets"], lines)
        all_methods = {reading: compare(reading, lambda method: True) for reading in READINGS}
        methods = list(next(iter(all_methods["settled"].values()))["mean_ranks"])
        for criterion in dict.fromkeys(key[0] for key in there):
            for method in methods:
                rank = lambda found: found[criterion]["mean_ranks"].get(method) if criterion in found else None
                ranks_of.append((of, criterion, method, there[criterion, "mean_rank", printed_name(of, method), ""],
                                 *map(rank, all_methods.values())))
    with open(os.path.join(results, "ranks.csv"), "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["table", "criterion", "method", "printed", "printed_same_sets", "settled", "literal"])
        rows.writerows([*row[:4], *(("" if rank is None else f"{rank:.4f}") for rank in row[4:])] for row in ranks_of)
    lines = []
    for of, method in dict.fromkeys((row[0], row[2]) for row in ranks_of):
        best = []
        for column in (3, 4, 5, 6):
            of_table = [row for row in ranks_of if row[0] == of and row[column] is not None]
            least = {row[1]: min(other[column] for other in of_table if other[1] == row[1]) for row in of_table}
            best.append(sum(row[2] == method and row[column] == least[row[1]] for row in of_table))
        lines.append([TITLES[of], method, *(f"{n} of 11" for n in best)])
    tables["best ranks"] = table(["table", "method", "best mean rank by criteria: printed", "printed, same sets", "settled", "literal"], lines)
    write_tables(page, tables)


if __name__ == "__main__":
    main(*sys.argv[1:])
