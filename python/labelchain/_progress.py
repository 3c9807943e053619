"""How far long work is, for people."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress_bar(verbose: bool) -> Iterator[Callable[[int, int], None] | None]:
    """What to call with how much is done, of how much; none unless it is wanted."""
    if not verbose:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield lambda done, of: print(f"{done} of {of}", file=sys.stderr)
        return
    with tqdm() as bar:

        def show(done: int, of: int) -> None:
            bar.total, bar.n = of, done
            bar.refresh()

        yield show
