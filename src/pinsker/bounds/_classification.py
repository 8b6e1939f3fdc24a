"""The error rate: the sharpest bound that the known facts allow, and its inverse."""

import numpy as np

from pinsker.bounds._error_rate_known import largest_growth, smallest_information
from pinsker.bounds._values import Value, class_count, like, nats, one_of, probability, tolerated

CONSTANTS = ("sharp", "paper")


def classification_growth(
    nu: Value,
    error_limit: float | None = None,
    classes: int | None = None,
    constants: str = "sharp",
    *,
    full_error_limit: float | None = None,
) -> Value:
    r"""Largest growth of the ideal error rate when `nu` nats are lost.

    With ``constants="sharp"`` the largest :math:`e - \epsilon` that Theorem C allows,

    .. math:: \nu \ge \max\{ d(\epsilon \| e), P(\epsilon, e) \}

    subject to :math:`e \le` `error_limit`, :math:`\epsilon \le` `full_error_limit` and
    :math:`e \le 1 - 1/m`. It is never above C1 to C6 and the caps, whichever apply. With
    ``constants="paper"`` the printed :math:`\sqrt{2\nu}`, which uses no other fact.

    Parameters
    ----------
    nu : float or ndarray
        Information lost, :math:`I(Y; X_A | X_K)`, in nats.
    error_limit : float, optional
        Upper limit on the Bayes error with the *kept* features: a limit for the held-out error of
        any model on them, or one minus the largest prior.
    classes : int, optional
        Number of classes m.
    constants : {"sharp", "paper"}
        Which bound.
    full_error_limit : float, optional
        Upper limit on the Bayes error with *all* features.

    Returns
    -------
    float or ndarray
        Growth of the error rate.

    See Also
    --------
    classification_budget : the inverse.

    Notes
    -----
    Valid for the Bayes classifier and exact `nu`; an estimate of `nu` passes its own error on. The
    paper's classification theorem, corrected and sharpened: ``docs/bounds.md``, Theorem C.

    Examples
    --------
    >>> round(classification_growth(0.02), 4)
    0.0999
    >>> round(classification_growth(0.02, error_limit=0.1), 4)
    0.044
    >>> round(classification_growth(0.02, constants="paper"), 4)
    0.2
    """
    lost = nats(nu)
    if one_of(constants, CONSTANTS, "constants") == "paper":
        return like(np.sqrt(2.0 * lost), nu)
    kept, full = _limits(error_limit, classes, full_error_limit)
    return like(largest_growth(lost, kept, full), nu)


def classification_budget(
    delta: Value,
    error_limit: float | None = None,
    classes: int | None = None,
    constants: str = "sharp",
    *,
    full_error_limit: float | None = None,
) -> Value:
    r"""Information that may be lost while the ideal error rate grows by at most `delta`.

    The inverse of :func:`classification_growth`; ``constants="paper"`` gives
    :math:`\delta^2 / 2`.

    Parameters
    ----------
    delta : float or ndarray
        Growth of the error rate that is accepted, from 0 to 1.
    error_limit : float, optional
        Upper limit on the Bayes error with the *kept* features.
    classes : int, optional
        Number of classes.
    constants : {"sharp", "paper"}
        Which bound.
    full_error_limit : float, optional
        Upper limit on the Bayes error with *all* features.

    Returns
    -------
    float or ndarray
        Nats; infinite if no loss can exceed `delta`, because the error itself cannot.

    See Also
    --------
    classification_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(classification_budget(0.05), 5)
    0.005
    >>> round(classification_budget(0.05, error_limit=0.3), 5)
    0.00837
    >>> classification_budget(0.1, error_limit=0.1)
    inf
    """
    growth = tolerated(delta, most=1.0)
    if one_of(constants, CONSTANTS, "constants") == "paper":
        return like(growth**2 / 2.0, delta)
    kept, full = _limits(error_limit, classes, full_error_limit)
    return like(smallest_information(growth, kept, full), delta)


def _limits(
    error_limit: float | None, classes: int | None, full_error_limit: float | None
) -> tuple[float, float]:
    """Limits on the kept and on the full error; no class needs more than 1 - 1/m."""
    worst = 1.0 - 1.0 / class_count(classes)
    kept = min(probability(error_limit, "error_limit"), worst)
    return kept, min(probability(full_error_limit, "full_error_limit"), worst)
