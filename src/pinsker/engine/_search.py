"""Backward and forward search, exactly, in one pass; randomized trees; settings for experts."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from numbers import Integral
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from joblib import effective_n_jobs

from pinsker._types import DaskClient, Fields, FloatArray, RandomState, Scale, Unchecked
from pinsker.engine import _kernels
from pinsker.engine import _problem as check
from pinsker.engine._plan import Plan, Score, check_search, kernel_settings, plan_sample
from pinsker.engine._problem import FixedPoint, Problem
from pinsker.engine.backends import EngineName, Request, check_client, choose_backend
from pinsker.exceptions import ParameterError

EstimatorName = Literal["ksg", "gao"]


@dataclass(frozen=True)
class _FrozenSettings:
    """Fields of a frozen dataclass as scikit-learn's parameters."""

    def get_params(self, deep: bool = True) -> Fields:  # noqa: ARG002 (no field has its own)
        """Return the fields by name, as scikit-learn's estimators do; `deep` changes nothing."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def replace_params(self, **changes: Any) -> Self:
        """Return settings of the same class that differ in some fields, which are checked."""
        known = self.get_params()
        for name in changes:
            if name not in known:
                raise ParameterError(
                    f"{name!r} is no parameter of {type(self).__name__}: use one of "
                    f"{', '.join(known)}."
                )
        return replace(self, **changes)

    def set_params(self, **params: Any) -> Self:
        """Refuse to change a frozen object in place; without parameters return it."""
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

    __copy__ = __sklearn_clone__

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
    estimator : {"ksg", "gao"}, default="ksg"
        That of ``docs/estimator.md``, or Gao's, which the paper names. On rows without ties their
        differences are the same numbers; "gao" has Gao's for tied rows too, and is slow.

    Examples
    --------
    >>> from pinsker.engine import KNNSettings
    >>> KNNSettings().replace_params(n_neighbors=5).n_neighbors
    5
    """

    n_neighbors: int = 3
    scale: Scale = "copula"
    score: Score = "difference"
    max_samples: int | None = None
    estimator: EstimatorName = "ksg"

    def __post_init__(self) -> None:
        check.at_least("n_neighbors", self.n_neighbors, 1, check.MOST_NEIGHBORS)
        check.one_of("scale", self.scale, get_args(Scale))
        check.one_of("score", self.score, get_args(Score))
        if self.max_samples is not None:
            check.at_least("max_samples", self.max_samples, 1, or_none=True)
        check.one_of("estimator", self.estimator, get_args(EstimatorName))
        if self.estimator == "gao" and (self.score == "direct" or self.max_samples is not None):
            raise ParameterError("estimator='gao': use score='difference' and max_samples=None.")


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
    client: DaskClient = field(default=None, hash=False)
    max_memory: int | None = None

    def __post_init__(self) -> None:
        check.one_of("name", self.name, get_args(EngineName))
        check_client(self.client)
        if self.max_memory is not None:
            check.at_least("max_memory", self.max_memory, 1, check.MOST_MEMORY, or_none=True)

    def __getstate__(self) -> Fields:
        return {**vars(self), "client": None}


def count_threads(n_jobs: Unchecked) -> int:
    """Return the number of threads that scikit-learn's `n_jobs` stands for."""
    integer = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not integer or n_jobs == 0 or n_jobs > check.MOST_THREADS):
        raise ParameterError(
            f"n_jobs={check.shown(n_jobs)} means nothing: use a number of threads (at most "
            f"{check.MOST_THREADS}), -1 for all, or None.",
            parameter="n_jobs",
        )
    return int(effective_n_jobs(n_jobs))


def generator_of(random_state: RandomState) -> np.random.Generator:
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"random_state={check.shown(random_state)} is no seed ({error}): use an integer of at "
            "least 0.",
            parameter="random_state",
        ) from error


#: Parameters that hold an expert's settings: nested names such as ``knn__n_neighbors`` reach them.
SETTINGS: dict[str, type[_FrozenSettings]] = {"knn": KNNSettings, "engine": EngineSettings}
#: Names that the parameter `engine` may hold instead of settings.
ENGINES = get_args(EngineName)


def as_settings(name: str, value: Unchecked) -> Any:
    """Return the settings that a parameter stands for: an object, a name of an engine, or None."""
    if isinstance(value, SETTINGS[name]):
        return value
    return SETTINGS[name]() if value is None else EngineSettings(value)


_LOG = logging.getLogger("pinsker")


class Stepwise:
    """A search that moves one feature at a time; parameters as in `Backward` and `Forward`."""

    _keeps_pairs: ClassVar[bool]  # whether rows keep their pairs in memory between steps
    _search: _kernels.Backward | _kernels.Forward

    def __init__(
        self, problem: Problem, *, n_neighbors: int = 3, score: Score = "difference",
        active: Iterable[int] | None = None, n_threads: int = 1, max_memory: int | None = None,
        max_samples: int | None = None, seed: int = 0, engine: EngineName = "local",
        client: DaskClient = None,
    ) -> None:  # fmt: skip
        check_search(problem, max_memory, max_samples, seed, n_neighbors, n_threads)
        check.one_of("score", score, get_args(Score))
        self._problem, self._score, self._n_threads = problem, score, int(n_threads)
        self._active = np.zeros(problem.n_features, dtype=np.uint8)
        first = range(problem.n_features) if self._keeps_pairs else ()  # backward from all
        for feature in first if active is None else _listed(active):
            self._active[check.index_of("feature", feature, problem.n_features)] = 1
        request = Request(engine, client, problem, max_samples, max_memory)
        backend = choose_backend(request)
        plan = plan_sample(
            problem, max_memory=max_memory, max_samples=max_samples, seed=seed,
            keeps_pairs=self._keeps_pairs, n_neighbors=n_neighbors, n_threads=n_threads,
            workers=backend.memory(),
        )  # fmt: skip
        self._fixed = FixedPoint.of(problem.n_rows)
        settings = self._settings(plan, n_neighbors)
        self.plan: Plan
        self._search, self.plan = backend.run(request, plan, settings)
        _LOG.info("engine %s: %s", self.plan.engine, self.plan)
        self._search.start(self._active, self.n_threads)
        self.information = self._measured()  # I(Y; X_S) of the current set, in nats

    # What the state was made for cannot be exchanged: kernels read and write by it.
    @property
    def problem(self) -> Problem:
        return self._problem

    @property
    def score(self) -> Score:
        """What `scores` holds."""
        return self._score

    @property
    def n_threads(self) -> int:
        return self._n_threads

    @property
    def active(self) -> tuple[int, ...]:
        """Features in the current set, in increasing order."""
        return tuple(int(u) for u in np.flatnonzero(self._active))

    def _measured(self) -> float:
        """Return the information of the set that the kernel holds."""
        return float(self._nats(np.array([self._search.information()], dtype=np.int64))[0])

    def _settings(self, plan: Plan, n_neighbors: int) -> Fields:
        settings = kernel_settings(self.problem, self._fixed, plan.queries, n_neighbors)
        if plan.keeps_pairs:
            settings |= {"watched_queries": plan.n_watched, "state_bytes": plan.state_bytes}
        return {**settings, "direct": self.score == "direct"}

    def _nats(self, sums: np.ndarray) -> FloatArray:
        return self._fixed.to_nats(sums, len(self.plan.queries))


def _listed(active: Any) -> list[Any]:
    try:
        return list(active)
    except TypeError as error:
        raise ParameterError(
            f"active={active!r} is no list: give the numbers of features, or None.",
            parameter="active",
        ) from error


class Backward(Stepwise):
    """Scores every removal from the current set, and removes one feature at a time."""

    _keeps_pairs = True
    _search: _kernels.Backward

    def scores(self) -> FloatArray:
        """Return the score of every removal, in nats; NaN for features outside of the set."""
        sums = np.empty(self.problem.n_features, dtype=np.int64)
        self._search.changes(sums)
        scores = self._nats(sums if self.score == "direct" else -sums)
        if self._active.sum() == 1:  # the empty set has no information
            scores[:] = self.information
        scores[self._active == 0] = np.nan
        return scores

    def remove(self, feature: int) -> FloatArray:
        """Remove a feature from the set, and return the scores of what is left."""
        feature = check.index_of("feature", feature, self.problem.n_features)
        if not self._active[feature]:
            raise ParameterError(
                f"feature {feature} is not in the current set, so it cannot be removed."
            )
        self._active[feature] = 0
        self._search.remove(feature, self.n_threads)
        self.information = self._measured()
        return self.scores()


class Forward(Stepwise):
    """Scores every addition to the current set, and adds one feature at a time."""

    _keeps_pairs = False
    _search: _kernels.Forward

    def scores(self) -> FloatArray:
        """Return the score of every addition, in nats; NaN for features that are in the set."""
        sums = np.empty(self.problem.n_features, dtype=np.int64)
        self._search.sums(sums)
        # Subtracted as integers: exact, and the same bits whatever the order of the rows.
        if self.score == "difference":
            sums -= self._search.information()
        scores = self._nats(sums)
        scores[self._active == 1] = np.nan
        return scores

    def add(self, feature: int) -> FloatArray:
        """Add a feature to the set, and return the scores of the others."""
        feature = check.index_of("feature", feature, self.problem.n_features)
        if self._active[feature]:
            raise ParameterError(f"feature {feature} is in the current set already.")
        self._active[feature] = 1
        self._search.add(feature, self.n_threads)
        self.information = self._measured()
        return self.scores()
