"""A fitted selector in a notebook: a few lines and a small picture.

Plain text and SVG, made without Jinja2 or Vega: it must work where the extra is not installed.
"""

import math
from html import escape
from typing import Any

from sklearn.utils.validation import check_is_fitted

from pinsker.report._kept import in_order, own_budget
from pinsker.report._words import clipped, error_in_words, number, short, verdict_in_words

#: Names that are shown before the rest is counted.
_MOST_NAMES = 12
_WIDTH, _HEIGHT = 220, 44


def card(selector: Any) -> str:
    """Return a fitted selector in a few lines of HTML, for notebooks.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pinsker import BackwardElimination
    >>> selector = BackwardElimination(error_budget=0.1).fit(*load_wine(return_X_y=True))
    >>> card(selector).startswith("<div")
    True
    """
    check_is_fitted(selector)
    path = selector.path_
    names = [path.names[feature] for feature in in_order(selector)]
    size, verdict = len(names), verdict_in_words(selector.certificate_)
    title = f"{size} of {path.n_features} features stay"
    return (
        '<div style="font-family:system-ui,sans-serif;line-height:1.5;'
        'border-left:3px solid #a8481f;padding:.1em 0 .1em .9em;margin:.4em 0;max-width:44em">'
        f'<div><strong style="font-size:1.15em">{escape(title)}</strong> '
        f'<span style="opacity:.7">{escape(_terms(selector))} · {escape(verdict)}</span></div>'
        f"{_picture(path, size)}"
        f'<div style="overflow-wrap:anywhere">{_listed(names)}</div>'
        "</div>"
    )


def _terms(selector: Any) -> str:
    budget, certificate = own_budget(selector), selector.certificate_
    if budget is None:
        return f"by {certificate.rule}"
    return f"within a budget of {short(budget)} ({error_in_words(budget, certificate.metric)})"


def _listed(names: list[str]) -> str:
    text = ", ".join(escape(clipped(name)) for name in names[:_MOST_NAMES])
    rest = len(names) - _MOST_NAMES
    return text if rest <= 0 else f"{text} and {rest} more"


def _picture(path: Any, size: int) -> str:
    """Draw information against size, with the set that is kept."""
    pairs = zip(path.sizes.tolist(), path.information, strict=True)
    points = sorted(pair for pair in pairs if not math.isnan(pair[1]))
    if len(points) < 2:
        return ""
    low, high = min(0.0, *(v for _, v in points)), max(v for _, v in points)
    first, last = points[0][0], points[-1][0]
    at = {
        s: (
            3 + (_WIDTH - 6) * (s - first) / (last - first),
            _HEIGHT - 4 - (_HEIGHT - 8) * (value - low) / ((high - low) or 1.0),
        )
        for s, value in points
    }
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at.values())
    mark = ""
    if size in at:
        x, y = at[size]
        mark = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#a8481f"/>'
    kept = number(dict(points).get(size))
    label = f"Information by number of features; the set kept has {kept} nats."
    return (
        f'<svg role="img" aria-label="{escape(label)}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" style="display:block;margin:.3em 0">'
        f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-opacity=".6" '
        f'stroke-width="1.5"/>{mark}</svg>'
    )
