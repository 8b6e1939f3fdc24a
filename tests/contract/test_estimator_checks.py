"""scikit-learn's own checks, for every selector, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from pinsker.exceptions import DataWarning
from pinsker.selection import BackwardElimination, ForwardSelection, LinearElimination

SELECTORS = [
    BackwardElimination(),
    ForwardSelection(),
    LinearElimination(),
    LinearElimination(direction="forward"),
]


def cases():
    """Every check of every selector; parametrize_with_checks of 1.6 does not get on with pytest."""
    for selector in SELECTORS:
        for estimator, check in estimator_checks_generator(selector):
            name = getattr(check, "func", check).__name__
            yield pytest.param(estimator, check, id=f"{selector}-{name}")


# Some checks draw tables whose classes have one row, which is worth a warning to a user.
@pytest.mark.filterwarnings(f"ignore::{DataWarning.__module__}.{DataWarning.__name__}")
@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_scikit_learn_contract(estimator, check):
    check(estimator)
