"""Ctrl-C, other threads and progress while the library works."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import labelchain as lc

#: Work of many seconds.
LONG = {
    "ga-nb": {"generations": 1_000_000, "population": 200},
    "ecc-svm": {"members": 50},
    "certain-forest": {"trees": 10_000},
}


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 30))
    return X, (X[:, :5] + rng.normal(size=(2000, 5)) > 0).astype(int)


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
@pytest.mark.parametrize("method", LONG)
def test_ctrl_c_stops_training_within_a_second(many, method):
    clf = lc.LabelChainClassifier(method, **LONG[method])
    sent = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.0, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*many)
    assert time.monotonic() - sent[0] < 1
    assert not hasattr(clf, "classes_")


def test_other_threads_run_while_the_library_works(many):
    X, Y = many
    clf = lc.LabelChainClassifier("certain-forest", trees=60)
    work = threading.Thread(target=clf.fit, args=(X, Y))
    work.start()
    n_turns = 0
    while work.is_alive():
        time.sleep(0.005)
        n_turns += 1
    # With the lock held there would be a turn or two.
    assert n_turns > 10


def test_progress_is_shown_where_it_is_wanted(numbers, capsys):
    clf = lc.LabelChainClassifier("ga-nb", members=2, generations=5, population=4)
    assert capsys.readouterr().err == ""
    clf.set_params(verbose=True).fit(*numbers)
    assert "5/5" in capsys.readouterr().err


def test_progress_needs_no_tqdm(numbers, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    lc.LabelChainClassifier("ga-nb", members=2, generations=5, population=4, verbose=True).fit(*numbers)
    assert "5 of 5" in capsys.readouterr().err
