"""Dates in a text table: datetimes, not categories."""

import numpy as np
import pandas as pd
import pytest

from pinsker.cli._text import read_dates


@pytest.fixture(scope="module")
def season():
    """A class that changes in the middle of the year, and two other columns."""
    rng = np.random.default_rng(0)
    days = np.sort(rng.permutation(365)[:150])
    return pd.DataFrame(
        {
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D"),
            "noise": rng.normal(size=150),
            "warm": np.where(days > 180, "yes", "no"),
        }
    )


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S.25Z", "%Y-%m-%dT%H:%M:%S+02:00"]
)
def test_iso_dates_are_datetimes(season, form):
    found = read_dates(season.assign(when=season["when"].dt.strftime(form)))
    assert list(found) == ["when"]
    gaps = (found["when"] - found["when"].iloc[0]) == season["when"] - season["when"].iloc[0]
    assert gaps.all()


def test_zones_are_compared_in_utc():
    text = ["2024-05-01T10:00:00+02:00", "2024-05-01T09:00:00Z", None, "2024-05-01T08:00:00Z"]
    first, later, gap, same = read_dates(pd.DataFrame({"t": text}))["t"]
    assert first == same == pd.Timestamp("2024-05-01 08:00")
    assert later == pd.Timestamp("2024-05-01 09:00")
    assert gap is pd.NaT


@pytest.mark.parametrize(
    "values",
    [["2024-02-30", "2024-02-01"], ["01/02/2024", "02/02/2024"], ["2024-01-01", "later"], [None]],
    ids=["not on a calendar", "two ways to read it", "not all dates", "empty"],
)
def test_anything_else_is_left_alone(values):
    assert read_dates(pd.DataFrame({"t": pd.Series(values, dtype="object")})) == {}


def test_select_understands_dates_and_writes_them_as_they_were(season, run, tmp_path):
    table, kept = tmp_path / "season.csv", tmp_path / "kept.csv"
    words = season["when"].dt.strftime("%Y-%m-%dT00:00:00+01:00")
    season.assign(when=words).to_csv(table, index=False)
    done = run("select", table, "--target", "warm", "--direction", "backward", "--output", kept)
    assert "Kept 1 of 2 columns" in done.out
    assert "column 'when' holds dates, read as seconds since 20" in done.out
    assert pd.read_csv(kept)["when"].tolist() == words.tolist()


def test_inspect_calls_dates_continuous(season, run, tmp_path):
    table = tmp_path / "season.csv"
    season.to_csv(table, index=False)
    done = run("inspect", table, "--target", "warm")
    (line,) = [line for line in done.out.splitlines() if line.split()[:1] == ["when"]]
    assert "continuous" in line
