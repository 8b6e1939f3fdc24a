"""What is claimed about a choice of features, and on what evidence."""

import json
import math
from dataclasses import asdict, dataclass
from typing import Literal

from pinsker._notes import Notes, notes_to_fields
from pinsker._types import Fields, plain
from pinsker.metrics import WORST, SubgroupResult, metric_row

Verdict = Literal[
    "met", "nothing dropped", "not met", "inconclusive", "not shown to be predictable",
    "not tested", "no budget",
]  # fmt: skip

#: What the figures of a certificate are: the first on rows that chose nothing and are enough.
CERTIFICATE = "certificate"
CROSS_VALIDATED, HELD_OUT = "cross-validated estimate", "hold-out estimate"
ESTIMATE = "estimate"
NOT_TESTED = "not tested"
TOO_FEW_ROWS = "not tested: too few rows to hold any out"


def weights_of(notes: Notes) -> set[str]:
    """Return what notes do to a claim, see `Note`."""
    return {note.weight for note in notes}


@dataclass(frozen=True)
class Certificate:
    """The budget, the evidence, and whether the one is shown to be met by the other.

    Every selector has one. Where no rows were held out the figures of held-out errors are NaN and
    the verdict is "not tested".

    Attributes
    ----------
    metric : str
        Metric of every error below; that of a score is 1 minus it (of a function, it negated).
    budget : float
        Error increase that is accepted; NaN when the rule was not a budget.
    confidence : float
        Of each confidence bound by itself; NaN where nothing was held out.
    n_rows, n_groups : int
        Rows that the figures come from, and groups of them if they belong together.
    n_kept, n_features : int
        Features kept, and all.
    features : tuple of str
        Names of the features kept.
    rows : str
        What those rows were to the search, such as "5-fold cross-fitting" or "fresh rows".
    label : str
        What the figures are: "certificate" (rows that chose nothing, at least 100 of them),
        "cross-validated estimate" (rows that also chose the set), "estimate" or "not tested".
    rule : str
        The stopping rule.
    information_budget : float
        Information whose loss the budget accepts, in nats; NaN if the rule does not count it.
    information_lost, information_upper : float
        Information that is missing in the kept features, and its upper confidence bound, in nats.
    bound : float
        Increase of the Bayes risk (lowest error any model could reach) if no more than
        `information_upper` is lost, or `information_lost` where nothing was held out.
    error_all, error_kept, error_none : float
        Held-out error with all features, with those kept, and without any.
    gain_lower : float
        Lower confidence bound of `error_none` minus the smaller of the other two.
    increase, increase_lower, increase_upper : float
        Their paired difference with its one-sided confidence bounds.
    excess, excess_upper : float
        The same against what is known to be reachable: the best set that was evaluated, or on
        fresh rows models that see the dropped features in shuffled order.
    model_all, model_kept : str
        The models with those errors.
    n_train : int
        Rows that they were fitted to (the mean over folds).
    learning_curve : tuple of (int, float)
        Training rows and the error increase of the kept features when models are fitted to a
        quarter, to half and to all of them, on the first folds that hold 300 rows.
    standard_error : str
        How the standard errors behind the confidence bounds were found.
    error_upper : float
        Upper confidence bound of the error with the kept features; see `evidence`.
    rare_rows : float
        What rows rarer than 3 in `n_rows` could add to the error unseen: 3 / `n_rows` times the
        largest loss. The bounds of error rates hold it already.
    likely : tuple of str
        The smallest set that was evaluated whose estimated increase is within the budget.
    likely_increase, likely_upper, rows_needed : float
        Its estimated increase, the smallest budget that these rows show it to be within, and
        held-out rows that would show it to be within the budget with probability 0.8.
    fewest_needed : int
        No set of fewer features that the fit evaluated is within the budget, by lower confidence
        bounds. 0 where these rows do not show it.
    passed : Certificate or None
        Where `certify` does not show the set of the fit to be within the budget: the smallest
        larger set of the path that these rows do show to be.
    subgroups : tuple of SubgroupResult
        What the choice costs each subgroup, all rows first. `increase` and its bounds are then
        those of the one that is farthest above its budget.
    notes : tuple of Note
        What a user should know: ``str(note)`` is a sentence, ``note.kind`` what happened.

    Examples
    --------
    >>> certificate = Certificate(
    ...     metric="error", budget=0.05, confidence=0.95, n_rows=500, n_kept=3, n_features=9,
    ...     features=("a", "b", "c"), rows="fresh rows", rule="ErrorBudget(0.05)", bound=0.06,
    ...     information_budget=0.01, information_lost=0.002, increase=0.01, increase_upper=0.03,
    ... )
    >>> certificate.verdict, certificate.resolvable
    ('met', 0.03)
    """

    metric: str
    budget: float
    confidence: float
    n_rows: int
    n_kept: int
    n_features: int
    features: tuple[str, ...]
    rows: str
    rule: str
    information_budget: float
    information_lost: float
    bound: float
    information_upper: float = math.nan
    error_all: float = math.nan
    error_kept: float = math.nan
    increase: float = math.nan
    increase_lower: float = math.nan
    increase_upper: float = math.nan
    excess: float = math.nan
    excess_upper: float = math.nan
    model_all: str = ""
    model_kept: str = ""
    error_upper: float = math.nan
    standard_error: str = "mean over rows"
    notes: Notes = ()
    label: str = NOT_TESTED
    error_none: float = math.nan
    gain_lower: float = math.nan
    rare_rows: float = math.nan
    n_groups: int = 0
    likely: tuple[str, ...] = ()
    likely_increase: float = math.nan
    likely_upper: float = math.nan
    rows_needed: float = math.nan
    fewest_needed: int = 0
    passed: "Certificate | None" = None
    subgroups: tuple[SubgroupResult, ...] = ()
    n_train: int = 0
    learning_curve: tuple[tuple[int, float], ...] = ()

    @property
    def is_tested(self) -> bool:
        """Whether rows were held out."""
        return not math.isnan(self.increase)

    @property
    def limit(self) -> float:
        """Upper confidence bound of the error increase by both kinds of evidence, in `metric`."""
        if not self.is_tested:
            return math.nan
        if self.n_kept == self.n_features:
            return 0.0
        uppers = (self.increase_upper, self.excess_upper)
        return max((upper for upper in uppers if not math.isnan(upper)), default=math.inf)

    @property
    def resolvable(self) -> float:
        """The smallest budget that these rows could show to be met: `limit`, or 0 below it."""
        return math.nan if math.isnan(self.limit) else max(0.0, self.limit)

    @property
    def verdict(self) -> Verdict:
        """Whether the budget is met, is not, or cannot be told from these rows.

        "not shown to be predictable" where features are not shown to be worth anything, "not
        tested" where no rows were held out, "no budget" where another rule cut the path.
        """
        if math.isnan(self.budget):
            return "no budget"
        if not self.is_tested:
            return "not tested"
        if self.gain_lower <= 0.0:
            return "not shown to be predictable"
        if self.n_kept == self.n_features:
            return "nothing dropped"
        if self.resolvable <= self.budget:
            return "inconclusive" if "untrue" in weights_of(self.notes) else "met"
        return "not met" if self.increase_lower > self.budget else "inconclusive"

    @property
    def lets_all_go(self) -> bool:
        """Whether the budget is so large that no features at all would be within it."""
        none = self.error_none - self.error_all <= self.budget
        # Of the worst of several targets the first says nothing about the others.
        return none and (not self.metric.startswith(WORST) or self.gain_lower <= self.budget)

    @property
    def evidence(self) -> dict[str, str]:
        """What each figure rests on."""
        known = "independent rows that chose nothing: distribution-free"
        if not metric_row(self.metric).is_bounded:
            known = "independent rows that chose nothing, and the range of the sample"
        if self.label != CERTIFICATE:
            known = "rows that also chose the set: no guarantee"
        return {
            "error_upper": f"Clopper-Pearson or Bernstein bound from {known}",
            "increase": f"{self.label}, for these models",
            "excess": f"{self.label}, against what is known to be reachable",
            "information": "model-based estimate",
        }

    def to_dict(self) -> Fields:
        """Return all figures and the verdict as plain values."""
        return {
            **asdict(self),
            "features": list(self.features),
            "passed": None if self.passed is None else self.passed.to_dict(),
            "subgroups": [{**asdict(one), "verdict": one.verdict} for one in self.subgroups],
            **notes_to_fields(self.notes),
            "verdict": self.verdict,
            "resolvable": self.resolvable,
            "lets_all_go": self.lets_all_go,
            "evidence": self.evidence,
        }

    def to_json(self) -> str:
        """Return the certificate as JSON text; what is not a finite number becomes null."""
        return json.dumps(plain(self.to_dict()), allow_nan=False)

    def __repr__(self) -> str:
        return (
            f"Certificate({self.n_kept} of {self.n_features} features, {self.verdict}, "
            f"metric={self.metric!r}, budget={self.budget:.4g}, {self.n_rows} rows)"
        )

    def _repr_html_(self) -> str:
        from pinsker.report import certificate_card  # upwards: it has all views

        return certificate_card(self)

    def __str__(self) -> str:
        from pinsker.report import certificate_text  # upwards: it has all words

        return certificate_text(self)
