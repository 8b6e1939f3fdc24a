"""What all selectors share: the scikit-learn side of a search."""

import logging
import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from pinsker._compat import Interval, StrOptions, validate_data
from pinsker._notes import Note, Notes
from pinsker._types import IntArray, Scale
from pinsker.bounds import TargetFacts
from pinsker.encoding import (
    Encoded,
    columns_to_read,
    encode,
    find_features,
)
from pinsker.engine import ENGINES, SETTINGS, as_settings
from pinsker.exceptions import DataError, EngineLostError, ParameterError, PinskerWarning
from pinsker.holdout import Certificate, Comparison, CVResults, path_certificate
from pinsker.metrics import (
    Metric,
    MetricLike,
    check_metric,
    metric_name,
    rare_class_note,
    several_targets_note,
    task_of,
)
from pinsker.search import (
    Decision,
    Direction,
    ErrorBudget,
    SearchInterrupted,
    SelectionPath,
    StoppingRule,
    Trace,
)
from pinsker.selectors._fit_data import (
    FitData,
    fingerprint,
    level_of_caller,
)
from pinsker.selectors._progress import CallbackSupportMixin, Progress, ProgressLine
from pinsker.selectors._transformer import SelectionTransformer

_LOG = logging.getLogger("pinsker")
#: Changes with the attributes of a fitted selector; the pickles of version 0.1 have no number.
PICKLE_FORMAT = 3


class InformationSelector(
    CallbackSupportMixin,  # type: ignore[misc]
    SelectionTransformer,
    BaseEstimator,  # type: ignore[misc]
):
    """Base class of selectors that search a path and cut it with a stopping rule."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "error_budget": [Interval(Real, 0, None, closed="left"), StoppingRule],
        "categorical_features": "no_validation",  # type: ignore[dict-item]
        "missing": [StrOptions({"auto", "error", "drop", "category"})],
        "feature_groups": "no_validation",  # type: ignore[dict-item]
        "fixed_features": ["array-like", None],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
    }

    # ------------------------------------------------------------------ as scikit-learn knows it

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep` also those inside of `knn` and `engine`."""
        params: dict[str, Any] = super().get_params(deep=deep)
        for name in [name for name in SETTINGS if deep and name in params]:
            value = params[name]
            named = isinstance(value, str) and name == "engine" and value in ENGINES
            if value is None or named or isinstance(value, SETTINGS[name]):  # `fit` checks the rest
                settings = as_settings(name, value)
                params |= {f"{name}__{key}": held for key, held in settings.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; nested names such as ``knn__n_neighbors`` replace frozen settings."""
        own = [name for name in SETTINGS if name in self._get_param_names()]
        nested = {
            key: params.pop(key)
            for key in list(params)
            if any(key.startswith(f"{name}__") for name in own)
        }
        super().set_params(**params)
        for key, value in nested.items():
            name, _, part = key.partition("__")
            settings = as_settings(name, getattr(self, name))
            setattr(self, name, settings.replace_params(**{part: value}))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make an empty selector of this format, and what a pickle holds."""
        return _new_selector, (type(self), PICKLE_FORMAT), self.__getstate__()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds, with the number of its format."""
        return {**super().__getstate__(), "_pickle_format": PICKLE_FORMAT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a selector; pickles of version 0.1 come here first."""
        _check_format(type(self), state.pop("_pickle_format", 1))
        super().__setstate__(state)

    # ------------------------------------------------------------------ the steps of a fit

    def _own_rule(self) -> StoppingRule:
        """Return the stopping rule of the parameters."""
        return self._rule_of(self.error_budget)

    def _rule_of(self, budget: Any) -> StoppingRule:
        """Return the stopping rule that a budget stands for."""
        metric: MetricLike = check_metric(getattr(self, "metric", "auto"))
        if not isinstance(budget, StoppingRule):
            return ErrorBudget(float(budget), metric=metric)
        if not isinstance(budget, ErrorBudget) or metric == "auto":
            return budget
        if budget.metric not in ("auto", metric):
            raise ParameterError(
                f"metric={metric!r}, but {budget} has another one: leave one of them out.",
            )
        return replace(budget, metric=metric)

    def _encode(
        self, X: Any, y: Any, metric: Any, scale: Scale, sample_weight: Any = None
    ) -> Encoded:
        """Let the user's data through the gate, and note its columns."""
        columns = columns_to_read(X, self.fixed_features, self.feature_groups)
        encoded = encode(
            X,
            y,
            task=task_of(metric),
            **self._encoding(),
            scale=scale,
            columns=columns,
            sample_weight=sample_weight,
        )
        validate_data(self, X, skip_check_array=True)
        return encoded

    def _encoding(self) -> dict[str, Any]:
        return {
            "categorical_features": self.categorical_features,
            "missing": self.missing,
            "feature_groups": self.feature_groups,
        }

    def _data(
        self,
        encoded: Encoded,
        facts: TargetFacts,
        rule: StoppingRule,
        X: Any,
        y: Any,
        *,
        seed: int = 0,
        search: tuple[Any, ...] = (),
    ) -> FitData:
        """Check the rule against the table before anything is searched."""
        fixed = find_features(encoded, self.fixed_features, "fixed_features")
        rule.check(encoded.n_features, len(fixed), facts)
        if isinstance(rule, ErrorBudget):
            self._check_metric(rule, encoded, facts)
        digest = fingerprint(encoded, type(self).__name__, fixed, seed, *search) if search else ""
        return FitData(encoded, facts, rule, fixed, {"X": X, "y": y}, seed, digest, table=X)

    def _check_metric(self, rule: ErrorBudget, encoded: Encoded, facts: TargetFacts) -> None:
        """Refuse a metric that the target has no use for, or that nothing here can decide."""
        metric = Metric(rule.metric_for(facts))
        if facts.task == encoded.target.task:  # a linear model takes all targets for numbers
            metric.check(encoded.target)
        proven = rule.has_theory and metric.has_theory
        if not proven and not getattr(self, "holds_out", False):
            holds = "set cv=5" if hasattr(self, "cv") else "use FeatureSelector"
            other = f", or use a budget in metric={facts.default_metric!r}"
            raise ParameterError(
                f"{rule} is decided by held-out rows alone, and {type(self).__name__} holds none "
                f"out: {holds}{'' if facts.task == 'survival' else other}.",
                parameter="metric",
            )

    def _progress(
        self, data: FitData, direction: Direction, n_moves: int, score: str = "difference"
    ) -> Progress:
        """Open the progress of a fit that is one search."""
        budget = self._budget_of(data.rule)
        bound = budget.bound(data.facts)
        line = ProgressLine(
            type(self).__name__,
            n_moves,
            lambda lost: float(bound.growth(lost)),
            metric_name(budget.metric_for(data.facts)),
            grows=direction == "forward",
        )

        def attributes(trace: Trace) -> dict[str, Any]:
            names, n_fixed = data.encoded.feature_names, len(data.fixed)
            path = trace.path(direction, names, score, n_fixed=n_fixed)
            return self._attributes(data, path, data.rule.decide(path, data.facts))

        return Progress(
            self,
            data.user_data,
            n_moves,
            line=line if self.verbose else None,
            attributes=attributes,
            direction=direction,
        )

    def _search(
        self,
        data: FitData,
        search: Callable[[SelectionPath | None], SelectionPath],
    ) -> tuple[SelectionPath, bool]:
        """Run a search, or go on with an earlier one; return its path and if it was interrupted."""
        same = getattr(self, "_fingerprint", None) == data.fingerprint
        earlier = self.path_ if self.warm_start and same else None
        try:
            return search(earlier), False
        except EngineLostError as error:
            self._keep_partial(data, error)
            raise
        except SearchInterrupted as interrupted:
            warnings.warn(
                f"{type(self).__name__}.fit was interrupted after {len(interrupted.path.moves)} "
                "steps<: path_ holds the sets seen so far. Fit again with warm_start=True to go "
                "on|>.",
                PinskerWarning,
                stacklevel=level_of_caller(),
            )
            return interrupted.path, True

    def _keep_partial(self, data: FitData, error: EngineLostError, **known: Any) -> None:
        """Keep what is known of a path whose engine was lost, and say so in the error."""
        path = error.path
        if path is None:
            return
        decision = known.pop("decision", None) or data.rule.decide(path, data.facts)
        self._set_fitted(self._attributes(data, path, decision, **known))
        again = "."
        if hasattr(self, "warm_start"):
            again = "<: fit again with warm_start=True, and another engine or client, to go on|>."
        lost = EngineLostError(
            f"{error.said} path_ holds the sets seen in {len(path.moves)} steps{again}"
        )
        lost.path = path
        raise lost from error

    def _attributes(
        self,
        data: FitData,
        path: SelectionPath,
        decision: Decision,
        *,
        certificate: Certificate | None = None,
        comparison: Comparison | None = None,
        before: Notes = (),
        notes: Notes = (),
    ) -> dict[str, Any]:
        """Return the fitted attributes of a selector that keeps so many features of a path."""
        encoded, facts, rule = data.encoded, data.facts, data.rule
        budget = self._budget_of(rule)
        growth = tuple(float(value) for value in budget.growth(path, facts))
        path = path.with_bounds(growth, metric_name(budget.metric_for(facts)))
        columns = encoded.feature_columns
        ranking = ranks(columns, path, decision.size, self.n_features_in_)
        if certificate is None:
            certificate = path_certificate(path, rule, decision, facts, encoded.n_rows)
        if data.origin:
            certificate = replace(certificate, rows=f"{certificate.rows} ({data.origin})")
        about_rows = data.notes + encoded.notes
        before = (*rare_class_note(encoded.target, budget.metric, encoded.weights), *before)
        before = (*several_targets_note(encoded.target, budget.metric), *before)
        if data.costs is not None:
            cost = data.costs.of(path.order[: decision.size])
            full = data.costs.of(range(encoded.n_features))
            notes = (*notes, Note("cost", figures={"kept": cost, "all": full}))
        cv_results = CVResults()
        if comparison is not None:
            cv_results = comparison.to_arrays(columns, self.n_features_in_)
        return {
            "facts_": facts,
            "task_": encoded.target.task,
            "target_name_": _name_of(data.user_data.get("y")),
            "n_samples_fit_": encoded.n_rows,
            "feature_columns_": columns,
            "path_": path,
            "support_": ranking == 1,
            "ranking_": ranking,
            "certificate_": certificate,
            "cv_results_": cv_results,
            "front_": [] if comparison is None else comparison.front,
            "notes_": about_rows + before + _plan_notes(path) + decision.notes + notes,
            "stability_": None,
            "importance_": None,
            "_comparison": comparison,
            "_seed": data.seed,
            "_row_hashes": encoded.hashes,
            "_weighted": encoded.weights is not None,
            "_certified": None,
            "_fingerprint": data.fingerprint,
        }

    def _set_fitted(self, attributes: dict[str, Any]) -> Self:
        """Set the fitted attributes: the only place that does."""
        for name, value in attributes.items():
            setattr(self, name, value)
        _LOG.info("%s: %s", type(self).__name__, self.certificate_)
        return self

    def _budget_of(self, rule: StoppingRule) -> ErrorBudget:
        """Return the budget that a path's bounds are computed with."""
        if isinstance(rule, ErrorBudget):
            return rule
        default = self._rule_of(0.0)
        assert isinstance(default, ErrorBudget)
        return default

    def _kept_by(self, rule: StoppingRule) -> tuple[int, ...]:
        """Return the features that a rule keeps."""
        comparison: Comparison | None = self._comparison
        if comparison is None:
            path: SelectionPath = self.path_
            return path.set_at(rule.size(path, self.facts_))
        result, decision = comparison.choose(rule)
        return comparison.paths[result.search].order[: decision.size]


def _new_selector(kind: type[InformationSelector], found: int) -> InformationSelector:
    """Make an empty selector for the state of a pickle."""
    _check_format(kind, found)
    return kind.__new__(kind)


def _check_format(kind: type[InformationSelector], found: int) -> None:
    """Refuse the pickle of a version whose selectors have other attributes."""
    if found != PICKLE_FORMAT:
        raise DataError(
            f"this {kind.__name__} was pickled by another version of pinsker (format {found}, this "
            f"one reads {PICKLE_FORMAT}): fit it again with this version."
        )


def ranks(
    feature_columns: tuple[tuple[int, ...], ...], path: SelectionPath, size: int, n_columns: int
) -> IntArray:
    """Return the rank of every column: 1 for those that stay, more for those that go earlier."""
    left = len(path.order) - size
    rank = np.full(len(feature_columns), left + 2, dtype=np.int64)
    rank[list(path.order[size:])] = 2 + np.arange(left)
    rank[list(path.order[:size])] = 1
    spread = np.full(n_columns, left + 3, dtype=np.int64)
    for columns, value in zip(feature_columns, rank, strict=True):
        spread[list(columns)] = value
    return spread


def _name_of(y: Any) -> str | None:
    """Return the name of a target: of a series, of the columns of a frame, or the name itself."""
    columns = getattr(y, "columns", None)
    if columns is not None:
        return ", ".join(str(name) for name in columns)
    name = y if isinstance(y, str) else getattr(y, "name", None)
    return None if name is None else str(name)


def _plan_notes(path: SelectionPath) -> Notes:
    return () if path.plan is None else tuple(path.plan.notes)
