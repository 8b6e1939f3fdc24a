"""A last pass over a set: which of its features the model that stands for it needs least.

Features leave by their permutation importance, measured on rows set aside from those that may
train: nothing of the rows that evaluate is used.
"""

from collections.abc import Sequence

import numpy as np

from pinsker._types import IntArray
from pinsker.holdout._evaluate import FeatureSet, HoldoutEvaluator
from pinsker.metrics import Metric
from pinsker.models import HoldoutModel, ModelData, losses_without

#: Share of the rows that measures importance, and share of the features that leaves at a time.
_ASIDE, _SHARE = 0.3, 0.2
#: Rows that are fitted to and measured at most: more do not change which feature is weakest.
_MOST_ROWS = 2000


def pruned_orders(
    evaluator: HoldoutEvaluator,
    sets: Sequence[FeatureSet],
    rows: Sequence[IntArray],
    n_fixed: int,
    seed: int,
) -> list[FeatureSet]:
    """Return the features of each set, the last to leave first, by some rows each."""
    known = (evaluator.models[0], evaluator.metric, n_fixed, seed)
    calls = [(*one, *known) for one in zip(sets, rows, strict=True)]
    return evaluator.jobs.run(_prune, evaluator.data.rows, calls)


def _prune(
    data: ModelData,
    features: FeatureSet,
    rows: IntArray,
    model: HoldoutModel,
    metric: Metric,
    n_fixed: int,
    seed: int,
) -> FeatureSet:
    """Return the features of one set in the order of their worth."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(rows)[:_MOST_ROWS]
    aside, train = np.split(shuffled, [int(_ASIDE * len(shuffled))])
    fixed, left, gone = features[:n_fixed], list(features[n_fixed:]), []
    while len(left) > 1:
        some = tuple(sorted((*fixed, *left)))
        order = rng.permutation(aside)
        worth = losses_without(data, model, train, aside, some, metric, order)
        weakest = sorted(left, key=lambda feature: worth[some.index(feature)])
        weakest = weakest[: max(1, int(_SHARE * len(left)))]
        gone.extend(weakest)
        left = [feature for feature in left if feature not in weakest]
    return (*fixed, *left, *reversed(gone))
