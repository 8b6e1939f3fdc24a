"""What the information of a set says by itself: its standard error, and Bayes errors it allows."""

import math

import numpy as np
from scipy.special import entr

from pinsker._notes import Note, Notes
from pinsker.bounds import fano_error, hellman_raviv_error
from pinsker.encoding import NOMINAL_STEP
from pinsker.holdout._evaluate import FitContext
from pinsker.information import knn_terms
from pinsker.search import SelectionPath

#: Standard errors by which a figure is moved before "at most" or "at least" is said of it.
_ERRORS = 2.0


def interval_notes(context: FitContext, path: SelectionPath, size: int) -> Notes:
    """Return the error of what a set of a path lacks, and for classes both bounds of its error."""
    encoded, rule, facts = context.encoded, context.budget, context.facts
    n_moved = int(abs(size - path.sizes[0]))
    lost = float(rule.lost(path)[n_moved])
    if encoded.weights is not None or not rule.has_theory or not math.isfinite(lost):
        return ()
    labels, k = encoded.target.labels, context.settings.knn.n_neighbors
    values, target = encoded.columns.metric(), encoded.target.values
    y = np.asarray(target if labels is None else labels[:, None] * NOMINAL_STEP, dtype=np.float64)
    best = path.order[: path.best_size] if rule.reference == "best" else range(encoded.n_features)
    kept, most = (
        knn_terms(values[:, [c for j in own for c in encoded.features[j]]], y, None, k=k).terms
        for own in (path.order[:size], best)
    )
    of_lost, of_kept = (float(np.std(one)) / math.sqrt(len(one)) for one in (most - kept, kept))
    notes: Notes = ()
    if of_lost > 0.0:
        bound = float(rule.bound(facts).growth(lost + _ERRORS * of_lost))
        notes = (Note("error of what is lost", figures={"error": of_lost, "bound": bound}),)
    if labels is None or facts.n_targets > 1 or rule.metric_for(facts) != "error":
        return notes
    counts = np.bincount(labels)
    entropy = float(entr(counts / counts.sum()).sum())
    left = min(max(entropy - path.information[n_moved], 0.0), entropy)
    ends = np.clip([left - _ERRORS * of_kept, left + _ERRORS * of_kept], 0.0, entropy)
    lower = fano_error(float(ends[0]), len(counts))
    upper = min(hellman_raviv_error(float(ends[1])), 1.0 - (facts.largest_prior or 0.0))
    said = {"left": left, "error": of_kept, "lower": lower, "upper": upper}
    return (*notes, Note("Bayes error of a set", figures=said))
