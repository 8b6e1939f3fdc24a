"""Stage: from nats to error and back. One pure function per theorem, and its inverse.

Growths take the information lost and answer how much the ideal error can grow at most; budgets
take a growth and answer how much information may be lost. Formulas, validity, proofs and advice on
which one to use are in ``docs/bounds.md``; mistakes of the paper in ``docs/errata.md``.
"""

from pinsker.bounds._classification import classification_budget, classification_growth
from pinsker.bounds._error_rate import (
    binary_budget,
    binary_growth,
    pinsker_budget,
    pinsker_growth,
    vajda_budget,
    vajda_growth,
)
from pinsker.bounds._error_rate_known import (
    full_error_budget,
    full_error_growth,
    kept_error_budget,
    kept_error_growth,
    least_information,
    sharp_budget,
    sharp_growth,
)
from pinsker.bounds._gaussian import (
    entropy_power,
    gaussian_regression_budget,
    gaussian_regression_growth,
    largest_entropy,
)
from pinsker.bounds._losses import (
    absolute_error_budget,
    absolute_error_growth,
    bounded_loss_budget,
    bounded_loss_growth,
    brier_budget,
    brier_growth,
    log_loss_budget,
    log_loss_growth,
)
from pinsker.bounds._range import (
    range_budget,
    range_growth,
    sharp_range_budget,
    sharp_range_growth,
)
from pinsker.bounds._regression import regression_budget, regression_growth
from pinsker.bounds._target_facts import TargetFacts
from pinsker.bounds._units import UNITS, error_growth, information_budget

__all__ = [
    "UNITS",
    "TargetFacts",
    "absolute_error_budget",
    "absolute_error_growth",
    "binary_budget",
    "binary_growth",
    "bounded_loss_budget",
    "bounded_loss_growth",
    "brier_budget",
    "brier_growth",
    "classification_budget",
    "classification_growth",
    "entropy_power",
    "error_growth",
    "full_error_budget",
    "full_error_growth",
    "gaussian_regression_budget",
    "gaussian_regression_growth",
    "information_budget",
    "kept_error_budget",
    "kept_error_growth",
    "largest_entropy",
    "least_information",
    "log_loss_budget",
    "log_loss_growth",
    "pinsker_budget",
    "pinsker_growth",
    "range_budget",
    "range_growth",
    "regression_budget",
    "regression_growth",
    "sharp_budget",
    "sharp_growth",
    "sharp_range_budget",
    "sharp_range_growth",
    "vajda_budget",
    "vajda_growth",
]
