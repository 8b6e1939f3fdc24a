"""A fit that is one search: its progress, interruptions, and an engine that is lost."""

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from pinsker._types import Fields
from pinsker.exceptions import EngineLostError, PinskerWarning
from pinsker.holdout import FitContext
from pinsker.metrics import metric_name
from pinsker.search import Direction, SearchInterrupted, SelectionPath, Trace
from pinsker.selectors._base import Selector
from pinsker.selectors._fitted import fitted_attributes, set_fitted
from pinsker.selectors._progress import Progress, ProgressLine

#: Modules between a user's call of ``fit`` and the place of a warning.
_OURS = ("pinsker.", "sklearn.", "contextlib")


def open_progress(
    selector: Selector,
    context: FitContext,
    direction: Direction,
    n_moves: int,
    score: str = "difference",
) -> Progress:
    """Open the progress of a fit that is one search."""
    bound = context.budget.bound(context.facts)
    line = ProgressLine(
        type(selector).__name__,
        n_moves,
        lambda lost: float(bound.growth(lost)),
        metric_name(context.budget.metric_for(context.facts)),
        grows=direction == "forward",
    )

    def attributes(trace: Trace) -> Fields:
        names, n_fixed = context.encoded.feature_names, len(context.fixed)
        path = trace.path(direction, names, score, n_fixed=n_fixed)
        decision = context.rule.decide(path, context.facts)
        return fitted_attributes(context, selector.n_features_in_, path, decision)

    return Progress(
        selector,
        context.user_data,
        n_moves,
        line=line if selector.verbose else None,
        attributes=attributes,
        direction=direction,
    )


def run_search(
    selector: Selector,
    context: FitContext,
    search: Callable[[SelectionPath | None], SelectionPath],
) -> tuple[SelectionPath, bool]:
    """Run a search, or go on with an earlier one; return its path and if it was interrupted."""
    same = selector._record.fingerprint == context.fingerprint
    earlier = selector.path_ if selector.warm_start and same else None
    try:
        return search(earlier), False
    except EngineLostError as error:
        keep_partial(selector, context, error)
        raise
    except SearchInterrupted as interrupted:
        warnings.warn(
            f"{type(selector).__name__}.fit was interrupted after {len(interrupted.path.moves)} "
            "steps<: path_ holds the sets seen so far. Fit again with warm_start=True to go on|>.",
            PinskerWarning,
            stacklevel=_level_of_caller(),
        )
        return interrupted.path, True


def keep_partial(
    selector: Selector, context: FitContext, error: EngineLostError, **known: Any
) -> None:
    """Keep what is known of a path whose engine was lost, and say so in the error."""
    path = error.path
    if path is None:
        return
    decision = known.pop("decision", None) or context.rule.decide(path, context.facts)
    attributes = fitted_attributes(context, selector.n_features_in_, path, decision, **known)
    set_fitted(selector, attributes)
    again = "."
    if "warm_start" in selector.get_params(deep=False):
        again = "<: fit again with warm_start=True, and another engine or client, to go on|>."
    lost = EngineLostError(
        f"{error.said} path_ holds the sets seen in {len(path.moves)} steps{again}"
    )
    lost.path = path
    raise lost from error


@contextmanager
def keeping_path(
    selector: Selector, context: FitContext, paths: Mapping[str, SelectionPath], **known: Any
) -> Iterator[None]:
    """Keep a path where the engine is lost after the searches: the first that was measured."""
    try:
        yield
    except EngineLostError as error:
        measured = [one for one in paths.values() if not np.isnan(one.information).any()]
        error.path = (measured or list(paths.values()))[0]
        if measured:
            keep_partial(selector, context, error, **known)
        raise


def _level_of_caller() -> int:
    """Return the stack level of the first frame outside of this package and scikit-learn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(_OURS):
        level, frame = level + 1, frame.f_back
    return level
