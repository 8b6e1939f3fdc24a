"""Searches by nearest neighbors: the paper's Algorithms 1 and 2, and their combination.

Each is a function from a table to a path. All share `KNNSearchSettings`; what a search does not
need it leaves alone. Wide tables may be screened first: the features that counts rank first are
searched as a table of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from pinsker._types import Fields
from pinsker.encoding import Encoded, check_neighbors, take_features
from pinsker.engine import Backward, EngineSettings, Forward, KNNSettings, Problem
from pinsker.exceptions import ParameterError
from pinsker.search._criterion import FeatureLimit, count_and_search
from pinsker.search._greedy import Deadline, OnStep, Trace, grow, has_stalled, shrink
from pinsker.search._path import Direction, SelectionPath

#: Orders that no set was measured for are followed, and measured, so far.
MOST_MEASURED = 100
#: Why a search by neighbors refuses weighted rows.
NEIGHBORS_TAKE_NO_WEIGHTS = (
    "searches by neighbors take no <sample_weight|--weights>: use <searches=auto>, 'jmi', 'cmim' "
    "or 'linear', <CriterionSelection or LinearSelection|--direction linear>, or fit without "
    "weights."
)
#: Tables with more features are screened where `KNNSearchSettings.max_candidates` says so. A step
#: costs rows x rows x features: growing took 27 s on 1008 x 1024 with 20 classes, 2.6 s screened.
WIDE = 256
#: Screened features are measured at so many rows, against all. Text counts, 1400 rows with most
#: distances 0: 2.6 s instead of 7.6 s, with as many relevant words among the first 8, 15 and 30.
_MOST_SAMPLED = 500


@dataclass(frozen=True)
class KNNSearchSettings:
    """How a search by neighbors works."""

    knn: KNNSettings = field(default_factory=KNNSettings)
    engine: EngineSettings = field(default_factory=EngineSettings)
    n_threads: int = 1  # threads
    seed: int = 0  # seed of the rows that are measured
    patience: int | None = None
    max_features: int | None = None  # growing ends at so many features
    at_least: int = 0  # growing does not end below so many features
    deadline: Deadline = field(default_factory=Deadline, compare=False)
    max_candidates: int | None = None

    def screens(self, n_features: int) -> bool:
        """Return whether a table of so many features is screened before it is searched."""
        return self.max_candidates is not None and n_features > WIDE

    def of_engine(self, problem: Encoded) -> Fields:
        """Return the arguments of the engine's `Backward` and `Forward`."""
        if problem.weights is not None:
            raise ParameterError(NEIGHBORS_TAKE_NO_WEIGHTS, parameter="sample_weight")
        return {
            "problem": Problem.of(problem),
            "n_neighbors": check_neighbors(self.knn.n_neighbors, problem.n_rows),
            "score": self.knn.score,
            "n_threads": self.n_threads,
            "max_memory": self.engine.max_memory,
            "max_samples": self.knn.max_samples,
            "seed": self.seed,
            "engine": self.engine.name,
            "client": self.engine.client,
        }


class _Screened(NamedTuple):
    """The features of a wide table that counts rank first, as a table of their own."""

    problem: Encoded
    settings: KNNSearchSettings
    fixed: Sequence[int]
    chosen: tuple[int, ...]  # their numbers in the wide table
    names: tuple[str, ...]  # of all features there

    @classmethod
    def of(cls, problem: Encoded, settings: KNNSearchSettings, fixed: Sequence[int]) -> "_Screened":
        # Joint mutual information sees what a feature tells together with those before it, which
        # its relevance alone does not. Fixed features are chosen first.
        most = max(settings.max_candidates or 0, settings.at_least, len(fixed))
        chosen = count_and_search(problem, "jmi", fixed, rule=FeatureLimit(most)).order
        sampled = min(settings.knn.max_samples or _MOST_SAMPLED, _MOST_SAMPLED)
        knn = replace(settings.knn, max_samples=sampled)
        inner = replace(settings, knn=knn, max_candidates=None)
        part = take_features(problem, chosen)
        return cls(part, inner, range(len(fixed)), chosen, problem.feature_names)

    def renumbered(self, path: SelectionPath) -> SelectionPath:
        """Return a path through these features with the numbers of the wide table."""
        moves = tuple(self.chosen[feature] for feature in path.moves)
        start = tuple(self.chosen[feature] for feature in path.first_set)
        return replace(path, names=self.names, moves=moves, start=start)


class Growth(NamedTuple):
    """A growing search, and the information of all features together (nats)."""

    trace: Trace
    full_information: float


def backward(
    problem: Encoded,
    settings: KNNSearchSettings,
    fixed: Sequence[int] = (),
    on_step: OnStep | None = None,
    *,
    earlier: SelectionPath | None = None,
) -> SelectionPath:
    """Remove the feature that carries least information, from all features down to none."""
    if earlier is not None and earlier.complete:
        return earlier
    if settings.screens(problem.n_features):
        few = _Screened.of(problem, settings, fixed)
        return few.renumbered(backward(few.problem, few.settings, few.fixed))
    active = None if earlier is None else earlier.last_set
    state = Backward(**settings.of_engine(problem), active=active)
    trace = Trace.resume(earlier) if earlier else Trace(state.active, [state.information])
    shrink(state, trace, fixed=fixed, on_step=settings.deadline.checked(on_step))
    return _ended("backward", trace, problem, settings, fixed, plan=state.plan)


def forward(
    problem: Encoded,
    settings: KNNSearchSettings,
    fixed: Sequence[int] = (),
    on_step: OnStep | None = None,
    *,
    earlier: SelectionPath | None = None,
) -> SelectionPath:
    """Add the feature that brings most information, until the information has stopped rising."""
    if earlier is not None and len(earlier.moves) > max(
        settings.max_features or np.inf, len(fixed)
    ):
        earlier = None  # it went farther than is asked for now
    options = settings.of_engine(problem)
    full = Forward(**options, active=range(problem.n_features)).information
    state = Forward(**options, active=() if earlier is None else earlier.last_set)
    trace = Trace.resume(earlier) if earlier else Trace((), [0.0])
    grow(
        state,
        trace,
        n_features=problem.n_features,
        fixed=fixed,
        patience=settings.patience,
        at_least=settings.at_least,
        max_features=settings.max_features,
        on_step=settings.deadline.checked(on_step),
    )
    known = {"full_information": full, "plan": state.plan}
    return _ended("forward", trace, problem, settings, fixed, **known)


def forward_backward(
    problem: Encoded,
    settings: KNNSearchSettings,
    fixed: Sequence[int] = (),
    on_step: OnStep | None = None,
    *,
    earlier: SelectionPath | None = None,
) -> SelectionPath:
    """Add features until well past the peak of the information, then remove the weakest."""
    if earlier is not None and earlier.complete:
        return earlier
    return _shrunk(problem, settings, fixed, on_step, grow_past_peak(problem, settings, fixed))


def forward_backward_and_forward(
    problem: Encoded, settings: KNNSearchSettings, fixed: Sequence[int] = ()
) -> tuple[SelectionPath, SelectionPath]:
    """Return the paths of `forward_backward` and of `forward`, which begin with the same growth."""
    if settings.screens(problem.n_features):
        few = _Screened.of(problem, settings, fixed)
        first, second = forward_backward_and_forward(few.problem, few.settings, few.fixed)
        return few.renumbered(first), few.renumbered(second)
    growth = grow_past_peak(problem, settings, fixed)
    if settings.patience is None:  # then forward goes on beyond the growth
        return _shrunk(problem, settings, fixed, None, growth), forward(problem, settings, fixed)
    trace, full = growth
    size = min(max(len(fixed), settings.at_least), len(trace.moves))
    while size < len(trace.moves) and not has_stalled(trace.beginning(size), settings.patience):
        size += 1
    grown = trace.beginning(size)
    grown_path = _ended("forward", grown, problem, settings, fixed, full_information=full)
    return _shrunk(problem, settings, fixed, None, growth), grown_path


def grow_past_peak(
    problem: Encoded, settings: KNNSearchSettings, fixed: Sequence[int] = ()
) -> Growth:
    """Add features until the peak lies as far behind as it is high, `patience` additions at least.

    A growth that was broken off is no path yet: the interrupt or the loss is raised.
    """
    options = settings.of_engine(problem)
    full = Forward(**options, active=range(problem.n_features)).information
    least, patience = max(settings.at_least, len(fixed)), settings.patience or 0

    def is_past_peak(trace: Trace) -> bool:
        peak = trace.information.index(max(trace.information))
        size = len(trace.moves)
        return size > 0 and size >= least and size - peak >= max(patience, peak)

    trace = grow(
        Forward(**options),
        Trace((), [0.0]),
        n_features=problem.n_features,
        fixed=fixed,
        max_features=settings.max_features,
        is_over=is_past_peak,
        on_step=settings.deadline.checked(None),
    )
    if trace.broken_by is not None:
        raise trace.broken_by
    return Growth(trace, full)


def relevance(
    problem: Encoded, settings: KNNSearchSettings, fixed: Sequence[int] = ()
) -> SelectionPath:
    """Order the features by the information that each carries alone."""
    if settings.screens(problem.n_features):
        few = _Screened.of(problem, settings, fixed)
        return few.renumbered(relevance(few.problem, few.settings, few.fixed))
    scores = Forward(**settings.of_engine(problem)).scores()
    ranked = [int(feature) for feature in np.argsort(-scores, kind="stable")]
    order = tuple(dict.fromkeys([*fixed, *ranked]))
    return given_order(problem, order, len(fixed), [float(scores[feature]) for feature in order])


def given_order(
    problem: Encoded, order: Sequence[int], n_fixed: int = 0, scores: Sequence[float] | None = None
) -> SelectionPath:
    """Return an order of features as a path whose sets were not measured."""
    trace = Trace((), [0.0], complete=True)
    for position, feature in enumerate(order):
        trace.record(feature, float("nan") if scores is None else scores[position], float("nan"))
    return trace.path("forward", problem.feature_names, "relevance", n_fixed=n_fixed)


def measure_sets(
    path: SelectionPath, problem: Encoded, settings: KNNSearchSettings
) -> SelectionPath:
    """Return a path with the information of its sets filled in, where it was not measured yet."""
    if not np.isnan(path.information).any():
        return path
    order = path.order[: max(MOST_MEASURED, path.n_fixed)]
    if problem.weights is not None:  # neighbors take no weights: counts do
        counted = count_and_search(problem, "jmi", order, rule=FeatureLimit(len(order)))
        return replace(counted.continued(path.order[len(order) :]), n_fixed=path.n_fixed)
    state = Forward(**settings.of_engine(take_features(problem, order)))
    trace = Trace((), [0.0], complete=True)
    for position, feature in enumerate(order):
        state.add(position)
        trace.record(feature, state.information - trace.information[-1], state.information)
    measured = trace.path("forward", problem.feature_names, "relevance", n_fixed=path.n_fixed)
    return measured.continued(path.order[len(order) :])


def _shrunk(
    problem: Encoded,
    settings: KNNSearchSettings,
    fixed: Sequence[int],
    on_step: OnStep | None,
    growth: Growth,
) -> SelectionPath:
    """Remove features from the set that was grown."""
    state = Backward(**settings.of_engine(problem), active=growth.trace.moves)
    trace = Trace(state.active, [state.information])
    shrink(state, trace, fixed=fixed, on_step=settings.deadline.checked(on_step))
    full = growth.full_information
    return _ended("backward", trace, problem, settings, fixed, full_information=full)


def _ended(
    direction: Direction,
    trace: Trace,
    problem: Encoded,
    settings: KNNSearchSettings,
    fixed: Sequence[int],
    **known: Any,
) -> SelectionPath:
    """Return the path of a search that ended; `known` are further fields of it."""
    score, names = settings.knn.score, problem.feature_names
    return trace.finish(trace.path(direction, names, score, n_fixed=len(fixed), **known))
