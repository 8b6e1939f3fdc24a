"""``pinsker demo``: the same as ``pinsker select``, on data that come with scikit-learn."""

import sys

from sklearn.datasets import load_breast_cancer

from pinsker.cli import _options as options
from pinsker.cli._leaving import KEPT, NOT_KEPT
from pinsker.cli._selecting import Wishes, fit
from pinsker.cli._summary import make_console, print_summary, verdict_of
from pinsker.cli._tables import Sheet


def demo(
    error_budget: options.Budget = None,
    direction: options.Way = "auto",
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
) -> int:
    """Show a selection on 569 tumours with 30 measurements each."""
    data = load_breast_cancer(as_frame=True)
    frame = data.frame.drop(columns="target")
    frame["diagnosis"] = data.target.map(dict(enumerate(data.target_names)))
    wishes = Wishes(error_budget=error_budget, direction=direction, jobs=jobs)
    sheet = Sheet("scikit-learn's breast cancer data", frame, "diagnosis")
    outcome = fit(sheet, wishes, show_progress=not quiet and sys.stderr.isatty())
    if not quiet:
        print_summary(make_console(), outcome)
        print("\nTry it on a table of yours: pinsker select TABLE --target COLUMN")
    return KEPT if verdict_of(outcome.selector) == "kept" else NOT_KEPT
