"""What every stage of one call works on: its context, and models scored on rows held out.

Calls that do not depend on each other run in threads here, or as tasks on a cluster.
"""

import copy
import ctypes
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import starmap
from operator import attrgetter
from pickle import PicklingError
from threading import Event, Lock, Thread
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from joblib import parallel_config
from sklearn import config_context, get_config
from threadpoolctl import ThreadpoolController, threadpool_limits  # type: ignore[import-untyped]

from pinsker._compat import method_of, require
from pinsker._notes import Note, Notes
from pinsker._types import Arguments, DaskClient, Fields, FloatArray, Function, IntArray, TableLike
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded
from pinsker.engine import calls_on_cluster
from pinsker.exceptions import DataError, EngineError, EngineLostError, ParameterError
from pinsker.holdout._rows import (
    Fold,
    RowPlan,
    as_own_table,
    note_divided_groups,
    note_few_groups,
    note_repeated_rows,
    note_weights,
)
from pinsker.metrics import BLOCKS_LEFT_OUT, Metric, Subgroups
from pinsker.models import (
    HoldoutModel,
    HoldoutScores,
    MeanModel,
    ModelData,
    PriorModel,
    RawModel,
    is_tied,
    mean_prediction,
    predict_rows,
    refuse_without_weights,
    without_advice,
    worst_by_loss,
)
from pinsker.search import (
    Deadline,
    ErrorBudget,
    FeatureCosts,
    KNNSearchSettings,
    StoppingRule,
    TimeIsUp,
)

T = TypeVar("T")
#: Called with the number of calls that are done, and of all.
OnCall: TypeAlias = Callable[[int, int], object]


class Jobs:
    """Runs calls in the order given; the results are the same wherever they run."""

    def __init__(
        self, n_jobs: int = 1, client: DaskClient = None, on_call: OnCall | None = None
    ) -> None:
        self.n_jobs, self.client, self.on_call = n_jobs, client, on_call

    def run(
        self,
        function: Function,
        shared: Any,
        calls: Iterable[Arguments],
        n_jobs: int | None = None,
        deadline: Deadline | None = None,
        on_result: Callable[[Any], object] = lambda _result: None,
    ) -> list[Any]:
        """Return ``function(shared, *call)`` of every call; raise `TimeIsUp` at a deadline."""
        calls, found = list(calls), []
        if deadline is not None:
            deadline.check()

        def on_call(n_done: int, n_calls: int) -> None:
            if deadline is not None and n_done < n_calls:
                deadline.check()
            if self.on_call is not None:
                self.on_call(n_done, n_calls)

        if self.client is not None:
            found = self._run_on_cluster(function, shared, calls, on_call)
            for result in found:
                on_result(result)
            return found
        n_jobs = n_jobs or self.n_jobs
        with self._start(function, shared, calls, n_jobs) as results:
            for result in results:
                found.append(result)
                on_result(result)  # before the look at the clock
                on_call(len(found), len(calls))
        return found

    @contextmanager
    def _start(
        self, function: Function, shared: Any, calls: list[Arguments], n_jobs: int
    ) -> Iterator[Iterable[Any]]:
        """Yield the results as they come, in the order of the calls."""
        if n_jobs == 1 or len(calls) < 2:
            yield starmap(partial(function, shared), calls)
            return
        config = get_config()  # scikit-learn's, which is that of this thread alone
        tasks = [partial(self._in_one_thread, config, function, shared, call) for call in calls]
        # Filters of warnings are the process's: threads that set them leave each other's behind.
        with without_advice(), _running(tasks, min(n_jobs, len(calls))) as futures:
            yield (future.result() for future in futures)

    @cached_property
    def thread_pools(self) -> ThreadpoolController:
        """The thread pools of BLAS and OpenMP; to find them takes longer than a small fit."""
        return ThreadpoolController()

    def _in_one_thread(self, config: Fields, function: Function, shared: Any, call: Any) -> Any:
        # OpenMP counts by thread: what holds for the one that fits does not hold for those here.
        one = self.thread_pools.limit(limits=1, user_api="openmp")
        with one, config_context(**config), parallel_config("threading", n_jobs=1):
            return function(shared, *call)

    def _run_on_cluster(
        self, function: Function, shared: Any, calls: list[Arguments], on_call: OnCall
    ) -> list[Any]:
        _check_that_they_travel(calls)
        alone = partial(_alone, get_config(), function)
        try:
            found: list[Any] = self._cluster.run(alone, shared, calls, on_call)
        except EngineLostError as error:
            raise EngineLostError(
                f"{error} Try again, with another client or <engine=local>."
            ) from error
        return found

    @cached_property
    def _cluster(self) -> Any:
        return calls_on_cluster(self.client)


@contextmanager
def _running(tasks: Sequence[Callable[[], Any]], n_threads: int) -> Iterator[list[Future[Any]]]:
    """Run tasks in threads; none of them runs on when the context is left."""
    futures: list[Future[Any]] = [Future() for _ in tasks]
    waiting = iter(list(zip(tasks, futures, strict=True)))
    lock, stopped = Lock(), Event()

    def work() -> None:
        while not stopped.is_set():
            with lock:
                task, future = next(waiting, (None, None))
            if task is None or future is None:
                return
            try:
                future.set_result(task())
            except BaseException as error:  # raised again where the result is waited for
                future.set_exception(error)

    threads = [Thread(target=work, name=f"pinsker-{k}") for k in range(n_threads)]
    try:
        for thread in threads:
            thread.start()
        yield futures
    except BaseException:
        stopped.set()
        for thread in threads:
            _end(thread)
        raise
    finally:
        for thread in threads:
            if thread.ident is not None:
                thread.join()


def _end(thread: Thread) -> None:
    """Raise SystemExit in a thread when it runs Python code again: it ends without a word."""
    if thread.ident is not None and thread.is_alive():
        raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
        raise_in(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))


def _alone(config: Fields, function: Function, shared: Any, *call: Any) -> Any:
    """Run a call as one of many tasks: it must not start threads or tasks of its own."""
    alone = parallel_config("threading", n_jobs=1)
    with alone, threadpool_limits(1, user_api="blas"), config_context(**config):
        return function(shared, *call)


def _check_that_they_travel(calls: list[Arguments]) -> None:
    """Raise if a call cannot be sent to a worker, before anything is sent."""
    try:
        require("cloudpickle", purpose="engine='dask'", extra="dask").dumps(calls)
    except (TypeError, AttributeError, PicklingError) as error:
        raise EngineError(
            f"a search or a model cannot be sent to the workers ({error}): use one that can be "
            "pickled, or <engine=local>."
        ) from error


FeatureSet: TypeAlias = tuple[int, ...]
#: A fold, a set and the name of a model.
_Key: TypeAlias = tuple[int, FeatureSet, str]


#: A model other than the first of a race stands for a set where it is better by this many standard
#: errors on the other folds: who switches at less adds noise and gains nothing.
_CLEARLY_BETTER = 1.0
#: A set is clearly worse than another at this many standard errors of paired losses.
_BEHIND = 2.0
#: Rows that a model is timed on: fits of few rows are mostly overhead, which more do not add to.
_TIMED = (100, 400)
#: How many fits to all features each fold has to have time for; and all of them: of one fold a
#: certificate takes more, on more rows.
_FITS_IN_TIME, _FITS_IN_ALL = 3, 6
#: Share of the time that is left which a forecast may take, and seconds that an interrupted fit
#: takes to its end.
_PART_OF_FORECAST, _AFTER_INTERRUPT = 0.2, 1.0
#: Power of the rows that fits to more of them are thought to take: an SVM takes the second.
_STEEPNESS = 1.5
#: Seconds by rows, as a share of those whatever the rows, that are not worth saving.
_NO_MATTER = 0.2
#: Training and held-out rows that are left at least where time is short.
_LEAST_ROWS, _LEAST_HELD_OUT = 100, 30
#: With fewer training rows in a category, on average, models do not show what a column is worth:
#: "met" without one of 40 categories was wrong in 17 % at 8 rows, in 3 % at 12 (edge.py).
ROWS_A_CATEGORY = 10
#: Models that predict together at most, and training rows from which on one stands alone.
_MOST_TOGETHER, _ALONE_FROM = 2, 1200


@dataclass(frozen=True, eq=False)
class EvaluationData:
    """The rows of a table, and which of them are held out."""

    rows: ModelData
    folds: tuple[Fold, ...]


def fit_predict(
    data: EvaluationData, model: HoldoutModel, k: int, features: FeatureSet
) -> FloatArray:
    """Fit one model to the training rows of one fold and predict the held-out rows."""
    fold = data.folds[k]
    return predict_rows(data.rows, model, fold.train, fold.test, features)


class _Seconds(NamedTuple):
    """What a fit to all features takes: whatever the rows, and for all rows of a fold."""

    fixed: float
    by_rows: float

    @classmethod
    def of(cls, timed: Sequence[tuple[float, float]]) -> "_Seconds":
        """Draw a line through two pairs of a share of the rows and seconds, or 0 and one."""
        (first, less), (last, more) = ((0.0, 0.0), *timed)[-2:]
        by_rows = max(more - less, 0.0) / max(last - first, 1e-9)
        return cls(max(more - by_rows * last, 0.0), by_rows)

    def share_in(self, seconds: float, n_folds: int) -> float:
        """Return the share of the rows that what must be fitted has time for, 0 for none."""
        return max(seconds / _n_fits(n_folds) - self.fixed, 0.0) / max(self.by_rows, 1e-9)


#: Of models that were not timed.
_UNKNOWN = _Seconds(0.0, math.inf)


class HoldoutEvaluator:
    """Holds the folds and the models, and remembers every prediction."""

    def __init__(
        self,
        encoded: Encoded,
        folds: Sequence[Fold],
        models: Sequence[HoldoutModel],
        metric: Metric,
        jobs: Jobs | None = None,
        groups: IntArray | None = None,
        table: TableLike = None,
    ) -> None:
        raw = any(isinstance(model, RawModel) for model in models)
        self.data = EvaluationData(ModelData.of(encoded, table if raw else None), ())
        if encoded.weights is not None:
            refuse_without_weights(models)
        if encoded.target.labels is not None:
            refuse_without_scores(models, metric)
        self.models = tuple(models)
        self.jobs = jobs or Jobs()
        self.groups, self._metric = groups, metric
        self.notes: Notes = ()
        self.in_time = False  # whether neighboring rows depend on each other
        self.deadline: Deadline | None = None  # of the block of `until`
        self._seconds: dict[HoldoutModel, _Seconds] = {}  # of models where time is limited
        self._gone: tuple[str, ...] = ()  # names of those that have no time
        self._all_rows = tuple(folds)
        self.kept_folds: Sequence[int] = range(len(folds))  # which of these are there
        self._hold_out(folds)

    def _hold_out(self, folds: Sequence[Fold]) -> None:
        """Take folds; nothing is known of their rows yet."""
        self.folds, weights = tuple(folds), self.data.rows.weights
        self.data = replace(self.data, folds=self.folds)
        self._held_out = np.concatenate([fold.test for fold in folds])
        self.rows, self._row_of = rows_once(self._held_out)
        self.metric = self._metric.on_rows(self.rows)
        self.clusters = None if self.groups is None else self.groups[self.rows]
        self.weights = None if weights is None else weights[self.rows]
        self._predictions: dict[_Key, FloatArray] = {}
        self._scores: dict[tuple[str, tuple[FeatureSet, ...]], HoldoutScores] = {}
        self._priors: dict[int, HoldoutScores] = {}
        self._spent: dict[str, list[float]] = {}  # seconds of fits to these rows

    @property
    def prior(self) -> HoldoutScores:
        """The scores of the model without features."""
        return self.prior_of(len(self.folds))

    @property
    def widening(self) -> float:
        """Factor of the limits of differences: of the models, 1 where one fold is held out."""
        return 1.0 if len(self.folds) == 1 else max(model.widening for model in self.models)

    def prior_of(self, n_folds: int) -> HoldoutScores:
        """Return the scores of the model without features on the first folds."""
        if n_folds in self._priors:
            return self._priors[n_folds]
        prior = self._pool(PriorModel(), [()] * n_folds)
        # Of groups the folds differ: what the others have most often is rarer in the one left out.
        if self.groups is not None or not self.metric.has_theory:
            parts = [fit_predict(self.data, PriorModel(), k, ()) for k in range(n_folds)]
            mean = np.concatenate(parts).mean(axis=0, keepdims=True)
            alike = np.repeat(mean, sum(map(len, parts)), axis=0)
            prior = replace(prior, losses=self._score("prior", alike).losses)
        self._priors[n_folds] = prior
        return prior

    def evaluate(self, candidates: Sequence[Sequence[FeatureSet]]) -> list[HoldoutScores]:
        """Return the scores of each candidate, one set per fold: no row chooses its own model."""
        self._fit(candidates, self.models)
        return [self._scores_of(sets) for sets in candidates]

    def until(self, deadline: Deadline, what: str, call: Callable[[], T]) -> T | None:
        """Return what a call returns; None, with a note, if time is up before or in between."""
        if deadline.skips(what):
            return None
        self.deadline = deadline if deadline.may_end else None
        try:
            return call()
        except TimeIsUp:
            deadline.left_out.append(what)
            return None
        finally:
            self.deadline = None

    def limit_time(self, deadline: Deadline) -> None:
        """Leave the models that a deadline allows, or the cheapest with fewer rows."""
        if math.isinf(deadline.left):
            return
        self._seconds = self._forecast(deadline)
        kept: list[HoldoutModel] = []
        for model in sorted(self._seconds, key=lambda one: sum(self._seconds[one])):
            each = [sum(self._seconds[one]) for one in (*kept, model)]
            # All race on all features; then one of them, at worst the last, is fitted to sets.
            fits = (sum(each) + each[-1]) * _n_fits(len(self.folds)) / _FITS_IN_TIME
            kept += [model] if not kept or fits <= deadline.left else []
        self._leave(kept, deadline)
        self._shorten(self._seconds[kept[0]], deadline)

    def limit_time_as(self, other: "HoldoutEvaluator", deadline: Deadline) -> None:
        """Leave fewer rows where fits of another evaluator show that all of them take too long."""
        each = [other._seconds_of(model) for model in single_models(self.models)]
        ratio = (self.n_train / other.n_train) ** _STEEPNESS
        seconds = _Seconds(sum(one.fixed for one in each), ratio * sum(one.by_rows for one in each))
        if not (math.isinf(deadline.left) or deadline.is_over):
            self._shorten(seconds, deadline)

    def _forecast(self, deadline: Deadline) -> dict[HoldoutModel, _Seconds]:
        """Return the seconds that fits of models take, as two fits to few rows show."""
        fold, started = self.folds[0], deadline.left
        ours = sorted(self.models, key=lambda model: isinstance(model, RawModel))
        if started <= 0.0:
            return {ours[0]: _UNKNOWN}
        everything = tuple(range(self.data.rows.design.n_features))
        timed: dict[HoldoutModel, list[tuple[float, float]]] = {}
        with self.jobs.thread_pools.limit(limits=1):
            for n_rows in _TIMED:
                step = max(1, -(-len(fold.train) // n_rows))
                rows = fold.train[::step], fold.test[::step]
                # All once, from the cheapest on again: a dear one must not hide the others.
                for model in sorted(list(timed) or ours, key=lambda one: timed.get(one, [])):
                    before = deadline.left
                    if timed and started - before > _PART_OF_FORECAST * started:
                        break
                    predict_rows(self.data.rows, model, *rows, everything)
                    one = (len(rows[0]) / len(fold.train), before - deadline.left)
                    timed.setdefault(model, []).append(one)
        return {model: _Seconds.of(several) for model, several in timed.items()}

    def hurry(self, deadline: Deadline, *, at_most: bool = False) -> None:
        """Go on with the model that is done first, on as many rows and folds as have time."""
        n, everything = len(self.folds), tuple(range(self.data.rows.design.n_features))
        done = {
            model: sum((k, everything, model.name) in self._predictions for k in range(n))
            for model in single_models(self.models)
        }
        known = {model: self._seconds_of(model) for model in done}
        wait = {one: (_FITS_IN_TIME * n - done[one]) * sum(known[one]) for one in done}
        model = min(done, key=lambda one: (wait[one], -done[one]))
        self._leave([model], deadline)
        if deadline.is_interrupted and done[model]:
            few = int(_AFTER_INTERRUPT / max(sum(known[model]), 1e-9))
            self._keep_folds(range(min(done[model], max(few, 1))), deadline)
        elif at_most:
            self._shorten(_UNKNOWN, deadline)
            self._thin(0.0, None if model.is_quick else _LEAST_HELD_OUT)  # it may predict slowly
        elif wait[model] > deadline.left:
            self._shorten(known[model], deadline)

    def _seconds_of(self, model: HoldoutModel) -> _Seconds:
        """Return what a fit to the rows at hand takes: as fits to them show, else the forecast."""
        forecast = self._seconds.get(model, _UNKNOWN)
        if model.name not in self._spent:
            return forecast
        seconds = float(np.mean(self._spent[model.name]))
        fixed = min(forecast.fixed, seconds)
        return _Seconds(fixed, seconds - fixed)

    def _shorten(self, seconds: _Seconds, deadline: Deadline) -> None:
        """Leave out training rows, and then folds, until the fits that there must be have time."""
        unknown, n_all = math.isinf(seconds.by_rows), self.n_train
        left = 0.0 if unknown else max(deadline.left, 0.0)
        share, least = seconds.share_in(left, len(self.folds)), min(1.0, _LEAST_ROWS / n_all)
        if share >= 1.0:
            return
        if share < least:  # rows alone do not do it
            fits = left / max(seconds.fixed + least * seconds.by_rows, 1e-9)
            order = np.random.default_rng(0).permutation(len(self.folds))
            n_held_out = np.cumsum([len(self.folds[k].test) for k in order])
            enough = int(np.searchsorted(n_held_out, _LEAST_HELD_OUT)) + 1
            kept = order[: max(int(min(fits, 1e9)) // _FITS_IN_TIME, enough)]
            self._keep_folds(sorted(kept.tolist()), deadline)
            share = seconds.share_in(left, len(self.folds))
        if seconds.by_rows > _NO_MATTER * seconds.fixed:
            self._thin(share)
        if self.n_train < n_all:
            deadline.left_out.append("training rows of models")
            n_before = np.mean([len(fold.train) for fold in self._all_rows])
            figures = {"share": self.n_train / float(n_before)}
            self._note(Note("few training rows", figures=figures, weight="untrue"))

    def _keep_folds(self, kept: Sequence[int], deadline: Deadline) -> None:
        """Leave folds out, with what is known of the others."""
        if len(kept) == len(self.folds):
            return
        deadline.left_out.append("folds")
        known, spent = self._predictions, self._spent
        self.kept_folds = [self.kept_folds[k] for k in kept]
        self._hold_out([self.folds[k] for k in kept])
        place = {k: at for at, k in enumerate(kept)}
        self._predictions = {
            (place[k], features, name): one
            for (k, features, name), one in known.items()
            if k in place
        }
        self._spent = spent

    def _leave(self, kept: Sequence[HoldoutModel], deadline: Deadline) -> None:
        """Leave some models, and name the others."""
        gone = [model.name for model in single_models(self.models) if model not in kept]
        deadline.left_out += [f"model {name}" for name in gone]
        self._gone += tuple(gone)
        if self._gone:
            figures = {"models": ", ".join(self._gone)}
            self._note(Note("fewer models", figures=figures, weight="doubt"))
        self.models = tuple(model for model in self.models if model in kept) or tuple(kept)

    def _note(self, note: Note) -> None:
        """Add a note in the place of an earlier one of its kind."""
        self.notes = (*(one for one in self.notes if one.kind != note.kind), note)

    @property
    def n_draws(self) -> int:
        """How often the rows were divided into folds; 1 where some are held out more often."""
        counts = np.bincount(self._row_of)
        return int(counts[0]) if (counts == counts[0]).all() else 1

    @property
    def n_train(self) -> int:
        """Rows that the models of a fold are fitted to, on average."""
        return round(float(np.mean([len(fold.train) for fold in self.folds])))

    @property
    def many_categories(self) -> tuple[int, ...]:
        """Features with too few training rows in a category to show what they are worth."""
        design, most = self.data.rows.design, self.n_train / ROWS_A_CATEGORY
        many = [codes is not None and len(codes) > most for codes in design.categories]
        return tuple(f for f, own in enumerate(design.features) if any(many[j] for j in own))

    def with_fewer_rows(self, share: float) -> "HoldoutEvaluator":
        """Return an evaluator of the same held-out rows whose models are fitted to fewer rows."""
        other = copy.copy(self)
        other._thin(share)
        return other

    def _thin(self, share: float, n_held_out: int | None = None) -> None:
        """Fit models to a share of the training rows, some dozens at least, drawn at random."""
        rng = np.random.default_rng(0)  # even distances could meet a pattern of the rows

        def drawn(rows: IntArray, n: int) -> IntArray:
            return rows if n >= len(rows) else np.sort(rng.choice(rows, n, replace=False))

        n_trained = [max(_LEAST_ROWS, int(share * len(fold.train))) for fold in self.folds]
        folds = [
            Fold(drawn(fold.train, n), drawn(fold.test, n_held_out or len(fold.test)))
            for fold, n in zip(self.folds, n_trained, strict=True)
        ]
        pairs = zip(folds, self.folds, strict=True)
        if any(a.train is not b.train or a.test is not b.test for a, b in pairs):
            self._hold_out(folds)

    def race(self, candidates: Sequence[Sequence[FeatureSet]]) -> None:
        """Leave what wins on the best candidate, and what wins on the first one: all features."""
        if len(self.models) == 1:
            return
        raced: list[dict[HoldoutModel, HoldoutScores]] = [{} for _ in candidates]
        self._fit(candidates[:1], self.models[::-1])  # side by side, the dearest first
        for model in self.models:
            scores = [one for known in raced for one in known.values()]
            best = min(scores, key=attrgetter("loss"), default=None)
            in_doubt = [
                (sets, known)
                for sets, known in zip(candidates, raced, strict=True)
                if sets is candidates[0] or best is None or not _behind(known.values(), best)
            ]
            self._fit([sets for sets, _ in in_doubt], [model])
            for sets, known in in_doubt:
                known[model] = self._pool(model, sets)
        best_raced = min(raced, key=lambda known: min(one.loss for one in known.values()))
        self.models = tuple(dict.fromkeys([self._winner(best_raced), self._winner(raced[0])]))

    def _winner(self, raced: dict[HoldoutModel, HoldoutScores]) -> HoldoutModel:
        """Return the best model of one candidate, or the mean of those that are as good."""
        models = list(raced)
        ranked = sorted(models, key=lambda model: raced[model].loss)
        least = _one_per_row(raced[ranked[0]].losses)
        tied = [model for model in ranked if is_tied(_one_per_row(raced[model].losses) - least)]
        if len(self.folds[0].train) >= _ALONE_FROM:
            return min(tied, key=models.index)
        return MeanModel.of(sorted(tied[:_MOST_TOGETHER], key=models.index))

    def with_shuffled(self, kept: FeatureSet, shuffle: IntArray) -> "HoldoutEvaluator":
        """Return an evaluator of the same rows in which all features but some are shuffled."""
        other, rows = copy.copy(self), self.data.rows
        own = None if rows.own is None else rows.own.with_shuffled(kept, shuffle)
        design = rows.design.with_shuffled(kept, shuffle)
        other.data = replace(self.data, rows=replace(rows, design=design, own=own))
        other._predictions, other._scores = {}, {}
        return other

    def _scores_of(self, sets: Sequence[FeatureSet]) -> HoldoutScores:
        """Return the scores of one candidate, by the model of each fold."""
        n = len(sets)
        several = [*(self._pool(model, sets) for model in self.models), self.prior_of(n)]
        picked = self._pick(several, n)
        if set(picked) == {len(self.models)}:
            return several[-1]
        picked = self._pick(several[:-1], n)
        if len(set(picked)) == 1:
            return several[picked[0]]
        parts = [
            self._predicted(self.models[place], k, tuple(sorted(sets[k])))
            for k, place in enumerate(picked)
        ]
        names = dict.fromkeys(self.models[place].name for place in picked)
        return self._score(" or ".join(names), np.concatenate(parts))

    def _pick(self, several: Sequence[HoldoutScores], n_folds: int) -> list[int]:
        """Return the model of each fold: the first, or one clearly better on the other folds."""
        losses = np.stack([_one_per_row(one.losses) for one in several])
        sizes = [len(fold.test) for fold in self.folds[:n_folds]]
        ends = np.cumsum(sizes)
        picked = []
        for start, end in zip(ends - sizes, ends, strict=True):
            others = np.ones(losses.shape[1], dtype=np.bool_)
            if n_folds > 1:
                others[self._row_of[start:end]] = False
            gaps = losses[:, others] - losses[0, others]
            errors = gaps.std(axis=1) / np.sqrt(max(int(others.sum()), 1))
            means = gaps.mean(axis=1) if others.any() else np.zeros(len(several))
            means[means > -_CLEARLY_BETTER * errors] = 0.0
            picked.append(int(np.argmin(means)))
        return picked

    def _fit(
        self, candidates: Sequence[Sequence[FeatureSet]], models: Sequence[HoldoutModel]
    ) -> None:
        """Fit every model to every new set, in parallel and in a fixed order."""
        known = self._predictions
        wanted = dict.fromkeys(
            (k, tuple(sorted(features))) for sets in candidates for k, features in enumerate(sets)
        )
        means = [model for model in models if isinstance(model, MeanModel)]
        all_keys = {(*key, one.name): one for key in wanted for one in single_models(models)}
        new = {key: model for key, model in all_keys.items() if key not in known}
        if new:
            calls = [(model, k, features) for (k, features, _), model in new.items()]
            with self.jobs.thread_pools.limit(limits=1):  # small fits, and `jobs` run side by side
                self._run(calls, list(new))
        for model in means:
            keys = [key for key in wanted if (*key, model.name) not in known]
            each = [[known[*key, one.name] for key in keys] for one in model.models]
            if keys:
                mean = mean_prediction([np.concatenate(one) for one in each], self.data.rows.target)
                parts = np.split(mean, np.cumsum([len(part) for part in each[0]])[:-1])
                known.update(zip(((*key, model.name) for key in keys), parts, strict=True))

    def _run(self, calls: Sequence[Arguments], keys: Sequence[_Key]) -> None:
        """Remember the predictions of calls, and what fits to all features take."""
        waiting, deadline = iter(keys), self.deadline
        at = 0.0 if deadline is None else deadline.spent

        def keep(predicted: FloatArray) -> None:
            nonlocal at
            key = next(waiting)
            self._predictions[key] = predicted
            if deadline is not None:
                before, at = at, deadline.spent
                if len(key[1]) == self.data.rows.design.n_features:
                    self._spent.setdefault(key[2], []).append(at - before)

        self.jobs.run(fit_predict, self.data, calls, deadline=deadline, on_result=keep)

    def _pool(self, model: HoldoutModel, sets: Sequence[FeatureSet]) -> HoldoutScores:
        """Score the predictions of several folds together."""
        ordered = tuple(tuple(sorted(features)) for features in sets)
        if (model.name, ordered) not in self._scores:
            deadline, task = self.deadline, self.data.rows.target.task
            if deadline is not None and self.metric.method(task) == BLOCKS_LEFT_OUT:
                deadline.check()  # a function of the user is called 100 times
            parts = [self._predicted(model, k, features) for k, features in enumerate(ordered)]
            self._scores[model.name, ordered] = self._score(model.name, np.concatenate(parts))
        return self._scores[model.name, ordered]

    def _predicted(self, model: HoldoutModel, k: int, features: FeatureSet) -> FloatArray:
        """Return the predictions of one fold: known ones, or those of a model without features."""
        known = self._predictions.get((k, features, model.name))
        return fit_predict(self.data, model, k, features) if known is None else known

    def _score(self, model: str, predictions: FloatArray) -> HoldoutScores:
        """Score predictions of the first folds; a row that was predicted again counts once."""
        n, data = len(predictions), self.data
        rows = self._held_out[:n]
        known = (data.rows.target, rows, data.rows.weights, self.groups)
        scores = self.metric.score_holdout(model, predictions, *known)
        if len(self.rows) == len(self._held_out):
            return scores
        own: Fields = {
            name: None if values is None else mean_of_rows(values, self._row_of[:n])
            for name, values in vars(scores).items()
            if name in ("log_likelihood", "losses", "predicted")
        }
        return replace(scores, **own)


def most_predictions(n_models: int, n_train: int) -> int:
    """Return how many models of a set are remembered at most: two winners, and what they mean."""
    if n_models == 1 or n_train >= _ALONE_FROM:
        return min(2, n_models)
    return 2 + min(2 * _MOST_TOGETHER, n_models)


def _n_fits(n_folds: int) -> int:
    """Return how many fits to all features there must be time for."""
    return max(_FITS_IN_TIME * n_folds, _FITS_IN_ALL)


def single_models(models: Iterable[HoldoutModel]) -> list[HoldoutModel]:
    """Return the models that are fitted: of a mean those that it is of."""
    parts = (model.models if isinstance(model, MeanModel) else (model,) for model in models)
    return list(dict.fromkeys(one for several in parts for one in several))


def rows_once(held_out: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows in the order in which they are first held out, and the place of each there.

    Examples
    --------
    >>> rows, row_of = rows_once(np.array([4, 2, 2, 0, 4]))
    >>> rows.tolist(), row_of.tolist()
    ([4, 2, 0], [0, 1, 1, 2, 0])
    """
    sorted_rows, first, row_of = np.unique(held_out, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return sorted_rows[order], place[row_of]


def mean_of_rows(values: FloatArray, row_of: IntArray) -> FloatArray:
    """Return the mean of the values of every row; several targets have a column each."""
    sums = np.zeros((int(row_of.max()) + 1, *values.shape[1:]))
    np.add.at(sums, row_of, values)
    counts = np.bincount(row_of).astype(np.float64)
    return np.asarray(sums / counts.reshape(-1, *[1] * (values.ndim - 1)))


def refuse_without_scores(models: Sequence[HoldoutModel], metric: Metric) -> None:
    """Refuse a classifier that only predicts classes where a metric needs more."""
    for model in models if metric.needs != "predictions" else ():
        methods = (model.estimator, "predict_proba", "decision_function")
        if isinstance(model, RawModel) and method_of(*methods) is None:
            raise ParameterError(
                f"metric {metric.name!r} needs {metric.needs}, but model {model.name!r} has "
                "neither predict_proba nor decision_function: use <metric=error> or another one "
                "of predicted classes, or calibrate it (CalibratedClassifierCV).",
                parameter="metric",
            )


def worse_of(one: HoldoutScores, other: HoldoutScores) -> HoldoutScores:
    """Return the larger loss and the lesser information of two candidates."""
    least = min(one, other, key=lambda scores: float(scores.log_likelihood.mean()))
    return replace(worst_by_loss([one, other]), log_likelihood=least.log_likelihood)


def _behind(several: Iterable[HoldoutScores], best: HoldoutScores) -> bool:
    """Return whether all models of a candidate are clearly worse than the best of any."""
    gaps = (_one_per_row(one.losses) - _one_per_row(best.losses) for one in several)
    return not any(is_tied(own, _BEHIND) for own in gaps)


def _one_per_row(losses: FloatArray) -> FloatArray:
    """Return one loss per row; several targets count alike."""
    return losses if losses.ndim == 1 else np.asarray(losses.mean(axis=1))


@dataclass(frozen=True, eq=False)
class FitContext:
    """The table, the rule and the means of one fit, or of one look at fresh rows."""

    encoded: Encoded
    facts: TargetFacts
    rule: StoppingRule
    budget: ErrorBudget  # what bounds of a path are computed with: the rule, if it is one
    fixed: tuple[int, ...] = ()  # features that may not be dropped
    seed: int = 0  # of everything random
    table: TableLike = None  # the rows that were encoded, unchanged, for models of the user
    user_data: Fields = field(default_factory=dict)  # ``X`` and ``y``, for callbacks
    fingerprint: str = ""  # digest of everything that the path depends on
    origin: str = ""  # where the rows were drawn from; empty where they are all
    drawn: Notes = ()  # what a user should know of the drawing
    notes: Notes = ()  # what a user should know of the rows
    groups: IntArray | None = None  # which rows belong together
    subgroups: Subgroups | None = None  # parts of the rows with budgets of their own
    costs: FeatureCosts | None = None  # prices of the features; None: 1 each
    models: tuple[HoldoutModel, ...] = ()
    settings: KNNSearchSettings = field(default_factory=KNNSearchSettings)
    jobs: Jobs = field(default_factory=Jobs)
    n_searches: int = 1  # searches that memory allows side by side
    in_time: bool = False  # whether rows are in order of time
    copies: Notes = ()  # where `groups` are copies of rows: how many there are

    @property
    def metric(self) -> Metric:
        """The metric of the errors."""
        return Metric(self.budget.metric_for(self.facts), self.subgroups)

    @property
    def deadline(self) -> Deadline:
        """When the fit has to end."""
        return self.settings.deadline

    @property
    def fewest(self) -> int:
        """Rows that a search needs at least."""
        return self.settings.knn.n_neighbors + 2

    def evaluator(self, folds: tuple[Fold, ...]) -> HoldoutEvaluator:
        """Return the models over folds of all rows."""
        if not folds:
            raise DataError(
                f"found {self.encoded.n_rows} fresh rows, too few to fit and score models: pass "
                "some dozens at least."
            )
        given = (self.metric, self.jobs, self.groups, self.table)
        evaluator = HoldoutEvaluator(self.encoded, folds, self.models, *given)
        evaluator.in_time = self.in_time
        parted = note_divided_groups(self.groups, ((fold.train, fold.test) for fold in folds))
        evaluator.notes = (
            *note_few_groups(evaluator.clusters),
            *(replace(note, weight="doubt") for note in parted),
            *note_repeated_rows(self.encoded, folds),
            *self.copies,
            *note_weights(evaluator.weights),
        )
        return evaluator

    def evaluator_of(self, plan: RowPlan) -> HoldoutEvaluator:
        """Return the models over the rows of a plan that compare sets."""
        if plan.certify is None:
            return self.evaluator(plan.folds)
        encoded, fold, rows = as_own_table(self.encoded, plan.folds[0])
        groups = None if self.groups is None else self.groups[rows]
        given = (self.metric.on_rows(rows), self.jobs, groups, self.table)
        evaluator = HoldoutEvaluator(encoded, (fold,), self.models, *given)
        evaluator.in_time = self.in_time
        return evaluator
