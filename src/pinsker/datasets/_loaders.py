"""The real data sets of the paper's Table I."""

import numpy as np

from pinsker.datasets._selection_problems import LabelledSample
from pinsker.datasets._sources import data_sources
from pinsker.datasets._storage import load_table


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
    The file is not part of pinsker. Where it comes from:

    >>> from pinsker.datasets import data_sources
    >>> data_sources()["ORL"].url.rpartition("/")[2]
    'ORL.mat'
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
    >>> from pinsker.datasets import data_sources
    >>> data_sources()["warpAR10P"].n_columns
    2400
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
    >>> from pinsker.datasets import data_sources
    >>> data_sources()["ALLAML"].n_rows
    72
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
    >>> from pinsker.datasets import data_sources
    >>> data_sources()["glass"].n_classes
    6
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


def _load(name: str, download: bool) -> LabelledSample:
    return LabelledSample(*load_table(data_sources()[name], download=download))
