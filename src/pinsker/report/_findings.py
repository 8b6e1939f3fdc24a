"""Further findings about a choice, as plain rows: what `summarise` is given, and shows if it is."""

from collections.abc import Sequence
from typing import Any

from pinsker.explain import Alternative, Importance, Interactions, Stability, Substitute
from pinsker.metrics import metric_words

#: Sets of features that work together: so many are shown, the largest surplus first.
_MOST_SETS = 20

Row = dict[str, Any]


def importance_rows(importance: Importance | None) -> Row | None:
    """Return what each feature is worth, most important first, those that are kept before others.

    Returns
    -------
    dict or None
        ``metric``, ``metric_name``, ``confidence``, ``n_rows``, ``notes`` and ``features``: each
        with ``name``, ``kept``, ``value``, ``lower`` and ``upper``.
    """
    if importance is None:
        return None
    columns = importance.features, importance.kept, importance.value
    rows = [
        {"name": name, "kept": kept, "value": value, "lower": lower, "upper": upper}
        for name, kept, value, lower, upper in zip(
            *columns, importance.lower, importance.upper, strict=True
        )
    ]
    return {
        "metric": importance.metric,
        "metric_name": metric_words(importance.metric),
        "confidence": importance.confidence,
        "n_rows": importance.n_rows,
        "notes": list(map(str, importance.notes)),
        "features": sorted(rows, key=lambda row: (not row["kept"], -row["value"])),
    }


def interaction_rows(interactions: Interactions | None) -> Row | None:
    """Return the sets of features that work together and are significant."""
    if interactions is None:
        return None
    found = interactions.significant()
    sets = [
        {
            "features": [interactions.names[j] for j in one.features],
            "alone": max(one.alone),
            "together": one.together,
            "surplus": one.surplus,
            "p_value": one.p_value,
        }
        for one in found[:_MOST_SETS]
    ]
    return {"n_sets": interactions.n_sets, "n_found": len(found), "sets": sets}


def substitute_rows(substitutes: Sequence[Substitute] | None) -> list[Row] | None:
    """Return what could take the place of each kept feature."""
    if substitutes is None:
        return None
    return [
        {
            "feature": one.feature,
            "replacement": list(one.replacement),
            "dependence": one.dependence,
            "increase": one.increase,
            "increase_upper": one.increase_upper,
            "within_budget": one.within_budget,
        }
        for one in substitutes
    ]


def alternative_rows(alternatives: Sequence[Alternative] | None) -> list[Row] | None:
    """Return other sets within the budget."""
    if alternatives is None:
        return None
    return [
        {
            "features": list(one.features),
            "overlap": one.overlap,
            "error": one.error,
            "increase": one.increase,
            "increase_upper": one.increase_upper,
        }
        for one in alternatives
    ]


def stability_rows(stability: Stability | None, names: Sequence[str]) -> Row | None:
    """Return how much the choices of several folds agree, and how often each feature was chosen."""
    if stability is None:
        return None
    often = [
        {"name": name, "index": j, "frequency": float(stability.frequency[j])}
        for j, name in enumerate(names)
        if stability.frequency[j] > 0
    ]
    return {
        "value": stability.value,
        "lower": stability.lower,
        "upper": stability.upper,
        "n_choices": stability.n_choices,
        "over": getattr(stability, "over", "folds"),
        "features": sorted(often, key=lambda row: -row["frequency"]),
    }
