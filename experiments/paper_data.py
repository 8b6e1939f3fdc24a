"""The paper's data: the real sets of its Table I, and the synthetic tables of its figures.

A loader takes the first of these that holds its file: the folder that the environment variable
``PINSKER_DATA`` names; ``../shared/data`` beside a checkout; the cache (``PINSKER_CACHE``, else
``pinsker`` in the user's folder for caches). Failing these, the file is downloaded into the cache
from its public home by pooch. A file whose checksum or shape differs is refused.
"""

from itertools import starmap
from typing import Literal, NamedTuple

import numpy as np
from sklearn import datasets

from experiments.paper_files import data_sources, load_table, local_folders
from pinsker.datasets import LabelledSample
from pinsker.exceptions import DataError

_PUBLISHED = {
    "binary": "paper_synthetic_binary.npz",
    "regression": "paper_synthetic_regression.npz",
    "figure3": "paper_synthetic_k10.npz",
}


def load_orl(*, download: bool = True) -> LabelledSample:
    """Load ORL: 400 photographs of 40 faces, 32 by 32 pixels; y is the person, 1 to 40.

    F. Samaria and A. Harter, "Parameterisation of a stochastic model for human face
    identification", WACV 1994; file of the ASU feature selection repository (Li et al. 2017).
    """
    return _load("ORL", download)


def load_warp_ar10p(*, download: bool = True) -> LabelledSample:
    """Load warpAR10P: 130 photographs of 10 faces, 2400 grey values; y is the person, 1 to 10.

    A. Martínez and R. Benavente, "The AR face database", CVC report 24, 1998; file of the ASU
    feature selection repository (Li et al. 2017).
    """
    return _load("warpAR10P", download)


def load_allaml(*, download: bool = True) -> LabelledSample:
    """Load ALLAML: activity of 7129 genes in 72 patients; y is 1 (ALL) or 2 (AML).

    T. Golub et al., "Molecular classification of cancer", Science 286, 1999; file of the ASU
    feature selection repository (Li et al. 2017), standardised by its publishers.
    """
    return _load("ALLAML", download)


def load_glass(*, download: bool = True) -> LabelledSample:
    """Load glass: refractive index and eight oxides of 214 splinters of six sorts of glass.

    The column Id of the published file is left out: the rows are sorted by class, so that a
    model which sees it has nothing left to learn. B. German, "Glass Identification", UCI Machine
    Learning Repository, 1987.
    """
    return _load("glass", download)


def load_wine() -> LabelledSample:
    """Load wine: thirteen measurements of 178 wines from three cultivars, of scikit-learn."""
    X, y = datasets.load_wine(return_X_y=True)
    return LabelledSample(np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.int64))


class PublishedProblem(NamedTuple):
    """One table behind the paper's figures."""

    X: np.ndarray
    y: np.ndarray  # classes 0 and 1, or numbers
    n_useful: int  # the first this many columns were called useful


def load_published(
    which: Literal["binary", "regression", "figure3"] = "binary",
) -> tuple[PublishedProblem, ...]:
    """Load the tables behind the paper's figures from a local folder.

    The authors' code and tables are public, as pickles of Python, in the repository
    ``PaoloBonettiPolimi/Projects``, folder ``Magre/feature_selection``; the files read here hold
    the same numbers: the 50 problems of Figure 2 (200 rows, 15 columns), 50 matching regression
    problems, or the one problem of Figure 3 (1000 rows, 30 columns).
    """
    for folder in local_folders():
        path = folder / _PUBLISHED[which]
        if path.is_file():
            with np.load(path) as stored:
                X, y, useful = stored["X"], stored["y"], np.atleast_1d(stored["n_useful"])
            X, y = X.reshape(-1, *X.shape[-2:]), y.reshape(-1, y.shape[-1])
            return tuple(starmap(PublishedProblem, zip(X, y, useful.tolist(), strict=True)))
    raise DataError(
        f"{_PUBLISHED[which]} was not found: name the folder that holds it in PINSKER_DATA (its "
        "numbers are in the repository PaoloBonettiPolimi/Projects, Magre/feature_selection/data; "
        "pinsker.datasets.Radial and tests.truths.AdditiveCurves draw from the same distributions)"
    )


def _load(name: str, download: bool) -> LabelledSample:
    return LabelledSample(*load_table(data_sources()[name], download=download))
