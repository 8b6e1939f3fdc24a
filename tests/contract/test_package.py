"""What is written about the package in several files is the same in all of them."""

import re
import tomllib
from pathlib import Path

import pinsker

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
#: Extras of developers; the others are for users, and their lowest versions are promised.
INNER = {"test", "lint", "docs", "dev", "bench", "bench-criteria"}


def lowest_of(requirements):
    """Return package and lowest version, as far as requirements name one."""
    for text in requirements:
        found = re.match(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=([0-9.]+)", text)
        if found:
            yield found[1].lower(), found[2]


def test_one_version():
    assert PROJECT["version"] == pinsker.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {pinsker.__version__}\n" in citation
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## \[(.*?)\]", changelog, re.MULTILINE)[1] == pinsker.__version__


def test_the_lowest_versions_are_those_of_the_job():
    text = (ROOT / "tests" / "lowest.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w.-]+)==([0-9.]+)\.\*$", text, re.MULTILINE))
    promised = dict(lowest_of(PROJECT["dependencies"]))
    for name in set(EXTRAS) - INNER - {"gpu"}:
        promised |= dict(lowest_of(EXTRAS[name]))
    promised["polars"] = dict(lowest_of(EXTRAS["test"]))["polars"]  # read where it is installed
    assert pinned == promised


def test_the_smoke_test_has_all_extras_of_users():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.search(r"^EXTRAS \?= (.*)$", makefile, re.MULTILINE)[1].split(","))
    assert named == set(EXTRAS) - INNER - {"gpu"}


def test_the_extras_that_messages_name_are_there():
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r"""(?:\bextra=|install_command\()["'](\w+)["']""", source))
    assert {"cli", "report", "gpu"} <= named <= set(EXTRAS)


def test_files_that_are_no_python_are_in_the_package():
    package = Path(pinsker.__file__).parent
    for name in ("py.typed", "cli/selection.schema.json", "engine/_kernels.pyi"):
        assert (ROOT / "src" / "pinsker" / name).is_file()
        assert (package / name).is_file()
    assert list((package / "report" / "templates").glob("*.html"))
