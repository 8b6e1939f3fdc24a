"""A Dask DataFrame behind the gate: what is known of it, and how its partitions are coded."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.encoding._binning import Binned, Strategy, bin_columns
from pinsker.encoding._encode import encode
from pinsker.encoding._encoded import Encoded
from pinsker.encoding._missing import drop_note
from pinsker.encoding._partition_codes import Coder, Reader, Survey, make_coder
from pinsker.encoding._partitions import SAMPLED_ROWS, Partitions, compute
from pinsker.encoding._weighted_binning import weighted_cuts
from pinsker.exceptions import DataError


@dataclass(frozen=True, eq=False)
class LargeTable:
    """A table that is never in memory as a whole.

    Attributes
    ----------
    partitions : Partitions
        Its pieces.
    sample : Encoded
        A sample of its rows, which kinds and cuts were found from; every row of up to 100 000.
    binned : Binned
        The sample in bins.
    coder : Coder
        Turns partitions into codes.
    class_sizes : ndarray of shape (n_classes,), int64
        Rows of each class, in the order of their codes.
    target_cuts : ndarray or None
        Cuts of a numeric target.
    """

    partitions: Partitions
    sample: Encoded
    binned: Binned
    coder: Coder
    class_sizes: IntArray
    target_cuts: FloatArray | None

    @property
    def n_rows(self) -> int:
        """Rows that are used."""
        return int(self.class_sizes.sum())

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about the reading."""
        found = []
        if self.partitions.n_rows > SAMPLED_ROWS:
            found.append(
                f"kinds and cuts of columns were found from {SAMPLED_ROWS} of "
                f"{self.partitions.n_rows} rows; every row was counted"
            )
        if self.n_rows < self.partitions.n_rows:
            found.extend(drop_note(self.n_rows, self.partitions.n_rows))
        return tuple(found)


def read_large(X: Any, y: Any, *, bins: int, strategy: Strategy, **encoding: Any) -> LargeTable:
    """Look through a Dask DataFrame three times: lengths, a sample, and the levels of all rows.

    Parameters
    ----------
    X : dask.dataframe.DataFrame
        The table.
    y : str or dask.dataframe.Series
        The target: a column of X, or a series with the same index.
    bins, strategy
        As in `bin_columns`; cuts come from the sample.
    **encoding
        As in `encode`.
    """
    partitions = Partitions.of(X, y)
    if partitions.n_rows == 0:
        raise DataError("X is a Dask DataFrame without rows.")
    sample = _about_all_rows(encode(*partitions.sample(), **encoding))
    cuts, labels = None, sample.target.labels
    if sample.target.raw is not None:
        answers = sample.target.raw[:, 0]
        cuts = weighted_cuts(answers, np.ones(len(answers)), bins)
        labels = np.searchsorted(cuts, answers, side="left").astype(np.int64)
    binned = bin_columns(sample.columns, labels, bins=bins, strategy=strategy)
    reader = Reader(sample.columns.kinds, encoding["missing"], cuts)
    survey = Survey.joined(compute(partitions.map(reader.survey)))
    coder = make_coder(reader, sample.columns, binned, sample.features, survey)
    sizes = np.array([survey.classes[one] for one in coder.classes], dtype=np.int64)
    if len(sizes) < 2:
        raise DataError(f"y has one value in all of its {survey.n_rows} rows: nothing to predict.")
    return LargeTable(partitions, sample, binned, coder, sizes, cuts)


def _about_all_rows(sample: Encoded) -> Encoded:
    """Return a sample without the note on its own missing values: `LargeTable` counts them all."""
    dropped = next(iter(drop_note(0, 1))).split(" left out ")[0]
    notes = tuple(note for note in sample.columns.notes if not note.startswith(dropped))
    return replace(sample, columns=replace(sample.columns, notes=notes))
