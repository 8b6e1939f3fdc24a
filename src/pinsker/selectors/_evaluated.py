"""Selectors by neighbors whose cut can be evaluated on held-out rows."""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from pinsker._compat import Interval, Options, StrOptions, check_columns
from pinsker._notes import Note, Notes
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded, RowSample, draw_rows, encode_again
from pinsker.engine import EngineSettings, KNNSettings, as_settings, count_threads, find_client
from pinsker.exceptions import EngineLostError, ParameterError
from pinsker.holdout import (
    ESTIMATE,
    MOST_CERTIFIED,
    TOO_FEW_ROWS,
    Certificate,
    Comparison,
    Fold,
    FreshRows,
    HoldoutEvaluator,
    Jobs,
    crossfit_certificate,
    make_folds,
    note_divided_groups,
    note_few_groups,
    note_known_rows,
    note_repeated_rows,
    note_weights,
    path_certificate,
    read_groups,
)
from pinsker.metrics import CostMatrix, Metric, WorstTarget, task_of
from pinsker.models import HoldoutModel, named_models, prepare_models
from pinsker.search import ErrorBudget, KNNSearchSettings, SelectionPath, StoppingRule, measure_sets
from pinsker.selectors._base import InformationSelector, ranks
from pinsker.selectors._fit_data import FitData, n_at_least
from pinsker.selectors._memory import FitMemory, RowCounts
from pinsker.selectors._questions import QuestionsMixin

#: The note where rows cannot be held out.
TOO_FEW = Note("too few rows to hold out")


class EvaluatedSelector(QuestionsMixin, InformationSelector):
    """A selector by neighbors that can evaluate its path on rows it was not searched with."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **InformationSelector._parameter_constraints,
        "metric": [str, callable, CostMatrix, WorstTarget],
        "models": [StrOptions({"auto"}), "array-like"],
        "cv": [
            Options(Integral, {0}),
            Interval(Integral, 2, None, closed="left"),
            "cv_object",
        ],
        "knn": [KNNSettings, None],
        "engine": [StrOptions({"auto", "local", "dask", "cuda"}), EngineSettings],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def certify(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        confidence: float = 0.95,
    ) -> Certificate:
        """Test the choice on rows that the search never used.

        The sets of the path are tested from the largest down to the one that was chosen, and the
        first that the rows do not support ends it (a fixed sequence: no correction for many tests
        is needed). The certificate is that of the last set that passed, or of the first one when
        it did not: nothing is tested after a failure. The selector stays as it is:
        `with_certified` takes over the set.

        Parameters
        ----------
        X, y
            Fresh rows, with the columns of `fit`; as Dask collections too. Of more than 40 000, so
            many are drawn: they resolve a difference of 0.002 between error rates. Rows that `fit`
            has seen are recognised: some of them make the result an estimate, and more than half of
            them are refused.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of these rows.
        groups : array-like of shape (n_samples,), optional
            Which of these rows belong together.
        confidence : float, default=0.95
            Of each confidence bound by itself.

        Returns
        -------
        Certificate

        References
        ----------
        ``docs/certificate.md``; theory of the fixed sequence: Maurer, Hothorn, Lehmacher (1995).
        """
        check_is_fitted(self)
        rule = self._rule_of(self.error_budget)
        if not isinstance(rule, ErrorBudget):
            raise ParameterError(
                f"certify needs an error budget to test, but the selector stops by {rule}: "
                "set error_budget to a number, or to an ErrorBudget(...).",
            )
        task, seed = self.facts_.task, self._seed
        sample = self._draw_rows(X, y, MOST_CERTIFIED, seed)
        check_columns(self, sample.X)
        scale = as_settings("knn", self.knn).scale
        encoded = encode_again(
            sample.X,
            sample.y,
            self.feature_columns_,
            task=task,
            **self._encoding(),
            scale=scale,
            sample_weight=sample.labels_of_rows(sample_weight, "sample_weight"),
        )
        models = self._models(encoded, seed, sample.X)
        clusters = read_groups(sample.labels_of_rows(groups), encoded)
        folds = None
        if hasattr(self.cv, "split"):  # pairs of positions belong to the rows of fit
            folds = make_folds(encoded, self.cv, seed, groups=clusters)
        fresh = FreshRows(
            encoded,
            rule,
            models,
            confidence,
            seed,
            self._jobs(),
            folds,
            groups=clusters,
            notes=note_known_rows(encoded, getattr(self, "_row_hashes", None)),
            table=sample.X,
        )
        certificate = fresh.certify(self.path_.order, int(self._n_kept()))
        if not sample.origin:
            return certificate
        rows, notes = f"{certificate.rows} ({sample.origin})", (*certificate.notes, *sample.notes)
        return replace(certificate, rows=rows, notes=notes)

    def certificate_at(self, *, error_budget: float) -> Certificate:
        """Return what the held-out rows of `fit` say about another budget.

        Budgets may be tried and the certificates looked at as often as wanted: the confidence
        bounds hold for all evaluated sets, and so for all budgets, at once.

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
        rule = replace(self._budget_of(self._own_rule()), delta=float(error_budget))
        certified: Certificate | None = getattr(self, "_certified", None)
        if certified is not None and self._kept_by(rule) != super()._kept_by(rule):
            return replace(certified, budget=rule.delta, rule=str(rule))
        comparison: Comparison | None = self._comparison
        if comparison is None:
            decision = rule.decide(self.path_, self.facts_)
            n_rows = self.certificate_.n_rows
            return path_certificate(self.path_, rule, decision, self.facts_, n_rows)
        result, decision = comparison.choose(rule)
        certificate = crossfit_certificate(comparison, result, rule, decision)
        return self._with_given_order(certificate, result.search)

    def with_certified(self, certificate: Certificate) -> Self:
        """Return a copy of this selector that keeps the set of a certificate.

        Parameters
        ----------
        certificate : Certificate
            What `certify` returned; its budget must be met.

        Returns
        -------
        selector
            Fitted, with the set, the ranking and the certificate of the fresh rows.
        """
        check_is_fitted(self)
        size = certificate.n_kept
        names = {self.path_.names[feature] for feature in self.path_.order[:size]}
        if set(certificate.features) != names:
            raise ParameterError(
                "the certificate is about other features than this selector's path: pass what "
                "its own certify returned."
            )
        if certificate.verdict != "met":
            raise ParameterError(
                f"the certificate says that the budget is {certificate.verdict}: there is no "
                "certified set to take."
            )
        other = copy.copy(self)
        ranking = ranks(self.feature_columns_, self.path_, size, len(self.ranking_))
        return other._set_fitted(
            {
                "ranking_": ranking,
                "support_": ranking == 1,
                "certificate_": certificate,
                "notes_": self.notes_ + certificate.notes,
                "_certified": certificate,
            }
        )

    def _kept_by(self, rule: StoppingRule) -> tuple[int, ...]:
        """Return the features that a rule keeps: at its own budget those of a certified set."""
        kept = super()._kept_by(rule)
        certified: Certificate | None = getattr(self, "_certified", None)
        if certified is None or not isinstance(rule, ErrorBudget):
            return kept
        fewer, more = len(kept) < certified.n_kept, len(kept) > certified.n_kept
        beside = fewer if rule.delta < certified.budget else more
        if rule.delta == certified.budget or beside:
            order: tuple[int, ...] = self.path_.order
            return order[: certified.n_kept]
        return kept

    def _with_given_order(self, certificate: Certificate, search: str) -> Certificate:
        """Return a certificate that says so if the order was given and not searched."""
        listed = getattr(self, "searches", "auto")
        pairs = [] if isinstance(listed, str) else [one for one in listed if isinstance(one, tuple)]
        if search not in {name for name, found in pairs if not hasattr(found, "as_search")}:
            return certificate
        notes = (*certificate.notes, Note("given order", figures={"name": search}))
        return replace(certificate, label=ESTIMATE, notes=notes)

    def _n_kept(self) -> int:
        return sum(bool(self.support_[list(columns)].all()) for columns in self.feature_columns_)

    def _draw_rows(self, X: Any, y: Any, most: int, seed: int) -> RowSample:
        """Return the rows to read: all of them, or some of very many."""
        task = task_of(self._budget_of(self._rule_of(self.error_budget)).metric)
        return draw_rows(X, y, most, seed, missing=self.missing, task=task)

    def _read(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        seed: int | None = None,
        sample_weight: Any = None,
    ) -> FitData:
        """Encode the user's data."""
        self._check_routing(sample_weight=sample_weight, groups=groups)
        rule = self._rule_of(self.error_budget)
        scale = as_settings("knn", self.knn).scale
        metric = rule.metric if isinstance(rule, ErrorBudget) else self.metric
        encoded = self._encode(X, y, metric, scale, sample_weight)
        facts = TargetFacts.of(encoded.target, encoded.weights)
        search = (as_settings("knn", self.knn), *self._ends())
        seed = self._draw_seed() if seed is None else seed
        data = self._data(encoded, facts, rule, X, y, seed=seed, search=search)
        return replace(data, groups=read_groups(groups, encoded))

    def plan_memory(self, encoded: Encoded, seed: int = 0) -> FitMemory:
        """Plan the memory of a fit, or refuse a table that cannot fit.

        Parameters
        ----------
        encoded : Encoded
            The table.
        seed : int
            Of the models.
        """
        engine = as_settings("engine", self.engine)
        models: tuple[Any, ...] = ()
        if self.holds_out:
            models = named_models(self.models, encoded.target.task, encoded.n_rows, seed)
        return FitMemory.of(
            encoded,
            models,
            self._row_counts(encoded.n_rows),
            n_jobs=count_threads(self.n_jobs),
            # Of a cluster or a GPU `max_memory` is theirs.
            max_memory=engine.max_memory if self._is_local else None,
        )

    def _row_counts(self, n_rows: int) -> RowCounts:
        """Return the rows of the largest search and fit."""
        held_out = n_rows // int(self.cv) if isinstance(self.cv, Integral) and self.cv else 0
        return RowCounts(n_rows, n_rows - held_out, held_out or n_rows)

    @property
    def _is_local(self) -> bool:
        """Whether searches run in this process and its memory."""
        engine = as_settings("engine", self.engine)
        return engine.name != "cuda" and find_client(engine.name, engine.client) is None

    def _ends(self) -> tuple[Any, ...]:
        """Return what ends a search that cannot go on from an earlier path."""
        return ()

    def _draw_seed(self) -> int:
        """Draw the seed of a fit; a fit that goes on with an earlier one keeps its seed."""
        if self.random_state is None and getattr(self, "warm_start", False):
            earlier: int | None = getattr(self, "_seed", None)
            if earlier is not None:
                return earlier
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _within(
        self, memory: FitMemory, settings: KNNSearchSettings, n_searches: int
    ) -> KNNSearchSettings:
        """Return settings of searches that run side by side in the memory of a fit."""
        if not self._is_local:
            return settings
        share = memory.for_one_search(n_searches)
        return replace(settings, engine=settings.engine.replace_params(max_memory=share))

    def _settings(self, seed: int) -> KNNSearchSettings:
        """Return how the searches by neighbors work."""
        return KNNSearchSettings(
            knn=as_settings("knn", self.knn),
            engine=as_settings("engine", self.engine),
            seed=seed,
            at_least=n_at_least(self._rule_of(self.error_budget)),
        )

    @property
    def holds_out(self) -> bool:
        """Whether rows shall be held out."""
        return not isinstance(self.cv, Integral) or bool(self.cv)

    def _jobs(self, n_jobs: int | None = None) -> Jobs:
        """Return where models are fitted: on a cluster if the engine is one, else in threads."""
        engine = as_settings("engine", self.engine)
        client = find_client(engine.name, engine.client)
        return Jobs(n_jobs or count_threads(self.n_jobs), client)

    def _evaluator(
        self, data: FitData, n_jobs: int, folds: tuple[Fold, ...] | None = None
    ) -> HoldoutEvaluator | None:
        """Return an evaluator, or None where nothing is held out; by default of folds by `cv`."""
        fewest = as_settings("knn", self.knn).n_neighbors + 2
        if folds is None:
            folds = make_folds(data.encoded, self.cv, data.seed, fewest=fewest, groups=data.groups)
        if not folds:
            return None
        table = data.table
        models = self._models(data.encoded, data.seed, table)
        metric = Metric(self._budget_of(data.rule).metric_for(data.facts))
        jobs = self._jobs(n_jobs)
        evaluator = HoldoutEvaluator(data.encoded, folds, models, metric, jobs, data.groups, table)
        evaluator.notes = (
            *note_few_groups(evaluator.clusters),
            *note_divided_groups(data.groups, ((fold.train, fold.test) for fold in folds)),
            *note_repeated_rows(data.encoded, folds),
            *note_weights(evaluator.weights),
        )
        return evaluator

    @contextmanager
    def _keeping_path(
        self, data: FitData, paths: Mapping[str, SelectionPath], **known: Any
    ) -> Iterator[None]:
        """Keep a path where the engine is lost after the searches; see `_keep_partial`."""
        try:
            yield
        except EngineLostError as error:
            measured = [one for one in paths.values() if not np.isnan(one.information).any()]
            error.path = (measured or list(paths.values()))[0]
            if measured:
                self._keep_partial(data, error, **known)
            raise

    def _models(self, encoded: Encoded, seed: int, table: Any) -> tuple[HoldoutModel, ...]:
        """Return the models that evaluate; those of the user can be fitted to the user's table."""
        models = named_models(self.models, encoded.target.task, encoded.n_rows, seed)
        if encoded.weights is not None and isinstance(self.models, str):
            models = tuple(model for model in models if model.takes_weights)
        return prepare_models(models, table, encoded)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which of `sample_weight` and `groups` go to the splitter and the models."""
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = MethodMapping()
        for caller in ("fit", "fit_transform"):
            mapping.add(caller=caller, callee="split")
        router.add(splitter=self.cv, method_mapping=mapping)
        mapping = MethodMapping()
        for caller in ("fit", "fit_transform"):
            mapping.add(caller=caller, callee="fit")
        listed = () if isinstance(self.models, str) else self.models
        for place, item in enumerate(listed):
            model = item[1] if isinstance(item, tuple) and len(item) == 2 else item
            if not isinstance(model, str):
                router.add(**{f"model {place}": model}, method_mapping=mapping)
        return router

    def _check_routing(self, **metadata: Any) -> None:
        """Refuse, as scikit-learn does, what models do not say whether they request it."""
        given = {name: value for name, value in metadata.items() if value is not None}
        if given and get_config()["enable_metadata_routing"]:
            process_routing(self, "fit", **given)

    def _choose(
        self,
        data: FitData,
        path: SelectionPath,
        comparison: Comparison | None,
        settings: KNNSearchSettings,
        notes: Notes = (),
    ) -> Self:
        """Cut the path, or take the set that held-out rows support, and set the attributes."""
        if comparison is None:
            path = measure_sets(path, data.encoded, settings)
            decision = data.rule.decide(path, data.facts)
            attributes = self._attributes(data, path, decision, notes=notes)
            if TOO_FEW in notes:
                own = attributes["certificate_"]
                attributes["certificate_"] = replace(own, label=TOO_FEW_ROWS)
            return self._set_fitted(attributes)
        result, decision = comparison.choose(data.rule)
        path = measure_sets(path, data.encoded, settings)  # that of the chosen search
        decision = replace(decision, notes=decision.notes + comparison.notes)
        certificate = crossfit_certificate(comparison, result, data.rule, decision)
        if certificate.verdict in ("inconclusive", "not met"):
            certificate = replace(
                certificate, notes=(*certificate.notes, Note("chosen by information"))
            )
        certificate = self._with_given_order(certificate, result.search)
        decision = replace(decision, notes=certificate.notes)
        return self._set_fitted(
            self._attributes(
                data, path, decision, certificate=certificate, comparison=comparison, notes=notes
            )
        )
