"""Mean squared error: the printed theorem, R1, R2 with R7, R4, R5, R6 and R8."""

import math
from abc import abstractmethod
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pinsker._types import FloatArray
from pinsker.bounds._bound import (
    Bound,
    kappa,
    kappa_inverse,
    not_negative,
    positive,
    tilt_information,
)
from pinsker.exceptions import ParameterError

#: Clip limits per side of the sample; the grid has the square of it.
_CLIPS_PER_SIDE = 24


class _SquaredErrorBound(Bound):
    """A bound on the increase of a mean squared error."""

    metric = "mse"


class _LinearBound(_SquaredErrorBound):
    """A bound that is proportional to the nats lost."""

    @abstractmethod
    def _slope(self) -> float:
        """Return the error per nat, from the fact that the theorem needs, checked."""

    def __post_init__(self) -> None:
        self._slope()

    def _growth(self, nu: FloatArray) -> FloatArray:
        return self._slope() * nu

    def _budget(self, delta: FloatArray) -> FloatArray:
        return delta / self._slope()


@dataclass(frozen=True)
class PaperRegressionBound(_LinearBound):
    r"""Mean squared error, as printed: Theorem 1 of the paper (``docs/errata.md``, E4 and E5).

    .. math:: \Delta \le 2 B^2 \nu, \qquad \nu = \delta / (2 B^2)

    Parameters
    ----------
    target_bound : float
        B, the largest :math:`|Y|`.

    Examples
    --------
    >>> printed = PaperRegressionBound(target_bound=5.0)
    >>> round(printed.growth(0.01), 6), round(printed.budget(0.5), 6)
    (0.5, 0.01)
    """

    target_bound: float

    theorem = "Theorem 1 (paper)"

    def _slope(self) -> float:
        return 2.0 * positive(self.target_bound, "target_bound") ** 2


@dataclass(frozen=True)
class RangeBound(_LinearBound):
    r"""Mean squared error of a target with range R, linear in `nu` (R1).

    .. math:: \Delta \le R^2 \nu / 2, \qquad \nu = 2 \delta / R^2

    Never above the paper's Theorem 1, best possible constant. Proof: ``docs/bounds.md``, R1.

    Parameters
    ----------
    target_range : float
        R, length of an interval that contains the target.

    Examples
    --------
    >>> bound = RangeBound(target_range=2.0)
    >>> round(bound.growth(0.01), 6), round(bound.budget(0.02), 6)
    (0.02, 0.01)
    """

    target_range: float

    theorem = "R1"

    def _slope(self) -> float:
        return positive(self.target_range, "target_range") ** 2 / 2.0


@dataclass(frozen=True)
class SharpRangeBound(_SquaredErrorBound):
    r"""Mean squared error of a target with known range and variance, sharp (R2 and R7).

    .. math:: \Delta \le \min\left( R^2 [\kappa^{-1}(\nu)]^2,\; \mathrm{Var}(Y) \right), \qquad
              \kappa(t) = \log 2 - h(1/2 + t)

    with :math:`h` the binary entropy; :math:`R^2/4` from :math:`\nu = \log 2` on. The budget is
    :math:`\kappa(\sqrt\delta / R)`, infinite from the variance on. Proof: ``docs/bounds.md``, R2.

    Parameters
    ----------
    target_range : float
        R, length of an interval that contains the target. The range of a sample is a lower
        estimate of it; :class:`ClippedBound` is the safe reading.
    variance : float, optional
        Variance of the target, or an upper limit on the error with the kept features.

    Examples
    --------
    >>> bound = SharpRangeBound(target_range=2.0)
    >>> round(bound.growth(0.01), 6), round(bound.budget(0.02), 6)
    (0.019933, 0.010034)
    >>> SharpRangeBound(target_range=2.0, variance=0.3).growth(3.0)
    0.3
    """

    target_range: float
    variance: float | None = None

    theorem = "R2"

    def __post_init__(self) -> None:
        positive(self.target_range, "target_range")
        not_negative(self.variance, "variance")

    @property
    def _cap(self) -> float:
        return not_negative(self.variance, "variance")

    def _growth(self, nu: FloatArray) -> FloatArray:
        return np.asarray((float(self.target_range) * kappa_inverse(nu)) ** 2)

    def _budget(self, delta: FloatArray) -> FloatArray:
        return tilt_information(np.sqrt(delta) / self.target_range)


@dataclass(frozen=True)
class SecondMomentBound(_LinearBound):
    r"""Mean squared error of an unbounded target whose conditional second moment is bounded (R4).

    .. math:: \Delta \le 2 M \nu, \qquad M = \sup_x E[(Y - c)^2 \,|\, X = x], \qquad
              \nu = \delta / (2 M)

    An average of the second moment does not do. Proof: ``docs/bounds.md``, R4.

    Parameters
    ----------
    second_moment : float
        M, with *all* features given and about any centre c, which may depend on the kept features.

    Examples
    --------
    >>> bound = SecondMomentBound(second_moment=1.5)
    >>> round(bound.growth(0.01), 6), round(bound.budget(0.03), 6)
    (0.03, 0.01)
    """

    second_moment: float

    theorem = "R4"

    def _slope(self) -> float:
        return 2.0 * positive(self.second_moment, "second_moment")


@dataclass(frozen=True)
class SubgaussianBound(_LinearBound):
    r"""Mean squared error of a target that is sub-Gaussian given the kept features (R5).

    .. math:: \Delta \le 2 s^2 \nu, \qquad \nu = \delta / (2 s^2)

    Proof: ``docs/bounds.md``, R5.

    Parameters
    ----------
    variance_proxy : float
        :math:`s^2` such that, for every value of the kept features, the target minus its
        conditional mean has :math:`\log E e^{\lambda W} \le s^2 \lambda^2 / 2`.

    Examples
    --------
    >>> bound = SubgaussianBound(variance_proxy=1.0)
    >>> round(bound.growth(0.01), 6), round(bound.budget(0.02), 6)
    (0.02, 0.01)
    """

    variance_proxy: float

    theorem = "R5"

    def _slope(self) -> float:
        return 2.0 * positive(self.variance_proxy, "variance_proxy")


@dataclass(frozen=True)
class ClippedBound(_SquaredErrorBound):
    r"""Mean squared error of a heavy-tailed target: clipped, and its tails paid for apart (R6).

    .. math:: \sqrt\Delta \le R \, \kappa^{-1}(\nu) + s, \qquad
              s^2 = \mathrm{Var}(Y - \mathrm{clip}(Y)), \qquad
              \nu = \kappa\left( (\sqrt\delta - s) / R \right)

    Valid for every target with a finite variance and every interval. The budget is zero if the tail
    alone may cost `delta`. Proof: ``docs/bounds.md``, R6.

    Parameters
    ----------
    clip_range : float
        R, length of the interval to which the target is clipped; zero is allowed.
    tail_deviation : float
        s, standard deviation of what clipping takes away.

    Examples
    --------
    >>> bound = ClippedBound(clip_range=2.0, tail_deviation=0.1)
    >>> round(bound.growth(0.01), 4), round(bound.budget(0.0582), 3), bound.budget(0.005)
    (0.0582, 0.01, 0.0)
    """

    clip_range: float
    tail_deviation: float

    theorem = "R6"

    def __post_init__(self) -> None:
        not_negative(self.tail_deviation, "tail_deviation")
        if math.isinf(not_negative(self.clip_range, "clip_range")):
            positive(self.clip_range, "clip_range")

    @staticmethod
    def of(target: npt.ArrayLike) -> Bound:
        """Return the smallest bound over a grid of clip intervals of a sample, its tail unseen.

        Examples
        --------
        >>> heavy = np.random.default_rng(0).standard_t(3, size=2000)
        >>> round(ClippedBound.of(heavy).growth(0.01), 2)
        0.92
        """
        y = np.asarray(target, dtype=np.float64)
        if y.ndim != 1 or y.size < 2 or not np.isfinite(y).all():
            raise ParameterError(
                f"target must be one column of at least two finite numbers, got shape {y.shape}."
            )
        tail_sizes = np.append(0.0, np.geomspace(1.0 / y.size, 0.5, _CLIPS_PER_SIDE - 1))
        lows, highs = np.quantile(y, tail_sizes), np.quantile(y, 1.0 - tail_sizes)
        below = np.array([_tail_moments(np.minimum(y - low, 0.0)) for low in lows])
        above = np.array([_tail_moments(np.maximum(y - high, 0.0)) for high in highs])
        mean = below[:, np.newaxis, 0] + above[np.newaxis, :, 0]
        square = below[:, np.newaxis, 1] + above[np.newaxis, :, 1]
        tails = np.sqrt(np.maximum(square - mean**2, 0.0)).ravel()
        lengths = (highs[np.newaxis, :] - lows[:, np.newaxis]).ravel()
        order = np.lexsort((tails, lengths))
        lengths, tails = lengths[order], tails[order]
        better = np.append(True, tails[1:] < np.minimum.accumulate(tails)[:-1])  # not dominated
        kept = tuple(lengths[better].tolist()), tuple(tails[better].tolist())
        return _BestClippedBound(*kept, float(np.var(y)))

    def _growth(self, nu: FloatArray) -> FloatArray:
        return np.asarray(
            (float(self.clip_range) * kappa_inverse(nu) + float(self.tail_deviation)) ** 2
        )

    def _budget(self, delta: FloatArray) -> FloatArray:
        length = float(self.clip_range)
        spare = np.maximum(np.sqrt(delta) - float(self.tail_deviation), 0.0)
        if length == 0.0:
            return np.where(spare > 0.0, np.inf, 0.0)
        paid = kappa(np.minimum(spare / length, 0.5))
        return np.where(spare < length / 2.0, paid, np.inf)


@dataclass(frozen=True)
class _BestClippedBound(_SquaredErrorBound):
    """The smallest of several `ClippedBound`; from `variance` on any loss is accepted."""

    clip_ranges: tuple[float, ...] = field(repr=False)
    tail_deviations: tuple[float, ...] = field(repr=False)
    variance: float

    theorem = "R6"

    def _growth(self, nu: FloatArray) -> FloatArray:
        tilt = kappa_inverse(nu)[..., np.newaxis]
        each = (np.array(self.clip_ranges) * tilt + np.array(self.tail_deviations)) ** 2
        return np.asarray(each.min(axis=-1), dtype=np.float64)

    def _budget(self, delta: FloatArray) -> FloatArray:
        tails = np.array(self.tail_deviations)
        spare = np.maximum(np.sqrt(delta)[..., np.newaxis] - tails, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            tilt = np.where(spare > 0.0, spare / np.array(self.clip_ranges), 0.0)
        return np.where(delta >= self.variance, np.inf, tilt_information(tilt).max(axis=-1))


@dataclass(frozen=True)
class GaussianBound(_SquaredErrorBound):
    r"""Mean squared error of jointly Gaussian data: an identity (R8).

    .. math::
        \sigma^2_K = \sigma^2 e^{2\nu}, \qquad
        \Delta = \sigma^2_K (1 - e^{-2\nu}) = \sigma^2 (e^{2\nu} - 1)

    Limits on either error are put in where the error is not known. Valid only if target and
    features are jointly Gaussian, or, with errors of linear models throughout, for
    ``nu = log(MSE_K / MSE) / 2`` of those. Proof: ``docs/bounds.md``, R8.

    Parameters
    ----------
    variance : float
        Upper limit on :math:`\sigma^2_K`, the error with the kept features: the variance of the
        target, or better.
    full_error : float, optional
        Upper limit on :math:`\sigma^2`, the error with all features.

    Examples
    --------
    >>> bound = GaussianBound(variance=1.0)
    >>> round(bound.growth(0.01), 6), round(bound.budget(0.05), 6)
    (0.019801, 0.025647)
    """

    variance: float
    full_error: float | None = None

    theorem = "R8"

    def __post_init__(self) -> None:
        positive(self.variance, "variance")
        not_negative(self.full_error, "full_error")

    def _growth(self, nu: FloatArray) -> FloatArray:
        grown = float(self.variance) * -np.expm1(-2.0 * nu)
        if self.full_error is None:
            return grown
        full = float(self.full_error)
        with np.errstate(over="ignore", invalid="ignore"):
            # exp(2 nu) - 1 as a product: it overflows where the other form is smaller anyway.
            other = full * np.exp(nu) * 2.0 * np.sinh(nu)
        return np.minimum(grown, other) if full > 0.0 else np.zeros_like(grown)

    def _budget(self, delta: FloatArray) -> FloatArray:
        part = delta / float(self.variance)
        paid = np.where(part < 1.0, -0.5 * np.log1p(-np.minimum(part, 1.0 - 1e-16)), np.inf)
        if self.full_error is None:
            return paid
        with np.errstate(all="ignore"):  # an error of next to nothing divides to infinity
            other = np.where(delta > 0.0, 0.5 * np.log1p(delta / float(self.full_error)), 0.0)
        return np.maximum(paid, other)


def _tail_moments(tail: FloatArray) -> tuple[float, float]:
    """Mean and mean square of one tail; the two tails never overlap, so that both add up."""
    return float(tail.mean()), float(np.mean(tail * tail))
