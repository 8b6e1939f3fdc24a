"""Many calls that do not depend on each other: in threads here, or as tasks on a cluster."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pickle import PicklingError
from typing import Any

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from pinsker._compat import require
from pinsker.engine import cluster_was_lost
from pinsker.exceptions import EngineError, EngineLostError


class Jobs:
    """Runs calls in the order given; the answers are the same wherever they are found.

    Parameters
    ----------
    n_jobs : int
        Threads, where there is no cluster.
    client : distributed.Client, optional
        Run the calls through joblib's Dask backend on this cluster instead.
    """

    def __init__(self, n_jobs: int = 1, client: Any = None) -> None:
        self.n_jobs = n_jobs
        self.client = client
        self._sent: list[tuple[Any, Any]] = []  # what is on the cluster already, and its future

    def run(
        self, function: Callable[..., Any], about: Any, calls: Iterable[tuple[Any, ...]]
    ) -> list[Any]:
        """Return ``function(about, *call)`` of every call.

        Parameters
        ----------
        function : callable
            Must be importable for a cluster; `calls` may hold lambdas.
        about : object
            What all calls are about; a cluster gets it once.
        calls : iterable of tuple
            The other arguments.
        """
        if self.client is None:
            found: list[Any] = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(function)(about, *call) for call in calls
            )
        else:
            calls = list(calls)
            _check_that_they_travel(calls)
            with _losses_told(self.client), parallel_config("dask", client=self.client):
                sent = self._send(about)
                tasks = (delayed(_alone)(function, sent, *call) for call in calls)
                found = Parallel(n_jobs=-1)(tasks)
        return found

    def _send(self, about: Any) -> Any:
        for thing, future in self._sent:
            if thing is about:
                return future
        try:
            future = self.client.scatter(about, hash=False)
        except OSError as error:  # a cluster without workers is a TimeoutError
            raise _lost(error) from error
        self._sent = [(about, future)]
        return future


def _alone(function: Callable[..., Any], about: Any, *call: Any) -> Any:
    """Run a call as one of many tasks: it must not ask for threads or tasks of its own."""
    # A cluster of one thread gets no tasks from joblib: it makes the calls here, with the future.
    if isinstance(about, require("distributed", purpose="engine='dask'", extra="dask").Future):
        about = about.result()
    with parallel_config("threading", n_jobs=1), threadpool_limits(1, user_api="blas"):
        return function(about, *call)


def _check_that_they_travel(calls: list[tuple[Any, ...]]) -> None:
    """Raise if a call cannot be sent to a worker: joblib would wait for it for ever."""
    try:
        require("cloudpickle", purpose="engine='dask'", extra="dask").dumps(calls)
    except (TypeError, AttributeError, PicklingError) as error:
        raise EngineError(
            f"a path or a witness cannot be sent to the workers ({error}): use one that can be "
            "pickled, or engine='local'."
        ) from error


@contextmanager
def _losses_told(client: Any) -> Iterator[None]:
    """Tell a lost cluster from an error of the same kind that a path or a witness raised."""
    try:
        yield
    except (CancelledError, OSError) as error:  # a TimeoutError is an OSError
        if not cluster_was_lost(client, error):
            raise
        raise _lost(error) from error


def _lost(error: BaseException) -> EngineLostError:
    reason = " ".join(str(error).split())  # Dask writes several lines
    return EngineLostError(
        f"the cluster was lost while sets were judged ({type(error).__name__}: {reason}). Fit "
        "again, with another client or engine='local'."
    )
