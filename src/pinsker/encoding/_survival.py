"""Right-censored times: whether and when an event was seen, as a target.

A target of scikit-survival is a structured array of two fields, whether the event was seen (bool)
and the time of it or of the last look (number). Behind the gate it is two columns of numbers: `raw`
holds time and event, `values` normal scores of the time and the event, which searches look at.
"""

import numpy as np

from pinsker._notes import Note
from pinsker._types import AnyArray, BoolArray, FloatArray, Scale
from pinsker.encoding._cells import Origin
from pinsker.encoding._encoded import Target, frozen
from pinsker.encoding._read import RawTable
from pinsker.encoding._scaling import scale_columns
from pinsker.exceptions import DataError

#: Two times of the same normal score, one seen and one censored, are this far apart: as far as the
#: middle and the 97.5 % quantile of the times.
_EVENT_STEP = 2.0
#: Fewer events say nothing that could be held out.
_FEWEST_EVENTS = 10


def survival_fields(y: AnyArray) -> tuple[str, str]:
    """Return the names of the time and of the event of a structured array."""
    first, second = y.dtype.names or ("", "")
    return (second, first) if y.dtype[first].kind == "b" else (first, second)


def read_survival(y: AnyArray) -> RawTable:
    """Return a structured array as a table of the time and the event."""
    time, event = survival_fields(y)
    values = np.column_stack([y[time].astype(np.float64), y[event].astype(np.float64)])
    origins = (Origin.NUMBER, Origin.NUMBER)
    return RawTable(np.asfortranarray(values), origins, (None, None), (time, event), "y")


def survival_target(table: RawTable, scale: Scale, notes: list[Note | str]) -> Target:
    """Check the times, and scale them for searches."""
    time, event = table.values.T
    if (time < 0).any():
        raise DataError(
            f"y: the time {table.names[0]!r} is negative in {int((time < 0).sum())} rows: count it "
            "from the start of the observation."
        )
    if event.sum() < _FEWEST_EVENTS or np.ptp(time) == 0:
        raise DataError(
            f"y: {int(event.sum())} events ({table.names[1]!r}) at {len(np.unique(time))} "
            f"different times in {len(time)} rows: at least {_FEWEST_EVENTS} events are needed."
        )
    numeric = np.array([True, False])
    values = scale_columns(table.values, numeric, numeric, scale)
    values[:, 1] = _EVENT_STEP * event
    raw = frozen(table.values)
    return Target("survival", None, None, frozen(values), raw, table.names, tuple(notes))


def as_structured(raw: FloatArray, names: tuple[str, str]) -> AnyArray:
    """Return times and events as the structured array that models of survival are fitted to."""
    time, event = names
    y = np.empty(len(raw), dtype=[(event, np.bool_), (time, np.float64)])
    y[event], y[time] = raw[:, 1] > 0, raw[:, 0]
    return y


def null_martingale(time: FloatArray, event: BoolArray) -> FloatArray:
    """Return how many events more each row had than the average row until its time."""
    times, at = np.unique(time, return_inverse=True)
    leaving = np.bincount(at, minlength=len(times))
    at_risk = len(time) - np.cumsum(leaving) + leaving
    hazard = np.cumsum(np.bincount(at, event, len(times)) / at_risk)
    return np.asarray(event - hazard[at])
