"""docs/paper.md is what the CSVs of a run say, and its index points to what exists."""

import doctest
import importlib
import re

import pytest

from experiments.reproduce import PARTS, page
from experiments.reproduce.figure2 import forward_path
from experiments.reproduce.results import KNOWN, Settings, at, chosen, merged, read_csv, write_csv
from experiments.reproduce.running import part_of

ROOT = page.PAGE.parents[1]
TEXT = page.PAGE.read_text(encoding="utf-8")


def test_every_part_has_its_csv_and_its_block():
    assert {path.stem for path in KNOWN.glob("*.csv")} == set(PARTS)
    blocks = set(re.findall(r"<!-- begin (\w+)", TEXT))
    assert blocks == {*PARTS, "claims", "runs"}


def test_the_page_is_generated_from_the_csvs():
    assert page.rendered(TEXT) == TEXT


def test_the_example_of_the_page_runs():
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testfile(str(page.PAGE), module_relative=False, optionflags=flags)
    assert result.attempted >= 5
    assert result.failed == 0


def test_a_changed_csv_changes_the_page(tmp_path):
    for path in KNOWN.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    rows = read_csv(tmp_path / "figure2.csv")
    at(rows, "default", "ER", 0.05)["accuracy"] = 0.98765
    write_csv(tmp_path / "figure2.csv", rows)
    assert "| 0.988 ± " in page.rendered(TEXT, tmp_path)
    assert "| 0.988 ± " not in TEXT


@pytest.mark.parametrize(
    ("part", "wanted", "shown"),
    [
        # Seen: 13.7 / .829 and 9.7 / .819, with a patience that is not in the paper.
        ("figure2", {"recipe": "as printed, forward", "threshold": 2.0}, (0.860, 15.0)),
        ("figure2", {"recipe": "as printed, forward", "threshold": 1.0}, (0.837, 10.4)),
        ("figure2", {"recipe": "published", "criterion": "ER", "threshold": 0.05}, (0.833, 15.0)),
        ("regression", {"recipe": "published", "criterion": "ER", "threshold": 5.0}, (0.448, 15.0)),
        ("regression", {"recipe": "as printed", "criterion": "ER", "threshold": 5.0}, (0.479, 7.2)),
    ],
)
def test_a_sample_of_its_numbers(part, wanted, shown):
    row = chosen(read_csv(KNOWN / f"{part}.csv"), **wanted)[0]
    assert row["accuracy"] == pytest.approx(shown[0], abs=0.001)
    assert row["kept"] == pytest.approx(shown[1], abs=0.1)
    assert f"{row['accuracy']:.3f} ± {row['accuracy error']:.3f} / {row['kept']:.1f}" in TEXT


def test_the_protocol_found_for_wine_is_on_the_page():
    rows = chosen(read_csv(KNOWN / "table1.csv"), set="wine", recipe="protocol found")
    found = {row["threshold"]: (row["kept"], round(row["accuracy"], 3)) for row in rows}
    assert [found[d][0] for d in (0.05, 0.1, 0.25, 0.5, 1.0)] == [13, 13, 13, 9, 4]
    assert [found[d][1] for d in (0.25, 0.5, 1.0)] == [0.962, 0.947, 0.843]


def test_losses_are_paired_with_all_features():
    """Judged against runs that removed nothing, five sizes of Figure 1 were called misses."""
    for part in ("figure1", "table1"):
        checks = part_of(part).report(read_csv(KNOWN / f"{part}.csv")).checks
        paired = [check for check in checks if "loses at most the budget" in check.claim]
        assert len(paired) >= 5
        assert all(re.search(r"lost [+-]\d\.\d{3} ± ", check.reached) for check in paired)
        assert any("published" in check.reached for check in paired)


def test_rows_of_the_default_are_replaced_alone():
    old = [{"recipe": "released code", "kept": 1}, {"recipe": "default", "kept": 2}]
    new = [{"recipe": "default", "kept": 3}]
    assert merged(old, new) == [old[0], new[0]]


def test_a_csv_is_read_back(tmp_path):
    rows = [{"a": 1, "b": None, "c": "x, y", "d": True}, {"a": -2.5, "b": 3, "c": "", "d": False}]
    write_csv(tmp_path / "t.csv", rows)
    assert read_csv(tmp_path / "t.csv") == [rows[0], {**rows[1], "c": None}]


def test_publishing_keeps_when_each_part_ran(tmp_path):
    settings = Settings(tmp_path / "out", known=tmp_path / "static" / "known")
    folder = settings.output / "example1"
    folder.mkdir(parents=True)
    for path in KNOWN.glob("*.csv"):
        settings.known.mkdir(parents=True, exist_ok=True)
        (settings.known / path.name).write_bytes(path.read_bytes())
    (folder / "example1.csv").write_bytes((KNOWN / "example1.csv").read_bytes())
    (folder / "run.json").write_text('{"commit": "abc", "cpu_seconds": 61, "tasks": 1, "of": 1}')
    copy = tmp_path / "page.md"
    copy.write_text("# A page\n\n<!-- begin runs -->\n<!-- end runs -->\n")
    page.publish(["example1"], settings, copy)
    assert "* example1: commit `abc`, 1 of 1 runs, 61 s" in copy.read_text()


def test_forward_path_is_compared_with_both_errors():
    rows = read_csv(KNOWN / "figure2.csv")
    held = [check.held for check in forward_path(rows)]
    assert len(held) == 5
    at(rows, "forward path", "#F", 8.0)["accuracy"] -= 0.2
    assert [check.held for check in forward_path(rows)][2] is False


#: A line of the index: | item | object | file | test | page |
_LINE = re.compile(r"^\| .* \| (.*) \| (.*) \| (.*) \| (.*) \|$", re.MULTILINE)
INDEX = (ROOT / "docs" / "paper_index.md").read_text(encoding="utf-8")


def cells(column):
    """Return every target of a column of the index."""
    found = []
    for line in _LINE.findall(INDEX)[2:]:
        found += re.findall(r"`([^`]+)`", line[column])
    return found


def test_the_index_names_objects_that_exist():
    names = cells(0)
    assert len(names) >= 20
    for name in names:
        parts = name.split(".")
        for cut in range(len(parts), 0, -1):
            try:
                value = importlib.import_module(".".join(parts[:cut]))
            except ModuleNotFoundError:
                continue
            for attribute in parts[cut:]:
                value = getattr(value, attribute)
            break
        else:
            pytest.fail(f"{name} is no module")


def test_the_index_names_files_and_pages_that_exist():
    for path in cells(1):
        assert (ROOT / path).is_file(), path
    pages = re.findall(r"\]\(([\w./]+\.md)(?:#[\w-]+)?\)", INDEX)
    assert len(pages) >= 10
    for name in pages:
        assert (ROOT / "docs" / name).is_file(), name


def test_the_index_names_tests_that_exist():
    names = cells(2)
    assert len(names) >= 15
    for name in names:
        path, _, test = name.partition("::")
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), name


@pytest.mark.parametrize(
    "item",
    ["Theorem 1", "Theorem 2", "Theorem 3", "Theorem 4", "Theorem 5", "Algorithm 1", "Algorithm 2",
     "Example 1", "Figure 1", "Figure 2", "Figure 3", "Table I", "rule ER", "rule FS", "rule ΔFS",
     "rule #F", "estimator", "mutual information", "score"],
)  # fmt: skip
def test_the_index_is_complete(item):
    assert re.search(rf"^\| [^|]*{re.escape(item)}", INDEX, re.MULTILINE | re.IGNORECASE), item
