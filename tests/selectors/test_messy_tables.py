"""The front door on sparse tables, constants and identifiers."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pinsker import FeatureSelector


def selector(**more):
    settings = {"searches": ["linear"], "models": ["linear"], "cv": 3, "random_state": 0}
    return FeatureSelector(0.1, **(settings | more))


@pytest.fixture(scope="module")
def counts():
    return draw(0)


def draw(seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.5, size=(240, 8)).astype(float)
    X[:, 3] = 0.0
    y = (X[:, 0] + X[:, 5] + 0.3 * rng.normal(size=240) > 0.7).astype(int)
    return X, y


def test_sparse_tables_give_the_set_of_their_dense_twin(counts):
    X, y = counts
    found, dense = selector().fit(sparse.csr_array(X), y), selector().fit(X, y)
    np.testing.assert_array_equal(found.support_, dense.support_)
    np.testing.assert_array_equal(found.ranking_, dense.ranking_)
    assert set(np.flatnonzero(found.support_)) >= {0, 5}
    reduced = found.transform(sparse.csr_array(X))
    assert sparse.issparse(reduced)
    np.testing.assert_array_equal(reduced.toarray(), X[:, found.support_])
    fresh, labels = draw(1)
    certificates = [one.certify(table, labels) for one, table in
                    ((found, sparse.csc_array(fresh)), (dense, fresh))]  # fmt: skip
    assert str(certificates[0]) == str(certificates[1])


def test_constants_are_never_kept_unless_fixed(counts):
    X, y = counts
    # A budget of 0 keeps everything that there is.
    found = selector().set_params(error_budget=0.0, models=["svm"]).fit(X, y)
    assert not found.support_[3]
    assert found.ranking_[3] == found.ranking_.max()
    assert "constant, or no value repeats, so left out before the search: 'x3'" in list(
        map(str, found.notes_)
    )
    assert all(mask.shape == (8,) and not mask[3] for mask in found.cv_results_["support"])
    assert found.feature_columns_ == ((0,), (1,), (2,), (4,), (5,), (6,), (7,))
    fixed = selector(fixed_features=[3]).fit(X, y)
    assert fixed.support_[3]


def test_identifiers_are_named_and_not_kept(counts):
    X, y = counts
    table = with_names(X, "person")
    found = selector(searches=["jmi", "linear", "backward"]).fit(table, y)
    assert not found.support_[0]
    assert {1, 6} <= set(np.flatnonzero(found.support_))
    named = [note for note in found.notes_ if "'who'" in note]
    assert list(map(str, named)) == [
        "constant, or no value repeats, so left out before the search: 'who', '3'"
    ]
    fresh, labels = draw(1)
    assert found.certify(with_names(fresh, "other"), labels).n_features == 7


def with_names(X, start):
    table = pd.DataFrame(X).rename(columns=str)
    table.insert(0, "who", [f"{start} {i}" for i in range(len(X))])
    return table
