"""Our losses beside the paper's printed ones: CSV files, figures, and the tables of docs/reproduce.md.

    python3 bench/reproduce.py PRINTED docs/reproduce.md --settled settled.csv --literal literal.csv \
        --seeds seed-2.csv seed-3.csv --plain-folds plain-folds.csv --ablation ablation.csv

docs/reproduce.md says how the tables of ours are made. PRINTED holds the printed losses, results_nb.csv,
results_knn.csv and results_base.csv, with the columns dataset, criterion, algorithm, loss. Tables of ours
have dataset, method, criterion, loss, and perhaps fold; a method that lacks one of ten folds of a set is
left out of that set, and a later file goes over an earlier one. The ablation was made in plain folds, and is
compared with the settled losses in such folds. Writes the means over folds of all tables,
losses.csv and the figure printed.svg into the directory `results` beside the page, and the page's tables.
"""

import argparse
import csv
import os
import statistics

from page import table, write_tables

CRITERIA = ["hamming", "zero_one", "ex_fdr", "ex_fnr", "ex_f1", "macro_fdr", "macro_fnr", "macro_f1",
            "micro_fdr", "micro_fnr", "micro_f1"]
TABLES = {
    "nb": {f"{ours}-nb": there for ours, there in [("dynamic", "proposed"), ("ga", "ga"), ("ecc", "ecc"), ("oocc", "oocc")]},
    "knn": {f"{ours}-knn": there for ours, there in [("dynamic", "proposed"), ("ga", "ga"), ("ecc", "ecc"), ("oocc", "oocc")]},
    "base": {f"{ours}-{base}": f"{there}_{base}" for base in ["j48", "svm", "nb", "knn"] for ours, there in [("ga-br", "br"), ("ga", "cc")]},
}
TITLES = {"nb": "naive Bayes", "knn": "nearest neighbours", "base": "first comparison"}
# More than 300 two-valued inputs: products of as many probabilities underflow in the paper's program,
# which is an inference (docs/methods.md, 16). Fixed before any distance was computed.
WORDS = {"arts1", "enron", "genbase", "imdb", "llog", "medical", "ohsumed", "slashdot", "stackex_chess", "tmc2007-500"}


# Their data are made anew: drawn rows, medoids of bags, or synthetic (docs/data.md). They are told apart
# since their distances were seen; the bars are judged with them.
REMADE = {"haloarcula", "imdb", "simplehc", "simplehs", "tmc2007-500"}


def printed(directory):
    """Losses by table, set, method (our name) and criterion."""
    found = {}
    for table, names in TABLES.items():
        ours = {there: name for name, there in names.items()}
        with open(os.path.join(directory, f"results_{table}.csv"), newline="") as rows:
            for row in csv.DictReader(rows):
                found[table, row["dataset"].lower(), ours[row["algorithm"]], row["criterion"]] = float(row["loss"])
    return found


N_FOLDS = 10


def means(*paths, n_folds=N_FOLDS):
    """Mean losses by set, method and criterion, where all folds are there."""
    found = {}
    for path in paths:
        folds = {}
        with open(path, newline="") as rows:
            for row in csv.DictReader(rows):
                key = row["dataset"], row["method"], row["criterion"]
                folds.setdefault(key, {})[row.get("fold")] = float(row["loss"])
        for key, losses in folds.items():
            if None in losses or len(losses) == n_folds:
                found[key] = statistics.mean(losses.values())
    return found


def write_means(path, losses):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["dataset", "method", "criterion", "loss"])
        rows.writerows([*key, f"{loss:.6f}"] for key, loss in losses.items())


def of_table(losses, table):
    """A method of the first comparison is called base-… where it differs from the one of that name."""
    has_own_names = table == "base" and any(key[1].startswith("base-") for key in losses)
    prefix = "base-" if has_own_names else ""
    return lambda dataset, method, criterion: losses.get((dataset, prefix + method, criterion))


class Cell:
    """One printed loss, and ours beside it."""

    def __init__(self, key, there, settled, literal, spread):
        self.table, self.dataset, self.method, self.criterion = key
        self.printed, self.settled, self.literal, self.spread = there, settled, literal, spread

    @property
    def difference(self):
        return self.settled - self.printed


def cells(paper, settled, literal, seeds):
    found = []
    literals = {table: of_table(literal, table) for table in TABLES}
    for key, there in paper.items():
        table, dataset, method, criterion = key
        ours, as_written = settled.get(key[1:]), literals[table](dataset, method, criterion)
        if ours is None and as_written is None:
            continue
        others = [losses[key[1:]] for losses in seeds if key[1:] in losses] if table != "base" else []
        spread = statistics.stdev([ours, *others]) if ours is not None and len(others) >= 2 else None
        found.append(Cell(key, there, ours, as_written, spread))
    return found


def median(differences):
    return statistics.median(map(abs, differences)) if differences else float("nan")


def share(differences, width):
    return f"{100 * sum(abs(d) <= width for d in differences) / len(differences):.0f} %"


def summary(title, groups):
    """How near each group of cells is."""
    rows = []
    for name, group in groups.items():
        if not group:
            continue
        d = [cell.difference for cell in group]
        both = [cell for cell in group if cell.literal is not None]
        before = f"{median([cell.literal - cell.printed for cell in both]):.3f}" if both else "–"
        if both and len(both) < len(group):
            before += f" (settled {median([cell.difference for cell in both]):.3f} on these {len(both)} cells)"
        rows.append([name, len({cell.dataset for cell in group}), f"{median(d):.3f}", before,
                     *(share(d, width) for width in (0.01, 0.02, 0.03)), f"{sum(x > 0.03 for x in d)} of {len(d)}"])
    return table([title, "sets", "median, settled", "literal", "within .01", ".02", ".03", "more than .03 worse"], rows)


def by(key, group):
    groups = {}
    for cell in group:
        groups.setdefault(key(cell), []).append(cell)
    return groups


def spreads(all_cells):
    """Is a difference from the printed loss more than luck? The paper drew once, and so did we."""
    rows = []
    known = [cell for cell in all_cells if cell.spread is not None]
    for (of_table, method), group in by(lambda cell: (cell.table, cell.method), known).items():
        # Both numbers vary by chance, so that their difference has twice the variance of one.
        near = sum(abs(cell.difference) <= 2 * 2**0.5 * cell.spread for cell in group)
        rows.append([TITLES[of_table], method, len(group), f"{statistics.median(cell.spread for cell in group):.4f}",
                     f"{100 * near / len(group):.0f} %"])
    return table(["table", "method", "cells", "median spread over seeds", "within two spreads"], rows)


def by_set(all_cells):
    """The median distance on each set, and how many cells are much worse."""
    rows = []
    for dataset, group in sorted(by(lambda cell: cell.dataset, all_cells).items()):
        tables = by(lambda cell: cell.table, group)
        words = []
        for name, methods in TABLES.items():
            d = [cell.difference for cell in tables.get(name, [])]
            n = len({cell.method for cell in tables.get(name, [])})
            whole = "" if n == len(methods) else f" ({n} of {len(methods)} methods)"
            words.append(f"{median(d):.3f}, {sum(x > 0.03 for x in d)} of {len(d)}{whole}" if d else "–")
        marks = (r" \*" if dataset in WORDS else "") + (" †" if dataset in REMADE else "")
        rows.append([dataset + marks, *words])
    return table(["set", *TITLES.values()], rows)


def ablation(paper, settled, plain, losses):
    """Each reading switched off alone: distances of the same methods on the same sets."""
    # Before a change, after it, and what the change is called after the method.
    pairs_of = [(settled, plain, "in plain folds"), *((plain, {key: loss}, None) for key, loss in losses.items())]
    groups = {}
    for before, after, change in pairs_of:
        for (dataset, name, criterion), loss in after.items():
            method, _, words = name.partition(" ")
            for of_table in TABLES:
                key = (of_table, dataset, method, criterion)
                if key in paper and key[1:] in before:
                    pair = before[key[1:]] - paper[key], loss - paper[key], method, dataset
                    groups.setdefault((change or words, of_table), []).append(pair)
    rows = []
    for (without, of_table), pairs in sorted(groups.items()):
        settled_d, changed = [p[0] for p in pairs], [p[1] for p in pairs]
        worse = [sum(d > 0.03 for d in of) for of in (settled_d, changed)]
        rows.append([without, TITLES[of_table], ", ".join(dict.fromkeys(p[2] for p in pairs)), len({p[3] for p in pairs}),
                     f"{median(settled_d):.4f}", f"{median(changed):.4f}", f"{worse[0]} of {len(pairs)}", worse[1]])
    return table(["changed alone", "table", "methods", "sets", "median before", "after", "more than .03 worse before", "after"], rows)


def scatter(path, all_cells):
    """Printed against ours, a panel for each table and method."""
    size, gap, across = 150, 46, 4
    panels = list(by(lambda cell: (cell.table, cell.method), all_cells).items())
    rows = -(-len(panels) // across)
    width, height = across * (size + gap) + gap, rows * (size + gap) + gap + 36
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for at, ((table, method), group) in enumerate(panels):
        left, top = gap + at % across * (size + gap), gap + at // across * (size + gap)
        place = lambda x, y: f"M{left + x * size:.1f} {top + (1 - y) * size:.1f}h0"
        points = lambda of, cells: "".join(place(cell.printed, of(cell)) for cell in cells if of(cell) is not None)
        # Dark where neither underflow nor other data stand between the paper's program and ours.
        dark = [cell for cell in group if cell.dataset not in WORDS | REMADE]
        light = [cell for cell in group if cell.dataset in WORDS | REMADE]
        d = [cell.difference for cell in dark]
        out += [f'<rect x="{left}" y="{top}" width="{size}" height="{size}" fill="none" stroke="#bbb"/>',
                f'<path d="M{left} {top + size}L{left + size} {top}" stroke="#bbb"/>',
                f'<g fill="none" stroke-linecap="round"><path d="{points(lambda cell: cell.literal, group)}" stroke="#d5d5d5" stroke-width="2.4"/>',
                f'<path d="{points(lambda cell: cell.settled, light)}" stroke="#9cc3ea" stroke-width="2.4"/>',
                f'<path d="{points(lambda cell: cell.settled, dark)}" stroke="#1f5fa8" stroke-width="2.4"/></g>',
                f'<text x="{left}" y="{top - 6}">{method} <tspan fill="#666">median {median(d):.3f}</tspan></text>']
        for tick in (0, 0.5, 1):
            out += [f'<text x="{left + tick * size}" y="{top + size + 13}" text-anchor="middle" fill="#666">{tick:g}</text>',
                    f'<text x="{left - 5}" y="{top + (1 - tick) * size + 4}" text-anchor="end" fill="#666">{tick:g}</text>']
    caption = ["A point is one criterion on one set. Across: printed loss; up: ours. Blue: settled; light blue: settled, on word-like sets and sets",
               "made anew, which are not in the median; grey: literal. Rows: naive Bayes, nearest neighbours, and the first comparison in two."]
    out += [f'<text x="{gap}" y="{height - 22 + 14 * at}" fill="#444">{line}</text>' for at, line in enumerate(caption)]
    out.append("</svg>")
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("printed")
    arguments.add_argument("page")
    arguments.add_argument("--settled", nargs="+", required=True)
    arguments.add_argument("--literal", required=True)
    arguments.add_argument("--seeds", nargs="+", required=True)
    arguments.add_argument("--plain-folds", nargs="+", required=True)
    arguments.add_argument("--ablation", nargs="+", required=True)
    given = arguments.parse_args()
    paper, settled, literal = printed(given.printed), means(*given.settled), means(given.literal)
    seeds = [means(path) for path in given.seeds]
    in_plain_folds, changed = means(*given.plain_folds), means(*given.ablation)
    all_cells = cells(paper, settled, literal, seeds)
    results = os.path.join(os.path.dirname(given.page), "results")
    for name, losses in [("settled", settled), ("literal", literal), ("plain-folds", in_plain_folds), ("ablation", changed),
                         *((f"seed-{at}", losses) for at, losses in enumerate(seeds, 2))]:
        write_means(os.path.join(results, f"{name}.csv"), losses)
    with open(os.path.join(results, "losses.csv"), "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["table", "dataset", "method", "criterion", "printed", "settled", "literal", "spread"])
        number = lambda value: "" if value is None else f"{value:.6f}"
        for cell in all_cells:
            rows.writerow([cell.table, cell.dataset, cell.method, cell.criterion, f"{cell.printed:.3f}",
                           number(cell.settled), number(cell.literal), number(cell.spread)])
    all_cells = [cell for cell in all_cells if cell.settled is not None]
    scatter(os.path.join(results, "figures", "printed.svg"), all_cells)
    plain = [cell for cell in all_cells if cell.dataset not in WORDS]
    is_proposed = lambda cell: cell.method.startswith("dynamic")
    groups = {
        "method 1, naive Bayes, sets without underflow": [c for c in plain if c.table == "nb" and is_proposed(c)],
        "method 1, nearest neighbours, sets without underflow": [c for c in plain if c.table == "knn" and is_proposed(c)],
        "both tables, sets without underflow": [c for c in plain if c.table != "base"],
        "first comparison, all sets": [c for c in all_cells if c.table == "base"],
        "all tables, sets without underflow": plain,
        "all tables, all sets": all_cells,
    }
    not_remade = {name: [c for c in group if c.dataset not in REMADE] for name, group in groups.items()}
    by_method = {f"{TITLES[of]}: {method}": group for (of, method), group in by(lambda c: (c.table, c.method), plain).items()}
    write_tables(given.page, {
        "how near": summary("cells", groups),
        "how near, without sets made anew": summary("cells", not_remade),
        "by method": summary("table and method", by_method),
        "by set": by_set(all_cells),
        "seeds": spreads(all_cells),
        "ablation": ablation(paper, settled, in_plain_folds, changed),
    })


if __name__ == "__main__":
    main()
