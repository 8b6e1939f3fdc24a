"""Selection for linear models: the paper's linear case, exact."""

from numbers import Integral
from typing import Any, ClassVar, Literal

from pinsker._compat import Interval, StrOptions
from pinsker._types import Missing, Task
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded
from pinsker.selection._base import InformationSelector
from pinsker.selection._error_budget import ErrorBudget
from pinsker.selection._linear_design import LinearDesign, to_nats
from pinsker.selection._linear_states import LinearBackward, LinearForward
from pinsker.selection._path import Direction, SelectionPath
from pinsker.selection._rules import FeatureCount, StoppingRule
from pinsker.selection._run import Run
from pinsker.selection._search import Trace, grow, shrink

_SATURATED = "as many columns as rows: every linear model of them fits these rows perfectly"


class LinearElimination(InformationSelector):
    r"""Remove (or add) features by what they are worth to a linear model, within an error budget.

    No bound is needed here: the error of the best linear model on a set S of features is known,
    :math:`\mathrm{MSE}_S = \mathrm{Var}(Y)\, e^{-2 I(S)}` with
    :math:`I(S) = -\tfrac12 \log(1 - R^2_S)`, and so is its growth.

    Parameters
    ----------
    error_budget : float, default=0.05
        Growth of the mean squared error that is accepted, as a share of the target's variance: the
        points of R² that may be lost.
    stop : StoppingRule, optional
        Another rule instead. Use ``ErrorBudget(..., model="gaussian")`` for an exact one.
    direction : {"backward", "forward"}, default="backward"
        Whether features are removed from all, or added to none.
    patience : int or None, default=10
        Forward: the search ends when the information has not risen for so many additions.
    max_features : int, optional
        Forward: the search ends at so many features.
    discrete, missing, groups, keep, task
        As in `BackwardElimination`. A nominal column becomes indicators that go together.
    verbose, warm_start
        As in `BackwardElimination`.

    Attributes
    ----------
    path_ : SelectionPath
        Every set that the search met. Its information is that of a linear model, its bounds are
        exact.
    support_, ranking_, certificate_, notes_, facts_, feature_columns_
        As in `BackwardElimination`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when they are all text.

    See Also
    --------
    BackwardElimination : for models without a fixed form.

    Notes
    -----
    Removing the columns A costs :math:`w_A^\top [(\Sigma^{-1})_{AA}]^{-1} w_A`, a Schur complement
    (``docs/bounds.md``, linear models). A class target is one indicator per class, and the error
    is the Brier score of the linear model; for several targets squared errors are summed. All
    figures are those of the sample.

    References
    ----------
    Beraha, Metelli, Papini, Tirinzoni, Restelli (2019). Feature Selection via Mutual Information:
    New Theoretical Insights. Theorem 2, replaced by the identity.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).normal(size=300)
    >>> X = np.column_stack([z, np.exp(z)])
    >>> y = X[:, 0] + X[:, 1] / 2
    >>> LinearElimination(error_budget=0.05).fit(X, y).get_support().tolist()
    [True, True]
    """

    _tier = "linear model: exact for the covariance of the rows used for the search"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **InformationSelector._parameter_constraints,
        "direction": [StrOptions({"backward", "forward"})],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        error_budget: float = 0.05,
        *,
        stop: StoppingRule | None = None,
        direction: Direction = "backward",
        patience: int | None = 10,
        max_features: int | None = None,
        discrete: Any = "auto",
        missing: Missing = "error",
        groups: Any = None,
        keep: Any = None,
        task: Literal["auto"] | Task = "auto",
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.error_budget = error_budget
        self.stop = stop
        self.direction = direction
        self.patience = patience
        self.max_features = max_features
        self.discrete = discrete
        self.missing = missing
        self.groups = groups
        self.keep = keep
        self.task = task
        self.verbose = verbose
        self.warm_start = warm_start

    @property
    def _direction(self) -> Direction:  # type: ignore[override]
        return self.direction

    def _encoding(self) -> dict[str, Any]:
        return {**super()._encoding(), "scale": "standard"}

    def _budget_rule(self, delta: float) -> ErrorBudget:
        return ErrorBudget(delta, unit="r2", model="gaussian")

    def _facts(self, encoded: Encoded) -> TargetFacts:
        return LinearDesign.of(encoded).facts()

    def _notes(self, encoded: Encoded) -> tuple[str, ...]:
        saturated = LinearDesign.of(encoded).is_saturated
        return (*super()._notes(encoded), _SATURATED) if saturated else super()._notes(encoded)

    def _search(self, encoded: Encoded, earlier: SelectionPath | None, run: Run) -> SelectionPath:
        design = LinearDesign.of(encoded)
        if self.direction == "backward":
            return self._shrink(design, earlier, run)
        return self._grow(design, earlier, run)

    def _shrink(
        self, design: LinearDesign, earlier: SelectionPath | None, run: Run
    ) -> SelectionPath:
        if earlier is not None and earlier.complete:
            return earlier
        everything = tuple(range(len(design.features)))
        state = LinearBackward(design, everything if earlier is None else earlier.last_set)
        trace = Trace.resume(earlier) if earlier else Trace(everything, [state.information])
        shrink(state, trace, forced=run.forced, watch=run.watch(len(state.active)))
        return run.finish(trace, "linear")

    def _grow(self, design: LinearDesign, earlier: SelectionPath | None, run: Run) -> SelectionPath:
        n_features = len(design.features)
        full = LinearBackward(design, tuple(range(n_features)))
        state = LinearForward(design, () if earlier is None else earlier.last_set)
        trace = Trace.resume(earlier) if earlier else Trace((), [0.0])
        grow(
            state,
            trace,
            n_features=n_features,
            forced=run.forced,
            patience=self.patience,
            at_least=self.stop.k if isinstance(self.stop, FeatureCount) else 0,
            max_size=self.max_features,
            watch=run.watch(max(self.max_features or n_features, len(run.forced))),
        )
        return run.finish(trace, "linear", to_nats(full.left / full.total))
