"""scikit-learn's own checks, for every selector, with no expected failure."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator as checks_of
from sklearn.utils.validation import has_fit_parameter

import pinsker
from pinsker.exceptions import DataWarning
from pinsker.selectors import (
    BackwardElimination,
    CriterionSelection,
    FeatureSelector,
    ForwardBackwardSelection,
    ForwardSelection,
    LinearSelection,
    Selector,
)

SELECTORS = [
    BackwardElimination(),
    BackwardElimination(cv=2, models=["linear"]),
    CriterionSelection(),
    FeatureSelector(cv=2, models=["linear"]),
    FeatureSelector(),
    FeatureSelector(searches=["linear", "jmi"], cv=2, models=["linear"]),
    ForwardBackwardSelection(),
    ForwardSelection(),
    LinearSelection(),
    LinearSelection(direction="forward"),
]
#: What cross-fitting adds to one search is in the checks of FeatureSelector.
SLOW = [SELECTORS[1], SELECTORS[3], SELECTORS[4]]
#: Checks that run by default for the default estimator, too. They compare which columns stay: the
#: figures of a row of weight two and of a row that is there twice differ, as folds are others.
OF_WEIGHTS = "check_sample_weight_equivalence"


def cases():
    """Every check of every selector; parametrize_with_checks of 1.6 does not get on with pytest."""
    for selector in SELECTORS:
        for estimator, check in checks_of(selector):
            name = getattr(check, "func", check).__name__
            is_slow = selector in SLOW and not name.startswith(OF_WEIGHTS)
            marks = [pytest.mark.slow] if is_slow else []
            yield pytest.param(estimator, check, id=f"{selector}-{name}", marks=marks)


# Some checks draw tables whose classes have one row, which is worth a warning to a user.
@pytest.mark.filterwarnings(f"ignore::{DataWarning.__module__}.{DataWarning.__name__}")
@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_rows_of_weight_zero_are_rows_that_are_not_there():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(120, 3)), rng.integers(0, 3, 120)
    y = (X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int)
    there = weights > 0
    whole = FeatureSelector(random_state=0).fit(X, y, sample_weight=weights)
    some = FeatureSelector(random_state=0).fit(X[there], y[there], sample_weight=weights[there])
    np.testing.assert_array_equal(whole.ranking_, some.ranking_)
    assert whole.certificate_.error_kept == some.certificate_.error_kept


def test_every_selector_is_checked():
    public = [getattr(pinsker, name) for name in pinsker.__all__]
    kinds = {kind for kind in public if isinstance(kind, type) and issubclass(kind, Selector)}
    assert kinds == {type(selector) for selector in SELECTORS}


def test_the_checks_of_weights_are_among_them():
    takes = [one for one in SELECTORS if has_fit_parameter(one, "sample_weight")]
    assert {type(one) for one in takes} == {FeatureSelector, CriterionSelection, LinearSelection}
    for selector in takes:
        names = {getattr(check, "func", check).__name__ for _, check in checks_of(selector)}
        assert {"check_sample_weights_shape", "check_sample_weights_not_overwritten"} <= names
        assert any(name.startswith(OF_WEIGHTS) for name in names)


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_few_parameters(selector):
    # Experts' settings sit in frozen objects; version 0.1 had up to 23 parameters, 0.2 had 18.
    # `confidence` and `subgroups` are questions of users, not settings of experts.
    most = 19
    assert len(selector.get_params(deep=False)) <= most
