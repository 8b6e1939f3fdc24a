"""`pinsker plan`: rows that show a budget."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest


def test_a_table_is_planned(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    frame["y"] = 2 * frame.a + 2 * frame.b + 0.5 * frame.c + rng.normal(size=300)
    frame.to_csv(tmp_path / "t.csv", index=False)
    typed = ("plan", tmp_path / "t.csv", "--target", "y", "-e", "0.1", "--fast")
    done = run(*typed, "--models", "linear", "--json", tmp_path / "plan.json")
    assert done.code == 0
    for budget in (0.1, 0.2, 0.5):
        assert f"R² may fall by {budget}: about" in done.out
    assert "300 fresh rows could show a budget of about 0.0" in done.out
    assert json.loads((tmp_path / "plan.json").read_text())["n_rows"] == 300


def test_an_assumed_error_is_planned(run):
    done = run("plan", "--error", "0.1", "--rows", "500", "-e", "0.01", "-e", "0.05")
    assert done.code == 0
    assert "error rate may rise by 0.05: about 390 rows" in done.out


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (["plan"], "name the target (--target), or assume an --error"),
        (["plan", "t.csv", "--error", "0.1"], "--error plans without a table"),
        (["plan", "--error", "3"], "assume an error rate"),
        (["plan", "--error", "0.1", "-e", "much"], "use a number in the metric"),
    ],
)
def test_commands_that_are_refused(run, typed, found):
    done = run(*typed)
    assert done.code == 2
    assert found in done.err


def test_a_table_that_is_read_is_not_written_over(run, tmp_path):
    table, database = tmp_path / "t.csv", tmp_path / "t.db"
    table.write_text("a,b,y\n1,2,3\n")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("create table t (a, b, y)")
    queried = ("plan", "--database", database, "--query", "select * from t", "-t", "y")
    for typed, file in ((("plan", table, "-t", "y"), table), (queried, database)):
        before = file.read_bytes()
        done = run(*typed, "--json", file)
        assert (done.code, "is the file that is read" in done.err) == (2, True)
        assert file.read_bytes() == before
    done = run("plan", table, "-t", "y", "--json", tmp_path / "nowhere" / "plan.json")
    assert "there is no folder" in done.err
