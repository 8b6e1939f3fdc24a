"""What must hold of Table I, and the cells whose protocol cannot be matched."""

import numpy as np

from reproduce.realdata import MACHINES
from reproduce.settings import Check, Row
from reproduce.tables import chosen

#: What the paper prints, for error budgets of 0.05, 0.1, 0.25, 0.5 and 1.
PUBLISHED = {
    "ORL": (0.8, 0.75, 0.7, 0.7375, 0.7125),
    "warpAR10P": (0.97, 0.98, 0.98, 0.98, 0.98),
    "glass": (0.99, 0.99, 0.99, 0.99, 0.99),
    "wine": (0.96, 0.96, 0.96, 0.95, 0.83),
    "ALLAML": (1.0, 1.0, 1.0, 0.92, 0.78),
}
#: Sets whose published numbers no protocol of ours reaches with *all* features.
UNMATCHED = {
    "glass": "0.99 needs the row number as a feature, see 'glass with row number'",
}


def checks(found: list[Row]) -> list[Check]:
    """Return one claim per cell."""
    result = []
    for name, values in PUBLISHED.items():
        for row in chosen(found, set=name, recipe="default"):
            theirs = values[(0.05, 0.1, 0.25, 0.5, 1.0).index(row["threshold"])]
            result.append(_cell(found, name, row, theirs))
    return result


def _cell(found: list[Row], name: str, row: Row, theirs: float) -> Check:
    """Compare with the machine that matches the published value best with all features.

    The published value is one split: its own standard error is the spread over ours.
    """
    full = chosen(found, set=name, recipe="all features")[0]
    machine = min(MACHINES, key=lambda m: abs(full[m] - PUBLISHED[name][0]))
    ours, spread, splits = row[machine], row[f"{machine} spread"], row["splits"]
    error = float(np.sqrt(spread**2 / splits + max(spread, full[f"{machine} spread"]) ** 2))
    lost = full[machine] - ours
    mean = f"{ours:.3f} ± {spread / np.sqrt(splits):.3f}"
    reached = f"{mean} against {theirs:g}, {row['kept']:.1f} features, {machine} machine"
    claim = f"{name} at {row['threshold']:g}: not below the published accuracy"
    if name in UNMATCHED:
        return Check(claim, f"{reached}; not to be matched: {UNMATCHED[name]}", None)
    held = bool(ours >= theirs - 2 * error)
    if held and ours < theirs - 2 * spread / np.sqrt(splits):
        reached += "; below by more than two standard errors of our mean alone"
    if not held:
        within = "within" if lost <= row["threshold"] else "above"
        reached += f"; lost {lost:.3f}, {within} the budget"
    return Check(claim, reached, held)
