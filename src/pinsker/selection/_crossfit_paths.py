"""The paths that are tried: ways to put features in an order."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from pinsker.encoding import Encoded
from pinsker.engine import Forward
from pinsker.exceptions import ParameterError
from pinsker.selection._backward import BackwardElimination
from pinsker.selection._base import InformationSelector
from pinsker.selection._columns import forced_units
from pinsker.selection._crossfit_growth import SharedGrowth
from pinsker.selection._crossfit_routes import Route, Search, find_path
from pinsker.selection._forward import ForwardSelection
from pinsker.selection._grow_shrink import GrowShrink
from pinsker.selection._linear import LinearElimination
from pinsker.selection._neighbour_selector import NeighbourSelector
from pinsker.selection._path import SelectionPath
from pinsker.selection._rules import FeatureCount
from pinsker.selection._search import Trace

#: Paths of ``paths="auto"``, the one that is asked for the witnesses' worth first.
AUTO = ("grow-shrink", "backward", "forward", "linear", "relevance")
#: A linear path through more features than this share of the rows fits noise.
_LINEAR_SHARE = 1 / 3
_LINEAR_MOST = 50
#: Growing paths of the front door go so far: sets beyond are the backward path's to find.
_GROWN = 64
#: An order of relevance is followed, and measured, so far.
_MEASURED = 100


def routes(
    paths: Literal["auto"] | Sequence[Any], like: NeighbourSelector, encoded: Encoded
) -> list[Route]:
    """Return the routes that a user asked for.

    Parameters
    ----------
    paths : "auto" or sequence
        Names out of `AUTO`, selectors, (name, selector) pairs, or (name, order) pairs where the
        order lists columns by name or position, best first.
    like : NeighbourSelector
        Whose settings the named paths take over.
    encoded : Encoded
        The table.
    """
    if isinstance(paths, str) and paths != "auto":
        raise ParameterError(f"paths={paths!r}: use 'auto' or a list of names and selectors.")
    growth = _growth(like, encoded)
    asked = AUTO if isinstance(paths, str) else paths
    found = [_route(item, like, encoded, growth) for item in asked]
    names = [route.name for route in found]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated or not names:
        problem = f"names {repeated[0]!r} twice" if repeated else "is empty"
        raise ParameterError(f"paths {problem}: give every path a name of its own.")
    return found


def _route(item: Any, like: NeighbourSelector, encoded: Encoded, growth: SharedGrowth) -> Route:
    forced = growth.forced
    if isinstance(item, str):
        return _named_route(item, like, growth)
    name, what = item if isinstance(item, tuple) else (type(item).__name__, item)
    if isinstance(what, InformationSelector):
        return Route(str(name), lambda rows: find_path(clone(what), rows, forced))
    listed = () if isinstance(what, str | type) or not hasattr(what, "__iter__") else what
    order = [u for column in listed for u in forced_units(encoded, [column])]
    if not order:
        raise ParameterError(
            f"paths: {item!r} is no path: use a name, a selector (made with its parentheses), or "
            "a (name, order) pair that lists columns."
        )
    ranked = tuple(dict.fromkeys([*forced, *order]))
    return Route(str(name), lambda rows: _fixed_path(rows, ranked, len(forced)))


def _named_route(name: str, like: NeighbourSelector, growth: SharedGrowth) -> Route:
    forced = growth.forced
    backward = BackwardElimination(**_settings(like))  # travels without its client
    searches: dict[str, Search] = {
        "grow-shrink": growth.grow_shrink,
        "backward": lambda rows: find_path(clone(backward), rows, forced),
        "forward": growth.forward,
        "linear": lambda rows: find_path(_linear_selector(rows), rows, forced),
        "relevance": lambda rows: _relevance_path(rows, like, forced),
    }
    if name not in searches:
        raise ParameterError(f"paths: {name!r} is none of {', '.join(map(repr, AUTO))}.")
    return Route(name, searches[name])


def _settings(like: NeighbourSelector) -> dict[str, Any]:
    """Return the parameters of the named paths that search by neighbours."""
    names = (
        "n_neighbors", "score_form", "max_samples", "max_memory", "random_state", "engine",
        "client",
    )  # fmt: skip
    settings = {name: getattr(like, name) for name in names}
    if isinstance(like.stop, FeatureCount):
        settings["stop"] = like.stop  # so that growing does not end below that count
    return settings


def _growth(like: NeighbourSelector, encoded: Encoded) -> SharedGrowth:
    """Return the search that the two growing paths have in common."""
    forced = forced_units(encoded, like.keep)
    least = like.stop.k if isinstance(like.stop, FeatureCount) else 0
    settings = {**_settings(like), "max_features": max(_GROWN, least, len(forced))}
    return SharedGrowth(GrowShrink(**settings), ForwardSelection(**settings), forced)


def _linear_selector(encoded: Encoded) -> LinearElimination:
    """Backward where the rows carry all columns, else forward as far as they carry."""
    most = int(_LINEAR_SHARE * encoded.n_rows)
    if encoded.columns.n_columns <= most:
        return LinearElimination()
    return LinearElimination(direction="forward", max_features=max(1, min(most, _LINEAR_MOST)))


def _relevance_path(
    encoded: Encoded, like: NeighbourSelector, forced: tuple[int, ...]
) -> SelectionPath:
    """Order the features by what each tells alone."""
    scores = Forward(**like._engine(encoded)).scores()
    ranked = [int(unit) for unit in np.argsort(-scores, kind="stable")]
    order = tuple(dict.fromkeys([*forced, *ranked]))
    return _fixed_path(encoded, order, len(forced), [float(scores[unit]) for unit in order])


def _fixed_path(
    encoded: Encoded, order: tuple[int, ...], n_forced: int, scores: list[float] | None = None
) -> SelectionPath:
    """Return an order as a path whose sets nobody has measured."""
    trace = Trace((), [0.0], complete=True)
    for position, unit in enumerate(order[:_MEASURED]):
        trace.record(unit, float("nan") if scores is None else scores[position], float("nan"))
    return trace.path("forward", encoded.feature_names, "relevance", n_forced=n_forced)


def measured(path: SelectionPath, encoded: Encoded, like: NeighbourSelector) -> SelectionPath:
    """Return a path with the information of its sets filled in, if nobody has measured them yet."""
    if not np.isnan(path.information).any():
        return path
    order = path.order[:_MEASURED]
    columns = np.array([j for unit in order for j in encoded.features[unit]], dtype=np.int64)
    ends = np.cumsum([len(encoded.features[unit]) for unit in order])
    part = replace(
        encoded,
        columns=encoded.columns.take(columns),
        features=tuple(
            tuple(range(e - len(encoded.features[u]), e)) for u, e in zip(order, ends, strict=True)
        ),
        feature_names=tuple(encoded.feature_names[unit] for unit in order),
    )
    state = Forward(**like._engine(part))
    trace = Trace((), [0.0], complete=True)
    for position, unit in enumerate(order):
        state.add(position)
        trace.record(unit, state.information - trace.information[-1], state.information)
    return trace.path("forward", encoded.feature_names, "relevance", n_forced=path.n_forced)
