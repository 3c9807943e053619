"""One forest for all labels, scikit-learn's and ours, of 100 trees and √d inputs a split. Called by bench/run.

    bench/.rivals/bin/python bench/forest.py DATA [--rows N]

What is timed are bins and growing, one thread, in a process that has read its rows already: theirs is
`RandomForestRegressor.fit` on all labels at once, ours `Forest::fit_independent`. The choice of trust, the joint
law of a row and its walk are ours alone and have columns of their own. N is how many rows the generated set has; its
forests have ten trees only, because theirs take minutes.
"""

import argparse
import json
import os
import sys
import tempfile
import time

SETS = ["yeast", "scene", "enron"]
ROUNDS = 3
GENERATED = (100, 20)
FEW_TREES = 10


def rival(path, n_labels, trees, is_sparse):
    import numpy as np
    from scipy.sparse import csc_matrix
    from sklearn.ensemble import RandomForestRegressor

    cells = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.float32)
    inputs, labels = cells[:, :-n_labels], cells[:, -n_labels:].astype(float)
    inputs = csc_matrix(inputs) if is_sparse else inputs
    forest = RandomForestRegressor(trees, max_features="sqrt", n_jobs=1, random_state=1)
    started = time.process_time()
    forest.fit(inputs, labels)
    print(json.dumps({"grow": time.process_time() - started}))


def main(data, rows):
    from measure import benches, in_turn, labelchain, made, python, run, write

    program, bench = labelchain(), benches()["forest"]
    lines = [
        made(ROUNDS, python("scikit-learn")), "",
        "CPU seconds that growing takes, bins included, without reading; then what only ours does. Ratios compare growing.", "",
        "| set | who | trees | growing | ratio | trust | law, µs a row | walk, µs a row | model, MB |", "|---|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as directory:
        place = lambda name: os.path.join(directory, name)
        sets = [(name, os.path.join(data, name + ".arff.gz"), 100) for name in SETS]
        features, labels = GENERATED
        run([program, "generate", "network", "--rows", str(rows), "--features", str(features), "--labels", str(labels), "-o", place("network.arff")])
        sets.append((f"{rows:,} x {features} x {labels}, generated", place("network.arff"), FEW_TREES))
        for name, path, trees in sets:
            # A file of its own for each set: the label list beside it names the labels of one set.
            csv = place(f"{trees}-{os.path.basename(path)}.csv")
            if run([program, "convert", path, csv]) is None:
                sys.exit(f"{path} could not be converted for scikit-learn")
            n_labels = json.loads(run([program, "describe", path, "--json"])["out"])["labels"]
            their = [sys.executable, __file__, "--rival", csv, str(n_labels), str(trees)]
            who = {"labelchain": [bench, path, str(trees)], "scikit-learn": their}
            if name == "enron":
                who["scikit-learn, sparse"] = [*their, "--sparse"]
            ran = in_turn(who, ROUNDS)
            for one, of in ran.items():
                ours = "| | | | |" if "trust" not in of else f"| {of['trust']:.2f} | {of['law_us']:.0f} | {of['walk_us']:.0f} | {of['bytes'] / 1e6:.1f} |"
                lines.append(f"| {name} | {one} | {trees} | {of['grow']:.2f} | {of['grow'] / ran['labelchain']['grow']:.1f} {ours}")
                print(lines[-1], file=sys.stderr)
    write("Growing forests", lines)


if sys.argv[1:2] == ["--rival"]:
    rival(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), "--sparse" in sys.argv)
else:
    arguments = argparse.ArgumentParser(description="Measures forests for all labels, scikit-learn's and ours.")
    arguments.add_argument("data", metavar="DATA", help="the directory with the data sets")
    arguments.add_argument("--rows", metavar="N", type=int, default=100_000, help="rows of the generated set [default: 100000]")
    given = arguments.parse_args()
    main(given.data, given.rows)
