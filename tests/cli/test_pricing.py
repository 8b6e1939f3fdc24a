"""Prices of columns by `audit`, pages of saved selections, and commands that are not there."""

import base64
import json
import zlib

import pytest

GRADE = ("-t", "final grade")


def test_audit_prices_a_list_of_columns(run, table, tmp_path):
    done = run("audit", table, *GRADE, "--columns", "signal,colour", "--model", "linear")
    assert done.code == 0
    assert "with all 4 columns" in done.out
    path = tmp_path / "audit.json"
    against = run(
        "audit", table, *GRADE, "--columns", "noise*", "--against", "signal,colour", "-e", "0.05",
        "--model", "linear", "--json", path,
    )  # fmt: skip
    found = json.loads(path.read_text())
    assert (against.code, found["n_kept"], found["n_features"]) == (3, 2, 2)
    assert found["verdict"] == "not met"
    assert "with the other 2 columns" in against.out


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ((), "name a saved selection, or a table with --target and --columns"),
        (("TABLE", "--columns", "signal"), "--columns and --target go together"),
        (("TABLE", *GRADE), "--columns and --target go together"),
        (("TABLE", *GRADE, "--columns", "sigma"), "--columns: there is no column 'sigma'"),
        (("TABLE", *GRADE, "--columns", "signal", "--against", "x"), "--against: there is no"),
        (("TABLE", *GRADE, "--columns", "final grade"), "--columns: there is no column"),
        (("TABLE", *GRADE, "--columns", "signal", "--metric", "r2"), "holds text, not numbers"),
    ],
)
def test_prices_that_cannot_be_found(run, table, typed, message):
    done = run("audit", *(table if one == "TABLE" else one for one in typed))
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert message in done.err


def test_the_page_of_a_saved_selection_is_made_again(run, selection, tmp_path):
    done = run("report", selection)
    page = selection.with_suffix(".html").read_text(encoding="utf-8")
    assert (done.code, done.err) == (0, "")
    assert "2 of 4 features stay" in page
    again = run("report", selection, "-o", tmp_path / "page.html", "-q")
    assert (again.code, again.out) == (0, "")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page


def test_a_page_that_is_not_there(run, selection, tmp_path):
    content = json.loads(selection.read_text())
    empty = base64.b64encode(zlib.compress(b"{}")).decode()
    for wrong in (None, "", "AAAA", empty):
        path = tmp_path / "changed.json"
        path.write_text(json.dumps({**content, "summary": wrong}))
        done = run("report", path)
        assert done.code == 2
        assert "is not a saved selection that this version of pinsker can read" in done.err
        assert done.err.count("\n") == 1
    assert "there is no file" in run("report", tmp_path / "none.json").err


def test_a_command_that_is_not_there_names_those_that_are(run):
    done = run("reports", "kept.json")
    assert done.code == 2
    assert "there is no command 'reports': use one of select, inspect, " in done.err
    assert "certify, audit, report, demo, monitor, label." in done.err
    assert done.err.endswith("Did you mean 'report'?\n")
    assert "Did you mean" not in run("frobnicate").err
