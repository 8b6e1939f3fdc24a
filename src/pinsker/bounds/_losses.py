"""Other losses: log-loss (an identity), Brier score, absolute error, any bounded loss."""

import numpy as np

from pinsker.bounds._divergence import kappa, kappa_inverse, vajda, vajda_inverse
from pinsker.bounds._values import Value, class_count, like, nats, positive, tolerated


def log_loss_growth(nu: Value) -> Value:
    r"""Growth of the ideal log-loss: exactly the information lost (L1).

    .. math:: H(Y | X_K) - H(Y | X) = I(Y; X_A | X_K) = \nu

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.

    Returns
    -------
    float or ndarray
        Growth of the log-loss, in nats.

    Notes
    -----
    An identity, for classes and for densities alike; ``docs/bounds.md``, L1.

    Examples
    --------
    >>> log_loss_growth(0.3)
    0.3
    """
    return like(nats(nu), nu)


def log_loss_budget(delta: Value) -> Value:
    """Information that may be lost for a growth of `delta` nats of log-loss: `delta` (L1).

    Parameters
    ----------
    delta : float or ndarray
        Growth of the log-loss that is accepted, in nats.

    Returns
    -------
    float or ndarray
        Nats.

    See Also
    --------
    log_loss_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> log_loss_budget(0.3)
    0.3
    """
    return like(tolerated(delta), delta)


def brier_growth(nu: Value, classes: int | None = None) -> Value:
    r"""Growth of the ideal Brier score, the squared error summed over the classes (L2).

    .. math:: \Delta \le \min(\nu,\; 1 - 1/m), \qquad
              \Delta \le 2 [\kappa^{-1}(\nu)]^2 \text{ for two classes}

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    classes : int, optional
        Number of classes m.

    Returns
    -------
    float or ndarray
        Growth of the Brier score (halve it for the one-sided score of two classes).

    See Also
    --------
    brier_budget : the inverse.

    Notes
    -----
    Valid for any number of classes, best constant; attained for two. Proof: ``docs/bounds.md``, L2.

    Examples
    --------
    >>> brier_growth(0.05)
    0.05
    >>> round(brier_growth(0.5, classes=2), 6)
    0.408267
    """
    lost, count = nats(nu), class_count(classes)
    if count == 2:
        return like(2.0 * kappa_inverse(lost) ** 2, nu)
    return like(np.minimum(lost, 1.0 - 1.0 / count), nu)


def brier_budget(delta: Value, classes: int | None = None) -> Value:
    """Information that may be lost for a growth of `delta` in the Brier score (L2).

    Parameters
    ----------
    delta : float or ndarray
        Growth of the Brier score that is accepted, from 0 to 1.
    classes : int, optional
        Number of classes m.

    Returns
    -------
    float or ndarray
        Nats; infinite from ``1 - 1/m`` on: the score of the priors is no larger.

    See Also
    --------
    brier_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> brier_budget(0.05)
    0.05
    >>> brier_budget(0.5, classes=2)
    inf
    """
    growth, count = tolerated(delta, most=1.0), class_count(classes)
    paid = kappa(np.sqrt(np.minimum(growth, 0.5) / 2.0)) if count == 2 else growth
    return like(np.where(growth >= 1.0 - 1.0 / count, np.inf, paid), delta)


def absolute_error_growth(nu: Value, target_range: float) -> Value:
    r"""Growth of the ideal mean absolute error of a target with range R (L3).

    .. math:: \Delta \le R \, \kappa^{-1}(\nu) \le R \sqrt{\nu / 2}

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    target_range : float
        Length of an interval that contains the target.

    Returns
    -------
    float or ndarray
        Growth of the mean absolute error, at most R/2.

    See Also
    --------
    absolute_error_budget : the inverse.

    Notes
    -----
    Valid for every target in an interval of length R; attained for every `nu` by a fair coin on
    the two ends. Proof: ``docs/bounds.md``, L3.

    Examples
    --------
    >>> round(absolute_error_growth(0.02, target_range=2.0), 4)
    0.1993
    """
    return like(positive(target_range, "target_range") * kappa_inverse(nats(nu)), nu)


def absolute_error_budget(delta: Value, target_range: float) -> Value:
    """Information that may be lost for a growth of `delta` in mean absolute error (L3).

    Parameters
    ----------
    delta : float or ndarray
        Growth of the mean absolute error that is accepted.
    target_range : float
        Length of an interval that contains the target.

    Returns
    -------
    float or ndarray
        Nats; infinite from half the range on.

    See Also
    --------
    absolute_error_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(absolute_error_budget(0.2, target_range=2.0), 5)
    0.02014
    """
    tilt = tolerated(delta) / positive(target_range, "target_range")
    return like(np.where(tilt < 0.5, kappa(np.minimum(tilt, 0.5)), np.inf), delta)


def bounded_loss_growth(nu: Value, loss_range: float) -> Value:
    r"""Growth of the ideal risk under any loss with values in an interval of length L (L4).

    .. math:: \Delta \le L \, V^{-1}(\nu) \le L \sqrt{\nu / 2}

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    loss_range : float
        L, largest minus smallest value of the loss: the dearest mistake of a cost matrix, the
        range of a clipped loss.

    Returns
    -------
    float or ndarray
        Growth of the risk.

    See Also
    --------
    bounded_loss_budget : the inverse.
    vajda_growth : the same for the zero-one loss, with V explained.

    Notes
    -----
    Valid for every target, features and loss of that range. Proof: ``docs/bounds.md``, L4.

    Examples
    --------
    >>> round(bounded_loss_growth(0.02, loss_range=10.0), 4)
    0.9989
    """
    return like(positive(loss_range, "loss_range") * vajda_inverse(nats(nu))[0], nu)


def bounded_loss_budget(delta: Value, loss_range: float) -> Value:
    """Information that may be lost for a growth of `delta` of a bounded loss (L4).

    Parameters
    ----------
    delta : float or ndarray
        Growth of the risk that is accepted.
    loss_range : float
        Largest minus smallest value of the loss.

    Returns
    -------
    float or ndarray
        Nats; infinite from `loss_range` on.

    See Also
    --------
    bounded_loss_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(bounded_loss_budget(2.0, loss_range=10.0), 5)
    0.08073
    """
    share = tolerated(delta) / positive(loss_range, "loss_range")
    return like(vajda(np.minimum(share, 1.0)), delta)
