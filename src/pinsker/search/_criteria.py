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
from operator import attrgetter
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
        costs, base = self.costs, self.tables.base
        return _nats(costs.with_classes - costs.without_classes - self.of_classes + base)


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
    known = _criteria(beta, gamma)
    if name not in known:
        raise ParameterError(f"criterion={name!r} is not known: use one of {', '.join(known)}.")
    return known[name]


def _criteria(beta: float, gamma: float) -> dict[str, Criterion]:
    """Return all criteria by name."""
    redundancy = attrgetter("redundancy")
    given, joint = attrgetter("conditional_relevance"), attrgetter("joint_relevance")
    return {
        # I(X;Y)
        "mim": Criterion(attrgetter("relevance"), "last", lambda r, _t, _s: r, counts=False),
        # I(X;Y) - beta sum I(X;W)
        "mifs": Criterion(redundancy, "sum", lambda r, t, _s: r - beta * t, classes=False),
        # I(X;Y) - mean I(X;W)
        "mrmr": Criterion(redundancy, "sum", lambda r, t, s: r - t / s, classes=False),
        # I(X;Y) / mean I(X;W)
        "mrmr-quotient": Criterion(redundancy, "sum", _quotient, classes=False),
        # sum I(X,W;Y)
        "jmi": Criterion(joint, "sum", _term),
        # sum over U < W of I(X,U,W;Y)
        "jmi3": Criterion(joint, "sum", _term, given="pair"),
        # min I(X,W;Y)
        "jmim": Criterion(joint, "min", _term),
        # min I(X,W;Y) / H(X,W,Y)
        "njmim": Criterion(_joint_share, "min", _term),
        # min(I(X;Y), min I(X;Y|W))
        "cmim": Criterion(given, "min", lambda r, t, _s: np.minimum(r, t)),
        # min I(X;Y|W)
        "cmim-brown": Criterion(given, "min", _term),
        # I(X;Y) - sum I(X;W) + sum I(X;W|Y)
        "cife": Criterion(_synergy, "sum", _plus),
        # I(X;Y) - sum max(0, I(X;W) - I(X;W|Y))
        "icap": Criterion(lambda p: np.minimum(0.0, _synergy(p)), "sum", _plus),
        # sum I(X,W;Y) / H(X,W,Y)
        "disr": Criterion(_joint_share, "sum", _term),
        # I(X;Y) + sum I(X;W|Y)
        "condred": Criterion(attrgetter("conditional_redundancy"), "sum", _plus),
        # I(X;Y) - beta sum I(X;W) + gamma sum I(X;W|Y)
        "beta-gamma": Criterion(
            lambda p: gamma * p.conditional_redundancy - beta * p.redundancy, "sum", _plus
        ),
        # I(X;Y|S)
        "cmi": Criterion(given, "last", _term, given="set", gain=True),
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


def _quotient(relevance: FloatArray, term: FloatArray, size: int) -> FloatArray:
    # A redundancy of zero leaves the order to the relevance, without infinite scores.
    score: FloatArray = relevance / np.maximum(term / size, np.finfo(np.float64).eps)
    return score


#: Names that `criterion_named` knows.
CRITERIA = tuple(_criteria(1.0, 1.0))
