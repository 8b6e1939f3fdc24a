"""A certificate that lives: whether the budget is still met, looked at after every batch."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Self

import numpy as np

from pinsker._notes import Notes, notes_of_fields, notes_to_fields
from pinsker._types import Axes, Estimator, MetricChoice, Selector, TableLike, TargetLike, plain
from pinsker.bounds import ConfidenceSequence
from pinsker.encoding import profile_of
from pinsker.exceptions import DataError, ParameterError
from pinsker.holdout import ModelPair, compare_with_fit, warn_of
from pinsker.selectors._state import from_state

#: Version of the state; rows between looks, and looks in a batch, at most; looks that are kept.
_VERSION, _ROWS, _LOOKS, _MOST_KEPT = 1, 50, 100, 1000

MonitorVerdict = Literal["met", "broken", "open"]


@dataclass(frozen=True)
class Look:
    """What was known after some rows: the mean error increase, and limits that always hold."""

    n_rows: int
    increase: float
    lower: float
    upper: float


class Monitor:
    """Tell whether a choice of columns is still within its budget as new rows arrive.

    Two fitted models predict every new row, one from all columns and one from those kept. Their
    paired losses make a confidence sequence: both limits hold at all numbers of rows at once, so
    that it may be looked at after every batch and stopped at any time.

    Parameters
    ----------
    selector : fitted selector, str or dict
        The selector, or what ``pinsker select --json`` wrote: its file, or its content.
    model_all, model_kept : fitted models
        Of all columns, and of those kept.
    error_budget : float, optional
        In the metric; by default that of the selector.
    metric : str, optional
        By default that of the budget. The loss must be that of single rows: "error", "brier",
        "log-loss", "r2" (in units of the variance of the fit), "mse", "mae", or a `CostMatrix`.
    confidence : float, default=0.95
        That both limits hold, at all numbers of rows.

    Attributes
    ----------
    verdict : {"met", "broken", "open"}
        "met" while the upper limit is within the budget, "broken" while the lower one is above it.
    notes : tuple of Note
        Dropped columns that came empty, unlike those of the fit: then no budget is "met".
    known_at : int or None
        Rows after which this verdict was first known.
    looks : list of Look
        The sequence so far.
    is_exact : bool
        Whether the limits hold for any distribution (bounded losses), or for many rows only.

    Notes
    -----
    Rows must be new: independent of each other, and of the rows that the models were fitted to. If
    the increase drifts, "broken" takes many bad rows after many good ones: begin a new monitor
    every season.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from pinsker import FeatureSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 3))
    >>> y = X[:, 0] + 0.3 * rng.normal(size=4000) > 0
    >>> selector = FeatureSelector(0.05, models=["linear"], random_state=0).fit(X[:300], y[:300])
    >>> kept = LogisticRegression().fit(selector.transform(X[:300]), y[:300])
    >>> monitor = Monitor(selector, LogisticRegression().fit(X[:300], y[:300]), kept)
    >>> monitor.update(X[300:1000], y[300:1000]).verdict
    'met'
    """

    def __init__(
        self,
        selector: Selector,
        model_all: Estimator,
        model_kept: Estimator,
        *,
        error_budget: float | None = None,
        metric: MetricChoice = None,
        confidence: float = 0.95,
    ) -> None:
        if isinstance(selector, str | Path):
            selector = json.loads(Path(selector).read_text(encoding="utf-8"))
        if isinstance(selector, Mapping):
            selector = from_state(selector)
        if not 0.5 <= confidence < 1.0:
            raise ParameterError(f"confidence={confidence!r}: use 0.5 to below 1.")
        self._pair = pair = ModelPair.of(selector, model_all, model_kept, metric)
        self.error_budget = pair.budget(error_budget)
        if math.isnan(self.error_budget):
            raise ParameterError(
                f"the selector has no budget in {pair.metric.name!r}: <pass error_budget=|select "
                "with --error-budget>."
            )
        largest, counts = pair.largest, pair.metric.row.counts
        self._sequence = ConfidenceSequence(largest, confidence, whole=counts)
        self.looks: list[Look] = []
        self.known_at: int | None = None
        self.notes: Notes = ()
        self._batches: list[str] = []

    @property
    def is_exact(self) -> bool:
        """Whether the limits hold for any distribution."""
        return math.isfinite(self._sequence.largest)

    @property
    def confidence(self) -> float:
        """That both limits hold, at all numbers of rows."""
        return self._sequence.confidence

    @property
    def metric(self) -> str:
        """Metric of the errors."""
        return self._pair.metric.name

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return self._sequence.n

    @property
    def verdict(self) -> MonitorVerdict:
        """What is known by now."""
        if self._sequence.upper <= self.error_budget:
            return "open" if self.notes else "met"
        return "broken" if self._sequence.lower > self.error_budget else "open"

    def update(self, X: TableLike, y: TargetLike) -> Self:
        """Add new rows with their true values, in the order in which they came, and look."""
        losses = self._pair.losses(X, y)
        selector = self._pair.selector
        profile, hashes = profile_of(X, y, selector.task_, selector._record.profile)
        differs = compare_with_fit(selector, profile, hashes)
        untrue = [note for note in differs if note.weight == "untrue"]
        batch = hashlib.blake2b(np.sort(hashes).tobytes(), digest_size=8).hexdigest()
        if batch in self._batches:
            raise DataError(
                f"these {len(hashes)} rows were counted before (batch "
                f"{self._batches.index(batch) + 1}): pass new ones."
            )
        self._batches.append(batch)
        new = [note for one in untrue for note in warn_of(one)]
        self.notes = (*dict.fromkeys((*self.notes, *new)),)  # the same one of every batch once
        differences = losses[1] - losses[0]
        size = max(_ROWS, -(-len(differences) // _LOOKS))
        for start in range(0, len(differences), size):
            before = self.verdict
            self._sequence.update(differences[start : start + size])
            found = self._sequence.limits()
            self.looks.append(Look(self.n_rows, found.mean, found.lower, found.upper))
            if self.verdict != before:
                self.known_at = self.n_rows
        if len(self.looks) > _MOST_KEPT:
            self.looks = self.looks[1::2]
        return self

    def to_json(self) -> str:
        """Return the state as JSON text, which `resume` goes on from; it holds no rows."""
        state = {
            "pinsker_monitor": _VERSION,
            "metric": self.metric,
            "error_budget": self.error_budget,
            "verdict": self.verdict,
            "known_at": self.known_at,
            "kept": [str(name) for name in self._pair.selector.get_feature_names_out()],
            "sequence": asdict(self._sequence),
            "looks": [[*asdict(one).values()] for one in self.looks],
            "batches": self._batches,
            **notes_to_fields(self.notes),
        }
        return json.dumps(plain(state), allow_nan=False)

    def resume(self, text: str) -> Self:
        """Go on from a state that `to_json` returned, with the same selector and metric."""
        try:
            state, own = json.loads(text), json.loads(self.to_json())
            for name in ("pinsker_monitor", "metric", "kept"):
                if state[name] != own[name]:
                    raise ValueError(f"its {name} is {state[name]!r}, not {own[name]!r}")
            saved = state["sequence"]  # null was infinite, and JSON has texts for names
            lower, upper = _ends([saved["lower"], saved["upper"]])
            largest = math.inf if saved["largest"] is None else float(saved["largest"])
            counts = {int(place): int(rows) for place, rows in saved["counts"].items()}
            known = {**saved, "largest": largest, "lower": lower, "upper": upper, "counts": counts}
            self._sequence = ConfidenceSequence(**known)
            self.looks = [Look(int(one[0]), one[1], *_ends(one[2:])) for one in state["looks"]]
            self.known_at, self._batches = state["known_at"], list(state["batches"])
            self.error_budget = float(state["error_budget"])
            self.notes = notes_of_fields({"notes": [], **state})
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise DataError(f"this is no state of a Monitor that fits: {error}.") from error
        return self

    def plot(self, ax: Axes = None) -> Axes:
        """Draw the sequence against the budget; return matplotlib's axes."""
        from pinsker.report import plot_sequence  # upwards: it has all figures

        return plot_sequence(self, ax)

    def __str__(self) -> str:
        from pinsker.report import monitor_text  # upwards: it has all words

        return monitor_text(self)

    def __repr__(self) -> str:
        return f"Monitor({self.verdict}, {self.n_rows} rows, budget={self.error_budget:.4g})"


def _ends(ends: list[float | None]) -> tuple[float, float]:
    lower, upper = ends
    return -math.inf if lower is None else lower, math.inf if upper is None else upper
