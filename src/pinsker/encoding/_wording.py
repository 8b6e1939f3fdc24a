"""How messages name things: short lists, rows, plurals."""

from collections.abc import Sequence
from typing import Any

_MOST_NAMED = 5


def listing(items: Sequence[Any]) -> str:
    """Name the first few items and count the others.

    Examples
    --------
    >>> listing(["a", "b"])
    "'a', 'b'"
    >>> listing(range(8))
    '0, 1, 2, 3, 4 and 3 more'
    """
    named = ", ".join(_name(item) for item in items[:_MOST_NAMED])
    rest = len(items) - _MOST_NAMED
    return named if rest <= 0 else f"{named} and {rest} more"


def plural(count: int, noun: str) -> str:
    """Return the number with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(3, "row")
    ('1 row', '3 rows')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _name(item: Any) -> str:
    # numpy's repr of a scalar names its type: np.int64(3)
    return repr(item.item()) if hasattr(item, "item") else repr(getattr(item, "value", item))
