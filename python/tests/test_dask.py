"""Many machines give the bytes of one: Dask on a cluster of processes, whose workers and scheduler are killed."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import labelchain as lc

pd = pytest.importorskip("pandas")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

import labelchain.dask  # noqa: E402
from labelchain import _remote  # noqa: E402

# Dask still asks pandas for what a later version of pandas will not have.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

#: No wait of these tests takes longer, in seconds.
PATIENCE = 60


@pytest.fixture(scope="module")
def client():
    """Two worker processes and a scheduler on this machine."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        distributed.Client(cluster, timeout=PATIENCE, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def frame() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of numbers, categories and missing cells with an index of their own, and three labels."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=120),
            "weight": np.where(rng.random(120) < 0.1, np.nan, rng.normal(size=120)),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], size=120)),
        },
        index=pd.Index(np.arange(120) * 3, name="item"),
    )
    Y = pd.DataFrame(
        {
            "large": X["size"] > 0,
            "heavy": X["weight"].fillna(0) + 0.2 * rng.normal(size=120) > 0,
            "warm": X["colour"] == "red",
        }
    )
    return X, Y


@pytest.fixture(scope="module")
def fitted(frame) -> lc.LabelChainClassifier:
    return lc.LabelChainClassifier("certain-forest", trees=20).fit(*frame)


def computed(collection, client):
    return client.compute(collection).result(timeout=PATIENCE)


def partitions(*parts):
    """A frame of Dask with these partitions, whatever their columns are."""
    return dd.from_map(lambda part: part, list(parts), meta=parts[0].iloc[:0])


def worker_process(client) -> int:
    """The process of one of the workers. When it is killed, its nanny starts another."""
    return next(iter(client.run(os.getpid).values()))


@pytest.mark.parametrize(("module", "needs"), [("dask", "distributed"), ("spark", "pyspark.sql")])
def test_without_the_cluster_the_module_says_what_to_install(module, needs):
    command = f"import sys; sys.modules[{needs!r}] = None; import labelchain.{module}"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f'help: pip install "labelchain[{module}]"' in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("n_partitions", [1, 3, 7])
def test_a_frame_is_answered_as_by_one_machine_with_its_index(client, frame, fitted, n_partitions):
    X, _ = frame
    rows = dd.from_pandas(X, npartitions=n_partitions)
    answers = lc.dask.predict(fitted, rows, client)
    assert answers.divisions == rows.divisions
    pd.testing.assert_frame_equal(answers._meta, fitted.predict(X).iloc[:0])
    pd.testing.assert_frame_equal(computed(answers, client), fitted.predict(X))
    aimed = lc.dask.predict(fitted, rows, client, aim="macro-f1")
    pd.testing.assert_frame_equal(computed(aimed, client), fitted.predict(X, aim="macro-f1"))
    probabilities = computed(lc.dask.predict(fitted, rows, client, proba=True), client)
    assert list(probabilities.columns) == ["large", "heavy", "warm"]
    assert probabilities.index.equals(X.index)
    assert probabilities.to_numpy().tobytes() == fitted.predict_proba(X).tobytes()


@pytest.mark.parametrize("kind", ["dense", "sparse", "single"])
def test_an_array_is_answered_as_by_one_machine(client, numbers, kind):
    from scipy import sparse

    X, Y = numbers
    Y = {"dense": Y, "sparse": sparse.csr_matrix(Y), "single": Y[:, 0]}[kind]
    local = lc.LabelChainClassifier("ecc-nb", members=5).fit(X, Y)
    rows = da.from_array(X, chunks=(33, -1))
    answers = lc.dask.predict(local, rows, client)
    assert answers.chunks[0] == (33, 33, 14)
    found, expected = computed(answers, client), local.predict(X)
    assert type(found) is type(expected) and found.dtype == expected.dtype == answers.dtype
    assert found.shape == expected.shape == answers.shape
    assert (found != expected).sum() == 0
    probabilities = computed(lc.dask.predict(local, rows, client, proba=True), client)
    assert probabilities.tobytes() == local.predict_proba(X).tobytes()


def some_known(Y):
    """Every fourth cell of the labels, and nothing about the others."""
    return Y.astype(float).where(np.arange(Y.size).reshape(Y.shape) % 4 == 0)


@pytest.mark.parametrize("n_partitions", [1, 3, 7])
def test_known_labels_are_kept_and_condition_the_others_as_on_one_machine(client, frame, fitted, n_partitions):
    X, Y = frame
    # Of another order of columns than the model's, and not of all labels.
    known = some_known(~Y)[["warm", "large"]]
    rows, parts = (dd.from_pandas(of, npartitions=n_partitions) for of in (X, known))
    expected = fitted.predict(X, known=known)
    assert not expected.equals(fitted.predict(X))
    pd.testing.assert_frame_equal(computed(lc.dask.predict(fitted, rows, client, known=parts), client), expected)
    aimed = lc.dask.predict(fitted, rows, client, aim="macro-f1", known=parts)
    pd.testing.assert_frame_equal(computed(aimed, client), fitted.predict(X, aim="macro-f1", known=known))
    probabilities = computed(lc.dask.predict(fitted, rows, client, proba=True, known=parts), client)
    assert probabilities.to_numpy().tobytes() == fitted.predict_proba(X, known=known).tobytes()
    of_all = lc.dask.predict(fitted, rows, client, known={"large": 1})
    pd.testing.assert_frame_equal(computed(of_all, client), fitted.predict(X, known={"large": 1}))


def test_known_labels_of_an_array_are_an_array_with_its_chunks(client, numbers):
    X, Y = numbers
    local = lc.LabelChainClassifier("certain-nb", members=5).fit(X, Y)
    known = some_known(pd.DataFrame(1 - Y)).to_numpy()
    rows, parts = (da.from_array(of, chunks=(33, -1)) for of in (X, known))
    found = computed(lc.dask.predict(local, rows, client, known=parts), client)
    assert (found == local.predict(X, known=known)).all() and (found != local.predict(X)).any()
    found = computed(lc.dask.predict(local, rows, client, proba=True, known={"y1": 1}), client)
    assert found.tobytes() == local.predict_proba(X, known={"y1": 1}).tobytes()


def test_known_labels_that_do_not_belong_to_the_rows_are_refused(client, frame, fitted, numbers):
    X, Y = frame
    rows, known = dd.from_pandas(X, npartitions=3), some_known(Y)
    with pytest.raises(lc.DataError, match="known has other partitions than the rows: 2, but they have 3"):
        lc.dask.predict(fitted, rows, client, known=dd.from_pandas(known, npartitions=2))
    shifted = known.set_axis(known.index + 3)
    with pytest.raises(lc.DataError, match="known has other divisions than the rows"):
        lc.dask.predict(fitted, rows, client, known=dd.from_pandas(shifted, npartitions=3))
    # Where Dask knows no divisions, the partition finds out.
    answers = lc.dask.predict(fitted, partitions(X[:50], X[50:]), client, known=partitions(known[:50], shifted[50:]))
    with pytest.raises(lc.DataError, match="^partition 1: known has another index than X"):
        computed(answers, client)
    with pytest.raises(TypeError, match="known is a DataFrame, but must be a dict, or a frame of Dask"):
        lc.dask.predict(fitted, rows, client, known=known)
    local = lc.LabelChainClassifier("br-nb", members=2).fit(*numbers)
    with pytest.raises(lc.DataError, match="known has other chunks than the rows"):
        lc.dask.predict(local, da.ones((8, 4), chunks=(4, 4)), client, known=da.ones((8, 3), chunks=(2, 3)))


def test_parquet_goes_in_and_out_without_being_gathered(client, frame, fitted, tmp_path):
    X, _ = frame
    computed(dd.from_pandas(X, npartitions=4).to_parquet(tmp_path / "rows", compute=False), client)
    fitted.save(tmp_path / "m.labelchain")
    rows = dd.read_parquet(tmp_path / "rows")
    answers = lc.dask.predict(tmp_path / "m.labelchain", rows, client)
    computed(answers.to_parquet(tmp_path / "answers", compute=False), client)
    assert len(list((tmp_path / "answers").glob("*.parquet"))) == 4
    found = pd.read_parquet(tmp_path / "answers")
    # A model file does not know that labels were booleans, and says 0 and 1 as `load` does.
    pd.testing.assert_frame_equal(found, fitted.predict(X).astype(np.int64))


def test_a_model_is_loaded_once_in_each_process(client, frame, fitted):
    X, _ = frame
    packed = _remote.PackedModel.of(fitted, "pandas")

    def n_loaded(part, packed):
        objects = {id(packed.load()) for _ in range(5)}
        return pd.DataFrame({"n": [len(objects)], "object": [id(packed.load())], "process": [os.getpid()]})

    rows = dd.from_pandas(X, npartitions=8)
    meta = pd.DataFrame({"n": [1], "object": [1], "process": [1]}).iloc[:0]
    sent = client.scatter(packed, broadcast=True, hash=False)
    found = computed(rows.map_partitions(n_loaded, sent, meta=meta), client)
    assert (found["n"] == 1).all()
    assert len(found[["object", "process"]].drop_duplicates()) == found["process"].nunique()


def test_empty_partitions_have_the_columns_of_the_others(client, frame, fitted):
    X, _ = frame
    rows = partitions(X.iloc[:50], X.iloc[:0], X.iloc[50:], X.iloc[:0])
    for proba in [False, True]:
        found = computed(lc.dask.predict(fitted, rows, client, proba=proba), client)
        assert found.index.equals(X.index)
        assert list(found.columns) == ["large", "heavy", "warm"]
        assert len(set(found.dtypes)) == 1
    nothing = computed(lc.dask.predict(fitted, partitions(X.iloc[:0]), client), client)
    pd.testing.assert_frame_equal(nothing, fitted.predict(X).iloc[:0])


def test_a_partition_with_other_columns_is_named(client, frame, fitted):
    X, _ = frame
    other = X.iloc[50:].drop(columns="weight").assign(depth=1.0)
    answers = lc.dask.predict(fitted, partitions(X.iloc[:50], other), client)
    with pytest.raises(lc.DataError, match="^partition 1: The feature names should match(.|\n)*depth"):
        computed(answers, client)


def test_a_partition_whose_cells_are_of_another_kind_is_named(client, frame, fitted):
    X, _ = frame
    other = X.iloc[50:].assign(size="big")
    answers = lc.dask.predict(fitted, partitions(X.iloc[:50], X.iloc[:0], other), client)
    with pytest.raises(lc.LabelChainError, match="^partition 2: (.|\n)*size"):
        computed(answers, client)


def test_what_cannot_be_answered_is_refused_before_anything_is_computed(client, frame, fitted, numbers):
    X, _ = frame
    rows = dd.from_pandas(X, npartitions=2)
    with pytest.raises(ValueError, match="feature names should match"):
        lc.dask.predict(fitted, rows.rename(columns={"size": "length"}), client)
    with pytest.raises(lc.RequestError, match="aim is 'macro-f1', but probabilities are the same"):
        lc.dask.predict(fitted, rows, client, proba=True, aim="macro-f1")
    with pytest.raises(TypeError, match="rows are a DataFrame, but must be a frame or an array of Dask"):
        lc.dask.predict(fitted, X, client)
    with pytest.raises(TypeError, match="model is a int"):
        lc.dask.predict(3, rows, client)
    with pytest.raises(lc.DataError, match=r"cut into 2 chunks(.|\n)*x.rechunk\(\{1: -1\}\)"):
        lc.dask.predict(fitted, da.ones((4, 4), chunks=(2, 2)), client)
    with pytest.raises(ValueError, match="X has 4 features, but LabelChainClassifier is expecting 3"):
        lc.dask.predict(fitted, da.ones((4, 4), chunks=(2, 4)), client)


def test_a_model_that_is_newer_than_the_package_of_a_worker_is_refused_with_both_versions(client, frame, fitted):
    X, _ = frame
    packed = _remote.PackedModel.of(fitted, "pandas")
    # The format stands after the sixteen bytes that say that it is a model.
    newer = bytearray(packed.file)
    known = int.from_bytes(newer[16:20], "little")
    newer[16:20] = (known + 1).to_bytes(4, "little")
    packed = _remote.PackedModel(bytes(newer), packed.container, "newer")
    question = _remote.Question(False, None)
    task = client.submit(lc.dask._frame_answer, X, None, packed, question, {"number": 7})
    message = f"^partition 7, a worker with labelchain {lc.__version__}: (.|\n)*model format {known + 1}, this version reads {known}"
    with pytest.raises(lc.LabelChainError, match=message):
        task.result(timeout=PATIENCE)


def slowly(part):
    time.sleep(0.2)
    return part


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(client, frame, fitted):
    X, _ = frame
    rows = dd.from_pandas(X, npartitions=12).map_partitions(slowly, meta=X.iloc[:0])
    worker = worker_process(client)
    future = client.compute(lc.dask.predict(fitted, rows, client))
    time.sleep(0.7)
    assert not future.done()
    os.kill(worker, signal.SIGKILL)
    pd.testing.assert_frame_equal(future.result(timeout=PATIENCE), fitted.predict(X))


@pytest.mark.parametrize("n_partitions", [1, 3, 7])
@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        # Trees.
        ("certain-forest", {"trees": 21, "random_state": 7}),
        ("br-forest", {"trees": 2}),
        # Columns, then rows.
        ("ecc-nb", {"select": "none", "members": 3}),
        ("certain-nb", {"select": "none", "members": 5, "aim": "macro-f1", "max_imbalance": 2, "updatable": True}),
        # Members, also such as are trained for an order and of which something is left to the data.
        ("ecc-nb", {"members": 3}),
        ("ecc-j48", {"members": 3, "random_state": 5}),
        ("br-knn", {"members": 4}),
        ("br-svm", {"members": 2}),
        # As a whole.
        ("dynamic-nb", {"members": 2, "decay": 1}),
    ],
)
def test_a_model_that_workers_train_has_the_bytes_of_one_machine(client, frame, n_partitions, method, parameters):
    X, Y = frame
    local = lc.LabelChainClassifier(method, **parameters).fit(X, Y)
    rows = dd.from_pandas(X.join(Y), npartitions=n_partitions)
    fitted = lc.dask.fit(rows, list(Y.columns), method, client, **parameters)
    assert fitted._model.to_bytes() == local._model.to_bytes()
    assert fitted.get_params() == local.get_params()
    assert fitted.feature_names_in_.tolist() == local.feature_names_in_.tolist()
    pd.testing.assert_frame_equal(fitted.predict(X), local.predict(X))


@pytest.fixture
def most_cells(client):
    """The most cells of inputs that a task has had, of all tasks from now on."""

    def watch():
        import labelchain._dask_fit as module

        module.most_cells = 0
        read = lc.LabelChainClassifier._training_rows

        def reading(self, X, Y):
            module.most_cells = max(module.most_cells, X.size)
            return read(self, X, Y)

        lc.LabelChainClassifier._training_rows = reading
        return read

    def most():
        import labelchain._dask_fit as module

        return module.most_cells

    yield lambda: (client.run(watch), lambda: max(client.run(most).values()))[1]
    client.restart()


def test_naive_bayes_has_all_inputs_of_all_rows_in_no_process(client, frame, most_cells):
    X, Y = frame
    rows, labels = dd.from_pandas(X.join(Y), npartitions=4), list(Y.columns)
    most = most_cells()
    lc.dask.fit(rows, labels, "br-nb", client, select="none", members=2)
    # Two workers, and three columns of 120 rows.
    assert most() == 2 * 120
    lc.dask.fit(rows, labels, "br-nb", client, members=2)
    assert most() == 3 * 120


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("certain-forest", {"trees": 30}),
        ("ecc-nb", {"select": "none", "members": 10}),
        ("ecc-j48", {"members": 10}),
        ("certain-forest", {"trees": 30, "rows": "partition"}),
    ],
)
def test_a_worker_that_is_killed_while_it_trains_changes_nothing(client, frame, method, parameters):
    X, Y = frame
    labels = list(Y.columns)
    rows = dd.from_pandas(X.join(Y), npartitions=4)
    expected = lc.dask.fit(rows, labels, method, client, **parameters)
    slow = rows.map_partitions(slowly, meta=X.join(Y).iloc[:0])
    killer = threading.Timer(0.3, os.kill, [worker_process(client), signal.SIGKILL])
    killer.start()
    fitted = lc.dask.fit(slow, labels, method, client, **parameters)
    killer.join()
    assert fitted._model.to_bytes() == expected._model.to_bytes()


@pytest.mark.parametrize(
    ("method", "parameters"),
    [("certain-forest", {"trees": 9}), ("br-nb", {"select": "none"}), ("certain-forest", {"rows": "partition"})],
)
def test_a_partition_that_does_not_go_with_the_others_is_named(client, frame, method, parameters):
    X, Y = frame
    rows, labels = X.join(Y), list(Y.columns)
    fit = lambda *parts: lc.dask.fit(partitions(*parts), labels, method, client, **parameters)  # noqa: E731
    other = rows.iloc[50:].drop(columns="weight").assign(depth=1.0)
    with pytest.raises(lc.DataError, match="^partition 1: its columns are not those of the frame: 'depth' is new"):
        fit(rows.iloc[:50], other)
    with pytest.raises(lc.DataError, match="^partition 2: its columns .*'weight' is missing"):
        fit(rows.iloc[:50], rows.iloc[:0], rows.iloc[50:].drop(columns="weight"))
    with pytest.raises(lc.DataError, match="^partition 1: column 'size' holds text, but numbers"):
        fit(rows.iloc[:50], rows.iloc[50:].assign(size="big"))


@pytest.mark.parametrize(
    ("method", "parameters"), [("certain-forest", {"trees": 9}), ("br-nb", {"select": "none"}), ("br-j48", {"members": 2})]
)
def test_empty_partitions_change_nothing(client, frame, method, parameters):
    X, Y = frame
    rows, labels = X.join(Y), list(Y.columns)
    local = lc.LabelChainClassifier(method, **parameters).fit(X, Y)
    parts = partitions(rows.iloc[:0], rows.iloc[:50], rows.iloc[:0], rows.iloc[50:], rows.iloc[:0])
    assert lc.dask.fit(parts, labels, method, client, **parameters)._model.to_bytes() == local._model.to_bytes()
    with pytest.raises(lc.DataError, match="no rows to learn from"):
        lc.dask.fit(partitions(rows.iloc[:0], rows.iloc[:0]), labels, method, client, **parameters)


@pytest.mark.parametrize(("method", "parameters"), [("br-forest", {"trees": 9}), ("br-nb", {"select": "none"})])
def test_partitions_may_know_other_categories(client, frame, method, parameters):
    X, Y = frame
    rows = X.join(Y).sort_values("colour")
    known = lambda part: part.assign(colour=part["colour"].cat.remove_unused_categories())  # noqa: E731
    parts = partitions(*(known(rows.iloc[at : at + 30]) for at in range(0, 120, 30)))
    whole = computed(parts, client)
    assert list(whole["colour"].cat.categories) == ["blue", "green", "red"]
    local = lc.LabelChainClassifier(method, **parameters).fit(whole[X.columns], whole[Y.columns])
    fitted = lc.dask.fit(parts, list(Y.columns), method, client, **parameters)
    assert fitted._model.to_bytes() == local._model.to_bytes()


def test_trees_that_see_a_partition_each_say_so(client, frame, program, tmp_path):
    X, Y = frame
    rows, labels = X.join(Y), list(Y.columns)
    # The tree of an empty partition would have nothing to learn from.
    parts = partitions(rows.iloc[:60], rows.iloc[:0], rows.iloc[60:100], rows.iloc[100:])
    fitted = lc.dask.fit(parts, labels, "certain-forest", client, rows="partition", trees=30)
    # One tree for each of three partitions, and of 27 more 60, 40 and 20 of 120.
    trees = [of[0] for of in fitted._model.tree_rows]
    assert trees == [1 + 14, 1 + 9, 1 + 4]
    for (_, first, last), (begin, end) in zip(fitted._model.tree_rows, [(0, 60), (60, 100), (100, 120)]):
        assert begin <= first < last < end
    assert fitted._model.n_rows == 120
    # Another number of workers would not matter, other partitions do.
    again = lc.dask.fit(parts, labels, "certain-forest", client, rows="partition", trees=30)
    assert again._model.to_bytes() == fitted._model.to_bytes()
    assert (fitted.predict(X) == Y).to_numpy().mean() > 0.9
    fitted.save(tmp_path / "m.labelchain")
    shown = program("show", tmp_path / "m.labelchain")
    assert "120 rows, by trees that each drew from some: 15 of rows 0–" in shown
    # A single partition is the whole.
    whole = lc.dask.fit(partitions(rows), labels, "certain-forest", client, rows="partition", trees=30)
    local = lc.LabelChainClassifier("certain-forest", trees=30).fit(X, Y)
    pd.testing.assert_frame_equal(whole.predict(X), local.predict(X))
    assert [of[0] for of in local._model.tree_rows] == [30]


def test_trees_cannot_see_a_partition_each_everywhere(client, frame):
    X, Y = frame
    rows, labels = dd.from_pandas(X.join(Y), npartitions=3), list(Y.columns)
    fit = lambda rows=rows, method="certain-forest", **more: lc.dask.fit(  # noqa: E731
        rows, labels, method, client, rows="partition", **more
    )
    with pytest.raises(lc.RequestError, match="ecc-nb has no trees that could see a partition each"):
        fit(method="ecc-nb")
    with pytest.raises(lc.LabelChainError, match="dynamic-forest cannot be updated"):
        fit(method="dynamic-forest")
    with pytest.raises(lc.RequestError, match=r"2 trees, but 3 partitions(.|\n)*repartition\(npartitions=2\)"):
        fit(trees=2)
    with pytest.raises(lc.DataError, match="the same values of column 'colour'(.|\n)*categorize"):
        fit(rows.assign(colour=rows["colour"].astype(str)))
    with pytest.raises(lc.RequestError, match="rows is 'some', but must be 'all' or 'partition'"):
        lc.dask.fit(rows, labels, client=client, rows="some")


def test_what_cannot_be_learned_is_refused(client, frame):
    X, Y = frame
    rows = dd.from_pandas(X.join(Y), npartitions=2)
    with pytest.raises(lc.RequestError, match="no column 'cold' that could be a label"):
        lc.dask.fit(rows, ["cold"], client=client)
    with pytest.raises(lc.RequestError, match="trees"):
        lc.dask.fit(rows, ["warm"], "certain-forest", client, trees=0)
    with pytest.raises(TypeError, match="frame is a DataFrame, but must be a frame of Dask"):
        lc.dask.fit(X.join(Y), ["warm"], client=client)
    # What workers find out is said as it is by one machine.
    with pytest.raises(lc.DataError, match="Unknown label type"):
        lc.dask.fit(rows, ["size"], client=client)
    with pytest.raises(ValueError, match="at least one array"):
        lc.dask.fit(rows[["warm"]], ["warm"], "br-nb", client, select="none")


PROTOCOL = """
folds = 4
sets = [{ file = "one.csv", labels = ["a", "b", "c"] }, { file = "two.csv", labels = ["a", "b", "c"] }]
methods = ["ecc-nb", "certain-forest", { name = "searched", method = "ga-nb", generations = 400 }]
[settings]
members = 10
trees = 20
"""


@pytest.fixture
def study(tmp_path):
    """A protocol with two sets, four folds and three methods; one of them takes a while."""
    rng = np.random.default_rng(3)
    for name, n_rows in [("one", 90), ("two", 120)]:
        X = rng.normal(size=(n_rows, 4))
        Y = (X[:, :3] + 0.5 * rng.normal(size=(n_rows, 3)) > 0).astype(int)
        rows = pd.DataFrame(X, columns=list("wxyz")).join(pd.DataFrame(Y, columns=list("abc")))
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "p.toml").write_text(PROTOCOL)
    return tmp_path


def content(path) -> dict[str, list[tuple]]:
    """Everything in a file of results but times, memory, and the checksums that cover them."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        tables = {"study": "*", "sets": "*", "methods": "*", "running": "*"}
        columns = [row[1] for row in connection.execute("PRAGMA table_info(cells)")]
        kept = [name for name in columns if name not in ("cpu_seconds", "peak_memory", "checksum")]
        tables["cells"] = ", ".join(f'"{name}"' for name in kept)
        return {table: sorted(connection.execute(f"SELECT {what} FROM {table}")) for table, what in tables.items()}


def n_done(path) -> int:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM cells").fetchone()[0]


#: Kills a process when so many cells are written. It is a program of its own, because a process that closes a file
#: gives up all locks that it has on it, also those of the extension, which has another copy of SQLite than Python.
KILLER = """
import os, signal, sqlite3, sys, time
path, n_cells, process, patience = sys.argv[1], *map(int, sys.argv[2:])
end = time.monotonic() + patience
while time.monotonic() < end:
    try:
        connection = sqlite3.connect(f"file:{path}?mode=rw", uri=True)
        n_done = connection.execute("SELECT count(*) FROM cells").fetchone()[0]
        connection.close()
    except sqlite3.OperationalError:
        n_done = 0
    if n_done >= n_cells:
        os.kill(process, signal.SIGKILL)
        sys.exit()
    time.sleep(0.02)
sys.exit("too few cells")
"""


@contextlib.contextmanager
def killing(process: int, path, n_cells: int):
    """Within it, a process is killed when a file of results has so many cells."""
    killer = subprocess.Popen([sys.executable, "-c", KILLER, *map(str, (path, n_cells, process, PATIENCE))])
    try:
        yield
        assert killer.wait(timeout=PATIENCE) == 0
    finally:
        killer.kill()
        killer.wait()


def test_a_study_has_the_results_of_one_machine_also_when_a_worker_is_killed(client, study, program):
    program("study", "run", study / "p.toml", "--results", study / "one-machine.db")
    with killing(worker_process(client), study / "p.db", 3):
        summary = lc.dask.run_study(study / "p.toml", client)
    assert (summary.done, summary.failed, summary.kept, summary.missing) == (24, 0, 0, [])
    assert summary.results == str(study / "p.db")
    assert content(study / "p.db") == content(study / "one-machine.db")
    # The program finds nothing to do, and neither do we; a report of the program can be made of it.
    assert "0 cells done, 24 kept" in program("study", "run", study / "p.toml")
    again = lc.dask.run_study(study / "p.toml", client)
    assert (again.done, again.kept) == (0, 24)
    assert content(study / "p.db") == content(study / "one-machine.db")


def test_some_cells_are_computed_now_and_the_others_later(client, study):
    first = lc.dask.run_study(study / "p.toml", client, only="set=one method=ecc-nb,certain-forest fold=0,1")
    assert (first.done, first.kept) == (4, 0)
    (study / "elsewhere").mkdir()
    (study / "two.csv").rename(study / "elsewhere" / "two.csv")
    missing = lc.dask.run_study(study / "p.toml", client, only="method=ecc-nb")
    assert (missing.done, missing.kept, missing.missing) == (2, 2, ["two"])


def test_cells_that_fail_are_noted_and_tried_again(client, study):
    text = (study / "p.toml").read_text().replace("folds = 4", "folds = 95")
    (study / "p.toml").write_text(text)
    with pytest.raises(lc.RequestError, match='"on"'):
        lc.dask.run_study(study / "p.toml", client, only="set=on")
    summary = lc.dask.run_study(study / "p.toml", client, only="set=one fold=0 method=ecc-nb")
    assert (summary.done, summary.failed) == (0, 1)
    again = lc.dask.run_study(study / "p.toml", client, only="set=one fold=0 method=ecc-nb")
    assert (again.failed, again.kept) == (1, 0)
    with contextlib.closing(sqlite3.connect(study / "p.db")) as connection:
        (error,) = connection.execute("SELECT error FROM cells").fetchone()
    assert "95" in error


def test_a_scheduler_that_is_killed_loses_nothing_that_was_written(study, tmp_path):
    """Processes of their own: the scheduler of a LocalCluster lives in this one."""
    address = tmp_path / "scheduler.json"
    here = ["--host", "127.0.0.1"]
    scheduler = ["scheduler", *here, "--port", "0", "--dashboard-address", "127.0.0.1:0", "--scheduler-file"]
    worker = ["worker", *here, "--no-nanny", "--no-dashboard", "--nthreads", "1", "--death-timeout", PATIENCE]
    start = lambda *command: subprocess.Popen(  # noqa: E731
        [sys.executable, "-m", "dask", *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    killed = start(*scheduler, address)
    of_killed = start(*worker, "--scheduler-file", address)
    try:
        with warnings.catch_warnings():
            # The scheduler's file is looked for until it is there.
            warnings.simplefilter("ignore")
            first = distributed.Client(scheduler_file=str(address), timeout=PATIENCE, set_as_default=False)
        with killing(killed.pid, study / "p.db", 5), pytest.raises(ConnectionError, match="what was done is in .*p.db"):
            lc.dask.run_study(study / "p.toml", first)
        n_before = n_done(study / "p.db")
        assert 5 <= n_before < 24
        before = content(study / "p.db")["cells"]
    finally:
        for process in [killed, of_killed]:
            process.kill()
            process.wait(timeout=PATIENCE)
    first.close(timeout=1)
    with distributed.Client(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, set_as_default=False
    ) as second:
        summary = lc.dask.run_study(study / "p.toml", second)
    assert (summary.done, summary.kept) == (24 - n_before, n_before)
    after = content(study / "p.db")
    assert set(before) <= set(after["cells"]) and len(after["cells"]) == 24
    assert after["running"] == []
