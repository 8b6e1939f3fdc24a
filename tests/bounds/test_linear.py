"""Linear models: the exact growth against normal equations, and the forms around it."""

import numpy as np
import pytest

from oracles import linear_models as oracle
from pinsker import bounds
from pinsker.exceptions import ParameterError

#: Relative rounding of normal equations with random covariances of condition up to 1e6.
SOLVED = 1e-8


def random_problem(rng, n_features=6):
    root = rng.normal(size=(n_features + 1, n_features + 1)) * rng.exponential(size=n_features + 1)
    joint = root @ root.T
    n_removed = int(rng.integers(1, n_features + 1))
    return (
        joint[1:, 1:],
        joint[1:, 0],
        joint[0, 0],
        sorted(int(i) for i in rng.permutation(n_features)[:n_removed]),
    )


def test_exact_growth_equals_two_regressions():
    rng = np.random.default_rng(7)
    for _ in range(1000):
        cov, cross, variance, removed = random_problem(rng)
        growth = oracle.growth(cov, cross, removed)
        got = bounds.LinearModel(cov, cross).growth(removed)
        assert got == pytest.approx(growth, rel=SOLVED, abs=SOLVED * variance)
        minkowski = bounds.LinearModel(cov, cross).growth_minkowski(removed)
        assert got <= minkowski * (1.0 + SOLVED)
        assert minkowski <= bounds.LinearModel(cov, cross).growth_cauchy_schwarz(removed) * (
            1 + 1e-12
        )


def test_single_features():
    rng = np.random.default_rng(8)
    for _ in range(200):
        cov, cross, variance, _ = random_problem(rng)
        each = bounds.LinearModel(cov, cross).growth_each()
        alone = [oracle.growth(cov, cross, [i]) for i in range(6)]
        np.testing.assert_allclose(each, alone, rtol=SOLVED, atol=SOLVED * variance)


def test_copies_and_constants_cost_nothing():
    rng = np.random.default_rng(9)
    x = rng.normal(size=(200, 3))
    x = np.column_stack([x, x[:, 0], x[:, 0] - 1e4 * x[:, 1], np.full(200, 3.0)])
    y = x[:, 0] + x[:, 2] + rng.normal(size=200)
    joint = np.cov(np.column_stack([y, x]).T)
    cov, cross = joint[1:, 1:], joint[1:, 0]
    each = bounds.LinearModel(cov, cross).growth_each()
    assert np.all(each[[0, 1, 3, 4, 5]] < 1e-8)
    assert each[2] == pytest.approx(bounds.LinearModel(cov, cross).growth([2]))
    assert each[2] > 0.5
    both = bounds.LinearModel(cov, cross).growth([0, 3])
    kept = bounds.LinearModel(cov[:3, :3], cross[:3]).growth([0])
    assert both < 1e-6  # column 4 and column 1 together still hold column 0
    assert bounds.LinearModel(cov, cross).growth([0, 3, 4]) == pytest.approx(kept, rel=1e-6)


def test_units_of_the_features_do_not_matter():
    rng = np.random.default_rng(10)
    cov, cross, _, removed = random_problem(rng)
    scale = 10.0 ** rng.uniform(-8, 8, size=6)
    got = bounds.LinearModel(cov * np.outer(scale, scale), cross * scale).growth(removed)
    assert got == pytest.approx(bounds.LinearModel(cov, cross).growth(removed), rel=1e-6)


def test_removing_nothing_or_everything():
    rng = np.random.default_rng(11)
    cov, cross, _, _ = random_problem(rng)
    assert bounds.LinearModel(cov, cross).growth([]) == 0.0
    explained = float(cross @ np.linalg.solve(cov, cross))
    assert bounds.LinearModel(cov, cross).growth(range(6)) == pytest.approx(explained, rel=SOLVED)


def test_chain_of_single_removals_is_the_gaussian_identity():
    rng = np.random.default_rng(12)
    cov, cross, variance, _ = random_problem(rng)
    full = oracle.error(cov, cross, variance, range(6))
    kept = oracle.error(cov, cross, variance, [1, 4])
    nu = 0.5 * np.log(kept / full)
    growth = bounds.GaussianBound(variance, full).growth(float(nu))
    assert growth == pytest.approx(bounds.LinearModel(cov, cross).growth([0, 2, 3, 5]), rel=SOLVED)


def test_uncorrelated_blocks():
    rng = np.random.default_rng(13)
    for _ in range(300):
        corr, cross, removed = oracle.uncorrelated_blocks(rng)
        got = 2.5 * bounds.LinearModel(corr, cross).growth_uncorrelated(removed)
        exact = oracle.growth(corr * 4.0, cross * 2.0 * np.sqrt(2.5), removed)
        assert got == pytest.approx(exact, rel=1e-7, abs=1e-9)
    independent = bounds.LinearModel(np.eye(3), [0.3, 0.4, 0.5]).growth_uncorrelated([0, 1])
    assert independent == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("cov", "cross", "removed", "message"),
    [
        (np.eye(3), [1.0, 2.0], [0], r"fit cross_covariance, got \(3, 3\) and \(2,\)"),
        (np.array([[1.0, 0.5], [0.1, 1.0]]), [1.0, 2.0], [0], "covariance must be symmetric"),
        (np.diag([1.0, -1.0]), [1.0, 2.0], [0], "negative variance on its diagonal"),
        (np.diag([1.0, np.nan]), [1.0, 2.0], [0], "must be finite"),
        (np.eye(2), [1.0, 2.0], [2], "removed must be distinct indices below 2"),
        (np.eye(2), [1.0, 2.0], [1, 1], "removed must be distinct indices below 2"),
    ],
)
def test_refusals(cov, cross, removed, message):
    with pytest.raises(ParameterError, match=message):
        bounds.LinearModel(cov, cross).growth(removed)


def test_correlated_blocks_are_refused():
    with pytest.raises(ParameterError, match="use growth, which needs no such condition"):
        bounds.LinearModel([[1.0, 0.5], [0.5, 1.0]], [0.1, 0.2]).growth_uncorrelated([0, 1])
