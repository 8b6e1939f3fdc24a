"""Columns in blocks: enough cells at once to be fast, few enough to need no second table."""

from collections.abc import Iterator

#: Cells in a block; a few temporary arrays of this size stay in the processor's cache.
BLOCK_CELLS = 2**18


def column_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield slices of columns that cover a table of this shape.

    Examples
    --------
    >>> list(column_blocks((100_000, 5)))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    n_rows, n_columns = shape
    step = max(1, BLOCK_CELLS // max(n_rows, 1))
    for start in range(0, n_columns, step):
        yield slice(start, min(start + step, n_columns))
