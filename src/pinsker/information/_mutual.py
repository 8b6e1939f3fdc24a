"""Mutual information of any columns."""

from typing import Any, Literal, overload

from pinsker._types import Missing, Scale
from pinsker.information._discrete import Correction
from pinsker.information._estimate import Estimate
from pinsker.information._measure import Method
from pinsker.information._procedure import Options, finish


@overload
def mutual_information(
    x: Any,
    y: Any,
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
def mutual_information(
    x: Any,
    y: Any,
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
def mutual_information(
    x: Any,
    y: Any,
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
    r"""Estimate the mutual information of x and y, in nats.

    .. math:: I(X;Y) = E \ln \frac{p(X, Y)}{p(X)\, p(Y)}

    Parameters
    ----------
    x, y : array-like of shape (n_rows,) or (n_rows, n_columns)
        One or several columns each, of any kinds: NumPy, lists, pandas, polars. y is read as a
        target is: text, categories and few different whole numbers are classes. The same whole
        numbers in x are counts.
    return_details : bool, default=False
        Return an `Estimate` instead of a number, with the method used, the ceiling, the standard
        error and notes. The standard error costs twenty estimates on half of the rows.
    method : {"auto", "knn", "ksg2", "gao", "discrete", "gaussian", "copula"}, default="auto"
        "auto" counts states when all columns are discrete and there are 5 rows per joint state,
        and asks neighbours otherwise. See Notes.
    n_neighbors : int, default=3
        Neighbours of each row: more of them lower the variance and raise the bias.
    scale : {"copula", "standard", "none"}, default="copula"
        What distances are measured in: normal scores of the ranks, standard deviations, or the
        user's units. Only neighbour methods use it.
    discrete : default="auto"
        What kinds columns are. A kind ("nominal", "count", "continuous") for all, or a dict by
        argument, for example ``{"y": "nominal"}``; the values of the dict may also be what
        `pinsker.encoding.encode_columns` takes: a mask, a list of columns, a dict of kinds.
    missing : {"error", "drop", "category"}, default="error"
        What a missing value means: an error, a row to leave out, or a value of its own.
    correction : {"grassberger", "miller-madow", "none"}, default="grassberger"
        Bias correction when states are counted.
    clip : bool, default=False
        Return zero for negative estimates. Sums and means of clipped estimates are biased.
    n_jobs : int or None, default=None
        Threads; the result does not depend on them.
    random_state : int, default=0
        Seed of the halves behind the standard error; the estimate itself uses no random numbers.

    Returns
    -------
    float or Estimate
        I(X;Y) in nats; slightly negative values are noise around zero.

    Warns
    -----
    UnreliableEstimateWarning
        When there are too few rows for the dimension, or for the number of joint states.

    Notes
    -----
    - "knn": Kraskov's first estimator in the max norm [1]_, Ross's for classes [2]_, Mesner and
      Shalizi's where values are tied [3]_; no noise is added.
    - "ksg2": Kraskov's second estimator [1]_, for several columns on a side.
    - "gao": the mixed estimator of Gao et al. [4]_, in its digamma form.
    - "discrete": entropies of joint states, Grassberger's by default [5]_.
    - "gaussian": from log-determinants, unbiased for Gaussian rows; "copula": the same on normal
      scores [6]_. Blind to everything but monotone relations.

    References
    ----------
    .. [1] Kraskov, Stögbauer, Grassberger, "Estimating mutual information", Phys. Rev. E 69, 2004.
    .. [2] Ross, "Mutual information between discrete and continuous data sets", PLoS ONE 9, 2014.
    .. [3] Mesner, Shalizi, "Conditional mutual information estimation for mixed, discrete and
       continuous data", IEEE Trans. Inf. Theory 67, 2021.
    .. [4] Gao, Kannan, Oh, Viswanath, "Estimating mutual information for discrete-continuous
       mixtures", NeurIPS 2017.
    .. [5] Grassberger, "Entropy estimates from insufficient samplings", arXiv:physics/0307138.
    .. [6] Ince et al., "A statistical framework for neuroimaging data analysis based on mutual
       information estimated via a Gaussian copula", Hum. Brain Mapp. 38, 2017.

    Examples
    --------
    >>> from pinsker import mutual_information
    >>> from pinsker.testing import BivariateNormal
    >>> problem = BivariateNormal(rho=0.6)
    >>> x, y, _ = problem.sample(1000, seed=0)
    >>> round(problem.truth(), 3)
    0.223
    >>> round(mutual_information(x, y), 1), round(mutual_information(x, y, method="copula"), 1)
    (0.2, 0.2)
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
    return finish(x, y, None, options, clip, return_details, random_state)
