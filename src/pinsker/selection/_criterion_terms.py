"""What criteria are made of, counted once and only when a criterion asks for it."""

from functools import cached_property
from typing import Any

import numpy as np

from pinsker._types import BoolArray, FloatArray, IntArray
from pinsker.engine import NATS_PER_COST, JointCosts


class Relevance:
    """Every column against the class, before anything is chosen.

    Parameters
    ----------
    tables : CountTables or PartitionTables
        The columns and the classes.
    """

    def __init__(self, tables: Any) -> None:
        self.tables = tables
        self.costs = tables.joint(tables.nothing())
        #: Cost sum of the classes, and of the columns with and without them.
        self.of_classes, _ = tables.of_group(tables.nothing())

    @cached_property
    def values(self) -> FloatArray:
        """I(X;Y) of every column, in nats."""
        costs = self.costs
        return _nats(
            costs.with_classes - costs.without_classes - self.of_classes + self.tables.base
        )


class Beside:
    """Every candidate X beside one W: a chosen feature, or several as one.

    Parameters
    ----------
    relevance : Relevance
        The candidates against the class.
    group : Group or PartitionGroup
        The values of W.
    active : ndarray of shape (n_columns,), bool
        Which columns are candidates; the others hold no meaningful values.
    classes : bool
        Whether anything but `redundancy` will be asked for.
    """

    def __init__(
        self, relevance: Relevance, group: Any, active: BoolArray, *, classes: bool = True
    ) -> None:
        self._single = relevance
        self._tables = relevance.tables
        self._group = group
        self._active = active
        self._classes = classes

    @property
    def relevance(self) -> FloatArray:
        """I(X;Y)."""
        return self._single.values

    @cached_property
    def redundancy(self) -> FloatArray:
        """I(X;W)."""
        of_group = self._of_group[1]
        return _nats(
            self._pairs - self._single.costs.without_classes - of_group + self._tables.base
        )

    @cached_property
    def conditional_redundancy(self) -> FloatArray:
        """I(X;W|Y)."""
        single = self._single
        return _nats(
            self._triples.with_classes
            - single.costs.with_classes
            - self._of_group[0]
            + single.of_classes
        )

    @cached_property
    def conditional_relevance(self) -> FloatArray:
        """I(X;Y|W)."""
        with_classes, without_classes = self._of_group
        return _nats(
            self._triples.with_classes
            - self._triples.without_classes
            - with_classes
            + without_classes
        )

    @cached_property
    def joint_relevance(self) -> FloatArray:
        """I(X,W;Y)."""
        return _nats(
            self._triples.with_classes
            - self._triples.without_classes
            - self._single.of_classes
            + self._tables.base
        )

    @cached_property
    def joint_entropy(self) -> FloatArray:
        """H(X,W,Y)."""
        return _nats(self._tables.base - self._triples.with_classes)

    @cached_property
    def _of_group(self) -> tuple[int, int]:
        costs: tuple[int, int] = self._tables.of_group(self._group)
        return costs

    @cached_property
    def _triples(self) -> JointCosts:
        costs: JointCosts = self._tables.joint(self._group, self._active)
        return costs

    @cached_property
    def _pairs(self) -> IntArray:
        if self._classes:
            return self._triples.without_classes
        costs: IntArray = self._tables.joint_without_classes(self._group, self._active)
        return costs


def _nats(costs: IntArray) -> FloatArray:
    return np.asarray(costs, dtype=np.float64) * NATS_PER_COST
