"""Held-out rows: which rows evaluate, what they say about a set, and what may be claimed.

`make_folds` divides the rows, `HoldoutEvaluator` fits models and scores them, `CrossFit` evaluates
the sizes of paths and returns a `Comparison`, `FreshRows` certifies, `audit` measures what a user's
own model loses. A `Metric` carries the loss through all of them.
"""

from pinsker.selection.holdout._audit import AuditResult, audit
from pinsker.selection.holdout._certify import (
    FRESH_ROWS,
    SEARCH_ROWS,
    FreshRows,
    crossfit_certificate,
    path_certificate,
)
from pinsker.selection.holdout._compare import ALL_FEATURES, Comparison, SubsetResult
from pinsker.selection.holdout._crossfit import CrossFit, geometric_sizes, rows_of_searches
from pinsker.selection.holdout._dependence import (
    MOST_HASHES,
    count_known,
    note_divided_groups,
    note_few_groups,
    note_known_rows,
    note_repeated_rows,
    note_weights,
    number_groups,
    read_groups,
)
from pinsker.selection.holdout._evaluate import BestScores, HoldoutEvaluator
from pinsker.selection.holdout._metrics import Metric, rare_class_note, several_targets_note
from pinsker.selection.holdout._parallel import Jobs
from pinsker.selection.holdout._results import CVResults
from pinsker.selection.holdout._rows import (
    SEARCH_ONCE_FROM,
    Fold,
    make_folds,
    set_search_rows_aside,
)
from pinsker.selection.holdout._split import (
    MOST_CERTIFIED,
    MOST_READ,
    MOST_SEARCHED,
    SPLIT_FROM,
    SplitFit,
    search_parts,
    split_by_time,
    split_counts,
    split_rows,
    trained_rows,
)

__all__ = [
    "ALL_FEATURES",
    "FRESH_ROWS",
    "MOST_CERTIFIED",
    "MOST_HASHES",
    "MOST_READ",
    "MOST_SEARCHED",
    "SEARCH_ONCE_FROM",
    "SEARCH_ROWS",
    "SPLIT_FROM",
    "AuditResult",
    "BestScores",
    "CVResults",
    "Comparison",
    "CrossFit",
    "Fold",
    "FreshRows",
    "HoldoutEvaluator",
    "Jobs",
    "Metric",
    "SplitFit",
    "SubsetResult",
    "audit",
    "count_known",
    "crossfit_certificate",
    "geometric_sizes",
    "make_folds",
    "note_divided_groups",
    "note_few_groups",
    "note_known_rows",
    "note_repeated_rows",
    "note_weights",
    "number_groups",
    "path_certificate",
    "rare_class_note",
    "read_groups",
    "rows_of_searches",
    "search_parts",
    "set_search_rows_aside",
    "several_targets_note",
    "split_by_time",
    "split_counts",
    "split_rows",
    "trained_rows",
]
