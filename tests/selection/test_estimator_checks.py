"""scikit-learn's own checks for the selectors that evaluate on held-out rows: none may fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pinsker.exceptions import DataWarning
from pinsker.selection import BackwardElimination, FeatureSelector, ForwardBackwardSelection


# Some checks draw tables whose classes have one row, which is worth a warning to a user.
@pytest.mark.filterwarnings(f"ignore::{DataWarning.__module__}.{DataWarning.__name__}")
@parametrize_with_checks(
    [
        FeatureSelector(
            searches=["forward-backward", "linear", "relevance"], cv=2, models=["linear"]
        ),
        ForwardBackwardSelection(),
        BackwardElimination(cv=2, models=["linear"]),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
