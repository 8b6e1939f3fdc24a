"""The certificate as a figure: what is known about the growth of the error, against the budget."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pinsker.exceptions import ParameterError
from pinsker.report._displays import (
    BoundDisplay,
    SelectionPathDisplay,
    new_axes,
    tidy,
)
from pinsker.report._summary_certificate import summarise_certificate
from pinsker.report._summary_choices import budget_rule
from pinsker.report._words import UNIT_NAMES

_KNOWN, _MARK = "#2f5d8a", "#a8481f"
_KINDS = ("overview", "path", "bound", "certificate")


class CertificateDisplay:
    """Growth of the error by each kind of evidence, against the budget.

    Parameters
    ----------
    statements : list of (str, float, float)
        What each kind of evidence says: its name, its estimate (NaN if it has none) and its limit.
    unit : str
        Unit of the figures.
    budget : float, optional
        The error budget.
    verdict : str
        What the certificate concludes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pinsker import BackwardElimination
    >>> selector = BackwardElimination(error_budget=0.1).fit(*load_wine(return_X_y=True))
    >>> CertificateDisplay.from_estimator(selector).verdict
    'estimated, not tested'
    """

    def __init__(
        self,
        *,
        statements: list[tuple[str, float, float]],
        unit: str,
        budget: float | None,
        verdict: str,
    ) -> None:
        self.statements, self.unit = statements, unit
        self.budget, self.verdict = budget, verdict

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the certificate of a fitted selector."""
        check_is_fitted(estimator)
        summary = summarise_certificate(estimator.certificate_)
        figures = summary["figures"]
        display = cls(
            statements=_statements(figures, summary["tested"]),
            unit=figures["unit"],
            budget=budget_rule(estimator)[1],
            verdict=summary["verdict_words"],
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on new axes, or on those given."""
        ax = new_axes(ax, "CertificateDisplay")
        for row, (_, estimate, limit) in enumerate(self.statements):
            start = 0.0 if np.isnan(estimate) else estimate
            ax.plot([start, limit], [row, row], color=_KNOWN, linewidth=3, solid_capstyle="butt")
            ax.plot(limit, row, marker="|", color=_KNOWN, markersize=14, markeredgewidth=2)
            if not np.isnan(estimate):
                ax.plot(estimate, row, marker="o", color=_KNOWN)
        ax.axvline(0.0, color="0.7", linewidth=1, zorder=0)
        if self.budget is not None:
            ax.axvline(self.budget, color=_MARK, label=f"budget {self.budget:g}")
            ax.legend(frameon=False)
        ax.set_yticks(range(len(self.statements)), [name for name, _, _ in self.statements])
        ax.set_ylim(len(self.statements) - 0.4, -0.6)
        tidy(ax, None, "")
        ax.set_xlabel(f"growth of the error ({UNIT_NAMES.get(self.unit, self.unit)})")
        ax.set_title(self.verdict, loc="left")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _statements(figures: dict[str, Any], tested: bool) -> list[tuple[str, float, float]]:
    bound = ("ideal error,\nif no more is lost", np.nan, _number(figures["bound"]))
    if not tested:
        return [bound]
    found = [
        ("held-out models", _number(figures["growth"]), _number(figures["growth_upper"])),
        bound,
    ]
    if figures["ideal_growth"] is not None:
        ideal = _number(figures["ideal_growth"]), _number(figures["ideal_growth_upper"])
        found.insert(1, ("held-out models,\nothers shuffled", *ideal))
    return found


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def plot(selector: Any, kind: str = "overview", *, ax: Any = None) -> Any:
    """Draw a fitted selector; see `InformationSelector.plot`."""
    if kind not in _KINDS:
        listed = ", ".join(repr(known) for known in _KINDS)
        raise ParameterError(f"plot knows the kinds {listed}; found {kind!r}.")
    if kind == "path":
        return SelectionPathDisplay.from_estimator(selector, ax=ax)
    if kind == "bound":
        return BoundDisplay.from_estimator(selector, ax=ax)
    if kind == "certificate":
        return CertificateDisplay.from_estimator(selector, ax=ax)
    upper, lower = _two_axes(ax)
    path = SelectionPathDisplay.from_estimator(selector, ax=upper)
    upper.set_xlabel("")
    return path, BoundDisplay.from_estimator(selector, ax=lower)


def _two_axes(ax: Any) -> tuple[Any, Any]:
    if ax is None:
        first = new_axes(None, "selector.plot()")
        figure = first.figure
        first.remove()
        figure.set_size_inches(6.4, 6.4)
        upper, lower = figure.subplots(2, 1, sharex=True)
        return upper, lower
    if np.size(ax) != 2:
        raise ParameterError(f"plot('overview') draws on two axes, found {np.size(ax)}.")
    upper, lower = np.ravel(ax)
    return upper, lower
