"""The pages tell the truth: examples run, the README prints what it says, no name is left out."""

import contextlib
import doctest
import io
import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
#: Pages of this part of the project; others test their own.
PAGES = ["quickstart.md", "comparison.md", *(f"howto/{p.name}" for p in DOCS.glob("howto/*.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_a_page_run(page):
    with warnings.catch_warnings():  # a page may change filters
        result = doctest.testfile(
            str(DOCS / page), module_relative=False, encoding="utf-8", optionflags=FLAGS
        )
    assert result.attempted >= 8
    assert result.failed == 0


def test_the_readme_prints_what_it_says():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", text, re.DOTALL).groups()
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert output.getvalue() == printed


def test_the_readme_shows_the_two_commands_first():
    first_screen = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:20]
    assert any(line.startswith("make demo") for line in first_screen)
    assert any(line.startswith("make test") for line in first_screen)


def test_links_lead_somewhere():
    broken = []
    for page in [ROOT / "README.md", *(DOCS / page for page in PAGES), DOCS / "how_it_works.md"]:
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
            made_by_the_build = "gallery/" in link
            if "://" not in link and not made_by_the_build and not (page.parent / link).exists():
                broken.append(f"{page.name}: {link}")
    assert broken == []
