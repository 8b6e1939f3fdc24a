"""Held-out rows: which rows evaluate, what they say about a set, and what may be claimed.

`make_folds` divides the rows, `HoldoutEvaluator` fits models and scores them, `CrossFit` evaluates
the sizes of paths and returns a `Comparison`, `FreshRows` certifies, `audit` measures what a user's
own model loses. A `Metric` carries the loss through all of them.
"""

from pinsker.holdout._audit import AuditResult, audit
from pinsker.holdout._certificate import (
    CERTIFICATE,
    ESTIMATE,
    NOT_TESTED,
    TOO_FEW_ROWS,
    Certificate,
)
from pinsker.holdout._certify import FreshRows, crossfit_certificate, path_certificate
from pinsker.holdout._compare import ALL_FEATURES, Comparison, SubsetResult
from pinsker.holdout._crossfit import CrossFit, geometric_sizes, rows_of_searches
from pinsker.holdout._dependence import (
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
from pinsker.holdout._evaluate import BestScores, HoldoutEvaluator
from pinsker.holdout._parallel import Jobs
from pinsker.holdout._results import CVResults
from pinsker.holdout._rows import SEARCH_ONCE_FROM, Fold, make_folds, set_search_rows_aside
from pinsker.holdout._split import (
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
    "CERTIFICATE",
    "ESTIMATE",
    "MOST_CERTIFIED",
    "MOST_HASHES",
    "MOST_READ",
    "MOST_SEARCHED",
    "NOT_TESTED",
    "SEARCH_ONCE_FROM",
    "SPLIT_FROM",
    "TOO_FEW_ROWS",
    "AuditResult",
    "BestScores",
    "CVResults",
    "Certificate",
    "Comparison",
    "CrossFit",
    "Fold",
    "FreshRows",
    "HoldoutEvaluator",
    "Jobs",
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
    "read_groups",
    "rows_of_searches",
    "search_parts",
    "set_search_rows_aside",
    "split_by_time",
    "split_counts",
    "split_rows",
    "trained_rows",
]
