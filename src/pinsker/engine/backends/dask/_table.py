"""A table on a cluster: sent once, and passed on from worker to worker."""

import uuid
import weakref
from collections.abc import Collection
from typing import Any

from distributed import Client, Future, fire_and_forget

from pinsker._cluster import Cluster
from pinsker.engine.backends.dask._tiles import SharedTable, forget


class TableOnCluster:
    """Sends a table once; workers pass it on to each other."""

    def __init__(self, cluster: Cluster, table: SharedTable) -> None:
        self.name = f"table-{uuid.uuid4().hex}"
        self._cluster, self._table = cluster, table
        self._there: set[str] = set()  # workers that have put it into their store
        self._sent_to: set[str] = set()  # their copy comes from here, and not from another worker
        first = cluster.share(table)
        self._on_its_way = dict.fromkeys(cluster.threads(), first)
        forget_later(self, cluster.client, self.name, self._there)

    def for_worker(self, worker: str) -> Future | None:
        """Return what a task on a worker needs to see the table: nothing, if it has it."""
        if worker in self._there:
            return None
        if worker not in self._on_its_way:  # from here: other copies may be anywhere, or nowhere
            self._on_its_way[worker] = self._cluster.share(self._table, worker)
            self._sent_to.add(worker)
        return self._on_its_way[worker]

    def arrived(self, worker: str) -> None:
        """Note that a worker has the table."""
        self._there.add(worker)
        self._on_its_way.pop(worker, None)
        self._sent_to.discard(worker)

    def late(self, worker: str) -> None:
        """Note that a worker should not wait for the copy of another, which may be late itself."""
        if worker not in self._sent_to:  # one copy is enough for all of its tiles
            self._on_its_way.pop(worker, None)

    def missing(self, worker: str) -> None:
        """Note that a worker does not have it."""
        self._there.discard(worker)
        self.late(worker)

    def left(self, workers: Collection[str]) -> None:
        """Note that workers are gone, and with them what others waited for."""
        self._there.difference_update(workers)
        self._on_its_way.clear()
        self._sent_to.clear()

    def lost(self) -> None:
        """Note that no worker may have it."""
        self.left(tuple(self._there))


def forget_later(owner: object, client: Client, name: str, workers: set[str]) -> None:
    """Make workers forget something when its owner is gone."""
    weakref.finalize(owner, _forget_now, weakref.ref(client), name, workers).atexit = False


def _forget_now(client: "weakref.ref[Any]", name: str, workers: set[str]) -> None:
    there = client()
    if there is None or there.status != "running":
        return
    for worker in workers:
        # Not waited for: this may run in any thread, at any time.
        task = there.submit(forget, name, workers=[worker], allow_other_workers=True, pure=False)
        fire_and_forget(task)
