"""The front door: several searches, evaluated on held-out rows."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import ClassVar, Literal, Self

import numpy as np

from pinsker._compat import Interval, StrOptions
from pinsker._notes import Note, Notes
from pinsker._types import (
    ColumnChoice,
    CrossValidation,
    Fields,
    HasShape,
    IntArray,
    ListsByName,
    Missing,
    RowLabels,
    TableLike,
    TargetLike,
    Unchecked,
)
from pinsker.bounds import TargetFacts
from pinsker.encoding import (
    Encoded,
    count_rows,
    drop_uninformative,
    find_features,
    is_dask,
    is_stream,
    take,
)
from pinsker.engine import as_settings
from pinsker.exceptions import EngineLostError
from pinsker.explain import (
    SAME_ROWS,
    Importance,
    find_suspects,
    importance_at_hand,
    note_suspects,
    stability_of_orders,
)
from pinsker.holdout import (
    CONFIDENCE,
    MOST_READ,
    Choice,
    FitContext,
    FoundPaths,
    RowPlan,
    certify,
    choose,
    find_sizes,
    read_groups,
    read_subgroups,
    search_paths,
    splits_into_parts,
)
from pinsker.search import (
    MOST_SEARCHED,
    Deadline,
    ErrorBudget,
    FeatureCosts,
    Search,
    StoppingRule,
    named_searches,
    screening_notes,
    search_until,
)
from pinsker.selectors._base import fitted_attributes, set_fitted
from pinsker.selectors._context import (
    FitMemory,
    budget_of_rule,
    check_routing,
    columns_that_train,
    draw_seed,
    draw_table,
    encode_table,
    keeping_path,
    open_context,
    plan_memory,
    with_means,
)
from pinsker.selectors._evaluated import EvaluatedSelector, choose_on_path, with_given_order
from pinsker.selectors._progress import Progress, fitting

#: Cells that are read for every second of a time limit, of numbers and of text: half of a second's.
_CELLS_A_SECOND = 4_000_000, 200_000
#: Rows that are read at least, and part of a time limit after which no suspects are looked for.
_LEAST_READ, _PART_OF_SUSPECTS = 1000, 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureSelector(EvaluatedSelector):
    r"""Keep the smallest set of features found that stays within an error budget.

    Several searches put the features in an order. Each is repeated without the rows of every fold,
    and models show on those rows how much information each size of each path carries and how large
    its error is. The smallest set that passes is kept: the upper confidence bound (for all sets
    together) of what its held-out error exceeds the reachable one by is within the budget. Of
    classes a set also passes whose estimated excess is within it, and whose missing information is
    within what the budget allows. When nothing smaller passes all features are kept.

    Parameters
    ----------
    error_budget : float or StoppingRule, default=0.05
        How much error may be added, in `metric`. Other rules than an `ErrorBudget` cut each path,
        and held-out rows choose among the paths.
    confidence : float, default=0.95
        That the set which is kept is within the budget, as held-out rows show it for all sets at
        once. 0.5 keeps the best guess: the smallest set whose estimated increase is within it.
    metric : str, scorer, callable, CostMatrix or WorstTarget, default="auto"
        Metric of the budget: "error" rate for classes and "r2" (share of the target's variance)
        for numbers; "log-loss", "brier", "mse", "mae"; of censored times "concordance" or
        "integrated_brier". Held-out rows alone decide a scorer of scikit-learn or its name, a
        function ``(y_true, y_score, sample_weight) -> float`` of which larger is better, or a
        `CostMatrix`. Of several targets it is the mean; `WorstTarget` bounds every one. It also
        says how the target is read: "r2" takes integers for numbers.
    models : "auto" or list, default="auto"
        Models that evaluate: (name, model) pairs, or models with ``fit`` and ``predict``, which
        are fitted to subsets of your own columns, unchanged; or names out of "linear", "linear
        ranks" (of normal scores), "svm" (up to 2000 rows), "extra trees", "boosted trees" (these
        race by default, boosted trees with 100 rounds on all rows, too), "forest", "lightgbm",
        "xgboost" and "catboost".
    searches : "auto" or list, default="auto"
        Names out of "forward-backward", "backward", "forward", "linear", "relevance", "jmi",
        "cmim", "elimination" (by a regularised linear model; "auto" adds it for more than 100
        features) and "pairs" (for 50 columns or more of which two carry more together), selectors
        of this package, (name, selector) pairs, and (name, order) pairs with an order of columns,
        best first. An order that was found with the same rows is evaluated too kindly.
    cv : int, splitter or iterable of (train, test), default=5
        Folds of held-out rows, or a division of them. 0 cuts the path of the first search by its
        own information. With 5000 rows or more an int splits the rows into three parts, and so
        does a plain ``TimeSeriesSplit()``, in order of time; other splitters cross-fit all rows.
    feature_costs : dict or array-like, optional
        Prices of the columns, in any unit: of the sets within the budget the cheapest is kept. One
        per column, or a dict by column, by name of a feature group, or by a tuple of columns that
        share one price; what it does not name is free.
    subgroups : str, list of str or dict, optional
        Columns whose values are subgroups of the rows: the budget must be met in each of them. A
        dict gives columns a budget of their own, or one per value: ``{"region": {"north": 0.01}}``.
        The metric must be a mean over rows, such as an error rate, R² or a Brier score.
    fixed_features, feature_groups, categorical_features
        As in `BackwardElimination`.
    missing : {"auto", "error", "drop", "category"}, default="auto"
        What happens to missing values. "auto": rows without a target are dropped, and a missing
        value is one of its own. Others as in `BackwardElimination`.
    suspects : {"auto", "warn", "drop", "ignore"}, default="auto"
        What to do with columns that give the target away (leaks, telling gaps) or name rows or
        groups of rows (identifiers). "auto" leaves out those that name rows or groups and notes
        the others; "warn" notes all, "drop" leaves all out, "ignore" does not look. What is among
        `fixed_features` stays.
    knn, engine, n_jobs, random_state, verbose
        As in `BackwardElimination`.
    time_limit : float, default=None
        Seconds after which no model is fitted any more, and after half of which no step of a
        search begins. The best set that was evaluated by then is kept: one always is, at worst by
        the cheapest model on few rows and folds, which no claim rests on; where that shows nothing
        all features are. A fit of a model of your own is not cut. It cannot be reproduced.

    Attributes
    ----------
    cv_results_ : dict of str to ndarray
        What held-out rows say about every set that was evaluated, all features first.
    front_ : list of FrontPoint
        ``(cost, increase, features)`` of the sets that were evaluated and that no other beats in
        cost and in error increase, the cheapest first. Without prices a feature costs 1.
    certificate_ : Certificate
        What is claimed, and on what evidence.
    path_ : SelectionPath
        The path of the chosen set, on all rows.
    stability_ : Stability or None
        How much the sets agree that were found without each fold; None where the rows were not
        searched fold by fold (2000 rows or more, or ``cv=0``). See the method `stability`.
    importance_ : Importance or None
        What each kept feature is worth on held-out rows of `fit`, with the best model: from 5000
        rows on those of the certificate, with fewer those that chose the features, which makes
        these look better. None of more than 20 features. See the method `importance`.
    support_, ranking_, notes_, facts_, feature_columns_, n_features_in_, feature_names_in_
        As in `BackwardElimination`.

    See Also
    --------
    ForwardBackwardSelection, BackwardElimination : one path each.
    ForwardSelection, LinearSelection : one path each.

    Notes
    -----
    Which rows search, evaluate and certify, and how many of many are read: ``docs/how_it_works.md``
    and ``docs/certificate.md``. The confidence bounds hold for these models and these rows;
    `certify` repeats the test on rows that took no part in the choice. `support_at` answers for
    other budgets from the sets that were evaluated, which lie closest near the cut.

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

    _parameter_constraints: ClassVar[ListsByName] = {
        **EvaluatedSelector._parameter_constraints,
        "confidence": [Interval(Real, 0.5, 1.0, closed="left")],
        "searches": [StrOptions({"auto"}), "array-like"],
        "suspects": [StrOptions({"auto", "warn", "drop", "ignore"})],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "feature_costs": [dict, "array-like", None],
        "subgroups": [str, Integral, list, tuple, dict, None],
    }
    _parameter_constraints.pop("warm_start")  # the folds of a search are not kept

    confidence: float = 0.95
    searches: Unchecked = "auto"
    cv: CrossValidation = 5
    feature_costs: ColumnChoice = None
    subgroups: ColumnChoice = None
    missing: Missing = "auto"
    suspects: Literal["auto", "warn", "drop", "ignore"] = "auto"
    time_limit: float | None = None

    @fitting
    def fit(
        self,
        X: TableLike,
        y: TargetLike = None,
        sample_weight: RowLabels = None,
        groups: RowLabels = None,
    ) -> Self:
        """Search several paths, evaluate their sets, and keep the smallest within the budget.

        Parameters
        ----------
        X : array-like, frame or Dask collection of shape (n_samples, n_features)
            Numbers, or a frame that may also hold categories, text and booleans. Of a Dask
            collection at most 150 000 rows are computed; it needs an int as `cv`.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Classes or numbers; a structured array of an event (bool) and a time; or, for a Dask
            DataFrame, the name of one of its columns or a Dask Series with the same index.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, for searches, models, errors and their confidence bounds. Neighbors
            take none: "auto" searches by "jmi", "cmim" and "linear" then.
        groups : array-like of shape (n_samples,), optional
            Which rows belong together (patients, days): they are held out together, and confidence
            bounds are those of sums over groups.

        Returns
        -------
        self
        """
        context = self._read(X, y, sample_weight, groups)
        plan = RowPlan.of(
            context.encoded, self.cv, context.seed, groups=context.groups, fewest=context.fewest,
            n_columns=columns_that_train(self, context.encoded),
        )  # fmt: skip
        names, searches = named_searches(
            self.searches, plan.rows_to_measure(context.encoded), context.settings, context.fixed,
            of_many_rows=plan.certify is not None, costs=context.costs,
        )  # fmt: skip
        progress = Progress(self, context.user_data, 5 + len(names))
        context.jobs.on_call = None if progress.stages is None else progress.stages.show
        if plan.folds:
            rows = f"in {len(plan.folds)} folds"
            rows = rows if plan.crosses else f"on {len(plan.searched[0])} rows"
            progress.on_stage(f"searching {len(names)} paths {rows}")
            found = search_paths(context, plan, searches, names)
            with keeping_path(self, context, found.paths):
                evaluator = context.evaluator_of(plan)
                evaluator.limit_time(context.deadline)
                comparison = find_sizes(context, plan, evaluator, found, progress.on_stage)
                progress.on_stage("certifying")
                choice = choose(context, plan, evaluator, comparison)
                choice = certify(context, plan, choice)
            progress.on_stage("importance")
            set_fitted(self, self._chosen(context, plan, searches, found, choice))
        else:
            progress.on_stage("searching one path, without held-out rows")
            path = search_until(context.deadline, context.encoded, searches, names[0])
            choose_on_path(self, context, path)
        progress.close()
        return self

    def _rule(self, budget: Unchecked = None) -> StoppingRule:
        """Return the stopping rule that a budget stands for, at the confidence asked for."""
        rule = super()._rule(budget)
        if isinstance(rule, ErrorBudget) and self.confidence != CONFIDENCE:
            return replace(rule, confidence=self.confidence)
        return rule

    def plan_memory(self, encoded: Encoded, seed: int = 0) -> FitMemory:
        """Plan the memory of a fit, or refuse a table that cannot fit."""
        return plan_memory(self, encoded, seed, in_parts=True)

    def _read(
        self, X: TableLike, y: TargetLike, sample_weight: RowLabels, groups: RowLabels
    ) -> FitContext:
        """Encode as many rows as the fit can use, and collect what it works with."""
        check_routing(self, sample_weight=sample_weight, groups=groups)
        deadline, seed = Deadline(self.time_limit), draw_seed(self)
        users, origin = {"X": X, "y": y}, ""
        drawn: Notes = ()
        most, in_memory = MOST_READ, isinstance(X, HasShape) and not (is_dask(X) or is_stream(X))
        if self.time_limit is not None and in_memory and len(X.shape) == 2:
            text = np.asarray(take(X, np.arange(min(1, X.shape[0])))).dtype.kind not in "biuf"
            in_time = int(self.time_limit * _CELLS_A_SECOND[text]) // max(X.shape[1], 1)
            most = min(most, max(in_time, _LEAST_READ))
        many = is_dask(X) or count_rows(X) > most
        if is_stream(X) or (splits_into_parts(self.cv) and many):
            sample = draw_table(self, X, y, most, seed)
            X, y, origin, drawn = sample.X, sample.y, sample.origin, sample.notes
            sample_weight = sample.labels_of_rows(sample_weight, "sample_weight")
            groups = sample.labels_of_rows(groups)
        rule = self._rule()
        metric = rule.metric if isinstance(rule, ErrorBudget) else self.metric
        scale = as_settings("knn", self.knn).scale
        encoded = encode_table(self, X, y, metric, scale, sample_weight)
        encoded = self._leave_out(X, encoded, read_groups(groups, encoded), deadline)
        facts = TargetFacts.of(encoded.target, encoded.weights)
        context = open_context(self, encoded, facts, X, y, seed=seed)
        context = replace(context, user_data=users, origin=origin, notes=drawn)
        if encoded.weights is not None and isinstance(self.searches, str):
            context = replace(context, notes=(*context.notes, Note("weights, no neighbors")))
        if self.feature_costs is not None:
            costs = FeatureCosts.read(self.feature_costs, encoded)
            context = replace(context, costs=costs, notes=(*context.notes, *costs.notes))
        if self.subgroups is not None:
            named = read_subgroups(self.subgroups, X, encoded, budget_of_rule(self, rule), facts)
            context = replace(context, subgroups=named)
        context = with_means(self, context, groups, in_parts=True)
        return replace(context, settings=replace(context.settings, deadline=deadline))

    def _leave_out(
        self, X: TableLike, encoded: Encoded, groups: IntArray | None, deadline: Deadline
    ) -> Encoded:
        """Leave out constants, and what only names rows or groups, before anything is searched."""
        fixed = find_features(encoded, self.fixed_features, "fixed_features")
        encoded = drop_uninformative(encoded, fixed)
        deadline.part = _PART_OF_SUSPECTS
        if self.suspects == "ignore" or deadline.skips("suspects"):
            return encoded
        fixed = find_features(encoded, self.fixed_features, "fixed_features")
        found = find_suspects(X, encoded, groups, deadline if deadline.may_end else None)
        return note_suspects(encoded, found, fixed, drop=self.suspects)

    def _chosen(
        self,
        context: FitContext,
        plan: RowPlan,
        searches: list[Search],
        found: FoundPaths,
        choice: Choice,
    ) -> Fields:
        """Return the fitted attributes, with the stability and the worth of what is kept."""
        path, size, decision = choice.path, choice.decision.size, choice.decision
        importance, gone = None, ""

        def measure() -> Importance | None:
            context.deadline.check()
            why = () if choice.on_fresh_rows else (SAME_ROWS,)
            return importance_at_hand(choice.evaluator, path.order[:size], path.names, why)

        try:
            importance = choice.evaluator.until(context.deadline, "importance", measure)
        except EngineLostError as error:  # all else is there
            gone = str(error)
        given = tuple(name for search in searches if search.is_given for name in search.names)
        certificate = with_given_order(choice.certificate, choice.result.search, given)
        about = (
            *_describe_rows(plan, context.encoded.n_rows),
            *screening_notes(searches, found.paths, context.encoded.n_features),
            *context.deadline.notes,
        )
        choice = replace(choice, certificate=certificate)
        how: Fields = {"certificate": certificate, "comparison": choice.comparison, "notes": about}
        decision = replace(decision, notes=choice.notes)
        fitted = fitted_attributes(context, self.n_features_in_, path, decision, **how)
        fitted["_record"] = replace(fitted["_record"], given_orders=given)
        if plan.crosses and size < path.n_features:
            orders = found.orders[choice.result.search]
            if (stability := stability_of_orders(orders, size, path.names)) is not None:
                fitted["stability_"] = stability
                fitted["notes_"] += stability.notes(path.order[:size])
        if gone:
            fitted["notes_"] += (Note("no importance", figures={"reason": gone}),)
        fitted["importance_"] = importance
        return fitted


def _describe_rows(plan: RowPlan, n_rows: int) -> Notes:
    """Return which rows did what, where not all of them did everything."""
    if plan.crosses:
        return ()
    n_searched = len(plan.searched[0])
    if plan.certify is None:
        figures = {"n_rows": n_rows, "ordered": n_searched, "folds": len(plan.folds)}
        return (Note("searched once", figures=figures),)
    fold = plan.folds[0]
    figures = {"n_rows": n_rows, "searched": n_searched, "most": MOST_SEARCHED}
    models = {"fitted": len(fold.train), "evaluated": len(fold.test), "by_time": plan.by_time}
    return (Note("three parts", figures={**figures, **models}),)
