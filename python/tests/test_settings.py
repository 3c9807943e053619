"""Parameters are the settings that the library declares."""

from __future__ import annotations

import ast
import inspect
import pathlib

import numpy as np
import pytest

import labelchain as lc
from labelchain import _labelchain, _stub

PACKAGE = pathlib.Path(lc.__file__).parent


def test_the_signature_has_every_setting_with_its_default():
    parameters = inspect.signature(lc.LabelChainClassifier).parameters
    assert list(parameters)[:6] == ["method", "aim", "random_state", "n_jobs", "verbose", "text"]
    declared = {of["name"]: of["default"] for of in _labelchain.settings()}
    assert {name: parameters[name].default for name in list(parameters)[6:]} == declared
    assert len(declared) > 30
    assert lc.LabelChainClassifier().get_params() == {n: p.default for n, p in parameters.items()}


def test_the_documentation_has_every_setting():
    for setting in lc.settings().values():
        assert f"{setting.name} : {setting.type}" in lc.LabelChainClassifier.__doc__
        assert setting.help in lc.LabelChainClassifier.__doc__


def test_the_stub_is_what_the_library_declares():
    written = (PACKAGE / "_classifier.pyi").read_text()
    assert written == _stub.stub(), "python -m labelchain._stub > python/labelchain/_classifier.pyi"


def test_the_stub_of_the_extension_names_what_is_there():
    tree = ast.parse((PACKAGE / "_labelchain.pyi").read_text())
    named = {of.name for of in tree.body if isinstance(of, ast.ClassDef | ast.FunctionDef)}
    named |= {of.target.id for of in tree.body if isinstance(of, ast.AnnAssign)} - {"__version__"}
    assert named == {name for name in dir(_labelchain) if not name.startswith("_")}
    for of in tree.body:
        if isinstance(of, ast.ClassDef) and not of.name.endswith("Error"):
            members = {m.name for m in of.body if isinstance(m, ast.FunctionDef)}
            members |= {m.target.id for m in of.body if isinstance(m, ast.AnnAssign)}
            found = {name for name in vars(getattr(_labelchain, of.name)) if not name.startswith("_")}
            assert members - {"__init__"} == found, of.name


def test_a_misspelt_setting_gets_the_near_name():
    with pytest.raises(lc.RequestError, match='no setting is called "membres". Did you mean "members"'):
        lc.LabelChainClassifier(membres=3)
    with pytest.raises(lc.RequestError, match='Did you mean "vote_ties"'):
        lc.LabelChainClassifier().set_params(vote_tie="relevant")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "ecc-nbb"}, 'Did you mean "ecc-nb"'),
        ({"method": "dynamic-j48"}, "walked in any order"),
        ({"method": 3}, "must be text"),
        ({"aim": "macro-f2"}, "macro-f1"),
        ({"members": 0}, "a whole number from 1 to 100000"),
        ({"members": 2.5}, "members is 2.5"),
        ({"members": None}, "members is None"),
        ({"vote_ties": "maybe"}, "irrelevant or relevant"),
        ({"trees": 5}, "trees makes no difference to ecc-nb"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": "x"}, "cannot be used to seed"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"members": object()}, "members is <object"),
    ],
)
def test_what_is_not_accepted_is_said_at_fit(numbers, settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        lc.LabelChainClassifier(**{"method": "ecc-nb", **settings}).fit(*numbers)


def test_numbers_of_numpy_are_numbers(numbers):
    plain = lc.LabelChainClassifier("ecc-nb", members=3, sample=0.5).fit(*numbers)
    numpy = lc.LabelChainClassifier("ecc-nb", members=np.int64(3), sample=np.float32(0.5)).fit(*numbers)
    assert plain._model.to_bytes() == numpy._model.to_bytes()


def test_every_method_learns(numbers):
    X, Y = numbers
    small = {"-nb": "members", "-knn": "members", "-j48": "members", "-svm": "members", "-forest": "trees"}
    search = {"generations": 2, "population": 4}
    for method in lc.methods():
        size = next(name for base, name in small.items() if method.endswith(base))
        settings = {size: 2, **(search if method.startswith("ga") else {})}
        assert lc.LabelChainClassifier(method, **settings).fit(X, Y).predict(X).shape == Y.shape, method


def test_seeds_are_those_of_scikit_learn(numbers):
    X, Y = numbers

    def bytes_of(seed):
        return lc.LabelChainClassifier("ecc-nb", members=2, random_state=seed).fit(X, Y)._model.to_bytes()

    assert bytes_of(None) == bytes_of(1) != bytes_of(2)
    assert bytes_of(np.random.RandomState(0)) == bytes_of(np.random.RandomState(0))
