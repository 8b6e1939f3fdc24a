"""A table as predictive models take it: numbers, with nominal columns one-hot encoded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pinsker._types import AnyArray, FloatArray, IntArray
from pinsker.encoding import Columns, Kind, frozen


@dataclass(frozen=True, eq=False)
class ModelDesign:
    """Columns for models, and which of them stand for each feature of the table.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_model_columns), float64, read-only
        Numeric columns with mean 0 and standard deviation 1 (constants are 0); 0/1 columns for
        categories and for missing values.
    places : tuple of ndarray
        The model columns of each feature.
    """

    values: FloatArray
    places: tuple[IntArray, ...]

    @classmethod
    def of(cls, columns: Columns, features: Sequence[Sequence[int]]) -> "ModelDesign":
        """Lay out the columns of an encoded table.

        Examples
        --------
        >>> from pinsker.encoding import encode_columns
        >>> table = encode_columns([[0.1, "a"], [2.5, "b"], [0.3, "c"]])
        >>> design = ModelDesign.of(table, [[0], [1]])
        >>> design.values.shape, design.places[1].tolist()
        ((3, 4), [1, 2, 3])
        """
        blocks = [_expand(columns, j) for j in range(columns.n_columns)]
        edges = np.concatenate([[0], np.cumsum([block.shape[1] for block in blocks])])
        places = tuple(
            np.concatenate([np.arange(edges[j], edges[j + 1]) for j in feature])
            for feature in features
        )
        return cls(frozen(np.hstack(blocks).astype(np.float64)), places)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.places)

    def with_shuffled(self, kept: Iterable[int], shuffle: IntArray) -> "ModelDesign":
        """Return the design with all features but `kept` in another order of the rows, as one.

        The shuffled features lose their relation to a target; their relations to each other, and
        what irrelevant columns cost a model, stay.
        """
        stay = set(kept)
        others = [self.places[feature] for feature in range(self.n_features) if feature not in stay]
        values = np.array(self.values)
        if others:
            columns = np.concatenate(others)
            values[:, columns] = values[np.ix_(shuffle, columns)]
        return ModelDesign(frozen(values), self.places)

    def take(self, rows: IntArray, features: Iterable[int]) -> FloatArray:
        """Return some rows of the model columns of some features, in increasing order of these."""
        chosen = [self.places[feature] for feature in sorted(features)]
        columns = np.concatenate(chosen) if chosen else np.empty(0, dtype=np.int64)
        return self.values[np.ix_(rows, columns)]


def one_hot(values: AnyArray, categories: AnyArray) -> FloatArray:
    """Return one 0/1 column per category.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Codes or labels. Those that are no category are 0 in all columns.
    categories : ndarray of shape (n_categories,)
        The values that get a column.

    Returns
    -------
    ndarray of shape (n_rows, n_categories), float64

    Examples
    --------
    >>> one_hot(np.array([0, 2, 1]), np.arange(1, 3)).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    """
    return np.asarray(values[:, None] == categories, dtype=np.float64)


def _expand(columns: Columns, j: int) -> FloatArray:
    """Return the model columns of one column of the table."""
    values = columns.values[:, j]
    if columns.kinds[j] is Kind.NOMINAL:
        return one_hot(values, np.unique(values))
    spread = values.std()
    scaled = (values - values.mean()) / (spread if spread > 0 else 1.0)
    if columns.missing is None or not columns.missing[:, j].any():
        return np.asarray(scaled[:, None])
    absent = columns.missing[:, j]
    return np.column_stack([np.where(absent, 0.0, scaled), absent.astype(np.float64)])
