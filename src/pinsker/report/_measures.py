"""Information of single features: alone, given the kept ones, and about each other."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.encoding import Encoded, encode_again
from pinsker.engine import Backward, Forward, KNNSettings, Problem
from pinsker.exceptions import DataError
from pinsker.report._kept import kept_features

#: Rows that are measured; more would change the digits nobody reads.
_MOST_ROWS = 1500
#: Information of the best of some independent columns reaches this over the root of the rows in one
#: of twenty tables; stand-ins have more.
_CHANCE = 1.9
#: Dropped features whose stand-ins are looked for, those with the most information alone first.
_MOST_STAND_INS = 60


@dataclass(frozen=True, eq=False)
class Measures:
    """Figures of single features, one per feature, in nats."""

    encoded: Encoded  # the table as understood
    n_rows: int  # rows that were measured
    alone: FloatArray  # I(Y
    given_kept: FloatArray  # what a feature adds to the kept ones
    stand_ins: dict[int, tuple[int, float]]


def measure(selector: Any, X: Any, y: Any) -> Measures:
    """Measure every feature of the table that a selector was fitted to."""
    knn = getattr(selector, "knn", None) or KNNSettings()  # counts and linear models have none
    encoded, kept = _encode(selector, X, y, knn), kept_features(selector)
    rows = _spread(encoded.n_rows)
    problem = _take(Problem.of(encoded), rows)
    k = min(knn.n_neighbors, len(rows) - 1)
    alone = Forward(problem, n_neighbors=k).scores()
    given = Forward(problem, n_neighbors=k, active=kept).scores()
    if kept:
        given[kept] = Backward(problem, n_neighbors=k, active=kept).scores()[kept]
    stand_ins = _find_stand_ins(encoded, problem, rows, alone, kept, k)
    return Measures(encoded, len(rows), alone, given, stand_ins)


def _encode(selector: Any, X: Any, y: Any, knn: KNNSettings) -> Encoded:
    """Encode the table of `fit` as the selector did."""
    encoded = encode_again(
        X,
        y,
        selector.feature_columns_,
        task=selector.task_,
        categorical_features=selector.categorical_features,
        missing=selector.missing,
        feature_groups=selector.feature_groups,
        scale=knn.scale,
    )
    if encoded.feature_names != selector.path_.names:
        raise DataError(
            f"the table given to report has {encoded.n_features} features that are not those "
            f"of fit ({selector.path_.n_features}): pass the X that the selector was fitted to."
        )
    return encoded


def _find_stand_ins(
    encoded: Encoded, problem: Problem, rows: IntArray, alone: FloatArray, kept: list[int], k: int
) -> dict[int, tuple[int, float]]:
    dropped = sorted(
        set(range(encoded.n_features)) - set(kept), key=lambda feature: -alone[feature]
    )
    if not kept:
        return {}
    of_kept = np.isin(problem.feature_of_column, kept)
    values = np.ascontiguousarray(problem.values[:, of_kept])
    features = np.searchsorted(sorted(kept), problem.feature_of_column[of_kept])
    found = {}
    for feature in dropped[:_MOST_STAND_INS]:
        labels, target = _as_target(encoded, problem, rows, feature)
        about = Problem.from_arrays(values, labels=labels, target=target, features=features)
        scores = Forward(about, n_neighbors=k).scores()
        best = int(np.argmax(scores))
        if scores[best] > _CHANCE / np.sqrt(len(rows)):  # the others are replaced by nothing
            found[feature] = (sorted(kept)[best], float(scores[best]))
    return found


def _as_target(
    encoded: Encoded, problem: Problem, rows: IntArray, feature: int
) -> tuple[IntArray | None, FloatArray | None]:
    """Return a feature as classes or as numbers."""
    columns = list(encoded.features[feature])
    if len(columns) == 1 and not encoded.columns.kinds[columns[0]].is_numeric:
        codes = encoded.columns.values[rows, columns[0]]
        return np.unique(codes, return_inverse=True)[1].astype(np.int64), None
    return None, np.ascontiguousarray(problem.values[:, columns])


def _spread(n_rows: int) -> IntArray:
    """Return an even spread of rows: the same ones every time, from the whole table."""
    if n_rows <= _MOST_ROWS:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, _MOST_ROWS).astype(np.int64)


def _take(problem: Problem, rows: IntArray) -> Problem:
    labels = None if problem.labels is None else problem.labels[rows]
    if labels is not None:  # a rare class may be gone: codes stay 0, 1, 2, ...
        labels = np.unique(labels, return_inverse=True)[1]
    return Problem.from_arrays(
        problem.values[rows],
        labels=labels,
        target=None if problem.target is None else problem.target[rows],
        features=problem.feature_of_column,
    )
