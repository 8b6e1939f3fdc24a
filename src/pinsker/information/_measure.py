"""One measurement of information: arrays in the form a method takes, and the method's answer."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from pinsker._types import AnyArray, FloatArray, IntArray
from pinsker.encoding import Columns, Kind, normal_scores
from pinsker.exceptions import DataError
from pinsker.information._arguments import Sides
from pinsker.information._discrete import Correction, discrete_information, merge_states
from pinsker.information._gaussian import gaussian_information
from pinsker.information._knn import knn_terms

Method = Literal["auto", "knn", "ksg2", "gao", "discrete", "gaussian", "copula"]
METHODS: tuple[str, ...] = get_args(Method)
NEIGHBOUR_METHODS = ("knn", "ksg2", "gao")
GAUSSIAN_METHODS = ("gaussian", "copula")

#: Fewer rows than this in a joint state, on average, and counting states is not reliable.
ROWS_PER_CELL = 5.0


@dataclass(frozen=True, eq=False)
class Measured:
    """A method's answer.

    Attributes
    ----------
    value : float
        Information in nats, not clipped.
    ceiling : float or None
        The largest value neighbours could have shown, in nats.
    rows_per_cell : float or None
        Mean number of rows in an observed joint state.
    n_alone : int
        Rows that have no row with the same nominal values to be compared with.
    """

    value: float
    ceiling: float | None = None
    rows_per_cell: float | None = None
    n_alone: int = 0


@dataclass(frozen=True, eq=False)
class Prepared:
    """Arrays laid out for one method; any rows can be taken, and x permuted.

    Attributes
    ----------
    method : str
        Any method but "auto".
    x, y, z : ndarray
        Metric form for neighbours, states for counting, numbers for Gaussian methods; z is None
        without a condition.
    k : int
        Number of neighbours.
    correction : {"grassberger", "miller-madow", "none"}
        Bias correction when states are counted.
    n_threads : int
        Threads for neighbour searches.
    """

    method: str
    x: AnyArray
    y: AnyArray
    z: AnyArray | None
    k: int
    correction: Correction
    n_threads: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.x.shape[0])

    @property
    def fewest_rows(self) -> int:
        """Rows that the method needs at least, to be worth a half's estimate."""
        if self.method in NEIGHBOUR_METHODS:
            return 2 * self.k
        if self.method == "discrete":
            return 2
        z_columns = 0 if self.z is None else self.z.shape[1]
        return int(self.x.shape[1] + self.y.shape[1] + z_columns + 2)

    def take(self, rows: IntArray) -> "Prepared":
        """Return some of the rows."""
        z = None if self.z is None else self.z[rows]
        return replace(self, x=self.x[rows], y=self.y[rows], z=z)

    def measure(self) -> Measured:
        """Estimate I(X;Y|Z), or I(X;Y) without a condition."""
        if self.method == "discrete":
            value, rows_per_cell = discrete_information(self.x, self.y, self.z, self.correction)
            return Measured(value, rows_per_cell=rows_per_cell)
        if self.method in GAUSSIAN_METHODS:
            return Measured(gaussian_information(self.x, self.y, self.z))
        terms = knn_terms(
            self.x,
            self.y,
            self.z,
            k=self.k,
            n_threads=self.n_threads,
            method=self.method,  # type: ignore[arg-type]
        )
        return Measured(terms.value, terms.ceiling, n_alone=terms.n_alone)


def choose_method(method: str, sides: Sides) -> tuple[str, list[str]]:
    """Return the method to use, and a note when it was chosen here."""
    if method != "auto":
        return method, []
    if Kind.CONTINUOUS in sides.kinds:
        return "knn", ["method='auto' chose 'knn': some columns are continuous"]
    _, n_cells = merge_states(*(columns.metric() for columns in sides.given.values()))
    if sides.x.n_rows / n_cells >= ROWS_PER_CELL:
        return "discrete", ["method='auto' chose 'discrete': all columns are, and cells are filled"]
    if Kind.COUNT in sides.kinds:
        return "knn", ["method='auto' chose 'knn': few rows per cell, but counts have distances"]
    return "discrete", ["method='auto' chose 'discrete': all columns are nominal"]


def prepare(
    sides: Sides, method: str, *, k: int, correction: Correction, n_threads: int
) -> Prepared:
    """Lay out encoded arguments for a method."""
    arrays: dict[str, AnyArray]
    if method == "discrete":
        arrays = {name: as_states(columns, name) for name, columns in sides.given.items()}
    elif method in GAUSSIAN_METHODS:
        arrays = {name: as_numbers(columns, name, method) for name, columns in sides.given.items()}
        n_columns = sum(array.shape[1] for array in arrays.values())
        check_gaussian_rows(sides.x.n_rows, n_columns, method)
    else:
        arrays = {name: columns.metric() for name, columns in sides.given.items()}
    return Prepared(method, arrays["x"], arrays["y"], arrays.get("z"), k, correction, n_threads)


def check_gaussian_rows(n_rows: int, n_columns: int, method: str) -> None:
    """Refuse a covariance that the rows cannot determine."""
    if n_rows < n_columns + 2:
        raise DataError(
            f"method={method!r} with {n_columns} columns needs at least {n_columns + 2} rows, but "
            f"there are {n_rows}: use fewer columns or method='knn'."
        )


def as_states(columns: Columns, name: str) -> IntArray:
    """Merge discrete columns into one column of states."""
    for column, kind in zip(columns.names, columns.kinds, strict=True):
        if not kind.is_discrete:
            raise DataError(
                f"method='discrete' counts values, but column {column!r} of {name} is continuous: "
                "bin it, declare it with discrete=, or use method='knn'."
            )
    return merge_states(columns.metric())[0]


def as_numbers(columns: Columns, name: str, method: str) -> FloatArray:
    """Return numeric columns for a Gaussian method."""
    for column, kind in zip(columns.names, columns.kinds, strict=True):
        if kind is Kind.NOMINAL:
            raise DataError(
                f"method={method!r} needs numbers, but column {column!r} of {name} is nominal: "
                "use method='knn' or 'discrete', or declare it with discrete=."
            )
    if columns.missing is not None:
        raise DataError(
            f"method={method!r} cannot use missing values as a level, and {name} has some: "
            "use missing='drop' or method='knn'."
        )
    values = np.asarray(columns.values)
    return normal_scores(values) if method == "copula" else values
