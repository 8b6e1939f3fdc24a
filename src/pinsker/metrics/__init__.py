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
    BLOCKS_LEFT_OUT,
    MEAN,
    METRICS,
    WORST,
    best_score,
    bound_for,
    metric_row,
    metric_words,
    shown_value,
)

__all__ = ["METRICS", "bound_for"]  # what the pages of the API name here
