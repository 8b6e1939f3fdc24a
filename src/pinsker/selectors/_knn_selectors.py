"""The paper's two algorithms and their combination as scikit-learn selectors."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

from pinsker._compat import Interval
from pinsker._types import (
    Fields,
    ListsByName,
    RowLabels,
    TableLike,
    TargetLike,
)
from pinsker.bounds import TargetFacts
from pinsker.engine import KNNSettings, as_settings, count_threads
from pinsker.holdout import FitContext, RowPlan, choose, find_sizes, search_paths
from pinsker.search import (
    Direction,
    ErrorBudget,
    KNNSearchSettings,
    Search,
    SelectionPath,
    backward,
    forward,
    forward_backward,
)
from pinsker.selectors._base import fitted_attributes, set_fitted
from pinsker.selectors._context import (
    check_routing,
    draw_seed,
    encode_table,
    keeping_path,
    knn_settings,
    limit_memory,
    n_at_least,
    open_context,
    open_progress,
    plan_memory,
    run_search,
    with_means,
)
from pinsker.selectors._evaluated import EvaluatedSelector, choose_on_path
from pinsker.selectors._progress import fitting

#: Up to this many features, a search that will be evaluated on held-out rows adds them all.
_ALL_THE_WAY = 100
#: Of a search through all features, beside those that `FeatureSelector` knows by name.
_COST = 5


@dataclass(kw_only=True, eq=False, repr=False)
class KNNSelector(EvaluatedSelector):
    """Base class of selectors of one search by neighbors."""

    _direction: ClassVar[Direction] = "backward"
    _function: ClassVar[Callable[..., SelectionPath]]

    warm_start: bool = False

    @fitting
    def fit(self, X: TableLike, y: TargetLike = None, groups: RowLabels = None) -> Self:
        """Search the path and cut it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Numbers, or a frame that may also hold categories, text and booleans.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Classes or numbers.
        groups : array-like of shape (n_samples,), optional
            Which rows belong together: they are held out together, and confidence bounds are those
            of sums over groups.

        Returns
        -------
        self
        """
        check_routing(self, groups=groups)
        rule, knn = self._rule(), as_settings("knn", self.knn)
        metric = rule.metric if isinstance(rule, ErrorBudget) else self.metric
        encoded = encode_table(self, X, y, metric, knn.scale)
        facts = TargetFacts.of(encoded.target, encoded.weights)
        ends = (knn, *self._ends())
        context = open_context(self, encoded, facts, X, y, seed=draw_seed(self), search=ends)
        context = with_means(self, context, groups)
        settings = self._search_settings(context.settings, encoded.n_features)
        most = max(settings.max_features or encoded.n_features, len(context.fixed))
        progress = open_progress(self, context, self._direction, most, settings.knn.score)
        memory = plan_memory(self, encoded, context.seed)
        threads = replace(settings, n_threads=count_threads(self.n_jobs))
        threads = limit_memory(self, memory, threads, 1)
        search = partial(type(self)._function, encoded, threads, context.fixed, progress.on_step)
        path, interrupted = run_search(self, context, lambda earlier: search(earlier=earlier))
        given = (encoded, self.cv, context.seed)
        how: Fields = {"groups": context.groups, "fewest": context.fewest, "in_parts": False}
        plan = None if interrupted else RowPlan.of(*given, **how)
        if plan is None or not plan.folds:
            choose_on_path(self, context, path, interrupted=interrupted)
        else:
            self._cross_fit(replace(context, settings=settings), plan, path)
        progress.close()
        return self

    def _cross_fit(self, context: FitContext, plan: RowPlan, path: SelectionPath) -> None:
        """Take the size that held-out rows support, and set the attributes."""
        name = type(self).__name__
        function = partial(type(self)._function, settings=context.settings, fixed=context.fixed)
        again = Search((name,), function, _COST, takes_weights=False)
        evaluator = context.evaluator_of(plan)
        with keeping_path(self, context, {name: path}):
            found = search_paths(context, plan, [again], [name], {name: path})
            comparison = find_sizes(context, plan, evaluator, found)
            choice = choose(context, plan, evaluator, comparison)
        decision = replace(choice.decision, notes=choice.notes)
        given = (context, self.n_features_in_, choice.path, decision)
        about: Fields = {"certificate": choice.certificate, "comparison": comparison}
        set_fitted(self, fitted_attributes(*given, **about))

    def as_search(self, fixed: tuple[int, ...] = (), seed: int = 0) -> Search:
        """Return the search alone, with features that may not be dropped, and what it takes."""
        seed = seed if self.random_state is None else draw_seed(self)
        settings = self._search_settings(knn_settings(self, self._rule(), seed), 0)
        find = partial(type(self)._function, settings=settings, fixed=fixed)
        return Search((type(self).__name__,), find, _COST, takes_weights=False)

    def _search_settings(self, settings: KNNSearchSettings, _n_features: int) -> KNNSearchSettings:
        """Return how the search works on a table of this many features."""
        return settings

    def _ends(self) -> tuple[Any, ...]:
        """Return what ends a search that cannot go on from an earlier path."""
        return ()

    @classmethod
    def _to_the_letter(cls, delta: float, n_neighbors: int) -> Self:
        """Return a selector with the paper's rule, constants and estimator, nothing held out."""
        rule = ErrorBudget(delta, constants="paper", reference="full")
        knn = KNNSettings(n_neighbors, scale="none", estimator="gao")
        return cls(rule, knn=knn)


class BackwardElimination(KNNSelector):
    r"""Start from all features and remove the least informative, within an error budget.

    The paper's Algorithm 1, with its stopping rule corrected and its bound sharpened. The path goes
    down to nothing, and the rule says where to cut it.

    Parameters
    ----------
    error_budget : float or StoppingRule, default=0.05
        How much error may be added, in `metric`. 0 removes what costs nothing. Or another rule:
        `ErrorBudget` with other constants, `ScoreThreshold`, `ScoreJump`, `FeatureCount`.
    metric : {"auto", "error", "log-loss", "brier", "r2", "mse", "mae"}, default="auto"
        Metric of the budget, which also says how the target is read: "r2" takes integers for
        numbers. "auto": error rate for classes, "r2" (share of the target's variance) for numbers.
    models : "auto" or list, default="auto"
        Models that evaluate held-out rows: classifiers or regressors of scikit-learn, (name, model)
        pairs, or names of the default ones.
    cv : int, splitter or iterable of (train, test), default=0
        Folds of held-out rows that evaluate the sizes of the path, with paths searched again
        without them. 0 cuts the path by its own information alone.
    fixed_features : list, optional
        Columns (by name or position) and groups (by name) that must stay.
    feature_groups : dict or sequence, optional
        Columns that are kept or dropped as one.
    categorical_features : "from_dtype", bool, mask, or columns, default="from_dtype"
        Which columns hold categories or other discrete values.
    missing : {"error", "auto", "drop", "category"}, default="error"
        What happens to missing values: an error; rows with one dropped; a value of their own
        ("category"); or this, and rows without a target dropped ("auto").
    knn : KNNSettings, optional
        The estimator: neighbors, scaling, form of the score, rows that are measured.
    engine : {"auto", "local", "dask", "cuda"} or EngineSettings, default="auto"
        Where rows are measured: this machine's cores, a Dask cluster, or a GPU, with the same bits.
        "auto" takes the cluster of an active ``distributed.Client``, else a GPU that pays for
        itself, else the cores. See ``docs/scale.md``.
    n_jobs : int, optional
        Threads. The result is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed of the rows that are measured, of the folds and of the models; an int repeats itself.
    verbose : int, default=0
        1 shows a line of progress on standard error.
    warm_start : bool, default=False
        Go on with an unfinished path of an earlier fit to the same data.

    Attributes
    ----------
    path_ : SelectionPath
        Every set that the search met, with its information, loss and bound.
    support_ : ndarray of shape (n_features_in_,), bool
        Which columns stay.
    ranking_ : ndarray of shape (n_features_in_,), int
        1 for columns that stay; then the higher, the earlier a column went.
    certificate_ : Certificate
        What the path says for the choice; with rows held out, what they say.
    cv_results_ : dict of str to ndarray
        What held-out rows say about every size that was evaluated; empty when none were.
    notes_ : tuple of Note
        What a user should know about the data and the choice.
    facts_ : TargetFacts
        What the bounds know of the target.
    feature_columns_ : tuple of tuple of int
        The columns of each feature of the path.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when they are all text.

    See Also
    --------
    ForwardSelection : starts from nothing.
    LinearSelection : the exact counterpart for linear models.

    Notes
    -----
    A step removes :math:`\arg\min_i I(Y; X_S) - I(Y; X_{S \setminus i})`. The information lost by
    a set is the largest information on the path minus its own; by Theorem C of ``docs/bounds.md``
    it bounds the increase of the Bayes risk, if the information is exact. Interrupting `fit` keeps
    the path seen so far, with a warning.

    References
    ----------
    Beraha, Metelli, Papini, Tirinzoni, Restelli (2019). Feature Selection via Mutual Information:
    New Theoretical Insights. Algorithm 1, Theorems 1 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = BackwardElimination(error_budget=0.1).fit(X, y)
    >>> selector.transform(X).shape[1] < 8
    True
    """

    _function = staticmethod(backward)

    @classmethod
    def as_published(cls, error_budget: float = 0.05, *, n_neighbors: int = 3) -> Self:
        """Return Algorithm 1 to the letter, constants and estimator included: ``docs/paper.md``."""
        return cls._to_the_letter(error_budget, n_neighbors)


@dataclass(kw_only=True, eq=False, repr=False)
class _GrowingSelector(KNNSelector):
    """A search that adds features, and what ends it."""

    _parameter_constraints: ClassVar[ListsByName] = {
        **KNNSelector._parameter_constraints,
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
    }

    patience: int | None = 10
    max_features: int | None = None

    def _search_settings(self, settings: KNNSearchSettings, _n_features: int) -> KNNSearchSettings:
        return replace(settings, patience=self.patience, max_features=self.max_features)


class ForwardSelection(_GrowingSelector):
    r"""Start from nothing and add the feature that brings most information, within an error budget.

    The paper's Algorithm 2, with the meaning of its budget corrected: the smallest set stays that
    lacks no more than the budget allows of the best set seen.

    Parameters
    ----------
    error_budget : float or StoppingRule, default=0.05
        As in `BackwardElimination`.
    patience : int or None, default=10
        The search ends when the information has not risen for this many additions. None adds all;
        so does a search of at most 100 features whose cut is evaluated on held-out rows.
    max_features : int, optional
        The search ends at this many features.
    metric, models, cv, fixed_features, feature_groups, categorical_features, missing
        As in `BackwardElimination`.
    knn, engine, n_jobs, random_state, verbose, warm_start
        As in `BackwardElimination`.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features_in_,), int
        1 for columns that stay; then the higher, the later a column came; the highest for those
        that the search never added.
    path_, support_, certificate_, cv_results_, notes_, facts_, feature_columns_
        As in `BackwardElimination`.
    n_features_in_, feature_names_in_
        As in `BackwardElimination`.

    See Also
    --------
    BackwardElimination : sees interactions that no single feature shows.

    Notes
    -----
    A step adds :math:`\arg\max_i I(Y; X_{S \cup i}) - I(Y; X_S)`. A gain near zero is no reason to
    stop: of an exclusive or, neither feature carries information alone. The set of all features
    counts among the sets seen.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = ForwardSelection(error_budget=0.1).fit(X, y)
    >>> selector.path_.names[selector.path_.order[0]]
    'flavanoids'
    """

    _direction: ClassVar[Direction] = "forward"
    _function = staticmethod(forward)

    @classmethod
    def as_published(cls, error_budget: float = 0.05, *, n_neighbors: int = 3) -> Self:
        """Return Algorithm 2 to the letter, as `BackwardElimination` does 1; it is false (E20)."""
        selector = cls._to_the_letter(error_budget, n_neighbors)
        selector.patience = None
        return selector

    def _search_settings(self, settings: KNNSearchSettings, n_features: int) -> KNNSearchSettings:
        # A cut on held-out rows can fall back on all features only if they are reached.
        settings = super()._search_settings(settings, n_features)
        all_the_way = self.holds_out and 0 < n_features <= _ALL_THE_WAY
        return replace(settings, patience=None) if all_the_way else settings


class ForwardBackwardSelection(_GrowingSelector):
    r"""Add features until well past the peak of the information, then remove the weakest.

    A set grows until its information has not risen for `patience` additions, or for as many as the
    peak has features if that is more, and then shrinks.

    Parameters
    ----------
    error_budget : float or StoppingRule, default=0.05
        As in `BackwardElimination`.
    patience : int, default=10
        Additions without a rise after which growing ends, at least.
    max_features : int, optional
        Growing ends at this many features.
    metric, models, cv, fixed_features, feature_groups, categorical_features, missing
        As in `BackwardElimination`.
    knn, engine, n_jobs, random_state, verbose, warm_start
        As in `BackwardElimination`. `warm_start` only spares the search if the path is complete.

    Attributes
    ----------
    path_ : SelectionPath
        The way down, from the largest set that was grown.
    support_, ranking_, certificate_, cv_results_, notes_, facts_, feature_columns_
        As in `BackwardElimination`.
    n_features_in_, feature_names_in_
        As in `BackwardElimination`.

    See Also
    --------
    FeatureSelector : tries this search and others, and evaluates them on held-out rows.

    Examples
    --------
    >>> from pinsker.datasets import NoisyXor
    >>> X, y = NoisyXor(n_columns=6).sample(400, seed=1)
    >>> ForwardBackwardSelection(error_budget=0.1).fit(X, y).get_support().nonzero()[0].tolist()
    [0, 1]
    """

    _function = staticmethod(forward_backward)

    def _ends(self) -> tuple[Any, ...]:
        return self.patience, self.max_features, n_at_least(self._rule())

    _parameter_constraints: ClassVar[ListsByName] = {
        **_GrowingSelector._parameter_constraints,
        "patience": [Interval(Integral, 1, None, closed="left")],
    }
