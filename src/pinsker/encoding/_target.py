"""From a target as it was read to `Target`: classes, numbers, or right-censored times; and scales.

Scaling makes distances in different columns comparable. Censored times are those of
scikit-survival, a structured array of two fields: whether the event was seen (bool) and the time of
it or of the last look (number). Behind the gate `raw` holds time and event, `values` normal scores
of the time and the event, which searches look at.
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import ndtri

from pinsker._notes import Note
from pinsker._types import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    Missing,
    Scale,
    TargetLike,
    Task,
    Weights,
)
from pinsker.encoding._encoded import (
    FARTHEST,
    Target,
    drop_note,
    frozen,
    listing,
    plural,
    usable_rows,
    weights_in_rows,
)
from pinsker.encoding._kinds import (
    ROWS_PER_COUNT_VALUE,
    are_integers,
    count_distinct,
    most_count_values,
)
from pinsker.encoding._read import Origin, RawTable, column_blocks, object_array, read_table
from pinsker.exceptions import DataError, DataWarning, ParameterError

#: The values behind normal scores are known in at most this many rows, and in all of both tails.
_KNOTS, _TAIL = 8192, 1024
_not_metric = partial(DataError, parameter="metric")
#: Scales columns, with weights of the rows or None.
_Method: TypeAlias = Callable[[FloatArray, Weights], FloatArray]


def check_scale(scale: Scale) -> None:
    if scale not in ("copula", "standard", "none"):
        raise ParameterError(
            f"scale={scale!r} is not known: use 'copula', 'standard' or 'none'.", parameter="scale"
        )


def normal_scores(values: FloatArray) -> FloatArray:
    n, ranks = values.shape[0], _doubled_ranks(np.ascontiguousarray(values.T))
    # The score of every rank that can occur, at twice the rank. Both tails come from the lower one:
    # scores of reversed columns differ by the sign alone.
    doubled = np.arange(2 * n + 2)
    lower = ndtri(np.minimum(doubled, 2 * n + 2 - doubled) / (2 * n + 2))
    scores: FloatArray = np.where(doubled > n + 1, -lower, lower)
    return scores[ranks].T


def standardize(values: FloatArray) -> FloatArray:
    r"""Return each column with mean 0 and standard deviation 1: :math:`(x - \bar x) / s`."""
    rows = np.ascontiguousarray(values.T)
    if rows.size == 0:
        return values
    exponent = np.frexp(np.abs(rows).max(axis=1))[1]
    rows = np.ldexp(rows, -exponent[:, None])
    ordered = np.sort(rows, axis=1)
    varies = ordered[:, -1] > ordered[:, 0]
    # Differences from the smallest value first: a large offset then costs no digits.
    low = ordered[:, :1].copy()
    ordered -= low
    center = ordered.mean(axis=1, keepdims=True)
    ordered -= center
    spread = np.sqrt(np.mean(ordered * ordered, axis=1))
    scaled = ((rows - low) - center) / np.where(varies, spread, 1.0)[:, None]
    return np.where(varies[:, None], scaled, 0.0).T


def units_behind(
    scores: FloatArray, values: FloatArray, weights: Weights = None
) -> tuple[FloatArray, FloatArray]:
    """Return normal scores in increasing order, and the standardized value behind each."""
    rows = np.flatnonzero(~np.isnan(scores))
    if len(rows) == 0:
        return np.zeros(1), np.zeros(1)
    present = np.ldexp(values[rows], -np.frexp(np.abs(values[rows]).max())[1])
    present -= present[0]  # a large offset then costs no digits
    center, spread = present.mean(), present.std()
    if weights is not None:
        center = np.average(present, weights=weights[rows])
        spread = np.sqrt(np.average((present - center) ** 2, weights=weights[rows]))
    if len(rows) > _KNOTS:  # both tails, where values move fastest, and a part of all others
        order = np.argpartition(scores[rows], (_TAIL, len(rows) - _TAIL))
        inner = order[_TAIL : -_TAIL : len(rows) // (_KNOTS - 2 * _TAIL) + 1]
        order = np.concatenate([order[:_TAIL], inner, order[-_TAIL:]])
        rows, present = rows[order], present[order]
    known, first = np.unique(scores[rows], return_index=True)
    return known, (present[first] - center) / (spread if spread > 0 else 1.0)


def scale_columns(
    values: FloatArray, numeric: BoolArray, ranked: BoolArray, scale: Scale, weights: Weights = None
) -> FloatArray:
    """Return a C-ordered copy with the `numeric` columns scaled, the others as they are."""
    scaled = np.empty(values.shape)
    for some in column_blocks(values.shape):
        block = np.array(values[:, some], order="F")
        if scale != "none":
            by_rank = numeric[some] & ranked[some] & (scale == "copula")
            _scale_block(block, by_rank, _weighted_normal_scores, weights)
            _scale_block(block, numeric[some] & ~by_rank, _weighted_standardize, weights)
        scaled[:, some] = block
    return scaled


def _scale_block(block: FloatArray, chosen: BoolArray, method: _Method, weights: Weights) -> None:
    if not chosen.any():
        return
    gaps = np.isnan(block)
    complete = ~gaps.any(axis=0)
    filled = np.flatnonzero(chosen & complete)
    block[:, filled] = method(block[:, filled], weights)
    for j in np.flatnonzero(chosen & ~complete):
        present = ~gaps[:, j]
        if not present.any():  # nothing to rank or to average
            continue
        some = None if weights is None else weights[present]
        block[present, j] = method(block[present, j : j + 1], some)[:, 0]


def _weighted_normal_scores(values: FloatArray, weights: Weights) -> FloatArray:
    """Return normal scores: weighted rows stand for several, and other weights have mean 1."""
    if weights is None:
        return normal_scores(values)
    weights = weights_in_rows(weights)
    scores = np.empty(values.shape)
    for j, column in enumerate(values.T):
        distinct, which = np.unique(column, return_inverse=True)
        own = np.bincount(which, weights, len(distinct))
        ranks = np.cumsum(own) - own + (own + 1.0) / 2.0
        scores[:, j] = ndtri(ranks / (float(own.sum()) + 1.0))[which] if len(distinct) > 1 else 0.0
    return scores


def _weighted_standardize(values: FloatArray, weights: Weights) -> FloatArray:
    plain = standardize(values)  # first: it knows how to treat extreme units
    if weights is None:
        return plain
    shares = weights / weights.sum()
    centred = plain - shares @ plain
    spread = np.sqrt(shares @ centred**2)
    scaled = centred / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.where(np.ptp(plain, axis=0) > 0, scaled, 0.0))


def _doubled_ranks(rows: FloatArray) -> IntArray:
    """Return twice the rank 1..n of each value in its row; equal values share the average."""
    n = rows.shape[1]
    order = np.argsort(rows, axis=1)
    order += np.arange(0, rows.size, max(n, 1))[:, None]  # positions in the flat array
    ordered = rows.ravel()[order.ravel()].reshape(rows.shape)
    rises = ordered[:, 1:] != ordered[:, :-1]
    ranks = np.empty(rows.size, dtype=np.int64)
    if rises.all():
        ranks[order] = np.arange(2, 2 * n + 1, 2)
    else:
        starts = np.ones(rows.shape, dtype=np.bool_)
        starts[:, 1:] = rises
        first = np.flatnonzero(starts)
        length = np.diff(first, append=rows.size)
        ranks[order.ravel()] = np.repeat(2 * (first % n) + length + 1, length)
    return ranks.reshape(rows.shape)


def refuse_far(values: FloatArray, numeric: BoolArray, table: RawTable) -> None:
    """Refuse distances that the kernels would take for infinite."""
    reach = np.fmax(np.fmax.reduce(values, axis=0), -np.fmin.reduce(values, axis=0))
    for j in np.flatnonzero(numeric & (reach >= FARTHEST / 2)):
        raise DataError(
            f"column {table.names[j]!r} of {table.label} reaches {reach[j]:.3g}, too far for "
            f"distances below {FARTHEST:g}: use scale='copula' or 'standard', or another unit.",
            parameter="scale",
        )


#: Up to here integers are classes, if they repeat.
MOST_CLASSES = 20
#: Up to here too, if they run from 0 or 1 without a gap, as class codes do.
MOST_CODED_CLASSES = 100
#: Class codes that run from 0 or 1 up to here are beyond doubt.
_SURE_CLASSES = 10
#: More rows that are alone in their class, and more than half of all, are no classes but free text.
_MOST_SINGLE_ROWS = 50
#: Up to this many combinations of several class columns are all told apart by a search; of more,
#: those of at least this many rows, and this many of them at most.
_FEW_COMBINATIONS, _ROWS_OF_COMBINATION, _MOST_COMBINATIONS = 20, 5, 50
_NUMBERS = (Origin.NUMBER, Origin.TIME, Origin.BOOLEAN)
#: Two times of the same normal score, one seen and one censored, are this far apart: as far as the
#: middle and the 97.5 % quantile of the times.
_EVENT_STEP = 2.0
#: Fewer events say nothing that could be held out.
_FEWEST_EVENTS = 10


def encode_target(
    y: TargetLike,
    *,
    task: Literal["auto"] | Task = "auto",
    scale: Scale = "copula",
    missing: Missing = "error",
) -> Target:
    table, task = read_target(y, task)
    rows = usable_rows([], missing, target=table)
    notes = drop_note(len(rows), table.n_rows, missing)
    return build_target(table.keep(rows), task=task, scale=scale, notes=notes)


def read_target(
    y: TargetLike, task: Literal["auto"] | Task
) -> tuple[RawTable, Literal["auto"] | Task]:
    """Read a target, and say how it is understood if its form tells: censored times do."""
    names: tuple[str, ...] = (y.dtype.names or ()) if isinstance(y, np.ndarray) else ()
    kinds = sorted(y.dtype[name].kind for name in names)
    if len(kinds) == 2 and kinds[0] == "b" and kinds[1] in "iuf":
        if task not in ("auto", "survival"):
            raise ParameterError(
                f"y holds censored times (a structured array), but the metric is for {task}: use "
                "<metric=concordance> or 'integrated_brier'.",
                parameter="metric",
            )
        time, event = names
        if y.dtype[time].kind == "b":
            time, event = event, time
        values = np.column_stack([y[time].astype(np.float64), y[event].astype(np.float64)])
        held, origins = np.asfortranarray(values), (Origin.NUMBER, Origin.NUMBER)
        return RawTable(held, origins, (None, None), (time, event), "y"), "survival"
    if task == "survival":
        raise _not_metric(
            "the metric is one of censored times, but y is no structured array of an event (bool) "
            "and a time (number): make one with sksurv.util.Surv.from_arrays(event, time), or "
            "np.array(list(zip(event, time)), dtype=[('event', bool), ('time', float)])."
        )
    return read_table(y, label="y", prefix="y"), task


def build_target(
    table: RawTable,
    *,
    task: Literal["auto"] | Task,
    scale: Scale,
    notes: list[Note],
    is_learned: bool = True,
) -> Target:
    """Return a target; refuse one that nothing can be learned about, where something shall be."""
    if task not in ("auto", "classification", "regression", "survival"):
        raise ParameterError(
            f"task={task!r} is not known: use 'auto', 'classification', 'regression' or "
            "'survival'.",
            parameter="task",
        )
    check_scale(scale)
    if task == "survival":
        return survival_target(table, scale, [*notes, *table.notes])
    for lone in np.flatnonzero(is_learned & (count_distinct(table.values) <= 1)).tolist():
        _, (only, *_) = _column_classes(table, lone)
        which = "y" if table.n_columns == 1 else f"y: target {table.names[lone]!r}"
        rest = "" if table.n_columns == 1 else " Leave this target out."
        raise DataError(
            f"{which} has one value ({listing([only])}) in all of its "
            f"{plural(table.n_rows, 'row')}: there is nothing to predict.{rest}"
        )
    notes = [*notes, *table.notes]
    if task == "auto":
        task, doubt = guess_task(table)
        notes += doubt
    if task == "classification":
        _refuse_continuous(table)
        labels, classes = class_labels(table)
        parts: tuple[Target, ...] = ()
        for j, name in enumerate(table.names):
            own, known = _column_classes(table, j)
            if is_learned:
                _check_single_rows(own, known, table)
            parts += (Target(task, frozen(own), frozen(known), None, None, (name,)),)
        parts = parts if len(parts) > 1 else ()
        if parts and (n_used := len(np.unique(table.values, axis=0))) != len(classes):
            figures = {"n_targets": table.n_columns, "n_used": n_used, "n_kept": len(classes)}
            notes.append(Note("combinations", figures=figures))
        coded = (frozen(labels), frozen(classes), None, None)
        return Target(task, *coded, table.names, tuple(notes), parts)
    for name, origin in zip(table.names, table.origins, strict=True):
        if origin not in _NUMBERS:
            raise _not_metric(
                f"target {name!r} holds {origin.value}, not numbers: use <metric='error' (a "
                "selector) or task='classification'|--metric error>, or convert it to numbers."
            )
    everything = np.ones(table.n_columns, dtype=np.bool_)
    values = frozen(scale_columns(table.values, everything, everything, scale))
    refuse_far(values, everything, table)
    return Target(task, None, None, values, frozen(table.values), table.names, tuple(notes))


def class_labels(table: RawTable) -> tuple[IntArray, AnyArray]:
    """Return class codes and classes; several columns become one class per combination."""
    columns = [_column_classes(table, j) for j in range(table.n_columns)]
    if len(columns) == 1:
        return columns[0]
    codes = np.column_stack([labels for labels, _ in columns])
    used, labels, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    labels = labels.reshape(-1).astype(np.int64)
    if len(used) > _FEW_COMBINATIONS:
        by_size = np.argsort(-counts, kind="stable")[:_MOST_COMBINATIONS]
        n_kept = max(int((counts[by_size] >= _ROWS_OF_COMBINATION).sum()), _FEW_COMBINATIONS)
        kept = used[by_size[:n_kept]]
        differ = np.stack([(used != one).sum(axis=1) for one in kept])
        used, labels = kept, differ.argmin(axis=0)[labels]
    names = [classes.tolist() for _, classes in columns]
    combined = [tuple(names[j][code] for j, code in enumerate(row)) for row in used]
    return labels, object_array(combined)


def _column_classes(table: RawTable, j: int) -> tuple[IntArray, AnyArray]:
    used, labels = np.unique(table.values[:, j], return_inverse=True)
    known = table.categories[j]
    if known is not None:
        return labels.astype(np.int64), known[used.astype(np.int64)]
    integer = bool(are_integers(used[:, None])[0]) and bool((np.abs(used) < 2**63).all())
    return labels.astype(np.int64), used.astype(np.int64) if integer else used


def _refuse_continuous(table: RawTable) -> None:
    """Refuse numbers with fractions that hardly repeat as classes."""
    distinct = count_distinct(table.values)
    fractions = ~are_integers(table.values)
    for j in np.flatnonzero(fractions & (distinct > most_count_values(table.n_rows))):
        raise _not_metric(
            f"Unknown label type: continuous. Target {table.names[j]!r} has {distinct[j]} "
            f"different numbers with fractions in {table.n_rows} rows, which cannot be classes: "
            "use <metric='r2' (a selector) or task='regression'|--metric r2>, or bin it first."
        )


def _check_single_rows(labels: IntArray, classes: AnyArray, table: RawTable) -> None:
    """Warn of classes of one row; refuse most of them: free text, names and dates."""
    sizes = np.bincount(labels, minlength=len(classes))
    single = [classes[c] for c in np.flatnonzero(sizes == 1)]
    if len(single) > max(table.n_rows // 2, _MOST_SINGLE_ROWS):
        raise DataError(
            f"y ({listing(table.names)}) has {len(classes)} different values in {table.n_rows} "
            f"rows, {len(single)} of them in one row only: nothing can be learned about these. Use "
            "a target with classes that repeat; convert dates and numbers written as text to "
            "numbers."
        )
    if single:
        who = "class" if len(single) == 1 else "classes"
        have = "has" if len(single) == 1 else "have"
        warnings.warn(
            f"{who} {listing(single)} {have} a single row: nothing can be learned about "
            f"{'it' if len(single) == 1 else 'them'}; merge or leave out such classes.",
            DataWarning,
            stacklevel=4,
        )


def guess_task(table: RawTable) -> tuple[Task, list[Note]]:
    if any(origin not in (Origin.NUMBER, Origin.TIME) for origin in table.origins):
        return "classification", []
    integer = are_integers(table.values)
    known = [one is Origin.NUMBER for one in table.origins] & integer
    guesses: list[tuple[Task, bool]] = [
        _guess_column(values) if known[j] else ("regression", False)
        for j, values in enumerate(table.values.T)
    ]
    tasks = [task for task, _ in guesses]
    task: Task = "regression" if "regression" in tasks else "classification"
    notes = []
    if len(guesses) == 1 and guesses[0][1]:
        values = table.values[:, 0]
        meant, other = ("classes", "r2") if task == "classification" else ("numbers", "error")
        figures = {
            "distinct": len(np.unique(values)), "low": float(values.min()),
            "high": float(values.max()), "meant": meant, "setting": f"<metric={other}>",
        }  # fmt: skip
        notes.append(Note("guessed target", table.names[:1], figures))
    if len(set(tasks)) > 1:
        notes.append(Note("mixed targets", figures={"setting": "<metric=>"}))
    return task, notes


def _guess_column(values: FloatArray) -> tuple[Task, bool]:
    distinct = np.unique(values)
    m = len(distinct)
    coded = distinct[0] in (0.0, 1.0) and distinct[-1] - distinct[0] == m - 1
    repeats = len(values) >= ROWS_PER_COUNT_VALUE * m
    most = MOST_CODED_CLASSES if coded else MOST_CLASSES
    if m <= 2 or (repeats and m <= most):
        return "classification", m > 2 and not (coded and m <= _SURE_CLASSES)
    return "regression", m <= MOST_CODED_CLASSES and m < len(values)


def survival_target(table: RawTable, scale: Scale, notes: list[Note]) -> Target:
    time, event = table.values.T
    if (time < 0).any():
        raise DataError(
            f"y: the time {table.names[0]!r} is negative in {int((time < 0).sum())} rows: count it "
            "from the start of the observation."
        )
    if event.sum() < _FEWEST_EVENTS or np.ptp(time) == 0:
        raise DataError(
            f"y: {int(event.sum())} events ({table.names[1]!r}) at {len(np.unique(time))} "
            f"different times in {len(time)} rows: at least {_FEWEST_EVENTS} events are needed."
        )
    numeric = np.array([True, False])
    values = scale_columns(table.values, numeric, numeric, scale)
    values[:, 1] = _EVENT_STEP * event
    raw = frozen(table.values)
    return Target("survival", None, None, frozen(values), raw, table.names, tuple(notes))


def as_structured(raw: FloatArray, names: tuple[str, ...]) -> AnyArray:
    """Return times and events as the structured array that models of survival are fitted to."""
    time, event = names
    y = np.empty(len(raw), dtype=[(event, np.bool_), (time, np.float64)])
    y[event], y[time] = raw[:, 1] > 0, raw[:, 0]
    return y


def null_martingale(time: FloatArray, event: BoolArray) -> FloatArray:
    """Return how many events more each row had than the average row until its time."""
    times, at = np.unique(time, return_inverse=True)
    leaving = np.bincount(at, minlength=len(times))
    at_risk = len(time) - np.cumsum(leaving) + leaving
    hazard = np.cumsum(np.bincount(at, event, len(times)) / at_risk)
    return np.asarray(event - hazard[at])
