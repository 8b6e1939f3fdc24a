"""Stage: metrics. One row per metric: its task, sign, range, words, influence and bound."""

from pinsker.metrics._metric import Metric, rare_class_note, several_targets_note
from pinsker.metrics._names import (
    OWN_METRICS,
    CostMatrix,
    MetricLike,
    UnknownBound,
    WorstTarget,
    check_metric,
    metric_name,
    task_of,
)
from pinsker.metrics._table import WORST, best_score, metric_words, shown_value

__all__ = [
    "OWN_METRICS",
    "WORST",
    "CostMatrix",
    "Metric",
    "MetricLike",
    "UnknownBound",
    "WorstTarget",
    "best_score",
    "check_metric",
    "metric_name",
    "metric_words",
    "rare_class_note",
    "several_targets_note",
    "shown_value",
    "task_of",
]
