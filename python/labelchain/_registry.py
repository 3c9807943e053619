"""What can be set: methods, aims and settings, as the library declares them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from typing import Any

from . import _labelchain


@dataclasses.dataclass(frozen=True)
class Setting:
    """A setting of `LabelChainClassifier`, as the library declares it."""

    name: str
    #: Its value unless it is set.
    default: Any
    #: What it accepts, as the end of the sentence "must be …".
    accepted: str
    #: What it means, in one sentence.
    help: str
    #: The words it accepts, where it accepts nothing but words.
    words: tuple[str, ...]
    #: Whether it is either on or off.
    is_flag: bool
    #: The word that `None` stands for.
    absent: str | None
    #: The methods that use it, in words.
    applies_to: str

    @property
    def type(self) -> str:
        """Its type, as it is written in an annotation."""
        if self.is_flag:
            return "bool"
        names = [f"Literal[{', '.join(map(repr, self.words))}]"] if self.words else []
        if not self.words:
            names = ["int"] if "whole number" in self.accepted else []
            if "share" in self.accepted or "a number" in self.accepted:
                names.append("float")
            names += ["str"] if not names or isinstance(self.default, str) else []
            names += ["Sequence[str]"] if "each label once" in self.accepted else []
        return " | ".join(names + (["None"] if self.absent is not None else []))


@functools.cache
def settings() -> dict[str, Setting]:
    """Every setting by name.

    >>> settings()["trees"].default
    100
    >>> print(settings()["trees"].help)
    T: trees of the forest
    """
    declared = (
        Setting(**{**fields, "words": tuple(fields["words"])}) for fields in _labelchain.settings()
    )
    return {setting.name: setting for setting in declared}


def methods() -> list[str]:
    """Every method: a strategy and a base.

    >>> "certain-forest" in methods()
    True
    """
    return _labelchain.methods()


def aims() -> dict[str, str]:
    """Every aim as it is written, with what it means.

    >>> print(aims()["top=K"])
    the K most probable labels of each row, or all where there are no more
    """
    return dict(_labelchain.aims())


#: Parameters of `LabelChainClassifier` that are no settings of the library, with their defaults.
PARAMETERS = {
    "method": _labelchain.DEFAULT_METHOD,
    "aim": None,
    "random_state": None,
    "n_jobs": None,
    "verbose": False,
    "text": None,
}


def signature() -> inspect.Signature:
    """The signature of `LabelChainClassifier`, of which the settings are declared in the library."""
    kinds = inspect.Parameter
    parameters = [kinds("self", kinds.POSITIONAL_OR_KEYWORD)]
    for name, default in PARAMETERS.items():
        kind = kinds.KEYWORD_ONLY if name in ("verbose", "text") else kinds.POSITIONAL_OR_KEYWORD
        parameters.append(kinds(name, kind, default=default))
    for setting in settings().values():
        parameters.append(kinds(setting.name, kinds.KEYWORD_ONLY, default=setting.default))
    return inspect.Signature(parameters)


def documented_settings() -> str:
    """The settings as a part of a docstring."""
    lines = []
    for setting in settings().values():
        lines.append(f"{setting.name} : {setting.type}, default={setting.default!r}")
        lines.append(f"    {setting.help}. For {setting.applies_to}; {setting.accepted}.")
    return "\n".join(lines)
