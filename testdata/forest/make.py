#!/usr/bin/env python3
"""Writes splits.json: the splits that scikit-learn's multi-output regression trees choose.

    pip install scikit-learn==1.9.1 numpy==2.4.6
    python3 make.py > splits.json

scikit-learn minimizes the variance of the outputs, averaged over outputs, which is what a forest of ours
minimizes, summed over labels. Rows are weighted as a bootstrap would: by how often they were drawn. Inputs are
whole numbers of fewer than 255 values, so that bins lose nothing. `decrease` is n L (impurity of the node -
impurities of its children, weighted by their rows): what our split is worth, less what the node is worth
unsplit. Nodes of fewer than 20 rows are left out, because small nodes often have equally good splits.

Tolerance: 1e-9 for the decrease, relative; the split chosen is as good as any of ours to the last bit, at the same
threshold. Of equally good splits by different inputs, scikit-learn takes one at random.
"""
import json
import sys

import numpy
import sklearn
from sklearn.tree import DecisionTreeRegressor


def case(seed, n_rows, n_inputs, n_labels):
    rng = numpy.random.default_rng(seed)
    inputs = rng.integers(0, 200, (n_rows, n_inputs))
    direction = rng.normal(size=(n_inputs, n_labels))
    labels = ((inputs - 100) @ direction + rng.normal(0, 100, (n_rows, n_labels)) > 60).astype(int)
    draws = numpy.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows)
    tree = DecisionTreeRegressor(random_state=0).fit(inputs, labels, sample_weight=draws)
    path, t = tree.decision_path(inputs).toarray(), tree.tree_
    nodes = []
    for node in range(t.node_count):
        left, right = t.children_left[node], t.children_right[node]
        rows = [int(row) for row in numpy.flatnonzero(path[:, node]) if draws[row]]
        if left < 0 or len(rows) < 20:
            continue
        n = t.weighted_n_node_samples
        part = lambda at: n[at] * t.impurity[at]
        decrease = n_labels * (part(node) - part(left) - part(right))
        nodes.append({"rows": rows, "input": int(t.feature[node]), "threshold": float(t.threshold[node]), "decrease": float(decrease)})
    return {"inputs": inputs.tolist(), "labels": labels.tolist(), "draws": draws.tolist(), "nodes": nodes}


def main():
    cases = [case(1, 120, 4, 3), case(2, 150, 6, 1), case(3, 90, 3, 8)]
    tool = f"scikit-learn {sklearn.__version__}, numpy {numpy.__version__}"
    json.dump({"tool": tool, "command": "python3 make.py > splits.json", "cases": cases}, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
