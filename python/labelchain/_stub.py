"""Writes the type stub of the classifier, whose parameters the library declares.

``python -m labelchain._stub`` prints it; a test holds ``_classifier.pyi`` to it.
"""

from __future__ import annotations

import inspect
import re

from . import _classifier
from ._registry import PARAMETERS, settings

HEAD = '''\
# Written by python -m labelchain._stub from the declarations of the library. Do not edit.
import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ._explanation import Explanation

class LabelChainClassifier(ClassifierMixin, BaseEstimator):
    classes_: Any
    label_names_: list[str]
    n_features_in_: int
    feature_names_in_: np.ndarray
'''

#: The types of parameters that are no settings.
TYPES = {
    "method": "str",
    "aim": "str | None",
    "random_state": "Any",
    "n_jobs": "int | None",
    "verbose": "bool",
    "text": "str | Sequence[str] | None",
}


def stub() -> str:
    """The text of ``_classifier.pyi``."""
    fields = [f"{name}: {kind} = {PARAMETERS[name]!r}" for name, kind in TYPES.items()]
    fields += [f"{of.name}: {of.type} = {of.default!r}" for of in settings().values()]
    fields.insert(list(TYPES).index("verbose"), "*")
    lines = [HEAD + "    def __init__(", "        self,"]
    lines += [f"        {field}," for field in fields]
    lines.append("    ) -> None: ...")
    for name, method in vars(_classifier.LabelChainClassifier).items():
        if isinstance(method, property):
            lines.append("    @property")
            lines.append(f"    def {name}{_signature(method.fget)}: ...")
        if inspect.isfunction(method) and not name.startswith("_"):
            lines.append(f"    def {name}{_signature(method)}: ...")
    lines.append("")
    lines.append(f"def load{_signature(_classifier.load)}: ...")
    return "\n".join(lines) + "\n"


def _signature(function: object) -> str:
    """A signature whose annotations are text, as they were written; defaults keep their quotes."""
    return re.sub(r"(: |-> )(['\"])(.*?)\2", r"\1\3", str(inspect.signature(function)))


if __name__ == "__main__":
    print(stub(), end="")
