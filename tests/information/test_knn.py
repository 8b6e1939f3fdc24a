"""The kNN terms against the slow twin and against other libraries."""

import numpy as np
import pytest

from oracles import knn as oracle
from pinsker.exceptions import ParameterError
from pinsker.information._knn import knn_terms

NOMINAL_STEP = 1e200


def random_columns(rng, n, d):
    """Columns of one kind: continuous, tied, nominal or constant."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.normal(size=(n, d))
    if kind == 1:
        return rng.integers(0, 4, size=(n, d)) * 0.1
    if kind == 2:
        return rng.integers(0, 3, size=(n, d)) * NOMINAL_STEP
    return np.ones((n, d))


@pytest.mark.parametrize("table", range(200))
def test_terms_equal_the_oracle(table):
    rng = np.random.default_rng(table)
    n, k = int(rng.integers(2, 25)), int(rng.integers(1, 6))
    x, y = (random_columns(rng, n, int(rng.integers(1, 3))) for _ in range(2))
    z = None if rng.random() < 0.4 else random_columns(rng, n, int(rng.integers(1, 4)))
    # Same integers in, so only the rounding of three sums of digammas differs.
    expected = oracle.terms(x, y, z, k)
    np.testing.assert_allclose(knn_terms(x, y, z, k=k).terms, expected, rtol=0, atol=1e-13)


def test_no_columns_in_x_carry_nothing():
    found = knn_terms(None, np.arange(4.0)[:, None], None, k=1)
    assert found.value == 0.0
    assert found.ceiling == 0.0


def test_k_below_one_is_an_error():
    with pytest.raises(ParameterError, match=r"n_neighbors is 0; ask for at least 1\."):
        knn_terms(None, np.zeros((3, 1)), None, k=0)
