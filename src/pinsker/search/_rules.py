"""Stopping rules: the error budget, the paper's three simple ones, and a permutation test.

A rule reads a path and returns how many features stay. It holds no data, so that it works on
backward and forward paths, before or after fitting. The feature that breaks a rule stays.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Literal, get_args

import numpy as np

from pinsker._notes import Note, Notes
from pinsker._types import BoolArray, FloatArray, IntArray, MetricChoice, Unchecked
from pinsker.bounds import Bound, TargetFacts
from pinsker.exceptions import ParameterError
from pinsker.metrics import METRICS, Metric, MetricLike, WorstTarget, metric_name, metric_words
from pinsker.search._path import ROUNDING, CountedPath, Reference, SelectionPath

Constants = Literal["sharp", "paper"]
Model = Literal["bounded", "gaussian"]

_CHOICES = {"constants": Constants, "reference": Reference, "model": Model}


@dataclass(frozen=True, slots=True)
class Decision:
    """What a rule makes of a path."""

    size: int  # how many features stay
    budget: float = float("nan")  # information that the rule lets go, in nats
    notes: Notes = ()  # what a user should know


class StoppingRule(ABC):
    """How many features of a path stay. Rules are frozen, comparable and printable."""

    @abstractmethod
    def decide(self, path: SelectionPath, facts: TargetFacts | None = None) -> Decision:
        """Return how many features stay, and why not fewer."""

    def check(self, n_features: int, n_fixed: int, facts: TargetFacts) -> None:  # noqa: B027
        """Refuse what no path of these features can fulfil, before the search begins."""

    @property
    def said(self) -> str:
        """The rule in a sentence."""
        return str(self)

    def size(self, path: SelectionPath, facts: TargetFacts | None = None) -> int:
        """Return how many features stay; `facts` of the target are for `ErrorBudget` alone."""
        return self.decide(path, facts).size

    def _settle(
        self, path: SelectionPath, wanted: int, budget: float = float("nan"), notes: Notes = ()
    ) -> Decision:
        """Move a size to one that the path has and that leaves at least one feature."""
        if wanted < 1:
            notes += (Note("one stays", figures={"rule": self.said}),)
        size = max(wanted, 1, path.n_fixed)
        smallest, largest = int(path.sizes.min()), int(path.sizes.max())
        asked = {"rule": str(self), "size": size}
        if size < smallest:
            notes += (Note("path cut short", figures={**asked, "end": smallest}),)
        elif size > largest:
            notes += (Note("path ends", figures={**asked, "end": largest}),)
        return Decision(min(max(size, smallest), largest), budget, notes)


@dataclass(frozen=True)
class _NatsRule(StoppingRule):
    """A rule that compares scores with a number of nats."""

    nats: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.nats < float("inf"):
            raise ParameterError(
                f"{type(self).__name__} needs a number of nats of at least 0, found {self.nats!r}."
            )

    def decide(self, path: SelectionPath, facts: TargetFacts | None = None) -> Decision:  # noqa: ARG002
        goes_on = np.append(self._goes_on(path), False)
        moved = int(np.argmin(goes_on))  # before the first move that does not
        step = -1 if path.direction == "backward" else 1
        return self._settle(path, int(path.sizes[0]) + step * moved)

    @abstractmethod
    def _goes_on(self, path: SelectionPath) -> BoolArray:
        """Return for every move whether the search goes on with it."""


@dataclass(frozen=True)
class ScoreThreshold(_NatsRule):
    """Stop at the first feature whose score passes a threshold (the paper's FS).

    Backward, features go while their score is at most `nats`; the first one above it stays.
    Forward, features come while their score is above `nats`.

    Parameters
    ----------
    nats : float
        The threshold, at least 0.

    Examples
    --------
    >>> path = SelectionPath("backward", ("a", "b"), (0, 1), (0.1, 0.6), (0.7, 0.6, 0.0))
    >>> ScoreThreshold(0.05).size(path)
    2
    """

    def _goes_on(self, path: SelectionPath) -> BoolArray:
        above = np.asarray(path.scores) > self.nats
        return ~above if path.direction == "backward" else above


@dataclass(frozen=True)
class ScoreJump(_NatsRule):
    """Stop where the scores of two consecutive features differ by a jump (the paper's ΔFS).

    Backward, a feature goes while its score is at most `nats` above that of the one removed
    before it (above 0 for the first, so that no step is free). Forward, a feature comes while its
    score is at most `nats` below that of the one added before it.

    Parameters
    ----------
    nats : float
        The largest difference that does not stop, at least 0.

    Examples
    --------
    >>> path = SelectionPath("backward", ("a", "b"), (0, 1), (0.1, 0.6), (0.7, 0.6, 0.0))
    >>> ScoreJump(0.2).size(path)
    1
    """

    def _goes_on(self, path: SelectionPath) -> BoolArray:
        scores = np.asarray(path.scores, dtype=np.float64)
        if path.direction == "backward":
            return np.diff(scores, prepend=0.0) <= self.nats
        return -np.diff(scores, prepend=scores[:1]) <= self.nats


@dataclass(frozen=True)
class FeatureCount(StoppingRule):
    """Keep exactly k features (the paper's #F).

    Parameters
    ----------
    k : int
        How many stay, at least 1.

    Examples
    --------
    >>> path = SelectionPath("backward", ("a", "b"), (0, 1), (0.1, 0.6), (0.7, 0.6, 0.0))
    >>> FeatureCount(1).size(path)
    1
    """

    k: int

    def __post_init__(self) -> None:
        k: object = self.k  # annotations bind nobody
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise ParameterError(f"FeatureCount needs an integer of at least 1, found {self.k!r}.")

    def decide(self, path: SelectionPath, facts: TargetFacts | None = None) -> Decision:  # noqa: ARG002
        self.check(path.n_features, path.n_fixed)
        return self._settle(path, int(self.k))

    def check(self, n_features: int, n_fixed: int, facts: TargetFacts | None = None) -> None:  # noqa: ARG002
        """Refuse to keep more features than there are, or fewer than must stay."""
        if self.k > n_features:
            raise ParameterError(
                f"{self} asks for more features than there are ({n_features}): use k<={n_features}."
            )
        if self.k < n_fixed:
            raise ParameterError(
                f"{self} asks for fewer features than are fixed ({n_fixed}): use "
                f"k>={n_fixed}, or fewer fixed_features."
            )


def read_budget(value: Unchecked, name: str = "an error budget") -> float:
    """Return a number of at least 0, or refuse what is none."""
    budget = float(value) if isinstance(value, Real) else float("nan")
    if not 0.0 <= budget < float("inf"):
        raise ParameterError(f"{name} must be a number of at least 0, found {value!r}.")
    return budget


@dataclass(frozen=True)
class ErrorBudget(StoppingRule):
    r"""Keep the smallest set whose Bayes risk increases by at most `delta` (the paper's ER).

    The information that a set S of the path lacks,

    .. math:: \nu(S) = \max_{S'} I(Y; X_{S'}) - I(Y; X_S),

    bounds the increase of the Bayes risk (the lowest error any model could reach). The smallest
    set stays for which that bound is at most `delta`: with 0 features go that cost nothing.

    Parameters
    ----------
    delta : float
        How much error may be added, at least 0.
    metric : str, scorer, callable, CostMatrix or WorstTarget, default="auto"
        Unit of `delta`. Classes: "error" (rate, the default), "log-loss" in nats, "brier" score.
        Numbers: share of the target's variance ("r2", the default), "mse", "log-loss", "mae".
        Or the name of a scorer of scikit-learn, what ``make_scorer`` returns, a function
        ``(y_true, y_score, sample_weight) -> float``, or a `CostMatrix`: no theorem ties these to
        information, so that held-out rows alone decide (see Notes).
    constants : {"sharp", "paper"}, default="sharp"
        The sharpest bound known, or the one printed in the paper.
    reference : {"best", "full"}, default="best"
        Whether losses count from the best set seen or from the set of all features. ``"full"``
        together with ``constants="paper"`` is the paper to the letter, see Notes.
    model : {"bounded", "gaussian"}, default="bounded"
        For numbers: whether the target is only known to be bounded, or is taken for jointly
        Gaussian with the features. Under a linear model the second is an identity.
    relative : bool, default=False
        Whether `delta` is a share of what all features add over none on the held-out rows, from 0
        to 1, and not in units of the metric.
    confidence : float, default=0.95
        That the budget is met, of the sets that held-out rows choose among; 0.5 takes the best
        guess: a set whose estimated increase is within the budget.

    Notes
    -----
    A metric without a theorem, and a relative budget, need held-out rows: a path alone cannot be
    cut by them. Scores of which larger is better count by what is lost of them. With
    ``constants="paper"`` and ``reference="full"`` a path searched with ``score="direct"`` is cut as
    Algorithms 1 and 2 are printed: see the page on selectors.

    References
    ----------
    Beraha et al. (2019), Theorems 1 and 3, Algorithms 1 and 2.

    Examples
    --------
    >>> from pinsker.bounds import TargetFacts
    >>> path = SelectionPath("backward", ("a", "b"), (0, 1), (0.01, 0.59), (0.6, 0.59, 0.0))
    >>> facts = TargetFacts("classification", n_classes=2, largest_prior=0.5)
    >>> ErrorBudget(0.05).size(path, facts), ErrorBudget(0.1).size(path, facts)
    (2, 1)
    >>> ErrorBudget(0.01, metric="log-loss").size(path, facts)
    1
    """

    delta: float
    metric: MetricLike = "auto"
    constants: Constants = "sharp"
    reference: Reference = "best"
    model: Model = "bounded"
    relative: bool = False
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for name, kind in _CHOICES.items():
            if getattr(self, name) not in get_args(kind):
                listed = ", ".join(map(repr, get_args(kind)))
                raise ParameterError(
                    f"ErrorBudget: {name}={getattr(self, name)!r} is not one of {listed}."
                )
        object.__setattr__(self, "delta", read_budget(self.delta))
        if not 0.5 <= self.confidence < 1.0:
            raise ParameterError(
                f"confidence={self.confidence!r}: use 0.5 (a best guess) to below 1."
            )
        object.__setattr__(self, "metric", Metric(self.metric).metric)
        if self.relative and isinstance(self.metric, WorstTarget):
            raise ParameterError(
                "relative=True needs one figure that features add to: use the mean over targets, "
                "and not WorstTarget.",
                parameter="metric",
            )
        self._check_share(self.metric)

    @property
    def said(self) -> str:
        """The budget in a sentence."""
        return f"a budget of {self.delta:g}"

    def __str__(self) -> str:
        """Say what differs from the defaults; `repr` says everything."""
        others = [field for field in fields(self)[1:] if getattr(self, field.name) != field.default]
        values = {field.name: getattr(self, field.name) for field in others}
        if "metric" in values:
            values["metric"] = metric_name(self.metric)
        said = "".join(f", {name}={value!r}" for name, value in values.items())
        return f"{type(self).__name__}({self.delta!r}{said})"

    def metric_for(self, facts: TargetFacts) -> MetricChoice:
        """Return the metric of `delta`, with "auto" resolved."""
        if self.metric != "auto":
            return self.metric
        # The paper's budget of numbers is one of squared error.
        printed = self._is_printed and facts.task == "regression"
        return "mse" if printed else METRICS[facts.task][0]

    @property
    def has_theory(self) -> bool:
        """Whether a path alone can be cut: by a theorem, and without knowing a reference."""
        return (self.metric == "auto" or Metric(self.metric).has_theory) and not self.relative

    def absolute(self, added: float) -> "ErrorBudget":
        """Return the budget in its metric; all features add this much over none, held out."""
        if not self.relative:
            return self
        return replace(self, delta=self.delta * max(added, 0.0), relative=False)

    def bound(self, facts: TargetFacts, error_limit: float | None = None) -> Bound:
        """Return the theorem that ties information and error; `error_limit`: of the kept set."""
        metric = Metric(self.metric_for(facts))
        return metric.bound(facts, error_limit, constants=self.constants, model=self.model)

    def budget(self, facts: TargetFacts) -> float:
        """Return the information that may be lost, in nats, when nothing is known of the set."""
        self._check_share(self.metric_for(facts))
        if self.relative:
            return float("nan")
        return float(self.bound(facts).budget(float(self.delta)))

    def check(self, n_features: int, n_fixed: int, facts: TargetFacts) -> None:  # noqa: ARG002
        """Refuse a budget that means nothing for this target."""
        self.budget(facts)

    def growth(self, path: SelectionPath, facts: TargetFacts) -> FloatArray:
        """Return the increase of the Bayes risk that each set of a path allows, in the metric."""
        lost = self.lost(path)
        if self.model == "gaussian" and self.metric_for(facts) in ("r2", "mse"):
            # Exact: Var(Y) e^{-2I} is the error that a set leaves.
            left = np.exp(-2.0 * np.maximum(path.information, 0.0))
            share = left * -np.expm1(-2.0 * lost)
            if self.metric_for(facts) == "r2":
                return share
            if facts.variance is None:
                raise ParameterError("<metric=mse> needs facts.variance, which is not known.")
            return share * facts.variance
        growth, measured = lost.copy(), ~np.isnan(lost)
        growth[measured] = self.bound(facts).growth(lost[measured])
        return growth

    def lost(self, path: SelectionPath) -> FloatArray:
        """Return what each set lacks; as printed the sum of scores so far, forward of the rest."""
        if not self._is_printed:
            return path.lost(self.reference)
        return path.spent if path.direction == "backward" else path.spent[-1] - path.spent

    def decide(self, path: SelectionPath, facts: TargetFacts | None = None) -> Decision:
        if facts is None:
            raise ParameterError(
                "ErrorBudget needs to know the target to turn error into information: pass facts, "
                "for example TargetFacts.of(encoded.target)."
            )
        budget = self.budget(facts)
        if self.relative or not Metric(self.metric_for(facts)).has_theory:
            note = Note("held-out rows alone decide", figures={"rule": str(self)})
            return self._settle(path, int(path.sizes.max()), budget, (note,))
        if self._is_printed:
            # Where the printed algorithms stop; i_T itself does not move.
            reached = path.sizes[:-1][path.spent[1:] >= budget]
            end = 0 if path.direction == "backward" else path.sizes[-1]
            decision = self._settle(path, int(reached[0] if len(reached) else end), budget)
            said = {"metric": metric_words(metric_name(self.metric_for(facts))), "nats": budget}
            claim = Note(f"printed {path.direction}", figures={**said, "delta": self.delta})
            return replace(decision, notes=(*decision.notes, claim))
        if self.model == "gaussian":
            within = self.growth(path, facts) <= self.delta + ROUNDING
        else:
            within = path.lost(self.reference) <= budget + ROUNDING
        if not within.any():
            note = Note("no set within", figures={"rule": str(self)})
            return self._settle(path, path.best_size, budget, (note,))
        return self._settle(path, int(path.sizes[within].min()), budget)

    @property
    def _is_printed(self) -> bool:
        return self.constants == "paper" and self.reference == "full"

    def _check_share(self, metric: MetricChoice) -> None:
        most = 1.0 if self.relative else Metric(metric).row.largest_increase
        if self.delta > most:
            where = "as a share" if self.relative else f"in metric {metric!r}"
            raise ParameterError(
                f"an error budget of {self.delta:g} means nothing {where}, which ends "
                f"at {most:g}: use a budget from 0 to {most:g}, or another metric."
            )


@dataclass(frozen=True)
class PermutationTest(StoppingRule):
    r"""Stop at the first feature that chance could have put in its place.

    The candidates' rows are shuffled together against those of the target and of the features
    chosen so far. The best shuffled candidate of each of `n_permutations` shuffles shows what a
    candidate without any bearing on them would score at best, so that no correction for the number
    of candidates is needed:

    .. math:: p = \frac{1 + \#\{b : \max_X J_b(X) \ge \max_X J(X)\}}{1 + B}.

    Features come while :math:`p` is at most `level`. It is a screening test: a feature that fails
    it is not shown to be useless. For `CriterionSelection`.

    Parameters
    ----------
    level : float, default=0.05
        Largest p-value that lets a feature in.
    n_permutations : int, default=99
        Number of shuffles, B; the smallest p-value is 1 / (1 + B).
    seed : int, default=0
        Seed of the shuffles.

    References
    ----------
    Yu and Príncipe, "Simple stopping criteria for information theoretic feature selection",
    Entropy 21 (2019); there the chosen candidate alone is shuffled.

    Examples
    --------
    >>> seen = ((1, 0), (0.5, 0.01), (0.0, 0.5, 0.5))
    >>> path = CountedPath("forward", ("a", "b"), *seen, p_values=(0.01, 0.4))
    >>> PermutationTest().size(path)
    1
    """

    level: float = 0.05
    n_permutations: int = 99
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 1.0:
            raise ParameterError(f"PermutationTest: level={self.level!r} is not between 0 and 1.")
        if self.n_permutations != int(self.n_permutations) or self.n_permutations < 1:
            raise ParameterError(
                f"PermutationTest: n_permutations={self.n_permutations!r} is not an integer of "
                "at least 1."
            )
        if 1.0 / (1 + self.n_permutations) > self.level:
            raise ParameterError(
                f"{self.n_permutations} permutations give p-values of at least "
                f"{1 / (1 + self.n_permutations):.3g}, so none is below level={self.level:g}: use "
                f"n_permutations>={int(np.ceil(1 / self.level - 1))}."
            )

    def shuffles(self, n_rows: int) -> list[IntArray]:
        """Return the row orders."""
        rng = np.random.default_rng(self.seed)
        return [rng.permutation(n_rows) for _ in range(int(self.n_permutations))]

    def decide(self, path: SelectionPath, facts: TargetFacts | None = None) -> Decision:  # noqa: ARG002
        p_values = path.p_values if isinstance(path, CountedPath) else ()
        if not p_values:
            raise ParameterError(
                "PermutationTest reads p-values, and this path has none: fit a CriterionSelection "
                "with stop=PermutationTest(...)."
            )
        passed = np.append(np.asarray(p_values) <= self.level, False)
        passed[: path.n_fixed] = True  # fixed features are not tested
        return self._settle(path, int(np.argmin(passed)))
