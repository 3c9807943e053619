#!/usr/bin/env python3
"""What answering a large table costs by one process and by Dask on two local workers, and are the answers the same?

    python bench/clusters.py [--rows 1000000] [--inputs 50] [--repeats 3] [--partitions 20]

Needs the package with its extra, `pip install "./python[dask]"`, built with optimization. Rows are drawn once and
written as Parquet, a file for each partition, in a directory that is removed at the end. Each way reads the files,
answers, and writes answers as Parquet: one process with one thread, file after file; one process with a thread for
each core; and Dask with two worker processes of one thread each, which are started before the clock is. The ways take
turns. Printed are the medians of seconds on the wall, with the least and the greatest. All answers are compared,
column by column and bit by bit.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import statistics
import tempfile
import time

import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd

import labelchain as lc
import labelchain.dask


def draw(rng: np.random.Generator, n_rows: int, n_inputs: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of numbers, and five labels that depend on them."""
    X = rng.normal(size=(n_rows, n_inputs))
    Y = X[:, :5] + 0.5 * X[:, 5:10] + 0.5 * rng.normal(size=(n_rows, 5)) > 0
    inputs = pd.DataFrame(X, columns=[f"x{at:02}" for at in range(n_inputs)])
    return inputs, pd.DataFrame(Y, columns=list("abcde"))


def by_one_process(model: pathlib.Path, rows: pathlib.Path, answers: pathlib.Path, n_jobs: int | None) -> None:
    classifier = lc.load(model).set_params(n_jobs=n_jobs)
    answers.mkdir()
    for file in sorted(rows.iterdir()):
        part = pd.read_parquet(file)
        answer = pd.DataFrame(classifier.predict(part), index=part.index, columns=classifier.label_names_)
        answer.to_parquet(answers / file.name)


def by_dask(model: pathlib.Path, rows: pathlib.Path, answers: pathlib.Path, client: distributed.Client) -> None:
    # A file is a partition; smaller files would otherwise be joined.
    frame = dd.from_map(pd.read_parquet, sorted(rows.iterdir()))
    client.compute(lc.dask.predict(model, frame, client).to_parquet(answers, compute=False)).result()


def read(answers: pathlib.Path) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(file) for file in sorted(answers.glob("*.parquet"), key=by_number)])


def by_number(file: pathlib.Path) -> int:
    return int("".join(filter(str.isdigit, file.stem)) or 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--inputs", type=int, default=50)
    parser.add_argument("--partitions", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--method", default="ecc-nb")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        directory = pathlib.Path(place)
        rows, model = directory / "rows", directory / "m.labelchain"
        rows.mkdir()
        rng = np.random.default_rng(1)
        lc.LabelChainClassifier(options.method).fit(*draw(rng, 2000, options.inputs)).save(model)
        cuts = [options.rows * at // options.partitions for at in range(options.partitions + 1)]
        for at, (first, end) in enumerate(zip(cuts, cuts[1:])):
            part, _ = draw(rng, end - first, options.inputs)
            part.set_index(pd.RangeIndex(first, end, name="row")).to_parquet(rows / f"part.{at:05}.parquet")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            ways = {
                "one process, one thread": lambda to: by_one_process(model, rows, to, 1),
                "one process, a thread for each core": lambda to: by_one_process(model, rows, to, None),
                "Dask, two workers of one thread": lambda to: by_dask(model, rows, to, client),
            }
            seconds: dict[str, list[float]] = {name: [] for name in ways}
            expected = None
            for repeat in range(options.repeats):
                for number, (name, answer) in enumerate(ways.items()):
                    to = directory / f"answers-{repeat}-{number}"
                    start = time.perf_counter()
                    answer(to)
                    seconds[name].append(time.perf_counter() - start)
                    found = read(to)
                    expected = found if expected is None else expected
                    pd.testing.assert_frame_equal(found, expected, check_exact=True)
        print(
            f"{options.rows} rows of {options.inputs} inputs in {options.partitions} files, {options.method}, "
            f"{os.cpu_count()} cores, labelchain {lc.__version__}, Dask {distributed.__version__}, "
            f"Python {platform.python_version()}; all answers are the same"
        )
        for name, times in seconds.items():
            median = statistics.median(times)
            print(f"{name:38}{median:8.1f} s  ({min(times):.1f} to {max(times):.1f})")


if __name__ == "__main__":
    main()
