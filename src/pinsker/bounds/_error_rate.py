"""Error rate, nothing known about it: three bounds (C1, C2, C6) and their inverses.

``nu = I(Y; X_A | X_K)`` is the information that the removed features A hold beside the kept ones
K; the growth is the Bayes error with K minus the Bayes error with all features.
"""

import numpy as np

from pinsker.bounds._divergence import kappa, kappa_inverse, vajda, vajda_inverse
from pinsker.bounds._values import Value, like, nats, tolerated


def pinsker_growth(nu: Value) -> Value:
    r"""Growth of the error rate by Pinsker's inequality (C1).

    .. math:: \Delta \le \sqrt{\nu / 2}

    Half of the paper's classification theorem (:math:`\sqrt{2\nu}`). The constant is the best
    possible one: a fair coin that the removed feature tilts a little reaches it.

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.

    Returns
    -------
    float or ndarray
        Largest growth of the ideal error rate.

    See Also
    --------
    pinsker_budget : the inverse.
    vajda_growth : never larger.

    Notes
    -----
    Valid for any number of classes and any features. Proof: ``docs/bounds.md``, C1.

    Examples
    --------
    >>> round(pinsker_growth(0.02), 6)
    0.1
    """
    return like(np.sqrt(nats(nu) / 2.0), nu)


def pinsker_budget(delta: Value) -> Value:
    r"""Information that may be lost for a growth of `delta`, by Pinsker's inequality (C1).

    .. math:: \nu = 2 \delta^2

    Parameters
    ----------
    delta : float or ndarray
        Growth of the error rate that is accepted, from 0 to 1.

    Returns
    -------
    float or ndarray
        Nats. Losing no more keeps the growth within `delta`.

    See Also
    --------
    pinsker_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(pinsker_budget(0.1), 6)
    0.02
    """
    return like(2.0 * tolerated(delta, most=1.0) ** 2, delta)


def vajda_growth(nu: Value) -> Value:
    r"""Growth of the error rate by the exact link of divergence and total variation (C2).

    .. math:: \Delta \le V^{-1}(\nu), \qquad V(D) = \min_b d(b + D \,\|\, b)

    with :math:`d` the binary divergence. Never larger than :func:`pinsker_growth`, and below one
    for every finite `nu`.

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.

    Returns
    -------
    float or ndarray
        Largest growth of the ideal error rate.

    See Also
    --------
    vajda_budget : the inverse.

    Notes
    -----
    Valid for any number of classes. Proof: ``docs/bounds.md``, C2. V is evaluated by the
    parametrisation of Fedotov, Harremoës and Topsøe (2003).

    Examples
    --------
    >>> round(vajda_growth(0.5), 6)
    0.485567
    """
    return like(vajda_inverse(nats(nu))[0], nu)


def vajda_budget(delta: Value) -> Value:
    r"""Information that may be lost for a growth of `delta`: ``V(delta)`` (C2).

    Parameters
    ----------
    delta : float or ndarray
        Growth of the error rate that is accepted, from 0 to 1.

    Returns
    -------
    float or ndarray
        Nats; infinite for ``delta = 1``, as no error rate grows by more.

    See Also
    --------
    vajda_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(vajda_budget(0.2), 5)
    0.08073
    """
    return like(vajda(tolerated(delta, most=1.0)), delta)


def binary_growth(nu: Value) -> Value:
    r"""Growth of the error rate for two classes (C6).

    .. math::
        \Delta \le \kappa^{-1}(\nu), \qquad \kappa(t) = \log 2 - h(1/2 + t)

    with :math:`h` the binary entropy; 1/2 from :math:`\nu = \log 2` on.

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.

    Returns
    -------
    float or ndarray
        Largest growth of the ideal error rate.

    See Also
    --------
    binary_budget : the inverse.

    Notes
    -----
    Valid for two classes, and for more if the error with the kept features is at most 1/2; false
    otherwise (three equally likely classes, see ``docs/bounds.md``, C6). Attained for every `nu`.

    Examples
    --------
    >>> round(binary_growth(0.5), 6)
    0.451811
    """
    return like(kappa_inverse(nats(nu)), nu)


def binary_budget(delta: Value) -> Value:
    r"""Information that may be lost for a growth of `delta` with two classes (C6).

    Parameters
    ----------
    delta : float or ndarray
        Growth of the error rate that is accepted, from 0 to 1.

    Returns
    -------
    float or ndarray
        Nats, ``kappa(delta)``; infinite from ``delta = 1/2`` on: two classes cannot lose more.

    See Also
    --------
    binary_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(binary_budget(0.2), 5)
    0.08228
    """
    growth = tolerated(delta, most=1.0)
    return like(np.where(growth < 0.5, kappa(np.minimum(growth, 0.5)), np.inf), delta)
