"""What a problem with a known truth is: rows to draw, and the information they carry."""

from abc import ABC, abstractmethod
from typing import ClassVar, Literal, NamedTuple

import numpy as np

ColumnKind = Literal["continuous", "count", "nominal"]


class InformationSample(NamedTuple):
    """Rows drawn from a problem.

    Attributes
    ----------
    x, y : ndarray of shape (n_rows, n_columns)
        The two sides whose information is known.
    z : ndarray of shape (n_rows, n_columns) or None
        The condition; None when the truth is unconditional.
    """

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray | None


class InformationProblem(ABC):
    """A joint distribution whose information I(X;Y) or I(X;Y|Z) is known.

    Subclasses are frozen dataclasses: equal parameters are equal problems.
    """

    #: What the columns of x, y and z hold; nominal codes are integers without an order.
    kinds: ClassVar[tuple[ColumnKind, ColumnKind, ColumnKind | None]]

    @abstractmethod
    def truth(self) -> float:
        """Information in nats, from its closed form or an exact integral."""

    @abstractmethod
    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw independent rows; the same seed gives the same rows."""


def column(values: np.ndarray) -> np.ndarray:
    """Lay out one variable as a matrix of one column."""
    return np.asarray(values).reshape(-1, 1)


def binary_entropy(p: float) -> float:
    """Entropy in nats of a coin that shows heads with probability p."""
    return -sum(q * float(np.log(q)) for q in (p, 1 - p) if q > 0)


def table_information(joint: np.ndarray) -> float:
    """Information in nats between the axes of a table p(x, y), or p(x, y, z) given z."""
    joint = joint if joint.ndim == 3 else joint[:, :, np.newaxis]
    p_xz = joint.sum(axis=1, keepdims=True)
    p_yz = joint.sum(axis=0, keepdims=True)
    p_z = joint.sum(axis=(0, 1), keepdims=True)
    seen = joint > 0
    independent = np.broadcast_to(p_xz * p_yz / np.where(p_z > 0, p_z, 1.0), joint.shape)
    return float(np.sum(joint[seen] * np.log(joint[seen] / independent[seen])))
