"""Held-out rows: which rows evaluate, what they say about a set, and what may be claimed.

`RowPlan` divides the rows, `HoldoutEvaluator` fits models and scores them, `find_sizes` evaluates
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
    weights_of,
)
from pinsker.holdout._certify import (
    FEWEST_CERTIFIED,
    Choice,
    FreshRows,
    certify,
    choose,
    crossfit_certificate,
    interval_notes,
    path_certificate,
)
from pinsker.holdout._compare import (
    ALL_FEATURES,
    CONFIDENCE,
    Comparison,
    CVResults,
    RoughIncrease,
    SubsetResult,
    first_confidence,
)
from pinsker.holdout._evaluate import FitContext, HoldoutEvaluator, Jobs, most_predictions
from pinsker.holdout._labels import LabelPlan, rows_to_label
from pinsker.holdout._pair import ModelPair, certify_stream, fit_both, notes_of_training
from pinsker.holdout._rows import (
    MOST_CERTIFIED,
    MOST_HASHES,
    MOST_READ,
    SEARCH_ONCE_FROM,
    SPLIT_FROM,
    Fold,
    PartSizes,
    RowCounts,
    RowPlan,
    compare_profiles,
    compare_with_fit,
    count_known,
    demand_labels,
    fitted_columns,
    group_copies,
    kept_columns,
    kept_suspects,
    make_folds,
    note_known_rows,
    note_weights,
    number_groups,
    read_groups,
    rows_of_searches,
    set_search_rows_aside,
    splits_into_parts,
    warn_of,
    without_weightless,
)
from pinsker.holdout._sizes import FoundPaths, find_sizes, geometric_sizes, search_paths
from pinsker.holdout._subgroups import drawn_subgroups, read_subgroups
