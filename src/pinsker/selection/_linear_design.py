"""A table as a linear model sees it: centred columns, and what is left of the target."""

from dataclasses import dataclass

import numpy as np

from pinsker._types import FloatArray
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded, Kind
from pinsker.information import one_hot

#: A column whose part outside of the span of others is at most this share of it (in standard
#: deviations) counts as inside: what is left of it is rounding, 1e-6 squared of its variance.
COLLINEAR = 1e-6
#: The smallest share of unexplained variance that a double can tell from none.
SMALLEST_SHARE = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class LinearDesign:
    """Columns and target of a linear model, both centred.

    Attributes
    ----------
    columns : ndarray of shape (n_rows, n_columns), float64
        Numeric columns with standard deviation 1; one column less than levels for a nominal one.
    features : tuple of tuple of int
        The columns of each unit.
    target : ndarray of shape (n_rows, n_targets), float64
        Numbers in the user's unit, or one indicator per class.
    """

    columns: FloatArray
    features: tuple[tuple[int, ...], ...]
    target: FloatArray

    @classmethod
    def of(cls, encoded: Encoded) -> "LinearDesign":
        """Lay out an encoded table."""
        blocks = [
            _expand(values, kind)
            for values, kind in zip(encoded.columns.values.T, encoded.columns.kinds, strict=True)
        ]
        edges = np.concatenate([[0], np.cumsum([block.shape[1] for block in blocks])])
        features = tuple(
            tuple(j for column in unit for j in range(edges[column], edges[column + 1]))
            for unit in encoded.features
        )
        return cls(_centred(np.hstack(blocks)), features, _centred(_numbers(encoded)))

    @property
    def variance(self) -> float:
        """Variance of the target, summed over its columns."""
        return float(np.square(self.target).sum() / len(self.target))

    @property
    def is_saturated(self) -> bool:
        """Whether there are enough columns to fit any target of these rows."""
        return bool(self.columns.shape[1] >= len(self.columns) - 1)

    def reduced(self) -> "LinearDesign":
        """Return a design of as many rows as columns with the same inner products.

        A triangular factor: the searches work on it as on the rows, whatever their number.
        """
        together = np.hstack([self.columns, self.target])
        if together.shape[0] <= together.shape[1]:
            return self
        factor = np.asarray(np.linalg.qr(together, mode="r"))
        p = self.columns.shape[1]
        return LinearDesign(factor[:, :p], self.features, factor[:, p:])

    def facts(self) -> TargetFacts:
        """Return what the bounds need: for classes, of the indicators."""
        return TargetFacts(
            "regression",
            target_range=float(np.linalg.norm(np.ptp(self.target, axis=0))),
            variance=self.variance,
            max_abs=float(np.linalg.norm(np.abs(self.target).max(axis=0))),
            n_targets=int(self.target.shape[1]),
        )


def to_nats(share: float) -> float:
    """Return -1/2 log of a share of unexplained variance: the information of a linear model."""
    return float(-0.5 * np.log(min(max(share, SMALLEST_SHARE), 1.0)))


def _expand(values: FloatArray, kind: Kind) -> FloatArray:
    """Return the columns that stand for one: itself, or an indicator per level but the first."""
    if kind is not Kind.NOMINAL:
        return values[:, None]
    return one_hot(values, np.arange(1, values.max() + 1))


def _numbers(encoded: Encoded) -> FloatArray:
    labels, classes = encoded.target.labels, encoded.target.classes
    if labels is None:
        assert encoded.target.raw is not None  # a numeric target keeps the user's values
        return encoded.target.raw
    assert classes is not None  # a class target keeps its classes
    return one_hot(labels, np.arange(len(classes)))


def _centred(values: FloatArray) -> FloatArray:
    return np.asarray(values - values.mean(axis=0), dtype=np.float64)
