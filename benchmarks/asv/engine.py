"""The engine alone: neighbor counts and mutual information at small sizes."""

import numpy as np

from pinsker import mutual_information
from pinsker.engine import neighbor_counts


class Neighbors:
    """Counts that all estimates by neighbors are made of, in one thread."""

    params = ([1, 5], [1000, 4000])
    param_names = ("columns", "rows")

    def setup(self, columns, rows):
        rng = np.random.default_rng(0)
        self.x, self.y, self.z = (rng.normal(size=(rows, k)) for k in (columns, 1, columns))

    def time_counts(self, columns, rows):
        neighbor_counts(self.x, self.y, self.z, k=3, n_threads=1)

    def time_mutual_information(self, columns, rows):
        mutual_information(self.x, self.y[:, 0])
