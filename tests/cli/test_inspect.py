"""`pinsker inspect`: how a table is read, and what a search would cost."""

import math
import time

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from pinsker import BackwardElimination, FeatureSelector
from pinsker.cli._inspect import expected_seconds, smallest_budget


@pytest.fixture(autouse=True)
def no_timing(request, monkeypatch):
    """Timing a table means to fit it: one test does that, the others look at the words."""
    if "slow" not in request.keywords:
        monkeypatch.setattr("pinsker.cli._inspect._seconds", lambda *table: 2.0)


@pytest.fixture
def messy(frame, tmp_path):
    """Semicolons, a constant, a copy, an identifier, gaps, a value that is no number."""
    table = frame.assign(
        copy=frame["signal"],
        constant=1,
        person=[f"P{i:03d}" for i in range(len(frame))],
        age=["unknown", *range(20, 19 + len(frame))],
    )
    table.loc[:11, "noise 2"] = np.nan
    table.loc[:1, "final grade"] = None
    path = tmp_path / "messy.csv"
    table.to_csv(path, index=False, sep=";")
    return path


def row_of(text, column):
    (row,) = [line.split() for line in text.splitlines() if line.startswith(f"  {column} ")]
    return row[len(column.split()) :]


def test_columns_as_read(run, messy):
    done = run("inspect", messy, "-t", "final grade")
    assert done.code == 0
    assert "messy.csv: 120 rows, 8 columns" in done.out
    assert "; missing in 2 rows" in done.out
    assert "108 rows are complete; missing values of the others count as a value" in done.out
    assert row_of(done.out, "signal") == ["continuous", "120"]
    assert row_of(done.out, "colour") == ["nominal", "2"]
    assert row_of(done.out, "noise 2") == ["continuous", "108", "12", "(10%)"]
    assert row_of(done.out, "copy") == ["continuous", "120", "repeats", "signal"]
    assert row_of(done.out, "constant") == ["count", "1", "constant"]
    assert "as identifiers have: 'person'" in done.out
    assert "column 'age' is read as categories, not numbers, because of 'unknown'" in done.out


def test_options_change_the_reading(run, messy):
    options = ("--kind", "constant=nominal", "--na", "unknown", "--drop", "person")
    done = run("inspect", messy, "-t", "final grade", *options)
    assert row_of(done.out, "constant") == ["nominal", "1", "constant"]
    assert row_of(done.out, "age")[0] == "continuous"
    assert "person" not in done.out


def test_a_number_as_target(run, table):
    done = run("inspect", table, "-t", "signal")
    assert "target 'signal': a number from -" in done.out
    assert "of the variance" in done.out


def test_long_tables_are_cut(run, tmp_path):
    wide = tmp_path / "wide.csv"
    names = [f"c{j}" for j in range(60)]
    rows = np.random.default_rng(0).normal(size=(30, 60)).round(3)
    wide.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]))
    done = run("inspect", wide, "-t", "c59")
    assert "and 19 more columns (--all lists them)" in done.out
    assert row_of(run("inspect", wide, "-t", "c59", "--all").out, "c58")[0] == "continuous"
    drops = ("--drop", ",".join(names[:18]))
    assert "and 1 more column (" in run("inspect", wide, "-t", "c59", *drops).out


def test_a_target_without_values(run, tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("a,y\n1,\n2,\n")
    done = run("inspect", path, "-t", "y")
    assert (done.code, done.err) == (2, "pinsker: the target 'y' has no value in any row.\n")


def limit(differences):
    """Return the upper end of a one-sided 95 % interval of a mean."""
    n = len(differences)
    return differences.mean() + t.ppf(0.95, n - 1) * differences.std(ddof=1) / math.sqrt(n)


def test_the_smallest_budget_is_the_limit_of_a_difference_of_zero():
    # Classes: 5 % of 1000 rows change, as many for the better as for the worse.
    changes = np.zeros(1000)
    changes[:25], changes[25:50] = 1.0, -1.0
    # 2 %: the limit of counts adds half a row to each cell of the table, here 52 rows that differ
    # against 50.
    assert smallest_budget(1000, classes=True) == pytest.approx(limit(changes), rel=0.02)
    # Numbers: Gaussian errors that correlate at 0.95 and leave half of a variance of 1. The
    # standard deviation of 200 000 draws is known to about 0.5 % (kurtosis included).
    rng = np.random.default_rng(1)
    errors = rng.multivariate_normal([0, 0], 0.5 * np.array([[1, 0.95], [0.95, 1]]), 200_000)
    difference = errors[:, 0] ** 2 - errors[:, 1] ** 2
    expected = t.ppf(0.95, 999) * difference.std() / math.sqrt(1000)
    assert smallest_budget(1000, classes=False) == pytest.approx(expected, rel=0.03)


def test_the_forecast_depends_on_held_out_rows(run, table):
    shown = run("inspect", table, "-t", "final grade").out
    assert "smallest budget  about 0.056 (error rate, if 5% of the predictions change)" in shown
    alone = run("inspect", table, "-t", "final grade", "-d", "backward").out
    assert "rows must be held out for that: --cv 5" in alone


def test_the_forecast_follows_from_the_times_of_samples(monkeypatch):
    # 3 s for 400 rows of 1600 and 1 s for 200: the power is log2(3), twice over.
    times = {200: 1.0, 400: 3.0, 800: 9.0, 5000: 7.0}
    monkeypatch.setattr(
        "pinsker.cli._inspect._seconds", lambda selector, X, y, n_rows: times[n_rows]
    )
    backward = BackwardElimination()
    assert expected_seconds(backward, np.zeros((800, 40)), None) == pytest.approx(9.0)
    times |= {400: 1.0, 800: 100.0}  # no cost grows faster than its largest power
    assert expected_seconds(backward, np.zeros((1600, 40)), None) == pytest.approx(100 * 2**2.2)
    # Split tables of 40 columns: 1250 of 5000 rows train, and 5000 of a million.
    rows = expected_seconds(FeatureSelector(), np.broadcast_to(0.0, (10**6, 40)), None)
    assert rows == pytest.approx(7.0 * 5000 / 1250)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(600, 8), (1500, 12), (9000, 6)])
def test_the_forecast_is_within_a_factor_of_two(shape):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=shape))
    y = pd.Series((X[0] + X[1] * X[2] + 0.5 * rng.normal(size=len(X)) > 0).astype(int))
    selector = FeatureSelector(n_jobs=1, random_state=0)
    selector.fit(X[:200], y[:200])  # imports, once
    expected = expected_seconds(selector, X, y)
    started = time.process_time()
    selector.fit(X, y)
    spent = time.process_time() - started
    assert spent / 2 < expected < 2 * spent


def test_fewer_rows_resolve_less():
    budgets = [smallest_budget(n, classes=True) for n in (10, 100, 1000, 10000)]
    assert budgets == sorted(budgets, reverse=True)


def test_warnings_are_notes_and_not_lines_of_python(run, tmp_path):
    table = tmp_path / "table.csv"
    rows = "".join(f"{i % 7},{i % 3},{'p' if i else 'q'}\n" for i in range(40))
    table.write_text(f"a,b,y\n{rows}")
    done = run("inspect", table, "-t", "y")
    assert done.err == ""
    assert "note: class 'q' has a single row" in done.out
    priced = run("audit", table, "-t", "y", "--columns", "a", "--model", "linear")
    assert priced.err.count("\n") == 1, priced.err
