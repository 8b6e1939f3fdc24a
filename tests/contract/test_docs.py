"""The pages tell the truth: examples run, the README prints what it says, no name is left out."""

import contextlib
import doctest
import importlib
import inspect
import io
import pkgutil
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import pinsker

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
#: Pages of this part of the project; others test their own.
PAGES = ["quickstart.md", "comparison.md", *(f"howto/{p.name}" for p in DOCS.glob("howto/*.md"))]
#: Pages that fit large tables, seconds each.
LONG = {
    "howto/own_model.md",
    "howto/imbalanced_classes.md",
    "howto/trust.md",
    "howto/large_tables.md",
    "howto/targets.md",
    "howto/real_project.md",
    "howto/costs.md",
}
#: Namespaces for users: every public name of theirs is on exactly one API page.
PUBLIC = ["pinsker", "pinsker.bounds", "pinsker.datasets", "pinsker.testing", "pinsker.exceptions"]
#: Packages whose names may be listed too, for readers of reports and for contributors.
STAGES = ["report", "encoding", "engine", "information", "selection"]
REFRESH = "numbers moved: run python docs/refresh_outputs.py on the page, and read it again"
NUMBER = re.compile(r"\d+(?:\.\d+)?")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=[pytest.mark.slow] if p in LONG else []) for p in PAGES]
)
def test_examples_of_a_page_run(page):
    with warnings.catch_warnings():  # a page may change filters
        result = doctest.testfile(
            str(DOCS / page), module_relative=False, encoding="utf-8", optionflags=FLAGS
        )
    assert result.attempted >= 8
    assert result.failed == 0, REFRESH


def test_the_readme_prints_what_it_says():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", text, re.DOTALL).groups()
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    # Models fitted by another scikit-learn or processor may differ in the last digits shown; half a
    # point of error rate would be another answer.
    assert NUMBER.sub("#", output.getvalue()) == NUMBER.sub("#", printed), REFRESH
    found, said = (np.array(NUMBER.findall(text), float) for text in (output.getvalue(), printed))
    np.testing.assert_allclose(found, said, rtol=0, atol=0.005, err_msg=REFRESH)


def test_the_readme_shows_the_two_commands_first():
    first_screen = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:20]
    assert any(line.startswith("make demo") for line in first_screen)
    assert any(line.startswith("make test") for line in first_screen)


def test_links_lead_somewhere():
    broken = []
    for page in [ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("howto/*.md")]:
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
            made_by_the_build = "gallery/" in link
            if "://" not in link and not made_by_the_build and not (page.parent / link).exists():
                broken.append(f"{page.name}: {link}")
    assert broken == []


def public_names():
    """Return every public name of `PUBLIC`, each object under the first namespace that has it."""
    found = {}
    for module in map(importlib.import_module, PUBLIC):
        classes = [name for name, _ in inspect.getmembers(module, inspect.isclass)]
        own = [name for name in classes if getattr(module, name).__module__ == module.__name__]
        for name in getattr(module, "__all__", own):
            value = getattr(module, name)
            key = id(value) if inspect.isclass(value) or callable(value) else name
            found.setdefault(key, f"{module.__name__}.{name}")
    return set(found.values())


def documented_names():
    """Return the names that the API pages list, as often as they do."""
    text = "\n".join(p.read_text(encoding="utf-8") for p in sorted(DOCS.glob("api/*.rst")))
    return re.findall(r"^(?: +~|\.\. data:: )(pinsker\.[\w.]+)$", text, flags=re.MULTILINE)


def test_the_api_lists_every_public_name_once():
    listed = documented_names()
    assert sorted(name for name in set(listed) if listed.count(name) > 1) == []
    assert sorted(public_names() - set(listed)) == [], "add these to a page in docs/api"


def test_the_api_lists_nothing_else_but_what_stages_export():
    for name in set(documented_names()) - public_names():
        module, _, attribute = name.rpartition(".")
        assert module.split(".")[1] in STAGES, f"{name} is not public"
        assert attribute in importlib.import_module(module).__all__, f"{name} is not exported"


def test_the_packages_above_are_all_there_are():
    packages = {module.name for module in pkgutil.iter_modules(pinsker.__path__) if module.ispkg}
    assert packages == {*STAGES, "bounds", "datasets", "testing", "cli"}
