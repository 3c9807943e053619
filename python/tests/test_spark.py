"""Spark gives the bytes of one machine. Skipped where PySpark or Java is not installed."""

from __future__ import annotations

import os
import shutil
import sys

import numpy as np
import pytest

import labelchain as lc

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install pyspark")
pd = pytest.importorskip("pandas")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("PySpark needs Java, which is not installed", allow_module_level=True)

import labelchain.spark  # noqa: E402

# What PySpark and its Java do while they start and stop is theirs.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def spark():
    """A session of two processes on this machine, without a web page."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("labelchain")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def rows() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(4)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=90),
            "weight.kg": rng.normal(size=90),
            "colour": rng.choice(["red", "green", "blue"], size=90),
        }
    )
    Y = pd.DataFrame({"large": X["size"] > 0, "warm": X["colour"] == "red"})
    return X, Y


@pytest.fixture(scope="module")
def fitted(rows) -> lc.LabelChainClassifier:
    return lc.LabelChainClassifier("certain-forest", trees=20).fit(*rows)


def table(spark, X, n_partitions: int = 3):
    """The rows with an identifier and a column that no model knows."""
    frame = X.assign(item=np.arange(len(X)) * 3, remark="none")
    return spark.createDataFrame(frame).repartition(n_partitions)


def collected(answers):
    return answers.toPandas().sort_values("item", ignore_index=True)


def test_a_table_is_answered_as_by_one_machine_with_its_identifiers(spark, rows, fitted):
    X, _ = rows
    answers = lc.spark.predict(table(spark, X), fitted, keep=["item"])
    assert answers.dtypes == [("item", "bigint"), ("large", "boolean"), ("warm", "boolean")]
    found = collected(answers)
    assert found["item"].tolist() == [3 * at for at in range(90)]
    pd.testing.assert_frame_equal(found[["large", "warm"]], fitted.predict(X))
    probabilities = collected(lc.spark.predict(table(spark, X, 5), fitted, proba=True, keep=["item"]))
    assert probabilities[["large", "warm"]].to_numpy().tobytes() == fitted.predict_proba(X).tobytes()
    aimed = collected(lc.spark.predict(table(spark, X), fitted, aim="macro-f1", keep=["item"]))
    pd.testing.assert_frame_equal(aimed[["large", "warm"]], fitted.predict(X, aim="macro-f1"))


def test_known_labels_are_kept_and_condition_the_others_as_on_one_machine(spark, rows, fitted):
    X, Y = rows
    known = (~Y[["warm"]]).astype(object).where(X["size"] > 0, None)
    expected = fitted.predict(X, known=known)
    assert not expected.equals(fitted.predict(X))
    found = collected(lc.spark.predict(table(spark, X.join(known)), fitted, keep=["item"], known=["warm"]))
    pd.testing.assert_frame_equal(found[["large", "warm"]], expected)
    found = collected(lc.spark.predict(table(spark, X), fitted, proba=True, keep=["item"], known={"large": 1}))
    expected = fitted.predict_proba(X, known={"large": 1})
    assert found[["large", "warm"]].to_numpy().tobytes() == expected.tobytes()
    with pytest.raises(lc.RequestError, match="no column 'large' that could hold known labels"):
        lc.spark.predict(table(spark, X), fitted, known=["large"])
    with pytest.raises(lc.RequestError, match="known names 'size', which is no label"):
        lc.spark.predict(table(spark, X), fitted, known=["size"])


def test_parquet_goes_in_and_out_by_a_model_file(spark, rows, fitted, tmp_path):
    X, _ = rows
    table(spark, X).write.parquet(str(tmp_path / "rows"))
    fitted.save(tmp_path / "m.labelchain")
    answers = lc.spark.predict(spark.read.parquet(str(tmp_path / "rows")), tmp_path / "m.labelchain", keep=["item"])
    answers.write.parquet(str(tmp_path / "answers"))
    found = pd.read_parquet(tmp_path / "answers").sort_values("item", ignore_index=True)
    pd.testing.assert_frame_equal(found[["large", "warm"]], fitted.predict(X).astype(np.int64))


def test_empty_partitions_are_answered(spark, rows, fitted):
    X, _ = rows
    answers = lc.spark.predict(table(spark, X.iloc[:2], 6), fitted, keep=["item"])
    assert len(answers.toPandas()) == 2
    assert answers.limit(0).toPandas().columns.tolist() == ["item", "large", "warm"]


def test_inputs_without_names_are_the_columns_that_are_not_kept(spark, numbers):
    X, Y = numbers
    local = lc.LabelChainClassifier("ecc-nb", members=5).fit(X, Y)
    frame = spark.createDataFrame(pd.DataFrame(X, columns=list("abcd")).assign(item=np.arange(len(X))))
    found = collected(lc.spark.predict(frame, local, keep=["item"]))
    assert (found[["y0", "y1", "y2"]].to_numpy() == local.predict(X)).all()
    with pytest.raises(lc.DataError, match="5 columns that are not kept, but the model was trained with 4"):
        lc.spark.predict(frame, local)


def test_what_cannot_be_answered_is_refused_before_anything_is_computed(spark, rows, fitted):
    X, _ = rows
    with pytest.raises(lc.DataError, match="no column 'size', which the model was trained with"):
        lc.spark.predict(table(spark, X.drop(columns="size")), fitted)
    with pytest.raises(lc.RequestError, match="no column 'name' that could be kept"):
        lc.spark.predict(table(spark, X), fitted, keep=["name"])
    with pytest.raises(lc.RequestError, match="column 'large' is to be kept, and the model answers"):
        lc.spark.predict(table(spark, X.assign(large=1)), fitted, keep=["large"])


def test_a_partition_that_fails_is_named(spark, rows, fitted):
    X, _ = rows
    answers = lc.spark.predict(table(spark, X.assign(size="big"), 1), fitted, keep=["item"])
    with pytest.raises(Exception, match="partition 0: (.|\n)*size"):
        answers.toPandas()
