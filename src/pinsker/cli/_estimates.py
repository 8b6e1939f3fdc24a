"""What a search will show and cost, told from the size of a table: estimates, and called so."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import t

from pinsker.bounds import paired_difference
from pinsker.encoding import Encoded
from pinsker.engine import Problem, plan_rows
from pinsker.information import LARGE_TABLE

#: Of all limits together; the paths of a search share what is left to error.
_CONFIDENCE = 0.95
_LIMITS = {"auto": 5}
#: The case that the smallest budget is told for: so many predictions change when columns go ...
CHANGED = 0.05
#: ... or, for numbers, the errors with and without them correlate so, and leave so much variance.
CORRELATION = 0.95
LEFT = 0.5

#: Processor seconds, from benchmarks/inspect_costs.py: a path costs so much per pair of rows, and
#: so much more per pair and feature; the models that judge five paths in five folds cost so much at
#: least, per row, and per pair of rows until trees take over from kernel machines.
_PER_PAIR, _PER_PAIR_AND_FEATURE = 6e-8, 5e-9
_JUDGES, _JUDGES_PER_ROW, _JUDGES_PER_PAIR = 0.8, 4e-3, 2e-6
_LINEAR_PER_CUBE = 2e-8
#: Paths by neighbours; the linear one and the order by relevance cost next to nothing.
_PATHS = {"auto": 4}
_FOLDS = {"auto": 5}
#: What was measured lies within this factor of what is told.
_FACTOR = 3


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
        Processor time.
    n_bytes : int
        Memory.
    held_out : bool
        Whether any row judges a choice that was made without it.
    """

    budget: float
    unit: str
    seconds: float
    n_bytes: int
    held_out: bool

    @property
    def budget_text(self) -> str:
        """The smallest budget with its condition."""
        if self.unit == "error":
            case = f"error rate, if {CHANGED:.0%} of the predictions change"
        else:
            case = f"of the variance, if half of it is left and errors correlate at {CORRELATION}"
        condition = "" if self.held_out else "; rows must be held out for that: --folds 5"
        return f"about {self.budget:.2g} ({case}{condition})"

    @property
    def time_text(self) -> str:
        """The time in words."""
        if self.seconds < 1:
            return "about a second on one thread"
        told = f"{self.seconds:.0f} s" if self.seconds < 90 else f"{self.seconds / 60:.0f} min"
        return f"about {told} on one thread, perhaps {_FACTOR} times more or less"

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
    n, d = encoded.n_rows, encoded.columns.n_columns
    folds = _FOLDS.get(direction, 0) if folds is None else folds
    return Forecast(
        budget=smallest_budget(n, classes=classes, n_limits=_LIMITS.get(direction, 1)),
        unit="error" if classes else "r2",
        seconds=expected_seconds(n, encoded.n_features, direction, folds),
        n_bytes=plan.n_bytes + 2 * 8 * n * d,  # the table as it was read, and scaled
        held_out=folds > 0,
    )


def smallest_budget(n_rows: int, *, classes: bool, n_limits: int = 1) -> float:
    r"""Return the one-sided limit of a paired held-out difference that is truly zero.

    At 95 %, or where several limits share the error probability α = 0.05 at one minus its part.

    Classes: a share p of the rows is right with one set of columns and wrong with the other, as
    many for the better as for the worse; the limit is that of the certificate, close to

    .. math:: t_{n-1,\,1-\alpha} \sqrt{p / n}.

    Numbers: both models leave a share r of the variance, their Gaussian errors correlate at ρ,

    .. math:: t_{n-1,\,1-\alpha}\; 2 r \sqrt{(1 - \rho^2) / n}.

    Examples
    --------
    >>> round(smallest_budget(569, classes=True), 4)
    0.0156
    >>> round(smallest_budget(569, classes=True, n_limits=5), 4)
    0.022
    """
    if n_rows < 2:
        return math.inf
    confidence = 1.0 - (1.0 - _CONFIDENCE) / n_limits
    if classes:
        half = round(CHANGED * n_rows / 2)
        differences = np.zeros(n_rows)
        differences[:half], differences[half : 2 * half] = 1.0, -1.0
        return paired_difference(differences, confidence, counts=True).upper
    spread = 2 * LEFT * math.sqrt(1 - CORRELATION**2)
    return float(t.ppf(confidence, n_rows - 1)) * spread / math.sqrt(n_rows)


def expected_seconds(n_rows: int, n_features: int, direction: str, folds: int) -> float:
    """Return the processor time of a search, by the measured costs of its parts."""
    pairs = float(n_rows) ** 2
    n_paths = _PATHS.get(direction, 1)
    path = pairs * (_PER_PAIR + _PER_PAIR_AND_FEATURE * n_features)
    if direction == "linear":
        path = _LINEAR_PER_CUBE * n_features**3
    kernel_machines = pairs if n_rows < LARGE_TABLE else 0.0
    judges = _JUDGES + _JUDGES_PER_ROW * n_rows + _JUDGES_PER_PAIR * kernel_machines
    return n_paths * (1 + folds) * path + judges * folds / 5 * n_paths / _PATHS["auto"]
