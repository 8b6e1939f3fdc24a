"""A confidence sequence of a mean: limits that hold at every number of rows at once."""

import math
from dataclasses import dataclass, field

import numpy as np

from pinsker._types import FloatArray
from pinsker.bounds._limits import Difference
from pinsker.exceptions import DataError

#: Shares of the capital that are bet, side by side: the best of them is nearly that of a bettor who
#: knows the distribution (a finite version of Cover's universal portfolio).
_BETS = np.geomspace(0.002, 0.95, 24)
#: Values are kept as integers of this many parts of the largest, rounded against what is claimed.
_PARTS = 10_000
#: Rows at which the asymptotic sequence is tightest.
_TIGHTEST = 2_000
#: Below this many rows the asymptotic sequence says nothing.
_FEWEST = 100


@dataclass
class ConfidenceSequence:
    r"""Limits of a mean that may be looked at after every row.

    Values in [-`largest`, `largest`] are bet on (Waudby-Smith, Ramdas 2024): for a mean of at most
    m the capital

    .. math:: K_n(m) = \frac1{|C|} \sum_{c \in C} \prod_{i \le n}
              \Bigl(1 + c\,\frac{x_i - m}{m + L}\Bigr)

    is a nonnegative supermartingale, so that it reaches :math:`2 / \alpha` with probability at most
    :math:`\alpha / 2` at any time (Ville); the lower limit is the largest m at which it has. The
    upper limit bets on -x. Where `largest` is infinite, the sequence is asymptotic (Waudby-Smith,
    Arbour, Sinha, Kennedy, Ramdas 2024), with

    .. math:: \hat\sigma_n \sqrt{\frac{2 (n \rho^2 + 1)}{n^2 \rho^2}
              \log\Bigl(1 + \frac{\sqrt{n \rho^2 + 1}}{\alpha}\Bigr)}

    on either side. `confidence` is that both limits hold at all numbers of rows; `whole` is whether
    values are -`largest`, 0 and `largest`; the other fields are the state.

    Examples
    --------
    >>> sequence = ConfidenceSequence(1.0, whole=True)
    >>> sequence.update(np.zeros(500))
    >>> round(sequence.limits().upper, 3)
    0.014
    """

    largest: float
    confidence: float = 0.95
    whole: bool = False
    n: int = 0
    total: float = 0.0
    squares: float = 0.0
    counts: dict[int, int] = field(default_factory=dict)  # rows by their value in parts of largest
    lower: float = -math.inf
    upper: float = math.inf

    def update(self, values: FloatArray) -> None:
        """Add values of new rows, and look."""
        if not np.isfinite(values).all() or np.any(np.abs(values) > self.largest * (1 + 1e-9)):
            raise DataError(f"differences must be numbers of at most {self.largest} in size.")
        self.n += len(values)
        self.total += float(values.sum())
        self.squares += float(values @ values)
        if math.isfinite(self.largest):
            step = self.largest if self.whole else self.largest / _PARTS
            new, times = np.unique(np.floor(values / step + 1e-9), return_counts=True)
            for place, count in zip(new.astype(int).tolist(), times.tolist(), strict=True):
                self.counts[place] = self.counts.get(place, 0) + count
            places = np.array(list(self.counts), dtype=np.float64)
            rows = np.array(list(self.counts.values()), dtype=np.float64)
            above = places if self.whole else places + 1.0
            wanted = math.log(2.0 / (1.0 - self.confidence))
            self.lower = _rejected(places * step, rows, self.largest, wanted)
            self.upper = -_rejected(-above * step, rows, self.largest, wanted)
        elif self.n >= _FEWEST:
            alpha, n, mean = 1.0 - self.confidence, self.n, self.total / self.n
            rho = (-2.0 * math.log(alpha) + math.log(-2.0 * math.log(alpha)) + 1.0) / _TIGHTEST
            spread, grown = max(self.squares / n - mean**2, 0.0), n * rho + 1.0
            away = math.log1p(math.sqrt(grown) / alpha)
            half = math.sqrt(2.0 * spread * grown / (n**2 * rho) * away)
            self.lower, self.upper = mean - half, mean + half

    def limits(self) -> Difference:
        """Return the mean so far with its limits."""
        mean = self.total / self.n if self.n else math.nan
        return Difference(mean, self.lower, self.upper)


def _rejected(values: FloatArray, rows: FloatArray, largest: float, wanted: float) -> float:
    """Return the largest mean, to within a millionth of the range, that the bets refute."""
    low, high = -largest, largest
    while high - low > 1e-6 * largest:
        middle = 0.5 * (low + high)
        payoff = (values - middle) / (middle + largest)
        capital = np.log1p(np.maximum(_BETS[:, None] * payoff, -1.0 + 1e-12)) @ rows
        if np.logaddexp.reduce(capital) - math.log(len(_BETS)) >= wanted:
            low = middle
        else:
            high = middle
    return low
