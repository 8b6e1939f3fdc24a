"""A fitted selector as every view reads it: the only place that looks into a selector."""

import math
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pinsker.encoding import Encoded, encode
from pinsker.exceptions import DataError
from pinsker.selection import ErrorBudget

#: Positions of the slider, about.
_POSITIONS = 200
#: Metrics in which a budget ends at 1.
_AT_MOST_ONE = ("error", "r2", "brier")
#: What the rows of a certificate were to the search, in its own words.
SEARCH_ROWS, FRESH_ROWS, CROSS_FITTING = "search rows", "fresh rows", "cross-fitting"
_VERDICTS = {"kept": "met", "not kept": "not met", "not resolved": "inconclusive"}
_NAN = float("nan")

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class SelectionResult:
    """What a fitted selector found.

    Attributes
    ----------
    selector : fitted selector
        Any selector of pinsker.
    """

    selector: Any

    def __post_init__(self) -> None:
        check_is_fitted(self.selector)

    @property
    def path(self) -> Any:
        """The path that was cut."""
        return self.selector.path_

    @property
    def metric(self) -> str:
        """Metric of the budget and of all errors."""
        return str(self._rule.unit_for(self.selector.facts_))

    @cached_property
    def budget(self) -> float | None:
        """The error budget; None when another rule cut the path."""
        rule = self.selector._rule()
        return float(rule.delta) if isinstance(rule, ErrorBudget) else None

    @property
    def rule(self) -> Any:
        """The rule that cut the path."""
        return self.selector._rule()

    @property
    def feature_columns(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each feature."""
        return tuple(self.selector.feature_columns_)

    @cached_property
    def kept(self) -> list[int]:
        """The features that stay."""
        return self._features(self.selector.support_)

    @property
    def in_order(self) -> list[int]:
        """The features that stay, the most important first."""
        staying, order = set(self.kept), self.path.order
        return [j for j in order if j in staying] + sorted(staying - set(order))

    @cached_property
    def certificate(self) -> Any:
        """The certificate."""
        return read_certificate(self.selector.certificate_, self.path, self.budget)

    @property
    def certificate_fields(self) -> Row:
        """The fields of the certificate, by name."""
        return certificate_fields(self.certificate)

    @property
    def tested(self) -> bool:
        """Whether rows were held out."""
        return bool(self.certificate.rows != SEARCH_ROWS)

    @property
    def verdict(self) -> str:
        """Return "met", "not met" or "inconclusive"; a rule without a budget is always met."""
        return "met" if self.budget is None else str(self.certificate.verdict)

    @property
    def rows(self) -> str:
        """The kind of rows that the certificate rests on, with the number of folds."""
        folds = getattr(self.selector, "folds", None)
        if self.certificate.rows == CROSS_FITTING and isinstance(folds, int) and folds > 1:
            return f"{folds}-fold {CROSS_FITTING}"
        return str(self.certificate.rows)

    @cached_property
    def cv_results(self) -> list[Row]:
        """What held-out rows showed: one row per evaluated set; empty when none were held out."""
        return [_trial_row(trial) for trial in getattr(self.selector, "comparison_", ())]

    @property
    def search(self) -> str | None:
        """Name of the search whose path was cut; None when nothing was held out."""
        judgement = getattr(self.selector, "_judgement", None)
        paths = {} if judgement is None else judgement.paths
        return next((name for name, path in paths.items() if path.order == self.path.order), None)

    @property
    def n_neighbors(self) -> int:
        """Neighbors of the estimates of single features."""
        return int(getattr(self.selector, "n_neighbors", 3))

    def encode(self, X: Any, y: Any) -> Encoded:
        """Encode the table of `fit` as the selector did."""
        settings = self.selector._encoding()
        if not hasattr(self.selector, "scale"):  # counts have no scale; neighbors need one
            settings["scale"] = "copula"
        encoded = encode(X, y, **settings)
        if encoded.feature_names != self.path.names:
            raise DataError(
                f"the table given to report has {encoded.n_features} features that are not those "
                f"of fit ({self.path.n_features}): pass the X that the selector was fitted to."
            )
        return encoded

    def kept_at(self, budget: float) -> list[int] | None:
        """Return the features that stay under another budget; None where it cannot be applied."""
        try:
            support = self.selector.support_at(stop=replace(self._rule, delta=budget))
        except DataError:
            return None
        return self._features(support)

    def increase_upper_at(self, budget: float) -> float | None:
        """Return the upper bound of the held-out error increase of the set of a budget."""
        judgement = getattr(self.selector, "_judgement", None)
        if judgement is None:
            return None
        return float(judgement.choose(replace(self._rule, delta=budget))[0].growth_upper)

    @cached_property
    def _rule(self) -> ErrorBudget:
        """The budget, or for another rule what a budget would be."""
        rule = self.selector._rule()
        return rule if isinstance(rule, ErrorBudget) else self.selector._budget_rule(0.0)

    def _features(self, support: Any) -> list[int]:
        """Return the features whose columns all stay."""
        return [j for j, columns in enumerate(self.feature_columns) if support[list(columns)].all()]


def budget_choices(result: SelectionResult) -> Row:
    """Return what every budget of the slider would keep.

    Each position is one call of `support_at`: the page computes no choice of its own, so that page
    and selector cannot disagree. Budgets that a selector cannot apply are left out.

    Returns
    -------
    dict
        ``metric``, ``budgets`` (rising), ``current`` (position of the selector's own budget, or
        None), and ``sets``: each with ``first`` (the first position it holds at), ``size``,
        ``features`` (None when they are the first of the path's order), ``information``, ``lost``
        and ``bound`` (None off the path), and ``increase_upper``: upper confidence bound of the
        held-out error increase (None where nothing was held out).
    """
    own, metric = result.budget, result.metric
    budgets: list[float] = []
    sets: list[Row] = []
    last: list[int] = []
    for budget in _grid(_largest_budget(result.path, own, metric), own, metric):
        features = result.kept_at(budget)
        if features is None:
            continue
        if features != last:
            upper = result.increase_upper_at(budget)
            described = _describe(result.path, features)
            sets.append({"first": len(budgets), **described, "increase_upper": upper})
        budgets.append(budget)
        last = features
    current = budgets.index(own) if own in budgets else None
    return {"metric": metric, "budgets": budgets, "current": current, "sets": sets}


def _describe(path: Any, features: list[int]) -> Row:
    size = len(features)
    if set(features) != set(path.order[:size]) or size not in path.sizes:
        unknown = {"information": None, "lost": None, "bound": None}
        return {"size": size, "features": features, **unknown}
    position = int(abs(size - path.sizes[0]))
    return {
        "size": size,
        "features": None,
        "information": path.information[position],
        "lost": float(path.lost()[position]),
        "bound": path.bound_at(size),
    }


def _largest_budget(path: Any, own: float | None, metric: str) -> float:
    """Return the largest budget worth showing: where one feature stays, at least twice our own."""
    bounds = [bound for size, bound in zip(path.sizes, path.bounds, strict=False) if size > 0]
    finite = [bound for bound in bounds if math.isfinite(bound)]
    top: float = max([2.0 * (own or 0.05), *finite])
    return min(top, 1.0) if metric in _AT_MOST_ONE else top


def _grid(top: float, own: float | None, metric: str) -> list[float]:
    raw = top / _POSITIONS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(nice * power for nice in (1, 2, 2.5, 5, 10) if nice * power >= raw * (1 - 1e-9))
    grid = {round(float(value), 12) for value in step * np.arange(math.ceil(top / step) + 1)}
    if metric in _AT_MOST_ONE:
        grid = {value for value in grid if value <= 1.0}
    return sorted(grid | ({own} if own is not None else set()))


def read_certificate(certificate: Any, path: Any = None, budget: float | None = None) -> Any:
    """Return a certificate under the names of version 0.2, with `text`, what it prints."""
    if hasattr(certificate, "verdict"):
        return _from_held_out(certificate)
    within = certificate.lost <= certificate.budget or (
        budget is not None and certificate.bound <= budget
    )
    unknown = dict.fromkeys(
        ("confidence", "information_upper", "error_all", "error_kept", "increase", "excess",
         "increase_lower", "increase_upper", "excess_upper", "error_upper", "resolvable"), _NAN
    )  # fmt: skip
    return SimpleNamespace(
        metric=certificate.unit,
        budget=_NAN if budget is None else budget,
        n_rows=0,
        n_kept=certificate.size,
        n_features=path.n_features,
        rows=SEARCH_ROWS,
        information_budget=certificate.budget,
        information_lost=certificate.lost,
        bound=certificate.bound,
        model_all="",
        model_kept="",
        notes=tuple(certificate.notes),
        verdict="met" if within else "not met",
        text=str(certificate),
        **unknown,
    )


def certificate_fields(certificate: Any) -> Row:
    """Return the fields of a certificate that `read_certificate` returned."""
    return {name: value for name, value in vars(certificate).items() if name != "text"}


def _from_held_out(c: Any) -> SimpleNamespace:
    fresh = c.source.startswith("that the search never")
    same = ("budget", "confidence", "n_rows", "n_kept", "n_features", "information_budget",
            "information_lost", "bound", "error_all", "error_kept", "model_all", "model_kept",
            "resolvable", "notes")  # fmt: skip
    return SimpleNamespace(
        metric=c.unit,
        rows=FRESH_ROWS if fresh else CROSS_FITTING,
        information_upper=c.information_limit,
        increase=c.growth,
        increase_lower=c.growth_lower,
        increase_upper=c.growth_upper,
        excess=c.ideal_growth,
        excess_upper=c.ideal_growth_upper,
        error_upper=c.error_limit,
        verdict=_VERDICTS[c.verdict],
        text=str(c),
        **{name: getattr(c, name) for name in same},
    )


def _trial_row(trial: Any) -> Row:
    names = {
        "path": "search", "growth": "increase", "growth_lower": "increase_lower",
        "growth_upper": "increase_upper", "error_limit": "error_upper",
        "lost_limit": "lost_upper", "witness": "model_information", "model": "model_error",
    }  # fmt: skip
    return {names.get(name, name): value for name, value in asdict(trial).items()}
