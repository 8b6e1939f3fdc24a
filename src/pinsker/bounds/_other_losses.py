"""Other losses: log-loss (an identity), Brier score, absolute error, any bounded loss."""

from dataclasses import dataclass

import numpy as np

from pinsker._types import FloatArray
from pinsker.bounds._bound import (
    Bound,
    class_count,
    kappa,
    kappa_inverse,
    positive,
    tilt_information,
    vajda,
    vajda_inverse,
)


@dataclass(frozen=True)
class LogLossBound(Bound):
    r"""Log-loss: the increase is exactly the information lost (L1).

    .. math:: H(Y | X_K) - H(Y | X) = I(Y; X_A | X_K) = \nu

    An identity, for classes and for densities alike. Proof: ``docs/bounds.md``, L1.

    Examples
    --------
    >>> LogLossBound().growth(0.3), LogLossBound().budget(0.3)
    (0.3, 0.3)
    """

    theorem = "L1"
    metric = "log-loss"

    def _growth(self, nu: FloatArray) -> FloatArray:
        return nu

    def _budget(self, delta: FloatArray) -> FloatArray:
        return delta


@dataclass(frozen=True)
class BrierBound(Bound):
    r"""Brier score, the squared error summed over the classes (L2).

    .. math:: \Delta \le \min(\nu,\; 1 - 1/m), \qquad
              \Delta \le 2 [\kappa^{-1}(\nu)]^2 \text{ for two classes}

    Halve it for the one-sided score of two classes. Proof: ``docs/bounds.md``, L2.

    Parameters
    ----------
    n_classes : int, optional
        Number of classes m.

    Examples
    --------
    >>> BrierBound().growth(0.05), BrierBound().budget(0.05)
    (0.05, 0.05)
    >>> round(BrierBound(n_classes=2).growth(0.5), 6), BrierBound(n_classes=2).budget(0.5)
    (0.408267, inf)
    """

    n_classes: int | None = None

    theorem = "L2"
    metric = "brier"
    most = 1.0

    def __post_init__(self) -> None:
        class_count(self.n_classes)

    @property
    def _cap(self) -> float:
        return 1.0 - 1.0 / class_count(self.n_classes)

    def _growth(self, nu: FloatArray) -> FloatArray:
        return np.asarray(2.0 * kappa_inverse(nu) ** 2) if self.n_classes == 2 else nu

    def _budget(self, delta: FloatArray) -> FloatArray:
        return kappa(np.sqrt(np.minimum(delta, 0.5) / 2.0)) if self.n_classes == 2 else delta


@dataclass(frozen=True)
class AbsoluteErrorBound(Bound):
    r"""Mean absolute error of a target with range R (L3).

    .. math:: \Delta \le R \, \kappa^{-1}(\nu) \le R \sqrt{\nu / 2}, \qquad
              \nu = \kappa(\delta / R)

    At most R/2, from where on the budget is infinite. Proof: ``docs/bounds.md``, L3.

    Parameters
    ----------
    target_range : float
        R, length of an interval that contains the target.

    Examples
    --------
    >>> bound = AbsoluteErrorBound(target_range=2.0)
    >>> round(bound.growth(0.02), 4), round(bound.budget(0.2), 5)
    (0.1993, 0.02014)
    """

    target_range: float

    theorem = "L3"
    metric = "mae"

    def __post_init__(self) -> None:
        positive(self.target_range, "target_range")

    def _growth(self, nu: FloatArray) -> FloatArray:
        return self.target_range * kappa_inverse(nu)

    def _budget(self, delta: FloatArray) -> FloatArray:
        return tilt_information(delta / self.target_range)


@dataclass(frozen=True)
class BoundedLossBound(Bound):
    r"""Risk under any loss with values in an interval of length L (L4).

    .. math:: \Delta \le L \, V^{-1}(\nu) \le L \sqrt{\nu / 2}, \qquad \nu = V(\delta / L)

    with V of :class:`VajdaBound`. Proof: ``docs/bounds.md``, L4.

    Parameters
    ----------
    loss_range : float
        L, largest minus smallest value of the loss: the dearest mistake of a cost matrix, the
        range of a clipped loss.

    Examples
    --------
    >>> bound = BoundedLossBound(loss_range=10.0)
    >>> round(bound.growth(0.02), 4), round(bound.budget(2.0), 5)
    (0.9989, 0.08073)
    """

    loss_range: float

    theorem = "L4"
    metric = "loss"

    def __post_init__(self) -> None:
        positive(self.loss_range, "loss_range")

    def _growth(self, nu: FloatArray) -> FloatArray:
        return self.loss_range * vajda_inverse(nu)[0]

    def _budget(self, delta: FloatArray) -> FloatArray:
        return vajda(np.minimum(delta / self.loss_range, 1.0))
