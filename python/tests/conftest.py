"""Data for all tests, and the program that must agree with the package."""

from __future__ import annotations

import os
import pathlib
import subprocess

import numpy as np
import pytest


@pytest.fixture(scope="session")
def numbers() -> tuple[np.ndarray, np.ndarray]:
    """Eighty rows of four numbers and three labels that depend on them and on each other."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    Y = (X[:, :3] + 0.4 * rng.normal(size=(80, 3)) > 0).astype(int)
    Y[:, 2] |= Y[:, 0] & Y[:, 1]
    return X, Y


@pytest.fixture(scope="session")
def program():
    """Runs the program ``labelchain``, which the script ``test`` builds and names."""
    path = os.environ.get("LABELCHAIN_PROGRAM")
    if path is None:
        pytest.skip("LABELCHAIN_PROGRAM does not name the program; the script test does")

    def run(*arguments: str | pathlib.Path) -> str:
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
