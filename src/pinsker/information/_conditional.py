"""Mutual information of any columns, given others."""

from typing import Any, Literal, overload

from pinsker._types import Missing, Scale
from pinsker.information._discrete import Correction
from pinsker.information._estimate import Estimate
from pinsker.information._measure import Method
from pinsker.information._procedure import Options, finish


@overload
def conditional_mutual_information(
    x: Any,
    y: Any,
    z: Any,
    *,
    return_details: Literal[False] = ...,
    method: Method = ...,
    n_neighbors: int = ...,
    scale: Scale = ...,
    discrete: Any = ...,
    missing: Missing = ...,
    correction: Correction = ...,
    clip: bool = ...,
    n_jobs: int | None = ...,
    random_state: int = ...,
) -> float: ...
@overload
def conditional_mutual_information(
    x: Any,
    y: Any,
    z: Any,
    *,
    return_details: Literal[True],
    method: Method = ...,
    n_neighbors: int = ...,
    scale: Scale = ...,
    discrete: Any = ...,
    missing: Missing = ...,
    correction: Correction = ...,
    clip: bool = ...,
    n_jobs: int | None = ...,
    random_state: int = ...,
) -> Estimate: ...
def conditional_mutual_information(
    x: Any,
    y: Any,
    z: Any,
    *,
    return_details: bool = False,
    method: Method = "auto",
    n_neighbors: int = 3,
    scale: Scale = "copula",
    discrete: Any = "auto",
    missing: Missing = "error",
    correction: Correction = "grassberger",
    clip: bool = False,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> float | Estimate:
    r"""Estimate the mutual information of x and y given z, in nats.

    .. math:: I(X;Y|Z) = E \ln \frac{p(X, Y | Z)}{p(X | Z)\, p(Y | Z)}

    Parameters
    ----------
    x, y, z : array-like of shape (n_rows,) or (n_rows, n_columns)
        One or several columns each, of any kinds, as in `mutual_information`; whole numbers in z
        are counts, as in x.
    return_details, method, n_neighbors, scale, discrete, missing, correction, clip
        As in `mutual_information`.
    n_jobs, random_state
        As in `mutual_information`.

    Returns
    -------
    float or Estimate
        I(X;Y|Z) in nats; slightly negative values are noise around zero.

    Warns
    -----
    UnreliableEstimateWarning
        When there are too few rows for the dimension, or for the number of joint states.

    Notes
    -----
    "knn" is Frenzel and Pompe's estimator [1]_, by class where y is classes, and Mesner and
    Shalizi's where values are tied. With k neighbours it never exceeds the mean of
    psi(n_z + 1) - psi(k), n_z the rows as near in z as the neighbours are: the `ceiling`, which
    falls to zero as z gets more columns. "ksg2" has a box instead of a ball [2]_; "gao" uses the
    chain rule I(XZ;Y) - I(Z;Y), each with its own radius. "discrete",
    "gaussian" and "copula" obey the chain rule exactly.

    References
    ----------
    .. [1] Frenzel, Pompe, "Partial mutual information for coupling analysis of multivariate time
       series", Phys. Rev. Lett. 99, 2007.
    .. [2] Wibral, Vicente, Lindner, "Transfer entropy in neuroscience", in Directed Information
       Measures in Neuroscience, Springer, 2014.

    Examples
    --------
    >>> from pinsker import conditional_mutual_information, mutual_information
    >>> from pinsker.testing import Xor
    >>> x, y, z = Xor(given_z=True).sample(1000, seed=0)
    >>> abs(round(mutual_information(x, y), 2))
    0.0
    >>> round(conditional_mutual_information(x, y, z), 2)
    0.69
    """
    options = Options(
        method=method,
        n_neighbors=n_neighbors,
        scale=scale,
        discrete=discrete,
        missing=missing,
        correction=correction,
        n_jobs=n_jobs,
    )
    return finish(x, y, z, options, clip, return_details, random_state)
