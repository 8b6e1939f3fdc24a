"""The two charts of a page as Vega-Lite specifications, built with Altair.

Colours are CSS custom properties of the page (``var(--ink)``): the page is drawn as SVG, so that
light, dark and print need no second chart.
"""

from typing import Any

from pinsker._compat import require

#: More sizes than this are shown on a logarithmic axis: what is kept is at its left end.
_MANY = 60
#: One-sided 95 %: the band of an estimate is its value plus and minus so many standard errors.
BAND = 1.645
_COLOURS = [f"var(--series-{i})" for i in range(1, 9)]
_HEIGHT = 270
_FONT = "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, sans-serif"

Row = dict[str, Any]


def charts(summary: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the specifications by name: ``information`` and ``bound``.

    Both read two named datasets: ``sets``, and ``chosen``, one row about the current position of
    the slider, which the page replaces.
    """
    return {"information": _information(summary), "bound": _bound(summary)}


def chosen_row(summary: dict[str, Any]) -> Row:
    """Return the row about the set that the selector keeps."""
    size, certificate = summary["kept"]["size"], summary["certificate"]
    on_path = {item["size"]: item for item in summary["path"]["sets"]}.get(size, {})
    bound = on_path.get("bound")
    return {
        "size": size,
        "information": on_path.get("information"),
        "bound": bound,
        "increase": certificate["figures"]["increase_upper"] if certificate["tested"] else bound,
        "budget": summary["budget"]["value"],
    }


def _information(summary: dict[str, Any]) -> dict[str, Any]:
    rows = [
        {
            "size": item["size"],
            "value": item["information"],
            "series": "search (neighbors)",
            "main": True,
        }
        for item in summary["path"]["sets"]
        if item["size"] > 0
    ]
    for evaluated in summary["cv_results"]:
        value, error = evaluated["information"], evaluated["information_error"]
        if value is not None and error is not None:
            ends = {"low": value - BAND * error, "high": value + BAND * error}
            rows.append({"value": value, **ends, **_series(evaluated, summary)})
    return _chart(summary, rows, "information", value_title="information, nats")


def _bound(summary: dict[str, Any]) -> dict[str, Any]:
    rows = [
        {"size": item["size"], "value": item["bound"], "series": "bound (neighbors)", "main": True}
        for item in summary["path"]["sets"]
        if item["size"] > 0 and item["bound"] is not None
    ]
    for evaluated in summary["cv_results"]:
        increase, upper = evaluated["increase"], evaluated["increase_upper"]
        if increase is not None and upper is not None:
            ends = {"low": increase, "high": upper}
            rows.append({"value": increase, **ends, **_series(evaluated, summary)})
    return _chart(summary, rows, "increase", value_title="error increase")


def _series(evaluated: Row, summary: dict[str, Any]) -> Row:
    """Return what both charts show of an evaluated set; the chosen search is drawn in full."""
    return {
        "size": evaluated["n_features"],
        "series": f"held out: {evaluated['search']}",
        "main": evaluated["search"] == summary["path"]["search"],
        "model": evaluated["model_information"],
    }


def _chart(summary: Row, rows: list[Row], chosen: str, *, value_title: str) -> dict[str, Any]:
    alt = require("altair", purpose="a report", extra="report")
    extra = summary["choices"]["budgets"][-1:] if chosen == "increase" else []
    ends = _span([row.get(name) for row in rows for name in ("value", "low", "high")] + extra)
    y = alt.Y("value:Q", title=None, scale=alt.Scale(domain=ends))
    base = alt.Chart(alt.NamedData(name="sets")).encode(
        x=_size(alt, summary), color=_colour(alt, rows)
    )
    band = base.transform_filter("isValid(datum.low)").mark_area()
    band = band.encode(y=alt.Y("low:Q", title=None), y2="high:Q", opacity=_main(alt, 0.2, 0.05))
    has_band = any("low" in row for row in rows)
    strength = _main(alt, 1.0, 0.55)
    line = base.mark_line().encode(y=y, strokeWidth=_main(alt, 2.5, 1.0), opacity=strength)
    dot = _main(alt, 34, 14) if summary["kept"]["n_features"] <= _MANY else _main(alt, 10, 6)
    points = base.mark_point(filled=True).encode(y=y, opacity=strength, size=dot)
    plain, more = _tooltips(alt, value_title)
    marks = [line, points.transform_filter("!isValid(datum.low)").encode(tooltip=plain)]
    if has_band:
        held_out = points.transform_filter("isValid(datum.low)").encode(tooltip=more)
        marks = [band, *marks, held_out]
    layers = [*marks, *_chosen(alt, chosen)]
    return _finish(alt, layers, {"sets": rows, "chosen": [chosen_row(summary)]})


def _main(alt: Any, value: float, other: float) -> Any:
    """Return one value for the search that was chosen, another for the others."""
    return alt.condition("datum.main", alt.value(value), alt.value(other))


def _span(values: list[float | None]) -> list[float]:
    """Return the ends of an axis: fixed, so that it stands still while the slider moves."""
    known = [value for value in values if value is not None]
    return [min([0.0, *known]), 1.04 * max([1e-6, *known])]


def _size(alt: Any, summary: dict[str, Any]) -> Any:
    n_features = summary["kept"]["n_features"]
    if n_features > _MANY:
        scale = alt.Scale(type="log", base=2, domain=[1, n_features], nice=False)
        axis = alt.Axis(grid=False, format="d")
        title = "number of features (logarithmic)"
        return alt.X("size:Q", title=title, scale=scale, axis=axis)
    axis = alt.Axis(tickMinStep=1, format="d", grid=False)
    scale = alt.Scale(domain=[0.5, n_features + 0.5], nice=False)
    return alt.X("size:Q", title="number of features", scale=scale, axis=axis)


def _colour(alt: Any, rows: list[Row]) -> Any:
    series = list(dict.fromkeys(row["series"] for row in rows))
    paths = [name for name in series if name != "held out: all features"]
    colours = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(paths)}
    shown = [colours.get(name, "var(--muted)") for name in series]
    legend = None if len(series) == 1 else alt.Legend(title=None, orient="top", columns=2)
    return alt.Color("series:N", scale=alt.Scale(domain=series, range=shown), legend=legend)


def _tooltips(alt: Any, value_title: str) -> tuple[list[Any], list[Any]]:
    """Return the tooltip of a point of the search, and that of one of held-out rows."""
    plain = [
        alt.Tooltip("size:Q", title="features"),
        alt.Tooltip("series:N", title="from"),
        alt.Tooltip("value:Q", title=value_title, format=".4f"),
    ]
    upper = alt.Tooltip("high:Q", title="upper bound", format=".4f")
    return plain, [*plain, upper, alt.Tooltip("model:N", title="held-out model")]


def _chosen(alt: Any, value: str) -> list[Any]:
    """Return the marks of the set that the slider has chosen, and of its budget."""
    chosen = alt.Chart(alt.NamedData(name="chosen"))
    marks = [
        chosen.mark_rule(stroke="var(--accent)", strokeDash=[2, 3]).encode(x=alt.X("size:Q")),
        chosen.transform_filter(f"isValid(datum.{value})")
        .mark_point(size=130, stroke="var(--accent)", strokeWidth=2.5, fill="var(--paper)")
        .encode(x=alt.X("size:Q"), y=alt.Y(f"{value}:Q", title=None), opacity=alt.value(1)),
    ]
    if value == "increase":
        level = chosen.mark_rule(stroke="var(--accent)", strokeWidth=1.5)
        marks.insert(0, level.encode(y=alt.Y("budget:Q", title=None)))
    return marks


def _finish(alt: Any, layers: list[Any], datasets: dict[str, list[Row]]) -> dict[str, Any]:
    text = {"labelColor": "var(--muted)", "labelFont": _FONT, "labelFontSize": 12}
    quiet = {"gridColor": "var(--line)", "domainColor": "var(--line)", "tickColor": "var(--line)"}
    title = {"titleColor": "var(--muted)", "titleFont": _FONT, "titleFontSize": 12}
    chart = (
        alt.layer(*layers)
        .properties(width="container", height=_HEIGHT, background="transparent")
        .configure_view(stroke=None)
        .configure_axis(**text, **title, **quiet, titleFontWeight="normal")
        .configure_legend(
            **text, labelLimit=260, symbolOpacity=1, symbolType="stroke", symbolStrokeWidth=3
        )
    )
    # Data come last: Altair would check every row against its schema, once for each layer.
    return {**chart.to_dict(), "datasets": datasets}
