"""The results of held-out rows as users read them: arrays by name, or a frame."""

from typing import Literal

from pinsker._compat import require
from pinsker._types import AnyArray, TableLike
from pinsker.exceptions import ParameterError


class CVResults(dict[str, AnyArray]):
    """What held-out rows say about every evaluated set: a dict of arrays, one entry per set."""

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> TableLike:
        """Return a frame of pandas or polars: one row a set, all columns but ``"support"``."""
        if library not in ("pandas", "polars"):
            raise ParameterError(f"library={library!r} is not known: use 'pandas' or 'polars'.")
        frames = require(library, purpose=f"cv_results_.to_frame({library!r})")
        columns = {name: list(values) for name, values in self.items() if name != "support"}
        if "features" in columns:
            columns["features"] = [", ".join(names) for names in columns["features"]]
        return frames.DataFrame(columns)

    def __repr__(self) -> str:
        if not self:
            return "CVResults(no rows were held out)"
        n_sets = len(next(iter(self.values())))
        sets = "1 evaluated set" if n_sets == 1 else f"{n_sets} evaluated sets"
        return f"CVResults({sets}, {len(self)} columns; to_frame() shows them)"
