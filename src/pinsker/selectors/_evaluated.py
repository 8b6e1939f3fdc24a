"""Selectors whose choice is evaluated on held-out rows, and what people ask about it next."""

import copy
import warnings
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Integral
from typing import ClassVar, Self

import numpy as np
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from pinsker._compat import Interval, Options, StrOptions
from pinsker._notes import Note
from pinsker._types import (
    ColumnChoice,
    CrossValidation,
    Estimator,
    Fields,
    ListsByName,
    RandomState,
    RowLabels,
    Splitter,
    TableLike,
    TargetLike,
)
from pinsker.encoding import Encoded, count_rows
from pinsker.engine import ENGINES, EngineSettings, KNNSettings
from pinsker.exceptions import ParameterError, PinskerWarning
from pinsker.explain import (
    SEARCHED,
    Alternative,
    FreshSets,
    Importance,
    Stability,
    Substitute,
    alternatives,
    importance,
    stability_of_subsamples,
    substitutes,
)
from pinsker.holdout import (
    ESTIMATE,
    MOST_CERTIFIED,
    TOO_FEW_ROWS,
    Certificate,
    FitContext,
    FreshRows,
    certify_stream,
    crossfit_certificate,
    interval_notes,
    make_folds,
    path_certificate,
    without_weightless,
)
from pinsker.metrics import CostMatrix, WorstTarget
from pinsker.search import ErrorBudget, SelectionPath, StoppingRule, measure_sets, read_budget
from pinsker.selectors._base import Selector, fitted_attributes, ranks, set_fitted
from pinsker.selectors._context import (
    FitMemory,
    budget_of_rule,
    draw_table,
    fresh_context,
    plan_memory,
)

#: Folds of fresh rows.
_FOLDS = 5
#: The note where rows cannot be held out.
TOO_FEW = Note("too few rows to hold out")
#: The note where a path was not searched or not measured to its end.
FEW_STEPS = Note("few steps", weight="untrue")


@dataclass(eq=False, repr=False)
class EvaluatedSelector(Selector):
    """A selector by neighbors that can evaluate its path on rows it was not searched with."""

    error_budget: float | StoppingRule = 0.05
    _: KW_ONLY
    models: Estimator = "auto"
    cv: CrossValidation = 0
    knn: KNNSettings | None = None
    engine: str | EngineSettings = "auto"
    n_jobs: int | None = None
    random_state: RandomState = None

    _parameter_constraints: ClassVar[ListsByName] = {
        **Selector._parameter_constraints,
        "metric": [str, callable, CostMatrix, WorstTarget],
        "models": [str, "array-like"],
        "cv": [Options(Integral, {0}), Interval(Integral, 2, None, closed="left"), "cv_object"],
        "knn": [KNNSettings, None],
        "engine": [StrOptions(set(ENGINES)), EngineSettings],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    @property
    def holds_out(self) -> bool:
        """Whether rows shall be held out."""
        return not isinstance(self.cv, Integral) or bool(self.cv)

    def certify(
        self,
        X: TableLike,
        y: TargetLike,
        *,
        sample_weight: RowLabels = None,
        groups: RowLabels = None,
        subgroups: ColumnChoice = None,
        confidence: float = 0.95,
    ) -> Certificate:
        """Test the choice on rows that the search never used.

        The certificate is that of the set of the fit. Where it is not shown to be within the
        budget, larger sets of the path are tested, and the smallest that passed is in its `passed`;
        `with_certified` takes it over. See ``docs/certificate.md``.

        Parameters
        ----------
        X, y
            Fresh rows, with the columns of `fit`; as Dask collections too. Of more than 40 000 this
            many are drawn; of what polars or DuckDB hold they train, and all others are compared.
            Known rows of `fit` make the result an estimate, and more than half are refused.
        sample_weight, groups : array-like of shape (n_samples,), optional
            Weights of these rows, and which of them belong together.
        subgroups : str, list of str, dict or array-like, optional
            Parts of the rows in each of which the budget must be met: columns whose values are the
            subgroups; a dict from names to masks or labels of the rows, from columns to a budget of
            their own or to one per value, or to a pair of both. By default those of the fit.
        confidence : float, default=0.95
            Of each confidence bound by itself.

        Returns
        -------
        Certificate
        """
        check_is_fitted(self)
        rule = self._rule()
        if not isinstance(rule, ErrorBudget):
            raise ParameterError(
                f"certify needs an error budget to test, but the selector stops by {rule}: "
                "set error_budget to a number, or to an ErrorBudget(...)."
            )
        if subgroups is None:
            subgroups = self.get_params(deep=False).get("subgroups")
        context = fresh_context(self, X, y, sample_weight, groups, MOST_CERTIFIED, subgroups)
        if (hashes := context.encoded.hashes) is not None:
            n_before, before = self._record.last_certified or (len(hashes), hashes)
            if len(hashes) > n_before and np.isin(before, hashes).mean() > 0.9:
                warnings.warn(
                    "these rows hold those of an earlier certify: looking again and again as rows "
                    "arrive makes 'met' wrong more often than the confidence says. Use "
                    "pinsker.Monitor, whose limits hold at every look.",
                    PinskerWarning,
                    stacklevel=2,
                )
            seen = (len(hashes), np.sort(hashes)[:_MOST_REMEMBERED])
            self._record = replace(self._record, last_certified=seen)
        # Pairs of positions belong to the rows of fit.
        cv = self.cv if isinstance(self.cv, Splitter) else _FOLDS
        folds = make_folds(context.encoded, cv, context.seed, groups=context.groups)
        fresh = FreshRows(context, folds, confidence)
        certificate = fresh.certify(self.path_.order, sum(_are_kept(self)))
        if not context.origin:
            return certificate
        every = certify_stream(context, certificate, self.path_.order[: certificate.n_kept])
        rows, notes = f"{certificate.rows} ({context.origin})", certificate.notes + context.drawn
        return replace(certificate, rows=rows, notes=notes) if every is certificate else every

    def at(self, *, error_budget: float | None = None, confidence: float | None = None) -> Self:
        """Return a copy that keeps what another budget or confidence would, without fitting again.

        Parameters
        ----------
        error_budget : float, optional
            In the metric of `fit`; by default its own.
        confidence : float, optional
            That the set is within the budget; 0.5 keeps the likely set. By default that of `fit`.

        Returns
        -------
        selector
            Fitted: it transforms, certifies and is audited. Its parameters are those it stands for.
        """
        check_is_fitted(self)
        rule, own = self._rule(), self.error_budget
        if not isinstance(rule, ErrorBudget):
            raise ParameterError(f"the selector stops by {rule}: fit it with an error budget.")
        budget = rule.delta if error_budget is None else read_budget(error_budget)
        wanted = replace(own, delta=budget) if isinstance(own, ErrorBudget) else budget
        given: Fields = {"error_budget": wanted}
        given |= {} if confidence is None else {"confidence": confidence}
        other = copy.copy(self).set_params(**given)
        rule = other._rule()
        kept, comparison = set(other._kept_by(rule)), self._record.comparison
        path: SelectionPath = self.path_
        if comparison is not None and set(path.order[: len(kept)]) != kept:
            path = comparison.paths[comparison.choose(rule)[0].search]
            growth = budget_of_rule(other, rule).growth(path, self.facts_)
            path = path.with_bounds(tuple(map(float, growth)), self.path_.metric)
        changed = {"path_": path, "stability_": None, "importance_": None}
        certificate = other.certificate_at(error_budget=budget)
        return self._keep(other, path, len(kept), certificate, changed)

    def certificate_at(self, *, error_budget: float) -> Certificate:
        """Return what the held-out rows of `fit` say about another budget, of any number of them.

        Parameters
        ----------
        error_budget : float
            In the metric of `fit`.

        Returns
        -------
        Certificate
            An estimate about the set of `support_at`, on the rows that chose it; where that is the
            set of `with_certified`, what its fresh rows say.
        """
        check_is_fitted(self)
        rule = replace(budget_of_rule(self, self._rule()), delta=error_budget)
        certified, comparison = self._record.certified, self._record.comparison
        if certified is not None and self._kept_by(rule) != super()._kept_by(rule):
            return replace(certified, budget=rule.delta, rule=str(rule))
        if comparison is None:
            decision = rule.decide(self.path_, self.facts_)
            n_rows = self.certificate_.n_rows
            return path_certificate(self.path_, rule, decision, self.facts_, n_rows)
        result, decision = comparison.choose(rule)
        certificate = crossfit_certificate(comparison, result, rule, decision)
        return with_given_order(certificate, result.search, self._record.given_orders)

    def with_certified(self, certificate: Certificate) -> Self:
        """Return a copy of this selector that keeps the set of a certificate.

        Parameters
        ----------
        certificate : Certificate
            What `certify` returned: its budget must be met, or by the larger set in its `passed`.

        Returns
        -------
        selector
            Fitted, with the set, the ranking and the certificate of the fresh rows.
        """
        check_is_fitted(self)
        if certificate.verdict != "met" and certificate.passed is not None:
            certificate = certificate.passed
        size = certificate.n_kept
        names = {self.path_.names[feature] for feature in self.path_.order[:size]}
        if set(certificate.features) != names:
            raise ParameterError(
                "the certificate is about other features than this selector's path: pass what "
                "its own certify returned."
            )
        if certificate.verdict not in ("met", "nothing dropped"):
            raise ParameterError(
                f"the certificate says that the budget is {certificate.verdict}: there is no "
                "certified set to take."
            )
        record = replace(self._record, certified=certificate)
        return self._keep(copy.copy(self), self.path_, size, certificate, {"_record": record})

    def importance(
        self,
        X: TableLike,
        y: TargetLike,
        *,
        sample_weight: RowLabels = None,
        groups: RowLabels = None,
        confidence: float = 0.95,
    ) -> Importance:
        """Measure on fresh rows what each column is worth, with limits.

        Of a kept column: the error increase when it alone is left out. Of a dropped one: the
        decrease when it alone is added. Models are fitted again, and compared row by row.

        Parameters
        ----------
        X, y
            Fresh rows, with the columns of `fit`.
        sample_weight, groups : array-like of shape (n_samples,), optional
            Weights of these rows, and which of them belong together.
        confidence : float, default=0.95
            That all intervals hold together.

        Returns
        -------
        Importance
            With ``to_frame()``; `ImportanceDisplay` draws it.
        """
        check_is_fitted(self)
        return importance(self._fresh_sets(X, y, sample_weight, groups), confidence)

    def substitutes(
        self,
        X: TableLike,
        y: TargetLike,
        *,
        sample_weight: RowLabels = None,
        groups: RowLabels = None,
        confidence: float = 0.95,
    ) -> tuple[Substitute, ...]:
        """Find on fresh rows what can replace each kept column.

        The five dropped columns that say most about a kept one are tried in its place, and of all
        pairs the one that says most. Named is the smallest replacement that is shown to be within
        the budget; where there is none, ``within_budget`` is False.

        Parameters
        ----------
        X, y, sample_weight, groups, confidence
            As in `importance`.

        Returns
        -------
        tuple of Substitute
            One per kept column, in order of the path.
        """
        check_is_fitted(self)
        budget = self._budget()
        return substitutes(self._fresh_sets(X, y, sample_weight, groups), budget, confidence)

    def alternatives(
        self,
        X: TableLike,
        y: TargetLike,
        *,
        n: int = 5,
        max_overlap: float = 0.5,
        sample_weight: RowLabels = None,
        groups: RowLabels = None,
        confidence: float = 0.95,
    ) -> tuple[Alternative, ...]:
        """Find on fresh rows other sets within the budget.

        Features of the chosen set, and then of the sets that were found, are left out, and the
        others are searched again, on rows that evaluate nothing.

        Parameters
        ----------
        X, y, sample_weight, groups, confidence
            As in `importance`.
        n : int, default=5
            How many sets at most.
        max_overlap : float, default=0.5
            Share of a set that the chosen one may have too.

        Returns
        -------
        tuple of Alternative
            Empty where no other set is shown to be within the budget.
        """
        check_is_fitted(self)
        if not 0 <= max_overlap < 1:
            raise ParameterError(f"max_overlap={max_overlap!r}: use a share from 0 to below 1.")
        budget = self._budget()
        fresh = self._fresh_sets(X, y, sample_weight, groups, searched=SEARCHED)
        return alternatives(fresh, budget, confidence, n=n, max_overlap=max_overlap)

    def stability(
        self,
        X: TableLike,
        y: TargetLike,
        *,
        n: int = 20,
        sample_weight: RowLabels = None,
        groups: RowLabels = None,
    ) -> Stability:
        """Choose again on random halves of the rows, and compare what is chosen.

        It takes as long as `n` fits to half of the rows; `stability_` compares the folds of `fit`.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in `fit`; of groups a random half is drawn.
        n : int, default=20
            How many halves.

        Returns
        -------
        Stability
            How often each column is chosen, and Nogueira's stability with its interval.

        Examples
        --------
        >>> from pinsker import FeatureSelector
        >>> from pinsker.datasets import NoisyXor
        >>> X, y = NoisyXor(n_columns=4).sample(300, seed=1)
        >>> settings = {"models": ["svm"], "searches": ["forward-backward"], "random_state": 0}
        >>> selector = FeatureSelector(0.1, **settings).fit(X, y)
        >>> print(selector.stability(X, y, n=3))
        stability 1.00 (95% interval 1.00 to 1.00) over 3 subsamples
        """
        check_is_fitted(self)
        X, y, sample_weight, groups = without_weightless(X, y, sample_weight, groups)
        draw_half = partial(draw_table, self, X, y, count_rows(X) // 2)
        rows = {"sample_weight": sample_weight, "groups": groups}
        return stability_of_subsamples(self, X, y, draw_half, n, rows)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which of `sample_weight` and `groups` go to the splitter and the models."""
        router = MetadataRouter(owner=self).add_self_request(self)
        split, fit = MethodMapping(), MethodMapping()
        for caller in ("fit", "fit_transform"):
            split.add(caller=caller, callee="split")
            fit.add(caller=caller, callee="fit")
        router.add(splitter=self.cv, method_mapping=split)
        for place, item in enumerate(() if isinstance(self.models, str) else self.models):
            model = item[1] if isinstance(item, tuple) and len(item) == 2 else item
            if not isinstance(model, str):
                router.add(**{f"model {place}": model}, method_mapping=fit)
        return router

    def plan_memory(self, encoded: Encoded, seed: int = 0) -> FitMemory:
        """Plan the memory of a fit, or refuse a table that cannot fit."""
        return plan_memory(self, encoded, seed)

    def _kept_by(self, rule: StoppingRule) -> tuple[int, ...]:
        """Return the features that a rule keeps: at its own budget those of a certified set."""
        kept = super()._kept_by(rule)
        certified = self._record.certified
        if certified is None or not isinstance(rule, ErrorBudget):
            return kept
        fewer, more = len(kept) < certified.n_kept, len(kept) > certified.n_kept
        beside = fewer if rule.delta < certified.budget else more
        if rule.delta == certified.budget or beside:
            order: tuple[int, ...] = self.path_.order
            return order[: certified.n_kept]
        return kept

    def _keep(
        self, other: Self, path: SelectionPath, size: int, certificate: Certificate, also: Fields
    ) -> Self:
        ranking = ranks(self.feature_columns_, path, size, len(self.ranking_))
        set_ = {"ranking_": ranking, "support_": ranking == 1, "certificate_": certificate}
        set_fitted(other, {**set_, "notes_": self.notes_ + certificate.notes, **also})
        return other

    def _fresh_sets(
        self, X: TableLike, y: TargetLike, *labels: RowLabels, searched: float = 0.0
    ) -> FreshSets:
        """Return the sets of this selector on fresh rows, a share of which may search."""
        context = fresh_context(self, X, y, *labels)
        cv = self.cv if isinstance(self.cv, Splitter) else _FOLDS
        return FreshSets(context, cv, self.path_.order, _are_kept(self), searched=searched)

    def _budget(self) -> float:
        budget = float(self.certificate_.budget)
        if budget != budget:
            raise ParameterError(
                "sets are compared with an error budget, but the selector stops by "
                f"{self.certificate_.rule}: set error_budget to a number."
            )
        return budget


def choose_on_path(
    selector: Selector, context: FitContext, path: SelectionPath, *, interrupted: bool = False
) -> None:
    """Cut a path by its own information, where no rows are held out, and set the attributes."""
    notes = (TOO_FEW,) if selector.holds_out and not interrupted else ()
    measured = measure_sets(path, context.encoded, context.settings)
    late = context.deadline.notes
    late += (FEW_STEPS,) if late and not path.complete else ()
    path = replace(measured, complete=path.complete)
    decision = context.rule.decide(path, context.facts)
    attributes = fitted_attributes(context, selector.n_features_in_, path, decision, notes=notes)
    certificate = attributes["certificate_"]
    attributes["notes_"] += late
    said = (*certificate.notes, *late, *interval_notes(context, path, decision.size))
    label = TOO_FEW_ROWS if notes else certificate.label
    attributes["certificate_"] = replace(certificate, label=label, notes=said)
    set_fitted(selector, attributes)


def with_given_order(
    certificate: Certificate, search: str, given_orders: tuple[str, ...]
) -> Certificate:
    """Return a certificate that says so if the order was given and not searched."""
    if search not in given_orders:
        return certificate
    notes = (*certificate.notes, Note("given order", figures={"name": search}))
    return replace(certificate, label=ESTIMATE, notes=notes)


#: Hashes of certified rows that are remembered, the smallest.
_MOST_REMEMBERED = 1000


def _are_kept(selector: Selector) -> list[bool]:
    return [bool(selector.support_[list(own)].all()) for own in selector.feature_columns_]
