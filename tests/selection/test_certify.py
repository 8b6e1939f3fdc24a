"""Certificates from fresh rows: the walk along the path, and what it leaves behind."""

import json

import numpy as np
import pytest

from pinsker import BackwardElimination, ErrorBudget, FeatureCount, FeatureSelector
from pinsker.datasets import NoisyXor
from pinsker.exceptions import DataError, ParameterError
from pinsker.testing import RedundantLinear

LINEAR = ["linear"]
PROBLEM = RedundantLinear()


def fitted(budget=0.1, seed=0, **options):
    X, y = PROBLEM.sample(300, seed=seed)
    return BackwardElimination(error_budget=budget, witnesses=LINEAR, **options).fit(X, y)


def test_a_sound_choice_is_kept():
    selector = fitted(budget=0.1, folds=5)
    before = selector.support_.copy()
    certificate = selector.certify(*PROBLEM.sample(1500, seed=1))
    assert certificate.verdict == "kept"
    assert selector.certificate_ is certificate
    np.testing.assert_array_equal(selector.support_, before)
    assert certificate.n_kept == before.sum()
    assert certificate.source == "that the search never saw"
    assert certificate.growth_upper <= 0.1
    assert certificate.ideal_growth_upper <= 0.1
    assert json.loads(certificate.to_json())["n_rows"] == 1500


def test_the_walk_ends_where_the_rows_no_longer_support_it():
    # Two features of a problem that needs four: the walk must stop above.
    X, y = PROBLEM.sample(400, seed=0)
    selector = BackwardElimination(stop=ErrorBudget(0.4), witnesses=LINEAR).fit(X, y)
    assert selector.support_.sum() <= 2
    wanted = int(selector.support_.sum())
    selector.set_params(stop=ErrorBudget(0.03))
    certificate = selector.certify(*PROBLEM.sample(1500, seed=1))
    assert certificate.verdict == "kept"
    assert certificate.n_kept == selector.support_.sum() > wanted
    assert any(
        f"the {wanted} features of the search were not reached" in n for n in certificate.notes
    )
    order = selector.path_.order
    assert set(np.flatnonzero(selector.support_)) == set(order[: certificate.n_kept])


def test_too_few_rows_resolve_nothing_and_change_nothing():
    selector = fitted(budget=0.02)
    before = selector.support_.copy()
    certificate = selector.certify(*PROBLEM.sample(40, seed=1))
    assert certificate.verdict == "not resolved"
    assert certificate.resolvable > 0.02
    np.testing.assert_array_equal(selector.support_, before)


def test_a_bad_choice_is_called_bad():
    problem = NoisyXor(n_columns=4)
    X, y = problem.sample(300, seed=0)
    selector = FeatureSelector(paths=[("wrong", [2, 3])], witnesses=["svm"]).fit(X, y)
    certificate = selector.certify(*problem.sample(800, seed=1))
    assert certificate.verdict == "not kept"
    assert certificate.growth_lower > 0.05


def test_shuffled_columns_make_the_reference_fair():
    # 60 columns of noise cost the model of all features dearly; a set that lost a cause looks
    # harmless against it, and not against a model that pays for as many columns.
    problem = RedundantLinear(n_copies=0, n_noise=60)
    selector = BackwardElimination(stop=FeatureCount(3), witnesses=LINEAR)
    selector.fit(*problem.sample(200, seed=0)).set_params(stop=ErrorBudget(0.05))
    certificate = selector.certify(*problem.sample(250, seed=1))
    assert certificate.ideal_growth > certificate.growth


def test_what_cannot_be_certified():
    selector = fitted()
    X, y = PROBLEM.sample(100, seed=1)
    with pytest.raises(DataError, match="X has 5 columns, but the selector was fitted to 20"):
        selector.certify(X[:, :5], y)
    with pytest.raises(DataError, match="found 6 fresh rows, too few"):
        selector.certify(X[:6], np.arange(6) % 2)
    with pytest.raises(ParameterError, match="confidence must be at least"):
        selector.certify(X, y, confidence=1.5)
    selector.set_params(stop=FeatureCount(3))
    with pytest.raises(ParameterError, match="certify needs an error budget to test"):
        selector.certify(X, y)


def test_numbers_are_certified_in_their_unit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 6))
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=700)
    selector = BackwardElimination(error_budget=0.05, witnesses=LINEAR).fit(X[:300], y[:300])
    certificate = selector.certify(X[300:], y[300:])
    assert certificate.unit == "r2"
    assert certificate.verdict == "kept"
    assert certificate.error_all == pytest.approx(0.25 / 2.25, rel=0.25)
