"""The pages tell the truth: examples run, the README prints what it says, no name is left out."""

import ast
import contextlib
import doctest
import importlib
import inspect
import io
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
#: Pages of this part of the project; others test their own.
PAGES = ["quickstart.md", "comparison.md", *(f"howto/{p.name}" for p in DOCS.glob("howto/*.md"))]
#: Pages that take seconds each. The quick start fits the table of the README, which is tested.
LONG = {
    "quickstart.md",
    "howto/own_model.md",
    "howto/imbalanced_classes.md",
    "howto/trust.md",
    "howto/large_tables.md",
    "howto/targets.md",
    "howto/real_project.md",
    "howto/costs.md",
}
#: Namespaces for users: every public name of theirs is on exactly one API page.
PUBLIC = ["pinsker", "pinsker.bounds", "pinsker.datasets", "pinsker.exceptions"]
#: Packages whose names may be listed too, for readers of reports and for contributors.
STAGES = ["metrics", "report", "explain"]
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


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom():
    """Cells are run as a notebook would, without one; the last value of a cell must show itself."""
    mpl.use("agg")
    notebook = json.loads((ROOT / "examples" / "tutorial.ipynb").read_text(encoding="utf-8"))
    known, shown = {"__name__": "__main__"}, []
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            assert cell["outputs"] == []
            *body, last = ast.parse("".join(cell["source"]).removesuffix(";")).body
            exec(compile(ast.Module(body, []), "notebook", "exec"), known)
            if not isinstance(last, ast.Expr):
                exec(compile(ast.Module([last], []), "notebook", "exec"), known)
                continue
            shown.append(eval(compile(ast.Expression(last.value), "notebook", "eval"), known))
    views = [one for one in shown if hasattr(one, "_repr_html_")]
    assert all("<div" in one._repr_html_() for one in views)
    assert len(views) == 4
    sizes = next(one for one in shown if isinstance(one, list))
    assert sizes == sorted(sizes, reverse=True)
    pyplot.close("all")


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


#: Words that were replaced by those of the field; each has another one today.
REPLACED = re.compile(
    r"witness|testimon|questioned|promis(?:e|ing)|radial machine|afresh|idle columns|ideal error|"
    r"learner check|tier [0-9]|neighbour|sent home|told by|confidence limits?\b"
)


def test_pages_and_texts_have_the_words_of_the_field():
    package = ROOT / "src" / "pinsker"
    files = [
        ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("howto/*.md"),
        *ROOT.glob("examples/*.py"), *package.glob("cli/*.py"), *package.glob("report/*.py"),
        *package.glob("report/templates/*"),
    ]  # fmt: skip
    found = [
        f"{file.name}: {match[0]}"
        for file in files
        for match in REPLACED.finditer(file.read_text(encoding="utf-8").lower())
    ]
    assert found == []


def test_the_glossary_has_the_words_that_people_look_for():
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    entries = re.findall(r"^\*\*(.+)\*\*\n: ", text, flags=re.MULTILINE)
    assert entries == sorted(entries, key=str.lower)
    words = {word for entry in entries for word in entry.lower().split(", ")}
    for word in ("leak", "imbalance", "auc", "groups", "time split", "certificate", "error budget"):
        assert word in words


def test_what_is_wrong_with_built_pages_is_named(tmp_path):
    check = runpy.run_path(str(DOCS / "check_pages.py"))
    (tmp_path / "good.html").write_text(
        '<a href="https://scikit-learn.org">elsewhere</a><script src="_static/a.js"></script>'
        '<img src="a.png" alt="Error increase by number of features.">'
        '<img src="_images/a_thumb.png" alt="">'
    )
    assert check["wrong_pages"](tmp_path) == []
    (tmp_path / "bad.html").write_text(
        '<script src="https://cdn.example/math.js"></script>'
        '<link rel="stylesheet" href="//x/y.css">'
        '<img src="b.png" alt="plot tutorial">'
    )
    (tmp_path / "bad.css").write_text("@font-face { src: url('https://fonts.example/a.woff2') }")
    assert check["wrong_pages"](tmp_path) == [
        "bad.html: <script> loads https://cdn.example/math.js",
        "bad.html: <link> loads //x/y.css",
        "bad.html: b.png has no description",
        "bad.css: loads https://fonts.example/a.woff2",
    ]
    index = (
        'Search.setIndex({"docnames": ["glossary", "howto/real_project", "howto/rows"], '
        '"terms": {"leak": [0, 1], "group": 0, "split": [0, 2]}, "titleterms": {"group": [2]}})'
    )
    (tmp_path / "searchindex.js").write_text(index)
    assert [line.split("'")[1] for line in check["missing_words"](tmp_path)] == [
        *["imbalance"] * 2, *["AUC"] * 2,
    ]  # fmt: skip


@pytest.mark.slow
def test_pages_are_read_and_searched_without_a_network(tmp_path):
    pytest.importorskip("sphinx_gallery", reason="the extra docs is not installed")
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = os.environ.get("PINSKER_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("no Chromium found; set PINSKER_CHROMIUM")
    built = ("_build", "generated", "gallery")
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns(*built))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    html = tmp_path / "html"
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    subprocess.run([*build, str(tmp_path / "docs"), str(html)], check=True, timeout=900)
    check = runpy.run_path(str(DOCS / "check_pages.py"))
    assert check["wrong_pages"](html) + check["missing_words"](html) == []
    with sync_api.sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_context(offline=True).new_page()
        outside = []
        page.on("request", lambda r: r.url.startswith("file:") or outside.append(r.url))
        for word, (_, expected) in check["WORDS"].items():
            page.goto(f"{(html / 'search.html').as_uri()}?q={word}")
            page.wait_for_selector("ul.search li a", timeout=20_000)
            page.wait_for_function("document.querySelector('.search-summary').textContent != ''")
            links = page.eval_on_selector_all("ul.search li a", "all => all.map(a => a.href)")
            assert any(f"{expected}.html" in link for link in links), (word, links)
        browser.close()
    assert outside == []


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
