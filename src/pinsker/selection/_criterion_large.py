"""The part of `CriterionSelection` that deals with Dask DataFrames."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pinsker._compat import validate_data
from pinsker._types import FloatArray
from pinsker.encoding import Encoded, LargeTable, is_dask_frame, read_large
from pinsker.engine import PartitionTables
from pinsker.exceptions import ParameterError
from pinsker.selection._base import InformationSelector
from pinsker.selection._criterion_tables import Classes, Prepared, row_weights
from pinsker.selection._permutation_test import PermutationTest


class CountingSelector(InformationSelector):
    """A selector that counts a table in memory, or a Dask DataFrame partition by partition."""

    _weights: FloatArray | None
    _large: LargeTable | None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Search the path and cut it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Numbers, or a frame that may also hold categories, text and booleans. A Dask DataFrame
            is never in memory as a whole.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Classes or numbers. For a Dask DataFrame: the name of one of its columns, or a Dask
            Series with the same index.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. Whole weights are repeated rows.

        Returns
        -------
        self
        """
        self._large = self._read_large(X, y, sample_weight) if is_dask_frame(X) else None
        self._weights = None if sample_weight is None else row_weights(sample_weight, y)
        try:
            return super().fit(X, y)
        finally:
            del self._weights, self._large

    def transform(self, X: Any) -> Any:
        """Reduce a table to the columns that stay; a Dask DataFrame to a Dask DataFrame.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            With the columns of `fit`.

        Returns
        -------
        array or frame of shape (n_samples, n_kept)
        """
        if not is_dask_frame(X):
            return super().transform(X)
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", np.asarray(X.columns))
        validate_data(self, X._meta[list(names)], skip_check_array=True, reset=False)
        return X[list(names[self.get_support()])]

    def _read_large(self, X: Any, y: Any, sample_weight: Any) -> LargeTable:
        if sample_weight is not None or isinstance(self.stop, PermutationTest):
            what = "sample_weight" if sample_weight is not None else "PermutationTest"
            raise ParameterError(
                f"{what} needs all rows in memory, but X is a Dask DataFrame: leave it out, or "
                "pass X.compute()."
            )
        return read_large(X, y, bins=self.bins, strategy=self.binning, **self._encoding())

    def _encode(self, X: Any, y: Any) -> Encoded:
        return super()._encode(X, y) if self._large is None else self._large.sample

    def _header(self, X: Any) -> Any:
        return X if self._large is None else self._large.partitions.empty

    def _prepare_large(self, large: LargeTable) -> Prepared:
        """Promise the codes of all partitions."""
        coder = large.coder
        tables = PartitionTables(
            large.partitions.map(coder.code),
            coder.n_categories,
            len(coder.classes),
            large.n_rows,
            self.correction,
        )
        return Prepared(tables, large.binned)


def large_target(large: LargeTable) -> tuple[Classes, FloatArray]:
    """Return the target of a large table as classes, one row of each, and their sizes."""
    edges = () if large.target_cuts is None else (large.target_cuts,)
    return Classes(np.arange(len(large.class_sizes)), edges), large.class_sizes.astype(np.float64)
