"""Which worker holds which tile. Nothing here talks to a cluster."""

from collections.abc import Iterable, Mapping


class Placement:
    """Keeps tiles spread over the workers in proportion to their threads.

    Parameters
    ----------
    n_tiles : int
        Tiles to place.
    """

    def __init__(self, n_tiles: int) -> None:
        self.n_tiles = n_tiles
        self.worker_of: dict[int, str] = {}
        self.threads: dict[str, int] = {}
        self._distrusted: dict[str, int] = {}
        self._late: set[str] = set()

    def update(self, threads: Mapping[str, int]) -> None:
        """Hear who is there now: give away the tiles of those who left, and some to newcomers."""
        self.threads = dict(threads)
        self._late &= set(threads)
        useful = self.useful()
        for tile in range(self.n_tiles):
            if self.worker_of.get(tile) not in useful:
                self.worker_of[tile] = self._least_busy(useful)
        while True:
            busiest = max(useful, key=self._load)
            idlest = self._least_busy(useful)
            after = (self._count(idlest) + 1) / self.threads[idlest]
            if after >= self._load(busiest):
                return
            self.worker_of[self.tiles(busiest)[-1]] = idlest

    def useful(self) -> list[str]:
        """Return the workers that may get tiles: everyone, unless some are known to be slow."""
        trusted = [w for w in self.threads if w not in self._late and self.strikes(w) < 2]
        return trusted or list(self.threads)

    def elsewhere(self, asked: Iterable[str]) -> str | None:
        """Return the best worker that was not asked yet, if there is one."""
        others = [w for w in self.useful() if w not in set(asked)]
        return self._least_busy(others) if others else None

    def moved(self, tile: int, worker: str) -> None:
        """Note where a tile was found to be."""
        self.worker_of[tile] = worker

    def suspect(self, worker: str) -> None:
        """Note that a worker lags: no tiles until it is cleared, and none after a second time."""
        if worker not in self._late:
            self._late.add(worker)
            self._distrusted[worker] = self.strikes(worker) + 1

    def clear(self, worker: str) -> None:
        """Note that a worker has caught up."""
        self._late.discard(worker)

    def strikes(self, worker: str) -> int:
        """Return how often a worker was found to lag."""
        return self._distrusted.get(worker, 0)

    def tiles(self, worker: str) -> list[int]:
        """Return the tiles of a worker."""
        return sorted(tile for tile, owner in self.worker_of.items() if owner == worker)

    def threads_per_tile(self, worker: str) -> int:
        """Return how many threads a tile may use where several run side by side."""
        return max(1, -(-self.threads.get(worker, 1) // max(1, self._count(worker))))

    def _count(self, worker: str) -> int:
        return sum(owner == worker for owner in self.worker_of.values())

    def _load(self, worker: str) -> float:
        return self._count(worker) / self.threads[worker]

    def _least_busy(self, workers: Iterable[str]) -> str:
        return min(workers, key=lambda w: ((self._count(w) + 1) / self.threads[w], w))
