"""Settings for experts: one frozen object per concern, reachable by scikit-learn's parameters.

A selector that holds one lists its fields among its own parameters (``knn__n_neighbors``). The
objects are frozen, so a selector sets such a parameter by ``replace_params`` and keeps the result.
"""

from dataclasses import dataclass, field, fields, replace
from numbers import Integral
from typing import Any, Self, get_args

import numpy as np
from joblib import effective_n_jobs

from pinsker._types import Scale
from pinsker.engine._boundary import (
    MOST_MEMORY,
    MOST_NEIGHBORS,
    MOST_THREADS,
    at_least,
    one_of,
    shown,
)
from pinsker.engine._plan import Score
from pinsker.engine.backends import EngineName, check_client
from pinsker.exceptions import ParameterError


@dataclass(frozen=True)
class _FrozenSettings:
    """Fields of a frozen dataclass as scikit-learn's parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 (no field has its own)
        """Return the fields by name, as scikit-learn's estimators do.

        Parameters
        ----------
        deep : bool, default=True
            Changes nothing.

        Returns
        -------
        dict
        """
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def replace_params(self, **changes: Any) -> Self:
        """Return other settings that differ in some fields.

        Parameters
        ----------
        **changes
            Fields by name; their values are checked.

        Returns
        -------
        KNNSettings or EngineSettings
            Of the same class.
        """
        known = self.get_params()
        for name in changes:
            if name not in known:
                raise ParameterError(
                    f"{name!r} is no parameter of {type(self).__name__}: use one of "
                    f"{', '.join(known)}."
                )
        return replace(self, **changes)

    def set_params(self, **params: Any) -> Self:
        """Refuse to change a frozen object in place; without parameters return it.

        Parameters
        ----------
        **params
            Fields by name.

        Returns
        -------
        KNNSettings or EngineSettings
            This object.
        """
        if params:
            raise ParameterError(
                f"{type(self).__name__} is frozen, so {', '.join(params)} cannot be set in place: "
                "use replace_params, or set_params of the selector that holds it."
            )
        return self

    # Frozen, so a copy would be the same: scikit-learn's clone and copy share the object, and a
    # client of a cluster, which cannot be copied, is shared with it.
    def __sklearn_clone__(self) -> Self:
        return self

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


@dataclass(frozen=True)
class KNNSettings(_FrozenSettings):
    """How information is estimated from nearest neighbors.

    Parameters
    ----------
    n_neighbors : int, default=3
        Neighbors that define a row's radius.
    scale : {"copula", "standard", "none"}, default="copula"
        How numeric columns are scaled before distances are measured: to normal scores of their
        ranks, to unit variance, or not at all.
    score : {"difference", "direct"}, default="difference"
        Score of a feature: a difference of two sets' information, or conditional information.
    max_samples : int, default=None
        Measure at most this many rows, against all of them. By default every row of up to 50 000.

    Examples
    --------
    >>> from pinsker.engine import KNNSettings
    >>> KNNSettings().replace_params(n_neighbors=5)
    KNNSettings(n_neighbors=5, scale='copula', score='difference', max_samples=None)
    """

    n_neighbors: int = 3
    scale: Scale = "copula"
    score: Score = "difference"
    max_samples: int | None = None

    def __post_init__(self) -> None:
        at_least("n_neighbors", self.n_neighbors, 1, MOST_NEIGHBORS)
        one_of("scale", self.scale, get_args(Scale))
        one_of("score", self.score, get_args(Score))
        if self.max_samples is not None:
            at_least("max_samples", self.max_samples, 1, or_none=True)


@dataclass(frozen=True)
class EngineSettings(_FrozenSettings):
    """Where a search runs, and in how much memory. The results have the same bits.

    A pickle leaves the client out, since a connection cannot be saved; a copy or a clone shares it.

    Parameters
    ----------
    name : {"auto", "local", "dask", "cuda"}, default="auto"
        The cores of this computer, a Dask cluster or a GPU. "auto" takes an active
        ``distributed.Client``, else a GPU if the table is large enough to pay for it, else the
        cores.
    client : distributed.Client, default=None
        The cluster of "dask"; by default the active one.
    max_memory : int, default=None
        Bytes that a fit may hold; with a cluster, a search on each worker, and with a GPU, a search
        on the GPU. By default half of what is available.

    Examples
    --------
    >>> from pinsker.engine import EngineSettings
    >>> EngineSettings("local", max_memory=2**30).get_params()
    {'name': 'local', 'client': None, 'max_memory': 1073741824}
    """

    name: EngineName = "auto"
    client: Any = field(default=None, hash=False)
    max_memory: int | None = None

    def __post_init__(self) -> None:
        one_of("name", self.name, get_args(EngineName))
        check_client(self.client)
        if self.max_memory is not None:
            at_least("max_memory", self.max_memory, 1, MOST_MEMORY, or_none=True)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "client": None}


def count_threads(n_jobs: Any) -> int:
    """Return the number of threads that scikit-learn's `n_jobs` stands for."""
    integer = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not integer or n_jobs == 0 or n_jobs > MOST_THREADS):
        raise ParameterError(
            f"n_jobs={shown(n_jobs)} means nothing: use a number of threads (at most "
            f"{MOST_THREADS}), -1 for all, or None.",
            parameter="n_jobs",
        )
    return int(effective_n_jobs(n_jobs))


def generator_of(random_state: Any) -> np.random.Generator:
    """Return NumPy's generator of a seed."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"random_state={shown(random_state)} is no seed ({error}): use an integer of at least "
            "0.",
            parameter="random_state",
        ) from error


#: Parameters that hold an expert's settings: nested names such as ``knn__n_neighbors`` reach them.
SETTINGS: dict[str, type[KNNSettings] | type[EngineSettings]] = {
    "knn": KNNSettings,
    "engine": EngineSettings,
}
#: Names that the parameter `engine` may hold instead of settings.
ENGINES = get_args(EngineName)


def as_settings(name: str, value: Any) -> Any:
    """Return the settings that a parameter stands for: an object, a name of an engine, or None."""
    if isinstance(value, SETTINGS[name]):
        return value
    return SETTINGS[name]() if value is None else EngineSettings(value)
