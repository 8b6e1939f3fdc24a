"""What all selectors share: the scikit-learn side, and what a fit leaves behind."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from pinsker._compat import Interval, StrOptions, check_columns, output_container, require
from pinsker._notes import Note, Notes
from pinsker._types import (
    AnyArray,
    Axes,
    BoolArray,
    ColumnChoice,
    Estimator,
    Fields,
    HasColumns,
    HasName,
    IntArray,
    ListsByName,
    Missing,
    TableLike,
    TargetLike,
    Unchecked,
)
from pinsker.encoding import Profile, frame_of, is_dask, is_dask_frame, is_frame, is_lazy_frame
from pinsker.engine import ENGINES, SETTINGS, as_settings
from pinsker.exceptions import DataError, DataTypeError, ParameterError
from pinsker.holdout import Certificate, Comparison, CVResults, FitContext, path_certificate
from pinsker.metrics import (
    MetricLike,
    check_metric,
    metric_name,
    rare_class_note,
    several_targets_note,
)
from pinsker.search import Decision, ErrorBudget, FeatureCount, SelectionPath, StoppingRule
from pinsker.selectors._progress import CallbackSupportMixin

_LOG = logging.getLogger("pinsker")


@dataclass(frozen=True, eq=False)
class FitRecord:
    """What methods need of a fit beside its public attributes."""

    seed: int = 0  # of everything random
    comparison: Comparison | None = None  # what held-out rows say; None where none were held out
    row_hashes: AnyArray | None = None  # of the rows that were read
    weighted: bool = False
    grouped: bool = False  # whether groups were given to `fit`
    profile: Profile | None = None  # of the rows that were read; None of another version's file
    row_columns: Mapping[str, str] = field(default_factory=dict)  # columns about rows, of a command
    certified: Certificate | None = None  # of `with_certified`
    fingerprint: str = ""  # digest of what the path depends on
    given_orders: tuple[str, ...] = ()  # paths that the user gave, and no rows were searched for
    #: How many rows the last `certify` saw, and the smallest of their hashes.
    last_certified: tuple[int, AnyArray] | None = None

    @property
    def known_rows(self) -> AnyArray | None:
        """Hashes that rows can be compared with: those of another version's file are others."""
        return None if self.profile is None else self.row_hashes


def fitted_attributes(
    context: FitContext,
    n_columns: int,
    path: SelectionPath,
    decision: Decision,
    *,
    certificate: Certificate | None = None,
    comparison: Comparison | None = None,
    before: Notes = (),
    notes: Notes = (),
) -> Fields:
    """Return the attributes of a selector; notes `before` are put before those of the decision."""
    encoded, facts, budget = context.encoded, context.facts, context.budget
    growth = tuple(float(value) for value in budget.growth(path, facts))
    path = path.with_bounds(growth, metric_name(budget.metric_for(facts)))
    columns = encoded.feature_columns
    ranking = ranks(columns, path, decision.size, n_columns)
    if certificate is None:
        certificate = path_certificate(path, context.rule, decision, facts, encoded.n_rows)
    if context.origin:
        certificate = replace(certificate, rows=f"{certificate.rows} ({context.origin})")
    about = (
        *context.notes,
        *encoded.notes,
        *several_targets_note(encoded.target, budget.metric),
        *rare_class_note(encoded.target, budget.metric, encoded.weights),
    )
    if context.costs is not None:
        cost = context.costs.of(path.order[: decision.size])
        full = context.costs.of(range(encoded.n_features))
        notes = (*notes, Note("cost", figures={"kept": cost, "all": full}))
    name = context.user_data.get("y")
    if isinstance(name, HasColumns):  # the target's: of a series, of columns, or the text itself
        name = ", ".join(str(one) for one in name.columns)
    name = name.name if isinstance(name, HasName) else name if isinstance(name, str) else None
    planned = () if path.plan is None else tuple(path.plan.notes)
    profile = encoded.profile and replace(encoded.profile, compared=encoded.columns.names)
    record = FitRecord(
        context.seed, comparison, encoded.hashes, weighted=encoded.weights is not None,
        grouped=context.groups is not None and not context.copies, profile=profile,
        fingerprint=context.fingerprint,
    )  # fmt: skip
    return {
        "facts_": facts,
        "task_": encoded.target.task,
        "target_name_": None if name is None else str(name),
        "n_samples_fit_": encoded.n_rows,
        "feature_columns_": columns,
        "path_": path,
        "support_": ranking == 1,
        "ranking_": ranking,
        "certificate_": certificate,
        "cv_results_": comparison.to_arrays(columns, n_columns) if comparison else CVResults(),
        "front_": comparison.front if comparison else [],
        "notes_": (*about, *before, *planned, *decision.notes, *notes),
        "stability_": None,
        "importance_": None,
        "_record": record,
    }


def set_fitted(selector: Estimator, attributes: Fields) -> None:
    """Set the fitted attributes: the only place that does."""
    for name, value in attributes.items():
        setattr(selector, name, value)
    _LOG.info("%s: %s", type(selector).__name__, selector.certificate_)


def ranks(
    feature_columns: tuple[tuple[int, ...], ...], path: SelectionPath, size: int, n_columns: int
) -> IntArray:
    """Return the rank of every column: 1 of those that stay; those of no feature rank last."""
    left = len(path.order) - size
    rank = np.full(len(feature_columns), left + 2, dtype=np.int64)
    rank[list(path.order[size:])] = 2 + np.arange(left)
    rank[list(path.order[:size])] = 1
    spread = np.full(n_columns, left + 3, dtype=np.int64)
    for columns, value in zip(feature_columns, rank, strict=True):
        spread[list(columns)] = value
    return spread


def transform_frame(
    selector: Estimator, X: TableLike, kept: IntArray, names: list[str]
) -> TableLike:
    """Take the columns that stay of a frame, which may hold them alone."""
    if is_lazy_frame(X) and names:
        return X.select([names[j] for j in kept])
    if not isinstance(X, HasColumns):
        raise DataError("Expected 2D array, got a series instead: X needs rows and columns.")
    given = [str(name) for name in X.columns]
    wanted = [names[j] for j in kept] if names else []
    some = names and not set(names) <= set(given)  # of the columns of `fit`
    missing = [name for name in wanted if name not in given]
    if some and not missing:
        kept = np.array([given.index(name) for name in wanted], dtype=np.int64)
    elif some and set(given) <= set(names):
        raise ValueError(
            "The feature names should match those that were passed during fit, or hold those "
            f"that stay: {missing[0]!r} is missing."
        )
    else:
        check_columns(selector, X)
    taken, wanted_type = frame_of(X)[:, [int(j) for j in kept]], output_container(selector)
    if wanted_type == "pandas":
        return taken.to_pandas()
    if wanted_type == "polars" and not taken.implementation.is_polars():
        polars = require("polars", purpose='set_output(transform="polars")')
        try:
            return polars.from_pandas(taken.to_pandas())
        except Exception as error:  # of Arrow or polars, for types that they do not have
            raise DataTypeError(
                f"the columns that stay cannot be made a polars frame ({error}): use "
                'set_output(transform="default").'
            ) from error
    return taken.to_native()


def as_cells(X: TableLike) -> TableLike:
    if not isinstance(X, (list, tuple, np.matrix)):
        return X
    try:
        return np.asarray(X)
    except ValueError as error:
        raise DataError(f"X is no table, its rows differ in length: {error}") from error


def transform_dask(
    selector: Estimator, X: TableLike, kept: IntArray, names: list[str]
) -> TableLike:
    """Take the columns that stay, without computing any."""
    if (wanted := output_container(selector)) != "default":
        raise ParameterError(
            f'set_output(transform="{wanted}") cannot hold a Dask collection: use "default", '
            "or pass X.compute()."
        )
    if not is_dask_frame(X):
        if X.shape[1] != selector.n_features_in_:
            raise DataError(
                f"X has {X.shape[1]} features, but {type(selector).__name__} is expecting "
                f"{selector.n_features_in_} features as input."
            )
        return X[:, kept]
    columns = [(names or list(X.columns))[j] for j in kept]
    if not set(columns) <= set(X.columns):
        check_columns(selector, X._meta)
    return X[columns]


#: Changes with the attributes of a fitted selector; the pickles of version 0.1 have no number.
PICKLE_FORMAT = 3


@dataclass(kw_only=True, eq=False, repr=False)
class Selector(
    CallbackSupportMixin,  # type: ignore[misc]
    SelectorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base class of selectors that search a path and cut it with a stopping rule."""

    # A selector is a dataclass whose fields are its parameters: `__init__` follows from them.
    metric: MetricLike = "auto"
    fixed_features: ColumnChoice = None
    feature_groups: ColumnChoice = None
    categorical_features: ColumnChoice = "from_dtype"
    missing: Missing = "error"
    verbose: int = 0

    _parameter_constraints: ClassVar[ListsByName] = {
        "error_budget": [Interval(Real, 0, None, closed="left"), StoppingRule],
        "categorical_features": "no_validation",  # type: ignore[dict-item]
        "missing": [StrOptions({"auto", "error", "drop", "category"})],
        "feature_groups": "no_validation",  # type: ignore[dict-item]
        "fixed_features": ["array-like", None],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
    }
    warm_start = False  # of selectors without this parameter: every fit begins anew
    _record = FitRecord()

    # ------------------------------------------------------------------ as scikit-learn knows it

    def get_params(self, deep: bool = True) -> Fields:
        """Return the parameters; with `deep` also those inside of `knn` and `engine`."""
        params: Fields = super().get_params(deep=deep)
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
        inside = [key for key in params if any(key.startswith(f"{name}__") for name in own)]
        nested = {key: params.pop(key) for key in inside}
        super().set_params(**params)
        for key, value in nested.items():
            name, _, part = key.partition("__")
            settings = as_settings(name, getattr(self, name))
            setattr(self, name, settings.replace_params(**{part: value}))
        return self

    def inverse_transform(self, X: TableLike) -> TableLike:
        """Return all columns: zeros where features were dropped; gaps stay what they are."""
        with config_context(assume_finite=True):  # scikit-learn's refuses them, whatever the tags
            try:
                return super().inverse_transform(X)
            except (TypeError, ValueError):  # dates beside numbers; sparse columns filled with NaN
                return super().inverse_transform(np.asarray(X, dtype=object))

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

    def __getstate__(self) -> Fields:
        """Return what a pickle holds, with the number of its format."""
        return {**super().__getstate__(), "_pickle_format": PICKLE_FORMAT}

    def __setstate__(self, state: Fields) -> None:
        """Restore a selector; pickles of version 0.1 come here first."""
        _check_format(type(self), state.pop("_pickle_format", 1))
        super().__setstate__(state)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Return what Dask names calls by: of a dataclass it looks at the parameters alone."""
        normalize = require("dask.base", purpose="a name for Dask", extra="dask").normalize_token
        return type(self).__qualname__, normalize(self.__getstate__())

    # ------------------------------------------------------------------ what a fitted one offers

    def support_at(
        self,
        *,
        error_budget: float | StoppingRule | None = None,
        n_features: int | None = None,
        confidence: float | None = None,
    ) -> BoolArray:
        """Return which columns stay under another budget or number, without fitting again.

        Parameters
        ----------
        error_budget : float or StoppingRule, optional
            Another budget, in the metric of `fit`, or another stopping rule.
        n_features : int, optional
            Or a number of features.
        confidence : float, optional
            Another confidence than that of `fit`.

        Returns
        -------
        ndarray of shape (n_features_in_,), bool
        """
        check_is_fitted(self)
        if (error_budget is None) == (n_features is None):
            raise ParameterError("support_at takes an error_budget or n_features, and not both.")
        if n_features is not None:
            kept = self._kept_by(FeatureCount(n_features))
            if len(kept) != n_features:
                raise ParameterError(
                    f"no path of this selector reaches {n_features} features, but "
                    f"{len(kept)}: fit with error_budget=FeatureCount({n_features}).",
                    parameter="n_features",
                )
            return self._columns(kept)
        rule = self._rule()
        if isinstance(rule, ErrorBudget) and not isinstance(error_budget, StoppingRule):
            rule = replace(rule, delta=error_budget or 0.0)
        else:
            rule = self._rule(error_budget)
        if confidence is not None and isinstance(rule, ErrorBudget):
            rule = replace(rule, confidence=confidence)
        return self._columns(self._kept_by(rule))

    def transform(self, X: TableLike) -> TableLike:
        """Reduce a table to the columns that stay.

        Parameters
        ----------
        X : array-like, frame or Dask collection of shape (n_samples, n_features)
            With the columns of `fit`; of a frame with names the kept ones are enough.

        Returns
        -------
        array, frame or Dask collection of shape (n_samples, n_kept)
            In the container that was given; nothing of a Dask collection is computed.
        """
        check_is_fitted(self)
        kept = self.get_support(indices=True)
        names = list(vars(self).get("feature_names_in_", ()))
        if is_dask(X):
            return transform_dask(self, X, kept, names)
        if is_frame(X):
            return transform_frame(self, X, kept, names)
        try:
            return super().transform(as_cells(X))  # by scikit-learn, which looks at the cells
        except (ArithmeticError, UnicodeError) as error:  # a signaling NaN, half a surrogate pair
            raise DataError(f"X holds a cell that cannot be read ({error}): replace it.") from error
        except TypeError as error:  # durations without a unit
            raise DataTypeError(
                f"X holds cells that cannot be read ({error}): give numbers or text."
            ) from error

    def report(
        self, path: Any = None, *, X: TableLike = None, y: TargetLike = None, **findings: Any
    ) -> Any:
        """Describe the choice in one HTML page that needs no network.

        Parameters
        ----------
        path : str or path-like, optional
            Where to write it.
        X, y : optional
            The table and target of `fit`, which a selector does not keep: with them the page also
            shows what each feature carries, and how every column was read.
        **findings
            More to show: ``importance``, ``substitutes``, ``alternatives``, ``stability`` and
            ``interactions``, what these functions returned; ``source``, where the table is from.

        Returns
        -------
        Report
            With ``save(path)``, ``open()`` and ``html``; see ``docs/report.md``.
        """
        check_is_fitted(self)
        from pinsker.report import report  # upwards, when called: selectors offer their own views

        return report(self, path, X=X, y=y, **findings)

    def plot(self, kind: str = "increase", *, ax: Axes = None) -> Axes:
        """Draw the choice with matplotlib.

        Parameters
        ----------
        kind : {"increase", "path", "bound", "budget", "certificate"}, default="increase"
            The error increase by the number of features; the information on the path; its bound;
            error increase and number of features by the budget; or the certificate.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        ErrorIncreaseDisplay, SelectionPathDisplay, BoundDisplay, BudgetDisplay or \
        CertificateDisplay
        """
        check_is_fitted(self)
        from pinsker.report import plot

        return plot(self, kind, ax=ax)

    def _rule(self, budget: Unchecked = None) -> StoppingRule:
        """Return the stopping rule that a budget stands for: by default that of the parameters."""
        budget = self.error_budget if budget is None else budget
        metric: MetricLike = check_metric(self.metric)
        if not isinstance(budget, StoppingRule):
            return ErrorBudget(float(budget), metric=metric)
        if not isinstance(budget, ErrorBudget) or metric == "auto":
            return budget
        if budget.metric not in ("auto", metric):
            raise ParameterError(
                f"metric={metric!r}, but {budget} has another one: leave one of them out."
            )
        return replace(budget, metric=metric)

    def _kept_by(self, rule: StoppingRule) -> tuple[int, ...]:
        comparison = self._record.comparison
        if comparison is None:
            path: SelectionPath = self.path_
            return path.set_at(rule.size(path, self.facts_))
        result, decision = comparison.choose(rule)
        return comparison.paths[result.search].order[: decision.size]

    def _columns(self, features: tuple[int, ...]) -> BoolArray:
        mask = np.zeros(self.n_features_in_, dtype=np.bool_)
        for feature in features:
            mask[list(self.feature_columns_[feature])] = True
        return mask

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return np.asarray(self.support_)

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # scikit-learn's own is a property that is absent when its display is text: so is ours.
        diagram = super()._repr_html_
        return lambda: _card(self) + diagram()

    def _repr_mimebundle_(self, **kwargs: Any) -> Fields:
        bundle: Fields = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = _card(self) + bundle["text/html"]
        return bundle


def _card(selector: Selector) -> str:
    try:
        check_is_fitted(selector)
    except NotFittedError:
        return ""
    from pinsker.report import card

    return card(selector)


def _new_selector(kind: type[Selector], found: int) -> Selector:
    _check_format(kind, found)
    return kind.__new__(kind)


def _check_format(kind: type[Selector], found: int) -> None:
    """Refuse the pickle of a version whose selectors have other attributes."""
    if found != PICKLE_FORMAT:
        raise DataError(
            f"this {kind.__name__} was pickled by another version of pinsker (format {found}, this "
            f"one reads {PICKLE_FORMAT}): fit it again with this version."
        )
