"""The table of metrics: a row is all that a metric needs."""

import math

import numpy as np
import pytest
from sklearn.metrics import get_scorer, get_scorer_names

from pinsker import ErrorBudget, FeatureSelector
from pinsker.bounds import TargetFacts
from pinsker.exceptions import ParameterError
from pinsker.metrics import METRICS, Metric, bound_for, metric_row
from pinsker.report import summarise

FACTS = {
    "classification": TargetFacts("classification", n_classes=3, largest_prior=0.4),
    "regression": TargetFacts("regression", target_range=4.0, variance=1.5, max_abs=3.0),
}
WITH_THEORY = [(name, facts) for task, facts in FACTS.items() for name in METRICS[task]]


@pytest.fixture
def change():
    """Return a function that changes entries of a row, which is frozen for everybody else."""
    before = []

    def change_row(name, **entries):
        for entry, value in entries.items():
            before.append((metric_row(name), entry, getattr(metric_row(name), entry)))
            object.__setattr__(metric_row(name), entry, value)

    yield change_row
    for row, entry, value in reversed(before):
        object.__setattr__(row, entry, value)


@pytest.mark.parametrize(("name", "facts"), WITH_THEORY)
def test_the_range_of_a_row_is_that_of_its_bound_and_its_budgets(name, facts):
    most = metric_row(name).largest_increase
    assert bound_for(name, facts).most == most
    assert bound_for(name, facts).growth(1e6) <= most
    if math.isinf(most):
        assert ErrorBudget(1.5, metric=name).delta == 1.5
    else:
        with pytest.raises(ParameterError, match=f"in metric '{name}', which ends at {most:g}"):
            ErrorBudget(1.5 * most, metric=name)


@pytest.mark.parametrize(("name", "facts"), WITH_THEORY)
def test_the_largest_loss_of_a_row_limits_means_and_what_rare_rows_add(name, facts):
    largest = metric_row(name).largest_loss_of(facts)
    assert Metric(name).rare_rows(facts, 300) == 0.01 * largest
    upper = Metric(name).upper_bound(np.full(50, 0.2), facts, 0.95)
    assert 0.2 < upper <= largest
    assert math.isfinite(upper) == math.isfinite(largest)


def test_a_range_stands_once(change):
    # Before, it stood in three tables: one left out, and the slider or the rare rows were wrong.
    change("brier", largest_increase=0.3, largest_loss=0.25, best=1.0, words="skill")
    facts = FACTS["classification"]
    with pytest.raises(ParameterError, match=r"ends at 0\.3: use a budget from 0 to 0\.3"):
        ErrorBudget(0.4, metric="brier")
    assert bound_for("brier", facts).growth(10.0) == 0.3
    assert Metric("brier").rare_rows(facts, 300) == pytest.approx(0.0025)
    assert Metric("brier").upper_bound(np.zeros(9), facts, 0.95) <= 0.25
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    fitted = FeatureSelector(0.02, metric="brier").fit(X, X[:, 0] > 0)
    certificate = fitted.certificate_
    assert certificate.error_none - certificate.error_all > 0.3  # where the slider ended
    assert max(summarise(fitted)["choices"]["budgets"]) == 0.3
    assert certificate.rare_rows == pytest.approx(3 / certificate.n_rows * 0.25)
    assert "skill may fall by 0.02" in str(certificate)


def test_rows_know_the_signs_of_scorers():
    for name in get_scorer_names():
        row = metric_row(name)
        if not row.refused and not row.losses:
            assert (row.best is None) == (get_scorer(name)._sign < 0), name


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("auc", "roc_auc"), ("rmse", "neg_root_mean_squared_error"), ("accuracy", "error"),
        ("logloss", "log-loss"), ("log_loss", "log-loss"), ("f1", "f1"),
        ("worst auc", "worst roc_auc"),
    ],
)  # fmt: skip
def test_names_that_people_type(alias, name):
    assert Metric(alias) == Metric(name)
    assert Metric(alias).name == name


def test_a_function_with_the_name_of_one_of_ours_is_not_ours():
    def error(y_true, y_score):
        return 5.0

    metric = Metric(error)
    assert (metric.name, metric.has_theory) == ("error", False)
    assert ErrorBudget(3.0, metric=error).delta == 3.0
    assert metric.upper_bound(np.zeros(50), FACTS["classification"], 0.95) == math.inf
