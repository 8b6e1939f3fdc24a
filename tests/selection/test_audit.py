"""The audit of a choice by the user's own model."""

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVC

from pinsker import BackwardElimination, FeatureCount, audit
from pinsker.datasets import NoisyXor
from pinsker.exceptions import DataError, ParameterError
from pinsker.testing import Friedman

PROBLEM = NoisyXor(n_columns=5)


@pytest.fixture(scope="module")
def selector():
    return BackwardElimination(error_budget=0.05).fit(*PROBLEM.sample(300, seed=0))


def test_with_training_rows_it_is_two_fits(selector):
    train, test = PROBLEM.sample(300, seed=0), PROBLEM.sample(500, seed=1)
    result = audit(selector, SVC(), *test, X_train=train.X, y_train=train.y)
    full = SVC().fit(*train).predict(test.X) != test.y
    kept = selector.support_
    small = SVC().fit(train.X[:, kept], train.y).predict(test.X[:, kept]) != test.y
    assert result.loss_all == full.mean()
    assert result.loss_kept == small.mean()
    assert result.growth == pytest.approx(small.mean() - full.mean())
    assert (result.n_kept, result.n_features, result.budget) == (2, 5, 0.05)
    assert result.held
    assert result.verdict == "kept"


def test_without_training_rows_it_holds_out_in_turn(selector):
    result = audit(selector, SVC(), *PROBLEM.sample(400, seed=2))
    assert result.n_rows == 400
    assert result.growth_lower <= result.growth <= result.growth_upper
    assert json.loads(result.to_json())["verdict"] == result.verdict
    assert "SVC on 400 rows: error" in str(result)


def test_a_broken_promise_is_seen():
    wrong = BackwardElimination(stop=FeatureCount(1)).fit(*PROBLEM.sample(300, seed=0))
    wrong.set_params(stop=None)
    result = audit(wrong, SVC(), *PROBLEM.sample(600, seed=1))
    assert not result.held
    assert result.verdict == "not kept"


def test_numbers():
    problem = Friedman(n_columns=6)
    selector = BackwardElimination(error_budget=0.1).fit(*problem.sample(300, seed=0))
    train, test = problem.sample(300, seed=0), problem.sample(300, seed=1)
    forest = RandomForestRegressor(20, random_state=0)
    result = audit(selector, forest, *test, X_train=train.X, y_train=train.y)
    assert result.unit == "r2"
    assert 0.0 < result.loss_all < 0.6
    fold = audit(selector, LinearRegression(), *test)
    assert 0.0 < fold.loss_all < 0.6


def test_what_cannot_be_audited(selector):
    X, y = PROBLEM.sample(30, seed=1)
    with pytest.raises(ParameterError, match="X_train and y_train together"):
        audit(selector, SVC(), X, y, X_train=X)
    with pytest.raises(DataError, match="found 6 test rows, too few for 5 folds"):
        audit(selector, SVC(), X[:6], np.arange(6) % 2)
