"""Every number on the pages about bounds and errata is computed again."""

import doctest
import inspect
import re
from pathlib import Path

import pytest

from pinsker import bounds

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(("page", "least"), [("bounds.md", 12), ("errata.md", 60)])
def test_examples_of_the_page_run(page, least):
    result = doctest.testfile(str(DOCS / page), module_relative=False, encoding="utf-8")
    assert result.attempted >= least
    assert result.failed == 0


def test_all_33_errata_are_there_and_marked():
    text = (DOCS / "errata.md").read_text(encoding="utf-8")
    marked = re.findall(r"^\*\*E(\d+) \(([FGTS])\)\.\*\*", text, flags=re.MULTILINE)
    assert [int(number) for number, _ in marked] == list(range(1, 34))
    tests = Path(__file__).with_name("test_errata.py").read_text(encoding="utf-8")
    tested = {int(n) for name in re.findall(r"def test_(e\w+)", tests) for n in numbers(name)}
    assert {int(number) for number, mark in marked if mark == "F"} <= tested


def numbers(name):
    """Numbers in a test's name; ``e20_to_e22`` is a range."""
    found = [int(n) for n in re.findall(r"e(\d+)", name)]
    return range(found[0], found[-1] + 1) if "_to_e" in name else found


def test_every_theorem_is_in_the_table():
    text = (DOCS / "bounds.md").read_text(encoding="utf-8")
    table = text[text.index("## The theorems") : text.index("## Notation")]
    for name in bounds.__all__:
        public = getattr(bounds, name)
        is_bound = inspect.isclass(public) and issubclass(public, bounds.Bound)
        if name.endswith("_error") or (is_bound and public is not bounds.Bound):
            rows = [row for row in table.splitlines() if f"`{name}(" in row]
            assert rows, name
            if is_bound:
                label = public.theorem.removesuffix(" (paper)")
                assert any(label in row for row in rows), (name, label)


def test_every_proof_that_a_docstring_points_to_exists():
    text = (DOCS / "bounds.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^### (?:(Theorem C)|([A-Z]\d))\.", text, flags=re.MULTILINE))
    present = {first or second for first, second in headings}
    for name in bounds.__all__:
        public = getattr(bounds, name)
        doc = public.__doc__ or ""
        theorem = getattr(public, "theorem", None)
        if isinstance(theorem, str) and "paper" not in theorem:
            assert theorem in present, (name, theorem)
            assert f"``docs/bounds.md``, {theorem}" in " ".join(doc.split()), name
        for label in re.findall(r"``docs/bounds.md``,\s+(Theorem C|[A-Z]\d)", doc):
            assert label in present, (name, label)
