"""Line charts of a page as geometry: the templates draw them as SVG, and the script moves marks.

Every chart is laid out twice, so that its letters have the same size on a wide page and a phone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pinsker._types import Fields, Unchecked
from pinsker.encoding import plural
from pinsker.holdout import ALL_FEATURES
from pinsker.report.words import change_in_words, number, short

_MANY = 60  # more sizes than this are shown on a logarithmic axis: what is kept is at its left end
#: One-sided 95 %: the band of an estimate is its value plus and minus this many standard errors.
BAND = 1.645
LAYOUTS = {"wide": (820, 350), "narrow": (340, 300)}  # pixels of each layout
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 12, 26, 44  # pixels around its plot
#: A level so much higher than all else on a chart is named at its top, and not drawn to scale.
FAR = 1.5
#: Estimates of some folds make a chart so much higher at most: beyond it they are at its edge.
STEEP = 3.0
_N_COLORS = 8


@dataclass(frozen=True)
class Point:
    """A set on a chart: its size, its value, and the ends of its band."""

    size: int
    value: float
    low: float
    high: float
    title: str
    is_rough: bool = False  # whether some folds alone evaluated it


@dataclass(frozen=True)
class Series:
    """A line of sets, by size."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True)
class Plane:
    """Where sizes and values are on a chart of this many pixels."""

    width: int
    height: int
    n_features: int
    low: float
    high: float

    def x(self, size: float) -> float:
        """Return the pixel of a number of features."""
        right = self.width - _RIGHT
        if self.n_features > _MANY:
            share = math.log(max(size, 1.0)) / math.log(self.n_features)
        else:
            share = (size - 0.5) / self.n_features
        return round(_LEFT + share * (right - _LEFT), 1)

    def y(self, value: float) -> float:
        """Return the pixel of a value; one that is off the chart is at its edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.height - _BOTTOM - share * (self.height - _BOTTOM - _TOP), 1)

    @property
    def frame(self) -> Fields:
        sizes = _sizes(self.n_features, self.width)
        values = nice_ticks(self.low, self.high, 6)
        return {
            "width": self.width, "height": self.height, "left": _LEFT, "right": self.width - _RIGHT,
            "top": _TOP, "bottom": self.height - _BOTTOM, "zero": self.y(0.0),
            "x_ticks": [{"at": self.x(size), "text": str(size)} for size in sizes],
            "y_ticks": [{"at": self.y(v), "text": short(v).replace("-", "−")} for v in values],
        }  # fmt: skip


def increase_chart(summary: Fields) -> Fields:
    """Return the error increase of every evaluated set by its number of features."""
    series = _held_out_increase(summary) or _path_bound(summary)
    least, most = _ends(series)
    budget, baseline = summary["budget"]["value"], summary["certificate"]["baseline"]
    most = max(most, 1.25 * (budget or 0.0))
    rough = [one["increase"] for one in summary["rough"]]
    most = max(most, min(1.04 * max(rough, default=0.0), STEEP * most))
    level = None
    if baseline is not None:
        is_far = baseline > FAR * most
        most = most if is_far else max(most, 1.04 * baseline)
        level = {"value": baseline, "is_far": is_far, "text": f"no features: {number(baseline)}"}
    chart = _chart("increase", summary, series, (least, most), level)
    return {**chart, "is_tested": bool(summary["cv_results"]), "range": [least, most]}


def expert_charts(summary: Fields) -> list[Fields]:
    """Return information by number of features, and the bound of each set by itself."""
    own = f"{summary['path']['search'] or summary['selector']['name']}, nearest neighbors"
    sets = [one for one in summary["path"]["sets"] if one["size"] > 0]
    known = [one for one in sets if one["information"] is not None]  # not if time was up
    information = [Series(own, [_plain_point(one, "information", "nats") for one in known])]

    def held_out(row: Fields) -> Point:
        value, error = row["information"], BAND * row["information_error"]
        about = f"{plural(row['n_features'], 'feature')}, {row['search']}, held out: "
        about += f"{number(value)} nats ± {number(error)} ({row['model_information']})"
        return Point(row["n_features"], value, value - error, value + error, about)

    information += _by_search(summary, held_out, "information", ", held out")
    charts = [("information", "Information about the target, in nats", information)]
    bounds = [_plain_point(one, "bound", "at most") for one in sets if one["bound"] is not None]
    if bounds:
        name = f"Bound on the increase of the Bayes risk ({summary['budget']['metric_name']})"
        charts.append(("bound", name, [Series(own, bounds)]))
    drawn = []
    for name, title, series in charts:
        low, high = _ends(series)
        drawn.append({**_chart(name, summary, series, (low, 1.04 * high)), "title": title})
    return drawn


def _chart(
    name: str, summary: Fields, series: list[Series], ends: tuple[float, float],
    baseline: Fields | None = None,
) -> Fields:  # fmt: skip
    n_features = summary["kept"]["n_features"]
    figures = summary["certificate"]["figures"]
    likely = len(figures.get("likely") or ())
    likely = likely if likely < figures["n_kept"] else 0
    return {
        "name": name,
        "x_title": "number of features" + (" (logarithmic)" if n_features > _MANY else ""),
        "series": [one.name for one in series if one.name != ALL_FEATURES],
        "layouts": {
            layout: _layout(Plane(*size, n_features, *ends), series, baseline, likely)
            for layout, size in LAYOUTS.items()
        },
    }


def _ends(series: list[Series]) -> tuple[float, float]:
    """Return what a chart must show at least: all bands, and zero."""
    tested = [point for one in series for point in one.points if not point.is_rough]
    ends = [end for point in tested for end in (point.low, point.high)]
    return min([0.0, *ends]), max([1e-9, *ends])


def marks_of(chart: Fields, summary: Fields) -> Fields:
    """Return where the marks of the error increase are: of every set, and of every budget."""
    choices, own = summary["choices"], summary["certificate"]["set"]
    n_features = summary["kept"]["n_features"]
    marks = {}
    for name, size in LAYOUTS.items():
        plane = Plane(*size, n_features, *chart["range"])
        marks[name] = {
            "own": _mark(plane, own, chart),
            "sets": [_mark(plane, one, chart) for one in choices["sets"]],
            "budgets": [plane.y(budget) for budget in choices["budgets"]],
            "budget": plane.y(summary["budget"]["value"] or 0.0),
        }
    return marks


def nice_ticks(low: float, high: float, most: int) -> list[float]:
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(nice * power for nice in (1, 2, 2.5, 5, 10) if nice * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.6g}") for k in range(first, last + 1)]


def _held_out_increase(summary: Fields) -> list[Series]:
    metric = summary["budget"]["metric"]

    def point(row: Fields) -> Point:
        ends = row["increase_lower"], max(row["increase_upper"], row["excess_upper"])
        if row["search"] == ALL_FEATURES:
            ends = 0.0, 0.0
        low, high = (f"{'+' if end > 0 else ''}{number(end)}" for end in ends)
        about = f"{plural(row['n_features'], 'feature')}, {row['search']}: "
        about += f"{change_in_words(row['increase'], metric)} (bounds {low} to {high})"
        return Point(row["n_features"], row["increase"], *ends, about)

    series = {one.name: one for one in _by_search(summary, point, "increase")}
    for one in summary["rough"]:
        about = f"{change_in_words(one['increase'], metric)} (estimate of some folds)"
        rough = replace(_flat(one["n_features"], one["increase"], about), is_rough=True)
        own = [*(series[one["search"]].points if one["search"] in series else ()), rough]
        series[one["search"]] = Series(one["search"], sorted(own, key=lambda p: p.size))
    return list(series.values())


def _by_search(summary: Fields, point: Unchecked, needed: str, suffix: str = "") -> list[Series]:
    found: dict[str, list[Point]] = {}
    for row in summary["cv_results"]:
        if row[needed] is not None:
            name = row["search"] + (suffix if row["search"] != ALL_FEATURES else "")
            found.setdefault(name, []).append(point(row))
    return [Series(name, sorted(own, key=lambda p: p.size)) for name, own in found.items()]


def _path_bound(summary: Fields) -> list[Series]:
    sets = [one for one in summary["path"]["sets"] if one["size"] and one["bound"] is not None]
    smallest = np.fmin.accumulate([float(one["bound"]) for one in sets]) if sets else np.zeros(0)
    metric = summary["budget"]["metric"]
    points = [
        _flat(one["size"], float(bound), f"{change_in_words(bound, metric)} at most")
        for one, bound in zip(sets, smallest, strict=True)
    ]
    return [Series("bound from the information on the path", points)] if points else []


def _plain_point(one: Fields, key: str, unit: str) -> Point:
    return _flat(one["size"], one[key], f"{number(one[key])} {unit}")


def _flat(size: int, value: float, about: str) -> Point:
    """Return a set without a band."""
    return Point(size, value, value, value, f"{plural(size, 'feature')}: {about}")


def _layout(plane: Plane, series: list[Series], baseline: Fields | None, likely: int) -> Fields:
    drawn = []
    colored = [one.name for one in series if one.name != ALL_FEATURES]
    for one in series:
        at = [(plane.x(p.size), plane.y(p.value), p) for p in one.points]
        tested = [place for place in at if not place[2].is_rough]
        upper = [f"{x},{plane.y(p.high)}" for x, _, p in tested]
        lower = [f"{x},{plane.y(p.low)}" for x, _, p in reversed(tested)]
        color = colored.index(one.name) % _N_COLORS + 1 if one.name in colored else 0
        line, rough = (" ".join(f"{x},{y}" for x, y, _ in some) for some in (tested, at))
        drawn.append({
            "name": one.name, "color": color, "line": line, "band": " ".join(upper + lower),
            "rough": rough if len(tested) < len(at) else "",
            "points": [{"x": x, "y": y, "title": p.title, "rough": p.is_rough} for x, y, p in at],
        })  # fmt: skip
    level = None
    if baseline is not None:
        level = {**baseline, "y": _TOP if baseline["is_far"] else plane.y(baseline["value"])}
    x = plane.x(likely)  # its name is at its left, away from the set that stays, if there is room
    mark = {"x": x, "text": f"{likely} likely", "is_left": x > _LEFT + 60} if likely else None
    return {**plane.frame, "series": drawn, "baseline": level, "likely": mark}


def _mark(plane: Plane, one: Fields, chart: Fields) -> Fields:
    value, low, high = one["increase"], one["increase_lower"], one["limit"]
    if not chart["is_tested"]:
        value = low = high = one["bound"]
    x = plane.x(one["size"]) if one["size"] else None
    if value is None or x is None:
        return dict.fromkeys(("y", "low", "high")) | {"x": x}
    ends = {"low": plane.y(value if low is None else low), "high": plane.y(max(value, high or 0.0))}
    return {"x": x, "y": plane.y(value), **ends}


def _sizes(n_features: int, width: int) -> list[int]:
    if n_features > _MANY:
        powers = [2**k for k in range(int(math.log2(n_features)) + 1)]
        return powers if width > 500 else powers[::2]
    ticks = nice_ticks(1, max(n_features, 2), 12 if width > 500 else 6)
    return sorted({1} | {int(tick) for tick in ticks if tick % 1 == 0 and 1 <= tick <= n_features})
