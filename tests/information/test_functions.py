"""The public functions: what they read, what they choose, what they refuse, what they return."""

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pinsker
from pinsker import conditional_mutual_information, entropy, mutual_information
from pinsker.exceptions import DataError, ParameterError, UnreliableEstimateWarning
from tests.truths import Chain, CommonCause, TwoNormalClasses, information_problems


def continuous(n=60, seed_of_rows=0):
    return CommonCause(1.0, 1).sample(n, seed_of_rows)


# --- what is read


def test_all_containers_give_the_same_bits():
    x, y, z = continuous()
    expected = conditional_mutual_information(x, y, z)
    frames = [pd.DataFrame(side, columns=["c"]) for side in (x, y, z)]
    assert conditional_mutual_information(*frames) == expected
    assert conditional_mutual_information(*[pl.from_pandas(f) for f in frames]) == expected
    assert conditional_mutual_information(*[side.tolist() for side in (x, y, z)]) == expected
    assert conditional_mutual_information(*[side.ravel() for side in (x, y, z)]) == expected


def test_integers_in_y_are_classes():
    x, y, _ = TwoNormalClasses(1.0).sample(200, seed=0)
    words = np.where(y > 0, "up", "down")
    expected = mutual_information(x, words)
    assert mutual_information(x, y) == expected
    assert mutual_information(x, y, categorical_features={"y": "nominal"}) == expected
    assert mutual_information(x, pd.Series(y.ravel()).astype("category")) == expected


def test_classes_stay_visible_among_many_columns():
    # As numbers, two classes are two spreads apart, and neighbors in 40 columns are farther than
    # that: the target disappears. As classes it does not. Truth: 0.337, from the first column.
    x, y, _ = TwoNormalClasses(1.0).sample(500, seed=1)
    table = np.hstack([x, np.random.default_rng(0).normal(size=(500, 40))])
    as_classes = mutual_information(table, y)
    with pytest.warns(UnreliableEstimateWarning, match="42 columns are too many for 500 rows"):
        as_numbers = mutual_information(table, y, categorical_features={"y": "count"})
    # The standard deviation of either is 0.02: five of them are 0.1.
    assert as_classes > 0.1
    assert as_numbers < 0.05


def test_kinds_can_be_declared_for_columns():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"code": rng.integers(0, 3, 90), "size": rng.normal(size=90)})
    y = rng.normal(size=90)
    as_text = table.assign(code=table["code"].astype(str))
    declared = mutual_information(table, y, categorical_features={"x": {"code": "nominal"}})
    assert declared == mutual_information(as_text, y)
    masked = mutual_information(table, y, categorical_features={"x": [True, False]})
    assert masked == mutual_information(table, y, categorical_features={"x": {"code": "count"}})


def test_rows_with_missing_values_are_dropped_from_all_arguments():
    x, y, z = (side.copy() for side in continuous())
    complete = np.ones(60, dtype=bool)
    for row, side in ((3, x), (10, y), (20, z)):
        side[row] = np.nan
        complete[row] = False
    found = conditional_mutual_information(x, y, z, missing="drop", return_details=True)
    expected = conditional_mutual_information(x[complete], y[complete], z[complete])
    assert found.value == expected
    assert found.n_samples == 57
    assert any("left out 3 of 60 rows" in note for note in found.notes)


def test_missing_values_are_an_error_by_default():
    with pytest.raises(DataError, match="column 'x' has missing values in 1 of 3 rows"):
        mutual_information([1.5, None, 2.5], [1.5, 2.5, 3.5])


def test_missing_values_can_be_a_category():
    # Missing exactly where y is "b": one category determines y.
    x = np.where(np.arange(40) % 2 == 0, np.nan, 1.0)
    y = np.where(np.arange(40) % 2 == 0, "b", "a")
    found = mutual_information(x, y, missing="category", correction="none")
    assert found == pytest.approx(np.log(2))


# --- what is chosen


def test_auto_uses_neighbors_when_something_is_continuous():
    found = mutual_information(*continuous()[:2], return_details=True)
    assert found.method == "knn"
    assert str(found.notes[0]) == "method='auto' chose 'knn': some columns are continuous"


def test_auto_counts_filled_cells():
    found = mutual_information(["a", "b"] * 20, ["c", "c", "d", "d"] * 10, return_details=True)
    assert found.method == "discrete"
    assert found.ceiling is None


def test_auto_uses_the_distances_of_counts_when_cells_are_sparse():
    rng = np.random.default_rng(0)
    x, y, z = rng.integers(0, 8, size=(3, 60))
    found = conditional_mutual_information(
        x, y, z, categorical_features={"y": "count"}, return_details=True
    )
    assert found.method == "knn"
    assert "few rows per cell, but counts have distances" in found.notes[0]


@pytest.mark.filterwarnings("ignore::pinsker.exceptions.UnreliableEstimateWarning")
def test_auto_counts_sparse_words_for_want_of_anything_better():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 8, size=(2, 60)).astype(str)
    assert mutual_information(x, y, return_details=True).method == "discrete"


# --- what is refused


def test_unknown_words():
    x, y, _ = continuous()
    with pytest.raises(ParameterError, match="method='ksg' is not known: use one of auto, knn"):
        mutual_information(x, y, method="ksg")
    with pytest.raises(ParameterError, match="scale='rank' is not known"):
        mutual_information(x, y, scale="rank")
    with pytest.raises(
        ParameterError, match="categorical_features names 'z', but the arguments are x, y"
    ):
        mutual_information(x, y, categorical_features={"z": "nominal"})
    with pytest.raises(ParameterError, match=r"categorical_features=\[True\] names no argument"):
        mutual_information(x, y, categorical_features=[True])


def test_neighbors_that_do_not_exist():
    x, y, _ = continuous(5)
    with pytest.raises(ParameterError, match="n_neighbors=5 needs at least 6 rows"):
        mutual_information(x, y, n_neighbors=5)
    with pytest.raises(ParameterError, match=r"n_neighbors=0 must be"):
        mutual_information(x, y, n_neighbors=0)


def test_lengths_that_differ():
    with pytest.raises(DataError, match=r"inconsistent numbers of samples: \[3, 2\]"):
        mutual_information([1.5, 2.5, 3.5], [1.5, 2.5])


def test_no_threads():
    with pytest.raises(ParameterError, match="n_jobs=0 means nothing"):
        mutual_information([1.5, 2.5, 3.5], [1.5, 2.5, 0.5], n_neighbors=1, n_jobs=0)


# --- what is returned


def test_threads_do_not_change_a_bit():
    x, y, z = continuous(300)
    assert conditional_mutual_information(x, y, z, n_jobs=2) == conditional_mutual_information(
        x, y, z
    )
    assert entropy(x, n_jobs=2) == entropy(x)


def test_details_are_frozen_and_complete():
    x, y, _ = continuous()
    found = mutual_information(x, y, return_details=True)
    assert found.value == mutual_information(x, y) == float(found)
    assert found.n_samples == 60
    assert found.ceiling > found.value
    assert found.standard_error > 0
    assert found.warnings == ()
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.value = 0.0


def test_the_seed_moves_the_standard_error_only():
    x, y, _ = continuous()
    one = mutual_information(x, y, return_details=True)
    same = mutual_information(x, y, return_details=True)
    other = mutual_information(x, y, return_details=True, random_state=1)
    assert one == same
    assert one.value == other.value
    assert one.standard_error != other.standard_error


def test_no_standard_error_from_halves_that_are_too_small():
    with pytest.warns(UnreliableEstimateWarning, match="2 columns are too many for 9 rows"):
        found = mutual_information(*continuous(9)[:2], return_details=True)
    assert found.standard_error is None


def test_negative_estimates_are_clipped_only_when_asked():
    for rows in range(20):
        x, y, z = Chain(True).sample(200, rows)
        value = conditional_mutual_information(x, y, z)
        if value < 0:
            break
    assert value < 0
    assert conditional_mutual_information(x, y, z, clip=True) == 0.0
    found = conditional_mutual_information(x, y, z, return_details=True)
    assert found.value == value
    assert found.clipped == 0.0


def test_two_rows():
    # psi(1) - 2 psi(1) + psi(2) = 1 by definition, and nothing to rely on.
    with pytest.warns(UnreliableEstimateWarning):
        value = mutual_information([0.5, 1.5], [2.5, 1.5], n_neighbors=1)
    assert value == pytest.approx(1.0, abs=1e-12)
    assert mutual_information([0.5, 1.5], ["a", "a"], n_neighbors=1) == pytest.approx(0.0)


def test_everything_is_exported():
    assert {"entropy", "mutual_information", "Estimate"} <= set(pinsker.__all__)
    assert {"conditional_mutual_information", "independence_test"} <= set(pinsker.__all__)


def test_interaction_that_no_single_column_shows():
    x, y, z = information_problems()["M6 given second"].sample(500, seed=0)
    assert abs(mutual_information(x, y)) < 0.1
    assert conditional_mutual_information(x, y, z) > 0.5
