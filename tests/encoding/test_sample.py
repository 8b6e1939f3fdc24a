"""Rows are drawn with the same chance, in every container, in one pass over partitions."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pinsker.encoding import draw_rows, missing_targets
from pinsker.exceptions import DataError, DataTypeError, ParameterError

N, MOST = 1000, 130


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "place": np.arange(N),
            "number": rng.normal(size=N),
            "color": rng.choice(["red", "green", "blue"], size=N),
            "y": rng.choice(["often", "rarely"], p=[0.95, 0.05], size=N),
        }
    )


def as_kind(frame, kind):
    if kind == "polars":
        return pytest.importorskip("polars").from_pandas(frame)
    if kind == "pyarrow":
        return pytest.importorskip("pyarrow").Table.from_pandas(frame)
    if kind == "object array":
        return frame.to_numpy(dtype=object)
    return frame.to_numpy(dtype=object).tolist() if kind == "lists" else frame


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "object array", "lists"])
def test_every_container_gives_the_same_rows(frame, kind):
    X, y = frame[["place", "number", "color"]], frame["y"]
    data = as_kind(X, kind)
    sample = draw_rows(data, y, MOST, seed=5)
    assert type(sample.X) is type(data)
    expected = draw_rows(X, y.to_numpy(), MOST, seed=5)
    np.testing.assert_array_equal(sample.rows, expected.rows)
    assert np.all(np.diff(sample.rows) > 0)
    assert (sample.n_rows, sample.n_drawn) == (N, MOST)
    taken = sample.X if isinstance(sample.X, list) else np.asarray(sample.X, dtype=object)
    assert [row[0] for row in taken] == sample.rows.tolist()
    assert list(sample.y) == y.iloc[sample.rows].tolist()


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_sparse_rows(frame, layout):
    dense = np.where(frame[["number"]] > 1, frame[["number"]], 0.0)
    sample = draw_rows(sparse.coo_array(dense).asformat(layout), frame["y"], MOST, seed=5)
    np.testing.assert_array_equal(sample.X.toarray(), dense[sample.rows])


def test_every_class_keeps_its_share_and_every_row_its_chance():
    y = np.repeat(["a", "b", "c"], [900, 93, 7])
    X = np.zeros((N, 1))
    times = np.zeros(N)
    for seed in range(400):
        rows = draw_rows(X, y, 200, seed=seed).rows
        times[rows] += 1
        for label, size in (("a", 180), ("b", 18.6), ("c", 1.4)):
            assert abs((y[rows] == label).sum() - size) < 1
    # A row is drawn in 80 of 400 samples, give or take 8: five times that is never seen.
    assert 40 < times.min() < times.max() < 120
    np.testing.assert_allclose([times[y == one].mean() for one in "abc"], 80, atol=4)


def test_a_class_that_is_too_rare_is_named():
    y = np.array(["often"] * 998 + ["never"] * 2)
    lost = [draw_rows(np.zeros((N, 1)), y, 50, seed=seed) for seed in range(20)]
    without = next(sample for sample in lost if "never" not in sample.y)
    note = "too rare for the rows drawn, so not among them: class 'never' (2 of 1000 rows)"
    assert str(without.notes[1]) == note
    assert "columns were read on 50 of 1000 rows, drawn at random" in without.notes[0]


def test_the_target_is_checked_in_all_rows():
    X, y = np.zeros((N, 2)), np.random.default_rng(0).normal(size=N)
    with pytest.raises(DataError, match=r"inconsistent numbers of samples: \[1000, 999\]"):
        draw_rows(X, y[1:], MOST, seed=0)
    y[17] = np.nan
    with pytest.raises(DataError, match="missing values in 1 of 1000 rows, first in row 17"):
        draw_rows(X, y, MOST, seed=0, missing="category")
    sample = draw_rows(X, y, 998, seed=0, missing="drop")
    assert 17 not in sample.rows
    assert str(sample.notes[1]) == "missing='drop' left out 1 of 1000 rows"
    assert draw_rows(X, y, 999, seed=0, missing="drop").origin == ""
    y[17] = np.inf
    with pytest.raises(DataError, match="infinite values in 1 of 1000 rows"):
        draw_rows(X, y, MOST, seed=0)


def test_groups_go_with_their_rows(frame):
    sample = draw_rows(frame[["number"]], frame["y"], MOST, seed=0)
    assert sample.labels_of_rows(None) is None
    groups = np.arange(N) // 10
    np.testing.assert_array_equal(sample.labels_of_rows(groups.tolist()), groups[sample.rows])
    with pytest.raises(DataError, match="rows in X and groups"):
        sample.labels_of_rows(groups[1:])
    assert draw_rows(frame[["number"]], frame["y"], N, seed=0).labels_of_rows(groups) is groups


def test_few_rows_are_not_touched(frame):
    X, y = frame[["number"]], frame["y"]
    sample = draw_rows(X, y, N, seed=0)
    assert sample.X is X
    assert sample.y is y
    assert sample.notes == ()
    assert sample.origin == ""


# ---------------------------------------------------------------------- Dask


@pytest.fixture
def dd():
    dask = pytest.importorskip("dask", reason="needs pinsker[dask]")
    with dask.config.set(scheduler="synchronous"):
        yield pytest.importorskip("dask.dataframe")


def smallest_keys(lengths, most, seed, usable=None):
    """Return the rows with the smallest keys, by the book."""
    keys = [np.random.default_rng([seed, number]).random(n) for number, n in enumerate(lengths)]
    keys = np.concatenate(keys)
    if usable is not None:
        keys[~usable] = 2.0
    return np.sort(np.argsort(keys, kind="stable")[:most])


@pytest.mark.parametrize("lengths", [[100] * 10, [400, 300, 200, 100], [940, 10, 0, 50], [1000]])
def test_partitions_together_draw_the_smallest_keys(frame, dd, lengths, monkeypatch):
    ends = np.cumsum([0, *lengths])
    parts = [frame.iloc[a:b] for a, b in itertools.pairwise(ends)]
    passes = []
    once = "pinsker.encoding._sample.compute"
    import dask

    def counted(tasks):
        passes.append(len(tasks))
        return list(dask.compute(*tasks))

    monkeypatch.setattr(once, counted)
    table = dd.from_map(lambda part: part, parts)
    sample = draw_rows(table, "y", MOST, seed=7)
    expected = smallest_keys(lengths, MOST, 7)
    assert sample.X["place"].tolist() == expected.tolist()
    assert sample.y.tolist() == frame["y"].iloc[expected].tolist()
    assert sample.origin == "of 130 drawn from 1000"
    assert len(passes) == (2 if lengths[0] == 940 else 1)  # one is far longer than the others


def test_dask_arrays(frame, dd):
    arrays = pytest.importorskip("dask.array")
    values = frame[["place", "number"]].to_numpy()
    X, y = arrays.from_array(values, chunks=(300, 1)), arrays.from_array(values[:, 1], chunks=500)
    sample = draw_rows(X, y, MOST, seed=7)
    expected = smallest_keys([300, 300, 300, 100], MOST, 7)
    np.testing.assert_array_equal(sample.X, values[expected])
    np.testing.assert_array_equal(sample.y, values[expected, 1])
    with pytest.raises(DataTypeError, match="X is a Dask Array, but y is of type ndarray"):
        draw_rows(X, values[:, 1], MOST, seed=7)
    with pytest.raises(DataError, match=r"inconsistent numbers of samples: \[1000, 999\]"):
        draw_rows(X, y[1:], MOST, seed=7)
    known = X[:, 0] >= 0  # a filter makes lengths unknown
    filtered = draw_rows(X[known], y.rechunk(300)[known], MOST, seed=7)
    np.testing.assert_array_equal(filtered.X, sample.X)
    with pytest.raises(DataError, match="4 chunks of unknown lengths, but y 2"):
        draw_rows(X[known], y[y > -100], MOST, seed=7)


def test_missing_targets_in_partitions(frame, dd):
    gappy = frame.assign(y=frame["y"].mask(frame["place"] % 3 == 0))
    table = dd.from_pandas(gappy, npartitions=4, sort=False)
    with pytest.raises(DataError, match="missing values in 334 of 1000 rows"):
        draw_rows(table, "y", MOST, seed=1)
    sample = draw_rows(table, "y", MOST, seed=1, missing="drop")
    usable = gappy["y"].notna().to_numpy()
    assert sample.X["place"].tolist() == smallest_keys([250] * 4, MOST, 1, usable).tolist()
    assert sample.origin == "of 130 drawn from 666"
    assert str(sample.notes[1]) == "missing='drop' left out 334 of 1000 rows"
    with pytest.raises(DataError, match="without a row that has a target"):
        draw_rows(table.assign(y=np.nan), "y", MOST, seed=1, missing="drop")


def test_few_rows_in_partitions_are_all_computed_in_their_order(frame, dd):
    table = dd.from_pandas(frame, npartitions=7, sort=False)
    sample = draw_rows(table.drop(columns=["y"]), table["y"], N, seed=0)
    pd.testing.assert_frame_equal(sample.X, frame.drop(columns=["y"]), check_dtype=False)
    assert sample.y.tolist() == frame["y"].tolist()
    assert sample.y.name == "y"
    with pytest.raises(ParameterError, match="groups needs the rows in memory"):
        sample.labels_of_rows(np.zeros(N))
    assert sample.notes == ()


@pytest.mark.parametrize(
    ("target", "gaps"),
    [
        (np.array([1.0, np.nan]), [False, True]),
        (np.array(["a", None, np.nan], dtype=object), [False, True, True]),
        (np.array(["2026-01-01", "NaT"], dtype="M8[D]"), [False, True]),
        (np.array([[1.0, 2.0], [np.nan, 3.0]]), [False, True]),
        (np.array([1, 2]), [False, False]),
        (np.array(["a", "b"]), [False, False]),
        (np.zeros(0), []),  # no row needs a label
        (np.zeros((0, 2), dtype=object), []),
    ],
)
def test_missing_targets_of_arrays(target, gaps):
    found = missing_targets(target)
    assert found.dtype == np.bool_
    assert found.tolist() == gaps
