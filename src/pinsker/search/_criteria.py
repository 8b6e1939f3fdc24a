"""The criteria of the literature: formulas over relevance, redundancy and conditional redundancy.

X is a candidate, Y the class, W what was chosen before: one feature, two, or all of them. A
criterion adds up (or takes the least of) a term over the W and sets the result against the
relevance I(X;Y). Everything is in nats. The first feature is always the most relevant one.
Brown et al., JMLR 13 (2012), sections 3 and 4, Table 1; Fleuret, JMLR 5 (2004); Bennasar et al.,
Expert Systems with Applications 42 (2015): JMIM, NJMIM; Kursa, SoftwareX 16 (2021): JMI3.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal

import numpy as np

from pinsker._notes import Note, Notes
from pinsker._types import AnyArray, BoolArray, Fields, FloatArray, IntArray
from pinsker.bounds import TargetFacts
from pinsker.encoding import Binned, Binning, Encoded, LargeTable, bin_columns, weighted_cuts
from pinsker.engine import (
    NATS_PER_COST,
    Correction,
    CountTables,
    Group,
    JointCosts,
    PackedColumns,
    PartitionTables,
)
from pinsker.exceptions import ParameterError


@dataclass(frozen=True, eq=False)
class Classes:
    """The target as classes."""

    labels: IntArray  # class codes
    edges: tuple[FloatArray, ...] = ()  # the cuts of each numeric target, in the user's unit


@dataclass(frozen=True, eq=False)
class CountingSettings:
    """How a table is cut into bins and counted."""

    bins: int = 5  # bins of a continuous column, and of a numeric target
    strategy: Binning = "frequency"  # how they are cut
    correction: Correction = "none"  # bias correction of every entropy
    n_threads: int = 1  # threads


@dataclass(frozen=True, eq=False)
class CountedProblem:
    """Integer tables of a problem."""

    tables: Any  # every feature of the search against the classes
    names: tuple[str, ...]  # one per feature
    binning: Binned  # how the columns were cut
    classes: Classes  # the target
    class_weights: FloatArray | None = None  # weight of each row of `classes`

    @classmethod
    def of(cls, encoded: Encoded, settings: CountingSettings) -> "CountedProblem":
        """Bin the columns, join those of a group, and lay everything out for counting."""
        weights = encoded.weights
        classes = target_classes(encoded, settings.bins)
        columns, labels = encoded.columns, classes.labels
        cut: Fields = {"bins": settings.bins, "strategy": settings.strategy}
        binning = bin_columns(columns, labels, weights, **cut)
        packed = PackedColumns.of(*feature_codes(encoded, binning))
        how: Fields = {"correction": settings.correction, "n_threads": settings.n_threads}
        present = np.unique(labels, return_inverse=True)[1]
        tables = CountTables.of(packed, present, sample_weight=weights, **how)
        return cls(tables, encoded.feature_names, binning, classes, weights)

    @classmethod
    def of_partitions(cls, large: LargeTable, settings: CountingSettings) -> "CountedProblem":
        """Lay out a Dask DataFrame: its partitions are coded and counted when they are needed."""
        coder = large.coder
        parts, sizes = large.partitions.map(coder.code), (len(coder.classes), large.n_rows)
        tables = PartitionTables(parts, coder.n_categories, *sizes, settings.correction)
        edges = () if large.target_cuts is None else (large.target_cuts,)
        classes = Classes(np.arange(len(large.class_sizes)), edges)
        weights = large.class_sizes.astype(np.float64)
        return cls(tables, large.sample.feature_names, large.binned, classes, weights)

    @property
    def facts(self) -> TargetFacts:
        counts = np.bincount(self.classes.labels, self.class_weights)
        prior, n_classes = float(counts.max() / counts.sum()), int(np.count_nonzero(counts))
        return TargetFacts("classification", n_classes=n_classes, largest_prior=prior)

    @property
    def notes(self) -> Notes:
        cuts = [edges.tolist() for edges in self.classes.edges]
        return self.binning.notes + ((Note("target in bins", (), {"cuts": cuts}),) if cuts else ())


def target_classes(encoded: Encoded, bins: int) -> Classes:
    """Return the classes of a target; numbers are cut into bins of equal frequency."""
    target, weights = encoded.target, encoded.weights
    if target.labels is not None:
        return Classes(target.labels)
    group, edges = Group.trivial(encoded.n_rows), []
    used = np.ones(encoded.n_rows) if weights is None else weights
    for values in target.numbers.T:
        cuts = weighted_cuts(values, used, bins)
        codes = np.searchsorted(cuts, values, side="left")
        group = group.joined(codes.astype(np.uint32), len(cuts) + 1)
        edges.append(cuts)
    _, labels = np.unique(group.codes, return_inverse=True)
    return Classes(labels.astype(np.int64), tuple(edges))


def feature_codes(encoded: Encoded, binning: Binned) -> tuple[AnyArray, IntArray]:
    """Give every feature one code per row: that of its column, or the joint one of its group."""
    if all(columns == (j,) for j, columns in enumerate(encoded.features)):
        return binning.codes, binning.n_categories
    codes = np.empty((binning.codes.shape[0], encoded.n_features), dtype=np.int64, order="F")
    n_categories = np.empty(encoded.n_features, dtype=np.int64)
    for j, columns in enumerate(encoded.features):
        group = Group.trivial(codes.shape[0])
        for column in columns:
            column_codes = binning.codes[:, column].astype(np.uint32)
            group = group.joined(column_codes, int(binning.n_categories[column]))
        codes[:, j], n_categories[j] = group.codes, group.n_groups
    return codes, n_categories


class Relevance:
    """Every column against the class, before anything is chosen."""

    def __init__(self, tables: Any) -> None:
        self.tables = tables
        self.costs = tables.joint(tables.nothing())
        #: Cost sum of the classes, and of the columns with and without them.
        self.of_classes, _ = tables.of_group(tables.nothing())

    @cached_property
    def values(self) -> FloatArray:
        """I(X;Y) of every column, in nats."""
        costs, base = self.costs, self.tables.base
        return _nats(costs.with_classes - costs.without_classes - self.of_classes + base)


class PairTerms:
    """The terms of every candidate X with one W: a chosen feature, or several as one."""

    def __init__(
        self, relevance: Relevance, group: Any, active: BoolArray, *, classes: bool = True
    ) -> None:
        self._single, self._tables = relevance, relevance.tables
        self._group, self._active, self._classes = group, active, classes

    @property
    def relevance(self) -> FloatArray:
        """I(X;Y)."""
        return self._single.values

    @cached_property
    def redundancy(self) -> FloatArray:
        """I(X;W)."""
        alone = self._single.costs.without_classes
        return _nats(self._pairs - alone - self._of_group[1] + self._tables.base)

    @cached_property
    def conditional_redundancy(self) -> FloatArray:
        """I(X;W|Y)."""
        triples, single = self._triples.with_classes, self._single
        return _nats(triples - single.costs.with_classes - self._of_group[0] + single.of_classes)

    @cached_property
    def conditional_relevance(self) -> FloatArray:
        """I(X;Y|W)."""
        triples, (with_classes, alone) = self._triples, self._of_group
        return _nats(triples.with_classes - triples.without_classes - with_classes + alone)

    @cached_property
    def joint_relevance(self) -> FloatArray:
        """I(X,W;Y)."""
        triples, base = self._triples, self._tables.base
        of_classes = self._single.of_classes
        return _nats(triples.with_classes - triples.without_classes - of_classes + base)

    @cached_property
    def joint_entropy(self) -> FloatArray:
        """H(X,W,Y)."""
        return _nats(self._tables.base - self._triples.with_classes)

    @cached_property
    def _of_group(self) -> tuple[int, int]:
        costs: tuple[int, int] = self._tables.of_group(self._group)
        return costs

    @cached_property
    def _triples(self) -> JointCosts:
        costs: JointCosts = self._tables.joint(self._group, self._active)
        return costs

    @cached_property
    def _pairs(self) -> IntArray:
        if self._classes or self._tables.in_passes:  # a pass counts with and without them
            return self._triples.without_classes
        costs: IntArray = self._tables.joint_without_classes(self._group, self._active)
        return costs


def _nats(costs: IntArray) -> FloatArray:
    return np.asarray(costs, dtype=np.float64) * NATS_PER_COST


_SMALLEST = float(np.finfo(np.float64).eps)  # redundancy that relevance is divided by
Term = Callable[[PairTerms], FloatArray]
#: score(relevance, folded term, how many features are chosen)
Score = Callable[[FloatArray, FloatArray, int], FloatArray]


@dataclass(frozen=True)
class Criterion:
    """A formula: a term for each chosen W, how terms combine, and the score that follows."""

    term: Term  # one number per candidate X beside one W
    fold: Literal["sum", "min", "last"]  # how the terms of several W combine
    score: Score  # from relevance, folded terms and the number of chosen features to the score
    given: Literal["feature", "pair", "set"] = "feature"
    classes: bool = True  # whether the term looks at the classes
    counts: bool = True  # whether the term counts anything at all
    gain: bool = False


def criterion_named(name: str, beta: float = 1.0, gamma: float = 1.0) -> Criterion:
    """Return the criterion of that name; `beta` and `gamma` matter where the formula has them."""
    known = _criteria(beta, gamma)
    if name not in known:
        raise ParameterError(f"criterion={name!r} is not known: use one of {', '.join(known)}.")
    return known[name]


def _criteria(beta: float, gamma: float) -> dict[str, Criterion]:
    redundancy = attrgetter("redundancy")
    given, joint = attrgetter("conditional_relevance"), attrgetter("joint_relevance")
    return {
        # I(X;Y)
        "mim": Criterion(attrgetter("relevance"), "last", lambda r, _t, _s: r, counts=False),
        # I(X;Y) - beta sum I(X;W)
        "mifs": Criterion(redundancy, "sum", lambda r, t, _s: r - beta * t, classes=False),
        # I(X;Y) - mean I(X;W)
        "mrmr": Criterion(redundancy, "sum", lambda r, t, s: r - t / s, classes=False),
        # I(X;Y) / mean I(X;W), and of no redundancy the order of the relevance, without infinities
        "mrmr-quotient": Criterion(
            redundancy, "sum", lambda r, t, s: r / np.maximum(t / s, _SMALLEST), classes=False
        ),
        "jmi": Criterion(joint, "sum", _term),  # sum I(X,W;Y)
        "jmi3": Criterion(joint, "sum", _term, given="pair"),  # sum over U < W of I(X,U,W;Y)
        "jmim": Criterion(joint, "min", _term),  # min I(X,W;Y)
        "njmim": Criterion(_joint_share, "min", _term),  # min I(X,W;Y) / H(X,W,Y)
        # min(I(X;Y), min I(X;Y|W))
        "cmim": Criterion(given, "min", lambda r, t, _s: np.minimum(r, t)),
        "cmim-brown": Criterion(given, "min", _term),  # min I(X;Y|W)
        "cife": Criterion(_synergy, "sum", _plus),  # I(X;Y) - sum I(X;W) + sum I(X;W|Y)
        # I(X;Y) - sum max(0, I(X;W) - I(X;W|Y))
        "icap": Criterion(lambda p: np.minimum(0.0, _synergy(p)), "sum", _plus),
        "disr": Criterion(_joint_share, "sum", _term),  # sum I(X,W;Y) / H(X,W,Y)
        # I(X;Y) + sum I(X;W|Y)
        "condred": Criterion(attrgetter("conditional_redundancy"), "sum", _plus),
        # I(X;Y) - beta sum I(X;W) + gamma sum I(X;W|Y)
        "beta-gamma": Criterion(
            lambda p: gamma * p.conditional_redundancy - beta * p.redundancy, "sum", _plus
        ),
        "cmi": Criterion(given, "last", _term, given="set", gain=True),  # I(X;Y|S)
    }


def _synergy(pair: PairTerms) -> FloatArray:
    return pair.conditional_redundancy - pair.redundancy


def _joint_share(pair: PairTerms) -> FloatArray:
    entropy = pair.joint_entropy
    share = np.zeros_like(entropy)
    np.divide(pair.joint_relevance, entropy, out=share, where=entropy > 0)
    return share


def _term(relevance: FloatArray, term: FloatArray, size: int) -> FloatArray:  # noqa: ARG001
    return term


def _plus(relevance: FloatArray, term: FloatArray, size: int) -> FloatArray:  # noqa: ARG001
    return relevance + term


#: Names that `criterion_named` knows.
CRITERIA = tuple(_criteria(1.0, 1.0))
