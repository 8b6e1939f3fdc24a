"""Figures as scikit-learn Display objects; matplotlib is imported when one is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pinsker._compat import require
from pinsker._types import AnyArray, Axes, Estimator, Fields, FloatArray, IntArray, Selector
from pinsker.exceptions import ParameterError
from pinsker.explain import Importance
from pinsker.holdout import ALL_FEATURES, RoughIncrease
from pinsker.metrics import best_score, metric_row, metric_words
from pinsker.report import _kept
from pinsker.report._charts import BAND, FAR, STEEP
from pinsker.report.words import facts
from pinsker.selectors import Monitor

_PATH, _MARK = "#2f5d8a", "#a8481f"
_SIZES = "number of features"


class _Display:
    """A figure: after `plot`, ``ax_`` and ``figure_`` are of matplotlib, as ``line_`` of a path."""

    ax_: Any
    figure_: Any

    def _begin(self, ax: Axes) -> Any:
        pyplot = require("matplotlib.pyplot", purpose=type(self).__name__, extra="plot")
        return pyplot.subplots(figsize=(7.6, 3.6), layout="constrained")[1] if ax is None else ax

    def _finish(self, ax: Axes, xlabel: str, ylabel: str = "", *, legend: bool = True) -> Self:
        """Leave what carries information."""
        ax.spines[["top", "right"]].set_visible(False)
        ax.set(xlabel=xlabel, ylabel=ylabel)
        if xlabel == _SIZES:
            ax.xaxis.get_major_locator().set_params(integer=True)
        if legend:
            # Beside the axes, where it covers nothing: constrained layouts make room for it.
            beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
            free = ax.figure.get_layout_engine() is None
            ax.legend(frameon=False, **({} if free else beside))
        self.ax_, self.figure_ = ax, ax.figure
        return self


def plot_sequence(monitor: Monitor, ax: Axes = None) -> Axes:
    """Draw the confidence sequence of a monitor against its budget."""
    display = _Display()
    ax = display._begin(ax)
    rows = [one.n_rows for one in monitor.looks]
    lower, upper = [one.lower for one in monitor.looks], [one.upper for one in monitor.looks]
    ax.fill_between(rows, lower, upper, color=_PATH, alpha=0.18, linewidth=0, label="limits")
    ax.plot(rows, [one.increase for one in monitor.looks], color=_PATH, label="increase so far")
    ax.axhline(monitor.error_budget, color=_MARK, label=f"budget {monitor.error_budget:g}")
    if monitor.known_at is not None:
        ax.axvline(monitor.known_at, color=_MARK, linestyle=":", label=f"{monitor.verdict} known")
    ax.set_ylim(-2 * monitor.error_budget, 4 * monitor.error_budget)
    word = "increase of the" if best_score(monitor.metric) is None else "fall of"
    display._finish(ax, "rows", f"{word} {metric_words(monitor.metric)}")
    return ax


def _bounds(path: Any) -> FloatArray:
    return np.asarray(path.bounds or [np.nan] * len(path.information))


@dataclass(kw_only=True, eq=False, repr=False)
class ErrorIncreaseDisplay(_Display):
    """The error increase against the number of features: the one picture of a choice.

    Every search is a thin line, the one whose set is kept a thick one with its confidence bounds;
    hollow marks are sets that some folds alone evaluated: estimates without bounds. The budget and
    what no features at all would add are level lines. Where no rows were held out, the bound that
    the information on the path gives is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pinsker import BackwardElimination
    >>> selector = BackwardElimination(error_budget=0.1).fit(*load_wine(return_X_y=True))
    >>> ErrorIncreaseDisplay.from_estimator(selector).kept
    4
    """

    cv_results: Mapping[str, AnyArray]  # empty when no rows were held out
    search: str | None  # on whose path the kept set is
    kept: int  # features kept
    metric: str
    budget: float | None = None
    baseline: float | None = None  # what no features at all would add to the error
    sizes: IntArray | None = None  # of the path: drawn where no rows were held out
    bounds: FloatArray | None = None
    likely: int | None = None  # features that are likely to be enough, where they are fewer
    rough: Sequence[RoughIncrease] = ()  # of sets that some folds alone evaluated

    @classmethod
    def from_estimator(cls, estimator: Estimator, *, ax: Axes = None) -> Self:
        """Draw a fitted selector."""
        check_is_fitted(estimator)
        path, kept = estimator.path_, _kept.kept_features(estimator)
        likely = len(estimator.certificate_.likely)
        display = cls(
            cv_results=estimator.cv_results_, kept=len(kept),
            search=_kept.describe_set(estimator, kept, estimator.certificate_)["search"],
            metric=estimator.certificate_.metric, budget=_kept.own_budget(estimator),
            baseline=_kept.no_feature_increase(estimator.certificate_), sizes=path.sizes,
            bounds=_bounds(path), likely=likely if 0 < likely < len(kept) else None,
            rough=estimator.cv_results_.rough,
        )  # fmt: skip
        return display.plot(ax=ax)

    def plot(self, ax: Axes = None) -> Self:
        """Draw on new axes, or on those given."""
        ax = self._begin(ax)
        self.line_ = None
        for search in dict.fromkeys(self.cv_results.get("search", ())):
            own = np.flatnonzero(self.cv_results["search"] == search)
            own = own[np.argsort(self.cv_results["n_features"][own])]
            size, value = (self.cv_results[name][own] for name in ("n_features", "increase"))
            if search == ALL_FEATURES:
                ax.plot(size, value, ".", color="0.4")
            elif search != self.search:
                ax.plot(size, value, marker=".", linewidth=0.8, label=search)
            else:
                thick = {"color": _PATH, "linewidth": 2.5, "marker": "o", "markersize": 4}
                (self.line_,) = ax.plot(size, value, label=search, zorder=3, **thick)
                ends = (self.cv_results[name][own] for name in ("increase_lower", "excess_upper"))
                ax.fill_between(size, *ends, color=_PATH, alpha=0.15, linewidth=0)
        if self.rough:  # on the line of the search, or alone
            low, high = ax.get_ylim()
            tested = (self.cv_results[name] for name in RoughIncrease._fields)
            sets = [*zip(*tested, strict=True), *self.rough]
            thin = {"color": "0.5", "linewidth": 0.8, "linestyle": ":", "zorder": 1}
            for search in dict.fromkeys(one.search for one in self.rough):
                points = sorted(place for name, *place in sets if name == search)
                ax.plot(*zip(*points, strict=True), **thin)
            hollow = {"color": "0.5", "markerfacecolor": "white", "markersize": 4, "zorder": 2}
            _, at, rough = zip(*self.rough, strict=True)
            ax.plot(at, rough, "o", **hollow, label="estimate of some folds")
            ax.set_ylim(low, max(high, min(1.05 * max(rough), STEEP * high)))
        if not self.cv_results and self.sizes is not None and self.bounds is not None:
            upwards = np.argsort(self.sizes)
            sizes, best = self.sizes[upwards], np.fmin.accumulate(self.bounds[upwards])
            style: Fields = {"color": _PATH, "linewidth": 2.5, "marker": "o", "markersize": 4}
            known = sizes > 0
            (self.line_,) = ax.plot(sizes[known], best[known], label="bound, not tested", **style)
        if self.baseline is not None:
            level = {"color": "0.4", "linestyle": "--", "linewidth": 1}
            if self.baseline > FAR * max(ax.get_ylim()[1], self.budget or 0.0):
                ax.plot([], [], **level, label=f"no features: {self.baseline:.2g}, off the chart")
            else:
                ax.axhline(self.baseline, **level, label="no features")
        if self.budget is not None:
            ax.axhline(self.budget, color=_MARK, label=f"budget {self.budget:g}")
        ax.axvline(self.kept, color=_MARK, linestyle=":", label=f"{self.kept} kept")
        if self.likely is not None:
            ax.axvline(self.likely, color="0.4", linestyle=":", label=f"{self.likely} likely")
        ax.axhline(0.0, color="0.7", linewidth=1, zorder=0)
        word = "increase of the" if best_score(self.metric) is None else "fall of"
        return self._finish(ax, _SIZES, f"{word} {metric_words(self.metric)}")


@dataclass(kw_only=True, eq=False, repr=False)
class SelectionPathDisplay(_Display):
    """Information about the target against the number of features.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pinsker import BackwardElimination
    >>> selector = BackwardElimination(error_budget=0.1).fit(*load_wine(return_X_y=True))
    >>> display = SelectionPathDisplay.from_estimator(selector)
    >>> display.ax_.get_ylabel()
    'information (nats)'
    """

    sizes: IntArray  # numbers of features
    information: FloatArray  # I(Y; X_S) of the search, in nats
    kept: int  # features kept
    cv_results: Mapping[str, AnyArray] | None = field(default_factory=dict)
    search: str | None = None  # whose path this is: drawn in full, the others faintly

    @classmethod
    def from_estimator(cls, estimator: Estimator, *, ax: Axes = None, **line_kwargs: Any) -> Self:
        """Draw a fitted selector; keywords go to the line of the path."""
        check_is_fitted(estimator)
        display = cls(
            sizes=estimator.path_.sizes, information=np.asarray(estimator.path_.information),
            kept=len(_kept.kept_features(estimator)), cv_results=estimator.cv_results_,
            search=_kept.search_of_path(estimator),
        )  # fmt: skip
        return display.plot(ax=ax, **line_kwargs)

    def plot(self, ax: Axes = None, **line_kwargs: Any) -> Self:
        """Draw on new axes, or on those given."""
        ax = self._begin(ax)
        style = {"color": _PATH, "label": "search", "marker": ".", **line_kwargs}
        (self.line_,) = ax.plot(self.sizes, self.information, **style)
        results = self.cv_results or {}
        for search in dict.fromkeys(results.get("search", ())):
            own = np.flatnonzero(results["search"] == search)
            own = own[np.argsort(results["n_features"][own])]
            size, value = results["n_features"][own], results["information"][own]
            error, main = BAND * results["information_error"][own], search == self.search
            line: Fields = {"marker": ".", "linewidth": 1.5 if main else 0.7}
            (drawn,) = ax.plot(size, value, label=f"held out: {search}", **line)
            band = {"color": drawn.get_color(), "alpha": 0.2 if main else 0.05, "linewidth": 0}
            ax.fill_between(size, value - error, value + error, **band)
        ax.axvline(self.kept, color=_MARK, linestyle=":", label=f"{self.kept} kept")
        return self._finish(ax, _SIZES, "information (nats)")


@dataclass(kw_only=True, eq=False, repr=False)
class BoundDisplay(_Display):
    """Bound on the increase of the Bayes risk against the number of features.

    The sets of a path are nested, and more features never hold less information: what bounds the
    loss of a set bounds that of every larger one. The line is therefore the smallest bound up to
    each size. Points show the estimate of a set by itself where that is more, as it tends to be of
    large sets, whose information is underestimated.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pinsker import BackwardElimination
    >>> selector = BackwardElimination(error_budget=0.1).fit(*load_wine(return_X_y=True))
    >>> BoundDisplay.from_estimator(selector).budget
    0.1
    """

    sizes: IntArray  # numbers of features
    bounds: FloatArray  # increase that each set allows by itself, in the metric
    metric: str
    budget: float | None
    kept: int  # features kept

    @classmethod
    def from_estimator(cls, estimator: Estimator, *, ax: Axes = None, **line_kwargs: Any) -> Self:
        """Draw a fitted selector; keywords go to the line of the bounds."""
        check_is_fitted(estimator)
        path, metric = estimator.path_, estimator.certificate_.metric
        if not np.isfinite(_bounds(path)).any():
            raise ParameterError(
                f"information bounds no increase of {metric_words(metric)}, so that there is "
                "nothing to draw: plot('increase') shows what held-out rows say."
            )
        display = cls(
            sizes=path.sizes, bounds=_bounds(path), metric=metric,
            budget=_kept.own_budget(estimator), kept=len(_kept.kept_features(estimator)),
        )  # fmt: skip
        return display.plot(ax=ax, **line_kwargs)

    def plot(self, ax: Axes = None, **line_kwargs: Any) -> Self:
        """Draw on new axes, or on those given."""
        ax = self._begin(ax)
        style = {"color": _PATH, "label": "bound", "marker": ".", **line_kwargs}
        upwards = np.argsort(self.sizes)
        sizes, alone = self.sizes[upwards], self.bounds[upwards]
        best = np.fmin.accumulate(alone)
        shown = sizes > 0  # an empty set is never kept
        (self.line_,) = ax.plot(sizes[shown], best[shown], **style)
        above = alone > best
        if above.any():
            ax.plot(sizes[above], alone[above], ".", color=_PATH, alpha=0.35, label="by itself")
        if self.budget is not None:
            ax.axhline(self.budget, color=_MARK, label=f"budget {self.budget:g}")
        ax.axvline(self.kept, color=_MARK, linestyle=":", label=f"{self.kept} kept")
        label = f"bound on the error increase\n({metric_row(self.metric).error_words})"
        return self._finish(ax, _SIZES, label)


@dataclass(kw_only=True, eq=False, repr=False)
class BudgetDisplay(_Display):
    """Error increase and number of features against the error budget: the paper's Figure 2.

    With rows held out, the increase of what each budget keeps with its confidence bounds, and down
    to the set that is likely to be enough; else the bound that the information on the path gives.
    """

    budgets: FloatArray
    increase: FloatArray  # of what each budget keeps: the estimate, its lower and its upper bound
    kept: IntArray  # features that each keeps, and that are likely to be enough
    metric: str

    @classmethod
    def from_estimator(cls, estimator: Estimator, *, ax: Axes = None) -> Self:
        """Draw a fitted selector."""
        check_is_fitted(estimator)
        found, held_out = _kept.budget_choices(estimator), bool(estimator.cv_results_)
        budgets, sets = np.array(found["budgets"]), found["sets"]
        of = np.searchsorted([one["first"] for one in sets], range(len(budgets)), "right") - 1
        names = ("increase", "increase_lower", "limit") if held_out else ("bound",) * 3
        increase = np.array([[sets[k][name] for k in of] for name in names], dtype=np.float64)
        kept = np.array([sets[k]["size"] for k in of])
        likely = _kept.likely_sizes(estimator, budgets) if held_out else kept
        sizes = np.stack([kept, likely])
        return cls(budgets=budgets, increase=increase, kept=sizes, metric=found["metric"]).plot(ax)

    def plot(self, ax: Axes = None) -> Self:
        """Draw on new axes, or on those given."""
        ax, band = self._begin(ax), {"alpha": 0.15, "linewidth": 0}
        ax.plot(self.budgets, self.budgets, color="0.7", linewidth=1, label="the budget itself")
        style = {"color": _PATH, "linewidth": 2, "label": "error increase"}
        (self.line_,) = ax.plot(self.budgets, self.increase[0], **style)
        ax.fill_between(self.budgets, *self.increase[1:], color=_PATH, **band)
        ax.plot([], [], color=_MARK, label="features kept (right)")
        right = ax.twinx()
        right.step(self.budgets, self.kept[0], where="post", color=_MARK)
        right.fill_between(self.budgets, *self.kept, step="post", color=_MARK, **band)
        right.set_ylabel(_SIZES)
        words = f"increase of {metric_row(self.metric).error_words}"
        return self._finish(ax, "error budget", words)


@dataclass(kw_only=True, eq=False, repr=False)
class CertificateDisplay(_Display):
    """Error increase by each kind of evidence, against the budget.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pinsker import BackwardElimination
    >>> selector = BackwardElimination(error_budget=0.1).fit(*load_wine(return_X_y=True))
    >>> CertificateDisplay.from_estimator(selector).verdict
    'budget not tested (no rows were held out)'
    """

    statements: list[tuple[str, float, float]]  # name, estimate (or NaN) and upper bound of each
    metric: str
    budget: float | None
    verdict: str

    @classmethod
    def from_estimator(cls, estimator: Estimator, *, ax: Axes = None) -> Self:
        """Draw the certificate of a fitted selector."""
        check_is_fitted(estimator)
        c = estimator.certificate_
        found = [("held-out models", float(c.increase), float(c.increase_upper))]
        if not np.isnan(c.excess) and c.excess != c.increase:
            known = float(c.excess), float(c.excess_upper)
            found.append(("held-out models,\nbest set known", *known))
        found = found if c.is_tested else []
        if not c.is_tested or np.isfinite(c.bound):
            found.append(("Bayes risk,\nif no more is lost", np.nan, float(c.bound)))
        display = cls(
            statements=found, metric=c.metric,
            budget=_kept.own_budget(estimator), verdict=facts(c).verdict,
        )  # fmt: skip
        return display.plot(ax=ax)

    def plot(self, ax: Axes = None) -> Self:
        """Draw on new axes, or on those given."""
        ax = self._begin(ax)
        for row, (_, estimate, upper) in enumerate(self.statements):
            start = 0.0 if np.isnan(estimate) else estimate
            ax.plot([start, upper], [row, row], color=_PATH, linewidth=3, solid_capstyle="butt")
            ax.plot(upper, row, marker="|", color=_PATH, markersize=14, markeredgewidth=2)
            if not np.isnan(estimate):
                ax.plot(estimate, row, marker="o", color=_PATH)
        ax.axvline(0.0, color="0.7", linewidth=1, zorder=0)
        if self.budget is not None:
            ax.axvline(self.budget, color=_MARK, label=f"budget {self.budget:g}")
        ax.set_yticks(range(len(self.statements)), [name for name, _, _ in self.statements])
        ax.set_ylim(len(self.statements) - 0.4, -0.6)
        ax.set_title(self.verdict, loc="left")
        label = f"error increase ({metric_row(self.metric).error_words})"
        return self._finish(ax, label, legend=self.budget is not None)


@dataclass(kw_only=True, eq=False, repr=False)
class ImportanceDisplay(_Display):
    """What each feature is worth: the error it saves, with confidence bounds.

    Examples
    --------
    >>> from pinsker import FeatureSelector
    >>> from pinsker.datasets import NoisyXor
    >>> problem = NoisyXor(n_columns=4)
    >>> selector = FeatureSelector(random_state=0).fit(*problem.sample(200, seed=1))
    >>> importance = selector.importance(*problem.sample(200, seed=2))
    >>> sorted(ImportanceDisplay.from_importance(importance).features[:2])
    ['x0', 'x1']
    """

    features: Sequence[str]  # the most important first
    values: FloatArray  # error increase without a kept feature, or decrease with a dropped one
    lower: FloatArray
    upper: FloatArray
    kept: AnyArray  # which of them are kept
    metric: str

    @classmethod
    def from_estimator(cls, estimator: Estimator, *, ax: Axes = None, n_features: int = 20) -> Self:
        """Draw ``importance_`` of a fitted selector, this many features at most."""
        check_is_fitted(estimator)
        found = estimator.importance_
        if found is None:
            raise ParameterError(
                f"{type(estimator).__name__} has no importance_ (more than 20 kept features, or no "
                "held-out rows): draw importance(X, y) of fresh rows by from_importance."
            )
        return cls.from_importance(found, ax=ax, n_features=n_features)

    @classmethod
    def from_importance(
        cls, importance: Importance, *, ax: Axes = None, n_features: int = 20
    ) -> Self:
        """Draw what ``selector.importance`` returned, this many features at most."""
        kept, values = np.array(importance.kept), np.array(importance.value)
        order = np.lexsort((-values, ~kept))[:n_features]
        display = cls(
            features=[importance.features[k] for k in order], values=values[order],
            lower=np.array(importance.lower)[order], upper=np.array(importance.upper)[order],
            kept=kept[order], metric=importance.metric,
        )  # fmt: skip
        return display.plot(ax=ax)

    def plot(self, ax: Axes = None) -> Self:
        """Draw on new axes, or on those given."""
        ax = self._begin(ax)
        places = np.arange(len(self.features))
        for own, color, label in ((self.kept, _PATH, "kept"), (~self.kept, "0.75", "dropped")):
            if own.any():
                ax.barh(places[own], self.values[own], color=color, label=label)
        around = np.clip([self.values - self.lower, self.upper - self.values], 0.0, None)
        ax.errorbar(self.values, places, xerr=around, fmt="none", ecolor="0.2", capsize=3)
        ax.axvline(0.0, color="0.7", linewidth=1, zorder=0)
        ax.set_yticks(places, self.features)
        ax.invert_yaxis()
        return self._finish(ax, f"error that a feature saves ({metric_words(self.metric)})")


def plot(selector: Selector, kind: str = "increase", *, ax: Axes = None) -> Axes:
    """Draw a fitted selector; ``selector.plot`` describes the parameters."""
    displays: Fields = {
        "increase": ErrorIncreaseDisplay, "path": SelectionPathDisplay, "bound": BoundDisplay,
        "budget": BudgetDisplay, "certificate": CertificateDisplay,
    }  # fmt: skip
    if kind not in displays:
        listed = ", ".join(repr(known) for known in displays)
        raise ParameterError(f"plot knows the kinds {listed}; found {kind!r}.", parameter="kind")
    return displays[kind].from_estimator(selector, ax=ax)
