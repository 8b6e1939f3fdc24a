"""What the kernels see, checked once: they read memory by these sizes and numbers.

Objects that hold arrays for the kernels (`FrozenArrays`) have copies that cannot be written to, so
what was checked stays true.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import digamma

from pinsker import encoding
from pinsker._types import AnyArray, Fields, FloatArray, IntArray, Unchecked
from pinsker.encoding import Encoded
from pinsker.exceptions import DataError, ParameterError

#: Codes are below this: tables have a cell for each, and their products stay within 64 bits.
MOST_CODES = 2**24
#: Kernels start as many threads as they are given work for.
MOST_THREADS = 4096
#: Kernels count neighbors in 32 bits; more than there are rows are all rows.
MOST_NEIGHBORS = 2**31 - 1
#: Bytes; kernels add up what workers may hold in 64 bits.
MOST_MEMORY = 2**53

_INTEGERS = (int, np.integer)
_MOST_SHOWN_BITS = 256


class FrozenArrays:
    """A frozen dataclass whose arrays the kernels read: nobody can write to them."""

    @classmethod
    def _made(cls, **fields: Any) -> Self:
        """Make one of fields that are known to be right: arrays are not copied."""
        made = object.__new__(cls)
        made.__setstate__(fields)
        return made

    def __setstate__(self, fields: Fields) -> None:
        """Set all fields, those of a pickle or a copy as well: both have arrays to write to."""
        for name in fields:
            value = fields[name]
            if type(value) is np.ndarray:
                value.setflags(write=False)
        self.__dict__.update(fields)


class MadeByOf(FrozenArrays):
    """A dataclass whose fields have to fit together: only its method `of` makes one."""

    def __init__(self, *_: object, **__: object) -> None:
        name = type(self).__name__
        raise ParameterError(
            f"{name}(...) is not checked: use {name}.of, which makes and checks all fields."
        )


def as_array(name: str, values: Unchecked) -> AnyArray:
    """Return an array; refuse what NumPy makes none of, and masks, which the kernels do not see."""
    if type(values) is np.ndarray:
        return values
    if np.ma.is_masked(values):
        raise DataError(f"{name} is a masked array: fill it, or leave the masked rows out.")
    return encoding.read_array(name, values)


def as_numbers(name: str, values: Unchecked) -> FloatArray:
    """Return values as float64 in C order; refuse what has no such value."""
    array = as_array(name, values)
    try:
        if array.dtype.kind == "c":
            raise TypeError("they are complex")
        return np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{name} cannot be read as numbers ({error}): give an array of them."
        ) from error


def finite_matrix(name: str, values: Unchecked, n_rows: int | None = None) -> FloatArray:
    """Return numbers as a float64 matrix in C order; refuse other shapes, NaN and infinity."""
    matrix = as_numbers(name, values)
    if matrix.ndim != 2:
        raise DataError(f"{name} has shape {matrix.shape}: give a matrix of rows and columns.")
    if n_rows is not None and len(matrix) != n_rows:
        raise DataError(f"{name} has {len(matrix)} rows, but there are {n_rows}: give one each.")
    if not np.isfinite(matrix).all():
        row, column = (int(at[0]) for at in np.nonzero(~np.isfinite(matrix)))
        raise DataError(
            f"{name} holds {matrix[row, column]} in row {row}, column {column}: the kernels take "
            "finite numbers (pinsker.encoding.encode makes them from any table)."
        )
    return matrix


def finite_vector(name: str, values: Unchecked, n_rows: int) -> FloatArray:
    """Return one finite number per row as float64."""
    vector = as_numbers(name, values)
    if vector.shape != (n_rows,):
        raise DataError(f"{name} has shape {vector.shape}: give one for each of {n_rows} rows.")
    if not np.isfinite(vector).all():
        row = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise DataError(f"{name} holds {vector[row]} in row {row}: give finite numbers.")
    return vector


def integer_vector(name: str, values: Unchecked, n: int, each: str = "row") -> AnyArray:
    """Return one integer per row, or for each of something else, of whatever type."""
    integers = as_array(name, values)
    if integers.shape != (n,) or integers.dtype.kind not in "iub":
        raise DataError(
            f"{name} has shape {integers.shape} and dtype {integers.dtype}: give one integer for "
            f"each of {n} {each}s."
        )
    return integers


def code_vector(name: str, values: Unchecked, n: int, n_codes: int, each: str = "row") -> AnyArray:
    """Return one of 0..n_codes-1 for each, as integers of whatever type."""
    codes = integer_vector(name, values, n, each)
    if n and (codes.max() >= n_codes or codes.min() < 0):
        place = int(np.flatnonzero((codes < 0) | (codes >= n_codes))[0])
        raise DataError(
            f"{name} holds {codes[place]} in {each} {place}: give numbers from 0 to {n_codes - 1}, "
            "without gaps as numpy.unique numbers values."
        )
    return codes


def flags(name: str, values: Unchecked, n: int) -> npt.NDArray[np.uint8]:
    """Return truth values, one for each of n, as bytes."""
    mask = as_array(name, values)
    if mask.shape != (n,) or mask.dtype.kind != "b":
        raise DataError(
            f"{name} has shape {mask.shape} and dtype {mask.dtype}: give {n} truth values."
        )
    return mask.view(np.uint8)


def at_least(
    name: str, value: Unchecked, least: int, most: int | None = None, *, or_none: bool = False
) -> int:
    """Return an integer parameter; refuse what is none, below the least or above the most."""
    integer = isinstance(value, _INTEGERS) and not isinstance(value, bool)
    if not integer or value < least or (most is not None and value > most):
        upper = "" if most is None else f" and at most {most}"
        none = ", or None" if or_none else ""
        raise ParameterError(
            f"{name}={shown(value)} cannot be used: give an integer of at least {least}{upper}"
            f"{none}.",
            parameter=name,
        )
    return int(value)


def truth(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name}={value!r} is neither True nor False.", parameter=name)
    return bool(value)


def shown(value: object) -> str:
    """Return a value as text; Python writes no integer of more than some thousand digits."""
    if isinstance(value, int) and value.bit_length() > _MOST_SHOWN_BITS:
        return f"<an integer of {value.bit_length()} bits>"
    return repr(value)


def thread_count(n_threads: Unchecked) -> int:
    return at_least("n_threads", n_threads, 1, MOST_THREADS)


def one_of(name: str, value: object, options: Sequence[str]) -> None:
    if not isinstance(value, str) or value not in options:
        known = ", ".join(repr(option) for option in options)
        raise ParameterError(f"{name}={value!r} is none of {known}.", parameter=name)


def instance_of(name: str, value: object, kind: type, advice: str) -> None:
    if not isinstance(value, kind):
        raise ParameterError(
            f"{name} is of type {type(value).__name__}: give a {kind.__name__} ({advice}).",
            parameter=name,
        )


def index_of(name: str, value: Unchecked, n: int) -> int:
    """Return the number of one of n; refuse one that is not there, negative ones included."""
    index = at_least(name, value, 0)
    if index >= n:
        raise ParameterError(
            f"{name}={shown(index)}, but there are {n}: give one of 0..{n - 1}.", parameter=name
        )
    return index


#: A row's term is a sum of four digammas of counts: below 2**5 for any table that fits in memory.
_TERM_BITS = 5


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Digammas of 0..n_rows, scaled by a power of two and rounded."""

    digamma: IntArray  # ``round(psi(m) * 2**shift)``
    shift: int  # binary digits after the point

    @classmethod
    def of(cls, n_rows: int) -> "FixedPoint":
        shift = 62 - _TERM_BITS - math.ceil(math.log2(n_rows + 1))
        table = np.zeros(n_rows + 1, dtype=np.int64)
        exact = digamma(np.arange(1, n_rows + 1, dtype=np.float64))
        table[1:] = np.rint(np.ldexp(exact, shift)).astype(np.int64)
        table.flags.writeable = False
        return cls(table, shift)

    def to_nats(self, sums: IntArray, count: int) -> FloatArray:
        """Return the mean of summed terms over `count` rows, in nats."""
        # One division per score; the scaling by a power of two before it is exact.
        return sums / (count * 2.0**self.shift)


@dataclass(frozen=True, eq=False)
class Problem(FrozenArrays):
    """Arrays in the form the kernels take, checked: sizes, ranges and finite numbers."""

    values: FloatArray
    feature_of_column: IntArray  # which feature each column belongs to, 0..n_features-1
    n_features: int  # number of features
    labels: IntArray | None  # class codes 0, 1, 2, ..., for a class target
    target: FloatArray | None  # metric form of a numeric target
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        given = _checked(self.values, self.feature_of_column, self.labels, self.target)
        if at_least("n_features", self.n_features, 1) != given["n_features"]:
            raise DataError(
                f"n_features={shown(self.n_features)}, but columns belong to "
                f"{given['n_features']} features."
            )
        instance_of("cache", self.cache, dict, "by default a new one")
        self.__setstate__(_copied(given))

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @classmethod
    def from_arrays(
        cls,
        values: FloatArray,
        *,
        labels: IntArray | None = None,
        target: FloatArray | None = None,
        features: IntArray | None = None,
    ) -> "Problem":
        """Copy arrays that are in metric form already; every column its own feature by default."""
        given = as_array("values", values)
        if features is None:
            features = np.arange(given.shape[1] if given.ndim == 2 else 1)
        if target is not None:
            target = as_numbers("target", target)
            target = target.reshape(-1, 1) if target.ndim == 1 else target
        return cls._made(**_copied(_checked(given, features, labels, target)), cache={})

    @classmethod
    def of(cls, encoded: Encoded) -> "Problem":
        instance_of("encoded", encoded, Encoded, "pinsker.encoding.encode makes one")
        feature_of_column = np.empty(encoded.columns.values.shape[1], dtype=np.int64)
        for feature, columns in enumerate(encoded.features):
            feature_of_column[list(columns)] = feature
        labels, target = encoded.target.labels, encoded.target.values
        target = None if target is None else target.copy()
        # The metric form is a new array: a large table is not copied again.
        checked = _checked(encoded.columns.metric(), feature_of_column, labels, target)
        return cls._made(**checked, cache={})


def _checked(
    values: Unchecked, features: Unchecked, labels: Unchecked, target: Unchecked
) -> Fields:
    """Return the arrays of a problem in the form the kernels take; some may be those given."""
    values = finite_matrix("values", values)
    n_rows, n_columns = values.shape
    if not n_rows or not n_columns:
        raise DataError(f"values has shape {n_rows, n_columns}: give rows and columns.")
    if (labels is None) == (target is None):
        raise DataError("a problem has either labels or a target: give one of them.")
    numbers = code_vector("features", features, n_columns, n_columns, "column").astype(np.int64)
    empty = np.flatnonzero(np.bincount(numbers) == 0)
    if len(empty):
        raise DataError(f"feature {empty[0]} of features has no column: number them without gaps.")
    if target is not None:
        target = finite_matrix("target", target, n_rows)
        if not target.shape[1]:
            raise DataError(f"target has shape {target.shape}: give one column at least.")
    if labels is not None:  # integers, whatever they are, become class codes 0, 1, 2, ...
        codes = np.unique(integer_vector("labels", labels, n_rows), return_inverse=True)[1]
        labels = np.ascontiguousarray(codes, dtype=np.int64)
    return {
        "values": values,
        "feature_of_column": numbers,
        "n_features": int(numbers.max()) + 1,
        "labels": labels,
        "target": target,
    }


def _copied(fields: Fields) -> Fields:
    return {name: np.copy(v) if isinstance(v, np.ndarray) else v for name, v in fields.items()}
