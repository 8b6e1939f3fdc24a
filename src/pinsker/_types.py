"""Names for the arrays that travel between stages, and the plain values that leave them."""

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]
#: Weights of rows; None: all count alike.
Weights: TypeAlias = FloatArray | None

Task = Literal["classification", "regression", "survival"]
Scale = Literal["copula", "standard", "none"]
Missing = Literal["auto", "error", "drop", "category"]

#: What a user may pass, before the gate has read it. These are `Any` to a type checker, because no
#: package of tables or estimators is imported to name its types; the names say what is meant.
#: X: an array, nested lists, a pandas, polars or Arrow frame, a sparse or a Dask table.
TableLike: TypeAlias = Any
#: y: classes or numbers in one column or several, or a structured array of events and times.
TargetLike: TypeAlias = Any
RowLabels: TypeAlias = Any  # one entry per row: groups, weights, subgroups
#: Columns by name or position, groups of them, their kinds or their prices.
ColumnChoice: TypeAlias = Any
Estimator: TypeAlias = Any  # an object with `fit` and `predict`, of any package
Selector: TypeAlias = Any  # a selector of pinsker, to code in stages below the selectors
CrossValidation: TypeAlias = Any  # a number of folds, or a splitter of scikit-learn
MetricChoice: TypeAlias = Any  # a metric by name, a scorer, a function or a CostMatrix
RandomState: TypeAlias = Any  # an int, a generator, or None
Axes: TypeAlias = Any  # axes of matplotlib
DaskClient: TypeAlias = Any  # a client of a Dask cluster
Unchecked: TypeAlias = Any  # an argument that is being checked: anything at all
ArrayLibrary: TypeAlias = Any  # a module or an array of NumPy or CuPy
Fields: TypeAlias = dict[str, Any]  # values by name: settings, parameters, an object of JSON
#: Lists by name: columns of a table, what scikit-learn checks parameters by.
ListsByName: TypeAlias = dict[str, list[Any]]
Arguments: TypeAlias = tuple[Any, ...]  # what a function is called with
Function: TypeAlias = Callable[..., Any]  # a function that is handed on, with whatever it takes


@runtime_checkable
class HasShape(Protocol):
    """An array or a frame that knows its size."""

    shape: Any


@runtime_checkable
class HasColumns(Protocol):
    """A frame that names its columns."""

    columns: Any


@runtime_checkable
class HasName(Protocol):
    """A series that has a name, which may be None."""

    name: object


@runtime_checkable
class HasBudget(Protocol):
    """A selector of this package, fitted or not: others have no budget."""

    def support_at(self, *, error_budget: float) -> BoolArray:
        """Return which columns stay under another budget."""


@runtime_checkable
class Splitter(Protocol):
    """What divides rows, as scikit-learn does; a text has another method of this name."""

    def split(
        self, X: TableLike, y: TargetLike = None, groups: RowLabels = None
    ) -> Iterable[tuple[AnyArray, AnyArray]]:
        """Return pairs of positions."""


def plain(value: Any) -> Any:
    """Return a value that JSON can hold: no NumPy scalar, and None for NaN and infinities."""
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
