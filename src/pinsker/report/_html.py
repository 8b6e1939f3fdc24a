"""The dict as one HTML page that needs no network and trusts no name."""

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pinsker._compat import require
from pinsker._types import plain
from pinsker.exceptions import ParameterError
from pinsker.report._charts import charts, chosen_row
from pinsker.report._summary import SCHEMA, summarise
from pinsker.report._words import counted, error_in_words, number, short

#: Rows of a table on the page; the dict has them all.
_MOST_ROWS = 250


def report(selector: Any, path: Any = None, *, X: Any = None, y: Any = None) -> str:
    """Describe a fitted selector in one HTML page, and write it to `path`.

    Parameters
    ----------
    selector : fitted selector
        Any selector of pinsker.
    path : str or path-like, optional
        Where to write the page.
    X, y : optional
        The table and target of `fit`; see `summarise`.

    Returns
    -------
    str
        The page.
    """
    page = to_html(summarise(selector, X, y))
    if path is not None:
        Path(path).write_text(page, encoding="utf-8")
    return page


def to_html(summary: dict[str, Any]) -> str:
    r"""Return a summary as one self-contained HTML page.

    Names of columns are text that anybody may have written. They reach the page escaped, the
    scripts as data only, and a content security policy allows no script but the page's own two
    and no address at all.

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
    scripts = {"library": _vega(), "page": _text("page.js")}
    page: str = _environment().get_template("page.html").render(
        summary=summary,
        charts=charts(summary),
        chosen=chosen_row(summary),
        most_rows=_MOST_ROWS,
        style=markupsafe.Markup(_text("page.css")),
        scripts={name: markupsafe.Markup(script) for name, script in scripts.items()},
        policy=_policy(scripts),
        kinds=_kinds(summary["data"]["columns"]),
    )  # fmt: skip
    return page


def _environment() -> Any:
    jinja2 = require("jinja2", purpose="a report", extra="report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=number, short=short, error_in_words=error_in_words, counted=counted
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False, "ensure_ascii": True}
    return environment


def _text(name: str) -> str:
    return (files("pinsker.report") / "templates" / name).read_text(encoding="utf-8")


@cache
def _vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, out of an installed package."""
    altair = require("altair", purpose="a report", extra="report")
    convert = require("vl_convert", purpose="a report", extra="report")
    wanted = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    has = wanted in convert.get_vegalite_versions()
    bundle: str = convert.javascript_bundle(vl_version=wanted if has else None)
    if "</script" in bundle.lower():  # would end the element it stands in
        raise ParameterError("the Vega bundle cannot stand in a page: it contains '</script'.")
    return bundle


def _policy(scripts: dict[str, str]) -> str:
    """Return a policy that runs these scripts, whose text is known, and loads nothing."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'"
        for s in scripts.values()
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
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
    >>> to_json({"schema": 2, "bound": float("nan")})
    '{"schema": 2, "bound": null}'
    """
    return json.dumps(plain(summary), ensure_ascii=False, allow_nan=False)
