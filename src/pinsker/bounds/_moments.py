"""Squared error of an unbounded target with bounded or sub-Gaussian noise: R4, R5, inverses."""

from pinsker.bounds._values import Value, like, nats, positive, tolerated


def second_moment_growth(nu: Value, second_moment: float) -> Value:
    r"""Growth of the mean squared error when a conditional second moment is bounded (R4).

    .. math:: \Delta \le 2 M \nu, \qquad M = \sup_x E[(Y - c)^2 \,|\, X = x]

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    second_moment : float
        M, with *all* features given and about any centre c, which may depend on the kept features.
        Noise of variance at most :math:`s^2` around a signal of range R has
        :math:`M \le s^2 + R^2/4`.

    Returns
    -------
    float or ndarray
        Largest growth of the ideal mean squared error.

    See Also
    --------
    second_moment_budget : the inverse.

    Notes
    -----
    Valid for unbounded targets too. Contains the paper's regression theorem (c = 0,
    :math:`M \le B^2`). An average of the second moment does not do. Proof: ``docs/bounds.md``, R4.

    Examples
    --------
    >>> round(second_moment_growth(0.01, second_moment=1.5), 6)
    0.03
    """
    return like(2.0 * positive(second_moment, "second_moment") * nats(nu), nu)


def second_moment_budget(delta: Value, second_moment: float) -> Value:
    r"""Information that may be lost when a conditional second moment is bounded (R4).

    .. math:: \nu = \delta / (2 M)

    Parameters
    ----------
    delta : float or ndarray
        Growth of the mean squared error that is accepted.
    second_moment : float
        M, see :func:`second_moment_growth`.

    Returns
    -------
    float or ndarray
        Nats.

    See Also
    --------
    second_moment_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(second_moment_budget(0.03, second_moment=1.5), 6)
    0.01
    """
    return like(tolerated(delta) / (2.0 * positive(second_moment, "second_moment")), delta)


def subgaussian_growth(nu: Value, variance_proxy: float) -> Value:
    r"""Growth of the mean squared error when the target is sub-Gaussian (R5).

    .. math:: \Delta \le 2 s^2 \nu

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    variance_proxy : float
        :math:`s^2` such that, for every value of the kept features, the target minus its
        conditional mean has :math:`\log E e^{\lambda W} \le s^2 \lambda^2 / 2`. A Gaussian
        conditional law has its variance, a range R has :math:`R^2/4`.

    Returns
    -------
    float or ndarray
        Largest growth of the ideal mean squared error.

    See Also
    --------
    subgaussian_budget : the inverse.

    Notes
    -----
    Proof: ``docs/bounds.md``, R5.

    Examples
    --------
    >>> round(subgaussian_growth(0.01, variance_proxy=1.0), 6)
    0.02
    """
    return like(2.0 * positive(variance_proxy, "variance_proxy") * nats(nu), nu)


def subgaussian_budget(delta: Value, variance_proxy: float) -> Value:
    r"""Information that may be lost when the target is sub-Gaussian (R5).

    .. math:: \nu = \delta / (2 s^2)

    Parameters
    ----------
    delta : float or ndarray
        Growth of the mean squared error that is accepted.
    variance_proxy : float
        :math:`s^2`, see :func:`subgaussian_growth`.

    Returns
    -------
    float or ndarray
        Nats.

    See Also
    --------
    subgaussian_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(subgaussian_budget(0.02, variance_proxy=1.0), 6)
    0.01
    """
    return like(tolerated(delta) / (2.0 * positive(variance_proxy, "variance_proxy")), delta)
