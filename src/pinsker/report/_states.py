"""What the page says at each position of the slider: texts, so that its script only shows them."""

import math
from typing import Any

from pinsker.report.words import budget_in_words, capital, clipped, counted, number, short

#: Features that the sentence below the slider names.
_NAMED = 8

Row = dict[str, Any]


def own_state(summary: Row) -> Row:
    """Return the texts about the choice of the selector itself."""
    certificate = summary["certificate"]
    return _state(summary, summary["budget"]["value"], certificate["set"], certificate)


def states(summary: Row) -> list[Row]:
    """Return the texts of every position of the slider."""
    choices = summary["choices"]
    return [
        _state(summary, budget, set_at(choices, position), verdict)
        for position, (budget, verdict) in enumerate(
            zip(choices["budgets"], choices["verdicts"], strict=True)
        )
    ]


def set_at(choices: Row, position: int) -> Row:
    """Return the set that stays at a position."""
    found: Row = [one for one in choices["sets"] if one["first"] <= position][-1]
    return found


def slider_marks(choices: Row) -> list[Row]:
    """Return the powers of ten below the slider, and what no features at all would add."""
    budgets, last = choices["budgets"], max(len(choices["budgets"]) - 1, 1)
    marks: list[Row] = [
        {"at": position / last, "text": short(budget), "kind": "tick"}
        for position, budget in enumerate(budgets)
        if position in (0, last) or _is_power_of_ten(budget)
    ]
    room = [one for one in marks[1:-1] if 0.13 < one["at"] < 0.87]
    baseline = choices["baseline"]
    shown = [marks[0], *room, marks[-1]]
    # The last budget is the baseline in three digits: a sum may be above it by its last bit.
    if baseline is not None and 0.0 < baseline <= budgets[-1] * (1.0 + 1e-9):
        at = sum(budget < baseline for budget in budgets) / last
        shown.append({"at": min(at, 1.0), "text": "no features", "kind": "baseline"})
    return shown


def _is_power_of_ten(value: float) -> bool:
    return value > 0 and math.isclose(math.log10(value) % 1.0, 0.0, abs_tol=1e-9)


def _state(summary: Row, budget: float | None, one: Row, verdict: Row) -> Row:
    n_features, metric = summary["kept"]["n_features"], summary["budget"]["metric"]
    stays = "stays" if one["size"] == 1 else "stay"
    headline = f"{one['size']} of {counted(n_features, 'feature')} {stays}"
    lead = f"By the rule {summary['budget']['rule']}."
    if budget is not None:
        lead = f"Error budget {short(budget)}: {budget_in_words(budget, metric)}."
    caution = ""
    if verdict["lets_all_go"]:
        caution = (
            "This budget lets every feature go: no features at all would stay within it. Choose a "
            "smaller one, or another metric."
        )
    words = verdict["verdict_words"]
    return {
        "budget": "" if budget is None else short(budget),
        "headline": headline,
        "lead": lead,
        "verdict": capital(words),
        "verdict_class": "verdict-" + verdict["verdict"].replace(" ", "-"),
        "caution": caution,
        "tiles": _tiles(summary, budget, one, verdict["shown"]),
        "sentences": verdict["sentences"],
        "status": _status(summary, budget, one, headline, words),
        "search": one["search"],
    }


def _tiles(summary: Row, budget: float | None, one: Row, shown: Row) -> list[Row]:
    """Return the figures of a set: a label, a value and what to compare it with."""
    kept, own = summary["kept"], summary["certificate"]
    share = f"{100 * one['size'] / kept['n_features']:.0f} %"
    tiles = [_tile("features kept", share, f"{one['size']} of {kept['n_features']}")]
    if not own["tested"]:
        best, bound = number(summary["path"]["best_information"]), number(one["bound"])
        return [
            *tiles,
            _tile("information kept", number(one["information"]), "nats, an estimate"),
            _tile("in the best set found", best, "nats, an estimate"),
            _tile("may be added to the error", bound, "if no more information is lost"),
        ]
    name, is_score = summary["budget"]["metric_name"], summary["budget"]["is_score"]
    level = f"{100 * own['figures']['confidence']:g} %"
    limit, error, upper = "", one["error"], one["error_upper"]
    # A bound that is farther away than all that features are worth says nothing.
    if error is not None and upper is not None and upper - error <= own["baseline"]:
        limit = f"{'at least' if is_score else 'at most'} {shown['upper']} ({level})"
    added = f"{name} may fall by" if is_score else "may be added"
    within = "" if budget is None else f"budget {short(budget)}"
    return [
        *tiles,
        _tile(f"{name}, kept features", shown["kept"], limit),
        _tile(f"{added}, {level} upper bound", shown["signed_limit"], within),
        _tile(f"{name}, all features", own["shown"]["all"], own["figures"]["model_all"]),
        _tile(f"{name}, no features", own["shown"]["none"], "baseline"),
    ]


def _tile(label: str, value: str, about: str) -> Row:
    return {"label": label, "value": value, "about": about}


def _status(summary: Row, budget: float | None, one: Row, headline: str, verdict: str) -> str:
    """Return the sentence that a screen reader reads when the slider moves."""
    path = summary["path"]
    kept = set(path["order"][: one["size"]] if one["features"] is None else one["features"])
    ranked = [j for j in path["order"] if j in kept]
    ranked += sorted(kept - set(ranked))
    names = ", ".join(clipped(path["names"][j]) for j in ranked[:_NAMED])
    rest = f" and {len(ranked) - _NAMED} more" if len(ranked) > _NAMED else ""
    at = "" if budget is None else f" at a budget of {short(budget)}"
    found = f": {names}{rest}" if names else ""
    return f"{headline}{at} ({verdict}){found}."
