"""Stage: from nats to error and back. One object per theorem.

A :class:`Bound` holds the facts that its theorem needs. ``growth(nu)`` is the largest error
increase when `nu` nats are lost, ``budget(delta)`` the nats that may be lost for an increase of
`delta`. :func:`pinsker.metrics.bound_for` returns the bound of a metric and a
target. Formulas, validity, proofs
and advice on which one to use are in ``docs/bounds.md``; mistakes of the paper in
``docs/errata.md``.
"""

from pinsker.bounds._bound import Bound, TargetFacts
from pinsker.bounds._bound import column_variances as column_variances
from pinsker.bounds._bound import not_negative as not_negative
from pinsker.bounds._bound import one_of as one_of
from pinsker.bounds._bound import positive as positive
from pinsker.bounds._confidence_sequence import ConfidenceSequence as ConfidenceSequence
from pinsker.bounds._error_interval import (
    ErrorInterval,
    entropy_power,
    fano_error,
    feder_merhav_error,
    hellman_raviv_error,
    largest_entropy,
)
from pinsker.bounds._error_rate import (
    BinaryBound,
    FullErrorBound,
    KeptErrorBound,
    PaperClassificationBound,
    PinskerBound,
    SharpErrorBound,
    VajdaBound,
)
from pinsker.bounds._limits import (
    Difference,
    bounded_loss_limit,
    error_rate_limit,
    paired_difference,
    simultaneous_confidence,
)
from pinsker.bounds._limits import SerialBlocks as SerialBlocks
from pinsker.bounds._limits import effective_rows as effective_rows
from pinsker.bounds._limits import few_per_class as few_per_class
from pinsker.bounds._limits import few_rows_decide as few_rows_decide
from pinsker.bounds._limits import fewest_needed as fewest_needed
from pinsker.bounds._limits import limits_of_counts as limits_of_counts
from pinsker.bounds._limits import limits_of_moments as limits_of_moments
from pinsker.bounds._limits import paired_differences as paired_differences
from pinsker.bounds._limits import rows_needed as rows_needed
from pinsker.bounds._limits import serial_blocks as serial_blocks
from pinsker.bounds._limits import smallest_budget as smallest_budget
from pinsker.bounds._linear import LinearModel
from pinsker.bounds._other_losses import (
    AbsoluteErrorBound,
    BoundedLossBound,
    BrierBound,
    LogLossBound,
)
from pinsker.bounds._squared_error import (
    ClippedBound,
    GaussianBound,
    PaperRegressionBound,
    RangeBound,
    SecondMomentBound,
    SharpRangeBound,
    SubgaussianBound,
)

__all__ = [
    "AbsoluteErrorBound", "BinaryBound", "Bound", "BoundedLossBound", "BrierBound",
    "ClippedBound", "Difference", "ErrorInterval", "FullErrorBound", "GaussianBound",
    "KeptErrorBound", "LinearModel", "LogLossBound", "PaperClassificationBound",
    "PaperRegressionBound", "PinskerBound", "RangeBound", "SecondMomentBound",
    "SharpErrorBound", "SharpRangeBound", "SubgaussianBound", "TargetFacts", "VajdaBound",
    "bounded_loss_limit", "entropy_power", "error_rate_limit", "fano_error",
    "feder_merhav_error", "hellman_raviv_error", "largest_entropy", "paired_difference",
    "simultaneous_confidence",
]  # fmt: skip
