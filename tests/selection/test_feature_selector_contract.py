"""scikit-learn's own checks for the selectors that judge on held-out rows: none may fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pinsker.exceptions import DataWarning
from pinsker.selection import BackwardElimination, FeatureSelector, GrowShrink


# Some checks draw tables whose classes have one row, which is worth a warning to a user.
@pytest.mark.filterwarnings(f"ignore::{DataWarning.__module__}.{DataWarning.__name__}")
@parametrize_with_checks(
    [
        FeatureSelector(
            paths=["grow-shrink", "linear", "relevance"], folds=2, witnesses=["linear"]
        ),
        GrowShrink(),
        BackwardElimination(folds=2, witnesses=["linear"]),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
