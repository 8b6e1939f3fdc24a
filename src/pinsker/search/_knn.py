r"""Searches by nearest neighbors (the paper's Algorithms 1 and 2, and both), and for hidden pairs.

Each is a function from a table to a path. All share `KNNSearchSettings`; what a search does not
need it leaves alone. Wide tables may be screened first: the features that counts rank first are
searched as a table of their own.

The search for pairs counts every pair (`PairTables`). Its *surplus* is
:math:`I(X_i X_j;Y) - I(X_i;Y) - I(X_j;Y)`: what neither shows alone, as in an exclusive-or, which
no search can find that looks at one feature at a time. The best pair is compared with the best
pairs of permuted targets. When it stands out it is found; when no pair does, the best single
feature is tried. Then the scan is repeated within strata of rows for which a forest of what was
found, fitted without them, predicts alike, so that one strong effect does not hide another, until
nothing shows.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri, log_ndtr

from pinsker._types import Fields, FloatArray, IntArray
from pinsker.encoding import Encoded, bin_columns, check_neighbors, take_features
from pinsker.engine import (
    Backward,
    EngineSettings,
    Forward,
    KNNSettings,
    PairTables,
    Problem,
    class_probabilities,
    generator_of,
)
from pinsker.exceptions import ParameterError
from pinsker.information import set_terms
from pinsker.search._criteria import feature_codes, target_classes
from pinsker.search._criterion import FeatureLimit, count_and_search
from pinsker.search._path import (
    Deadline,
    Direction,
    OnStep,
    SelectionPath,
    Trace,
    greedy,
    grow,
    has_stalled,
    most_grown,
    shrink,
)

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
#: Screened features are measured at this many rows, against all.
_MOST_SAMPLED = 500
_State = TypeVar("_State", Backward, Forward)


@dataclass(frozen=True)
class KNNSearchSettings:
    """How a search by neighbors works."""

    knn: KNNSettings = field(default_factory=KNNSettings)
    engine: EngineSettings = field(default_factory=EngineSettings)
    n_threads: int = 1  # threads
    seed: int = 0  # seed of the rows that are measured
    patience: int | None = None
    max_features: int | None = None  # growing ends at this many features
    at_least: int = 0  # growing does not end below this many features
    deadline: Deadline = field(default_factory=Deadline, compare=False)
    max_candidates: int | None = None

    def screens(self, n_features: int) -> bool:
        return self.max_candidates is not None and n_features > WIDE

    def scorer(self, kind: type[_State]) -> "type[_State] | partial[_GaoState]":
        """Return what scores removals (`Backward`) or additions by the estimator that is set."""
        return partial(_GaoState, grows=kind is Forward) if self.knn.estimator == "gao" else kind

    def of_engine(self, problem: Encoded) -> Fields:
        if problem.weights is not None:
            raise ParameterError(NEIGHBORS_TAKE_NO_WEIGHTS, parameter="sample_weight")
        knn, engine = self.knn, self.engine
        k = check_neighbors(knn.n_neighbors, problem.n_rows)
        where = {"engine": engine.name, "client": engine.client, "max_memory": engine.max_memory}
        how = {"n_neighbors": k, "score": knn.score, "max_samples": knn.max_samples}
        own = {"n_threads": self.n_threads, "seed": self.seed}
        return {"problem": Problem.of(problem), **how, **own, **where}


class _GaoState:
    """A set of features by Gao's estimator: every candidate is measured from scratch."""

    plan = None

    def __init__(
        self,
        problem: Problem,
        *,
        grows: bool,
        n_neighbors: int,
        n_threads: int,
        active: Iterable[int] | None = None,
        **_where: object,  # a GPU or a cluster has no kernel for it
    ) -> None:
        self._problem, self._grows = problem, grows
        self._k, self._n_threads = n_neighbors, n_threads
        everything = () if grows else range(problem.n_features)
        self._set = frozenset(everything if active is None else active)
        self._known = {frozenset[int](): 0.0}

    @property
    def active(self) -> tuple[int, ...]:
        return tuple(sorted(self._set))

    @property
    def information(self) -> float:
        return self._information(self._set)

    def scores(self) -> FloatArray:
        scores = np.full(self._problem.n_features, np.nan)
        for feature in set(range(len(scores))) - self._set if self._grows else self._set:
            change = self._information(self._set ^ {feature}) - self.information
            scores[feature] = change if self._grows else -change
        return scores

    def add(self, feature: int) -> None:
        self._set |= {feature}

    def remove(self, feature: int) -> None:
        self._set -= {feature}

    def _information(self, features: frozenset[int]) -> float:
        if features not in self._known:
            given = {"k": self._k, "n_threads": self._n_threads}
            self._known[features] = set_terms(self._problem, features, method="gao", **given).value
        return self._known[features]


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
        moves = tuple(self.chosen[feature] for feature in path.moves)
        start = tuple(self.chosen[feature] for feature in path.first_set)
        return replace(path, names=self.names, moves=moves, start=start)


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
    return _shrunk(problem, settings, fixed, on_step, earlier=earlier)


def forward(
    problem: Encoded,
    settings: KNNSearchSettings,
    fixed: Sequence[int] = (),
    on_step: OnStep | None = None,
    *,
    earlier: SelectionPath | None = None,
) -> SelectionPath:
    """Add the feature that brings most information, until the information has stopped rising."""
    most = max(settings.max_features or np.inf, len(fixed))
    if earlier is not None and len(earlier.moves) > most:
        earlier = None  # it went farther than is asked for now
    options = settings.of_engine(problem)
    full = settings.scorer(Forward)(**options, active=range(problem.n_features)).information
    state = settings.scorer(Forward)(**options, active=() if earlier is None else earlier.last_set)
    trace = Trace.resume(earlier) if earlier else Trace((), [0.0])
    on_step, n = settings.deadline.checked(on_step), problem.n_features
    limits = {name: vars(settings)[name] for name in ("patience", "at_least", "max_features")}
    grow(state, trace, n_features=n, fixed=fixed, on_step=on_step, **limits)
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
    return _shrunk(problem, settings, fixed, on_step, *grow_past_peak(problem, settings, fixed))


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
        return _shrunk(problem, settings, fixed, None, *growth), forward(problem, settings, fixed)
    trace, full = growth
    size = min(max(len(fixed), settings.at_least), len(trace.moves))
    while size < len(trace.moves) and not has_stalled(trace.beginning(size), settings.patience):
        size += 1
    grown = trace.beginning(size)
    grown_path = _ended("forward", grown, problem, settings, fixed, full_information=full)
    return _shrunk(problem, settings, fixed, None, *growth), grown_path


def grow_past_peak(
    problem: Encoded, settings: KNNSearchSettings, fixed: Sequence[int] = ()
) -> tuple[Trace, float]:
    """Add features until the peak is as far behind as high; return also what all of them carry."""
    options = settings.of_engine(problem)
    full = settings.scorer(Forward)(**options, active=range(problem.n_features)).information
    least, patience = max(settings.at_least, len(fixed)), settings.patience or 0

    def is_past_peak(trace: Trace) -> bool:
        peak = trace.information.index(max(trace.information))
        size = len(trace.moves)
        return size > 0 and size >= least and size - peak >= max(patience, peak)

    n_moves = most_grown(problem.n_features, fixed, settings.max_features)
    state, trace = settings.scorer(Forward)(**options), Trace((), [0.0])
    on_step = settings.deadline.checked(None)
    greedy(state, trace, "forward", n_moves, fixed=fixed, is_over=is_past_peak, on_step=on_step)
    if trace.broken_by is not None:  # no path yet
        raise trace.broken_by
    return trace, full


def relevance(
    problem: Encoded, settings: KNNSearchSettings, fixed: Sequence[int] = ()
) -> SelectionPath:
    if settings.screens(problem.n_features):
        few = _Screened.of(problem, settings, fixed)
        return few.renumbered(relevance(few.problem, few.settings, few.fixed))
    scores = settings.scorer(Forward)(**settings.of_engine(problem)).scores()
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


#: Sets whose information is measured though time is up, and rows that it is measured at then.
_FEWEST_MEASURED, _FEW_ROWS = 1, 50


def measure_sets(
    path: SelectionPath, problem: Encoded, settings: KNNSearchSettings, most: int = MOST_MEASURED
) -> SelectionPath:
    """Return a path with the information of its first sets filled in, if it was not measured."""
    if not np.isnan(path.information).any():
        return path
    order = path.order[: max(min(most, MOST_MEASURED), path.n_fixed)]
    if problem.weights is not None:  # neighbors take no weights: counts do
        counted = count_and_search(problem, "jmi", order, rule=FeatureLimit(len(order)))
        return replace(counted.continued(path.order[len(order) :]), n_fixed=path.n_fixed)
    problem = take_features(problem, order)
    settings = _with_rows_in_time(problem, settings)
    state = settings.scorer(Forward)(**settings.of_engine(problem))
    trace = Trace((), [0.0], complete=True)
    for position, feature in enumerate(order):
        if settings.deadline.is_over and position >= max(_FEWEST_MEASURED, path.n_fixed):
            break
        state.add(position)
        trace.record(feature, state.information - trace.information[-1], state.information)
    if len(trace.moves) < len(order):
        settings.deadline.left_out.append("information of sets")
    order = order[: len(trace.moves)]
    measured = trace.path("forward", path.names, "relevance", n_fixed=path.n_fixed)
    return measured.continued(path.order[len(order) :])


def _with_rows_in_time(problem: Encoded, settings: KNNSearchSettings) -> KNNSearchSettings:
    """Return settings with the rows that half of the time that is left can measure."""
    deadline, knn, started = settings.deadline, settings.knn, settings.deadline.left
    wanted = min(knn.max_samples or problem.n_rows, problem.n_rows)
    if wanted <= _FEW_ROWS or (math.isinf(started) and not deadline.is_over):
        return settings
    few, n = replace(settings, knn=replace(knn, max_samples=_FEW_ROWS)), _FEW_ROWS
    if not deadline.is_over:
        few.scorer(Forward)(**few.of_engine(problem)).add(0)  # the kernel does not see the clock
        seconds = max(started - deadline.left, 1e-9) / _FEW_ROWS
        n = max(int(0.5 * deadline.left / seconds), _FEW_ROWS)
    if n >= wanted:
        return settings
    deadline.left_out.append("rows of information")
    return replace(settings, knn=replace(knn, max_samples=n))


def _shrunk(
    problem: Encoded,
    settings: KNNSearchSettings,
    fixed: Sequence[int],
    on_step: OnStep | None,
    grown: Trace | None = None,
    full: float | None = None,
    earlier: SelectionPath | None = None,
) -> SelectionPath:
    start = earlier.last_set if earlier is not None else None if grown is None else grown.moves
    state = settings.scorer(Backward)(**settings.of_engine(problem), active=start)
    trace = Trace.resume(earlier) if earlier else Trace(state.active, [state.information])
    shrink(state, trace, fixed=fixed, on_step=settings.deadline.checked(on_step))
    known = {"plan": state.plan} if grown is None else {"full_information": full}
    return _ended("backward", trace, problem, settings, fixed, **known)


def _ended(
    direction: Direction,
    trace: Trace,
    problem: Encoded,
    settings: KNNSearchSettings,
    fixed: Sequence[int],
    **known: Any,
) -> SelectionPath:
    score, names = settings.knn.score, problem.feature_names
    return trace.finish(trace.path(direction, names, score, n_fixed=len(fixed), **known))


#: A pair is found when its family-wise p-value is at most this.
PAIR_LEVEL = 0.01
#: A search goes on as long as chance would do as well in at most half of all cases: it proposes,
#: and held-out rows decide. Of ring+xor+sum (833 x 2048) it finds .93 of the columns, .83 at 0.05.
_SEARCH_LEVEL = 0.5
#: Rows that a cell of a pair's table holds on average, for each class.
_ROWS_PER_CELL = 20
#: Fewer rows show no interaction among many pairs.
_FEWEST_ROWS = 50
#: Among fewer features the searches by neighbors find what two carry together by themselves.
_FEWEST_FEATURES = 50
#: Cells counted in one scan of ``searches="auto"``: some seconds.
_MOST_CELLS = 1e12
#: Permuted targets of a round, and the columns that each is scanned with: enough for the scale of
#: the best of all pairs, whose number is known.
_PERMUTATIONS, _PERMUTED_COLUMNS = 8, 512
#: Pairs and single features that a search looks for.
_ROUNDS = 8
#: Features that follow one after the other; those beyond are ranked by what they add to these.
_MOST_BESIDE = 24
#: Strata of what was found: one a class, this many at most. Two of a forest's predictions show a
#: ring beside an exclusive-or and a sum (833 x 2048) at p = 2e-4; four of counted cells, at 0.1.
_MOST_STRATA = 4
#: The forest that predicts what was found, and the folds that it is fitted without.
_TREES, _FEWEST_IN_LEAF, _FOLDS = 64, 3, 5
#: Best scores of a permutation that the tail is fitted to: a tenth of all, this many at most.
_MOST_IN_TAIL, _FEWEST_IN_TAIL = 25, 10
#: Pairs whose p-value alone, before any correction, is above this are not looked at further.
_DULL = 1e-3


@dataclass(frozen=True)
class PairFound:
    """A pair of features, or a single one, and what it carries."""

    features: tuple[int, ...]  # the features
    alone: tuple[float, ...]  # I(X;Y) of each, in nats
    together: float  # I(X_i X_j;Y), in nats
    surplus: float  # `together` minus all of `alone`, in nats
    p_value: float


@dataclass(frozen=True, eq=False)
class PairProblem:
    """Features as few bins and a target as few classes."""

    codes: npt.NDArray[np.uint8]  # bins of each feature
    labels: IntArray  # classes
    encoded: Encoded | None = None  # the values behind the bins

    @classmethod
    def of(cls, encoded: Encoded, order: int = 2) -> "PairProblem":
        """Cut columns into 2 to 8 bins, as the rows allow, and numeric targets into 2 to 4."""
        n = encoded.n_rows
        bins = 2 + int(n >= 500) + int(n >= 2000)
        labels = np.unique(target_classes(encoded, bins).labels, return_inverse=True)[1]
        size = n_pair_bins(n, int(labels.max()) + 1, order)
        binned = bin_columns(encoded.columns, bins=size)
        codes, n_categories = feature_codes(encoded, binned)
        coded = np.empty((encoded.n_features, n), dtype=np.uint8)
        most = max(size, 4)
        for j, own in enumerate(codes.T):
            if n_categories[j] > most:  # the rarest become one
                counts = np.bincount(own, minlength=int(n_categories[j]))
                place = np.full(len(counts), most - 1)
                place[np.argsort(-counts, kind="stable")[: most - 1]] = np.arange(most - 1)
                own = place[own]
            coded[j] = own
        return cls(coded, labels.astype(np.int64), encoded)


def n_pair_bins(n_rows: int, n_classes: int, order: int = 2) -> int:
    enough = [b for b in (3, 4, 6, 8) if _ROWS_PER_CELL * b**order * n_classes <= n_rows]
    return max([2, *enough])


class PairScan:
    """Scans all pairs of a problem, and compares the best with those of permuted targets."""

    def __init__(
        self, problem: PairProblem, n_permutations: int = 0, seed: int = 0, n_threads: int = 1
    ) -> None:
        self.problem, self.n_threads = problem, n_threads
        self.n_permutations = n_permutations or _PERMUTATIONS
        self.rng = generator_of(seed)
        self.strata = np.zeros(len(problem.labels), dtype=np.int64)

    def tables(self) -> PairTables:
        codes, labels = self.problem.codes, self.problem.labels
        return PairTables.of(codes, labels, self.strata, n_threads=self.n_threads)

    def permuted(self) -> tuple["ChanceTail", "ChanceTail"]:
        """Return what pairs and single features score when the target is permuted in strata."""
        codes, labels = self.problem.codes, self.problem.labels
        n_columns, n_rows = codes.shape
        used = min(n_columns, _PERMUTED_COLUMNS)
        of_pairs, of_singles = [], []
        for _ in range(self.n_permutations):
            some = np.sort(self.rng.permutation(n_columns)[:used])
            order = np.lexsort(np.stack([self.rng.random(n_rows), self.strata]))
            shuffled = np.empty_like(labels)
            shuffled[np.argsort(self.strata, kind="stable")] = labels[order]
            tables = PairTables.of(codes[some], shuffled, self.strata, n_threads=self.n_threads)
            of_pairs.append(best_pairs(tables, codes[some], _tail_size(used * (used - 1) // 2))[2])
            singles = np.sort(single_scores(tables, codes[some]))[::-1]
            of_singles.append(singles[: _tail_size(used)])
        share = used / n_columns
        return ChanceTail.of(of_pairs, 1.0 / share**2), ChanceTail.of(of_singles, 1.0 / share)

    def describe(self, features: tuple[int, ...], p_value: float) -> PairFound:
        codes, labels = self.problem.codes[list(features)], self.problem.labels
        tables = PairTables.of(codes, labels)
        alone = tuple(float(value) for value in tables.alone)
        surplus = float(next(tables.blocks())[1][0, 1]) if len(features) > 1 else 0.0
        return PairFound(features, alone, surplus + sum(alone), surplus, p_value)

    def rounds(self, level: float = PAIR_LEVEL, most: int = _ROUNDS) -> Iterator[PairFound]:
        """Yield pairs and single features one after the other, each given those before it."""
        known: set[int] = set()
        for _ in range(most):
            tables = self.tables()
            of_pairs, of_singles = self.permuted()
            features: tuple[int, ...] = ()
            p_value, codes = 1.0, self.problem.codes
            for i, j, score in zip(*best_pairs(tables, codes, 1 + len(known) ** 2), strict=True):
                if not {int(i), int(j)} <= known:
                    features, p_value = (int(i), int(j)), of_pairs.p_value(float(score))
                    break
            if p_value > PAIR_LEVEL:
                scores = single_scores(tables, codes)
                scores[list(known)] = -np.inf
                best = int(np.argmax(scores))
                p_single = of_singles.p_value(float(scores[best]))
                if p_single <= max(PAIR_LEVEL, p_value):
                    features, p_value = (best,), p_single
            if p_value > level:
                return
            yield self.describe(features, p_value)
            known |= set(features)
            self.strata = self._strata(sorted(known))

    def _strata(self, features: Sequence[int]) -> IntArray:
        """Divide the rows by what a forest of features predicts, fitted without them."""
        encoded, labels = self.problem.encoded, self.problem.labels
        values = self.problem.codes[list(features)].T.astype(np.float64)
        if encoded is not None:
            columns = [j for feature in features for j in encoded.features[feature]]
            values = encoded.columns.values[:, columns]
        n_classes = int(labels.max()) + 1
        fold = self.rng.permutation(len(labels)) % _FOLDS
        shares = np.empty((len(labels), n_classes))
        for k in range(_FOLDS):
            seen, out = fold != k, fold == k
            shares[out] = class_probabilities(
                values[seen], labels[seen], values[out], n_classes,
                n_trees=_TREES, min_leaf=_FEWEST_IN_LEAF, n_candidates=len(features), seed=k,
            )  # fmt: skip
        shares -= shares.mean(axis=0)
        along = shares @ np.linalg.svd(shares, full_matrices=False)[2][0]
        ranks = np.searchsorted(np.sort(along), along)  # rows of equal predictions stay together
        group = ranks * min(n_classes, _MOST_STRATA) // len(labels)
        return np.unique(group, return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True)
class ChanceTail:
    """How many scores above any value a scan shows by chance."""

    log_start: float  # log p_0
    exponent: float  # k
    count: float  # c: expected scores of a scan beyond p_0

    @classmethod
    def of(cls, scores: Sequence[FloatArray], factor: float) -> "ChanceTail":
        """Fit the tail to the best scores of each permutation; `factor`: of pairs left out."""
        logs = np.sort(log_ndtr(-np.concatenate(scores)))
        if len(logs) < _FEWEST_IN_TAIL:
            return cls(0.0, 1.0, np.inf)
        # Each permutation's list is cut where the shortest begins, so that all are complete.
        start = min(float(log_ndtr(-part[-1])) for part in scores if len(part))
        inside = logs[logs <= start]
        hill = 1.0 / max(float(np.mean(start - inside)), 1e-12)
        exponent = min(1.0, hill) * (1.0 - 1.0 / np.sqrt(len(inside)))
        return cls(start, exponent, factor * len(inside) / len(scores))

    def p_value(self, score: float) -> float:
        log_share = self.exponent * (float(log_ndtr(-score)) - self.log_start)
        return float(-np.expm1(-self.count * np.exp(min(0.0, log_share))))


def best_pairs(
    tables: PairTables, codes: npt.NDArray[np.uint8], n_best: int
) -> tuple[IntArray, IntArray, FloatArray]:
    n_rows = codes.shape[1]
    sides = codes.max(axis=1) * np.sqrt((tables.n_classes - 1.0) * tables.n_strata)
    fewest = max(1.0, float(np.min(sides[sides > 0], initial=np.inf)) ** 2)
    share = min(0.5, max(_DULL, 100.0 / len(codes) ** 2))
    dull = (chdtri(fewest, share) if np.isfinite(fewest) else np.inf) / (2 * n_rows)
    kept: list[tuple[IntArray, IntArray, FloatArray]] = []
    for first, surplus in tables.blocks():
        rows, columns = np.nonzero(surplus > dull)
        degrees = np.maximum(sides[first + rows] * sides[columns], 1.0)
        scores = _scores(2 * n_rows * surplus[rows, columns].astype(np.float64), degrees)
        at = np.argsort(-scores, kind="stable")[:n_best]
        kept.append((first + rows[at], columns[at], scores[at]))
    i, j, scores = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    at = np.argsort(-scores, kind="stable")[:n_best]
    return i[at], j[at], scores[at]


def single_scores(tables: PairTables, codes: npt.NDArray[np.uint8]) -> FloatArray:
    degrees = codes.max(axis=1) * (tables.n_classes - 1.0) * tables.n_strata
    scores = _scores(2 * codes.shape[1] * tables.alone, np.maximum(degrees, 1.0))
    return np.where(degrees > 0, scores, -np.inf)


def pairs(problem: Encoded, fixed: Sequence[int] = (), *, seed: int = 0) -> SelectionPath:
    """Order the features: what the rounds of a `PairScan` find, then the others by JMI."""
    found: list[int] = []
    if problem.n_features > 1 and problem.n_rows >= _FEWEST_ROWS:
        scan = PairScan(PairProblem.of(problem), seed=seed)
        # A round takes the square of the columns: as many as 8 of 2048 columns take.
        most = min(_ROUNDS, max(1, int(_ROUNDS * (2048 / problem.n_features) ** 2)))
        rounds = scan.rounds(_SEARCH_LEVEL, most)
        found = [feature for pair in rounds for feature in pair.features]
    first = tuple(dict.fromkeys([*fixed, *found]))
    others = count_and_search(problem, "jmi", first, most=_MOST_BESIDE + len(first)).moves
    return given_order(problem, tuple(dict.fromkeys([*first, *others])), len(fixed))


def has_hidden_pair(problem: Encoded, seed: int = 0) -> bool:
    """Return whether two of many features carry more together than either shows alone."""
    d, n = problem.n_features, problem.n_rows
    n_cells = d**2 / 2 * n * n_pair_bins(n, 2) ** 2
    if d < _FEWEST_FEATURES or n < _FEWEST_ROWS or n_cells > _MOST_CELLS:
        return False
    scan = PairScan(PairProblem.of(problem), seed=seed)
    return any(found.surplus > max(found.alone) for found in scan.rounds(most=2))


def _tail_size(n: int) -> int:
    return int(np.clip(n // 10, 2, _MOST_IN_TAIL))


def _scores(values: FloatArray, degrees: FloatArray) -> FloatArray:
    """Return normal quantiles of chi-squared values."""
    spread = 2.0 / (9.0 * degrees)
    return np.asarray((np.cbrt(values / degrees) - (1.0 - spread)) / np.sqrt(spread))
