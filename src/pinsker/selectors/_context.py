"""From a selector's parameters and a user's table to what a fit works on; and one search as a fit.

The memory plan states what every stage holds at its peak, in bytes, and what may run side by side;
``tests/selectors/test_memory.py`` watches the peak of whole fits against their limit.
"""

import hashlib
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import process_routing

from pinsker._compat import check_columns, validate_data
from pinsker._notes import Notes
from pinsker._types import (
    ColumnChoice,
    Fields,
    MetricChoice,
    RowLabels,
    Scale,
    Splitter,
    TableLike,
    TargetLike,
)
from pinsker.bounds import TargetFacts
from pinsker.encoding import (
    Encoded,
    Kind,
    RowSample,
    columns_to_read,
    draw_from_stream,
    draw_rows,
    encode,
    encode_again,
    find_features,
    is_stream,
)
from pinsker.engine import (
    as_settings,
    check_gpu,
    count_threads,
    find_client,
    is_local,
    memory_limit,
    search_bytes,
)
from pinsker.exceptions import EngineLostError, MemoryBudgetError, ParameterError, PinskerWarning
from pinsker.holdout import (
    FitContext,
    Jobs,
    RowCounts,
    compare_profiles,
    demand_labels,
    drawn_subgroups,
    group_copies,
    kept_columns,
    kept_suspects,
    most_predictions,
    note_known_rows,
    read_groups,
    read_subgroups,
)
from pinsker.metrics import METRICS, Metric, metric_name, task_of
from pinsker.models import (
    MAX_ONE_HOT,
    MOST_ONE_HOT,
    RBFSVM,
    BoostedTrees,
    HoldoutModel,
    LayoutName,
    named_models,
    prepare_models,
)
from pinsker.search import (
    Direction,
    ErrorBudget,
    FeatureCount,
    KNNSearchSettings,
    SearchInterrupted,
    SelectionPath,
    StoppingRule,
    Trace,
)
from pinsker.selectors._base import Selector, fitted_attributes, set_fitted
from pinsker.selectors._progress import Progress, ProgressLine

_DOUBLE = 8
#: What a fit takes whatever the table: objects of Python, stacks, buffers of BLAS.
_BASE = 2**24
#: Libsvm keeps rows of the kernel in single precision, in this many bytes at most.
_SVM_CACHE = 200 * 2**20
#: Boosted trees have up to 15 leaves, and one to come, with 24 bytes for 256 bins of every column.
_HISTOGRAMS = 16 * 256 * 24
#: Pairs of steps that the logistic regression remembers (L-BFGS).
_STEPS = 20
#: Bytes that a model of "auto" may take where indicators make a table wider.
_MOST_EXPANDED = 2**29
#: Sets whose predictions are kept, so that a set that comes up again costs nothing: by the models
#: that a race leaves, and those that are raced by all. Fits kept 2 to 80 of 130 and more.
_SETS, _RACED = 48, 6


@dataclass(frozen=True)
class FitMemory:
    """What a fit may hold, and what its stages need at least; in bytes."""

    limit: int  # of the whole fit: `max_memory`, or half of what is available
    held: int  # the encoded table and the predictions, which are held throughout
    copy: int  # the rows that a search works on
    search: int
    model: int
    n_jobs: int = 1  # calls that may run side by side as far as threads go

    @classmethod
    def of(
        cls,
        encoded: Encoded,
        models: Sequence[HoldoutModel],
        rows: RowCounts,
        *,
        n_jobs: int = 1,
        max_memory: int | None = None,
    ) -> "FitMemory":
        """Plan a fit; raise MemoryBudgetError if it cannot fit into its limit."""
        n_outputs, n_rows = _n_outputs(encoded), encoded.n_rows
        # The encoded table, and what its encoding held beside it.
        table = 2 * _rows_bytes(encoded, n_rows) + 3 * _DOUBLE * n_rows * _n_targets(encoded)
        n_sets = min(_SETS, 2 ** min(encoded.n_features, 32) - 1)
        n_kept = n_sets * most_predictions(len(models), rows.train) + _RACED * len(models)
        kept = n_kept * _DOUBLE * rows.held_out * n_outputs
        columns = encoded.columns
        # Indicators, centered, beside the target, and again in the factorization; where they are
        # more than rows they are not searched.
        width = _one_hot_width(encoded)
        width = width if width <= rows.search else columns.n_columns
        linear = 4 * _DOUBLE * rows.search * (width + n_outputs)
        neighbors = search_bytes(rows.search, columns.n_columns, copies=2)
        fits = [model_bytes(model, encoded, rows.train, rows.test) for model in models]
        plan = cls(
            memory_limit(max_memory),
            _BASE + table + kept,
            _rows_bytes(encoded, rows.counted),
            _rows_bytes(encoded, rows.search) + max(neighbors, linear),
            max(fits, default=0),
            n_jobs,
        )
        if plan.needed > plan.limit:
            raise MemoryBudgetError(
                f"a fit to {encoded.n_rows} rows and {encoded.columns.n_columns} columns needs "
                f"about {_mib(plan.needed)} MiB ({_mib(plan.held)} for the table and predictions, "
                f"{_mib(plan.search)} for a search, {_mib(plan.model)} for a model), but "
                f"max_memory allows {plan.limit} bytes ({_mib(plan.limit)} MiB). Raise max_memory, "
                "or pass fewer rows or columns.",
                parameter="max_memory",
            )
        return plan

    @property
    def needed(self) -> int:
        """The least that the fit needs: one call at a time."""
        return self.held + max(self.search, self.model)

    @property
    def n_searches(self) -> int:
        return max(1, min(self.n_jobs, (self.limit - self.held) // max(self.search, 1)))

    @property
    def n_fits(self) -> int:
        return max(1, min(self.n_jobs, (self.limit - self.held) // max(self.model, 1)))

    def for_one_search(self, n_searches: int) -> int:
        """Return what the engine may hold when this many searches run side by side."""
        return (self.limit - self.held) // n_searches - self.copy


def model_bytes(model: HoldoutModel, encoded: Encoded, n_train: int, n_test: int) -> int:
    """Return what one fit of a model holds: its rows twice, and what the model makes of them."""
    n_outputs = _n_outputs(encoded)
    width = _one_hot_width(encoded, model.layout)
    n_bytes = (
        2 * _DOUBLE * (n_train + n_test) * width + 4 * _DOUBLE * (n_train + n_test) * n_outputs
    )
    if isinstance(model, RBFSVM):
        kernels = _DOUBLE * n_train * (n_train + n_test)
        coefficients = 2 * _DOUBLE * n_train * n_outputs
        return n_bytes + kernels + min(4 * n_train**2, _SVM_CACHE) + coefficients
    if isinstance(model, BoostedTrees):
        return n_bytes + _HISTOGRAMS * width
    if model.layout == "one-hot":  # the linear model; estimators of a user count as one
        least_squares = min(width, n_train) ** 2
        return n_bytes + _DOUBLE * (least_squares + _STEPS * width * n_outputs)
    return n_bytes


def _rows_bytes(encoded: Encoded, n_rows: int) -> int:
    per_value = _DOUBLE + (encoded.columns.missing is not None)
    return n_rows * (per_value * encoded.columns.n_columns + 2 * _DOUBLE * _n_targets(encoded))


def _n_targets(encoded: Encoded) -> int:
    raw = encoded.target.raw
    return 1 if raw is None else int(raw.shape[1])


def _n_outputs(encoded: Encoded) -> int:
    """Return how many numbers a model predicts per row: one per class, or per target."""
    classes = encoded.target.classes
    return _n_targets(encoded) if classes is None else len(classes)


def _one_hot_width(encoded: Encoded, layout: LayoutName = "one-hot") -> int:
    """Return how many columns a table has for a model, at most; some code many categories."""
    columns, most = encoded.columns, MOST_ONE_HOT.get(layout, MAX_ONE_HOT)
    n_columns = len(columns.kinds)
    if layout == "coded":
        return n_columns
    nominal = [
        min(len(known), MAX_ONE_HOT + 1) if layout == "one-hot" or len(known) <= most else 1
        for kind, known in zip(columns.kinds, columns.categories, strict=True)
        if kind is Kind.NOMINAL and known is not None
    ]
    n_numeric = n_columns - len(nominal)
    return sum(nominal) + n_numeric * (1 + (columns.missing is not None))


def _mib(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:.0f}"


def encoding_of(selector: Selector) -> Fields:
    return {
        "categorical_features": selector.categorical_features,
        "missing": selector.missing,
        "feature_groups": selector.feature_groups,
    }


def encode_table(
    selector: Selector,
    X: TableLike,
    y: TargetLike,
    metric: MetricChoice,
    scale: Scale,
    sample_weight: RowLabels = None,
) -> Encoded:
    """Let the user's data through the gate, and note its columns."""
    columns = columns_to_read(X, selector.fixed_features, selector.feature_groups)
    how = {**encoding_of(selector), "scale": scale, "sample_weight": sample_weight}
    encoded = encode(X, y, task=task_of(metric), columns=columns, **how)
    validate_data(selector, X, skip_check_array=True)
    return encoded


def budget_of_rule(selector: Selector, rule: StoppingRule) -> ErrorBudget:
    """Return the budget that a path's bounds are computed with."""
    budget = rule if isinstance(rule, ErrorBudget) else selector._rule(0.0)
    assert isinstance(budget, ErrorBudget)
    return budget


def n_at_least(rule: StoppingRule) -> int:
    """Return how many features a search must reach so that a rule can be followed."""
    return rule.k if isinstance(rule, FeatureCount) else 0


def open_context(
    selector: Selector,
    encoded: Encoded,
    facts: TargetFacts,
    X: TableLike,
    y: TargetLike,
    *,
    seed: int = 0,
    search: tuple[Any, ...] = (),
) -> FitContext:
    """Check the rule before anything is searched; a path depends on `search` and the table."""
    rule = selector._rule()
    fixed = find_features(encoded, selector.fixed_features, "fixed_features")
    rule.check(encoded.n_features, len(fixed), facts)
    if isinstance(rule, ErrorBudget):
        metric, cv = Metric(rule.metric_for(facts)), selector.get_params(deep=False).get("cv")
        if facts.task == encoded.target.task:  # a linear model takes all targets for numbers
            metric.check(encoded.target)
        holds_none = cv is None or (isinstance(cv, int) and not cv)
        if holds_none and not (rule.has_theory and metric.has_theory):
            holds = "use FeatureSelector" if cv is None else "set cv=5"
            other = f", or use a budget in metric={METRICS[facts.task][0]!r}"
            raise ParameterError(
                f"{rule} is decided by held-out rows alone, and {type(selector).__name__} holds "
                f"none out: {holds}{'' if facts.task == 'survival' else other}.",
                parameter="metric",
            )
    digest, columns, target = "", encoded.columns, encoded.target
    if search:  # of everything that a path depends on: rows, kinds and settings
        settings = (type(selector).__name__, fixed, seed, *search)
        words = (settings, encoded.feature_names, encoded.features, columns.kinds, columns.scale)
        made = hashlib.blake2b(repr(words).encode(), digest_size=16)
        table = (columns.values, columns.missing, target.labels, target.values)
        for values in (*table, encoded.weights):
            made.update(b"none" if values is None else values.tobytes())
        digest = made.hexdigest()
    budget = budget_of_rule(selector, rule)
    about = {"table": X, "user_data": {"X": X, "y": y}, "fingerprint": digest}
    return FitContext(encoded, facts, rule, budget, fixed, seed, **about)


# ------------------------------------------------------------------ selectors that hold rows out


def draw_seed(selector: Selector) -> int:
    """Draw the seed of a fit; a fit that goes on with an earlier one keeps its seed."""
    if selector.random_state is None and selector.warm_start and selector._record.fingerprint:
        return int(selector._record.seed)
    return int(check_random_state(selector.random_state).randint(2**31 - 1))


def draw_table(selector: Selector, X: TableLike, y: TargetLike, most: int, seed: int) -> RowSample:
    """Return the rows to read: all of them, or some of very many."""
    if is_stream(X):
        return draw_from_stream(X, y, most, seed, selector.missing)
    task = task_of(budget_of_rule(selector, selector._rule()).metric)
    return draw_rows(X, y, most, seed, missing=selector.missing, task=task)


def check_routing(selector: Selector, **metadata: Any) -> None:
    """Refuse, as scikit-learn does, what models do not say whether they request it."""
    given = {name: value for name, value in metadata.items() if value is not None}
    if given and get_config()["enable_metadata_routing"]:
        process_routing(selector, "fit", **given)


def with_means(
    selector: Selector, context: FitContext, groups: RowLabels, *, in_parts: bool = False
) -> FitContext:
    encoded, settings = context.encoded, knn_settings(selector, context.rule, context.seed)
    check_gpu(settings.engine.name)
    memory = plan_memory(selector, encoded, context.seed, in_parts=in_parts)
    ours = isinstance(selector.cv, Integral) and bool(selector.cv)
    context = with_groups(context, groups, with_copies=ours)
    if selector.holds_out:
        about = (context.seed, context.table, context.metric)
        context = replace(context, models=models_of(selector, encoded, *about))
    return replace(
        context,
        settings=limit_memory(selector, memory, settings, memory.n_searches),
        jobs=jobs_of(selector, memory.n_fits),
        n_searches=memory.n_searches,
        in_time=isinstance(selector.cv, TimeSeriesSplit),
    )


def knn_settings(selector: Selector, rule: StoppingRule, seed: int) -> KNNSearchSettings:
    knn, engine = as_settings("knn", selector.knn), as_settings("engine", selector.engine)
    return KNNSearchSettings(knn, engine, seed=seed, at_least=n_at_least(rule))


def columns_that_train(selector: Selector, encoded: Encoded) -> int:
    """Return by how many columns default models get their training rows; 0 for a user's models."""
    auto = isinstance(selector.models, str) and selector.models == "auto"
    return encoded.columns.n_columns if auto else 0


def plan_memory(
    selector: Selector, encoded: Encoded, seed: int = 0, *, in_parts: bool = False
) -> FitMemory:
    """Plan the memory of a fit, or refuse a table that cannot fit."""
    models = _named_models(selector, encoded, seed) if selector.holds_out else ()
    # Of a cluster or a GPU `max_memory` is theirs.
    limit = as_settings("engine", selector.engine).max_memory if _is_local(selector) else None
    size = (encoded.n_rows, columns_that_train(selector, encoded))
    rows = RowCounts.of(*size, selector.cv, in_parts=in_parts)
    threads = count_threads(selector.n_jobs)
    return FitMemory.of(encoded, models, rows, n_jobs=threads, max_memory=limit)


def limit_memory(
    selector: Selector, memory: FitMemory, settings: KNNSearchSettings, n_searches: int
) -> KNNSearchSettings:
    """Return settings of searches that run side by side in the memory of a fit."""
    if not _is_local(selector):
        return settings
    share = memory.for_one_search(n_searches)
    return replace(settings, engine=settings.engine.replace_params(max_memory=share))


def _is_local(selector: Selector) -> bool:
    """Return whether searches run in this process and its memory."""
    engine = as_settings("engine", selector.engine)
    return is_local(engine.name, engine.client)


def jobs_of(selector: Selector, n_jobs: int | None = None) -> Jobs:
    """Return where models are fitted: on a cluster if the engine is one, else in threads."""
    engine = as_settings("engine", selector.engine)
    client = find_client(engine.name, engine.client)
    return Jobs(n_jobs or count_threads(selector.n_jobs), client)


def models_of(
    selector: Selector, encoded: Encoded, seed: int, table: TableLike, metric: Metric
) -> tuple[HoldoutModel, ...]:
    """Return the models that evaluate; those of the user can be fitted to the user's table."""
    models, decide = _named_models(selector, encoded, seed), metric.needs == "predictions"
    if isinstance(selector.models, str):
        return models
    return prepare_models(models, table, encoded, decide=decide)


def _named_models(selector: Selector, encoded: Encoded, seed: int) -> tuple[HoldoutModel, ...]:
    classes = encoded.target.classes
    models = named_models(
        selector.models,
        encoded.target.task,
        encoded.n_rows,
        seed,
        n_classes=0 if classes is None else len(classes),
        n_columns=encoded.columns.n_columns,
        n_targets=max(_n_targets(encoded), len(encoded.target.parts)),
        weighted=encoded.weights is not None,
    )
    if not isinstance(selector.models, str):
        return models
    size = (encoded.n_rows, encoded.columns.n_columns)
    n_rows = min(encoded.n_rows, RowCounts.of(*size, 5).train)
    n_columns = len(encoded.columns.kinds)
    small = tuple(
        model
        for model in models  # all but those that indicators of categories make too large
        if _one_hot_width(encoded, model.layout) <= n_columns
        or model_bytes(model, encoded, n_rows, n_rows) <= _MOST_EXPANDED
    )
    return small or models


def fresh_context(
    selector: Selector,
    X: TableLike,
    y: TargetLike,
    sample_weight: RowLabels,
    groups: RowLabels,
    most: int | None = None,
    subgroups: ColumnChoice = None,
) -> FitContext:
    """Read fresh rows as a fitted selector has read its own, at most some of them."""
    seed, origin = selector._record.seed, ""
    drawn: Notes = ()
    users: Fields = {"X": X, "y": y}
    if most is not None:
        sample = draw_table(selector, X, y, most, seed)
        users["drawn"] = sample
        X, y, origin, drawn = sample.X, sample.y, sample.origin, sample.notes
        sample_weight = sample.labels_of_rows(sample_weight, "sample_weight")
        groups = sample.labels_of_rows(groups)
        subgroups = drawn_subgroups(subgroups, sample.labels_of_rows)
    check_columns(selector, X)
    record = selector._record
    demand_labels(record, sample_weight, groups)
    how = {**encoding_of(selector), "scale": as_settings("knn", selector.knn).scale}
    how |= {"task": selector.facts_.task, "sample_weight": sample_weight, "like": record.profile}
    encoded = encode_again(X, y, selector.feature_columns_, **how)
    rule, in_time = selector._rule(), isinstance(selector.cv, TimeSeriesSplit)
    facts = TargetFacts.of(encoded.target, encoded.weights)
    budget = budget_of_rule(selector, rule)
    profiles = (record.profile, encoded.profile, kept_columns(selector))
    differs = compare_profiles(*profiles, in_time=in_time)
    notes = (*kept_suspects(selector), *note_known_rows(encoded, record.known_rows), *differs)
    context = FitContext(
        encoded, facts, rule, budget, seed=seed, table=X, user_data=users, origin=origin,
        drawn=drawn, notes=notes,
        jobs=jobs_of(selector),
        subgroups=read_subgroups(subgroups, X, encoded, budget, facts), in_time=in_time,
    )  # fmt: skip
    models = models_of(selector, encoded, seed, X, context.metric)
    context = replace(context, models=models)  # folds are ours, but where a splitter makes them
    return with_groups(context, groups, with_copies=not isinstance(selector.cv, Splitter))


def with_groups(context: FitContext, groups: RowLabels, *, with_copies: bool) -> FitContext:
    """Return a context with groups of rows: the user's, or rows and their copies."""
    own, encoded = read_groups(groups, context.encoded), context.encoded
    if own is not None or not with_copies:
        return replace(context, groups=own)
    copies, notes = group_copies(encoded)
    return replace(context, groups=copies, copies=notes)


#: Modules between a user's call of ``fit`` and the place of a warning.
_OURS = ("pinsker.", "sklearn.", "contextlib")


def open_progress(
    selector: Selector,
    context: FitContext,
    direction: Direction,
    n_moves: int,
    score: str = "difference",
) -> Progress:
    bound = context.budget.bound(context.facts)
    line = ProgressLine(
        type(selector).__name__,
        n_moves,
        lambda lost: float(bound.growth(lost)),
        metric_name(context.budget.metric_for(context.facts)),
        grows=direction == "forward",
    )

    def attributes(trace: Trace) -> Fields:
        names, n_fixed = context.encoded.feature_names, len(context.fixed)
        path = trace.path(direction, names, score, n_fixed=n_fixed)
        decision = context.rule.decide(path, context.facts)
        return fitted_attributes(context, selector.n_features_in_, path, decision)

    shown, about = line if selector.verbose else None, (selector, context.user_data, n_moves)
    return Progress(*about, line=shown, attributes=attributes, direction=direction)


def run_search(
    selector: Selector, context: FitContext, search: Callable[[SelectionPath | None], SelectionPath]
) -> tuple[SelectionPath, bool]:
    """Run a search, or go on with an earlier one; return its path and if it was interrupted."""
    same = selector._record.fingerprint == context.fingerprint
    earlier = selector.path_ if selector.warm_start and same else None
    try:
        return search(earlier), False
    except EngineLostError as error:
        keep_partial(selector, context, error)
        raise
    except SearchInterrupted as interrupted:
        warnings.warn(
            f"{type(selector).__name__}.fit was interrupted after {len(interrupted.path.moves)} "
            "steps<: path_ holds the sets seen so far. Fit again with warm_start=True to go on|>.",
            PinskerWarning,
            stacklevel=_level_of_caller(),
        )
        return interrupted.path, True


def keep_partial(selector: Selector, context: FitContext, error: EngineLostError) -> None:
    """Keep what is known of a path whose engine was lost, and say so in the error."""
    path = error.path
    if path is None:
        return
    decision = context.rule.decide(path, context.facts)
    set_fitted(selector, fitted_attributes(context, selector.n_features_in_, path, decision))
    again = "."
    if "warm_start" in selector.get_params(deep=False):
        again = "<: fit again with warm_start=True, and another engine or client, to go on|>."
    lost = EngineLostError(
        f"{error.said} path_ holds the sets seen in {len(path.moves)} steps{again}"
    )
    lost.path = path
    raise lost from error


@contextmanager
def keeping_path(
    selector: Selector, context: FitContext, paths: Mapping[str, SelectionPath]
) -> Iterator[None]:
    """Keep a path where the engine is lost after the searches: the first that was measured."""
    try:
        yield
    except EngineLostError as error:
        measured = [one for one in paths.values() if not np.isnan(one.information).any()]
        error.path = (measured or list(paths.values()))[0]
        if measured:
            keep_partial(selector, context, error)
        raise


def _level_of_caller() -> int:
    """Return the stack level of the first frame outside of this package and scikit-learn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(_OURS):
        level, frame = level + 1, frame.f_back
    return level
