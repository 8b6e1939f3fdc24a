"""The kNN terms against the slow twin and against other libraries."""

import numpy as np
import pytest
from sklearn.feature_selection._mutual_info import _compute_mi_cc, _compute_mi_cd

from engine.tables import NOMINAL_STEP, random_table
from oracles import knn as oracle
from pinsker.exceptions import ParameterError
from pinsker.information._estimators import knn_terms

SLOW_TWINS = {"knn": oracle.terms, "ksg2": oracle.ksg2_terms, "gao": oracle.gao_terms}


@pytest.mark.parametrize("method", SLOW_TWINS)
@pytest.mark.parametrize("batch", range(10))
def test_terms_equal_the_oracle(method, batch):
    for number in range(25):
        x, y, z, k = random_table(9_000_000 + 1000 * batch + number, most_rows=16)
        condition = z if z.shape[1] else None
        by_definition = SLOW_TWINS[method](x, y, condition, k)
        # Same integers in, so only the rounding of a few digammas and their sum differs.
        given = knn_terms(x, y, condition, k=k, method=method).terms
        np.testing.assert_allclose(given, by_definition, rtol=0, atol=1e-13, err_msg=f"{number}")


@pytest.mark.parametrize("batch", range(10))
def test_ceiling_equals_the_oracle_and_is_one(batch):
    for number in range(20):
        x, y, z, k = random_table(4_000_000 + 1000 * batch + number, most_rows=16)
        condition = z if z.shape[1] else None
        found = knn_terms(x, y, condition, k=k)
        bounds = oracle.ceilings(x, y, condition, k)
        assert found.ceiling == pytest.approx(bounds.mean(), abs=1e-12)
        assert (found.terms <= bounds + 1e-12).all()
        for method in ("ksg2", "gao"):
            other = knn_terms(x, y, condition, k=k, method=method)
            assert other.value <= other.ceiling + 1e-12


def test_ceiling_without_condition_and_with_classes():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 1))
    assert knn_terms(x, x, None, k=3).value == pytest.approx(knn_terms(x, x, None, k=3).ceiling)
    classes = np.repeat([0.0, NOMINAL_STEP], 25)[:, None]
    apart = x + classes / NOMINAL_STEP * 100
    found = knn_terms(apart, classes, None, k=3)  # x determines the class: the ceiling is reached
    assert found.value == pytest.approx(found.ceiling)
    assert found.ceiling == pytest.approx(np.log(2), abs=0.02)  # ψ(50) - ψ(25) = ln 2 + 1/100 + ...


@pytest.mark.parametrize("k", [1, 3, 10])
def test_equal_to_scikit_learn_on_numbers(k, seed):
    rng = np.random.default_rng(seed)
    x, noise = rng.normal(size=(2, 500))
    y = x + noise
    given = knn_terms(x[:, None], y[:, None], None, k=k).value
    assert given == pytest.approx(_compute_mi_cc(x, y, k), abs=1e-9)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_equal_to_scikit_learn_on_classes(k, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=500)
    labels = np.digitize(x + rng.normal(size=500), [-0.5, 1.0])
    given = knn_terms(x[:, None], labels[:, None] * NOMINAL_STEP, None, k=k).value
    assert given == pytest.approx(_compute_mi_cd(x, labels, k), abs=1e-9)


@pytest.mark.parametrize(("n_z", "k"), [(1, 3), (2, 10), (4, 5)])
def test_equal_to_tigramite(n_z, k, seed):
    """To 1e-6: tigramite adds noise of 1e-6 standard deviations to break ties."""
    cmiknn = pytest.importorskip("tigramite.independence_tests.cmiknn", exc_type=ImportError)
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(300, n_z))
    x, y = z[:, :1] + rng.normal(size=(2, 300, 1))
    columns = np.hstack([x, y, z])
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    theirs = cmiknn.CMIknn(knn=k, transform="standardize", workers=1, seed=0)
    codes = np.array([0, 1] + [2] * n_z)
    expected = theirs.get_dependence_measure(columns.T.copy(), codes)
    x, y, z = (np.ascontiguousarray(columns[:, part]) for part in ([0], [1], range(2, 2 + n_z)))
    assert knn_terms(x, y, z, k=k).value == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("method", SLOW_TWINS)
@pytest.mark.parametrize("with_classes", [False, True])
def test_same_bits_for_any_number_of_threads(method, with_classes):
    rng = np.random.default_rng(2)
    x, y, z = rng.normal(size=(3, 2000, 2))
    y = np.digitize(y[:, :1], [0.0]) * NOMINAL_STEP if with_classes else y
    one = knn_terms(x, y, z, k=3, method=method)
    for n_threads in (2, 16):
        several = knn_terms(x, y, z, k=3, method=method, n_threads=n_threads)
        np.testing.assert_array_equal(several.terms, one.terms)
        assert several.ceiling == one.ceiling


@pytest.mark.parametrize("method", SLOW_TWINS)
def test_methods_see_what_is_there(method, seed):
    """I = ½ ln 2 = 0.347 for y = x + noise; the standard error at n = 4000 is about 0.015."""
    rng = np.random.default_rng(seed)
    x, noise, other = rng.normal(size=(3, 4000, 1))
    assert knn_terms(x, x + noise, None, k=5, method=method).value == pytest.approx(0.347, abs=0.08)
    assert knn_terms(x, other, noise, k=5, method=method).value == pytest.approx(0.0, abs=0.08)


def test_ksg2_on_classes_is_knn():
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=(2, 200, 1))
    classes = np.digitize(x, [0.0]) * NOMINAL_STEP
    for condition in (None, z):
        plain = knn_terms(x, classes, condition, k=3)
        second = knn_terms(x, classes, condition, k=3, method="ksg2")
        np.testing.assert_array_equal(second.terms, plain.terms)
        assert second.n_tied == plain.n_tied


def test_numbers_of_tied_and_lonely_rows():
    x = np.array([[0.0], [0.0], [0.0], [1.0], [2.1], [3.3]])
    y = np.array([0, 0, 0, 0, 0, 1])[:, None] * NOMINAL_STEP
    found = knn_terms(x, y, None, k=2)
    assert found.n_alone == 1
    assert found.terms[-1] == 0.0
    assert found.n_tied == 5  # three equal rows, and two that have all three on their radius


def test_no_columns_in_x_carry_nothing():
    for x in (None, np.empty((4, 0))):
        found = knn_terms(x, np.arange(4.0)[:, None], None, k=1)
        assert (found.value, found.ceiling) == (0.0, 0.0)


def test_k_below_one_is_an_error():
    with pytest.raises(ParameterError, match="n_neighbors=0 is too few: use at least 1"):
        knn_terms(None, np.zeros((3, 1)), None, k=0)


@pytest.mark.parametrize("method", SLOW_TWINS)
def test_resolution_is_reached_when_x_is_y(method, seed):
    x, z = np.random.default_rng(seed).normal(size=(2, 300, 1))
    for condition in (None, z):
        found = knn_terms(x, x, condition, k=3)
        assert found.value == pytest.approx(found.resolution, abs=1e-12)
    wide = np.random.default_rng(seed).normal(size=(300, 12))
    # Twelve columns of x: the ceiling, ψ(300) - ψ(3) = 4.8, knows nothing of them. The relatives of
    # "knn" count in other balls, so that their estimates may exceed its resolution a little.
    found = knn_terms(wide, wide[:, :1].copy(), None, k=3, method=method)
    assert found.value <= found.resolution + 0.05 < found.ceiling - 1
