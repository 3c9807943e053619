"""What a user should know, as warnings."""

from __future__ import annotations

import warnings


class DataWarning(UserWarning):
    """Something about the data that had to be decided: columns ignored, values never seen."""


def warn(notes: list[str], stacklevel: int = 2) -> None:
    """Gives each note as a warning at the place of the caller's caller."""
    for note in notes:
        warnings.warn(note, DataWarning, stacklevel=stacklevel + 1)
