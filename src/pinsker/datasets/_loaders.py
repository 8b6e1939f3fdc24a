"""The paper's data: the real sets of its Table I, and the synthetic tables of its figures."""

from itertools import starmap
from typing import Literal, NamedTuple

import numpy as np

from pinsker._types import AnyArray
from pinsker.datasets._files import data_sources, load_table, local_folders
from pinsker.datasets._problems import LabelledSample
from pinsker.exceptions import DataError

_PUBLISHED = {
    "binary": "paper_synthetic_binary.npz",
    "regression": "paper_synthetic_regression.npz",
    "figure3": "paper_synthetic_k10.npz",
}


def load_orl(*, download: bool = True) -> LabelledSample:
    """Load ORL: 400 photographs of 40 faces, 32 by 32 pixels.

    Parameters
    ----------
    download : bool, default=True
        Whether to fetch the file from its home when no folder of `data_folders` holds it. What was
        fetched is checked and kept in the cache.

    Returns
    -------
    LabelledSample
        X of shape (400, 1024), grey values 0 to 255; y the person, 1 to 40.

    Raises
    ------
    DownloadError
        If the file is nowhere and cannot be fetched; the message names home, file and folder.
    DataError
        If a file is found that is not the data set: its checksum or shape differs.

    References
    ----------
    F. Samaria and A. Harter, "Parameterisation of a stochastic model for human face
    identification", WACV 1994; file of the ASU feature selection repository (Li et al. 2017).

    Examples
    --------
    The file is not part of pinsker: this downloads it, once.

    >>> from pinsker.datasets import load_orl
    >>> X, y = load_orl()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (400, 1024)
    """
    return _load("ORL", download)


def load_warp_ar10p(*, download: bool = True) -> LabelledSample:
    """Load warpAR10P: 130 photographs of 10 faces, with glasses, scarves and other light.

    Parameters
    ----------
    download : bool, default=True
        As for `load_orl`, which also says what is raised.

    Returns
    -------
    LabelledSample
        X of shape (130, 2400), grey values 0 to 255; y the person, 1 to 10.

    References
    ----------
    A. Martínez and R. Benavente, "The AR face database", CVC report 24, 1998; file of the ASU
    feature selection repository (Li et al. 2017).

    Examples
    --------
    >>> from pinsker.datasets import load_warp_ar10p
    >>> X, y = load_warp_ar10p()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (130, 2400)
    """
    return _load("warpAR10P", download)


def load_allaml(*, download: bool = True) -> LabelledSample:
    """Load ALLAML: activity of 7129 genes in 72 patients with one of two leukaemias.

    Parameters
    ----------
    download : bool, default=True
        As for `load_orl`, which also says what is raised.

    Returns
    -------
    LabelledSample
        X of shape (72, 7129), standardised by its publishers; y is 1 (ALL) or 2 (AML).

    References
    ----------
    T. Golub et al., "Molecular classification of cancer", Science 286, 1999; file of the ASU
    feature selection repository (Li et al. 2017).

    Examples
    --------
    >>> from pinsker.datasets import load_allaml
    >>> X, y = load_allaml()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (72, 7129)
    """
    return _load("ALLAML", download)


def load_glass(*, download: bool = True) -> LabelledSample:
    """Load glass: refractive index and eight oxides of 214 splinters of six sorts of glass.

    The column Id of the published file is left out: the rows are sorted by class, so that a
    model which sees it has nothing left to learn.

    Parameters
    ----------
    download : bool, default=True
        As for `load_orl`, which also says what is raised.

    Returns
    -------
    LabelledSample
        X of shape (214, 9): RI, Na, Mg, Al, Si, K, Ca, Ba, Fe; y one of 1, 2, 3, 5, 6, 7.

    References
    ----------
    B. German, "Glass Identification", UCI Machine Learning Repository, 1987.

    Examples
    --------
    >>> from pinsker.datasets import load_glass
    >>> X, y = load_glass()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (214, 9)
    """
    return _load("glass", download)


def load_wine() -> LabelledSample:
    """Load wine: thirteen measurements of 178 wines from three cultivars; ships with scikit-learn.

    Returns
    -------
    LabelledSample
        X of shape (178, 13); y is 0, 1 or 2.

    References
    ----------
    S. Aeberhard and M. Forina, "Wine", UCI Machine Learning Repository, 1992.

    Examples
    --------
    >>> from pinsker.datasets import load_wine
    >>> X, y = load_wine()
    >>> X.shape, y[:3].tolist()
    ((178, 13), [0, 0, 0])
    """
    from sklearn import datasets  # slow to import, and not needed by the generators

    X, y = datasets.load_wine(return_X_y=True)
    return LabelledSample(np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.int64))


class PublishedProblem(NamedTuple):
    """One table behind the paper's figures.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Numbers.
    y : ndarray of shape (n_rows,)
        Classes 0 and 1, or numbers.
    n_useful : int
        The first this many columns were called useful.
    """

    X: AnyArray
    y: AnyArray
    n_useful: int


def load_published(
    which: Literal["binary", "regression", "figure3"] = "binary",
) -> tuple[PublishedProblem, ...]:
    """Load the tables behind the paper's figures from a local folder; they have no public home.

    Parameters
    ----------
    which : {"binary", "regression", "figure3"}, default="binary"
        The 50 problems of Figure 2 (200 rows, 15 columns), 50 matching regression problems, or the
        one problem of Figure 3 (1000 rows, 30 columns).

    Returns
    -------
    tuple of PublishedProblem
        In the order of the file.

    Raises
    ------
    DataError
        If no folder holds the file.

    See Also
    --------
    Radial : The distribution of the classification problems.
    pinsker.testing.AdditiveCurves : The distribution of the regression problems.

    Examples
    --------
    Rows of the same distribution need no file:

    >>> from pinsker.datasets import Radial
    >>> Radial(n_relevant=10, n_columns=30).sample(1000, seed=0).X.shape
    (1000, 30)
    """
    for folder in local_folders():
        path = folder / _PUBLISHED[which]
        if path.is_file():
            with np.load(path) as stored:
                X, y, useful = stored["X"], stored["y"], np.atleast_1d(stored["n_useful"])
            X, y = X.reshape(-1, *X.shape[-2:]), y.reshape(-1, y.shape[-1])
            return tuple(starmap(PublishedProblem, zip(X, y, useful.tolist(), strict=True)))
    raise DataError(
        f"{_PUBLISHED[which]} was not found: name the folder that holds it in PINSKER_DATA (it is "
        "not published anywhere; pinsker.datasets.Radial and pinsker.testing.AdditiveCurves draw "
        "from the same distributions)"
    )


def _load(name: str, download: bool) -> LabelledSample:
    return LabelledSample(*load_table(data_sources()[name], download=download))
