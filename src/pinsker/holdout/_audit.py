"""An audit: what the user's own model loses by the choice of features."""

import json
import math
import warnings
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, TimeSeriesSplit
from sklearn.utils.validation import check_is_fitted

from pinsker._compat import check_columns, classes_of, method_of
from pinsker._notes import Note, Notes
from pinsker._types import (
    AnyArray,
    ColumnChoice,
    CrossValidation,
    Estimator,
    Fields,
    FloatArray,
    HasBudget,
    IntArray,
    MetricChoice,
    RowLabels,
    Selector,
    Splitter,
    TableLike,
    TargetLike,
    Task,
    plain,
)
from pinsker.bounds import TargetFacts, few_rows_decide
from pinsker.encoding import (
    Encoded,
    Profile,
    draw_rows,
    encode,
    encode_target,
    is_dask,
    is_frame,
    is_stream,
    missing_targets,
    profile_of,
    read_array,
    take,
)
from pinsker.exceptions import DataError, DataWarning, ParameterError
from pinsker.holdout._certificate import CROSS_VALIDATED, ESTIMATE, HELD_OUT, weights_of
from pinsker.holdout._certify import FEWEST_CERTIFIED, note_few_rows
from pinsker.holdout._evaluate import mean_of_rows, rows_once
from pinsker.holdout._rows import (
    Fold,
    blocks_of_time,
    compare_with_fit,
    demand_labels,
    group_copies,
    note_divided_groups,
    note_emptied,
    note_few_groups,
    note_repeated_rows,
    number_groups,
    one_label_per_row,
    read_division,
    warn_of,
    warn_of_known_rows,
    without_weightless,
)
from pinsker.metrics import METRICS, Metric, task_of, weighted_rows
from pinsker.models import (
    HoldoutModel,
    able_to_fit,
    as_table,
    column_names,
    fit_clone,
    grid_times,
    log_softmax,
    of_columns,
    one_hot,
    outputs,
    predicted_classes,
    several_class_scores,
    survival_predictions,
    take_columns,
    task_of_model,
)
from pinsker.search import ErrorBudget, read_budget

#: Where cross-validated models hardly predict better than none, errors vary by up to three of their
#: standard errors, elsewhere by 1.2: bounds were wrong in 16 to 34 % (calibration.py, audit of
#: interactions and of rare signs). It is an estimate where a gain this much wider is not shown.
_WIDENING_OF_CHANCE = 3.5
#: This many training rows leave probabilities as they are.
_CERTAIN = 1e15
#: What features are held against: the most frequent class, and the mean.
MODELS_OF_NOTHING = {"classification": DummyClassifier(), "regression": DummyRegressor()}
#: Rows of a Dask collection that are computed at most.
_MOST_OF_DASK = 150_000


class Fit(NamedTuple):
    """A fitted model, rows that it predicts, their positions, and the rows it was fitted to."""

    model: Estimator
    part: TableLike
    rows: IntArray
    train: TableLike


@dataclass(frozen=True)
class AuditResult:
    """The error of one model with all and with the kept features.

    Attributes
    ----------
    model : str
        Class of the model.
    metric : str
        Metric of the errors.
    budget : float
        Error increase that was accepted; NaN when the selector has no budget in this metric.
    confidence : float
        Of each confidence bound by itself.
    n_rows, n_groups : int
        Rows of the test, and groups of them (0 if every row is one of its own).
    n_kept, n_features : int
        Columns kept, and those that they are compared with: all, unless others were given.
    error_all, error_kept : float
        Mean loss with the columns compared with and with those kept, of the worst target if asked.
    increase, increase_lower, increase_upper : float
        Their paired difference with its one-sided confidence bounds, of the worst target if asked.
    gain_lower : float
        Lower confidence bound of the error without any features minus the smaller of the others.
    notes : tuple of Note
        What differs from the fit, and what makes the bounds an estimate.
    n_labels : int
        Rows with a label, where not all have one; errors are then not known, but their difference.
    n_folds : int
        Folds of the test rows that the model was cross-validated on; 0 if it had training rows.
    """

    model: str
    metric: str
    budget: float
    confidence: float
    n_rows: int
    n_kept: int
    n_features: int
    error_all: float
    error_kept: float
    increase: float
    increase_lower: float
    increase_upper: float
    n_groups: int = 0
    gain_lower: float = math.inf
    notes: Notes = ()
    compared: str = "all"  # or "others": a list of columns that was given
    n_labels: int = 0
    n_folds: int = 0

    @property
    def label(self) -> str:
        """A "hold-out" or "cross-validated estimate"; "estimate" where a note is a doubt."""
        if not weights_of(self.notes) <= {"known"}:
            return ESTIMATE
        return CROSS_VALIDATED if self.n_folds else HELD_OUT

    @property
    def within_budget(self) -> bool:
        """Whether the error increased by no more than the budget on these rows."""
        return self.increase <= self.budget

    @property
    def verdict(self) -> str:
        """What the confidence bounds say: the rule of a `Certificate`."""
        if math.isnan(self.budget):
            return "no budget"
        if self.gain_lower <= 0.0:
            return "not shown to be predictable"
        if self.increase_upper <= self.budget:
            return "inconclusive" if "untrue" in weights_of(self.notes) else "met"
        return "not met" if self.increase_lower > self.budget else "inconclusive"

    def to_dict(self) -> Fields:
        """Return all figures and the verdict as plain values."""
        about = {"notes": list(map(str, self.notes)), "verdict": self.verdict, "label": self.label}
        return {**asdict(self), "within_budget": self.within_budget, **about}

    def to_json(self) -> str:
        """Return the result as JSON text; what is not a finite number becomes null."""
        return json.dumps(plain(self.to_dict()), allow_nan=False)

    def __str__(self) -> str:
        from pinsker.report import audit_text  # upwards: it has all words

        return audit_text(self)


def audit(
    columns: Selector | ColumnChoice,
    model: Estimator,
    X_test: TableLike,
    y_test: TargetLike,
    *,
    X_train: TableLike = None,
    y_train: TargetLike = None,
    against: Selector | ColumnChoice = None,
    error_budget: float | None = None,
    metric: MetricChoice = None,
    cv: CrossValidation = None,
    sample_weight: RowLabels = None,
    groups: RowLabels = None,
    confidence: float = 0.95,
) -> AuditResult:
    """Measure what a model of the user's own loses by a choice of columns.

    Parameters
    ----------
    columns : fitted selector, list of columns or mask
        Whose price is asked for: any fitted selector with ``get_support``, names or positions of
        columns, or one bool per column.
    model : classifier, regressor or pipeline
        Anything with ``fit`` and ``predict``. Copied and fitted twice: to all columns, and to those
        kept. Text and missing values that it cannot take are encoded, with a warning.
    X_test, y_test
        Rows that the selector was not fitted to. `y_test` may be missing where two models, fitted
        to `X_train`, predict the same class (`rows_to_label` names the others). Of Dask collections
        at most 150 000 are drawn. A polars LazyFrame, a DuckDB relation or connection, or an Arrow
        stream, with the name of the target in it, is read in batches; it needs `X_train`.
    X_train, y_train : optional
        Rows to fit the model to. By default the model is cross-validated on the test rows.
    against : fitted selector, list of columns or mask, optional
        What to compare with; by default all columns.
    error_budget : float, optional
        How much the error may increase, in `metric`; by default the selector's own.
    metric : str, scorer, callable, CostMatrix or WorstTarget, optional
        Metric of the error; by default, and with "auto", that of the selector's budget, or else
        the error rate of classes and R² of numbers.
    cv : int or splitter, optional
        How the test rows are divided when no training rows are given; by default as the selector
        does if it was given a splitter, else in five.
    sample_weight, groups : array-like of shape (n_test,), optional
        Weights of the test rows, and which of them belong together.
    confidence : float, default=0.95
        Of each confidence bound by itself.

    Returns
    -------
    AuditResult

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from pinsker import FeatureSelector
    >>> from pinsker.datasets import NoisyXor
    >>> problem = NoisyXor(n_columns=6)
    >>> selector = FeatureSelector(random_state=0).fit(*problem.sample(300, seed=1))
    >>> fresh = problem.sample(500, seed=2)
    >>> audit(selector, SVC(), *fresh).within_budget
    True
    >>> audit([0, 1, 2], SVC(), *fresh, against=selector, error_budget=0.05).verdict
    'met'
    """
    own: Selector | None = columns if isinstance(columns, HasBudget) else None
    if own is not None:
        check_is_fitted(own)
    plain = own is not None and all(one is None for one in (against, cv, sample_weight, groups))
    error_budget = None if error_budget is None else read_budget(error_budget)
    given = {"metric": metric, "error_budget": error_budget, "confidence": confidence}
    if is_stream(X_test):
        from pinsker.holdout._pair import audit_stream  # which needs this file

        _check_plain(plain, f"X_test is a {type(X_test).__name__}, which is read in batches")
        return audit_stream(own, model, X_test, y_test, (X_train, y_train), **given)
    if is_dask(X_test):
        sample = draw_rows(X_test, y_test, _MOST_OF_DASK, seed=0)
        X_test, y_test, groups = sample.X, sample.y, sample.labels_of_rows(groups)
        sample_weight = sample.labels_of_rows(sample_weight, "sample_weight")
    X_test, X_train = as_table(X_test), None if X_train is None else as_table(X_train)
    n_given = X_test.shape[0]
    test = without_weightless(X_test, y_test, sample_weight, groups)
    X_test, y_test, weights, groups = test
    if X_test.shape[0] < n_given and not isinstance(cv, Integral | Splitter | None):
        raise DataError("cv lists rows, some of which weigh nothing: leave these out.")
    y, y_train = target_column(y_test), None if y_train is None else target_column(y_train)
    if y.ndim == 1 and missing_targets(y).any():
        from pinsker.holdout._labels import audit_partial  # which needs this file

        _check_plain(plain, "some test rows have no label")
        return audit_partial(own, model, X_test, y, (X_train, y_train), **given)
    cv = _own_folds(own) if cv is None else _number_of_folds(cv)
    _check_rows(len(y), X_train, y_train, cv)
    clusters = None if groups is None else number_groups(one_label_per_row(groups, len(y)))
    task = task_of_model(model) or (encode_target(y).task if own is None else own.task_)
    if metric is None or (isinstance(metric, str) and metric == "auto"):
        metric = next(iter(METRICS[task])) if own is None else own_metric(own)
    loss = Metric(metric)
    _check_task(loss, model, task)
    if task == "regression":
        TargetFacts.of(encode_target(y, task=task))  # refuses squares that are no numbers
    name = type(model).__name__
    model = able_to_fit(model, name, *((X_test, y) if X_train is None else (X_train, y_train)))
    if own is not None:
        demand_labels(own._record, sample_weight, groups)
    encoded, trained, notes = _read_tables(own, loss, task, (X_test, y_test), (X_train, y_train))
    if clusters is None and (X_train is not None or isinstance(cv, int)):
        clusters, copies = group_copies(encoded)
        notes += copies
    kept = find_columns(columns, X_test, "columns")
    others = None if against is None else find_columns(against, X_test, "against")
    everything = np.arange(X_test.shape[1])
    dropped = np.setdiff1d(everything if others is None else others, kept)
    like = None if own is None else own._record.profile
    notes += compare_training(like, encoded.profile, trained, np.setdiff1d(everything, dropped))
    divided, held_out = None, np.arange(len(y))
    if X_train is None:
        divided = _divide(task, y, cv, clusters)
        parted = note_divided_groups(clusters, divided)
        notes += tuple(replace(note, weight="doubt") for note in parted)
        notes += note_repeated_rows(encoded, [Fold(*pair) for pair in divided])
        held_out = np.concatenate([test for _, test in divided])
    rows, row_of = rows_once(held_out)
    losses = []
    names = column_names(X_test)
    compared = [(everything if others is None else others, model), (kept, model)]
    if task != "survival":
        compared.append((kept[:1], MODELS_OF_NOTHING[task]))
    for places, one in compared:
        able = of_columns(one, names, places.tolist())
        train = None if X_train is None else (take_columns(X_train, places), y_train)
        fits = _fits(able, train, take_columns(X_test, places), y, divided, weights)
        classes = y if train is None else np.asarray(y_train)
        found = losses_of_fits(loss, task, fits, y, classes, weights, clusters)
        losses.append(found if len(rows) == len(found) else mean_of_rows(found, row_of))
    clusters = None if clusters is None else clusters[rows]
    n_groups = 0 if clusters is None else len(np.unique(clusters))
    notes += tuple(replace(note, weight="doubt") for note in note_few_groups(clusters))
    if groups is None and 0 < n_groups < FEWEST_CERTIFIED:  # different rows
        notes += (Note("few rows", weight="doubt"),)
    of_rows = None if weights is None else weights[rows]
    crosses = divided is not None and len(divided) > 1
    widening = HoldoutModel.widening if crosses else 1.0
    blocks, gaps = clusters, losses[1] - losses[0]
    if isinstance(cv, TimeSeriesSplit) and clusters is None:
        blocks, doubts = blocks_of_time(gaps)
        for doubt in doubts:
            if doubt.figures["r"] > 2.0 / np.sqrt(len(rows)):  # two standard errors of none
                notes += warn_of(replace(doubt, weight="doubt"))
    if gaps.ndim == 1 and gaps.any() and not loss.row.counts and few_rows_decide(gaps):
        notes += (replace(note_few_rows(loss), weight="doubt"),)
    increase = loss.increase(losses[1], losses[0], confidence, blocks, of_rows, widening)
    gains, clear = (
        max((one.lower for prior in losses[2:] for one in loss.gains(losses[:2], prior, *known)),
            default=math.inf)
        for known in ((confidence, blocks, of_rows, factor)
                      for factor in (widening, _WIDENING_OF_CHANCE))
    )  # fmt: skip
    if crosses and clear <= 0.0:
        notes += (Note("weak model", weight="doubt"),)
    return AuditResult(
        model=name, metric=loss.name, confidence=confidence, n_rows=len(rows), n_kept=len(kept),
        budget=own_budget(own, loss) if error_budget is None else error_budget,
        n_features=len(everything if others is None else others),
        error_all=float(losses[0].mean(axis=0).max()),
        error_kept=float(losses[1].mean(axis=0).max()),
        increase=increase.mean, increase_lower=increase.lower, increase_upper=increase.upper,
        n_groups=n_groups, notes=notes,
        gain_lower=gains, compared="all" if others is None else "others",
        n_folds=0 if divided is None else len(divided),
    )  # fmt: skip


def find_columns(chosen: Selector | ColumnChoice, X: TableLike, name: str) -> IntArray:
    """Return the positions of columns that a selector, a list or a mask stands for."""
    n_columns, wrong = X.shape[1], ""
    if (support := method_of(chosen, "get_support")) is not None:
        check_is_fitted(chosen)
        chosen = support()
    if not np.iterable(chosen):
        wrong = f"is a {type(chosen).__name__}"
    given = np.asarray(list(chosen) if not wrong else [])
    if given.dtype == np.bool_:
        wrong = "" if given.shape == (n_columns,) else f"has {len(given)} entries"
        given = np.flatnonzero(given)
    elif given.dtype.kind in "OUST":
        places = {text: place for place, text in enumerate(column_names(X))}
        absent = [text for text in given.tolist() if text not in places]
        wrong = f"names {absent[0]!r}, which is no column of X" if absent else wrong
        given = np.array([places.get(text, 0) for text in given.tolist()], dtype=np.int64)
    if not wrong and (given.ndim != 1 or given.dtype.kind not in "iu" or not len(given)):
        wrong = "is empty, or no list of columns"
    if not wrong and not -n_columns <= given.min() <= given.max() < n_columns:
        wrong = f"names position {given.max()}"
    if wrong:
        raise ParameterError(
            f"{name} {wrong}: pass a fitted selector, names or positions of columns, or one bool "
            f"for each of the {n_columns} columns.",
            parameter=name,
        )
    return np.unique(given % n_columns).astype(np.int64)


def own_budget(selector: Selector | None, loss: Metric) -> float:
    """Return the budget of a selector in a metric; NaN where it has none."""
    if selector is None or not Metric(own_metric(selector)).is_same(loss):
        return math.nan
    return float(selector.certificate_.budget)


def _read_tables(
    selector: Selector | None,
    loss: Metric,
    task: Task,
    test: tuple[TableLike, TargetLike],
    train: tuple[TableLike, TargetLike],
) -> tuple[Encoded, Profile | None, Notes]:
    """Read test rows, compare them with the fit if there was one; profile training rows too."""
    notes: Notes = ()
    like = None if selector is None else selector._record.profile
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of classes that other rows may hold
        encoded = encode(*test, task=task, missing="category", like=like)
        loss.check(encoded.target if train[0] is None else encode_target(train[1], task=task))
    if selector is not None:
        for table in (test[0], train[0]):
            if is_frame(table):
                check_columns(selector, table)
        if test[0].shape[1] != selector.n_features_in_:
            raise DataError(
                f"X has {test[0].shape[1]} features, but {type(selector).__name__} is expecting "
                f"{selector.n_features_in_} features as input."
            )
        notes += compare_with_fit(selector, encoded.profile, encoded.hashes)
    if train[0] is None:
        return encoded, None, notes
    trained, hashes = profile_of(*train, task, like or encoded.profile)
    notes += warn_of_known_rows(encoded.hashes, hashes, "rows of the model", partly=False)
    return encoded, trained, notes


def compare_training(
    fit: Profile | None, test: Profile | None, train: Profile | None, kept: IntArray
) -> Notes:
    """Return which dropped columns are empty where the model learned, or else where it is tested.

    Both are compared with the fit, where there was one; else with each other.
    """
    if train is None or test is None:
        return ()
    known = fit or test
    names = [*known.bins]
    spared = [names[place] for place in kept]
    notes = note_emptied(known, known.differences(train), spared, "in the training rows")
    if fit is None:
        notes += note_emptied(train, train.differences(test), spared, "in the test rows")
    return notes


def own_metric(selector: Selector) -> MetricChoice:
    """Return the metric of a selector's budget: a name, or the function that was given."""
    rule = selector._rule()
    own = rule.metric if isinstance(rule, ErrorBudget) else selector.metric
    return selector.certificate_.metric if isinstance(own, str) else own


def _own_folds(selector: Selector | None) -> Any:
    """Return the splitter of a selector, or else 5."""
    if selector is None:
        return 5
    own = selector.get_params(deep=False).get("cv")
    return own if isinstance(own, Splitter) else 5


def _number_of_folds(cv: CrossValidation) -> Any:
    """Return a number of folds as an int, and all else as it is."""
    if not isinstance(cv, Integral | np.bool_):
        return cv
    number = int(cv)
    if number < 2:
        raise ParameterError(f"cv={cv!r}: use 2 folds at least, or a splitter.", parameter="cv")
    return number


def _check_plain(plain: bool, found: str) -> None:
    """Refuse what needs all rows and their labels in memory."""
    if not plain:
        raise ParameterError(
            f"{found}: pass a fitted selector, and leave out against, cv, sample_weight and groups."
        )


def target_column(y: TargetLike) -> Any:
    """Return a target; one of shape (n, 1) as a plain column."""
    values = read_array("y", y)
    if not values.ndim:
        raise DataError(f"y is a {type(y).__name__}: pass a value for each row.")
    return values.ravel() if values.ndim == 2 and values.shape[1] == 1 else values


def _check_rows(n_test: int, X_train: TableLike, y_train: TargetLike, cv: CrossValidation) -> None:
    """Refuse half a training set, and test rows that are too few to do without one."""
    if (X_train is None) != (y_train is None):
        raise ParameterError("audit takes X_train and y_train together, or neither.")
    if X_train is None and isinstance(cv, int) and n_test < 2 * cv:
        raise DataError(
            f"found {n_test} test rows, too few for {cv} folds: pass more, or training rows."
        )


def _check_task(loss: Metric, model: Estimator, task: Task) -> None:
    if task_of(loss.metric) not in (task, "auto"):
        raise ParameterError(
            f"{type(model).__name__} is a model for {task}, but the metric is {loss.name!r}: "
            f"pass another model, or metric= one of {', '.join(map(repr, METRICS[task]))} or a "
            f"scorer of scikit-learn for {task}."
        )


def _divide(
    task: Task, y: TargetLike, cv: CrossValidation, groups: IntArray | None
) -> list[tuple[IntArray, IntArray]]:
    """Return which rows are fitted to and which are predicted, fold by fold."""
    if isinstance(cv, int) and groups is not None:
        if (n_groups := len(np.unique(groups))) < 2:
            raise DataError("groups names one group only: pass training rows, or other groups.")
        cv = GroupKFold(min(cv, n_groups))
    if isinstance(cv, int):
        classes = task == "classification" and np.ndim(y) == 1
        rare = classes and np.unique(y, return_counts=True)[1].min() < cv
        kind = StratifiedKFold if classes and not rare else KFold
        cv = kind(cv, shuffle=True, random_state=0)
    divided = read_division(cv, len(y), lambda: cv.split(np.zeros((len(y), 1)), y, groups))
    for number, (train, test) in enumerate(divided, start=1):
        if not len(train) or not len(test):
            part = "test" if len(train) else "training"
            raise ParameterError(f"cv: fold {number} has no {part} rows.", parameter="cv")
    return divided


def _fits(
    model: Estimator,
    train: TableLike,
    test: TableLike,
    y: TargetLike,
    divided: list[tuple[IntArray, IntArray]] | None,
    weights: FloatArray | None,
) -> list[Fit]:
    """Fit a model to training rows, or once a fold; return it with the rows that it predicts."""
    if divided is None:
        return [Fit(_fit(model, *train), test, np.arange(len(y)), train[0])]
    fits = []
    for fitted, held_out in divided:
        own = None if weights is None else weights[fitted]
        given = take(test, fitted)
        fit = _fit(model, given, y[fitted], own)
        fits.append(Fit(fit, take(test, held_out), held_out, given))
    return fits


def _fit(
    model: Estimator, X: TableLike, y: AnyArray, weights: FloatArray | None = None
) -> Estimator:
    try:
        return fit_clone(model, X, y, weights)
    except OSError:
        raise  # a file, a licence, a cluster: the rows are not the cause
    except Exception as error:  # of any model
        one_class = y.ndim == 1 and len(set(y.tolist())) == 1
        found = "that are all of one class" if one_class else f"({error})"
        raise ParameterError(
            f"{type(model).__name__} cannot be fitted to {len(y)} rows {found}: pass more rows, "
            "training rows (X_train, y_train), or another model.",
            parameter="model",
        ) from error


def losses_of_fits(
    loss: Metric,
    task: Task,
    fits: list[Fit],
    y: TargetLike,
    y_fitted: TargetLike,
    weights: FloatArray | None,
    clusters: IntArray | None,
) -> FloatArray:
    """Return the loss of every predicted row, by a model that was not fitted to it."""
    rows = np.concatenate([held_out for _, _, held_out, _ in fits])
    own = None if weights is None else weights[rows]
    how = {"weights": own, "clusters": None if clusters is None else clusters[rows]}
    if task == "regression":
        values = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        given = [outputs(fit.model, "predict", fit.part, values.shape[1]) for fit in fits]
        predicted = np.concatenate(given)
        return loss.of_numbers(predicted, values[rows], values, all_weights=weights, **how)
    if task == "survival":
        return _losses_of_times(loss, fits, rows, y, own)
    if np.ndim(y) == 2:
        return _losses_of_several(loss, fits, y, y_fitted, own)
    classes = np.unique(y_fitted)
    unseen = sorted(set(y.tolist()) - set(classes.tolist()), key=str)
    if unseen:
        raise DataError(f"class {unseen[0]!r} of the test rows is in no training row.")
    if loss == Metric("error"):
        wrong = [predicted_classes(model, part) != y[at] for model, part, at, _ in fits]
        return weighted_rows(np.concatenate(wrong).astype(np.float64), own)
    method = response_of(loss, fits[0][0])
    parts = [_class_scores(fit.model, fit.part, classes, method) for fit in fits]
    scores = np.concatenate(parts)
    labels = np.searchsorted(classes, y[rows])
    if method == "decision_function":
        log_given = log_softmax(scores)
        return loss.of_classes(log_given, labels, scores, classes=classes, **how)
    logarithms = np.log(np.clip(scores, np.finfo(np.float64).eps, 1.0))
    return loss.of_classes(logarithms, labels, classes=classes, **how)


def _losses_of_times(
    loss: Metric, fits: list[Fit], rows: IntArray, y: AnyArray, weights: FloatArray | None
) -> FloatArray:
    """Return the losses of censored times, of risks less their mean over the training rows."""
    raw = encode_target(y).raw
    assert raw is not None  # censored times keep the user's values
    times = grid_times(raw)
    parts = [survival_predictions(fit.model, fit.train, fit.part, times) for fit in fits]
    return loss.of_survival(np.concatenate(parts), raw[rows], times, weights=weights)


def _losses_of_several(
    loss: Metric, fits: list[Fit], y: AnyArray, y_train: AnyArray, weights: FloatArray | None
) -> FloatArray:
    """Return the losses of several class targets, pooled."""
    method = response_of(loss, fits[0][0])
    classes = [np.unique(column) for column in y_train.T]
    parts = []
    for model, part, _, _ in fits:
        if method == "predict":
            found = np.asarray(model.predict(part)).T
            parts.append([one_hot(*pair) for pair in zip(found, classes, strict=True)])
        else:
            parts.append(several_class_scores(model, part, classes, _CERTAIN))
    rows = np.concatenate([held_out for _, _, held_out, _ in fits])
    losses = []
    for j, own in enumerate(classes):
        unseen = np.setdiff1d(y[rows, j], own)
        if len(unseen):
            raise DataError(
                f"class {unseen.tolist()[0]!r} of target {j} is in test rows, but in no training "
                "row."
            )
        scores = np.concatenate([part[j] for part in parts])
        labels = np.searchsorted(own, y[rows, j])
        log_given = scores if method == "predict_proba" else log_softmax(scores)
        losses.append(
            loss.of_one.of_classes(log_given, labels, scores, classes=own, weights=weights)
        )
    return loss.pooled(losses)


def _class_scores(model: Estimator, part: TableLike, classes: AnyArray, method: str) -> FloatArray:
    """Return probabilities, margins or predicted classes, one column per class."""
    if method == "predict":
        return one_hot(predicted_classes(model, part), classes)
    known = classes_of(model, classes)
    found = outputs(model, method, part, len(known))
    least = 0.0 if method == "predict_proba" else float(found.min())
    scores = np.full((len(found), len(classes)), least)
    scores[:, np.searchsorted(classes, known)] = found
    return scores


def response_of(loss: Metric, model: Estimator) -> str:
    """Return the method of a classifier that gives what a metric needs."""
    wanted = {
        "predictions": ("predict",),
        "scores": ("predict_proba", "decision_function"),
        "probabilities": ("predict_proba",),
    }[loss.needs]
    for method in wanted:
        if hasattr(model, method):
            return method
    raise ParameterError(
        f"metric {loss.name!r} needs {loss.needs}, but {type(model).__name__} has no "
        f"{' or '.join(wanted)}: calibrate it (CalibratedClassifierCV), or use <metric=error>.",
        parameter="metric",
    )
