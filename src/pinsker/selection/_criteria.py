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
from typing import Literal

import numpy as np

from pinsker._types import FloatArray
from pinsker.exceptions import ParameterError
from pinsker.selection._criterion_terms import Beside

Term = Callable[[Beside], FloatArray]
#: score(relevance, folded term, how many features are chosen)
Score = Callable[[FloatArray, FloatArray, int], FloatArray]


@dataclass(frozen=True)
class Criterion:
    """A formula: a term for each chosen W, how terms combine, and the score that follows.

    Attributes
    ----------
    term : callable
        One number per candidate X beside one W.
    fold : {"sum", "min", "last"}
        How the terms of several W combine; "last" keeps the newest only.
    score : callable
        From relevance, folded terms and the number of chosen features to the score.
    beside : {"feature", "pair", "set"}
        What W runs over: every chosen feature, every two of them, or the whole set at once.
    classes : bool
        Whether the term looks at the classes; if not, smaller tables are counted.
    counts : bool
        Whether the term counts anything at all.
    gain : bool
        Whether a score of zero says that nothing is left to gain, so that the search ends.
    """

    term: Term
    fold: Literal["sum", "min", "last"]
    score: Score
    beside: Literal["feature", "pair", "set"] = "feature"
    classes: bool = True
    counts: bool = True
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


def _nothing(beside: Beside) -> FloatArray:
    return np.zeros_like(beside.relevance)


def _redundancy(beside: Beside) -> FloatArray:
    return beside.redundancy


def _conditional_redundancy(beside: Beside) -> FloatArray:
    return beside.conditional_redundancy


def _synergy(beside: Beside) -> FloatArray:
    return beside.conditional_redundancy - beside.redundancy


def _given(beside: Beside) -> FloatArray:
    return beside.conditional_relevance


def _joint(beside: Beside) -> FloatArray:
    return beside.joint_relevance


def _joint_share(beside: Beside) -> FloatArray:
    entropy = beside.joint_entropy
    share = np.zeros_like(entropy)
    np.divide(beside.joint_relevance, entropy, out=share, where=entropy > 0)
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
    "jmi3": Criterion(_joint, "sum", _term, beside="pair"),
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
    "cmi": Criterion(_given, "last", _term, beside="set", gain=True),
}
