"""Every number on the pages about bounds and errata is computed again."""

import doctest
import re
from pathlib import Path

import pytest

from pinsker import bounds

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(("page", "least"), [("bounds.md", 8), ("errata.md", 60)])
def test_examples_of_the_page_run(page, least):
    result = doctest.testfile(str(DOCS / page), module_relative=False, encoding="utf-8")
    assert result.attempted >= least
    assert result.failed == 0


def test_all_28_errata_are_there_and_marked():
    text = (DOCS / "errata.md").read_text(encoding="utf-8")
    marked = re.findall(r"^\*\*E(\d+) \(([FGT])\)\.\*\*", text, flags=re.MULTILINE)
    assert [int(number) for number, _ in marked] == list(range(1, 29))
    tests = Path(__file__).with_name("test_errata.py").read_text(encoding="utf-8")
    tested = {int(n) for name in re.findall(r"def test_(e\w+)", tests) for n in numbers(name)}
    assert {int(number) for number, mark in marked if mark == "F"} <= tested


def numbers(name):
    """Numbers in a test's name; ``e20_to_e22`` is a range."""
    found = [int(n) for n in re.findall(r"e(\d+)", name)]
    return range(found[0], found[-1] + 1) if "_to_e" in name else found


def test_every_function_is_explained():
    text = (DOCS / "bounds.md").read_text(encoding="utf-8")
    for name in bounds.__all__:
        if name.endswith(("_growth", "_error")):
            assert f"`{name}" in text, name


def test_every_proof_that_a_docstring_points_to_exists():
    text = (DOCS / "bounds.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^### (?:(Theorem C)|([A-Z]\d))\.", text, flags=re.MULTILINE))
    present = {first or second for first, second in headings}
    for name in bounds.__all__:
        doc = getattr(bounds, name).__doc__ or ""
        for label in re.findall(r"``docs/bounds.md``,\s+(Theorem C|[A-Z]\d)", doc):
            assert label in present, (name, label)
