"""The steps that all public functions share: check, encode, choose, measure, doubt."""

import math
from dataclasses import dataclass
from typing import Any

from joblib import effective_n_jobs

from pinsker._types import Missing, Scale
from pinsker.encoding import check_neighbors, check_scale
from pinsker.exceptions import ParameterError
from pinsker.information._arguments import Sides, encode_sides
from pinsker.information._discrete import CORRECTIONS, Correction
from pinsker.information._estimate import Estimate, warn_unreliable
from pinsker.information._measure import (
    GAUSSIAN_METHODS,
    METHODS,
    NEIGHBOUR_METHODS,
    Prepared,
    choose_method,
    prepare,
)
from pinsker.information._reliability import doubts, half_sampling_error


@dataclass(frozen=True)
class Options:
    """What the keywords of the public functions say; see `mutual_information`."""

    method: str
    n_neighbors: int
    scale: Scale
    discrete: Any
    missing: Missing
    correction: Correction
    n_jobs: int | None

    def check(self) -> None:
        """Refuse what no data could make sense of."""
        check_choice("method", self.method, METHODS)
        check_correction(self.correction)
        check_scale(self.scale)


@dataclass(frozen=True, eq=False)
class Ready:
    """Encoded arguments, laid out for the method chosen, with notes for the user."""

    sides: Sides
    prepared: Prepared
    notes: tuple[str, ...]


def get_ready(x: Any, y: Any, z: Any, options: Options) -> Ready:
    """Check the options, encode the arguments, choose the method and lay out its arrays."""
    options.check()
    by_neighbours = options.method in ("auto", *NEIGHBOUR_METHODS)
    gaussian = options.method in GAUSSIAN_METHODS
    sides = encode_sides(
        x,
        y,
        z,
        scale=options.scale if by_neighbours else "standard" if gaussian else "none",
        discrete=options.discrete,
        missing=options.missing,
        guess_classes=not gaussian,
    )
    method, chosen = choose_method(options.method, sides)
    if method in NEIGHBOUR_METHODS:
        check_neighbors(options.n_neighbors, sides.x.n_rows)
    prepared = prepare(
        sides,
        method,
        k=options.n_neighbors,
        correction=options.correction,
        n_threads=count_threads(options.n_jobs),
    )
    return Ready(sides, prepared, (*chosen, *sides.notes))


def finish(
    x: Any, y: Any, z: Any, options: Options, clip: bool, return_details: bool, random_state: int
) -> float | Estimate:
    """Carry out one estimate for a public function, which must be the caller."""
    ready = get_ready(x, y, z, options)
    measured = ready.prepared.measure()
    warnings = doubts(ready.prepared, measured, ready.sides)
    warn_unreliable(warnings, stacklevel=3)
    value = clipped(measured.value, clip)
    if not return_details:
        return value
    error = half_sampling_error(
        lambda rows: ready.prepared.take(rows).measure().value,
        ready.prepared.n_rows,
        ready.prepared.fewest_rows,
        random_state,
    )
    return Estimate(
        value,
        ready.prepared.method,
        ready.prepared.n_rows,
        measured.ceiling,
        error,
        ready.notes,
        warnings,
    )


def check_choice(name: str, value: str, allowed: tuple[str, ...], why: str = "") -> None:
    """Refuse a word that a parameter does not know."""
    if value not in allowed:
        raise ParameterError(
            f"{name}={value!r} is not known{why}: use one of {', '.join(allowed)}."
        )


def check_correction(correction: str) -> None:
    """Refuse a bias correction that does not exist."""
    check_choice("correction", correction, CORRECTIONS)


def clipped(value: float, clip: bool) -> float:
    """Return zero for a negative value when asked to."""
    assert not math.isnan(value)
    return max(value, 0.0) if clip else value


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's `n_jobs` stands for."""
    if n_jobs == 0 or isinstance(n_jobs, bool):
        raise ParameterError(f"n_jobs={n_jobs!r} means nothing: use a number, -1 for all, or None.")
    return int(effective_n_jobs(n_jobs))
