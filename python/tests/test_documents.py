"""The tour and the README are true: what they show runs, and prints what they show."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def blocks(document: pathlib.Path) -> list[tuple[str, str]]:
    """Language and text of the blocks of code."""
    return re.findall(r"^```(\w+)\n(.*?)^```", document.read_text(encoding="utf-8"), re.M | re.S)


def reads(page: str, shown: str) -> bool:
    """Whether a page reads as shown, where a line of three dots stands for any lines."""
    page = re.sub(r" +$", "", page, flags=re.M)
    parts = (re.escape(part) for part in re.split(r"^…\n", shown, flags=re.M))
    return re.fullmatch("(?:.*\n)*".join(parts), page) is not None


def run(code: str, names: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "<document>", "exec"), names)
    return printed.getvalue()


def test_the_tour_runs_as_written_and_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, page, n_shown = {}, "", 0
    for language, text in blocks(ROOT / "docs" / "tour-python.md"):
        if language == "python":
            page = run(text, names)
        elif language == "text":
            assert reads(page, text), f"The tour shows\n\n{text}\n\nbut it is\n\n{page}"
            n_shown += 1
    assert n_shown > 8


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, n_run = {}, 0
    for language, text in blocks(ROOT / "README.md"):
        if language == "python":
            for line in run(text, names).splitlines():
                assert f"# {line}" in text, line
            n_run += 1
    if not n_run:
        pytest.fail("the README has no Python")
