"""Stage: metrics. One row per metric: its task, sign, range, words, influence and bound."""

from pinsker.metrics._metric import Metric, rare_class_note, several_targets_note, weighted_rows
from pinsker.metrics._scorers import (
    CostMatrix,
    MetricLike,
    WorstTarget,
    check_metric,
    metric_name,
    task_of,
)
from pinsker.metrics._subgroups import ALL_ROWS, SubgroupResult, Subgroups
from pinsker.metrics._table import (
    MEAN,
    METRICS,
    WORST,
    best_score,
    bound_for,
    metric_row,
    metric_words,
    shown_value,
)

__all__ = [
    "ALL_ROWS", "MEAN", "METRICS", "WORST", "CostMatrix", "Metric", "MetricLike", "SubgroupResult",
    "Subgroups", "WorstTarget", "best_score", "bound_for", "check_metric", "metric_name",
    "metric_row", "metric_words", "rare_class_note", "several_targets_note", "shown_value",
    "task_of", "weighted_rows",
]  # fmt: skip
