"""Calls that do not depend on each other: in threads here, or as tasks on a cluster."""

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import starmap
from pickle import PicklingError
from threading import Event, Lock, Thread
from typing import Any, TypeAlias

from joblib import parallel_config
from sklearn import config_context, get_config
from threadpoolctl import (  # type: ignore[import-untyped]
    ThreadpoolController,
    threadpool_limits,
)

from pinsker._compat import require
from pinsker._types import DaskClient, Fields, Function
from pinsker.engine import calls_on_cluster
from pinsker.exceptions import EngineError, EngineLostError
from pinsker.models import without_advice

#: Called with the number of calls that are done, and of all.
OnCall: TypeAlias = Callable[[int, int], object]


class Jobs:
    """Runs calls in the order given; the results are the same wherever they run."""

    def __init__(
        self, n_jobs: int = 1, client: DaskClient = None, on_call: OnCall | None = None
    ) -> None:
        self.n_jobs = n_jobs
        self.client = client
        self.on_call = on_call

    def run(
        self,
        function: Function,
        shared: Any,
        calls: Iterable[tuple[Any, ...]],
        n_jobs: int | None = None,
    ) -> list[Any]:
        """Return ``function(shared, *call)`` of every call."""
        calls = list(calls)
        if self.client is not None:
            return self._run_on_cluster(function, shared, calls)
        n_jobs = n_jobs or self.n_jobs
        found = []
        with self._start(function, shared, calls, n_jobs) as results:
            for result in results:
                found.append(result)
                if self.on_call is not None:
                    self.on_call(len(found), len(calls))
        return found

    @contextmanager
    def _start(
        self, function: Function, shared: Any, calls: list[tuple[Any, ...]], n_jobs: int
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
        self, function: Function, shared: Any, calls: list[tuple[Any, ...]]
    ) -> list[Any]:
        _check_that_they_travel(calls)
        alone = partial(_alone, get_config(), function)
        try:
            found: list[Any] = self._cluster.run(alone, shared, calls, self.on_call)
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


def _check_that_they_travel(calls: list[tuple[Any, ...]]) -> None:
    """Raise if a call cannot be sent to a worker, before anything is sent."""
    try:
        require("cloudpickle", purpose="engine='dask'", extra="dask").dumps(calls)
    except (TypeError, AttributeError, PicklingError) as error:
        raise EngineError(
            f"a search or a model cannot be sent to the workers ({error}): use one that can be "
            "pickled, or <engine=local>."
        ) from error
