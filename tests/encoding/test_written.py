"""Dates and numbers as text are read by the gate, as the command reads them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pinsker import FeatureSelector
from pinsker.encoding import Kind, encode, profile_of

RNG = np.random.default_rng(0)
DAYS = RNG.permutation(300)
Y = (DAYS > 150).astype(int)
NOISE = RNG.normal(size=300)


def dates(form, days=DAYS):
    return (pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D")).strftime(form).tolist()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S Z", "%d.%m.%Y", "%b %d, %Y"])
def test_dates_as_text_are_those_of_datetimes(frame, form):
    written = encode(frame({"when": dates(form), "noise": NOISE}), Y, scale="none")
    meant = encode(pd.DataFrame({"when": pd.to_datetime(dates("%Y-%m-%d")), "n": NOISE}), Y)
    assert written.columns.kinds == meant.columns.kinds == (Kind.CONTINUOUS, Kind.CONTINUOUS)
    np.testing.assert_array_equal(written.columns.values[:, 0], DAYS * 86400.0)
    note = written.notes[0]
    read = "column 'when' holds dates, read as seconds since" if form[1] == "Y" else "read as dates"
    assert read in note


def test_numbers_as_text_are_numbers():
    prices = [f"$ {1000 + day:,}.50" for day in DAYS]
    encoded = encode(pd.DataFrame({"price": prices, "noise": NOISE}), Y, scale="none")
    np.testing.assert_array_equal(encoded.columns.values[:, 0], 1000.5 + DAYS)
    assert str(encoded.notes[0]).startswith("column 'price' is read as numbers: '$ 1,")
    decimals = encode(pd.DataFrame({"x": [f"{v:.3f}" for v in NOISE], "n": NOISE}), Y, scale="none")
    np.testing.assert_allclose(decimals.columns.values[:, 0], NOISE, atol=6e-4)
    assert not [note for note in decimals.notes if "convert it" in note]


def test_gaps_stay_gaps():
    when = np.where(DAYS % 7 == 0, None, np.array(dates("%Y-%m-%d"), dtype=object))
    encoded = encode(pd.DataFrame({"when": when, "n": NOISE}), Y, scale="none", missing="auto")
    np.testing.assert_array_equal(encoded.columns.missing[:, 0], DAYS % 7 == 0)


@pytest.mark.parametrize(
    ("values", "categorical_features"),
    [
        ([str(day % 12) for day in DAYS], "from_dtype"),  # text is how users say: a code
        ([f"{day % 12:02}" for day in DAYS], "from_dtype"),
        (dates("%Y-%m-%d", DAYS % 12), ["when"]),
        (dates("%Y-%m-%d", DAYS % 12), {"when": "nominal"}),
        (dates("%Y-%m-%d", DAYS % 12), "all"),
        ([*dates("%Y-%m-%d", DAYS[:-1] % 12), "later"], "from_dtype"),
    ],
)
def test_what_stays_categories(values, categorical_features):
    frame = pd.DataFrame({"when": values})
    encoded = encode(frame, Y, categorical_features=categorical_features)
    assert encoded.columns.kinds == (Kind.NOMINAL,)
    as_category = encode(frame.astype("category"), Y)
    np.testing.assert_array_equal(encoded.columns.values, as_category.columns.values)


def test_targets_as_text_stay_classes():
    y = np.where(Y == 1, "2024-01-01", "2024-01-02")
    assert encode(pd.DataFrame({"x": NOISE}), y).target.task == "classification"


def test_rows_are_compared_as_they_were_written():
    frame = pd.DataFrame({"when": dates("%Y-%m-%d"), "noise": NOISE})
    later = frame.iloc[100:]
    np.testing.assert_array_equal(profile_of(later, Y[100:])[1], encode(frame, Y).hashes[100:])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_fit_uses_dates_as_text_and_certifies_with_them(frame):
    def table(some):
        text = dates("%Y-%m-%d", DAYS[some])
        return frame({"when": text, "noise": NOISE[some], "more": NOISE[::-1][some]})

    selector = FeatureSelector(error_budget=0.05, random_state=0).fit(table(slice(0, 200)), Y[:200])
    assert selector.get_feature_names_out().tolist() == ["when"]
    kept = selector.transform(table(slice(200, 300)))
    assert kept.shape == (100, 1)
    assert selector.certify(table(slice(200, 300)), Y[200:]).features[0] == "when"
