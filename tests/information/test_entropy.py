"""Entropy: what it refuses, and its terms against a loop."""

import math

import numpy as np
import pytest
from scipy.special import digamma

from pinsker import entropy
from pinsker.exceptions import DataError, ParameterError
from pinsker.information._entropy import neighbor_entropy


def slow_entropy(rows, k):
    """Kozachenko-Leonenko by loops: psi(n) - psi(k) + d ln 2 + d <ln rho>."""
    n, d = rows.shape
    logs = []
    for i in range(n):
        distances = sorted(max(abs(rows[i] - rows[j])) for j in range(n) if j != i)
        logs.append(math.log(distances[k - 1]))
    return digamma(n) - digamma(k) + d * math.log(2) + d * sum(logs) / n


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_entropy_equals_the_loop(d, k):
    rows = np.random.default_rng(d).normal(size=(25, d)) * np.arange(1, d + 1)
    assert entropy(rows, n_neighbors=k, scale="none") == pytest.approx(
        slow_entropy(rows, k), abs=1e-12
    )
    spread = rows.std(axis=0)
    expected = slow_entropy(rows / spread, k) + math.log(np.prod(spread))
    assert entropy(rows, n_neighbors=k) == pytest.approx(expected, abs=1e-12)


def test_cells_are_searched_one_by_one():
    rows = np.random.default_rng(0).normal(size=(30, 1))
    cells = np.arange(30) % 3
    found = neighbor_entropy(rows, cells, k=2, standardize=False)
    expected = np.mean([slow_entropy(rows[cells == c], 2) for c in range(3)])
    assert found.value == pytest.approx(expected, abs=1e-12)


def test_a_small_cell_uses_the_neighbors_it_has_and_a_single_row_none():
    rows = np.array([[0.0], [1.0], [3.0], [5.0]])
    found = neighbor_entropy(rows, np.array([0, 0, 0, 1]), k=3, standardize=False)
    assert found.n_alone == 1
    assert found.value == pytest.approx(slow_entropy(rows[:3], 2), abs=1e-12)


def test_repeated_values_have_no_differential_entropy():
    rows = np.round(np.random.default_rng(0).normal(size=200), 1)
    with pytest.raises(DataError, match=r"\d+ of 200 rows of x have 3 or more exact copies"):
        entropy(rows)
    assert entropy(rows, categorical_features="nominal") > 0


def test_a_pair_of_equal_values_is_harmless():
    rows = np.random.default_rng(0).normal(size=50)
    rows[1] = rows[0]
    assert math.isfinite(entropy(rows))


def test_what_has_no_entropy():
    x = np.random.default_rng(0).normal(size=20)
    with pytest.raises(ParameterError, match=r"scale='copula' is not known \(an entropy has its"):
        entropy(x, scale="copula")
    with pytest.raises(ParameterError, match="method='ksg2' is not known: use one of auto, knn"):
        entropy(x, method="ksg2")
    with pytest.raises(ParameterError, match="no column of x is continuous"):
        entropy(["a", "b"] * 5, method="knn")
    with pytest.raises(DataError, match="continuous column with missing='category'"):
        entropy([1.5, 2.5, None, 0.1, 7.5], missing="category")
    with pytest.raises(DataError, match="column 'x' of x is continuous: bin it"):
        entropy(x, method="discrete")
    with pytest.raises(ParameterError, match="n_neighbors=20 needs at least 21 rows"):
        entropy(x, n_neighbors=20)


def test_missing_values_can_be_a_category_of_discrete_columns():
    x = ["a", None] * 20
    assert entropy(x, missing="category", correction="none") == pytest.approx(math.log(2))


def test_details():
    found = entropy(["a", "b"] * 20, return_details=True)
    assert found.method == "discrete"
    assert str(found.notes[0]) == "method='auto' chose 'discrete'"
    assert found.n_samples == 40
    assert found.standard_error > 0
    x = np.random.default_rng(0).normal(size=(100, 2))
    assert entropy(x, return_details=True).method == "knn"
    assert entropy(x, method="gaussian", return_details=True).standard_error > 0


def test_only_discrete_entropies_are_clipped():
    x = np.random.default_rng(0).normal(size=50) / 100
    assert entropy(x) < 0
    assert entropy(x, clip=True) == entropy(x)
