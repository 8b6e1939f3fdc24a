"""`pinsker select`: suspect columns and the stability of a choice."""

import json
import re

import pytest

QUICK = ("-t", "final grade", "-e", "0.1", "--searches", "linear", "--models", "linear")


@pytest.fixture
def leaking(frame, tmp_path):
    """The table with a column that gives the target away."""
    path = tmp_path / "leaking.csv"
    frame.assign(**{"exam code": frame["final grade"].map({"pass": 1, "fail": 2})}).to_csv(
        path, index=False
    )
    return path


def test_suspects_are_named_dropped_or_ignored(run, leaking):
    warned = run("select", leaking, *QUICK)
    assert "note: column 'exam code' is suspect (recoded target: " in warned.out
    assert "leave it out: --suspects drop, or --drop 'exam code'" in warned.out
    dropped = run("select", leaking, *QUICK, "--suspects", "drop")
    assert "note: column 'exam code' was left out (recoded target" in dropped.out
    assert "signal" in dropped.out
    ignored = run("select", leaking, *QUICK, "--suspects", "ignore")
    assert "is suspect" not in ignored.out
    assert run("select", leaking, *QUICK, "--suspects", "maybe").code == 2
    other = run("select", leaking, "-t", "final grade", "-d", "linear", "--suspects", "drop")
    assert other.code == 2
    assert "--suspects has no effect with --direction linear" in other.err


def test_inspect_names_suspects_before_any_search(run, leaking, monkeypatch):
    monkeypatch.setattr("pinsker.cli._inspect._seconds", lambda *table: 2.0)
    done = run("inspect", leaking, "-t", "final grade")
    assert re.search(r"^  exam code +\S+ +2 +suspect: recoded target$", done.out, re.MULTILINE)
    assert "note: column 'exam code' is suspect (recoded target: " in done.out
    assert "--drop 'exam code'" in done.out


def test_stability_is_a_line_and_in_the_file(run, table, tmp_path):
    path = tmp_path / "selection.json"
    done = run("select", table, *QUICK, "--json", path)
    (line,) = [line for line in done.out.splitlines() if line.startswith("  stability")]
    assert line.endswith("over 5 folds")
    content = json.loads(path.read_text())
    assert content["stability"]["n_choices"] == 5
    assert content["stability"]["frequency"]["signal"] == 1.0
    assert content["importance"]["features"][0] == "signal"
    assert content["importance"]["lower"][0] > 0


def test_halves_of_the_rows_are_chosen_from_again(run, table, tmp_path):
    path = tmp_path / "selection.json"
    done = run("select", table, *QUICK, "--stability", "3", "--json", path)
    assert "over 3 subsamples" in done.out
    assert json.loads(path.read_text())["stability"]["over"] == "subsamples"
    refused = run("select", table, "-t", "final grade", "-d", "linear", "--stability", "3")
    assert refused.code == 2
    assert "--stability has no effect with --direction linear" in refused.err
