"""The rule that the package is about: how much error may be added."""

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from pinsker._types import FloatArray
from pinsker.bounds import Bound, TargetFacts, bound_for
from pinsker.exceptions import ParameterError
from pinsker.selection._path import RESOLUTION, Reference, SelectionPath
from pinsker.selection._rules import Decision, StoppingRule

Unit = Literal["auto", "error", "r2", "mse", "log-loss", "brier", "mae"]
Constants = Literal["sharp", "paper"]
Model = Literal["bounded", "gaussian"]

_CHOICES = {
    "unit": ("auto", "error", "r2", "mse", "log-loss", "brier", "mae"),
    "constants": ("sharp", "paper"),
    "reference": ("best", "full"),
    "model": ("bounded", "gaussian"),
}
#: Units in which an error never exceeds 1.
_SHARES = ("error", "r2", "brier")


@dataclass(frozen=True)
class ErrorBudget(StoppingRule):
    r"""Keep the smallest set whose ideal error grows by at most `delta` (the paper's ER).

    The information that a set S of the path lacks,

    .. math:: \nu(S) = \max_{S'} I(Y; X_{S'}) - I(Y; X_S),

    bounds the growth of the ideal error. The smallest set stays for which that bound is at most
    `delta`; the feature whose loss would break it is part of the set. With ``delta=0`` features
    go that cost nothing, exact duplicates among them, and none that costs.

    Parameters
    ----------
    delta : float
        How much error may be added, at least 0.
    unit : {"auto", "error", "r2", "mse", "log-loss", "brier", "mae"}, default="auto"
        Unit of `delta`. Classes: error rate (the default), log-loss in nats, Brier score. Numbers:
        share of the target's variance (``"r2"``, the default), mean squared error, log-loss, mean
        absolute error.
    constants : {"sharp", "paper"}, default="sharp"
        The sharpest bound known, or the one printed in the paper.
    reference : {"best", "full"}, default="best"
        Whether losses count from the best set seen or from the set of all features. ``"full"``
        together with ``constants="paper"`` is the paper to the letter, see Notes.
    model : {"bounded", "gaussian"}, default="bounded"
        For numbers: whether the target is only known to be bounded, or is taken for jointly
        Gaussian with the features. Under a linear model the second is an identity.

    Notes
    -----
    On a path that was searched with ``score="direct"``, ``constants="paper"`` and
    ``reference="full"`` give Algorithms 1 and 2 as printed: the scores are added up, each clipped
    at zero, and the search stops at the first sum that is *at least* :math:`\delta^2/2` (classes)
    or :math:`\delta/(2B^2)` (numbers). Backward, what was not removed before that step stays;
    forward, what was chosen before that step. With ``delta=0`` the printed Algorithm 1 removes
    nothing, not even duplicates; in the printed Algorithm 2 a larger `delta` keeps *more*.
    Every other combination is the corrected rule described above.

    References
    ----------
    Beraha et al. (2019), Theorems 1 and 3, Algorithms 1 and 2.

    Examples
    --------
    >>> from pinsker.bounds import TargetFacts
    >>> path = SelectionPath(
    ...     "backward", ("a", "b", "c"), (2, 0, 1), (0.0, 0.01, 0.59), (0.6, 0.6, 0.59, 0.0)
    ... )
    >>> facts = TargetFacts("classification", n_classes=2, largest_prior=0.5)
    >>> ErrorBudget(0.05).size(path, facts), ErrorBudget(0.1).size(path, facts)
    (2, 1)
    >>> ErrorBudget(0.01, unit="log-loss").size(path, facts)
    1
    """

    delta: float
    unit: Unit = "auto"
    constants: Constants = "sharp"
    reference: Reference = "best"
    model: Model = "bounded"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                listed = ", ".join(repr(choice) for choice in choices)
                raise ParameterError(
                    f"ErrorBudget: {name}={getattr(self, name)!r} is not one of {listed}."
                )
        if not 0.0 <= self.delta < float("inf"):
            raise ParameterError(
                f"an error budget must be a number of at least 0, found {self.delta!r}."
            )
        if self.unit in _SHARES:
            self._check_share(self.unit)

    def __str__(self) -> str:
        """Say what differs from the defaults; `repr` says everything."""
        others = [field for field in fields(self)[1:] if getattr(self, field.name) != field.default]
        said = "".join(f", {field.name}={getattr(self, field.name)!r}" for field in others)
        return f"{type(self).__name__}({self.delta!r}{said})"

    def unit_for(self, facts: TargetFacts) -> str:
        """Return the unit of `delta`, with "auto" resolved."""
        return facts.default_metric if self.unit == "auto" else self.unit

    def budget(self, facts: TargetFacts) -> float:
        """Return the information that may be lost, in nats, when nothing is known of the set."""
        self._check_share(self.unit_for(facts))
        return self._bound(facts).budget(float(self.delta))

    def check(self, n_features: int, n_forced: int, facts: TargetFacts) -> None:  # noqa: ARG002
        """Refuse a budget that means nothing for this target."""
        self.budget(facts)

    def growth_of(self, lost: float, facts: TargetFacts) -> float:
        """Return the growth of the ideal error that a loss of information allows."""
        return self._bound(facts).growth(float(lost))

    def _bound(self, facts: TargetFacts) -> Bound:
        """Return the bound that turns information into error."""
        return bound_for(self.unit_for(facts), facts, constants=self.constants, model=self.model)

    def growth(self, path: SelectionPath, facts: TargetFacts) -> FloatArray:
        """Return the growth of the ideal error that each set of a path allows.

        Returns
        -------
        ndarray of shape (n_steps + 1,)
            In the unit of `delta`, one per entry of ``path.information``.
        """
        lost = self._spent(path) if self._is_printed else path.lost(self.reference)
        unit = self.unit_for(facts)
        if self.model == "gaussian" and unit in ("r2", "mse"):
            return self._gaussian_growth(path, lost, facts)
        return self._bound(facts).growth(lost)

    def decide(self, path: SelectionPath, facts: TargetFacts | None = None) -> Decision:
        """Return how many features stay."""
        if facts is None:
            raise ParameterError(
                "ErrorBudget needs to know the target to turn error into information: pass facts, "
                "for example TargetFacts.of(encoded.target)."
            )
        budget = self.budget(facts)
        if self._is_printed:
            return self._settle(path, self._printed_size(path, budget), budget)
        if self.model == "gaussian":
            within = self.growth(path, facts) <= self.delta + RESOLUTION
        else:
            within = path.lost(self.reference) <= budget + RESOLUTION
        if not within.any():
            note = f"no set on the path keeps to {self}; the one with the most information is kept"
            return self._settle(path, path.best_size, budget, note)
        return self._settle(path, int(path.sizes[within].min()), budget)

    @property
    def _is_printed(self) -> bool:
        return self.constants == "paper" and self.reference == "full"

    def _spent(self, path: SelectionPath) -> FloatArray:
        """Return what the printed rule takes for the loss: forward it is what is still to come."""
        return path.spent if path.direction == "backward" else path.spent[-1] - path.spent

    def _printed_size(self, path: SelectionPath, budget: float) -> int:
        """Return the size at which the printed algorithms stop; i_T itself does not move."""
        reached = np.flatnonzero(path.spent[1:] >= budget)
        if path.direction == "backward":
            return int(path.sizes[reached[0]]) if len(reached) else 0
        return int(path.sizes[reached[0]] if len(reached) else path.sizes[-1])

    def _gaussian_growth(
        self, path: SelectionPath, lost: FloatArray, facts: TargetFacts
    ) -> FloatArray:
        """Return the exact growth: Var(Y) e^{-2I} is the error that a set leaves."""
        left = np.exp(-2.0 * np.maximum(path.information, 0.0))
        share = left * -np.expm1(-2.0 * lost)
        if self.unit_for(facts) == "r2":
            return share
        if facts.variance is None:
            raise ParameterError("unit='mse' needs facts.variance, which is not known.")
        return share * facts.variance

    def _check_share(self, unit: str) -> None:
        if unit in _SHARES and self.delta > 1.0:
            raise ParameterError(
                f"an error budget of {self.delta:g} means nothing in unit {unit!r}, which ends at "
                "1: use a budget from 0 to 1, or another unit."
            )
