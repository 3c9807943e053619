"""Distances as a matrix product: how near are ours to what the machine can do? And the nearest rows: what do faiss
and scikit-learn take to find them? Called by bench/run."""

import os
import sys

from measure import benches, in_turn, made, python, write

ROUNDS = 5
# Test rows, training rows and columns of one fold; and a square as large as products get fast at.
SHAPES = {"yeast": (242, 2175, 103), "scene": (241, 2166, 294), "square": (1500, 1500, 1500)}
# The same folds, and as many training rows as a search by products is made for.
NEAREST = {"yeast": SHAPES["yeast"], "scene": SHAPES["scene"], "many rows": (500, 20_000, 50)}

PRODUCT = """
import json, sys, time
import numpy as np
n, m, d = map(int, sys.argv[1:])
a, b = np.random.default_rng(1).normal(size=(n, d)), np.random.default_rng(2).normal(size=(m, d))
seconds = []
for _ in range(15):
    start = time.process_time()
    a @ b.T
    seconds.append(time.process_time() - start)
print(json.dumps({"giga_operations": 2 * n * m * d / sorted(seconds)[7] / 1e9}))
"""

SEARCH = """
import json, sys, time
import numpy as np
who, sizes = sys.argv[1], sys.argv[2:]
n, m, d = map(int, sizes)
rows, train = np.random.default_rng(1).normal(size=(n, d)), np.random.default_rng(2).normal(size=(m, d))
if who == "faiss":
    import faiss
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatL2(d)
    index.add(train.astype(np.float32))
    rows = rows.astype(np.float32)
    search = lambda: index.search(rows, 10)
else:
    from sklearn.neighbors import NearestNeighbors
    nearest = NearestNeighbors(n_neighbors=10, algorithm="brute").fit(train)
    search = lambda: nearest.kneighbors(rows)
seconds = []
for _ in range(15):
    start = time.process_time()
    search()
    seconds.append(time.process_time() - start)
print(json.dumps({"nearest_us": sorted(seconds)[7] / n * 1e6}))
"""


def main():
    bench = benches()["distances"]
    lines = [
        made(ROUNDS, python("numpy")), "",
        "Billions of multiplications and additions a second, one thread. Ours has the whole of |x|² + |v|² - 2 x·v in its time, NumPy the bare product x·v (OpenBLAS), which is the measure of the machine.", "",
        "| shape | ours, distances | NumPy, product alone | ours over NumPy |", "|---|---|---|---|",
    ]
    for name, shape in SHAPES.items():
        sizes = [str(size) for size in shape]
        results = in_turn({"ours": [bench, *sizes], "NumPy": [sys.executable, "-c", PRODUCT, *sizes]}, ROUNDS)
        ours, theirs = (results[who]["giga_operations"] for who in ["ours", "NumPy"])
        lines.append(f"| {name}, {' x '.join(sizes)} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} |")
    write("Distances", lines)
    lines = [
        made(ROUNDS, python("faiss-cpu", "scikit-learn")), "",
        "Microseconds of CPU a row to find its ten nearest training rows, one thread. Ours are exact to the last bit, with equal distances in the order of rows; faiss (`IndexFlatL2`) computes in single precision, scikit-learn's `NearestNeighbors` (brute) in double.", "",
        "| shape | ours | faiss | ratio | scikit-learn | ratio |", "|---|---|---|---|---|---|",
    ]
    os.environ["RAYON_NUM_THREADS"] = "1"
    for name, shape in NEAREST.items():
        sizes = [str(size) for size in shape]
        who = {"ours": [bench, *sizes]} | {one: [sys.executable, "-c", SEARCH, one, *sizes] for one in ["faiss", "scikit-learn"]}
        ours, faiss, sklearn = (of["nearest_us"] for of in in_turn(who, ROUNDS).values())
        lines.append(f"| {name}, {' x '.join(sizes)} | {ours:.0f} | {faiss:.0f} | {faiss / ours:.1f} | {sklearn:.0f} | {sklearn / ours:.1f} |")
    write("Nearest rows", lines)


if __name__ == "__main__":
    main()
