"""The table of docs/forest.md: what is each part of the forest worth?

    python3 bench/forest_parts.py LABELCHAIN docs/forest.md [EXPORT.csv ...]

LABELCHAIN is the program, whose `compare --json` computes ranks and tests. Losses are in forest.csv of the
directory `results` beside the page: means over folds of what `study export` writes for protocols/forest.toml.
Further sets are taken in from exports, if all variants are there.
"""

import argparse
import os
import sys

from answers import LOSSES, N_FOLDS, cell, compared
from page import table, write_tables
from reproduce import means, write_means

DEFAULT = "default"


def mark(of, criterion, method):
    """+ or − where a variant is better or worse than the default at the level of the comparison."""
    if method == DEFAULT:
        return ""
    pair = next(pair for pair in of[criterion]["wilcoxon"] if method in (pair["a"], pair["b"]))
    if pair["p_holm"] >= 0.05:
        return ""
    ranks = of[criterion]["mean_ranks"]
    return " +" if ranks[method] < ranks[DEFAULT] else " −"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("page")
    arguments.add_argument("exports", nargs="*")
    given = arguments.parse_args()
    path = os.path.join(os.path.dirname(given.page), "results", "forest.csv")
    losses = means(path, *given.exports, n_folds=N_FOLDS)
    variants = list(dict.fromkeys(method for _, method, _ in losses))
    unfinished = {name for name, _, _ in losses if any((name, variant, "hamming") not in losses for variant in variants)}
    if unfinished:
        print("without all variants, left out:", ", ".join(sorted(unfinished)), file=sys.stderr)
    losses = {key: loss for key, loss in losses.items() if key[0] not in unfinished}
    write_means(path, losses)
    of, mean, n_sets = compared(given.program, losses, variants, DEFAULT)
    rows = [[variant, *(cell(of, mean, variant, criterion) + mark(of, criterion, variant) for criterion in LOSSES)] for variant in variants]
    write_tables(given.page, {"parts": table([f"variant, {n_sets} sets", *LOSSES.values()], rows)})


if __name__ == "__main__":
    main()
