"""From a selector's parameters and a user's table to what the stages of a fit work on."""

import hashlib
from dataclasses import replace
from typing import Any

from sklearn import get_config
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import process_routing

from pinsker._compat import check_columns, validate_data
from pinsker._notes import Notes
from pinsker._types import Fields, MetricChoice, RowLabels, Scale, TableLike, TargetLike
from pinsker.bounds import TargetFacts
from pinsker.encoding import (
    Encoded,
    RowSample,
    columns_to_read,
    draw_rows,
    encode,
    encode_again,
    find_features,
)
from pinsker.engine import as_settings, count_threads, find_client, is_local
from pinsker.exceptions import ParameterError
from pinsker.holdout import FitContext, Jobs, RowCounts, note_known_rows, read_groups
from pinsker.metrics import METRICS, Metric, task_of
from pinsker.models import HoldoutModel, named_models, prepare_models
from pinsker.search import ErrorBudget, FeatureCount, KNNSearchSettings, StoppingRule
from pinsker.selectors._base import Selector
from pinsker.selectors._memory import FitMemory


def encoding_of(selector: Selector) -> Fields:
    """Return the parameters that say how a table is read."""
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
    encoded = encode(
        X,
        y,
        task=task_of(metric),
        **encoding_of(selector),
        scale=scale,
        columns=columns_to_read(X, selector.fixed_features, selector.feature_groups),
        sample_weight=sample_weight,
    )
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
    """Check the rule against the table before anything is searched.

    `search` is what the path depends on besides the table.
    """
    rule = selector._rule()
    fixed = find_features(encoded, selector.fixed_features, "fixed_features")
    rule.check(encoded.n_features, len(fixed), facts)
    if isinstance(rule, ErrorBudget):
        _check_metric(selector, rule, encoded, facts)
    digest = _fingerprint(encoded, type(selector).__name__, fixed, seed, *search) if search else ""
    budget = budget_of_rule(selector, rule)
    about = {"table": X, "user_data": {"X": X, "y": y}, "fingerprint": digest}
    return FitContext(encoded, facts, rule, budget, fixed, seed, **about)


def _check_metric(
    selector: Selector, rule: ErrorBudget, encoded: Encoded, facts: TargetFacts
) -> None:
    """Refuse a metric that the target has no use for, or that nothing here can decide."""
    metric = Metric(rule.metric_for(facts))
    if facts.task == encoded.target.task:  # a linear model takes all targets for numbers
        metric.check(encoded.target)
    if rule.has_theory and metric.has_theory:
        return
    cv = selector.get_params(deep=False).get("cv")
    if cv is None or (isinstance(cv, int) and not cv):
        holds = "use FeatureSelector" if cv is None else "set cv=5"
        other = f", or use a budget in metric={METRICS[facts.task][0]!r}"
        raise ParameterError(
            f"{rule} is decided by held-out rows alone, and {type(selector).__name__} holds none "
            f"out: {holds}{'' if facts.task == 'survival' else other}.",
            parameter="metric",
        )


def _fingerprint(encoded: Encoded, *settings: Any) -> str:
    """Return a digest of everything that a path depends on: rows, kinds and settings."""
    columns = encoded.columns
    words = (settings, encoded.feature_names, encoded.features, columns.kinds, columns.scale)
    digest = hashlib.blake2b(repr(words).encode(), digest_size=16)
    target = encoded.target
    table = (columns.values, columns.missing, target.labels, target.values)
    for values in (*table, encoded.weights):
        digest.update(b"none" if values is None else values.tobytes())
    return digest.hexdigest()


# ------------------------------------------------------------------ selectors that hold rows out


def draw_seed(selector: Selector) -> int:
    """Draw the seed of a fit; a fit that goes on with an earlier one keeps its seed."""
    if selector.random_state is None and selector.warm_start and selector._record.fingerprint:
        return int(selector._record.seed)
    return int(check_random_state(selector.random_state).randint(2**31 - 1))


def draw_table(selector: Selector, X: TableLike, y: TargetLike, most: int, seed: int) -> RowSample:
    """Return the rows to read: all of them, or some of very many."""
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
    """Return a context with groups, models, memory, jobs and settings of searches."""
    encoded, engine = context.encoded, as_settings("engine", selector.engine)
    memory = plan_memory(selector, encoded, context.seed, in_parts=in_parts)
    settings = KNNSearchSettings(
        knn=as_settings("knn", selector.knn),
        engine=engine,
        seed=context.seed,
        at_least=n_at_least(context.rule),
    )
    return replace(
        context,
        groups=read_groups(groups, encoded),
        models=(
            models_of(selector, encoded, context.seed, context.table) if selector.holds_out else ()
        ),
        settings=limit_memory(selector, memory, settings, memory.n_searches),
        jobs=jobs_of(selector, memory.n_fits),
        n_searches=memory.n_searches,
        in_time=isinstance(selector.cv, TimeSeriesSplit),
    )


def plan_memory(
    selector: Selector, encoded: Encoded, seed: int = 0, *, in_parts: bool = False
) -> FitMemory:
    """Plan the memory of a fit, or refuse a table that cannot fit."""
    models = _named_models(selector, encoded, seed) if selector.holds_out else ()
    # Of a cluster or a GPU `max_memory` is theirs.
    limit = as_settings("engine", selector.engine).max_memory if _is_local(selector) else None
    rows = RowCounts.of(encoded.n_rows, selector.cv, in_parts=in_parts)
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
    selector: Selector, encoded: Encoded, seed: int, table: TableLike
) -> tuple[HoldoutModel, ...]:
    """Return the models that evaluate; those of the user can be fitted to the user's table."""
    return prepare_models(_named_models(selector, encoded, seed), table, encoded)


def _named_models(selector: Selector, encoded: Encoded, seed: int) -> tuple[HoldoutModel, ...]:
    classes = encoded.target.classes
    return named_models(
        selector.models,
        encoded.target.task,
        encoded.n_rows,
        seed,
        n_classes=0 if classes is None else len(classes),
        n_columns=encoded.columns.n_columns,
        weighted=encoded.weights is not None,
    )


def fresh_context(
    selector: Selector,
    X: TableLike,
    y: TargetLike,
    sample_weight: RowLabels,
    groups: RowLabels,
    most: int | None = None,
) -> FitContext:
    """Read fresh rows as a fitted selector has read its own, at most some of them."""
    seed, origin = selector._record.seed, ""
    drawn: Notes = ()
    if most is not None:
        sample = draw_table(selector, X, y, most, seed)
        X, y, origin, drawn = sample.X, sample.y, sample.origin, sample.notes
        sample_weight = sample.labels_of_rows(sample_weight, "sample_weight")
        groups = sample.labels_of_rows(groups)
    check_columns(selector, X)
    encoded = encode_again(
        X,
        y,
        selector.feature_columns_,
        task=selector.facts_.task,
        **encoding_of(selector),
        scale=as_settings("knn", selector.knn).scale,
        sample_weight=sample_weight,
    )
    rule = selector._rule()
    return FitContext(
        encoded,
        TargetFacts.of(encoded.target, encoded.weights),
        rule,
        budget_of_rule(selector, rule),
        seed=seed,
        table=X,
        origin=origin,
        drawn=drawn,
        notes=note_known_rows(encoded, selector._record.row_hashes),
        groups=read_groups(groups, encoded),
        models=models_of(selector, encoded, seed, X),
        jobs=jobs_of(selector),
        in_time=isinstance(selector.cv, TimeSeriesSplit),
    )
