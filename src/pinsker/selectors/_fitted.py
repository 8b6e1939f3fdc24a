"""What a fit leaves behind: the fitted attributes of a selector, set in one place."""

import logging
from dataclasses import dataclass, replace

import numpy as np

from pinsker._notes import Note, Notes
from pinsker._types import AnyArray, Fields, IntArray, Selector, TargetLike
from pinsker.holdout import Certificate, Comparison, CVResults, FitContext, path_certificate
from pinsker.metrics import metric_name, rare_class_note, several_targets_note
from pinsker.search import Decision, SelectionPath

_LOG = logging.getLogger("pinsker")


@dataclass(frozen=True, eq=False)
class FitRecord:
    """What methods need of a fit beside its public attributes."""

    seed: int = 0  # of everything random
    comparison: Comparison | None = None  # what held-out rows say; None where none were held out
    row_hashes: AnyArray | None = None  # of the rows that were read
    weighted: bool = False
    certified: Certificate | None = None  # of `with_certified`
    fingerprint: str = ""  # digest of what the path depends on
    given_orders: tuple[str, ...] = ()  # paths that the user gave, and no rows were searched for


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
    """Return the attributes of a selector that keeps some features of a path.

    Notes in `before` come before those of the decision, `notes` after them.
    """
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
    planned = () if path.plan is None else tuple(path.plan.notes)
    hold = (comparison, encoded.hashes, encoded.weights is not None, None, context.fingerprint)
    return {
        "facts_": facts,
        "task_": encoded.target.task,
        "target_name_": _name_of(context.user_data.get("y")),
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
        "_record": FitRecord(context.seed, *hold),
    }


def set_fitted(selector: Selector, attributes: Fields) -> None:
    """Set the fitted attributes: the only place that does."""
    for name, value in attributes.items():
        setattr(selector, name, value)
    _LOG.info("%s: %s", type(selector).__name__, selector.certificate_)


def ranks(
    feature_columns: tuple[tuple[int, ...], ...], path: SelectionPath, size: int, n_columns: int
) -> IntArray:
    """Return the rank of every column: 1 for those that stay, more for those that go earlier.

    Columns of no feature, which were left out before the search, rank last.
    """
    left = len(path.order) - size
    rank = np.full(len(feature_columns), left + 2, dtype=np.int64)
    rank[list(path.order[size:])] = 2 + np.arange(left)
    rank[list(path.order[:size])] = 1
    spread = np.full(n_columns, left + 3, dtype=np.int64)
    for columns, value in zip(feature_columns, rank, strict=True):
        spread[list(columns)] = value
    return spread


def _name_of(y: TargetLike) -> str | None:
    """Return the name of a target: of a series, of the columns of a frame, or the name itself."""
    columns = getattr(y, "columns", None)
    if columns is not None:
        return ", ".join(str(name) for name in columns)
    name = y if isinstance(y, str) else getattr(y, "name", None)
    return None if name is None else str(name)
