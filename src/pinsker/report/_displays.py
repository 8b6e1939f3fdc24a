"""Figures of a path as scikit-learn Display objects; matplotlib is imported when one is drawn."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pinsker._compat import require
from pinsker._types import FloatArray, IntArray
from pinsker.report._charts import BAND
from pinsker.report._summary_choices import budget_rule, kept_units, path_name
from pinsker.report._words import UNIT_NAMES

_PATH, _MARK = "#2f5d8a", "#a8481f"


def new_axes(ax: Any, purpose: str) -> Any:
    """Return the axes to draw on."""
    pyplot = require("matplotlib.pyplot", purpose=purpose, extra="plot")
    return pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")[1] if ax is None else ax


def tidy(ax: Any, xlabel: str | None, ylabel: str) -> None:
    """Leave what carries information."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(ylabel=ylabel)
    if xlabel:
        ax.set(xlabel=xlabel)
        ax.xaxis.get_major_locator().set_params(integer=True)


class SelectionPathDisplay:
    """Information about the target against the number of features.

    Parameters
    ----------
    sizes : ndarray of shape (n_sets,)
        Numbers of features.
    information : ndarray of shape (n_sets,)
        I(Y; X_S) of the search, in nats.
    kept : int
        Size of the set that is kept.
    trials : tuple of Trial
        What held-out rows showed, if any were held out.
    name : str, optional
        Which of the tried paths this is; it is drawn in full, the others faintly.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        The path of the search.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pinsker import BackwardElimination
    >>> selector = BackwardElimination(error_budget=0.1).fit(*load_wine(return_X_y=True))
    >>> display = SelectionPathDisplay.from_estimator(selector)
    >>> display.ax_.get_ylabel()
    'information (nats)'
    """

    def __init__(
        self,
        *,
        sizes: IntArray,
        information: FloatArray,
        kept: int,
        trials: tuple[Any, ...] = (),
        name: str | None = None,
    ) -> None:
        self.sizes, self.information, self.kept = sizes, information, kept
        self.trials, self.name = trials, name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **line_kwargs: Any) -> Self:
        """Draw a fitted selector; keywords go to the line of the path."""
        check_is_fitted(estimator)
        path = estimator.path_
        display = cls(
            sizes=path.sizes,
            information=np.asarray(path.information),
            kept=len(kept_units(estimator, estimator.support_)),
            trials=tuple(getattr(estimator, "comparison_", ())),
            name=path_name(estimator),
        )
        return display.plot(ax=ax, **line_kwargs)

    def plot(self, ax: Any = None, **line_kwargs: Any) -> Self:
        """Draw on new axes, or on those given."""
        ax = new_axes(ax, "SelectionPathDisplay")
        style = {"color": _PATH, "label": "search", "marker": ".", **line_kwargs}
        (self.line_,) = ax.plot(self.sizes, self.information, **style)
        for name in dict.fromkeys(trial.path for trial in self.trials):
            self._draw_trials(ax, name)
        ax.axvline(self.kept, color=_MARK, linestyle=":", label=f"{self.kept} kept")
        tidy(ax, "number of features", "information (nats)")
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_trials(self, ax: Any, name: str) -> None:
        own = sorted((t for t in self.trials if t.path == name), key=lambda t: t.size)
        size = [trial.size for trial in own]
        value = np.array([trial.information for trial in own])
        error = BAND * np.array([trial.information_error for trial in own])
        main = name == self.name
        (line,) = ax.plot(
            size, value, marker=".", label=f"held out: {name}", linewidth=1.5 if main else 0.7
        )
        band = {"color": line.get_color(), "alpha": 0.2 if main else 0.05, "linewidth": 0}
        ax.fill_between(size, value - error, value + error, **band)


class BoundDisplay:
    """Bound on the growth of the ideal error against the number of features.

    The sets of a path are nested, and more features never tell less: what bounds the loss of a set
    bounds that of every larger one. The line is therefore the smallest bound up to each size.
    Points show what the estimate says of a set by itself where that is more, as it tends to be of
    large sets, whose information is underestimated.

    Parameters
    ----------
    sizes : ndarray of shape (n_sets,)
        Numbers of features.
    bounds : ndarray of shape (n_sets,)
        Growth that each set allows by itself, in `unit`.
    unit : str
        Unit of the bounds.
    budget : float, optional
        The error budget, drawn as a level line.
    kept : int
        Size of the set that is kept.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        The smallest bound up to each size.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pinsker import BackwardElimination
    >>> selector = BackwardElimination(error_budget=0.1).fit(*load_wine(return_X_y=True))
    >>> BoundDisplay.from_estimator(selector).budget
    0.1
    """

    def __init__(
        self, *, sizes: IntArray, bounds: FloatArray, unit: str, budget: float | None, kept: int
    ) -> None:
        self.sizes, self.bounds, self.unit = sizes, bounds, unit
        self.budget, self.kept = budget, kept

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **line_kwargs: Any) -> Self:
        """Draw a fitted selector; keywords go to the line of the bounds."""
        check_is_fitted(estimator)
        path = estimator.path_
        display = cls(
            sizes=path.sizes,
            bounds=np.asarray(path.bounds or [np.nan] * len(path.information)),
            unit=path.unit,
            budget=budget_rule(estimator)[1],
            kept=len(kept_units(estimator, estimator.support_)),
        )
        return display.plot(ax=ax, **line_kwargs)

    def plot(self, ax: Any = None, **line_kwargs: Any) -> Self:
        """Draw on new axes, or on those given."""
        ax = new_axes(ax, "BoundDisplay")
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
        tidy(
            ax, "number of features", f"error may grow by\n({UNIT_NAMES.get(self.unit, self.unit)})"
        )
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
