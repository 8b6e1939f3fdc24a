"""The criteria of the literature: formulas over relevance, redundancy and conditional redundancy.

X is a candidate, Y the class, W what was chosen before: one feature, two, or all of them. A
criterion adds up (or takes the least of) a term over the W and sets the result against the
relevance I(X;Y). Everything is in nats. The first feature is always the most relevant one.

References
----------
Brown, Pocock, Zhao, Luján, "Conditional likelihood maximisation: a unifying framework for
information theoretic feature selection", JMLR 13 (2012), sections 3 and 4, Table 1.
Fleuret, "Fast binary feature selection with conditional mutual information", JMLR 5 (2004).
Bennasar, Hicks, Setchi, "Feature selection using joint mutual information maximisation",
Expert Systems with Applications 42 (2015): JMIM, NJMIM.
Kursa, "Praznik: high performance information-based feature selection", SoftwareX 16 (2021): JMI3.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pinsker._types import BoolArray, FloatArray, IntArray
from pinsker.engine import NATS_PER_COST, JointCosts
from pinsker.exceptions import ParameterError


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
        costs = self.costs
        return _nats(
            costs.with_classes - costs.without_classes - self.of_classes + self.tables.base
        )


class PairTerms:
    """The terms of every candidate X with one W: a chosen feature, or several as one."""

    def __init__(
        self, relevance: Relevance, group: Any, active: BoolArray, *, classes: bool = True
    ) -> None:
        self._single = relevance
        self._tables = relevance.tables
        self._group = group
        self._active = active
        self._classes = classes

    @property
    def relevance(self) -> FloatArray:
        """I(X;Y)."""
        return self._single.values

    @cached_property
    def redundancy(self) -> FloatArray:
        """I(X;W)."""
        of_group = self._of_group[1]
        return _nats(
            self._pairs - self._single.costs.without_classes - of_group + self._tables.base
        )

    @cached_property
    def conditional_redundancy(self) -> FloatArray:
        """I(X;W|Y)."""
        single = self._single
        return _nats(
            self._triples.with_classes
            - single.costs.with_classes
            - self._of_group[0]
            + single.of_classes
        )

    @cached_property
    def conditional_relevance(self) -> FloatArray:
        """I(X;Y|W)."""
        with_classes, without_classes = self._of_group
        return _nats(
            self._triples.with_classes
            - self._triples.without_classes
            - with_classes
            + without_classes
        )

    @cached_property
    def joint_relevance(self) -> FloatArray:
        """I(X,W;Y)."""
        return _nats(
            self._triples.with_classes
            - self._triples.without_classes
            - self._single.of_classes
            + self._tables.base
        )

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
        if self._classes:
            return self._triples.without_classes
        costs: IntArray = self._tables.joint_without_classes(self._group, self._active)
        return costs


def _nats(costs: IntArray) -> FloatArray:
    return np.asarray(costs, dtype=np.float64) * NATS_PER_COST


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
    if name == "mifs":  # I(X;Y) - beta sum I(X;W)
        return Criterion(_redundancy, "sum", lambda r, t, _s: r - beta * t, classes=False)
    if name == "beta-gamma":  # I(X;Y) - beta sum I(X;W) + gamma sum I(X;W|Y)
        return Criterion(
            lambda b: gamma * b.conditional_redundancy - beta * b.redundancy, "sum", _plus
        )
    if name not in _WITHOUT_WEIGHTS:
        raise ParameterError(f"criterion={name!r} is not known: use one of {', '.join(CRITERIA)}.")
    return _WITHOUT_WEIGHTS[name]


#: Names that `criterion_named` knows.
CRITERIA = (
    "mim", "mifs", "mrmr", "mrmr-quotient", "jmi", "jmi3", "jmim", "njmim", "cmim", "cmim-brown",
    "cife", "icap", "disr", "condred", "beta-gamma", "cmi",
)  # fmt: skip


def _nothing(pair: PairTerms) -> FloatArray:
    return np.zeros_like(pair.relevance)


def _redundancy(pair: PairTerms) -> FloatArray:
    return pair.redundancy


def _conditional_redundancy(pair: PairTerms) -> FloatArray:
    return pair.conditional_redundancy


def _synergy(pair: PairTerms) -> FloatArray:
    return pair.conditional_redundancy - pair.redundancy


def _given(pair: PairTerms) -> FloatArray:
    return pair.conditional_relevance


def _joint(pair: PairTerms) -> FloatArray:
    return pair.joint_relevance


def _joint_share(pair: PairTerms) -> FloatArray:
    entropy = pair.joint_entropy
    share = np.zeros_like(entropy)
    np.divide(pair.joint_relevance, entropy, out=share, where=entropy > 0)
    return share


def _term(relevance: FloatArray, term: FloatArray, size: int) -> FloatArray:  # noqa: ARG001
    return term


def _plus(relevance: FloatArray, term: FloatArray, size: int) -> FloatArray:  # noqa: ARG001
    return relevance + term


def _quotient(relevance: FloatArray, term: FloatArray, size: int) -> FloatArray:
    # A redundancy of zero leaves the order to the relevance, without infinite scores.
    score: FloatArray = relevance / np.maximum(term / size, np.finfo(np.float64).eps)
    return score


_WITHOUT_WEIGHTS = {
    # I(X;Y)
    "mim": Criterion(_nothing, "last", lambda r, _t, _s: r, counts=False),
    # I(X;Y) - mean I(X;W)
    "mrmr": Criterion(_redundancy, "sum", lambda r, t, s: r - t / s, classes=False),
    # I(X;Y) / mean I(X;W)
    "mrmr-quotient": Criterion(_redundancy, "sum", _quotient, classes=False),
    # sum I(X,W;Y)
    "jmi": Criterion(_joint, "sum", _term),
    # sum over U < W of I(X,U,W;Y)
    "jmi3": Criterion(_joint, "sum", _term, given="pair"),
    # min I(X,W;Y)
    "jmim": Criterion(_joint, "min", _term),
    # min I(X,W;Y) / H(X,W,Y)
    "njmim": Criterion(_joint_share, "min", _term),
    # min(I(X;Y), min I(X;Y|W))
    "cmim": Criterion(_given, "min", lambda r, t, _s: np.minimum(r, t)),
    # min I(X;Y|W)
    "cmim-brown": Criterion(_given, "min", _term),
    # I(X;Y) - sum I(X;W) + sum I(X;W|Y)
    "cife": Criterion(_synergy, "sum", _plus),
    # I(X;Y) - sum max(0, I(X;W) - I(X;W|Y))
    "icap": Criterion(lambda b: np.minimum(0.0, _synergy(b)), "sum", _plus),
    # sum I(X,W;Y) / H(X,W,Y)
    "disr": Criterion(_joint_share, "sum", _term),
    # I(X;Y) + sum I(X;W|Y)
    "condred": Criterion(_conditional_redundancy, "sum", _plus),
    # I(X;Y|S)
    "cmi": Criterion(_given, "last", _term, given="set", gain=True),
}
