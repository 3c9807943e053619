"""Which of the paper's claims hold? Mean ranks and tests of a report beside the printed ones.

    python3 bench/claims.py statistics.csv printed.csv

The first file is a report's (`labelchain study report … -o DIR`), the second has the columns criterion,
statistic, algorithm_a, algorithm_b, value, with the statistics mean_rank and wilcoxon_holm_p. Prints
Markdown.
"""

import csv
import sys

STRATEGIES = {"dynamic": "proposed", "ga": "ga", "ecc": "ecc", "oocc": "oocc"}
LEVEL = 0.1


def ours(path):
    """Values by criterion, statistic and the strategies compared."""
    found = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if not row["dataset"]:
                pair = tuple(STRATEGIES.get(name.split("-")[0], "") for name in (row["a"], row["b"]))
                found[row["criterion"], row["statistic"], *pair] = float(row["value"])
    return found


def printed(path):
    with open(path, newline="") as file:
        return {(row["criterion"], row["statistic"], row["algorithm_a"], row["algorithm_b"]): float(row["value"])
                for row in csv.DictReader(file)}


def strongest(ranks):
    return [f"**{rank:.2f}**" if rank == min(ranks) else f"{rank:.2f}" for rank in ranks]


def said(p, rank, other):
    """What a test says of the proposed method: better, worse, or nothing at the level."""
    verdict = "" if p > LEVEL else " better" if rank < other else " worse"
    return f"{p:.3f}{verdict}"


def main(of_report, of_paper):
    here, there = ours(of_report), printed(of_paper)
    criteria = list(dict.fromkeys(key[0] for key in there))
    names = list(STRATEGIES.values())
    rank = lambda values, criterion, name: values[criterion, "mean_rank", name, ""]
    print("| criterion | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for criterion in criteria:
        pairs = zip(*(strongest([rank(values, criterion, name) for name in names]) for values in (here, there)))
        print(f"| {criterion} | " + " | ".join(" / ".join(pair) for pair in pairs) + " |")
    rivals = names[1:]
    print("\n| criterion | " + " | ".join(f"against {name}" for name in rivals) + " |\n|---|" + "---|" * len(rivals))
    for criterion in criteria:
        cells = [" / ".join(said(values[criterion, p, names[0], rival], rank(values, criterion, names[0]), rank(values, criterion, rival))
                            for values, p in ((here, "wilcoxon_p_holm"), (there, "wilcoxon_holm_p")))
                 for rival in rivals]
        print(f"| {criterion} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(*sys.argv[1:])
