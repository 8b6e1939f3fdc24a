"""Metrics: losses row by row, against scikit-learn's, and bounds of their means."""

import numpy as np
import pytest
from sklearn import metrics

from pinsker.bounds import TargetFacts
from pinsker.exceptions import ParameterError
from pinsker.metrics import Metric, task_of


@pytest.fixture
def classes(seed):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(3), size=50)
    return probabilities, rng.integers(0, 3, size=50)


@pytest.fixture
def numbers(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(3.0, 2.0, size=(50, 1))
    return values + rng.normal(size=(50, 1)), values


def test_losses_of_classes_are_those_of_scikit_learn(classes):
    probabilities, labels = classes
    logs = np.log(probabilities)
    predicted = probabilities.argmax(axis=1)
    error = Metric("error").of_classes(logs, labels)
    assert error.mean() == pytest.approx(1 - metrics.accuracy_score(labels, predicted))
    assert set(error) <= {0.0, 1.0}
    log_loss = Metric("log-loss").of_classes(logs, labels).mean()
    assert log_loss == pytest.approx(metrics.log_loss(labels, probabilities))
    one_hot = labels[:, None] == np.arange(3)
    brier = Metric("brier").of_classes(logs, labels)
    np.testing.assert_allclose(brier, np.square(probabilities - one_hot).sum(axis=1))


def test_scores_decide_the_class_where_they_are_given(classes):
    probabilities, labels = classes
    scores = np.eye(3)[labels]
    assert Metric("error").of_classes(np.log(probabilities), labels, scores).sum() == 0


def test_losses_of_numbers_are_those_of_scikit_learn(numbers):
    predicted, values = numbers
    mse = Metric("mse").of_numbers(predicted, values).mean()
    assert mse == pytest.approx(metrics.mean_squared_error(values, predicted))
    r2 = Metric("r2").of_numbers(predicted, values).mean()
    assert r2 == pytest.approx(1 - metrics.r2_score(values, predicted))
    mae = Metric("mae").of_numbers(predicted, values).mean()
    assert mae == pytest.approx(metrics.mean_absolute_error(values, predicted))
    half = Metric("r2").of_numbers(predicted, values, 2 * values).mean()
    assert half == pytest.approx(r2 / 4)


def test_several_targets_are_averaged(numbers):
    predicted, values = (np.hstack([part, 2 * part]) for part in numbers)
    mse = Metric("mse").of_numbers(predicted, values).mean()
    assert mse == pytest.approx(2.5 * metrics.mean_squared_error(*numbers))


def test_an_increase_is_paired_by_rows():
    rng = np.random.default_rng(0)
    full = (rng.random(200) < 0.3).astype(float)
    less = np.maximum(full, rng.random(200) < 0.1)
    increase = Metric("error").increase(less, full, 0.95)
    assert increase.mean == pytest.approx(less.mean() - full.mean())
    assert increase.lower <= increase.mean <= increase.upper
    same = Metric("mse").increase(full, full, 0.95)
    assert same.mean == 0.0


def test_upper_bounds_of_a_mean():
    facts = TargetFacts("regression", target_range=4.0, variance=2.0, max_abs=3.0)
    losses = np.full(100, 0.2)
    for name, limit in (("error", 1.0), ("brier", 2.0), ("mse", 16.0), ("r2", 8.0), ("mae", 4.0)):
        upper = Metric(name).upper_bound(losses, facts, 0.95)
        assert 0.2 < upper <= limit, name
    assert Metric("log-loss").upper_bound(losses, facts, 0.95) == float("inf")


def test_names_and_tasks():
    assert Metric("mse") == Metric("mse")
    with pytest.raises(ParameterError, match=r"metric='rms' is not known: use 'auto', .*'rmse'"):
        Metric("rms")
    tasks = {name: task_of(name) for name in ("error", "brier", "r2", "mse", "mae", "log-loss")}
    assert tasks == {
        "error": "classification", "brier": "classification", "r2": "regression",
        "mse": "regression", "mae": "regression", "log-loss": "auto",
    }  # fmt: skip
