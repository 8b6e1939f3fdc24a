"""scikit-learn's own checks, for every selector, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pinsker.exceptions import DataWarning
from pinsker.selection import BackwardElimination, ForwardSelection, LinearElimination


# Some checks draw tables whose classes have one row, which is worth a warning to a user.
@pytest.mark.filterwarnings(f"ignore::{DataWarning.__module__}.{DataWarning.__name__}")
@parametrize_with_checks(
    [
        BackwardElimination(),
        ForwardSelection(),
        LinearElimination(),
        LinearElimination(direction="forward"),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
