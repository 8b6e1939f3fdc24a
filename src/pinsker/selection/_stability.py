"""How stable a choice is: Nogueira's measure over the sets that were found without each fold."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from pinsker._types import BoolArray, FloatArray

#: Below this a choice is called unstable (Nogueira et al. 2018 call 0.4 and less poor).
UNSTABLE = 0.4
#: Columns that a note names at most.
_NAMED = 5


@dataclass(frozen=True, eq=False)
class Stability:
    """How much several choices of features agree, beyond chance.

    Attributes
    ----------
    value : float
        1 where all choices are the same, about 0 where they agree as random sets do; NaN where all
        features or none are always chosen.
    lower, upper : float
        Confidence interval. Choices that share rows, as those of folds do, are more alike than
        independent ones: the interval is about choices from rows that overlap as much.
    frequency : ndarray of shape (n_features,)
        How often each feature was chosen, from 0 to 1.
    n_choices : int
        Choices that were compared.

    References
    ----------
    Nogueira, Sechidis, Brown, "On the stability of feature selection algorithms", JMLR 18 (2018),
    definition 4 and theorem 10.
    """

    value: float
    lower: float
    upper: float
    frequency: FloatArray
    n_choices: int

    @classmethod
    def of(cls, chosen: BoolArray, confidence: float = 0.95) -> "Stability":
        """Compare choices: one row each, one column a feature.

        Examples
        --------
        >>> Stability.of(np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]], bool)).value
        0.333...
        """
        masks = np.asarray(chosen, dtype=np.float64)
        n_choices, n_features = masks.shape
        frequency = masks.mean(axis=0)
        share = float(frequency.mean())
        scale = share * (1.0 - share)
        if scale == 0.0 or n_choices < 2:
            return cls(np.nan, np.nan, np.nan, frequency, n_choices)
        variance = frequency * (1.0 - frequency) * n_choices / (n_choices - 1)
        value = 1.0 - float(variance.mean()) / scale
        sizes = masks.sum(axis=1) / n_features
        each = (
            (masks @ frequency) / n_features
            - sizes * share
            + value / 2 * (2 * sizes * share - sizes - share + 1)
        ) / scale
        error = 2.0 / n_choices * float(np.sqrt(np.sum((each - each.mean()) ** 2)))
        half = float(ndtri(0.5 + confidence / 2)) * error
        return cls(value, value - half, min(value + half, 1.0), frequency, n_choices)

    def __repr__(self) -> str:
        ends = f"{self.lower:.2f} to {self.upper:.2f}"
        return f"Stability({self.value:.2f}, {ends}, {self.n_choices} choices)"

    def notes(self, names: Sequence[str], kept: Sequence[int]) -> tuple[str, ...]:
        """Return what a user should know about an unstable choice."""
        if not self.value < UNSTABLE:
            return ()
        rare = [names[j] for j in kept if self.frequency[j] <= 0.5]
        others = [
            names[int(j)]
            for j in np.argsort(-self.frequency, kind="stable")
            if j not in set(kept) and self.frequency[j] > 0
        ]
        note = (
            f"the choice is unstable: over {self.n_choices} folds its stability is "
            f"{self.value:.2f} (95% interval {self.lower:.2f} to {self.upper:.2f})"
        )
        if rare:
            note += f"; found in half of the folds or fewer: {_listed(rare)}"
        if others:
            note += f"; found there in their place: {_listed(others)}"
        return (note,)


def stability_of_orders(
    orders: Sequence[Sequence[int]], size: int, n_features: int
) -> Stability | None:
    """Return the stability of the first features of several orders; None if they are one order."""
    if len({id(order) for order in orders}) < 2:
        return None
    masks = np.zeros((len(orders), n_features), dtype=np.bool_)
    for mask, order in zip(masks, orders, strict=True):
        mask[list(order[:size])] = True
    return Stability.of(masks)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
