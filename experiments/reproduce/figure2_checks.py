"""What must hold on the 50 problems of Figure 2."""

import numpy as np

from reproduce.problems import N_FRESH
from reproduce.recipes import COUNT, ER
from reproduce.settings import Check, Row
from reproduce.tables import average, chosen, standard_error

BUDGET = 0.05


def checks(rows: list[Row], published: list[Row]) -> list[Check]:
    """Return every claim with what was reached."""
    return [
        *_published_code(rows),
        _above_the_published_curve(rows, published),
        _above_all_features(rows),
        *_forward_path(rows, published),
    ]


def _published_code(rows: list[Row]) -> list[Check]:
    """Check the published code as it ran, deltas in sequence; alone is told beside it."""
    claims = ((BUDGET, "14.9 or more of 15", 14.9, 15.0), (1.0, "about 12 to 13 of 15", 12.0, 13.0))
    found = []
    for delta, words, least, most in claims:
        chained = average(_at(rows, "as published, in sequence", delta), "kept") or float("nan")
        alone = average(_at(rows, "as published", delta), "kept") or float("nan")
        held = least <= round(chained, 1) <= most
        reached = f"{chained:.2f} in sequence, {alone:.2f} alone"
        found.append(Check(f"as published keeps {words} at {delta:g}", reached, held))
    return found


def _above_the_published_curve(rows: list[Row], published: list[Row]) -> Check:
    ours = average(_at(rows, "default", BUDGET), "accuracy")
    theirs = average(_at(published, "published", BUDGET), "accuracy")
    reached = f"{ours:.3f} against {theirs:.3f}" if theirs is not None else f"{ours:.3f}"
    held = ours > theirs if theirs is not None else None
    return Check("default at 0.05 is above the published accuracy", reached, held)


def _above_all_features(rows: list[Row]) -> Check:
    ours, full = _at(rows, "default", BUDGET), chosen(rows, recipe="all features")
    values = {name: (average(ours, name), average(full, name)) for name in ("accuracy", "fresh")}
    kept = average(ours, "kept")
    gain = np.array([a["accuracy"] - b["accuracy"] for a, b in zip(ours, full, strict=True)])
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else float("nan")
    reached = (
        f"{values['accuracy'][0]:.3f} against {values['accuracy'][1]:.3f} "
        f"(gain {gain.mean():+.3f} ± {error:.3f}; on {N_FRESH} fresh rows {values['fresh'][0]:.3f} "
        f"against {values['fresh'][1]:.3f}), {kept:.1f} of 15 features"
    )
    held = gain.mean() > 0 and kept is not None and kept < 15
    return Check("default at 0.05 is above all features on the same splits, with fewer features",
                 reached, bool(held))  # fmt: skip


def _forward_path(rows: list[Row], published: list[Row]) -> list[Check]:
    """Compare two means over 50 problems each; both have a standard error."""
    found = []
    for size in (4, 6, 8, 10, 12):
        ours = chosen(rows, recipe="forward path", criterion=COUNT, threshold=float(size))
        theirs = average(chosen(published, criterion=COUNT, threshold=float(size)), "accuracy")
        theirs_error = average(chosen(published, criterion=COUNT, threshold=float(size)), "error")
        mean, error = average(ours, "accuracy"), standard_error(ours, "accuracy")
        claim = f"forward path with {size} features is not below the published accuracy"
        if theirs is None or mean is None:
            found.append(Check(claim, f"{mean:.3f} ± {error:.3f}", None))
        else:
            reached = f"{mean:.3f} ± {error:.3f} against {theirs:.3f} ± {theirs_error:.3f}"
            both = float(np.hypot(error, theirs_error or 0.0))
            if mean < theirs - 2 * error:
                reached += "; below by more than two standard errors of our mean alone"
            found.append(Check(claim, reached, mean >= theirs - 2 * both))
    return found


def _at(rows: list[Row], recipe: str, delta: float) -> list[Row]:
    return chosen(rows, recipe=recipe, criterion=ER, threshold=delta)
