"""Model files, data files and pickles: the program's own, both ways."""

from __future__ import annotations

import datetime
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import labelchain as lc

#: A method of every base, each with a setting, as options of the program and in Python.
METHODS = [
    ("dynamic-nb", "--members 5", {"members": 5}),
    ("ga-nb", "--members 3 --generations 5 --population 10", {"members": 3, "generations": 5, "population": 10}),
    ("oocc-knn", "--members 3 --neighbours 3", {"members": 3, "neighbours": 3}),
    ("ecc-j48", "--members 3 --max-imbalance none --unpruned true", {"members": 3, "max_imbalance": None, "unpruned": True}),
    ("ecc-svm", "--members 2 --kernel linear --order calm,loud,fast", {"members": 2, "kernel": "linear", "order": ["calm", "loud", "fast"]}),
    ("certain-forest", "--trees 10 --aim macro-f1", {"trees": 10, "aim": "macro-f1"}),
]


@pytest.fixture
def songs(tmp_path, numbers):
    X, Y = numbers
    frame = pd.DataFrame(X.round(3), columns=["tempo", "energy", "bass", "length"])
    frame["key"] = np.where(X[:, 3] > 0, "minor", "major")
    frame.loc[4, "tempo"] = np.nan
    labels = pd.DataFrame(Y, columns=["calm", "fast", "loud"])
    path = tmp_path / "songs.csv"
    pd.concat([frame, labels], axis=1).to_csv(path, index=False)
    return path, frame, labels


@pytest.mark.parametrize(("method", "options", "settings"), METHODS, ids=[of[0] for of in METHODS])
def test_shell_and_python_write_the_same_bytes(program, songs, tmp_path, method, options, settings):
    path, frame, labels = songs
    ours, theirs = tmp_path / "ours.labelchain", tmp_path / "theirs.labelchain"
    program("train", path, "--labels", "calm,fast,loud", "-m", method, "--seed", "7",
            *options.replace("--unpruned true", "--unpruned").split(), "-o", theirs)
    clf = lc.LabelChainClassifier(method, random_state=7, **settings)
    clf.fit(frame, labels).save(ours)
    assert ours.read_bytes() == theirs.read_bytes()
    # The same rows as the library reads them, and with another number of threads.
    clf.set_params(n_jobs=1).fit(lc.read(path, labels=["calm", "fast", "loud"])).save(ours)
    assert ours.read_bytes() == theirs.read_bytes()


def test_shell_and_python_answer_alike(program, songs, tmp_path):
    path, frame, labels = songs
    model, answers = tmp_path / "m.labelchain", tmp_path / "answers.csv"
    clf = lc.LabelChainClassifier("ecc-nb", members=5).fit(frame, labels)
    clf.save(model)
    program("predict", model, path, "--aim", "macro-f1", "--probabilities", "-o", answers)
    theirs = np.loadtxt(answers, delimiter=",", skiprows=1)
    loaded = lc.load(model)
    np.testing.assert_array_equal(theirs[:, :3], loaded.predict(frame, aim="macro-f1"))
    np.testing.assert_array_equal(theirs[:, 3:], loaded.predict_proba(frame))
    assert loaded.label_names_ == ["calm", "fast", "loud"]
    assert loaded.feature_names_in_.tolist() == frame.columns.tolist()


def test_a_loaded_model_has_the_parameters_it_was_trained_with(tmp_path, numbers):
    X, Y = numbers
    path = tmp_path / "m.labelchain"
    clf = lc.LabelChainClassifier("oocc-nb@top=1", members=3, orders=5, max_imbalance=None, random_state=9)
    clf.fit(X, Y).save(path)
    loaded = lc.load(path)
    expected = {**clf.get_params(), "method": "oocc-nb", "aim": "top=1"}
    assert loaded.get_params() == expected
    assert loaded.fit(X, Y)._model.to_bytes() == path.read_bytes()
    assert not hasattr(loaded, "feature_names_in_") and loaded.n_features_in_ == 4


def test_a_pickle_holds_the_bytes_of_the_model_file(tmp_path, numbers):
    X, Y = numbers
    clf = lc.LabelChainClassifier("ecc-nb", members=3).fit(X, pd.DataFrame(Y, columns=["a", "b", "c"]))
    path = tmp_path / "m.labelchain"
    clf.save(path)
    pickled = pickle.dumps(clf)
    assert path.read_bytes() in pickled
    pd.testing.assert_frame_equal(pickle.loads(pickled).predict(X), clf.predict(X))


@pytest.mark.parametrize("damage", [b"", b"labelchain", b"nonsense" * 20])
def test_a_damaged_file_is_refused(tmp_path, damage):
    path = tmp_path / "m.labelchain"
    path.write_bytes(damage)
    with pytest.raises(lc.ContentError, match="help"):
        lc.load(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    (tmp_path / "songs.csv").write_text("x,a\n1,0\n")
    with pytest.raises(FileNotFoundError, match="did you mean .*songs.csv"):
        lc.read(tmp_path / "sogns.csv", labels="a")


def test_a_delimiter_can_be_named(tmp_path):
    path = tmp_path / "piped.csv"
    path.write_text("x|y\n1|0\n2|1\n")
    assert lc.read(path, labels="y", delimiter="|").feature_names == ["x"]
    with pytest.raises(lc.RequestError, match="delimiter"):
        lc.read(path, labels="y", delimiter="||")


def test_files_are_read_as_the_program_reads_them(tmp_path):
    path = tmp_path / "songs.csv"
    path.write_text("tempo,key,calm,sad\n72,minor,1,1\n128,major,0,\n99,,1,0\n")
    with pytest.warns(lc.DataWarning, match="keeps the labels it has"):
        songs = lc.read(path, labels_last=2, missing_labels="learn")
    assert (songs.name, songs.shape, len(songs)) == ("songs", (3, 2), 3)
    assert songs.feature_names == ["tempo", "key"] and songs.categories == {"key": ["major", "minor"]}
    np.testing.assert_array_equal(songs.X, [[72, 1], [128, 0], [99, np.nan]])
    np.testing.assert_array_equal(songs.Y, [[1, 1], [0, np.nan], [1, 0]])
    X, Y = songs.to_pandas()
    assert X["key"].tolist()[:2] == ["minor", "major"] and Y.columns.tolist() == ["calm", "sad"]
    assert songs.to_arrow().to_pylist()[1] == {"tempo": 128.0, "key": "major", "calm": False, "sad": None}


def test_a_data_set_is_a_table_for_any_library(tmp_path):
    path = tmp_path / "songs.csv"
    path.write_text("tempo,key,day,title,calm,sad\n72,minor,2024-02-29,la la,1,1\n128,major,,oh,0,0\n,,1969-12-31,la,1,0\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        songs = lc.read(path, labels_last=2, text="title")
    first = {"tempo": 72.0, "key": "minor", "day": datetime.date(2024, 2, 29), "title": "la la", "calm": True, "sad": True}
    assert songs.to_arrow().to_pylist()[0] == first
    frame = pl.DataFrame(songs)
    assert frame.row(0, named=True) == first
    assert frame.row(2) == (None, None, datetime.date(1969, 12, 31), "la", True, False)
    X, _ = songs.to_pandas()
    assert X["title"].tolist() == ["la la", "oh", "la"]
    assert X["day"].tolist() == [pd.Timestamp("2024-02-29"), pd.NaT, pd.Timestamp("1969-12-31")]


def test_dates_and_identifiers_of_a_file_are_found_as_the_program_finds_them(program, tmp_path):
    path, theirs, ours = (tmp_path / name for name in ("t.csv", "theirs.labelchain", "ours.labelchain"))
    days = np.datetime64("2024-01-01") + np.arange(60)
    lines = [f"T-{1000 + row},{day},{row % 7},{row % 2}" for row, day in enumerate(days)]
    path.write_text("ticket,day,size,late\n" + "\n".join(lines) + "\n")
    program("train", path, "--labels", "late", "-m", "br-nb", "-o", theirs)
    with pytest.warns(lc.DataWarning) as notes:
        data = lc.read(path, labels="late")
    said = " ".join(str(note.message) for note in notes)
    assert '"ticket"' in said and '"day"' in said
    assert data.feature_names == ["day", "size"]
    lc.LabelChainClassifier("br-nb").fit(data).save(ours)
    assert ours.read_bytes() == theirs.read_bytes()
    with pytest.warns(lc.DataWarning, match="day"):
        assert lc.read(path, labels="late", keep=["ticket", "size"]).feature_names == ["ticket", "day", "size"]


def test_a_table_that_does_not_fit_into_memory_is_refused_with_what_to_do(tmp_path):
    path = tmp_path / "wide.svm"
    path.write_text("0 1:1\n1 1000000:1\n" * 100_000)
    data = lc.read(path)
    assert data.X.nnz == 200_000
    for convert in (data.to_pandas, data.to_arrow):
        with pytest.raises(lc.LimitError, match="(?s)wide take 1600000 MB.*help: .X is a CSR matrix"):
            convert()


def test_what_a_file_says_about_columns_is_heeded_in_an_evaluation(tmp_path):
    path = tmp_path / "notes.csv"
    # Words tell the label, and no two texts are the same.
    lines = [f"{'good' if row % 2 else 'bad'} day {row},{row % 2}" for row in range(40)]
    path.write_text("note,glad\n" + "\n".join(lines) + "\n")
    data = lc.read(path, labels="glad", text="note")
    assert lc.evaluate("certain-forest", data, cv=2).query("criterion == 'hamming'").loss.max() < 0.2


def test_sparse_files_stay_sparse(tmp_path):
    path = tmp_path / "s.svm"
    path.write_text("0,1 1:2 3:1\n1 2:0.5\n")
    data = lc.read(path)
    np.testing.assert_array_equal(data.X.toarray(), [[2, 0, 1], [0, 0.5, 0]])
    np.testing.assert_array_equal(data.Y, [[1, 1], [0, 1]])


def test_what_is_wrong_with_a_file_is_said_in_the_words_of_python(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,a\n1,\n")
    with pytest.raises(lc.ContentError, match='missing_labels="drop" leaves such rows out'):
        lc.read(path, labels="a")
    with pytest.raises(lc.RequestError, match='labels="a,b,c" · labels_first=N'):
        lc.read(path)
    with pytest.raises(lc.RequestError, match="said in two ways"):
        lc.read(path, labels="a", labels_last=1)


def test_named_values_of_a_data_set_stay_names(songs):
    path, frame, labels = songs
    data = lc.read(path, labels=["calm", "fast", "loud"])
    other = lc.LabelChainClassifier("br-nb").fit(data, labels)
    assert list(other.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(other.predict(data), other.predict(frame))
    assert {row["method"] for row in lc.evaluate("br-nb", data, cv=2).to_dict("records")} == {"br-nb"}
