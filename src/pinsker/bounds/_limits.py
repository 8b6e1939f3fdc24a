"""Confidence limits of what was measured on a sample: paired differences, errors, losses."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, t

from pinsker._types import FloatArray
from pinsker.exceptions import ParameterError


@dataclass(frozen=True)
class Difference:
    """The mean of paired differences, with a limit on either side.

    Attributes
    ----------
    mean : float
        Mean difference, in units of the differences.
    lower, upper : float
        One-sided confidence limits, each at the confidence given.

    Examples
    --------
    >>> Difference(0.01, -0.02, 0.04).upper
    0.04
    """

    mean: float
    lower: float
    upper: float


def paired_difference(
    differences: FloatArray, confidence: float = 0.95, *, counts: bool = False
) -> Difference:
    r"""Limit the mean of paired differences from either side.

    .. math:: \bar d \pm t_{n-1,\,1-\alpha}\, s_d / \sqrt n

    With ``counts=True`` the differences are those of zero-one losses, and half a row is added to
    each of the four cells of the paired table, so that the limits also hold where few or none of
    the pairs differ.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        One per row.
    confidence : float
        Of each limit by itself.
    counts : bool
        Whether the differences are -1, 0 and 1.

    References
    ----------
    Agresti, Min (2005). Simple improved confidence intervals for comparing matched proportions.

    Examples
    --------
    >>> zero = paired_difference(np.zeros(100), counts=True)
    >>> zero.mean, round(zero.upper, 4)
    (0.0, 0.0164)
    """
    _check_confidence(confidence)
    n = len(differences)
    mean = float(np.mean(differences))
    if n < 2:
        return Difference(mean, float("-inf"), float("inf"))
    centre, total, square = mean, float(n), float(np.sum(differences**2))
    if counts:
        total, square = n + 2.0, square + 1.0
        centre = float(np.sum(differences)) / total
    spread = max(square / total - centre**2, 0.0) * total / (total - 1.0)
    reach = float(t.ppf(confidence, n - 1)) * float(np.sqrt(spread / total))
    return Difference(mean, min(centre - reach, mean), max(centre + reach, mean))


def error_rate_limit(n_errors: int, n_rows: int, confidence: float = 0.95) -> float:
    """Return the Clopper-Pearson upper limit of an error rate: no assumption but independent rows.

    References
    ----------
    Clopper, Pearson (1934).

    Examples
    --------
    >>> round(error_rate_limit(0, 59), 3)
    0.05
    """
    _check_confidence(confidence)
    if n_errors >= n_rows:
        return 1.0
    return float(beta.ppf(confidence, n_errors + 1, n_rows - n_errors))


def bounded_loss_limit(losses: FloatArray, largest: float, confidence: float = 0.95) -> float:
    r"""Return the empirical Bernstein upper limit of the mean of losses in [0, `largest`].

    .. math:: \bar L + \sqrt{2 s^2 \log(2/\alpha) / n} + 7 L_{max} \log(2/\alpha) / (3(n-1))

    References
    ----------
    Maurer, Pontil (2009). Empirical Bernstein bounds and sample variance penalization, Theorem 4.

    Examples
    --------
    >>> round(bounded_loss_limit(np.zeros(101), 1.0), 4)
    0.0861
    """
    _check_confidence(confidence)
    n = len(losses)
    if n < 2:
        return largest
    weight = float(np.log(2.0 / (1.0 - confidence)))
    clipped = np.minimum(losses, largest)
    spread = float(np.sqrt(2.0 * clipped.var(ddof=1) * weight / n))
    return min(float(clipped.mean()) + spread + 7.0 * largest * weight / (3.0 * (n - 1)), largest)


def _check_confidence(confidence: float) -> None:
    if not 0.5 <= confidence < 1.0:
        raise ParameterError(f"confidence must be at least 0.5 and below 1, found {confidence!r}.")
