"""The dict as one HTML page that needs no network and trusts no name."""

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from pinsker._compat import require
from pinsker._types import plain
from pinsker.exceptions import ParameterError
from pinsker.report._charts import expert_charts, increase_chart, marks_of
from pinsker.report._states import own_state, slider_marks, states
from pinsker.report._summary import SCHEMA
from pinsker.report.words import counted, number, short

#: Rows of a table on the page; the dict has them all.
_MOST_ROWS = 250
#: Features of the ranking; its table has more.
_MOST_RANKED = 30

Row = dict[str, Any]


def to_html(summary: dict[str, Any]) -> str:
    r"""Return a summary as one self-contained HTML page.

    Names of columns are text that anybody may have written. They reach the page escaped, the
    script as data only, and a content security policy allows no script but the page's own and no
    address at all.

    Parameters
    ----------
    summary : dict
        What `summarise` returned, perhaps read back from JSON.

    Returns
    -------
    str

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
    script, chart = _text("page.js"), increase_chart(summary)
    choices = summary["choices"]
    page: str = _environment().get_template("page.html").render(
        summary=summary,
        state=own_state(summary),
        chart=chart,
        experts=expert_charts(summary),
        marks=slider_marks(choices) if choices["budgets"] else [],
        ranking=_ranking(summary),
        following=_following(summary, chart),
        most_rows=_MOST_ROWS,
        style=markupsafe.Markup(_text("page.css")),
        script=markupsafe.Markup(script),
        policy=_policy(script),
        kinds=_kinds(summary["data"]["columns"]),
    )  # fmt: skip
    return page


def _following(summary: Row, chart: Row) -> Row:
    """Return what the script needs so that the page follows the slider: texts and places."""
    own = summary["certificate"]["set"]
    sets = [
        {"first": one["first"], "size": one["size"], "features": one["features"]}
        for one in summary["choices"]["sets"]
    ]
    return {
        "order": summary["path"]["order"],
        "current": summary["choices"]["current"],
        "own": {
            "state": own_state(summary),
            "set": {"size": own["size"], "features": own["features"]},
        },
        "sets": sets,
        "states": states(summary),
        "marks": marks_of(chart, summary),
    }


def _ranking(summary: Row) -> Row:
    """Return the features with what each is worth, and the scale that all bars share."""
    index = {feature["name"]: feature["index"] for feature in summary["features"]}
    importance = summary["importance"]
    if importance is not None:
        rows = [{**row, "index": index.get(row["name"])} for row in importance["features"]]
        kind = "importance"
    else:
        kind = "alone" if summary["data"]["columns"] is not None else "adds"
        rows = [
            {**feature, "value": feature[kind], "lower": None, "upper": None}
            for feature in summary["features"]
        ]
    ends = [row[end] for row in rows for end in ("value", "lower", "upper") if row[end] is not None]
    low, high = min([0.0, *ends]), max([1e-9, *ends])
    return {
        "kind": kind,
        "rows": rows[:_MOST_RANKED],
        "n_rows": len(rows),
        "low": low,
        "high": high,
    }


def _environment() -> Any:
    jinja2 = require("jinja2", purpose="a report", extra="report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=number, short=short, counted=counted)
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False, "ensure_ascii": True}
    return environment


def _text(name: str) -> str:
    return (files("pinsker.report") / "templates" / name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    """Return a policy that runs this script, whose text is known, and loads nothing."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def _kinds(columns: list[dict[str, Any]] | None) -> dict[str, int]:
    """Count the columns of each kind."""
    kinds: dict[str, int] = {}
    for column in columns or ():
        kinds[column["kind"]] = kinds.get(column["kind"], 0) + 1
    return kinds


def to_json(summary: dict[str, Any]) -> str:
    """Return a summary as JSON text; numbers that are not finite become null.

    Examples
    --------
    >>> to_json({"schema": 3, "bound": float("nan")})
    '{"schema": 3, "bound": null}'
    """
    return json.dumps(plain(summary), ensure_ascii=False, allow_nan=False)
