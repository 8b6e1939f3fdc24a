"""What a search will show and cost, told from the size of a table: estimates, and called so."""

import math
from dataclasses import dataclass

from scipy.stats import t

from pinsker.encoding import Encoded
from pinsker.engine._plan import plan_rows
from pinsker.engine._problem import Problem

_CONFIDENCE = 0.95
#: The case that the smallest budget is told for: so many predictions change when columns go ...
CHANGED = 0.05
#: ... or, for numbers, the errors with and without them correlate so, and leave so much variance.
CORRELATION = 0.95
LEFT = 0.5

#: Seconds per row², column and path on one thread; from benchmarks/inspect_costs.py.
SECONDS_PER_PAIR = {"auto": 1.2e-8, "backward": 1.2e-8, "forward": 1.4e-8, "grow-shrink": 1.4e-8}
_SECONDS_AT_LEAST = 0.1


@dataclass(frozen=True)
class Forecast:
    """What to expect of a search.

    Attributes
    ----------
    budget : float
        Smallest budget that the rows can resolve, in `unit`.
    unit : str
        "error" or "r2".
    seconds : float
        Time on one thread.
    n_bytes : int
        Memory.
    """

    budget: float
    unit: str
    seconds: float
    n_bytes: int

    @property
    def budget_text(self) -> str:
        """The smallest budget with its condition."""
        if self.unit == "error":
            case = f"error rate, if {CHANGED:.0%} of the predictions change"
        else:
            case = f"of the variance, if half of it is left and errors correlate at {CORRELATION}"
        return f"about {self.budget:.2g} ({case})"

    @property
    def time_text(self) -> str:
        """The time in words."""
        if self.seconds < 1:
            return "about a second or less"
        if self.seconds < 90:
            return f"about {self.seconds:.0f} s on one thread"
        return f"about {self.seconds / 60:.0f} min on one thread"

    @property
    def memory_text(self) -> str:
        """The memory in words."""
        return f"about {max(self.n_bytes / 2**20, 1):.0f} MiB"


def forecast(
    encoded: Encoded, *, direction: str, folds: int | None, max_memory: int | None
) -> Forecast:
    """Tell what to expect of a search of this table."""
    plan = plan_rows(Problem.of(encoded), max_memory=max_memory, max_samples=None, seed=0)
    classes = encoded.target.labels is not None
    table = 8 * encoded.n_rows * encoded.columns.n_columns
    return Forecast(
        budget=smallest_budget(encoded.n_rows, classes=classes),
        unit="error" if classes else "r2",
        seconds=expected_seconds(encoded.n_rows, encoded.n_units, direction, folds),
        n_bytes=plan.n_bytes + 2 * table,
    )


def smallest_budget(n_rows: int, *, classes: bool) -> float:
    r"""Return the one-sided 95 % limit of a paired held-out difference that is truly zero.

    Classes: a share p of the rows is right with one set of columns and wrong with the other,

    .. math:: t_{n-1,\,0.95} \sqrt{p / n}.

    Numbers: both models leave a share r of the variance, their Gaussian errors correlate at ρ,

    .. math:: t_{n-1,\,0.95}\; 2 r \sqrt{(1 - \rho^2) / n}.

    Examples
    --------
    >>> round(smallest_budget(569, classes=True), 4)
    0.0154
    """
    if n_rows < 2:
        return math.inf
    spread = math.sqrt(CHANGED) if classes else 2 * LEFT * math.sqrt(1 - CORRELATION**2)
    return float(t.ppf(_CONFIDENCE, n_rows - 1)) * spread / math.sqrt(n_rows)


def expected_seconds(n_rows: int, n_units: int, direction: str, folds: int | None) -> float:  # noqa: ARG001
    """Return the time of a search on one thread, by the measured cost of a pair of rows."""
    pairs = float(n_rows) ** 2 * n_units
    one = SECONDS_PER_PAIR.get(direction, 0.0) * pairs
    return max(one, _SECONDS_AT_LEAST)
