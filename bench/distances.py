"""Distances as a matrix product: how near are ours to what the machine can do? Called by bench/run."""

import sys

from measure import benches, in_turn, made, python, write

ROUNDS = 5
# Test rows, training rows and columns of one fold; and a square as large as products get fast at.
SHAPES = {"yeast": (242, 2175, 103), "scene": (241, 2166, 294), "square": (1500, 1500, 1500)}

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


if __name__ == "__main__":
    main()
