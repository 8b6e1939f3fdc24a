"""A Dask cluster that a user names by the address of its scheduler."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pinsker._compat import require
from pinsker.exceptions import EngineError, ParameterError

_SECONDS_TO_CONNECT = 10


def check_engine(engine: str, scheduler: str | None) -> None:
    """Refuse an engine beside a cluster."""
    if scheduler is not None and engine != "auto":
        raise ParameterError(
            f"--engine {engine} and --scheduler exclude each other: a cluster is an engine of its "
            "own."
        )


@contextmanager
def cluster_at(address: str | None) -> Iterator[Any]:
    """Yield a client of the cluster at an address for as long as it is needed; None of none."""
    if address is None:
        yield None
        return
    distributed = require("distributed", purpose="--scheduler", extra="dask")
    try:
        client = distributed.Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:  # nobody there, or no address
        raise EngineError(
            f"--scheduler {address!r}: no Dask scheduler answers there ({error}). Start one with "
            "dask scheduler, or leave the option out."
        ) from error
    with client:
        yield client
