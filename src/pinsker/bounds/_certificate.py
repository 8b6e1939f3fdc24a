"""What is promised about a choice of features, and on what evidence."""

import json
import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

Verdict = Literal["kept", "not kept", "not resolved"]

_UNITS = {
    "error": "error rate",
    "r2": "of the target's variance",
    "mse": "mean squared error",
    "log-loss": "nats of log-loss",
    "brier": "Brier score",
    "mae": "mean absolute error",
}


@dataclass(frozen=True)
class Certificate:
    """The budget, the evidence, and whether the one keeps to the other.

    Attributes
    ----------
    unit : str
        Unit of every error below: "error", "r2", "mse", "log-loss", "brier" or "mae".
    budget : float
        Growth of the error that is accepted; NaN when the rule was not a budget.
    confidence : float
        Of each limit by itself.
    n_rows : int
        Rows that the figures come from.
    n_kept, n_features : int
        Features kept, and all.
    source : str
        What those rows were to the search.
    information_budget : float
        Information whose loss the budget accepts, in nats.
    information_lost, information_limit : float
        Information that all witnesses miss in the kept features, and its upper limit, in nats.
    bound : float
        Growth of the ideal error if no more than `information_limit` is lost.
    error_all, error_kept : float
        Held-out error with all features and with those kept.
    growth, growth_lower, growth_upper : float
        Their paired difference with its one-sided limits.
    ideal_growth, ideal_growth_upper : float
        The same measured by what is known to be reachable: during a search against the best set
        that was tried; on fresh rows against models that see the dropped features in shuffled
        order, so that both sides pay for as many columns. NaN where it was not measured.
    model_all, model_kept : str
        The witnesses with those errors.
    error_limit : float
        Upper limit of the error with the kept features that needs no assumption on their law.
    notes : tuple of str
        What a user should know.

    Examples
    --------
    >>> certificate = Certificate(
    ...     unit="error", budget=0.05, confidence=0.95, n_rows=500, n_kept=3, n_features=9,
    ...     source="fresh rows", information_budget=0.01, information_lost=0.002,
    ...     information_limit=0.02, bound=0.06, error_all=0.12, error_kept=0.13, growth=0.01,
    ...     growth_lower=-0.01, growth_upper=0.03, model_all="linear", model_kept="linear",
    ...     error_limit=0.16,
    ... )
    >>> certificate.verdict
    'kept'
    >>> certificate.resolvable
    0.03
    """

    unit: str
    budget: float
    confidence: float
    n_rows: int
    n_kept: int
    n_features: int
    source: str
    information_budget: float
    information_lost: float
    information_limit: float
    bound: float
    error_all: float
    error_kept: float
    growth: float
    growth_lower: float
    growth_upper: float
    model_all: str
    model_kept: str
    error_limit: float
    ideal_growth: float = float("nan")
    ideal_growth_upper: float = float("nan")
    notes: tuple[str, ...] = ()

    @property
    def resolvable(self) -> float:
        """The smallest budget that these rows could show to be kept, in `unit`.

        Nothing is lost where nothing is left out, whatever the rows say.
        """
        if self.n_kept == self.n_features:
            return 0.0
        limits = [self.growth_upper, self.ideal_growth_upper]
        return max(0.0, *(limit for limit in limits if not math.isnan(limit)))

    @property
    def verdict(self) -> Verdict:
        """Whether the budget is kept, is not, or cannot be told from so few rows."""
        if self.resolvable <= self.budget:
            return "kept"
        return "not kept" if self.growth_lower > self.budget else "not resolved"

    def to_dict(self) -> dict[str, Any]:
        """Return all figures and the verdict as plain values."""
        return {
            **asdict(self),
            "notes": list(self.notes),
            "verdict": self.verdict,
            "resolvable": self.resolvable,
            "tiers": dict(TIERS),
        }

    def to_json(self) -> str:
        """Return the certificate as JSON text; what is not a finite number becomes null."""
        return json.dumps({name: _finite(value) for name, value in self.to_dict().items()})

    def __str__(self) -> str:
        return "\n".join([*_heading(self), *_evidence(self), *(f"  note: {n}" for n in self.notes)])


#: What each statement rests on, strongest first.
TIERS = {
    "error_limit": "tier 0: no assumption but independent rows",
    "growth": "learner check: holds for these models",
    "ideal_growth": "learner check: against the best that is known to be reachable",
    "information": "tier 3: as far as the witnesses see",
}


def _heading(c: Certificate) -> list[str]:
    unit = _UNITS.get(c.unit, c.unit)
    budget = "none" if math.isnan(c.budget) else f"{c.budget:+.4g} {unit}"
    nats = "" if math.isnan(c.information_budget) else f" ({c.information_budget:.4g} nats)"
    return [
        f"{c.n_kept} of {c.n_features} features; promise: {_verdict_text(c)}",
        f"  budget                {budget}{nats}",
        f"  evidence              {c.n_rows} rows, {c.source}; limits at {c.confidence:.0%}",
    ]


def _evidence(c: Certificate) -> list[str]:
    lost, limit = c.information_lost, c.information_limit
    lines = [
        f"  information lost      {lost:.4f} nats, limit {limit:.4f}   [{TIERS['information']}]",
        f"    if no more than {limit:.4f} nats are lost, the best possible predictor on the kept",
        f"    features errs at most {c.bound:.4f} more than the best possible one on all of them",
        f"  held-out error        {c.error_all:.4f} with all features ({c.model_all})",
        f"                        {c.error_kept:.4f} with those kept ({c.model_kept})",
        f"    growth {c.growth:+.4f}, limit {c.growth_upper:+.4f}   [{TIERS['growth']}]",
    ]
    if not math.isnan(c.ideal_growth):
        lines.append(
            f"    growth {c.ideal_growth:+.4f}, limit {c.ideal_growth_upper:+.4f}   "
            f"[{TIERS['ideal_growth']}]"
        )
    lines.append(
        f"  error that the kept features allow: at most {c.error_limit:.4f}   "
        f"[{TIERS['error_limit']}]"
    )
    return lines


def _verdict_text(c: Certificate) -> str:
    if c.verdict == "kept":
        return "kept" if c.n_kept < c.n_features else "kept (nothing is left out)"
    if c.verdict == "not kept":
        return f"not kept (the error grows by at least {c.growth_lower:.4f})"
    return f"not resolved at this sample size (a budget of {c.resolvable:.4f} could be)"


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
