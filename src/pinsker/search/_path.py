"""What a search returns: a path of nested feature sets, and what is known of each of them."""

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from pinsker._compat import require
from pinsker._types import Fields, FloatArray, IntArray, TableLike, Unchecked
from pinsker.exceptions import ParameterError

Direction = Literal["backward", "forward"]
Reference = Literal["best", "full"]

#: Differences of information below this many nats are rounding: means of digammas of size 10
#: carry an error of about 1e-15, sums over a thousand steps 1e-13.
ROUNDING = 1e-12

#: The version that `to_json` writes; version 1 was that of pinsker 0.1.
_SCHEMA = 2


@dataclass(frozen=True, slots=True)
class Step:
    """One removal or addition."""

    size: int  # number of features in the set after the step
    feature: str  # name of the feature that was removed or added
    index: int  # its position among ``path.names``
    score: float  # what the search saw in it: the information it carries beyond the others, in nats
    information: float  # I(Y; X_S) of that set, in nats
    lost: float  # information of the best set seen minus that of this one, in nats
    spent: float  # sum of the scores so far, each clipped at zero, in nats
    bound: float  # largest increase of the Bayes risk that `lost` allows, in the path's metric


@dataclass(frozen=True)
class SelectionPath:
    """Nested feature sets in the order in which a greedy search met them.

    Read the same way for both directions: the set of ``s`` features is ``order[:s]``, for every
    size ``s`` in `sizes`. A feature is what is kept or dropped as one: a column, or a group.

    Attributes
    ----------
    direction : {"backward", "forward"}
        Whether the moves remove or add.
    names : tuple of str
        All features that the search was given, kept or not.
    moves : tuple of int
        Features in the order of their removal or addition.
    scores : tuple of float
        One per move, in nats.
    information : tuple of float
        I(Y; X_S) before the first move and after each one, in nats: one more than moves.
    start : tuple of int, optional
        The set before the first move. By default all features (backward) or none (forward).
    score : {"difference", "direct", "linear"}
        How the search scored.
    full_information : float, optional
        I(Y; X) of all features, in nats, when known and not on the path.
    bounds : tuple of float
        Increase of the Bayes risk that each set allows, one per entry of `information`.
    metric : str
        The metric of `bounds`.
    n_fixed : int
        How many features may not be dropped; they come first in `order`.
    complete : bool
        False when the search was cut short and could go on.
    plan : Plan, optional
        Which rows a search by neighbors measured, and how it used memory; not saved.

    Examples
    --------
    >>> path = SelectionPath(
    ...     "backward", ("a", "b", "c"), (2, 0, 1), (0.0, 0.1, 0.6), (0.7, 0.7, 0.6, 0.0)
    ... )
    >>> path
    SelectionPath(backward, 3 features, 3 steps, best: 2 features with 0.7000 nats)
    >>> path.order, path.set_at(2)
    ((1, 0, 2), (1, 0))
    >>> path.lost().round(2).tolist()
    [0.0, 0.0, 0.1, 0.7]
    """

    direction: Direction
    names: tuple[str, ...]
    moves: tuple[int, ...]
    scores: tuple[float, ...]
    information: tuple[float, ...]
    start: tuple[int, ...] | None = None
    score: str = "difference"
    full_information: float | None = None
    bounds: tuple[float, ...] = ()
    metric: str = ""
    n_fixed: int = 0
    complete: bool = True
    plan: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.start is None:
            everything = tuple(range(len(self.names)))
            object.__setattr__(self, "start", everything if self.direction == "backward" else ())
        n_moves, n_sets = len(self.moves), len(self.information)
        if len(self.scores) != n_moves or n_sets != n_moves + 1:
            raise ParameterError(
                f"a path of {n_moves} moves needs {n_moves} scores and {n_moves + 1} information "
                f"values, found {len(self.scores)} and {n_sets}."
            )
        if self.bounds and len(self.bounds) != n_sets:
            raise ParameterError(
                f"a path of {n_moves} moves needs {n_sets} bounds, found {len(self.bounds)}."
            )

    @property
    def n_features(self) -> int:
        """Number of features that the search was given."""
        return len(self.names)

    @property
    def first_set(self) -> tuple[int, ...]:
        """The set before the first move."""
        assert self.start is not None  # filled in by __post_init__
        return self.start

    @property
    def last_set(self) -> tuple[int, ...]:
        """The set after the last move."""
        return self.order[: int(self.sizes[-1])]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Features such that the set of size ``s`` is ``order[:s]``."""
        if self.direction == "forward":
            return self.first_set + self.moves
        gone = set(self.moves)
        return tuple(i for i in self.first_set if i not in gone) + self.moves[::-1]

    @cached_property
    def sizes(self) -> IntArray:
        """Sizes of the sets on the path, one per entry of `information`."""
        step = 1 if self.direction == "forward" else -1
        return len(self.first_set) + step * np.arange(len(self.information), dtype=np.int64)

    @property
    def best_information(self) -> float:
        """Largest information seen, the full set included when it is known, in nats."""
        seen = float(np.nanmax(self.information))  # orders are paths of sets not yet measured
        return seen if self.full_information is None else max(seen, self.full_information)

    @property
    def best_size(self) -> int:
        """Smallest size on the path that carries the path's largest information."""
        values = np.asarray(self.information)
        return int(self.sizes[values >= np.nanmax(values) - ROUNDING].min())

    @cached_property
    def spent(self) -> FloatArray:
        """Sum of the scores so far, each clipped at zero: one per entry of `information`."""
        clipped = np.maximum(np.asarray(self.scores, dtype=np.float64), 0.0)
        return np.concatenate([np.zeros(1), np.cumsum(clipped)])

    def lost(self, reference: Reference = "best") -> FloatArray:
        """Information that each set lacks, in nats, never negative.

        Parameters
        ----------
        reference : {"best", "full"}
            Compare with the best set seen, or with the set of all features. Since
            ``I(Y; X) >= I(Y; X_S)`` for every S, the best set seen is the better estimate of what
            there is to lose.

        Returns
        -------
        ndarray of shape (n_steps + 1,)
            One per entry of `information`; less than 1e-12 is rounding and becomes 0.
        """
        most = self.best_information if reference == "best" else self._information_of_all()
        lost = most - np.asarray(self.information, dtype=np.float64)
        return np.where(lost <= ROUNDING, 0.0, lost)  # of a set that was not measured: NaN

    def set_at(self, size: int) -> tuple[int, ...]:
        """Return the features of the set of this size.

        Raises
        ------
        ParameterError
            When the path does not pass through that size.
        """
        self._position(size)
        return self.order[:size]

    def information_at(self, size: int) -> float:
        """Return I(Y; X_S) of the set of this size, in nats."""
        return self.information[self._position(size)]

    def bound_at(self, size: int) -> float:
        """Return the increase of the Bayes risk that the set of this size allows, or NaN."""
        position = self._position(size)
        return self.bounds[position] if self.bounds else float("nan")

    @property
    def steps(self) -> tuple[Step, ...]:
        """The moves one by one, with everything known about the set that each leaves."""
        lost, spent = self.lost(), self.spent
        bounds = self.bounds or (float("nan"),) * len(self.information)
        return tuple(
            Step(
                size=int(self.sizes[t]),
                feature=self.names[feature],
                index=feature,
                score=self.scores[t - 1],
                information=self.information[t],
                lost=float(lost[t]),
                spent=float(spent[t]),
                bound=bounds[t],
            )
            for t, feature in enumerate(self.moves, start=1)
        )

    def with_bounds(self, bounds: tuple[float, ...], metric: str) -> Self:
        """Return the same path with its bounds filled in."""
        return replace(self, bounds=bounds, metric=metric)

    def continued(self, features: Sequence[int], scores: Sequence[float] | None = None) -> Self:
        """Return a forward path that goes on with features whose sets were not measured."""
        unknown = (float("nan"),) * len(features)
        return replace(
            self,
            moves=self.moves + tuple(features),
            scores=self.scores + (unknown if scores is None else tuple(scores)),
            information=self.information + unknown,
        )

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> TableLike:
        """Return the steps as a frame of pandas or polars: one row a step, columns as in `Step`."""
        if library not in ("pandas", "polars"):
            raise ParameterError(f"library={library!r} is not known: use 'pandas' or 'polars'.")
        frames, steps = require(library, purpose=f"to_frame({library!r})"), self.steps
        columns = [column.name for column in dataclasses.fields(Step)]
        return frames.DataFrame({name: [getattr(one, name) for one in steps] for name in columns})

    def to_json(self) -> str:
        """Return the path as JSON text that `from_json` turns back into an equal path."""
        names = [part.name for part in dataclasses.fields(self) if part.name != "plan"]
        content = {name: _plain(getattr(self, name)) for name in names}
        return json.dumps({"schema": _SCHEMA, **content}, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        return cls(**_fields_from_json(text))

    def __repr__(self) -> str:
        state = "" if self.complete else ", partial"
        return (
            f"SelectionPath({self.direction}, {self.n_features} features, {len(self.moves)} steps"
            f"{state}, best: {self.best_size} features with {np.nanmax(self.information):.4f} nats)"
        )

    def _position(self, size: int) -> int:
        first, last = int(self.sizes[0]), int(self.sizes[-1])
        if not min(first, last) <= size <= max(first, last):
            raise ParameterError(
                f"size {size} is not on this path, which has sizes {min(first, last)} to "
                f"{max(first, last)}."
            )
        return abs(size - first)

    def _information_of_all(self) -> float:
        if self.full_information is not None:
            return self.full_information
        if self.n_features in (self.sizes[0], self.sizes[-1]):
            return self.information_at(self.n_features)
        raise ParameterError(
            "this path does not pass through the set of all features, so reference='full' has "
            "nothing to compare with: use reference='best', or give full_information."
        )


@dataclass(frozen=True)
class CountedPath(SelectionPath):
    """The path of a search by criterion."""

    n_counted: int = 0  # up to this size the information of a set is counted
    p_values: tuple[float, ...] = ()


def _fields_from_json(text: str) -> Fields:
    """Return the fields that `to_json` wrote."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ParameterError(f"not the JSON of a selection path: {error}.") from error
    schema = content.pop("schema", None) if isinstance(content, dict) else None
    if schema != _SCHEMA:
        raise ParameterError(
            f"not the JSON of a selection path: expected schema {_SCHEMA}, found {schema!r}."
        )
    numbers = ("scores", "information", "bounds", "p_values")
    if content.get("full_information") is not None:
        content["full_information"] = float(content["full_information"])
    return {
        name: tuple(map(float, value) if name in numbers else value)
        if isinstance(value, list)
        else value
        for name, value in content.items()
    }


def _plain(value: Unchecked) -> Any:
    """Return what JSON can hold: floats survive exactly, NaN and infinity become text."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # float("nan"), float("inf") read it back
    return value
