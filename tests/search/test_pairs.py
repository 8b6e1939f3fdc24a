"""The search for pairs: what it finds, what it leaves alone."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import pinsker
from pinsker import FeatureSelector, interactions
from pinsker.encoding import encode
from pinsker.exceptions import DataError, ParameterError
from pinsker.explain import TripleScan
from pinsker.search import KNNSearchSettings as Settings
from pinsker.search import PairProblem, PairScan, named_searches, pairs


def two_interactions(n_rows, n_columns, seed):
    """An exclusive-or of columns 2 and 3, or a ring of 0 and 1 (Passemiers et al. 2024)."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_columns))
    ring = np.abs(np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) - 0.35) <= 0.0704
    crossed = (X[:, 2] - 0.5) * (0.5 - X[:, 3]) >= 0.0337
    return X, (ring | crossed).astype(int)


def test_both_interactions_come_first():
    X, y = two_interactions(1000, 300, 0)
    path = pairs(encode(X, y))
    assert set(path.order[:2]) == {2, 3}
    assert set(path.order[:4]) == {0, 1, 2, 3}
    assert len(set(path.order)) == len(path.order) == 300


def test_fixed_features_come_before_all_others():
    X, y = two_interactions(600, 40, 1)
    path = pairs(encode(X, y), fixed=(30,))
    assert path.n_fixed == 1
    assert path.order[0] == 30
    assert set(path.order[1:3]) == {2, 3}


def test_no_pair_of_noise_is_found():
    alarms = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame(rng.normal(size=(200, 15)))
        table["flag"] = rng.random(200) < 0.1
        table["kind"] = rng.choice(list("abcdefghijkl"), size=200)
        table.columns = table.columns.astype(str)
        target = rng.random(200) < 0.3
        alarms += any(PairScan(PairProblem.of(encode(table, target)), seed=seed).rounds())
    assert alarms <= 3  # 25 runs at a level of 0.01: more than 3 in one of ten thousand


def test_what_was_found_hides_nothing_and_makes_nothing_up():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(600, 20))
        found = list(PairScan(PairProblem.of(encode(X, X[:, 3] * X[:, 7])), seed=seed).rounds())
        assert set(found[0].features) == {3, 7}
        assert {feature for one in found for feature in one.features} == {3, 7}


def test_auto_looks_for_pairs_where_one_is_hidden():
    X, y = two_interactions(500, 60, 2)
    names, _ = named_searches("auto", encode(X, y), Settings())
    assert names[0] == "pairs"
    names, _ = named_searches("auto", encode(X, (X[:, 0] > 0.5).astype(int)), Settings())
    assert "pairs" not in names
    names, _ = named_searches("auto", encode(X[:, :20], y), Settings())
    assert "pairs" not in names  # neighbors see it among few columns


def test_the_front_door_finds_an_exclusive_or_among_many_columns():
    rng = np.random.default_rng(3)
    X = rng.random((300, 80))
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(int)
    selector = FeatureSelector(random_state=0, cv=3, searches=["pairs"], models=["svm"]).fit(X, y)
    assert selector.get_support().nonzero()[0].tolist() == [0, 1]


def test_interactions_are_a_frame():
    X, y = two_interactions(1000, 40, 4)
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(40)])
    found = interactions(table, y, n_best=7)
    frame = found.to_frame()
    assert list(frame.columns) == [
        "first", "second", "alone_first", "alone_second", "together", "surplus", "p_value",
            "p_additive",
    ]  # fmt: skip
    assert len(frame) == 7
    assert frame["surplus"].is_monotonic_decreasing
    assert frame.iloc[0][["first", "second"]].tolist() == ["c2", "c3"]
    np.testing.assert_allclose(
        frame["together"], frame["alone_first"] + frame["alone_second"] + frame["surplus"]
    )
    assert {one.features for one in found.significant()} == {(2, 3), (0, 1)}
    assert "c2 x c3" in str(found)
    assert found.to_frame("polars").shape == frame.shape
    again = pinsker.interactions(table, y, n_best=7, n_jobs=2)
    pd.testing.assert_frame_equal(again.to_frame(), frame)


def test_a_triple_is_found():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 25))
    y = (X[:, 3] > 0) ^ (X[:, 7] > 0) ^ (X[:, 11] > 0)
    found = interactions(X, y, 3)
    assert found.found[0].features == (3, 7, 11)
    assert [one.features for one in found.significant()] == [(3, 7, 11)]
    assert found.n_sets == 2300
    assert "third" in found.to_frame().columns


def test_both_ways_to_count_all_triples_agree():
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 3, (12, 300)).astype(np.uint8)
    labels = rng.integers(0, 2, 300)
    table = PairProblem(codes, labels)
    exact = TripleScan.of(table, [], 1, np)
    around = replace(exact, pairs=np.array(list(combinations(range(12), 2))))
    assert exact.n_sets == around.n_sets == 220
    one, other = exact.best(30, 2, 0), around.best(30, 2, 0)
    assert [found.features for found in one] == [found.features for found in other]
    for first, second in zip(one, other, strict=True):
        assert first.surplus == pytest.approx(second.surplus, abs=1e-6)
        assert first.p_value == pytest.approx(second.p_value, rel=1e-3)


def test_a_triple_in_a_wide_table_is_found_around_a_pair():
    rng = np.random.default_rng(7)
    X = rng.random((800, 205))
    # Two columns agree in their halves; a third says in which direction a fourth of the rows goes.
    y = (X[:, 10] > 0.5) ^ (X[:, 20] > 0.5) ^ ((X[:, 30] > 0.5) & (X[:, 10] > 0.3))
    found = interactions(X, y, 3)
    assert found.found[0].features == (10, 20, 30)
    assert found.found[0].p_value < 1e-6
    assert "best pairs with every third column" in found.notes[0]
    assert found.n_sets < 100 * 203
    assert interactions(X, rng.permutation(y), 3).significant() == ()


def test_what_cannot_be_done_is_refused():
    with pytest.raises(ParameterError, match="order=4"):
        interactions([[0.1, 0.2]] * 5, [0, 1, 0, 1, 0], 4)
    with pytest.raises(DataError, match="found 1 columns"):
        interactions([[0.1], [0.2], [0.3], [0.4]], [0, 1, 0, 1])


def test_a_heat_map_is_drawn():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = two_interactions(300, 12, 6)
    ax = interactions(X, y).plot(n_features=5)
    assert len(ax.get_xticklabels()) == 5
    pyplot.close(ax.figure)


@pytest.mark.slow
def test_no_false_alarm_in_200_tables_of_noise():
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = rng.random((300, 50)), rng.random(300) < 0.5
        alarms += bool(interactions(X, y, random_state=seed).significant())
    assert alarms <= 10
