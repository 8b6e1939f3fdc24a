"""Error rate: the printed theorem, C1 to C6 and Theorem C.

The kept error is the Bayes error with the kept features, the full error the one with all features.
Where a bound takes one of them, an upper limit on it will do: the bounds rise with it.
"""

from dataclasses import dataclass

import numpy as np

from pinsker._types import FloatArray
from pinsker.bounds._bound import (
    Bound,
    Value,
    class_count,
    divergence,
    increases,
    kappa_inverse,
    least_divergence_error,
    like,
    perspective,
    probability,
    solve_increasing,
    tilt_information,
    vajda,
    vajda_inverse,
)


class _ErrorRateBound(Bound):
    """A bound on the increase of an error rate, which ends at 1."""

    metric = "error"
    most = 1.0


@dataclass(frozen=True)
class PaperClassificationBound(_ErrorRateBound):
    r"""Error rate, as printed: Theorem 3 of the paper, twice too large (``docs/errata.md``, E13).

    .. math:: \Delta \le \sqrt{2 \nu}, \qquad \nu = \delta^2 / 2

    Examples
    --------
    >>> printed = PaperClassificationBound()
    >>> round(printed.growth(0.02), 6), round(printed.budget(0.2), 6)
    (0.2, 0.02)
    """

    theorem = "Theorem 3 (paper)"

    def _growth(self, nu: FloatArray) -> FloatArray:
        return np.sqrt(2.0 * nu)

    def _budget(self, delta: FloatArray) -> FloatArray:
        return delta**2 / 2.0


@dataclass(frozen=True)
class PinskerBound(_ErrorRateBound):
    r"""Error rate by Pinsker's inequality, nothing known (C1).

    .. math:: \Delta \le \sqrt{\nu / 2}, \qquad \nu = 2 \delta^2

    Valid for any number of classes, best possible constant. Proof: ``docs/bounds.md``, C1.

    Examples
    --------
    >>> round(PinskerBound().growth(0.02), 6), round(PinskerBound().budget(0.1), 6)
    (0.1, 0.02)
    """

    theorem = "C1"

    def _growth(self, nu: FloatArray) -> FloatArray:
        return np.sqrt(nu / 2.0)

    def _budget(self, delta: FloatArray) -> FloatArray:
        return 2.0 * delta**2


@dataclass(frozen=True)
class VajdaBound(_ErrorRateBound):
    r"""Error rate by the exact link of divergence and total variation, nothing known (C2).

    .. math:: \Delta \le V^{-1}(\nu), \qquad V(D) = \min_b d(b + D \,\|\, b)

    with :math:`d` the binary divergence. Valid for any number of classes, never larger than
    :class:`PinskerBound`. Proof: ``docs/bounds.md``, C2.

    Examples
    --------
    >>> round(VajdaBound().growth(0.5), 6), round(VajdaBound().budget(0.2), 5)
    (0.485567, 0.08073)
    """

    theorem = "C2"

    def _growth(self, nu: FloatArray) -> FloatArray:
        return vajda_inverse(nu)[0]

    def _budget(self, delta: FloatArray) -> FloatArray:
        return vajda(delta)


@dataclass(frozen=True)
class KeptErrorBound(_ErrorRateBound):
    r"""Error rate when the error with the kept features has a limit, closed form (C3).

    .. math:: \Delta \le \min\left( \sqrt{\nu \min(1/2, e_{up})},\; e_{up} \right), \qquad
              \nu = \delta^2 / \min(1/2, e_{up})

    Valid for any number of classes. Proof: ``docs/bounds.md``, C3.

    Parameters
    ----------
    kept_error : float
        Upper limit on the Bayes error with the kept features: a limit for the held-out error of
        any model on them, or one minus the largest prior.

    Examples
    --------
    >>> bound = KeptErrorBound(kept_error=0.1)
    >>> round(bound.growth(0.02), 6), round(bound.budget(0.05), 6), bound.budget(0.1)
    (0.044721, 0.025, inf)
    """

    kept_error: float

    theorem = "C3"

    def __post_init__(self) -> None:
        probability(self.kept_error, "kept_error")

    @property
    def _cap(self) -> float:
        return self.kept_error

    def _growth(self, nu: FloatArray) -> FloatArray:
        return np.sqrt(nu * min(0.5, self.kept_error))

    def _budget(self, delta: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):  # a limit of next to nothing divides to infinity
            return np.asarray(delta**2 / min(0.5, float(self.kept_error)))


@dataclass(frozen=True)
class FullErrorBound(_ErrorRateBound):
    r"""Error rate when the error with all features has a limit, closed form (C4).

    .. math:: \Delta \le \nu/2 + \sqrt{\nu \epsilon_{up} + \nu^2/4}, \qquad
              \nu = \delta^2 / (\epsilon_{up} + \delta)

    Valid for any number of classes. Proof: ``docs/bounds.md``, C4.

    Parameters
    ----------
    full_error : float
        Upper limit on the Bayes error with all features.

    Examples
    --------
    >>> bound = FullErrorBound(full_error=0.05)
    >>> round(bound.growth(0.02), 4), round(bound.budget(0.05), 6)
    (0.0432, 0.025)
    """

    full_error: float

    theorem = "C4"

    def __post_init__(self) -> None:
        probability(self.full_error, "full_error")

    @property
    def _cap(self) -> float:
        return self.most

    def _growth(self, nu: FloatArray) -> FloatArray:
        lost = np.minimum(nu, 1e3)  # far beyond the cap, and its square stays finite
        return lost / 2.0 + np.sqrt(lost * self.full_error + lost**2 / 4.0)

    def _budget(self, delta: FloatArray) -> FloatArray:
        return delta**2 / np.maximum(self.full_error + delta, np.finfo(float).tiny)


@dataclass(frozen=True)
class BinaryBound(_ErrorRateBound):
    r"""Error rate of two classes (C6).

    .. math:: \Delta \le \kappa^{-1}(\nu), \qquad \kappa(t) = \log 2 - h(1/2 + t)

    with :math:`h` the binary entropy; 1/2 from :math:`\nu = \log 2` on. Valid for two classes, and
    for more if the error with the kept features is at most 1/2 (``docs/bounds.md``, C6).

    Examples
    --------
    >>> round(BinaryBound().growth(0.5), 6), round(BinaryBound().budget(0.2), 5)
    (0.451811, 0.08228)
    >>> BinaryBound().budget(0.5)  # two classes cannot lose more
    inf
    """

    theorem = "C6"

    def _growth(self, nu: FloatArray) -> FloatArray:
        return kappa_inverse(nu)

    def _budget(self, delta: FloatArray) -> FloatArray:
        return tilt_information(delta)


@dataclass(frozen=True)
class SharpErrorBound(_ErrorRateBound):
    r"""Error rate: the sharpest bound that the known facts allow (Theorem C, C5).

    The largest :math:`e - \epsilon` that Theorem C allows,

    .. math::
        \nu \ge \max\{ d(\epsilon \| e), P(\epsilon, e) \}, \qquad
        P(\epsilon, e) = 2 e \, \kappa\!\left(\frac{e - \epsilon}{2 e}\right)

    subject to :math:`e \le` `kept_error`, :math:`\epsilon \le` `full_error` and
    :math:`e \le 1 - 1/m`. Never above C1 to C6, whichever apply. Proof: ``docs/bounds.md``,
    Theorem C.

    Parameters
    ----------
    kept_error, full_error : float, optional
        Upper limits on the Bayes error with the *kept* and with *all* features: a limit for the
        held-out error of any model on them, or one minus the largest prior.
    n_classes : int, optional
        Number of classes m.

    Examples
    --------
    >>> round(SharpErrorBound(kept_error=0.1).growth(0.02), 4)
    0.044
    >>> SharpErrorBound(kept_error=0.1).budget(0.1)  # the error itself is no larger
    inf
    """

    kept_error: float | None = None
    full_error: float | None = None
    n_classes: int | None = None

    theorem = "Theorem C"

    def __post_init__(self) -> None:
        self._limits()

    @staticmethod
    def least_information(full_error: Value, kept_error: Value) -> Value:
        """Return the least information loss that can raise the Bayes error from full to kept.

        Examples
        --------
        >>> round(SharpErrorBound.least_information(0.05, 0.1), 4)
        0.0262
        """
        kept = increases(kept_error, most=1.0, name="kept_error")
        full = increases(full_error, most=1.0, name="full_error")
        return like(_theorem_c(np.maximum(kept - full, 0.0), kept), kept_error)

    def _limits(self) -> tuple[float, float]:
        """Limits on the kept and on the full error; no class needs more than 1 - 1/m."""
        worst = 1.0 - 1.0 / class_count(self.n_classes)
        kept = min(probability(self.kept_error, "kept_error"), worst)
        return kept, min(probability(self.full_error, "full_error"), worst)

    @property
    def _cap(self) -> float:
        return self._limits()[0]

    def _growth(self, nu: FloatArray) -> FloatArray:
        """Largest increase whose least information, within the limits, is at most `nu`."""
        kept_limit, full_limit = self._limits()
        if kept_limit == 0.0:
            return np.zeros_like(nu)

        def least_at_limit(increase: FloatArray) -> FloatArray:
            kept = np.maximum(np.minimum(kept_limit, increase + full_limit), increase)
            return _theorem_c(increase, kept)

        high = np.full_like(nu, kept_limit)
        low = 1e-9 * kept_limit * np.minimum(nu, 1.0)  # of order nu at the very least
        bound = solve_increasing(least_at_limit, nu, low, high)
        if kept_limit > 0.5:  # e* is above 1/2: it may be within the limits
            free, free_error = vajda_inverse(nu)
            inside = free_error <= np.minimum(kept_limit, free + full_limit)
            bound = np.where(inside, free, bound)
        return bound

    def _budget(self, delta: FloatArray) -> FloatArray:
        """Least information that can cause `delta` within both limits."""
        kept_limit, full_limit = self._limits()
        inside = np.clip(delta, np.finfo(float).tiny, 1.0 - 1e-16)
        kept = np.minimum(kept_limit, inside + full_limit)
        if np.any(kept > 0.5):
            kept = np.minimum(kept, least_divergence_error(inside))
        return np.where(delta > 0.0, _theorem_c(inside, np.maximum(kept, inside)), 0.0)


def _theorem_c(increase: FloatArray, kept: FloatArray) -> FloatArray:
    """Theorem C in terms of the increase and the kept error: P up to 1/2, d beyond."""
    some = np.maximum(kept, np.finfo(float).tiny)
    return np.where(kept <= 0.5, perspective(increase, some), divergence(increase, some))
