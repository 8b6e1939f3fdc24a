"""Stage: from nats to error and back. One pure function per theorem, and its inverse.

Growths take the information lost and answer how much the ideal error can grow at most; budgets
take a growth and answer how much information may be lost. Formulas, validity, proofs and advice on
which one to use are in ``docs/bounds.md``; mistakes of the paper in ``docs/errata.md``.
"""

from pinsker.bounds._certificate import Certificate, finite_or_none
from pinsker.bounds._classification import classification_budget, classification_growth
from pinsker.bounds._clipped import (
    clipped_budget,
    clipped_growth,
    clipped_regression_budget,
    clipped_regression_growth,
)
from pinsker.bounds._error_interval import (
    ErrorInterval,
    error_interval,
    fano_error,
    feder_merhav_error,
    hellman_raviv_error,
)
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
from pinsker.bounds._limits import (
    Difference,
    bounded_loss_limit,
    error_rate_limit,
    paired_difference,
)
from pinsker.bounds._linear import (
    linear_growth,
    linear_growth_cauchy_schwarz,
    linear_growth_each,
    linear_growth_minkowski,
    linear_growth_uncorrelated,
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
from pinsker.bounds._moments import (
    second_moment_budget,
    second_moment_growth,
    subgaussian_budget,
    subgaussian_growth,
)
from pinsker.bounds._range import (
    range_budget,
    range_growth,
    sharp_range_budget,
    sharp_range_growth,
)
from pinsker.bounds._regression import regression_budget, regression_growth
from pinsker.bounds._target_facts import TargetFacts
from pinsker.bounds._units import (
    METRIC_NAMES,
    METRICS,
    UNITS,
    Bound,
    bound_for,
    error_growth,
    information_budget,
)

__all__ = [
    "METRICS",
    "METRIC_NAMES",
    "UNITS",
    "Bound",
    "Certificate",
    "Difference",
    "ErrorInterval",
    "TargetFacts",
    "absolute_error_budget",
    "absolute_error_growth",
    "binary_budget",
    "binary_growth",
    "bound_for",
    "bounded_loss_budget",
    "bounded_loss_growth",
    "bounded_loss_limit",
    "brier_budget",
    "brier_growth",
    "classification_budget",
    "classification_growth",
    "clipped_budget",
    "clipped_growth",
    "clipped_regression_budget",
    "clipped_regression_growth",
    "entropy_power",
    "error_growth",
    "error_interval",
    "error_rate_limit",
    "fano_error",
    "feder_merhav_error",
    "finite_or_none",
    "full_error_budget",
    "full_error_growth",
    "gaussian_regression_budget",
    "gaussian_regression_growth",
    "hellman_raviv_error",
    "information_budget",
    "kept_error_budget",
    "kept_error_growth",
    "largest_entropy",
    "least_information",
    "linear_growth",
    "linear_growth_cauchy_schwarz",
    "linear_growth_each",
    "linear_growth_minkowski",
    "linear_growth_uncorrelated",
    "log_loss_budget",
    "log_loss_growth",
    "paired_difference",
    "pinsker_budget",
    "pinsker_growth",
    "range_budget",
    "range_growth",
    "regression_budget",
    "regression_growth",
    "second_moment_budget",
    "second_moment_growth",
    "sharp_budget",
    "sharp_growth",
    "sharp_range_budget",
    "sharp_range_growth",
    "subgaussian_budget",
    "subgaussian_growth",
    "vajda_budget",
    "vajda_growth",
]
