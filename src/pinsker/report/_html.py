"""Pages that need no network and trust no name: the report, and what notebooks show."""

import base64
import hashlib
import json
import math
import tempfile
import webbrowser
from collections import Counter
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from pinsker._compat import require
from pinsker._types import Fields, Selector, TableLike, TargetLike, plain
from pinsker.encoding import plural
from pinsker.exceptions import ParameterError
from pinsker.explain import Importance, Interactions
from pinsker.holdout import ESTIMATE, Certificate
from pinsker.report._charts import expert_charts, increase_chart, marks_of
from pinsker.report._kept import in_order
from pinsker.report._summary import SCHEMA, importance_rows, summarise
from pinsker.report.words import budget_in_words, clipped, facts, first_few, lines, number, short
from pinsker.search import SelectionPath

_MOST_ROWS = 250  # rows of a table on the page; the dict has them all
_MOST_RANKED = 30  # features of the ranking; its table has more
_NAMED = 8  # features that the sentence below the slider names
_FRAME_HEIGHT = 720  # pixels that a page has in a notebook; it scrolls
_MOST_NAMES = 12  # names that are shown before the rest is counted
_WIDTH, _HEIGHT = 220, 44


def to_html(summary: Fields) -> str:
    r"""Return a summary as one self-contained HTML page.

    Names of columns, which anybody may have written, reach the page escaped and its script as data
    only; a content security policy allows no other script and no address at all.

    Parameters
    ----------
    summary : dict
        What `summarise` returned, perhaps read back from JSON.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pinsker import BackwardElimination
    >>> from pinsker.report import summarise
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> page = to_html(summarise(BackwardElimination(error_budget=0.1).fit(X, y)))
    >>> page[:15], "http-equiv" in page
    ('<!doctype html>', True)
    """
    if summary.get("schema") != SCHEMA:
        raise ParameterError(
            f"not a summary of this version: expected schema {SCHEMA}, found "
            f"{summary.get('schema')!r}. Make it again with summarise."
        )
    markupsafe = require("markupsafe", purpose="a report", extra="report")
    jinja2 = require("jinja2", purpose="a report", extra="report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_text), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(number=number, short=short, counted=plural)
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False, "ensure_ascii": True}
    script, chart = _text("page.js"), increase_chart(summary)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    own, choices = summary["certificate"]["set"], summary["choices"]
    importance, ranked = summary["importance"], summary["features"]
    if importance is None:
        kind = "alone" if summary["data"]["columns"] is not None else "adds"
        rows = [{**one, "value": one[kind], "lower": None, "upper": None} for one in ranked]
    else:
        kind, index = "importance", {one["name"]: one["index"] for one in ranked}
        rows = [{**row, "index": index.get(row["name"])} for row in importance["features"]]
    ends = [row[end] for row in rows for end in ("value", "lower", "upper") if row[end] is not None]
    ranking = {  # what each feature is worth, and the scale that all bars share
        "kind": kind, "rows": rows[:_MOST_RANKED], "n_rows": len(rows),
        "low": min([0.0, *ends]), "high": max([1e-9, *ends]),
    }  # fmt: skip
    # What the script needs so that the page follows the slider: texts and places.
    following = {
        "order": summary["path"]["order"], "current": choices["current"],
        "own": {
            "state": own_state(summary), "set": {name: own[name] for name in ("size", "features")},
        },
        "sets": [{k: one[k] for k in ("first", "size", "features")} for one in choices["sets"]],
        "states": states(summary), "marks": marks_of(chart, summary),
    }  # fmt: skip
    page: str = environment.get_template("page.html").render(
        summary=summary, state=own_state(summary), chart=chart, experts=expert_charts(summary),
        marks=slider_marks(choices) if choices["budgets"] else [], ranking=ranking,
        subgroups=_subgroups(summary["certificate"]["figures"]),
        following=following, most_rows=_MOST_ROWS,
        style=markupsafe.Markup(_text("page.css")), script=markupsafe.Markup(script),
        # This script may run, whose text is known, and nothing is loaded.
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'",
        kinds=Counter(column["kind"] for column in summary["data"]["columns"] or ()),
    )  # fmt: skip
    return page


def _subgroups(figures: Fields) -> list[Fields]:
    """Return every subgroup with the ends of its interval and its budget, in percent of a scale."""
    found = figures.get("subgroups", [])
    ends = [one[name] for one in found for name in ("increase_lower", "increase_upper", "budget")]
    known = [0.0, *(end for end in ends if end is not None)]
    low, span = min(known), (max(known) - min(known)) or 1.0

    def place(value: float | None, default: float) -> float:
        return default if value is None else round(100 * (value - low) / span, 2)

    return [
        {
            **one,
            "left": (left := place(one["increase_lower"], 0.0)),
            "width": round(place(one["increase_upper"], 100.0) - left, 2),
            "mark": place(one["budget"], 0.0),
        }
        for one in found
    ]


def _text(name: str) -> str:
    return (files("pinsker.report") / "templates" / name).read_text(encoding="utf-8")


def to_json(summary: Fields) -> str:
    """Return a summary as JSON text; numbers that are not finite become null.

    Examples
    --------
    >>> to_json({"schema": 3, "bound": float("nan")})
    '{"schema": 3, "bound": null}'
    """
    return json.dumps(plain(summary), ensure_ascii=False, allow_nan=False)


def own_state(summary: Fields) -> Fields:
    certificate = summary["certificate"]
    return _state(summary, summary["budget"]["value"], certificate["set"], certificate)


def states(summary: Fields) -> list[Fields]:
    choices = summary["choices"]
    starting = {one["first"]: one for one in choices["sets"]}
    found: list[Fields] = []
    one: Fields = {}
    both = zip(choices["budgets"], choices["verdicts"], strict=True)
    for position, (budget, verdict) in enumerate(both):
        one = starting.get(position, one)  # the set that stays at this position
        found.append(_state(summary, budget, one, verdict))
    return found


def slider_marks(choices: Fields) -> list[Fields]:
    """Return the powers of ten below the slider, and what no features at all would add."""
    budgets, last = choices["budgets"], max(len(choices["budgets"]) - 1, 1)
    marks: list[Fields] = [
        {"at": position / last, "text": short(budget), "kind": "tick"}
        for position, budget in enumerate(budgets)
        if position in (0, last)
        or (budget > 0 and math.isclose(math.log10(budget) % 1.0, 0.0, abs_tol=1e-9))
    ]
    room = [one for one in marks[1:-1] if 0.13 < one["at"] < 0.87]
    baseline = choices["baseline"]
    shown = [marks[0], *room, marks[-1]]
    # The last budget is the baseline in three digits: a sum may be above it by its last bit.
    if baseline is not None and 0.0 < baseline <= budgets[-1] * (1.0 + 1e-9):
        at = sum(budget < baseline for budget in budgets) / last
        shown.append({"at": min(at, 1.0), "text": "no features", "kind": "baseline"})
    return shown


def _state(summary: Fields, budget: float | None, one: Fields, verdict: Fields) -> Fields:
    n_features, metric = summary["kept"]["n_features"], summary["budget"]["metric"]
    stays = "stays" if one["size"] == 1 else "stay"
    headline = f"{one['size']} of {plural(n_features, 'feature')} {stays}"
    lead = f"By the rule {summary['budget']['rule']}."
    if budget is not None:
        lead = f"Error budget {short(budget)}: {budget_in_words(budget, metric)}."
    caution = ""
    if verdict["lets_all_go"]:
        caution = "This budget lets every feature go: no features at all would stay within it. "
        caution += "Choose a smaller one, or another metric."
    words = verdict["verdict_words"]
    kind = "in doubt" if words.endswith(f"({ESTIMATE})") else verdict["verdict"]
    return {
        "budget": "" if budget is None else short(budget), "headline": headline, "lead": lead,
        "verdict": words[:1].upper() + words[1:],
        "verdict_class": "verdict-" + kind.replace(" ", "-"), "caution": caution,
        "tiles": _tiles(summary, budget, one, verdict["shown"]), "sentences": verdict["sentences"],
        "status": _status(summary, budget, one, headline, words), "search": one["search"],
    }  # fmt: skip


def _tiles(summary: Fields, budget: float | None, one: Fields, shown: Fields) -> list[Fields]:
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
    level = f"{100 * own['figures']['confidence']:g}\N{NO-BREAK SPACE}%"
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


def _tile(label: str, value: str, about: str) -> Fields:
    return {"label": label, "value": value, "about": about}


def _status(summary: Fields, budget: float | None, one: Fields, headline: str, verdict: str) -> str:
    """Return the sentence that a screen reader reads when the slider moves."""
    path = summary["path"]
    kept = set(path["order"][: one["size"]] if one["features"] is None else one["features"])
    ranked = [j for j in path["order"] if j in kept]
    ranked += sorted(kept - set(ranked))
    names = first_few([clipped(path["names"][j]) for j in ranked], _NAMED)
    at = "" if budget is None else f" at a budget of {short(budget)}"
    found = f": {names}" if names else ""
    return f"{headline}{at} ({verdict}){found}."


@dataclass(frozen=True)
class Report:
    """One HTML page about a fitted selector, and the dict behind it.

    Attributes
    ----------
    summary : dict
        What `summarise` returned.
    html : str
        The page; it needs no network.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pinsker import BackwardElimination
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> report = BackwardElimination(error_budget=0.1).fit(X, y).report()
    >>> report
    Report(4 of 13 features stay, budget not tested (no rows were held out))
    >>> report.html[:15]
    '<!doctype html>'
    """

    summary: Fields = field(repr=False)
    html: str = field(repr=False)

    def save(self, path: Any) -> Path:
        """Write the page to a file, and return its path."""
        file = Path(path)
        file.write_text(self.html, encoding="utf-8")
        return file

    def open(self) -> Path:
        """Write the page to a temporary file, open it in a browser, and return its path."""
        with tempfile.NamedTemporaryFile(prefix="pinsker-", suffix=".html", delete=False) as file:
            file.write(self.html.encode())
        webbrowser.open(Path(file.name).as_uri())
        return Path(file.name)

    def __repr__(self) -> str:
        kept = self.summary["kept"]
        stay = f"{kept['size']} of {plural(kept['n_features'], 'feature')} stay"
        return f"Report({stay}, {self.summary['certificate']['verdict_words']})"

    def _repr_html_(self) -> str:
        # In a frame of its own: neither the page nor the notebook changes the other's style.
        return (
            f'<iframe title="{escape(repr(self))}" sandbox="allow-scripts" width="100%" '
            f'height="{_FRAME_HEIGHT}" style="border:1px solid #8884;border-radius:6px" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def report(
    selector: Selector, path: Any = None, *, X: TableLike = None, y: TargetLike = None,
    **findings: Any,
) -> Report:  # fmt: skip
    """Describe a fitted selector in one HTML page, and write it to `path` if there is one.

    Parameters
    ----------
    selector : fitted selector
        Any selector of pinsker.
    path : str or path-like, optional
        Where to write the page.
    X, y : optional
        The table and target of `fit`.
    **findings
        What else `summarise` takes: ``importance``, ``interactions``, ``source`` and so on.
    """
    summary = summarise(selector, X, y, **findings)
    made = Report(summary, to_html(summary))
    if path is not None:
        made.save(path)
    return made


def card(selector: Selector) -> str:
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
    size, certificate = len(names), selector.certificate_
    title = f"{size} of {path.n_features} features stay"
    said = dict(lines(certificate))
    figures = "; ".join(said[label] for label in ("held-out", "change") if label in said)
    about = f"{said['budget']} · {facts(certificate).verdict}"
    body = f"<div>{escape(figures)}</div>{_picture(path, size)}{_listed(names)}"
    return panel(title, about, body)


def panel(title: str, about: str, body: str) -> str:
    """Return a few lines of HTML for a notebook; `body` is HTML, colours are the notebook's own."""
    return (
        '<div style="font-family:system-ui,sans-serif;line-height:1.5;'
        'border-left:3px solid #a8481f;padding:.1em 0 .1em .9em;margin:.4em 0;max-width:44em">'
        f'<div><strong style="font-size:1.15em">{escape(title)}</strong> '
        f'<span style="opacity:.7">{escape(about)}</span></div>{body}</div>'
    )


def certificate_card(certificate: Certificate) -> str:
    """Return a certificate for a notebook: what is printed, line by line."""
    title = f"{certificate.n_kept} of {certificate.n_features} features"
    notes = [("note", str(note)) for note in certificate.notes]
    return panel(title, facts(certificate).verdict, _rows([*lines(certificate), *notes]))


def path_card(path: SelectionPath) -> str:
    about = f"{plural(path.n_features, 'feature')}, most information with {path.best_size}"
    listed = _listed([path.names[j] for j in path.order])
    return panel(f"{path.direction} path", about, _picture(path, path.best_size) + listed)


def importance_card(importance: Importance) -> str:
    """Return what features are worth for a notebook, those kept first."""
    found = importance_rows(importance)
    rows = [
        (row["name"], f"{number(row['value'])} ({number(row['lower'])} to {number(row['upper'])})")
        for row in found["features"][:_MOST_NAMES]
    ]
    about = f"{found['metric_name']} that each saves, {100 * found['confidence']:g} % intervals"
    return panel("importance", f"{about}, {found['n_rows']} rows", _rows(rows))


def interactions_card(found: Interactions) -> str:
    head, *rest = str(found).split("\n")
    return panel("interactions", head, _rows([("", line.strip()) for line in rest]))


def _rows(rows: list[tuple[str, str]]) -> str:
    """Return a table of two columns; the notebook's own style shall not change it."""
    cell = 'style="text-align:left;vertical-align:top;padding:.1em .8em .1em 0;background:none"'
    body = "".join(
        f'<tr style="background:none"><th scope="row" {cell}>{escape(clipped(label))}</th>'
        f"<td {cell}>{escape(text)}</td></tr>"
        for label, text in rows
    )
    return f'<table style="border:0;margin:.2em 0;font-size:1em">{body}</table>'


def _listed(names: list[str]) -> str:
    text = first_few([escape(clipped(name)) for name in names], _MOST_NAMES)
    return f'<div style="overflow-wrap:anywhere">{text}</div>'


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
