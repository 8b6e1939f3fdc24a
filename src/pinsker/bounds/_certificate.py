"""What is claimed about a choice of features, and on what evidence."""

import json
import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pinsker._types import plain
from pinsker.bounds._bound import METRIC_NAMES

Verdict = Literal["met", "not met", "inconclusive", "not tested", "no budget"]

#: What each figure rests on.
EVIDENCE = {
    "error_upper": "Clopper-Pearson or Bernstein bound: distribution-free only on fresh rows",
    "increase": "hold-out estimate for these models",
    "excess": "hold-out estimate against what is known to be reachable",
    "information": "model-based estimate",
}


@dataclass(frozen=True)
class Certificate:
    """The budget, the evidence, and whether the one is shown to be met by the other.

    Every selector has one. Where no rows were held out the figures of held-out errors are NaN and
    the verdict is "not tested".

    Attributes
    ----------
    metric : str
        Metric of every error below: "error", "r2", "mse", "log-loss", "brier", "mae", or the name
        of a score, whose error is 1 minus it (what a function returns, negated).
    budget : float
        Error increase that is accepted; NaN when the rule was not a budget.
    confidence : float
        Of each confidence bound by itself; NaN where nothing was held out.
    n_rows : int
        Rows that the figures come from.
    n_kept, n_features : int
        Features kept, and all.
    features : tuple of str
        Names of the features kept.
    rows : str
        What those rows were to the search: "5-fold cross-fitting", "fresh rows", or the rows of
        the search itself.
    rule : str
        The stopping rule.
    information_budget : float
        Information whose loss the budget accepts, in nats; NaN if the rule does not count it.
    information_lost, information_upper : float
        Information that is missing in the kept features, and its upper confidence bound (NaN where
        nothing was held out), in nats.
    bound : float
        Increase of the Bayes risk (lowest error any model could reach) if no more than
        `information_upper` is lost, or `information_lost` where nothing was held out.
    error_all, error_kept : float
        Held-out error with all features and with those kept.
    increase, increase_lower, increase_upper : float
        Their paired difference with its one-sided confidence bounds.
    excess, excess_upper : float
        The same against what is known to be reachable: during a search against the best set
        that was evaluated; on fresh rows against models that see the dropped features in shuffled
        order, so that both sides pay for as many columns. NaN where it was not measured.
    model_all, model_kept : str
        The models with those errors.
    standard_error : str
        How the standard errors behind the confidence bounds were found: "mean over rows",
        "DeLong's placements", "influence values (delta method)" or a jackknife.
    error_upper : float
        Upper confidence bound of the error with the kept features.
    notes : tuple of str
        What a user should know.

    Examples
    --------
    >>> certificate = Certificate(
    ...     metric="error", budget=0.05, confidence=0.95, n_rows=500, n_kept=3, n_features=9,
    ...     features=("a", "b", "c"), rows="fresh rows", rule="ErrorBudget(0.05)",
    ...     information_budget=0.01, information_lost=0.002, information_upper=0.02, bound=0.06,
    ...     error_all=0.12, error_kept=0.13, increase=0.01, increase_lower=-0.01,
    ...     increase_upper=0.03, model_all="linear", model_kept="linear", error_upper=0.16,
    ... )
    >>> certificate.verdict
    'met'
    >>> certificate.resolvable
    0.03
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
    notes: tuple[str, ...] = ()

    @property
    def is_tested(self) -> bool:
        """Whether rows were held out."""
        return not math.isnan(self.increase)

    @property
    def resolvable(self) -> float:
        """The smallest budget that these rows could show to be met, in `metric`.

        Nothing is lost where nothing is left out, whatever the rows say. NaN where nothing was
        held out.
        """
        if not self.is_tested:
            return math.nan
        if self.n_kept == self.n_features:
            return 0.0
        uppers = [self.increase_upper, self.excess_upper]
        known = [upper for upper in uppers if not math.isnan(upper)]
        return max(0.0, *known) if known else math.inf

    @property
    def verdict(self) -> Verdict:
        """Whether the budget is met, is not, or cannot be told from so few rows.

        "not tested" where no rows were held out, "no budget" where another rule cut the path.
        """
        if math.isnan(self.budget):
            return "no budget"
        if not self.is_tested:
            return "not tested"
        if self.resolvable <= self.budget:
            return "met"
        return "not met" if self.increase_lower > self.budget else "inconclusive"

    def to_dict(self) -> dict[str, Any]:
        """Return all figures and the verdict as plain values."""
        return {
            **asdict(self),
            "features": list(self.features),
            "notes": list(self.notes),
            "verdict": self.verdict,
            "resolvable": self.resolvable,
            "evidence": dict(EVIDENCE),
        }

    def to_json(self) -> str:
        """Return the certificate as JSON text; what is not a finite number becomes null."""
        return json.dumps(plain(self.to_dict()), allow_nan=False)

    def __str__(self) -> str:
        lines = [*_heading(self), *(_held_out(self) if self.is_tested else _on_path(self))]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def _heading(c: Certificate) -> list[str]:
    label = METRIC_NAMES.get(c.metric, c.metric)
    budget = f"none ({c.rule})" if math.isnan(c.budget) else f"{c.budget:+.4g} {label}"
    nats = f" ({c.information_budget:.4g} nats)" if math.isfinite(c.information_budget) else ""
    level = f"; {c.confidence:.0%} confidence bounds" if c.is_tested else ""
    return [
        f"{c.n_kept} of {c.n_features} features; {_verdict_text(c)}",
        f"  budget                {budget}{nats}",
        f"  evidence              {c.n_rows} rows, {c.rows}{level}",
    ]


def _on_path(c: Certificate) -> list[str]:
    return [
        f"  information lost      {c.information_lost:.4f} nats   [estimate on the search's rows]",
        f"    if no more is lost, the Bayes risk increases by at most {c.bound:.4f} ({c.metric})",
    ]


def _held_out(c: Certificate) -> list[str]:
    lost, upper = c.information_lost, c.information_upper
    most = f", upper bound {c.error_upper:.4f}" if math.isfinite(c.error_upper) else ""
    kind = {name: f"[{text}]" for name, text in EVIDENCE.items()}
    lines = [
        f"  information lost      {lost:.4f} nats, upper bound {upper:.4f}   {kind['information']}",
        *_bayes_risk(c),
        f"  held-out error        {c.error_all:.4f} with all features ({c.model_all})",
        f"                        {c.error_kept:.4f} with those kept ({c.model_kept}){most}",
        f"    increase {c.increase:+.4f}, upper bound {c.increase_upper:+.4f}   {kind['increase']}",
    ]
    if not math.isnan(c.excess):
        lines.append(
            f"    increase {c.excess:+.4f}, upper bound {c.excess_upper:+.4f}   {kind['excess']}"
        )
    return lines


def _bayes_risk(c: Certificate) -> list[str]:
    """Return the line of the bound, where a theorem ties the metric to information."""
    if math.isnan(c.bound):
        return []
    return [f"    if no more is lost, the Bayes risk increases by at most {c.bound:.4f}"]


def _verdict_text(c: Certificate) -> str:
    texts = {
        "met": "budget met" if c.n_kept < c.n_features else "budget met (nothing is left out)",
        "not met": f"budget not met (the error increases by at least {c.increase_lower:.4f})",
        "inconclusive": f"inconclusive: these rows could show a budget of {c.resolvable:.4f}",
        "not tested": "budget not tested (no rows were held out)",
        "no budget": "no error budget was set",
    }
    return texts[c.verdict]
