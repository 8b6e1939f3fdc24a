"""scikit-learn's own checks, for every selector, with no expected failure."""

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
    FeatureSelector(searches=["linear", "jmi"], cv=2, models=["linear"]),
    ForwardBackwardSelection(),
    ForwardSelection(),
    LinearSelection(),
    LinearSelection(direction="forward"),
]
#: What cross-fitting adds to one search is in the checks of FeatureSelector.
SLOW = [SELECTORS[1], SELECTORS[3]]


def cases():
    """Every check of every selector; parametrize_with_checks of 1.6 does not get on with pytest."""
    for selector in SELECTORS:
        for estimator, check in checks_of(selector):
            name = getattr(check, "func", check).__name__
            marks = [pytest.mark.slow] if selector in SLOW else []
            yield pytest.param(estimator, check, id=f"{selector}-{name}", marks=marks)


# Some checks draw tables whose classes have one row, which is worth a warning to a user.
@pytest.mark.filterwarnings(f"ignore::{DataWarning.__module__}.{DataWarning.__name__}")
@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_scikit_learn_contract(estimator, check):
    check(estimator)


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
        assert any(name.startswith("check_sample_weight_equivalence") for name in names)


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_few_parameters(selector):
    # Experts' settings sit in frozen objects; version 0.1 had up to 23 parameters.
    most = 18
    assert len(selector.get_params(deep=False)) <= most
