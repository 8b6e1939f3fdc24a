"""Selection for linear models as a scikit-learn selector: the paper's linear case, exact."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral
from typing import ClassVar, Self

from pinsker._compat import Interval, StrOptions
from pinsker._notes import Note
from pinsker._types import (
    ListsByName,
    RowLabels,
    TableLike,
    TargetLike,
    Unchecked,
)
from pinsker.bounds import TargetFacts
from pinsker.exceptions import ParameterError
from pinsker.holdout import path_certificate
from pinsker.metrics import METRICS
from pinsker.search import (
    Direction,
    ErrorBudget,
    LinearDesign,
    LinearSearchSettings,
    Search,
    StoppingRule,
    linear,
)
from pinsker.selectors._base import Selector, fitted_attributes, set_fitted
from pinsker.selectors._context import (
    encode_table,
    n_at_least,
    open_context,
    open_progress,
    run_search,
)
from pinsker.selectors._progress import fitting

_ROWS = "those of the search itself: exact for their covariance"


@dataclass(eq=False, repr=False)
class LinearSelection(Selector):
    r"""Remove (or add) features by what they are worth to a linear model, within an error budget.

    No bound is needed here: the error of the best linear model on a set S of features is known,
    :math:`\mathrm{MSE}_S = \mathrm{Var}(Y)\, e^{-2 I(S)}` with
    :math:`I(S) = -\tfrac12 \log(1 - R^2_S)`, and so is its increase.

    Parameters
    ----------
    error_budget : float or StoppingRule, default=0.05
        The points of R² that may be lost: an increase of the mean squared error, as a share of the
        target's variance. Or another rule; ``ErrorBudget(..., model="gaussian")`` is an exact one.
    direction : {"backward", "forward"}, default="backward"
        Whether features are removed from all, or added to none.
    patience : int or None, default=10
        Forward: the search ends when the information has not risen for this many additions.
    max_features : int, optional
        Forward: the search ends at this many features.
    metric : {"auto", "r2", "error"}, default="auto"
        How the target is read: "r2" takes integers for numbers, "error" for classes. The budget
        is a share of the target's variance in any case.
    fixed_features, feature_groups, categorical_features, missing, verbose, warm_start
        As in `BackwardElimination`. A nominal column becomes indicators that go together.

    Attributes
    ----------
    path_ : SelectionPath
        Every set that the search met, with the information of a linear model and exact bounds.
    support_, ranking_, certificate_, cv_results_, notes_, facts_, feature_columns_
        As in `BackwardElimination`.
    n_features_in_, feature_names_in_
        As in `BackwardElimination`.

    See Also
    --------
    BackwardElimination : for models without a fixed form.

    Notes
    -----
    Removing the columns A costs :math:`w_A^\top [(\Sigma^{-1})_{AA}]^{-1} w_A`, a Schur complement
    (``docs/bounds.md``, linear models). A class target is one indicator per class, and the error
    is the Brier score of the linear model; for several targets squared errors are summed. All
    figures are those of the sample.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).normal(size=300)
    >>> X = np.column_stack([z, np.exp(z)])
    >>> y = X[:, 0] + X[:, 1] / 2
    >>> LinearSelection(error_budget=0.05).fit(X, y).get_support().tolist()
    [True, True]
    """

    _parameter_constraints: ClassVar[ListsByName] = {
        **Selector._parameter_constraints,
        "direction": [StrOptions({"backward", "forward"})],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "metric": [StrOptions({"auto", "r2", "error"})],
    }

    error_budget: float | StoppingRule = 0.05
    _: KW_ONLY
    direction: Direction = "backward"
    patience: int | None = 10
    max_features: int | None = None
    warm_start: bool = False

    @fitting
    def fit(self, X: TableLike, y: TargetLike = None, sample_weight: RowLabels = None) -> Self:
        """Search the path and cut it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Numbers, or a frame that may also hold categories, text and booleans.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Classes or numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, of weighted least squares. Integer weights are repeated rows.

        Returns
        -------
        self
        """
        rule, settings = self._rule(), self._search_settings()
        given, is_auto = self.error_budget, self.metric == "auto"
        metric = given.metric if isinstance(given, ErrorBudget) and is_auto else self.metric
        encoded = encode_table(self, X, y, metric, "standard", sample_weight)
        TargetFacts.of(encoded.target, encoded.weights)  # refuses squares that are no numbers
        design = LinearDesign.of(encoded)
        several = len(encoded.target.names) > 1
        own = rule.metric if isinstance(rule, ErrorBudget) else "r2"
        if several and own not in ("auto", "r2"):
            raise ParameterError(
                f"{rule}: several targets are divided by their standard deviations here; use "
                "<metric=r2>, the mean share of their variances.",
                parameter="metric",
            )
        context = open_context(self, encoded, design.facts(), X, y, search=(self.direction,))
        most = encoded.n_features
        if self.direction == "forward":
            most = max(self.max_features or most, len(context.fixed))
        progress = open_progress(self, context, self.direction, most, "linear")
        search = partial(linear, encoded, settings, context.fixed, progress.on_step)
        path, _ = run_search(self, context, lambda earlier: search(earlier=earlier))
        decision = rule.decide(path, context.facts)
        notes = (Note("saturated"),) if design.is_saturated else ()
        fitted = fitted_attributes(context, self.n_features_in_, path, decision, before=notes)
        fitted["certificate_"] = path_certificate(
            fitted["path_"], rule, decision, context.facts, encoded.n_rows, _ROWS
        )
        set_fitted(self, fitted)
        progress.close()
        return self

    def as_search(self, fixed: tuple[int, ...] = (), seed: int = 0) -> Search:  # noqa: ARG002
        """Return the search alone, and what it takes."""
        find = partial(linear, settings=self._search_settings(), fixed=fixed)
        return Search((type(self).__name__,), find, cost=1)

    def _search_settings(self) -> LinearSearchSettings:
        least = n_at_least(self._rule())
        return LinearSearchSettings(self.direction, self.patience, self.max_features, least)

    def _rule(self, budget: Unchecked = None) -> StoppingRule:
        """Return the stopping rule that a budget stands for: a number is a share of variance."""
        budget = self.error_budget if budget is None else budget
        if not isinstance(budget, StoppingRule):
            return ErrorBudget(float(budget), metric="r2", model="gaussian")
        if isinstance(budget, ErrorBudget) and self.metric != "auto":
            known = ("auto", "r2") if self.metric == "error" else ("auto", *METRICS["regression"])
            if budget.metric not in known:
                raise ParameterError(
                    f"metric={self.metric!r}, but {budget} has another one: leave one of them out.",
                    parameter="metric",
                )
        rule: StoppingRule = budget
        return rule
