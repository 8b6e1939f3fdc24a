"""The front door: several searches, evaluated on held-out rows."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

from sklearn.model_selection import TimeSeriesSplit

from pinsker._compat import Interval, StrOptions
from pinsker._notes import Note, Notes
from pinsker._types import Missing, Scale
from pinsker.encoding import Encoded, count_rows, find_features, is_dask, take_rows, tidy
from pinsker.engine import EngineSettings, KNNSettings
from pinsker.exceptions import EngineLostError
from pinsker.explain import (
    SAME_ROWS,
    find_suspects,
    importance_at_hand,
    note_suspects,
    stability_of_orders,
)
from pinsker.holdout import (
    MOST_READ,
    MOST_SEARCHED,
    SEARCH_ONCE_FROM,
    SPLIT_FROM,
    Comparison,
    CrossFit,
    HoldoutEvaluator,
    SplitFit,
    crossfit_certificate,
    search_parts,
    set_search_rows_aside,
    split_by_time,
    split_counts,
    split_rows,
)
from pinsker.metrics import Metric, MetricLike
from pinsker.search import (
    BY_COST,
    Deadline,
    ErrorBudget,
    FeatureCosts,
    KNNSearchSettings,
    Search,
    StoppingRule,
    auto_searches,
    by_cost,
    cheapest_first,
    describe_searches,
    measure_sets,
    named_searches,
    screening_notes,
    searches_in_time,
)
from pinsker.selectors._evaluated import TOO_FEW, EvaluatedSelector
from pinsker.selectors._fit_data import FitData
from pinsker.selectors._memory import FitMemory, RowCounts
from pinsker.selectors._progress import Progress, fitting

#: Rows that the information of the chosen path's sets is measured at, for the record alone: at
#: 2000 it would take longer than the search (8 of 16 s at 20 000 x 100).
_MOST_MEASURED_ROWS = 500


class FeatureSelector(EvaluatedSelector):
    r"""Keep the smallest set of features found that stays within an error budget.

    Several searches put the features in an order. Each is repeated without the rows of every fold,
    and models show on those rows how much information each size of each path carries and how large
    its error is. The smallest set that passes by either evidence is kept: the information it lacks
    (against all features with a standard error added) is within what the budget allows, or the
    upper 95 % confidence bound (for all searches together) of what its held-out error exceeds the
    reachable one by is within the budget itself. Reachable is the error with all features or that
    of the set with the most information, whichever is smaller, because many irrelevant columns make
    a model of all features worse. When nothing smaller passes all features are kept, and `notes_`
    says so.

    Parameters
    ----------
    error_budget : float or StoppingRule, default=0.05
        How much error may be added, in `metric`. Or another rule: `ErrorBudget` with other
        constants is evaluated as one; others cut each path, and held-out rows choose among the
        paths.
    metric : str, scorer, callable, CostMatrix or WorstTarget, default="auto"
        Metric of the budget: "error" rate for classes and "r2" (share of the target's variance)
        for numbers; "log-loss", "brier", "mse", "mae". Or the name of a scorer of scikit-learn
        ("roc_auc", "f1", ...), what ``make_scorer`` returns, a function ``(y_true, y_score,
        sample_weight) -> float`` of which larger is better, or a `CostMatrix`: these are decided
        by held-out rows alone. It also says how the target is read: "r2" takes integers for
        numbers. Of several targets it is the mean over them; `WorstTarget` bounds every one. Of
        censored times "concordance" (the default) or "integrated_brier".
    models : "auto" or list, default="auto"
        Models that evaluate: classifiers, regressors or pipelines of your own (any class with
        ``fit`` and ``predict``), or (name, model) pairs. They are fitted to subsets of your own
        columns as they came: a frame stays a frame, with its dtypes and missing values. By
        default an "svm" with radial kernel, "extra trees" and a "linear" model; with 2000 rows or
        more "boosted trees" and the linear one. These names can be listed too.
    searches : "auto" or list, default="auto"
        Searches to try: names out of "forward-backward", "backward", "forward", "linear",
        "relevance", "jmi", "cmim" and "pairs" (which "auto" adds where two of 50 columns or
        more carry more together than either shows alone), selectors of this package, (name,
        selector) pairs, and
        (name, order) pairs with an order of columns, best first. An order that was found with the
        same rows is evaluated too kindly.
    cv : int, splitter or iterable of (train, test), default=5
        Folds of held-out rows, or a division of them, for groups of rows or time. 0 takes the
        first search and cuts its path by its own information. With 5000 rows or more an int splits
        the rows into three parts instead, see Notes; a splitter cross-fits all of them. A plain
        ``TimeSeriesSplit()`` takes the rows to be in order of time, and splits 5000 or more in
        that order: the latest rows certify.
    feature_costs : dict or array-like, optional
        Prices of the columns, in any unit: of the sets within the budget the cheapest is kept
        instead of the smallest. A dict by column (name or position), by name of a feature group,
        or by a tuple of columns that share one price (paid once, whichever of them are kept);
        what it does not name is free. Or one price per column. ``searches="auto"`` then also
        orders features by gain per cost, and by cost.
    fixed_features, feature_groups, categorical_features
        As in `BackwardElimination`.
    missing : {"auto", "error", "drop", "category"}, default="auto"
        What happens to missing values. "auto": rows without a target are dropped and counted in
        `notes_`; a missing category is a category, and a missing number a value of its own: far
        from all others for neighbors, a bin for counts, NaN for boosted trees, and for the other
        models the middle with a mark (a 0/1 column). Others as in `BackwardElimination`.
    suspects : {"warn", "drop", "ignore"}, default="warn"
        What to do with columns that give the target away (leaks, a recoded target, telling gaps) or
        name the rows (identifiers, row counters): name them in `notes_` and in the log, leave them
        out, or not look.
    knn, engine, n_jobs, random_state, verbose
        As in `BackwardElimination`. The result is the same for any number of jobs.
    time_limit : float, default=None
        Seconds after which no evaluation is begun any more, and after half of which no search or
        step of one is. The best set that was evaluated by then is kept, and `notes_` says what
        was left out. One search (the cheapest) and one evaluation are always finished, and so is
        the certificate of a split table. What is left out depends on the machine and its load: a
        fit that reached its limit cannot be reproduced. By default there is no limit.

    Attributes
    ----------
    cv_results_ : dict of str to ndarray
        What held-out rows say about every set that was evaluated, all features first: "search",
        "n_features", "support", "information", "error", "increase" and its confidence bounds, ...
    front_ : list of FrontPoint
        ``(cost, increase, features)`` of the sets that were evaluated and that no other beats in
        cost and in error increase, the cheapest first. Without prices a feature costs 1.
    certificate_ : Certificate
        What is claimed, and on what evidence.
    path_ : SelectionPath
        The path of the chosen set, on all rows.
    stability_ : Stability or None
        How much the sets agree that were found without each fold, with ``to_frame()``; None where
        the rows were not searched fold by fold (2000 rows or more, or ``cv=0``): there, and for
        more than five choices, the method `stability` fits again to halves of the rows.
    importance_ : Importance or None
        What each kept feature is worth: the error increase without it, with limits that hold for
        all of them, on held-out rows of `fit` and with the best model alone (about 20 fits of it).
        From 5000 rows on they are the rows of the certificate; with fewer those that chose the
        features, which makes these look better. None of more than 20 features, and without
        held-out rows. The method `importance` takes fresh rows, all models, and dropped features.
    support_, ranking_, notes_, facts_, feature_columns_
        As in `BackwardElimination`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when they are all text.

    See Also
    --------
    ForwardBackwardSelection, BackwardElimination : one path each.
    ForwardSelection, LinearSelection : one path each.

    Notes
    -----
    The sets of the first folds compare the models, and show which sets are far from the budget; the
    other folds are for those that can change the choice. With 1000 rows or more two folds share a
    search without the rows of both. With 2000 rows or more features are ordered once, by a third of
    the rows (1000 at most), and the folds hold out the others; a splitter, or groups of rows,
    search in every fold.

    With 5000 rows or more, rows are split into three disjoint parts, so that the cost hardly
    depends on their number: at most 20 000 order the features (2000 by neighbors, all of them by
    the criteria "jmi" and "cmim"), others compare the sets by bisection, and the certificate comes
    from rows that took no part in either. Of more than 150 000 rows so many are drawn before they
    are read, each with the same chance and every class in proportion; `notes_` and the certificate
    say so.

    `support_at` answers for other budgets from the sets that were evaluated, without fitting again.
    Those sets lie closest to each other near the cut of `error_budget`.

    The confidence bounds hold for these models and these rows. `certify` repeats the test on rows
    that took no part in the choice.

    Examples
    --------
    >>> from pinsker.datasets import NoisyXor
    >>> X, y = NoisyXor(n_columns=6).sample(300, seed=1)
    >>> selector = FeatureSelector(error_budget=0.05, random_state=0).fit(X, y)
    >>> selector.get_support().nonzero()[0].tolist()
    [0, 1]
    >>> selector.certificate_.verdict
    'met'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **EvaluatedSelector._parameter_constraints,
        "searches": [StrOptions({"auto"}), "array-like"],
        "suspects": [StrOptions({"warn", "drop", "ignore"})],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "feature_costs": [dict, "array-like", None],
    }
    _parameter_constraints.pop("warm_start")  # the folds of a search are not kept

    def __init__(
        self,
        error_budget: float | StoppingRule = 0.05,
        *,
        metric: MetricLike = "auto",
        models: Any = "auto",
        searches: Any = "auto",
        cv: Any = 5,
        fixed_features: Any = None,
        feature_groups: Any = None,
        feature_costs: Any = None,
        categorical_features: Any = "from_dtype",
        missing: Missing = "auto",
        suspects: Literal["warn", "drop", "ignore"] = "warn",
        knn: KNNSettings | None = None,
        engine: str | EngineSettings = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        time_limit: float | None = None,
    ) -> None:
        self.error_budget = error_budget
        self.metric = metric
        self.models = models
        self.searches = searches
        self.cv = cv
        self.fixed_features = fixed_features
        self.feature_groups = feature_groups
        self.feature_costs = feature_costs
        self.categorical_features = categorical_features
        self.missing = missing
        self.suspects = suspects
        self.knn = knn
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.time_limit = time_limit

    @fitting
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Search several paths, evaluate their sets, and keep the smallest within the budget.

        Parameters
        ----------
        X : array-like, frame or Dask collection of shape (n_samples, n_features)
            Numbers, or a frame that may also hold categories, text and booleans. Of a Dask
            DataFrame or Array at most 150 000 rows are computed; it needs an int as `cv`.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Classes or numbers, of one target or several; or a structured array of an event (bool)
            and a time, as scikit-survival's. For a Dask DataFrame the name of one of its columns,
            or a Dask Series with the same index; for a Dask Array a Dask Array.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, for searches, models, errors and their confidence bounds. A row
            of weight zero is left out. Neighbors take no weights: "auto" searches by "jmi",
            "cmim" and "linear" then, and leaves "extra trees" out of the models.
        groups : array-like of shape (n_samples,), optional
            Which rows belong together (patients, days): they are held out together, in every part
            of the rows, and confidence bounds are those of sums over groups.

        Returns
        -------
        self
        """
        deadline = Deadline(self.time_limit)
        splits = self._splits_rows
        read = self._read_some if splits else self._read
        data = read(X, y, groups, sample_weight=sample_weight)
        if data.encoded.weights is not None and isinstance(self.searches, str):
            data = replace(data, notes=(*data.notes, Note("weights, no neighbors")))
        if self.feature_costs is not None:
            costs = FeatureCosts.read(self.feature_costs, data.encoded)
            data = replace(data, costs=costs, notes=(*data.notes, *costs.notes))
        memory = self.plan_memory(data.encoded, data.seed)
        settings = self._within(memory, self._settings(data.seed), memory.n_searches)
        settings = replace(settings, deadline=deadline)
        if splits and data.encoded.n_rows >= SPLIT_FROM:
            return self._fit_split(data, settings, memory)
        once = isinstance(self.cv, Integral) and splits and data.groups is None
        if once and data.encoded.n_rows >= SEARCH_ONCE_FROM:
            return self._fit_once(data, settings, memory)
        names, searches = self._searches(data, settings, data.encoded)
        progress = Progress(self, data.user_data, 4 + len(names))
        evaluator = self._evaluator(data, memory.n_fits)
        if evaluator is None:
            progress.on_stage("searching one path, without held-out rows")
            first = searches[0].run(data.encoded)[0]
            self._choose(data, first, None, settings, (TOO_FEW,) if self.holds_out else ())
            progress.close()
            return self
        progress.on_stage(f"searching {len(names)} paths in {len(evaluator.folds)} folds")
        evaluator.jobs.on_call = progress.on_call
        n_fixed = len(data.fixed)
        cross = CrossFit(data.encoded, evaluator, data.facts, n_fixed, deadline, data.costs)
        for some in searches_in_time(searches, deadline):
            with deadline.leaving_out(describe_searches(some)):
                cross.search(some, _names_of(some, names), {}, memory.n_searches)
        with self._keeping_path(data, cross.paths):
            self._compare_and_choose(cross, data, settings, progress, data.encoded)
        return self

    def _read_some(self, X: Any, y: Any, groups: Any, sample_weight: Any) -> FitData:
        """Encode as many rows as a split of them can use."""
        if count_rows(X) <= MOST_READ and not is_dask(X):
            return self._read(X, y, groups, sample_weight=sample_weight)
        seed = self._draw_seed()
        sample = self._draw_rows(X, y, MOST_READ, seed)
        weights = sample.labels_of_rows(sample_weight, "sample_weight")
        data = self._read(sample.X, sample.y, sample.labels_of_rows(groups), seed, weights)
        users = {"X": X, "y": y}
        return replace(data, user_data=users, origin=sample.origin, notes=sample.notes)

    def _fit_once(self, data: FitData, settings: KNNSearchSettings, memory: FitMemory) -> Self:
        """Search once, on rows that no fold of the others holds out."""
        encoded = data.encoded
        rows, folds = set_search_rows_aside(encoded, int(self.cv), data.seed)
        searched = take_rows(encoded, rows)
        names, searches = self._searches(data, settings, searched)
        progress = Progress(self, data.user_data, 4 + len(names))
        evaluator = self._evaluator(data, memory.n_fits, folds)
        assert evaluator is not None  # there are folds
        progress.on_stage(f"searching {len(names)} paths on {len(rows)} rows")
        evaluator.jobs.on_call = progress.on_call
        n_fixed, deadline = len(data.fixed), settings.deadline
        cross = CrossFit(encoded, evaluator, data.facts, n_fixed, deadline, data.costs)
        for some in searches_in_time(searches, settings.deadline):
            with settings.deadline.leaving_out(describe_searches(some)):
                cross.search_once(some, _names_of(some, names), rows, memory.n_searches)
        figures = {"n_rows": encoded.n_rows, "ordered": len(rows), "folds": len(folds)}
        note = Note("searched once", figures=figures)
        with self._keeping_path(data, cross.paths):
            self._compare_and_choose(cross, data, settings, progress, searched, (note,))
        return self

    def _compare_and_choose(
        self,
        cross: CrossFit,
        data: FitData,
        settings: KNNSearchSettings,
        progress: Progress,
        searched: Encoded,
        notes: Notes = (),
    ) -> None:
        """Evaluate the sets of the paths and take one."""
        settings.deadline.part = 1.0
        if not isinstance(data.rule, ErrorBudget):  # other rules read the scores of a path
            cross.paths = {
                name: measure_sets(path, searched, settings) for name, path in cross.paths.items()
            }
        comparison = cross.compare(data.rule, progress.on_stage)
        notes += screening_notes(tuple(cross.paths), data.encoded.n_features)
        chosen = comparison.choose(data.rule)[0].search
        path = measure_sets(comparison.paths[chosen], searched, _roughly(settings))
        comparison.paths[chosen] = path
        self._choose(data, path, comparison, settings, notes + settings.deadline.notes)
        self._compare_folds(cross.orders[chosen])
        progress.on_stage("importance")
        self._measure_importance(cross.evaluator, settings.deadline, (SAME_ROWS,))
        progress.close()

    def _compare_folds(self, orders: list[tuple[int, ...]]) -> None:
        """Set how stable the choice is over folds, where each was searched."""
        path, size = self.path_, self._n_kept()
        found = stability_of_orders(orders, size, path.names)
        if found is not None and size < path.n_features:
            notes = self.notes_ + found.notes(path.order[:size])
            self._set_fitted({"stability_": found, "notes_": notes})

    def _measure_importance(
        self, evaluator: HoldoutEvaluator, deadline: Deadline, notes: Notes = ()
    ) -> None:
        """Set what each kept feature is worth, if there is time for it."""
        if deadline.is_over:
            self._set_fitted({"notes_": (*self.notes_, Note("no time for importance"))})
            return
        kept = self.path_.order[: self._n_kept()]
        try:
            found = importance_at_hand(evaluator, kept, self.path_.names, notes)
        except EngineLostError as error:  # all else is there
            lost = Note("no importance", figures={"reason": str(error)})
            self._set_fitted({"notes_": (*self.notes_, lost)})
            return
        self._set_fitted({"importance_": found})

    def _searches(
        self, data: FitData, settings: KNNSearchSettings, searched: Encoded
    ) -> tuple[tuple[str, ...], list[Search]]:
        """Return the searches of a table that is not split."""
        return self._named_searches(data, settings, searched, auto_searches(searched))

    def _named_searches(
        self, data: FitData, settings: KNNSearchSettings, searched: Encoded, auto: tuple[str, ...]
    ) -> tuple[tuple[str, ...], list[Search]]:
        """Return the searches of the user; "auto" has two more where features have prices."""
        names, searches = named_searches(self.searches, searched, settings, data.fixed, auto)
        if data.costs is not None and isinstance(self.searches, str):
            names += BY_COST
            run = partial(by_cost, costs=data.costs, fixed=data.fixed)
            searches = [*searches, Search(BY_COST, run)]
        return (names, searches) if self.time_limit is None else cheapest_first(searches)

    def _encode(
        self, X: Any, y: Any, metric: Any, scale: Scale, sample_weight: Any = None
    ) -> Encoded:
        """Leave out constants, and values that only name one row, before anything is searched."""
        encoded = super()._encode(X, y, metric, scale, sample_weight)
        encoded = tidy(encoded, find_features(encoded, self.fixed_features, "fixed_features"))
        if self.suspects != "ignore":
            fixed = find_features(encoded, self.fixed_features, "fixed_features")
            drops = self.suspects == "drop"
            encoded = note_suspects(encoded, find_suspects(X, encoded), fixed, drop=drops)
        return encoded

    @property
    def _splits_rows(self) -> bool:
        """Whether many rows are split into parts: other splitters cross-fit all of them."""
        if isinstance(self.cv, Integral):
            return bool(self.cv)
        plain = {"gap": 0, "test_size": None, "max_train_size": None}
        return type(self.cv) is TimeSeriesSplit and all(
            getattr(self.cv, name) == value for name, value in plain.items()
        )

    def _row_counts(self, n_rows: int) -> RowCounts:
        if n_rows >= SPLIT_FROM and self._splits_rows:
            return RowCounts(*split_counts(n_rows))
        return super()._row_counts(n_rows)

    def _fit_split(self, data: FitData, settings: KNNSearchSettings, memory: FitMemory) -> Self:
        """Search, evaluate and certify on disjoint parts of many rows."""
        encoded, rule, deadline = data.encoded, data.rule, settings.deadline
        if isinstance(self.cv, Integral):
            parts = split_rows(encoded, data.seed, data.groups)
        else:
            parts = split_by_time(encoded.n_rows, data.seed)
        searched = take_rows(encoded, parts.search[:MOST_SEARCHED])
        auto = auto_searches(searched, of_many_rows=True)
        names, searches = self._named_searches(data, settings, searched, auto)
        progress = Progress(self, data.user_data, 4 + len(names))
        jobs = self._jobs(memory.n_fits)
        jobs.on_call = progress.on_call
        progress.on_stage(f"searching {len(names)} paths on {len(parts.search)} rows")
        found = search_parts(encoded, parts, searches, jobs, deadline, memory.n_searches)
        deadline.part = 1.0
        split = SplitFit(
            encoded,
            parts,
            self._models(encoded, data.seed, data.table),
            Metric(self._budget_of(rule).metric_for(data.facts)),
            data.facts,
            len(data.fixed),
            jobs,
            data.groups,
            table=data.table,
            deadline=deadline,
            costs=data.costs,
        )
        paths = {name: found[name] for name in names if name in found}
        with self._keeping_path(data, paths):
            comparison = split.compare(paths, rule, progress.on_stage)
        self._certify_and_set(split, comparison, data, settings, progress, searched)
        same_rows = () if split.certifying else (SAME_ROWS,)
        progress.on_stage("importance")
        self._measure_importance(split.certifying or split.evaluator, deadline, same_rows)
        progress.close()
        return self

    def _certify_and_set(
        self,
        split: SplitFit,
        comparison: Comparison,
        data: FitData,
        settings: KNNSearchSettings,
        progress: Progress,
        searched: Encoded,
    ) -> None:
        """Take a set, and certify it on rows of its own."""
        rule, n_features = data.rule, data.encoded.n_features
        result, decision = comparison.choose(rule)
        with self._keeping_path(data, comparison.paths):
            path = measure_sets(comparison.paths[result.search], searched, _roughly(settings))
        certificate = crossfit_certificate(comparison, result, rule, decision)
        if isinstance(rule, ErrorBudget) and result.size < n_features:
            progress.on_stage("certifying")
            order = comparison.paths[result.search].order
            known = {"comparison": comparison, "certificate": certificate, "decision": decision}
            with self._keeping_path(data, {result.search: path}, **known):
                certificate = split.certify(order, result.size, rule, data.seed)
        certificate = self._with_given_order(certificate, result.search)
        decision = replace(decision, notes=tuple(dict.fromkeys(decision.notes + certificate.notes)))
        screened = screening_notes(tuple(comparison.paths), n_features)
        attributes = self._attributes(
            data,
            path,
            decision,
            certificate=certificate,
            comparison=comparison,
            notes=(split.note, *screened, *settings.deadline.notes),
        )
        self._set_fitted(attributes)


def _roughly(settings: KNNSearchSettings) -> KNNSearchSettings:
    """Return settings that measure at some rows, against all of them."""
    most = min(settings.knn.max_samples or _MOST_MEASURED_ROWS, _MOST_MEASURED_ROWS)
    return replace(settings, knn=replace(settings.knn, max_samples=most))


def _names_of(searches: Sequence[Search], names: Sequence[str]) -> list[str]:
    """Return those of the names that some searches are about, in their order."""
    return [name for name in names if any(name in search.names for search in searches)]
