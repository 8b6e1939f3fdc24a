"""The reduced table: columns of arrays, frames and Dask collections in the user's container."""

import numpy as np

from pinsker._compat import check_columns, output_container, require
from pinsker._types import Estimator, IntArray, Selector, TableLike
from pinsker.encoding import is_dask_frame
from pinsker.exceptions import DataError, DataTypeError, ParameterError


def transform_frame(
    selector: Selector, X: TableLike, kept: IntArray, names: list[str]
) -> TableLike:
    """Take the columns that stay of a frame, which may hold them alone."""
    if not hasattr(X, "columns"):
        raise DataError("Expected 2D array, got a series instead: X needs rows and columns.")
    given = [str(name) for name in X.columns]
    wanted = [names[j] for j in kept] if names else []
    some = names and not set(names) <= set(given)  # of the columns of `fit`
    missing = [name for name in wanted if name not in given]
    if some and not missing:
        kept = np.array([given.index(name) for name in wanted], dtype=np.int64)
    elif some and set(given) <= set(names):
        raise ValueError(
            "The feature names should match those that were passed during fit, or hold those "
            f"that stay: {missing[0]!r} is missing."
        )
    else:
        check_columns(selector, X)
    return _take_columns(X, kept, selector)


def as_cells(X: TableLike) -> TableLike:
    """Return lists and matrices as an array."""
    if not isinstance(X, (list, tuple, np.matrix)):
        return X
    try:
        return np.asarray(X)
    except ValueError as error:
        raise DataError(f"X is no table, its rows differ in length: {error}") from error


def transform_dask(selector: Selector, X: TableLike, kept: IntArray, names: list[str]) -> TableLike:
    """Take the columns that stay, without computing any."""
    wanted = output_container(selector)
    if wanted != "default":
        raise ParameterError(
            f'set_output(transform="{wanted}") cannot hold a Dask collection: use "default", '
            "or pass X.compute()."
        )
    if not is_dask_frame(X):
        if X.shape[1] != selector.n_features_in_:
            raise DataError(
                f"X has {X.shape[1]} features, but {type(selector).__name__} is expecting "
                f"{selector.n_features_in_} features as input."
            )
        return X[:, kept]
    columns = [(names or list(X.columns))[j] for j in kept]
    if not set(columns) <= set(X.columns):
        check_columns(selector, X._meta)
    return X[columns]


def _take_columns(X: TableLike, columns: IntArray, estimator: Estimator) -> TableLike:
    """Return some columns of a frame, in the container that ``set_output`` asks for."""
    import narwhals.stable.v1 as nw  # only frames come here

    taken = nw.from_native(X, eager_only=True)[:, [int(j) for j in columns]]
    wanted = output_container(estimator)
    if wanted == "pandas":
        return taken.to_pandas()
    if wanted == "polars" and not taken.implementation.is_polars():
        polars = require("polars", purpose='set_output(transform="polars")')
        try:
            return polars.from_pandas(taken.to_pandas())
        except Exception as error:  # of Arrow or polars, for types that they do not have
            raise DataTypeError(
                f"the columns that stay cannot be made a polars frame ({error}): use "
                'set_output(transform="default").'
            ) from error
    return taken.to_native()
