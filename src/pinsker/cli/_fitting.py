"""From the options of a command to a fitted selector: the only place that constructs one."""

import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils.validation import has_fit_parameter

from pinsker import selectors
from pinsker._compat import require
from pinsker._notes import Note, option_of
from pinsker._types import DaskClient, Fields, IntArray, Selector
from pinsker.cli import _options
from pinsker.cli._output import progress
from pinsker.cli._saved import Outcome
from pinsker.cli._tables import InputTable
from pinsker.encoding import encode_target, take
from pinsker.exceptions import DataError, EngineError, ParameterError, PinskerWarning
from pinsker.metrics import task_of
from pinsker.models import MODELS
from pinsker.report import sentence
from pinsker.search import SEARCHES, ErrorBudget, interruptible

DIRECTIONS: Fields = {
    "auto": selectors.FeatureSelector, "backward": selectors.BackwardElimination,
    "forward": selectors.ForwardSelection, "linear": selectors.LinearSelection,
    "forward-backward": selectors.ForwardBackwardSelection,
}  # fmt: skip
#: What --fast stands for, where these options are not given.
FAST: Fields = {"searches": ["relevance", "linear"], "cv": 3}
DEFAULT_BUDGET = 0.05
DEFAULT_FOLDS = 5
_SECONDS_TO_CONNECT = 10
DEFAULT_SEED = 0  # a command that is repeated shall say the same


@dataclass(frozen=True)
class SelectOptions:
    """The options of a selection as they were typed; None is the selector's own default."""

    error_budget: float | None = None
    confidence: float | None = None
    metric: str = "auto"
    stop: str | None = None
    direction: _options.Direction = "auto"
    as_published: bool = False
    searches: Sequence[str] | None = None
    models: Sequence[str] | None = None
    cv: int | None = None
    fixed: Sequence[str] | None = None
    feature_groups: Sequence[str] | None = None
    kind: Sequence[str] | None = None
    n_neighbors: int | None = None
    memory: str | None = None
    time_limit: str | None = None
    costs: str | None = None
    subgroups: Sequence[str] | None = None
    engine: str = "auto"
    missing: str = "auto"
    fast: bool = False
    suspects: str | None = None
    stability: int | None = None
    jobs: int | None = None
    seed: int | None = None


def make_selector(
    options: SelectOptions, names: list[str], *, show_progress: bool, client: DaskClient = None
) -> Selector:
    kind = DIRECTIONS[options.direction]
    groups = _options.parse_groups(options.feature_groups, names)
    priced = [*names, *(groups or {})]
    if options.cv == 1 or (options.cv or 0) < 0:
        raise ParameterError(f"must be 0 or at least 2, found {options.cv}.", parameter="cv")
    memory, limit, costs = options.memory, options.time_limit, options.costs
    optional = {
        "confidence": options.confidence, "cv": options.cv,
        "models": _options.parse_names(options.models, MODELS, "--models"),
        "searches": _options.parse_names(options.searches, SEARCHES, "--searches"),
        "knn__n_neighbors": options.n_neighbors,
        "engine__name": None if options.engine == "auto" else options.engine,
        "engine__client": client,
        "engine__max_memory": None if memory is None else _options.parse_memory(memory),
        "time_limit": None if limit is None else _options.parse_time(limit),
        "feature_costs": None if costs is None else _options.read_costs(costs, priced),
        "subgroups": _options.parse_subgroups(options.subgroups, names) or None,
        "suspects": options.suspects, "n_jobs": options.jobs, "random_state": options.seed,
    }  # fmt: skip
    if options.fast:
        if options.direction != "auto":
            raise ParameterError(f"--fast has no effect with --direction {options.direction}.")
        optional |= {name: value for name, value in FAST.items() if optional[name] is None}
    known = kind().get_params()
    given = {name: value for name, value in optional.items() if value is not None}
    for name in given:
        if name not in known:
            raise ParameterError(
                f"{option_of(name)} has no effect with --direction {options.direction}: leave it "
                "out."
            )
    if "random_state" in known:
        given.setdefault("random_state", DEFAULT_SEED)
    fixed = _options.parse_columns(options.fixed, priced, "--fixed")
    if options.as_published:
        published = selectors.BackwardElimination, selectors.ForwardSelection
        if kind not in published or options.stop or options.cv:
            raise ParameterError(
                "--as-published has its own search and rule, and holds no rows out: leave "
                "--direction, --stop and --cv out."
            )
        delta = DEFAULT_BUDGET if options.error_budget is None else options.error_budget
        selector = kind.as_published(delta).set_params(metric=options.metric)
    else:
        selector = kind(**_stopping(options))
    selector.set_params(
        missing=options.missing, feature_groups=groups, fixed_features=fixed or None,
        categorical_features=_options.parse_kinds(options.kind, names), verbose=int(show_progress),
    )  # fmt: skip
    return selector.set_params(**given)


def _stopping(options: SelectOptions) -> Fields:
    """Return the parameters that decide when a search stops, and how the target is read."""
    metric = options.metric
    if options.stop is not None:
        if options.error_budget is not None:
            raise ParameterError("--error-budget and --stop exclude each other: give one of them.")
        return {"error_budget": _options.parse_stop(options.stop), "metric": metric}
    delta = DEFAULT_BUDGET if options.error_budget is None else options.error_budget
    # A linear model knows its squared error exactly.
    exact = options.direction == "linear" and metric == "mse"
    rule = ErrorBudget(delta, metric=metric, model="gaussian" if exact else "bounded")
    if options.direction != "linear" or metric in ("auto", "error", "r2"):
        return {"error_budget": delta, "metric": metric}
    return {"error_budget": rule, "metric": "r2" if task_of(metric) == "regression" else "auto"}


def fit(
    table: InputTable, options: SelectOptions, *, show_progress: bool, client: DaskClient = None
) -> Outcome:
    """Fit a selector to a table, on a cluster if there is a client; warnings become notes."""
    X, y = table.features, table.y
    drops = options.missing in ("auto", "drop")
    if table.drawn is not None and not drops and table.n_missing_targets:
        raise DataError(
            f"the target {table.target!r} is missing in {table.n_missing_targets} of "
            f"{table.n_rows} rows: use --missing auto, or fill them in."
        )
    selector = make_selector(options, list(X.columns), show_progress=show_progress, client=client)
    _check_row_columns(table, selector, options)
    if options.fast and table.weights is not None and options.searches is None:
        selector.set_params(searches=["jmi", "linear"])  # relevance is by neighbors
    order, rows = in_order(table)
    if table.time is not None:
        selector.set_params(cv=TimeSeriesSplit(options.cv or DEFAULT_FOLDS))
    started = time.perf_counter()
    # A single search keeps what it has seen by itself; several need a set that was evaluated.
    several = isinstance(selector, selectors.FeatureSelector)
    ending = interruptible() if several else nullcontext(threading.Event())
    with progress(show_progress), ending as ended, collect_warnings() as collected:
        selector.fit(X.iloc[order], take(y, order), **rows)
    seconds = time.perf_counter() - started
    selector._record = replace(selector._record, row_columns=table.row_columns)
    interrupted = ended.is_set() or not (several or selector.path_.complete)
    if not selector.path_.complete and not selector.path_.moves:
        raise KeyboardInterrupt  # nothing is known yet
    with collect_warnings():
        # A linear model of classes treats them as numbers: its facts do not hold the task.
        present = take(y, np.flatnonzero(~table.lacks_target))
        task = encode_target(present, task=task_of(options.metric)).task
    stability, notes = selector.stability_, selector.notes_
    if options.stability is not None and not interrupted:
        n_times, most = options.stability, selectors.clock(seconds * options.stability)
        waiting = f"choosing again on {n_times} halves of the rows, about {most} at most"
        with progress(show_progress, waiting), collect_warnings():
            halves = selector.stability(X.iloc[order], take(y, order), n=options.stability, **rows)
        notes += halves.notes(selector.path_.order[: selector.certificate_.n_kept])
        stability = halves
    said: dict[str, Note] = {}
    for note in (*table.notes, *notes, *collected):  # of some there was a warning, too
        said.setdefault(sentence(note, "command"), note)
    return Outcome(table, selector, task, seconds, (*said.values(),), interrupted, stability)


def in_order(table: InputTable) -> tuple[IntArray, Fields]:
    """Return the rows in order of time, and what `fit` and `certify` are given about them."""
    order: IntArray = np.arange(len(table.frame))
    if table.time is not None:
        # Categories have an order of their own: that of their first rows in a file.
        order = np.argsort(table.frame[table.time].to_numpy(), kind="stable")
    named = {"groups": table.row_groups, "sample_weight": table.weights}
    return order, {
        name: table.frame[column].to_numpy()[order]
        for name, column in named.items()
        if column is not None
    }


def _check_row_columns(table: InputTable, selector: Selector, options: SelectOptions) -> None:
    """Refuse columns about rows that have no effect."""
    evaluated = isinstance(selector, selectors.EvaluatedSelector)
    for flag, column in (("--row-groups", table.row_groups), ("--time", table.time)):
        if column is not None and not (evaluated and selector.holds_out):
            raise ParameterError(
                f"{flag} has no effect where no rows are held out: use --direction auto, or --cv 5."
            )
    if options.stability is not None and not evaluated:
        raise ParameterError(
            f"--stability has no effect with --direction {options.direction}: use --direction auto."
        )
    if table.weights is not None and not has_fit_parameter(selector, "sample_weight"):
        raise ParameterError(
            f"--weights has no effect with --direction {options.direction}, which searches by "
            "neighbors: use --direction auto or linear."
        )


@contextmanager
def collect_warnings() -> Iterator[list[Note]]:
    """Collect warnings of pinsker as notes, and silence those of other packages."""
    collected: list[Note] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield collected
    said = [w.message.said for w in caught if isinstance(w.message, PinskerWarning)]
    collected += [Note("warning", figures={"setting": text.removesuffix(".")}) for text in said]


@contextmanager
def cluster_at(address: str | None) -> Iterator[Any]:
    """Yield a client of the cluster at an address for as long as it is needed; None of none."""
    if address is None:
        yield None
        return
    distributed = require("distributed", purpose="--scheduler", extra="dask")
    try:
        client = distributed.Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:  # nothing listens there, or it is no address
        raise EngineError(
            f"--scheduler {address!r}: no Dask scheduler answers there ({error}). Start one with "
            "dask scheduler, or leave the option out."
        ) from error
    with client:
        yield client


assert set(get_args(_options.Direction)) == set(DIRECTIONS)
