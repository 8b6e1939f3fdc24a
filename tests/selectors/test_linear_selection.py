"""LinearSelection against least squares, refitted for every set."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LinearRegression

from oracles import search as slow
from pinsker.encoding import encode
from pinsker.exceptions import DataError, ParameterError
from pinsker.search import (
    ErrorBudget,
    FeatureCount,
    LinearSearchSettings,
    linear,
    search_rows,
)
from pinsker.selectors import LinearSelection

# The exact growth against least squares by LAPACK: both lose about cond * 1e-16.
CLOSE = {"rtol": 1e-7, "atol": 1e-9}
DIRECTIONS = pytest.mark.parametrize("direction", ["backward", "forward"])


def shares(path):
    return np.exp(-2 * np.array(path.information))


def check_against_least_squares(selector, X, y, features):
    selector.fit(X, y)
    target = np.asarray(y, dtype=float).reshape(len(y), -1)
    moves, left = slow.linear(selector.direction, X, features, target)
    assert list(selector.path_.moves) == moves
    total = np.square(target - target.mean(axis=0)).sum()
    np.testing.assert_allclose(shares(selector.path_), np.array(left) / total, **CLOSE)


@DIRECTIONS
def test_path_is_that_of_least_squares(direction, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6)) * 10.0 ** rng.integers(-3, 4, size=6)
    y = X[:, 0] / X[:, 0].std() + rng.normal(size=60)
    selector = LinearSelection(direction=direction, patience=None)
    check_against_least_squares(selector, X, y, [[j] for j in range(6)])


@DIRECTIONS
def test_several_targets(direction, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4))
    y = X[:, :2] @ rng.normal(size=(2, 3)) + rng.normal(size=(40, 3))
    selector = LinearSelection(direction=direction, patience=None)
    # Each is divided by its standard deviation: none counts more for its unit.
    check_against_least_squares(selector, X, y / y.std(axis=0), [[j] for j in range(4)])
    known = selector.path_
    other = selector.fit(X, y * [1.0, 1e3, 1e-3]).path_
    assert other.moves == known.moves
    np.testing.assert_allclose(other.information, known.information, **CLOSE)


@DIRECTIONS
def test_groups_go_as_one(direction, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 6))
    y = X @ rng.normal(size=6) + rng.normal(size=50)
    features = [[0, 3], [1], [2, 4, 5]]
    selector = LinearSelection(
        direction=direction, patience=None, feature_groups={"a": [0, 3], "b": [2, 4, 5]}
    )
    check_against_least_squares(selector, X, y, features)


@DIRECTIONS
def test_duplicates_constants_and_sums_cost_nothing(direction, seed):
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, 80))
    X = np.column_stack([a, b, a, np.full(80, 7.0), a - 2 * b, c])
    y = a + 0.7 * b + 0.5 * c + 0.3 * rng.normal(size=80)
    selector = LinearSelection(0.0, direction=direction, patience=None).fit(X, y)
    assert selector.certificate_.n_kept == 3
    kept = LinearRegression().fit(X[:, selector.support_], y)
    everything = LinearRegression().fit(X, y)
    assert kept.score(X[:, selector.support_], y) == pytest.approx(everything.score(X, y))
    np.testing.assert_allclose(selector.path_.information_at(3), selector.path_.best_information)


def test_of_duplicates_the_earlier_column_stays():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 80))
    X = np.column_stack([a, b, a])
    selector = LinearSelection(0.0).fit(X, a + b + rng.normal(size=80))
    assert selector.get_support().tolist() == [True, True, False]


def test_entangled_groups_are_still_exact(seed):
    # Each group shares a direction with the other, so that neither is spare as a whole.
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, 60))
    X = np.column_stack([a, b, b, c])
    y = a + b + 0.2 * c + rng.normal(size=60)
    selector = LinearSelection(feature_groups={"left": [0, 1], "right": [2, 3]})
    check_against_least_squares(selector, X, y, [[0, 1], [2, 3]])


def test_nearly_singular_start_does_not_spoil_the_end(seed):
    # Columns that differ by 1e-5 of their spread: the inverse starts at 1e10 and ends at 1.
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(100, 4))
    X = np.hstack([base, base + 1e-5 * rng.normal(size=(100, 4))])
    y = base.sum(axis=1) + 0.1 * rng.normal(size=100)
    path = LinearSelection().fit(X, y).path_
    total = np.square(y - y.mean()).sum()
    for size in range(1, 9):
        left = slow.left_by_linear_model(X, y[:, None], sorted(path.set_at(size)))
        # lstsq itself loses cond = 1e5 times 1e-16, squared errors nothing more.
        np.testing.assert_allclose(np.exp(-2 * path.information_at(size)), left / total, rtol=1e-6)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 60))
    y = X[:, 3] + X[:, 7]
    selector = LinearSelection(0.01).fit(X, y)
    assert selector.path_.complete
    assert any("fits these rows perfectly" in note for note in selector.notes_)
    forward = LinearSelection(0.01, direction="forward").fit(X, y)
    assert set(np.flatnonzero(forward.support_)) >= {3, 7}


@DIRECTIONS
def test_growth_is_the_lost_share_of_the_variance(direction):
    X, y = load_diabetes(return_X_y=True)
    selector = LinearSelection(0.02, direction=direction, patience=None).fit(X, y)
    full = LinearRegression().fit(X, y).score(X, y)
    for size in (1, 3, 6, 10):
        columns = list(selector.path_.set_at(size))
        reached = LinearRegression().fit(X[:, columns], y).score(X[:, columns], y)
        assert selector.path_.bound_at(size) == pytest.approx(full - reached, abs=1e-9)
    assert full - 0.02 <= LinearRegression().fit(
        X[:, selector.support_], y
    ).score(X[:, selector.support_], y)  # fmt: skip
    smaller = selector.path_.set_at(selector.certificate_.n_kept - 1)
    X_smaller = X[:, list(smaller)]
    assert full - 0.02 > LinearRegression().fit(X_smaller, y).score(X_smaller, y)


def test_budget_in_mse():
    X, y = load_diabetes(return_X_y=True)
    in_shares = LinearSelection(0.02).fit(X, y)
    rule = ErrorBudget(0.02 * y.var(), metric="mse", model="gaussian")
    in_mse = LinearSelection(error_budget=rule).fit(X, y)
    np.testing.assert_array_equal(in_mse.support_, in_shares.support_)


def test_classes_are_indicators_and_the_error_is_brier():
    X, y = load_wine(return_X_y=True)
    selector = LinearSelection(0.03).fit(X, y)
    one_hot = (y[:, None] == np.arange(3)).astype(float)

    def brier(columns):
        model = LinearRegression().fit(X[:, columns], one_hot)
        return np.square(model.predict(X[:, columns]) - one_hot).sum(axis=1).mean()

    prior = one_hot.var(axis=0).sum()
    everything = brier(np.arange(13))
    for size in (2, 5, 9):
        grown = brier(list(selector.path_.set_at(size))) - everything
        assert selector.path_.bound_at(size) * prior == pytest.approx(grown, abs=1e-9)
    assert brier(np.flatnonzero(selector.support_)) - everything <= 0.03 * prior + 1e-12


def test_nominal_columns_become_indicators():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], size=200)
    size, noise = rng.normal(size=(2, 200))
    y = 2.0 * (colour == "red") - (colour == "blue") + size + 0.1 * rng.normal(size=200)
    frame = pandas.DataFrame({"noise": noise, "colour": colour, "size": size})
    selector = LinearSelection(0.02).fit(frame, y)
    assert list(selector.transform(frame).columns) == ["colour", "size"]
    assert selector.certificate_.rows == ("those of the search itself: exact for their covariance")


def test_warm_start_goes_on_forward():
    X, y = load_diabetes(return_X_y=True)
    selector = LinearSelection(
        error_budget=FeatureCount(2), direction="forward", max_features=3, warm_start=True
    ).fit(X, y)
    assert len(selector.path_.moves) == 3
    selector.set_params(max_features=None, patience=None).fit(X, y)
    fresh = LinearSelection(direction="forward", patience=None).fit(X, y)
    assert selector.path_.moves == fresh.path_.moves
    np.testing.assert_allclose(selector.path_.information, fresh.path_.information, rtol=1e-12)


@DIRECTIONS
def test_the_selector_runs_the_search(direction):
    X, y = load_diabetes(return_X_y=True)
    selector = LinearSelection(direction=direction, fixed_features=[2]).fit(X, y)
    encoded = encode(X, y, scale="standard")
    path = linear(encoded, LinearSearchSettings(direction), (2,))
    assert search_rows(encoded, selector.as_search((2,))) == (path,)
    assert selector.path_ == path.with_bounds(selector.path_.bounds, "r2")


def test_the_metric_decides_how_an_integer_target_is_read():
    X, y = load_wine(return_X_y=True)
    assert LinearSelection(metric="error").fit(X, y).facts_.n_targets == 3
    numbers = LinearSelection(metric="r2").fit(X, y).facts_
    assert numbers.n_targets == 1
    assert numbers.variance == pytest.approx(y.var())


def test_a_metric_that_the_budget_contradicts():
    X, y = load_wine(return_X_y=True)
    rule = ErrorBudget(0.1, metric="mse", model="gaussian")
    with pytest.raises(ParameterError, match="has another one"):
        LinearSelection(rule, metric="error").fit(X, y)


def test_the_metric_of_a_budget_decides_how_an_integer_target_is_read():
    X, y = load_wine(return_X_y=True)
    rule = ErrorBudget(0.1, metric="mse", model="gaussian")
    assert LinearSelection(rule).fit(X, y).facts_.n_targets == 1  # three indicators


def test_a_target_whose_squares_are_no_numbers_is_refused():
    X = np.random.default_rng(0).normal(size=(200, 3))
    with pytest.raises(DataError, match="too little for squared errors in double precision"):
        LinearSelection(0.1).fit(X, X[:, 0] * 1e-300)
