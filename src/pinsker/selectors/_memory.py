"""The memory plan of a fit: what every stage holds, in bytes, and what may run side by side.

Each formula states the arrays that a stage holds at its peak. ``tests/selectors/test_memory.py``
watches the peak of whole fits against their limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pinsker.encoding import Encoded, Kind
from pinsker.engine import memory_limit, search_bytes
from pinsker.exceptions import MemoryBudgetError
from pinsker.holdout import RowCounts
from pinsker.models import MAX_ONE_HOT, RBFSVM, BoostedTrees, HoldoutModel

_DOUBLE = 8
#: What a fit takes whatever the table: objects of Python, stacks, buffers of BLAS.
_BASE = 2**24
#: Libsvm keeps rows of the kernel in single precision, in this many bytes at most.
_SVM_CACHE = 200 * 2**20
#: Boosted trees have up to 31 leaves, each with 20 bytes for 256 bins of every column.
_HISTOGRAMS = 31 * 256 * 20
#: Pairs of steps that the logistic regression remembers (L-BFGS).
_STEPS = 20
#: Sets whose predictions are kept, so that a set that comes up again costs nothing.
_SETS = 48


@dataclass(frozen=True)
class FitMemory:
    """What a fit may hold, and what its stages need at least; in bytes."""

    limit: int  # of the whole fit: `max_memory`, or half of what is available
    held: int  # the encoded table and the predictions, which are held throughout
    copy: int  # the rows that a search works on
    search: int
    model: int
    n_jobs: int = 1  # calls that may run side by side as far as threads go

    @classmethod
    def of(
        cls,
        encoded: Encoded,
        models: Sequence[HoldoutModel],
        rows: RowCounts,
        *,
        n_jobs: int = 1,
        max_memory: int | None = None,
    ) -> "FitMemory":
        """Plan a fit; raise MemoryBudgetError if it cannot fit into its limit."""
        n_outputs = _n_outputs(encoded)
        kept = _SETS * len(models) * _DOUBLE * encoded.n_rows * n_outputs
        fits = [model_bytes(model, encoded, rows.train, rows.test) for model in models]
        plan = cls(
            memory_limit(max_memory),
            _BASE + table_bytes(encoded) + kept,
            _rows_bytes(encoded, rows.search),
            least_search_bytes(encoded, rows.search),
            max(fits, default=0),
            n_jobs,
        )
        if plan.needed > plan.limit:
            raise MemoryBudgetError(
                f"a fit to {encoded.n_rows} rows and {encoded.columns.n_columns} columns needs "
                f"about {_mib(plan.needed)} MiB ({_mib(plan.held)} for the table and predictions, "
                f"{_mib(plan.search)} for a search, {_mib(plan.model)} for a model), but "
                f"max_memory allows {plan.limit} bytes ({_mib(plan.limit)} MiB). Raise max_memory, "
                "or pass fewer rows or columns.",
                parameter="max_memory",
            )
        return plan

    @property
    def needed(self) -> int:
        """The least that the fit needs: one call at a time."""
        return self.held + max(self.search, self.model)

    @property
    def n_searches(self) -> int:
        """Searches that may run side by side."""
        return max(1, min(self.n_jobs, (self.limit - self.held) // max(self.search, 1)))

    @property
    def n_fits(self) -> int:
        """Fits of models that may run side by side."""
        return max(1, min(self.n_jobs, (self.limit - self.held) // max(self.model, 1)))

    def for_one_search(self, n_searches: int) -> int:
        """Return what the engine may hold when so many searches run side by side."""
        return (self.limit - self.held) // n_searches - self.copy


def table_bytes(encoded: Encoded) -> int:
    """Return the bytes of an encoded table, and of what its encoding held beside it."""
    n_rows = encoded.n_rows
    return 2 * _rows_bytes(encoded, n_rows) + 3 * _DOUBLE * n_rows * _n_targets(encoded)


def least_search_bytes(encoded: Encoded, n_rows: int) -> int:
    """Return the least that a search of so many rows needs: by neighbors, linear, or by counts."""
    columns = encoded.columns
    neighbors = search_bytes(n_rows, columns.n_columns, copies=2)
    # Indicators, centered, beside the target, and again in the factorization.
    linear = 4 * _DOUBLE * n_rows * (_one_hot_width(encoded) + _n_outputs(encoded))
    return _rows_bytes(encoded, n_rows) + max(neighbors, linear)


def model_bytes(model: HoldoutModel, encoded: Encoded, n_train: int, n_test: int) -> int:
    """Return what one fit of a model holds: its rows twice, and what the model makes of them."""
    n_outputs = _n_outputs(encoded)
    width = _one_hot_width(encoded) if model.layout != "coded" else encoded.columns.n_columns
    n_bytes = (
        2 * _DOUBLE * (n_train + n_test) * width + 4 * _DOUBLE * (n_train + n_test) * n_outputs
    )
    if isinstance(model, RBFSVM):
        kernels = _DOUBLE * n_train * (n_train + n_test)
        coefficients = 2 * _DOUBLE * n_train * n_outputs
        return n_bytes + kernels + min(4 * n_train**2, _SVM_CACHE) + coefficients
    if isinstance(model, BoostedTrees):
        return n_bytes + _HISTOGRAMS * width
    if model.layout == "one-hot":  # the linear model; estimators of a user count as one
        least_squares = min(width, n_train) ** 2
        return n_bytes + _DOUBLE * (least_squares + _STEPS * width * n_outputs)
    return n_bytes


def _rows_bytes(encoded: Encoded, n_rows: int) -> int:
    """Return the bytes of a copy of some rows."""
    per_value = _DOUBLE + (encoded.columns.missing is not None)
    return n_rows * (per_value * encoded.columns.n_columns + 2 * _DOUBLE * _n_targets(encoded))


def _n_targets(encoded: Encoded) -> int:
    raw = encoded.target.raw
    return 1 if raw is None else int(raw.shape[1])


def _n_outputs(encoded: Encoded) -> int:
    """Return how many numbers a model predicts per row: one per class, or per target."""
    classes = encoded.target.classes
    return _n_targets(encoded) if classes is None else len(classes)


def _one_hot_width(encoded: Encoded) -> int:
    """Return how many columns a table has for a linear model, at most."""
    columns = encoded.columns
    nominal = [
        min(len(known), MAX_ONE_HOT + 1)
        for kind, known in zip(columns.kinds, columns.categories, strict=True)
        if kind is Kind.NOMINAL and known is not None
    ]
    n_numeric = columns.n_columns - len(nominal)
    return sum(nominal) + n_numeric * (1 + (columns.missing is not None))


def _mib(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:.0f}"
