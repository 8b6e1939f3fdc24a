"""A table as criteria count it: one code per row and feature, and classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pinsker._types import AnyArray, FloatArray, IntArray
from pinsker.bounds import TargetFacts
from pinsker.encoding import (
    Binned,
    Binning,
    Encoded,
    LargeTable,
    bin_columns,
    bin_weighted,
    weighted_cuts,
)
from pinsker.engine import Correction, CountTables, Group, PackedColumns, PartitionTables


@dataclass(frozen=True, eq=False)
class Classes:
    """The target as classes."""

    labels: IntArray  # class codes
    edges: tuple[FloatArray, ...] = ()  # the cuts of each numeric target, in the user's unit

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know: a numeric target stands in bins."""
        if not self.edges:
            return ()
        cuts = "; ".join(", ".join(f"{cut:.4g}" for cut in edges) for edges in self.edges)
        note = (
            f"the numeric target was cut into bins at {cuts}: information, scores and budgets are "
            "about the bin, and a budget is a rate of wrong bins"
        )
        return (note,)


@dataclass(frozen=True, eq=False)
class CountingSettings:
    """How a table is cut into bins and counted."""

    bins: int = 5  # bins of a continuous column, and of a numeric target
    strategy: Binning = "frequency"  # how they are cut
    correction: Correction = "none"  # bias correction of every entropy
    n_threads: int = 1  # threads


@dataclass(frozen=True, eq=False)
class CountedProblem:
    """Integer tables of a problem."""

    tables: Any  # every feature of the search against the classes
    names: tuple[str, ...]  # one per feature
    binning: Binned  # how the columns were cut
    classes: Classes  # the target
    class_weights: FloatArray | None = None  # weight of each row of `classes`

    @classmethod
    def of(cls, encoded: Encoded, settings: CountingSettings) -> "CountedProblem":
        """Bin the columns, join those of a group, and lay everything out for counting."""
        weights = encoded.weights
        classes = target_classes(encoded, settings.bins)
        columns, labels = encoded.columns, classes.labels
        if weights is None:
            binning = bin_columns(columns, labels, bins=settings.bins, strategy=settings.strategy)
        else:
            binning = bin_weighted(
                columns, weights, labels, bins=settings.bins, strategy=settings.strategy
            )
        codes, n_categories = feature_codes(encoded, binning)
        tables = CountTables.of(
            PackedColumns.of(codes, n_categories),
            np.unique(labels, return_inverse=True)[1],
            correction=settings.correction,
            sample_weight=weights,
            n_threads=settings.n_threads,
        )
        return cls(tables, encoded.feature_names, binning, classes, weights)

    @classmethod
    def of_partitions(cls, large: LargeTable, settings: CountingSettings) -> "CountedProblem":
        """Lay out a Dask DataFrame: its partitions are coded and counted when they are needed."""
        coder = large.coder
        tables = PartitionTables(
            large.partitions.map(coder.code),
            coder.n_categories,
            len(coder.classes),
            large.n_rows,
            settings.correction,
        )
        edges = () if large.target_cuts is None else (large.target_cuts,)
        classes = Classes(np.arange(len(large.class_sizes)), edges)
        weights = large.class_sizes.astype(np.float64)
        return cls(tables, large.sample.feature_names, large.binned, classes, weights)

    @property
    def facts(self) -> TargetFacts:
        """What the bounds know of the target: a numeric one is its bins."""
        counts = np.bincount(self.classes.labels, self.class_weights)
        return TargetFacts(
            "classification",
            n_classes=int(np.count_nonzero(counts)),
            largest_prior=float(counts.max() / counts.sum()),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about the bins."""
        return self.binning.notes + self.classes.notes


def target_classes(encoded: Encoded, bins: int) -> Classes:
    """Return the classes of a target; numbers are cut into bins of equal frequency."""
    target, weights = encoded.target, encoded.weights
    if target.labels is not None:
        return Classes(target.labels)
    assert target.raw is not None  # a regression target always keeps the user's values
    group, edges = Group.trivial(encoded.n_rows), []
    used = np.ones(encoded.n_rows) if weights is None else weights
    for values in target.raw.T:
        cuts = weighted_cuts(values, used, bins)
        codes = np.searchsorted(cuts, values, side="left")
        group = group.joined(codes.astype(np.uint32), len(cuts) + 1)
        edges.append(cuts)
    _, labels = np.unique(group.codes, return_inverse=True)
    return Classes(labels.astype(np.int64), tuple(edges))


def feature_codes(encoded: Encoded, binning: Binned) -> tuple[AnyArray, IntArray]:
    """Give every feature one code per row: that of its column, or the joint one of its group."""
    if all(len(columns) == 1 for columns in encoded.features):
        order = [columns[0] for columns in encoded.features]
        if order == list(range(len(order))):
            return binning.codes, binning.n_categories
        return binning.codes[:, order], binning.n_categories[order]
    codes = np.empty((binning.codes.shape[0], encoded.n_features), dtype=np.int64, order="F")
    n_categories = np.empty(encoded.n_features, dtype=np.int64)
    for j, columns in enumerate(encoded.features):
        group = Group.trivial(codes.shape[0])
        for column in columns:
            column_codes = binning.codes[:, column].astype(np.uint32)
            group = group.joined(column_codes, int(binning.n_categories[column]))
        codes[:, j], n_categories[j] = group.codes, group.n_groups
    return codes, n_categories
