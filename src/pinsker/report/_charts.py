"""The two charts of a page as Vega-Lite specifications, built with Altair.

Colours are CSS custom properties of the page (``var(--ink)``): the page is drawn as SVG, so that
light, dark and print need no second chart.
"""

from typing import Any

from pinsker._compat import require

#: More sizes than this are shown on a logarithmic axis: what is kept is at its left end.
_MANY = 60
#: One-sided 95 %: the band of an estimate is its value plus and minus so many standard errors.
_BAND = 1.645
_SEARCH = "search"
_COLOURS = [f"var(--series-{i})" for i in range(1, 7)]
_HEIGHT = 260
_FONT = "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, sans-serif"


def charts(summary: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the specifications by name: ``information`` and ``bound``.

    Both read the named dataset ``chosen``, one row about the current position of the slider, which
    the page replaces.
    """
    return {"information": _information(summary), "bound": _bound(summary)}


def _information(summary: dict[str, Any]) -> dict[str, Any]:
    alt = require("altair", purpose="a report", extra="report")
    rows = [
        {"size": item["size"], "nats": item["information"], "series": _SEARCH, "who": "neighbours"}
        for item in summary["path"]["sets"]
        if item["size"] > 0
    ]
    rows += [
        {
            "size": trial["size"],
            "nats": trial["information"],
            "low": trial["information"] - _BAND * trial["information_error"],
            "high": trial["information"] + _BAND * trial["information_error"],
            "series": f"held out: {trial['path']}",
            "who": trial["witness"],
        }
        for trial in summary["trials"]
        if trial["information"] is not None and trial["information_error"] is not None
    ]
    has_band = any("low" in row for row in rows)
    ends = _span([row.get(name) for row in rows for name in ("nats", "low", "high")])
    x, y = _size(alt, summary), alt.Y("nats:Q", title=None, scale=alt.Scale(domain=ends))
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, color=_colour(alt, rows))
    tooltip = _tooltip(alt, [("series", "from"), ("nats", "information, nats"), ("who", "seen by")])
    # A trial of all features is one point: a line alone would not show it.
    band = base.transform_filter("isValid(datum.low)").mark_area(opacity=0.16)
    layers = [
        *([band.encode(y=alt.Y("low:Q", title=None), y2="high:Q")] * has_band),
        base.mark_line(strokeWidth=2, interpolate="linear").encode(y=y),
        base.mark_point(size=34, filled=True).encode(y=y, tooltip=tooltip),
    ]
    return _finish(alt, [*layers, *_chosen(alt, "information")], summary)


def _bound(summary: dict[str, Any]) -> dict[str, Any]:
    alt = require("altair", purpose="a report", extra="report")
    rows = [
        {"size": item["size"], "growth": item["bound"], "series": "bound by the search"}
        for item in summary["path"]["sets"]
        if item["size"] > 0 and item["bound"] is not None
    ]
    rows += [
        {
            "size": trial["size"],
            "growth": trial["growth"],
            "high": trial["growth_upper"],
            "series": f"held out: {trial['path']}",
        }
        for trial in summary["trials"]
        if trial["growth"] is not None
    ]
    # The budget and its line stay in the picture wherever the slider goes.
    seen = [row.get(name) for row in rows for name in ("growth", "high")]
    ends = _span([*seen, summary["choices"]["budgets"][-1]])
    y = alt.Y("growth:Q", title=None, scale=alt.Scale(domain=ends))
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=_size(alt, summary), color=_colour(alt, rows), y=y
    )
    fields = [("series", "from"), ("growth", "growth"), ("high", "upper limit")]
    whiskers = base.transform_filter("isValid(datum.high)").mark_rule(opacity=0.5)
    has_limit = any(row.get("high") is not None for row in rows)
    fields = fields if has_limit else fields[:2]
    layers = [
        *([whiskers.encode(y2="high:Q")] * has_limit),
        base.mark_line(strokeWidth=2),
        base.mark_point(size=34, filled=True).encode(tooltip=_tooltip(alt, fields)),
    ]
    budget = (
        alt.Chart(alt.NamedData(name="chosen"))
        .mark_rule(stroke="var(--accent)", strokeWidth=1.5)
        .encode(y=alt.Y("budget:Q", title=None))
    )
    return _finish(alt, [budget, *layers, *_chosen(alt, "bound")], summary)


def _span(values: list[float | None]) -> list[float]:
    """Return the ends of an axis: fixed, so that it stands still while the slider moves."""
    known = [value for value in values if value is not None]
    return [min(0.0, *known), 1.04 * max(1e-6, *known)]


def _size(alt: Any, summary: dict[str, Any]) -> Any:
    n_features = summary["kept"]["n_features"]
    if n_features > _MANY:
        scale = alt.Scale(type="log", base=2, nice=False)
        return alt.X("size:Q", title="number of features (logarithmic)", scale=scale)
    axis = alt.Axis(tickMinStep=1, format="d", grid=False)
    scale = alt.Scale(domain=[0.5, n_features + 0.5], nice=False)
    return alt.X("size:Q", title="number of features", scale=scale, axis=axis)


def _colour(alt: Any, rows: list[dict[str, Any]]) -> Any:
    series = list(dict.fromkeys(row["series"] for row in rows))
    colours = [_COLOURS[i % len(_COLOURS)] for i in range(len(series))]
    legend = None if len(series) == 1 else alt.Legend(title=None, orient="top", columns=2)
    return alt.Color("series:N", scale=alt.Scale(domain=series, range=colours), legend=legend)


def _tooltip(alt: Any, fields: list[tuple[str, str]]) -> list[Any]:
    shown = [alt.Tooltip("size:Q", title="features")]
    for field, title in fields:
        is_text = field in ("series", "who")
        shown.append(
            alt.Tooltip(f"{field}:N", title=title)
            if is_text
            else alt.Tooltip(f"{field}:Q", title=title, format=".4f")
        )
    return shown


def _chosen(alt: Any, value: str) -> list[Any]:
    """Return the marks of the set that the slider has chosen."""
    chosen = alt.Chart(alt.NamedData(name="chosen")).encode(x=alt.X("size:Q"))
    return [
        chosen.mark_rule(stroke="var(--accent)", strokeDash=[2, 3]),
        chosen.transform_filter(f"isValid(datum.{value})")
        .mark_point(size=130, stroke="var(--accent)", strokeWidth=2.5, fill="var(--paper)")
        .encode(y=alt.Y(f"{value}:Q")),
    ]


def _finish(alt: Any, layers: list[Any], summary: dict[str, Any]) -> dict[str, Any]:
    text = {"labelColor": "var(--muted)", "titleColor": "var(--muted)", "labelFont": _FONT}
    chart = (
        alt.layer(*layers)
        .properties(width="container", height=_HEIGHT, background="transparent")
        .configure_view(stroke=None)
        .configure_axis(
            **text,
            titleFont=_FONT,
            titleFontWeight="normal",
            gridColor="var(--line)",
            domainColor="var(--line)",
            tickColor="var(--line)",
            labelFontSize=12,
            titleFontSize=12,
        )
        .configure_legend(labelColor="var(--muted)", labelFont=_FONT, labelFontSize=12)
    )
    spec: dict[str, Any] = chart.to_dict()
    spec.setdefault("datasets", {})["chosen"] = [chosen_row(summary)]
    return spec


def chosen_row(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the row about the set that the selector keeps."""
    size = summary["kept"]["size"]
    on_path = {item["size"]: item for item in summary["path"]["sets"]}.get(size, {})
    return {
        "size": size,
        "information": on_path.get("information"),
        "bound": on_path.get("bound"),
        "budget": summary["budget"]["delta"],
    }
