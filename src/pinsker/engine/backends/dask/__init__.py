"""Searches on a Dask cluster: workers hold tiles of query rows, a step returns one vector of sums.

The table is sent to the workers once. A tile's state is a function of the current set alone, so a
step carries the set, and the worker that gets it finds the tile's state, brings it up to date, or
builds it from scratch. Nothing else is needed when a worker dies, joins or lags. How to use it:
``docs/scale.md``. Modules but `_partitions` import distributed: `backends` loads them on demand.
"""
